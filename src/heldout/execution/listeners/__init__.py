"""Watching a run: listeners that count, show and pass on its events, and change nothing.

The progress of a search is a bar on a terminal and in a notebook, lines in a log, or a line for every fit.
"""

import sys
from contextlib import suppress
from numbers import Integral
from typing import Any, TextIO

from heldout.errors import InputError
from heldout.execution.events import Listener
from heldout.execution.listeners.lines import ProgressLines


def progress_listeners(verbose: Any, stream: TextIO | None = None) -> list[Listener]:
    """The listener for a value of ``verbose``: none for 0, a bar for 1 and a line for every fit for more.

    The bar needs rich and a terminal or a notebook; elsewhere there are some lines. The stream is standard output
    by default.
    """
    if not isinstance(verbose, Integral) or verbose < 0:
        raise InputError(f"verbose must be 0, 1 or more, got {verbose!r}.")
    stream = stream or sys.stdout
    if not verbose or stream is None:  # a program without a console has no standard output
        return []
    if verbose == 1:
        with suppress(ImportError):
            from heldout.execution.listeners.bar import bar_on

            if bar := bar_on(stream):
                return [bar]
    return [ProgressLines(stream, every_fit=int(verbose) > 1)]

"""The listener of ``verbose``: prints the plan, dropped configurations and lost workers; from 2 on every fit."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from heldout._text import counted, printable
from heldout.errors import InputError
from heldout.execution.events import BarrierPassed, CellFinished, Event, Listener, SearchStarted, WorkersLost
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import barrier_line, lost_line


def verbose_listeners(verbose: Any) -> list[Listener]:
    """The listener for a value of ``verbose``; none for 0."""
    if not isinstance(verbose, Integral) or verbose < 0:
        raise InputError(f"verbose must be 0, 1 or more, got {verbose!r}.", argument="verbose")
    return [VerboseListener(int(verbose))] if verbose else []


class VerboseListener:
    """A listener that prints lines."""

    def __init__(self, verbose: int) -> None:
        self.verbose = verbose
        self._tally = RunTally()

    def __call__(self, event: Event) -> None:
        match event:
            case SearchStarted():
                resumed = f", {event.n_resumed} of them done before" if event.n_resumed else ""
                what = f"{event.n_splits} folds for each of {event.n_configurations} candidates"
                if event.n_races > 1:  # each has splits of its own
                    what = f"{event.n_configurations} candidates in several searches"
                if event.is_validation:
                    what = f"{counted(event.n_configurations, 'model')} on all rows and on bootstrap samples"
                print(
                    f"Fitting {what}, totalling {'at most ' if event.may_drop else ''}{event.n_cells} fits{resumed}"
                )
            case CellFinished(result) if self.verbose > 1:
                configuration, repeat, fold = result.key
                scores = ", ".join(f"{name}={score:.3f}" for name, score in result.test_scores.items())
                result_words = printable(scores or result.message)
                print(
                    f"candidate {configuration}, repeat {repeat}, fold {fold}: {result_words} "
                    f"(fit {result.fit_seconds:.1f} s)"
                )
            case BarrierPassed():
                if line := barrier_line(event, self._tally):
                    print(line)
            case WorkersLost():
                print(printable(lost_line(event)))
        self._tally.add(event)

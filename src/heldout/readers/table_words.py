"""Names and values of tables as sentences show them, and what reads as a number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from heldout.data.arrays import shortened
from heldout.errors import InputError

_ONLY_PYTHON = re.compile(r"_|[^\x00-\x7f]|nan", re.IGNORECASE)
"""What Python's float takes and no reader of tables: 1_000, digits of other scripts, NaN in any spelling."""


def quoted(names: Sequence[Any], most: int = 5) -> str:
    """Names for a sentence: the first few, and how many more."""
    shown = ", ".join(shortened(str(name), most=120) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def plain(value: Any, most: int = 60) -> str:
    """A cell as a person wrote it, without quotation marks, cut where it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def reads_as_number(value: Any) -> bool:
    """Whether a value is a number, or text that a person and a CSV reader would read as one.

    Examples
    --------
    >>> [reads_as_number(value) for value in (1.5, "-2e3", "inf", "1,5", "1_000", "Nan", None)]
    [True, True, True, False, False, False, False]
    """
    if isinstance(value, str) and _ONLY_PYTHON.search(value):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # a whole number of 310 digits is one too
        return True
    return True


def check_names(path: Any, names: Sequence[str]) -> None:
    """Refuse columns of one name.

    Raises
    ------
    InputError
    """
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise InputError(
            f"{path} has more than one column called {quoted(twice)}; give every column a name of its own"
            + (" (does its first line hold the names?)." if reads_as_number(twice[0]) else ".")
        )


def first_line(error: Exception) -> str:
    """What an error says, without its further lines and its full stop."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")

"""Text for people: numbers and counts, and foreign text without what a terminal would obey.

A failure message or the name of a column can hold escape sequences, which move the cursor, colour the screen or
change its title, and characters that reorder the letters around them. They are shown as Python writes them.
"""

from __future__ import annotations

import re
from math import isinf, isnan

_OBEYED = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, those of eight bits too
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the order of writing
    "\u2028\u2029"  # ends of lines
    "\ud800-\udfff"  # halves of characters, from names of files that are no text
    "]"
)


def printable(text: str, keep: str = "") -> str:
    r"""The text with control characters escaped, line breaks too.

    Parameters
    ----------
    text : str
    keep : str
        Characters to leave as they are.

    Examples
    --------
    >>> print(printable("age\nin years \x1b[31m"))
    age\nin years \x1b[31m
    >>> print(printable("cm\u202e²"))
    cm\u202e²
    """
    return _OBEYED.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def number_text(value: float | None, decimals: int) -> str:
    """A number with a fixed count of decimals, or in few significant digits where that would not show it."""
    if value is None or isnan(value):
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    if value and decimals and abs(value) < 0.5 * 10**-decimals:
        return f"{value:.1g}"
    return f"{value:,.{decimals}f}"


def counted(n: int, noun: str) -> str:
    """'1 row', '2 rows'."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"

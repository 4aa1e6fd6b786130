"""Text that comes from tables, run files and models, as it may be shown: without what a terminal would obey.

A failure message or the name of a column can hold escape sequences, which move the cursor, colour the screen or
change its title, and characters that reorder the letters around them. They are shown as Python writes them.
"""

from __future__ import annotations

import re

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

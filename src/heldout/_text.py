"""Text for people: numbers, counts, and foreign text without control characters.

A failure message or the name of a column can hold escape sequences, which move the cursor, colour the screen or
change its title, and characters that reorder the letters around them. They are shown as Python writes them.

Sentences name arguments as Python writes them, in backquotes: ```cv=5```, ```cv```, ```groups=``` with any value.
The command line names its options in their place when it prints a sentence or writes it to a file.
"""

import re
import shutil
import textwrap
from collections.abc import Iterable
from math import inf, isinf, isnan
from numbers import Integral
from typing import Any, TextIO

_CONTROL_CHARACTERS = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters, those of eight bits too
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # the order of writing
    "\u2028\u2029"  # ends of lines
    "\ud800-\udfff"  # halves of characters, from names of files that are no text
    "]"
)


def is_one_of(value: Any, words: Iterable[Any]) -> bool:
    """Whether a value, which may be any object, is one of some words.

    Arrays, lists and tables are none, although arrays compare with words, and fail as conditions.

    Examples
    --------
    >>> is_one_of("bbc", ("bbc", "cv")), is_one_of(["bbc"], ("bbc", "cv")), is_one_of(None, ("bbc", None))
    (True, False, True)
    """
    try:
        return value in frozenset(words)
    except TypeError:  # without a hash
        return False


def is_integer(value: Any) -> bool:
    """Whether a value is one integer, of Python or NumPy; True and False are none.

    Examples
    --------
    >>> is_integer(3), is_integer(True), is_integer(3.0), is_integer([3])
    (True, False, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def python_value(value: Any) -> Any:
    """A number or text of NumPy as Python's own, whose ``repr`` can be read back; another value as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


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
    return _CONTROL_CHARACTERS.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def width_of(stream: TextIO) -> int | None:
    """Columns of a terminal; None of a log, which has one line for each text, in which words can be searched."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def wrapped(text: str, stream: TextIO, indent: int = 0) -> str:
    """The text as a terminal shows it, all lines but the first indented.

    A text that is indented itself has its other lines two columns further in.
    """
    own = len(text) - len(text.lstrip(" "))
    width, indent = width_of(stream), indent or (own and own + 2)
    return "\n".join(folded(text, width and max(width, indent + 20), indent))


def folded(text: str, width: int | None, indent: int = 2) -> list[str]:
    """A text in lines that end between words; one line without a width. A word that is too long stays whole."""
    if width is None:
        return [text]
    margin = " " * indent
    return textwrap.wrap(text, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)


def cut(text: str, most: int) -> str:
    """A text of at most so many letters.

    >>> cut("learning_rate", 6), cut("C", 6)
    ('learn…', 'C')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def markdown_text(text: str) -> str:
    r"""Text as Markdown shows it unchanged, on one line: nothing in it is markup, a citation or an entity.

    Examples
    --------
    >>> print(markdown_text("max_depth | <b> [x](y) *z* @me &lt; $"))
    max_depth \| \<b> \[x\](y) \*z\* \@me \&lt; \$
    """
    text = re.sub(r"([\\`*\[\]<|~@&$^])", r"\\\1", printable(text))
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


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


def ends_text(low: float | None, high: float | None, decimals: int) -> str:
    """Both ends of an interval; an end that is missing beside another is open. Empty without any.

    >>> ends_text(0.5, 0.75, 2), ends_text(0.5, None, 2), ends_text(None, None, 2)
    ('0.50 to 0.75', '0.50 to ∞', '')
    """
    if low is None and high is None:
        return ""
    ends = (-inf if low is None else low, inf if high is None else high)
    return " to ".join(number_text(end, decimals) for end in ends)


def counted(n: int, noun: str) -> str:
    """'1 row', '2 rows'."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def all_of(n_configurations: int) -> str:
    """'all 3 configurations', 'the only configuration'."""
    return "the only configuration" if n_configurations == 1 else f"all {n_configurations} configurations"


def bytes_text(n_bytes: float) -> str:
    """Bytes with their unit.

    >>> bytes_text(300), bytes_text(2500), bytes_text(5 * 2**20), bytes_text(1.3 * 2**40)
    ('0 kB', '2 kB', '5.0 MB', '1,331.2 GB')
    """
    if n_bytes >= 2**30:
        return f"{n_bytes / 2**30:,.1f} GB"
    return f"{n_bytes / 2**20:,.1f} MB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:.0f} kB"

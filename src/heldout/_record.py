"""Records: results that show themselves as a dictionary, a frame, a table in a notebook and a table in a terminal.

A class names what each of these holds, in words of the form ``name`` or ``name=path``: the name is that of a key,
of a column or of a label (where ``_`` stands for a space), the path that of the attribute. Numbers, intervals,
flags, arrays and what is missing are handled here, once.

HTML takes the colours and the font of the page around it, and needs no file, no script and no style sheet. Every
text is escaped here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from itertools import accumulate, zip_longest
from typing import Any, ClassVar

import numpy as np

from heldout._text import folded, number_text, printable
from heldout.errors import MissingExtraError

WIDTH = 80
"""Columns of a terminal of which nothing is known."""
LEAST_WORDS = 24
"""Letters of the narrowest column of texts, where these are as long."""
ROUNDED = 1e-9
"""Below it a number is what rounding leaves of 0, as the calibration intercept of a model on its own rows."""
SHARES = ("share", "variance_from_missing")
DECIMALS = {"p_value": 3, "probability_best": 3, "probability_better": 3, "probability_worse": 3, "df": 1}
"""``SHARES``, ``DECIMALS``: attributes that are shown in percent, and how many decimals others have."""


class Shown:
    """A class that shows itself to people, in words as above.

    By default those of its fields that are single numbers or texts; a class with a ``__str__`` of its own as that.
    """

    _shown: ClassVar[str] = ""
    """Of each of ``_rows``."""

    @property
    def _rows(self) -> Sequence[Any]:
        """Records or mappings; one that has no rows is its own."""
        return (self,)

    @property
    def _title(self) -> str:
        return ""

    @property
    def _notes(self) -> Iterable[str]:
        """Sentences below the table."""
        flags: Mapping[Any, str] = getattr(self, "flags", {})
        return flags.values()

    def tables(self) -> list[TextTable]:
        """What people see: a line of text, fields below each other, or a table of rows."""
        shown = self._shown
        if not shown and type(self).__str__ is not object.__str__:
            return [TextTable(str(self))]
        if shown and (not self._rows or self._rows[0] is not self):
            return [rows_table(self._rows, shown, self._title, self._notes)]
        present = " ".join(name for name in _single(self).split() if getattr(self, name) != "")
        return [fields_table(self, shown or present, self._title, self._notes)]

    def _repr_html_(self) -> str:
        return "".join(part.html() for part in self.tables())

    def text(self, width: int | None = WIDTH) -> str:
        """The same for a terminal of so many columns; in lines of any length with None."""
        return "\n\n".join("\n".join(part.lines(width)) for part in self.tables())


class Record(Shown):
    """A frozen dataclass that also has a dictionary and a frame. By default the dictionary holds its fields."""

    _without: ClassVar[str] = ""
    """Fields that the dictionary leaves out."""
    _more: ClassVar[str] = ""
    """What it holds beside fields."""
    _columns: ClassVar[str] = ""
    """Of the frame, of each of ``_rows``; by default the fields that are single numbers or texts."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: NaN and infinities become null, arrays lists."""
        names = [name for name in self.__dataclass_fields__ if name not in self._without.split()]  # type: ignore[attr-defined]
        return {name: json_safe(read(self, path), name) for name, path in pairs(" ".join([*names, self._more]))}

    def to_frame(self) -> Any:
        """A pandas DataFrame (pandas comes with the extra ``app``)."""
        rows = [cells(row, self._columns or _single(row)) for row in self._rows]
        return frame_of(rows, f"{type(self).__name__}.to_frame")


def pairs(words: str) -> list[tuple[str, str]]:
    """The name and the path of each word."""
    return [(name, path or name) for name, _, path in (word.partition("=") for word in words.split())]


def _single(record: Any) -> str:
    """The fields that are one number or text."""
    return " ".join(name for name, value in vars(record).items() if isinstance(value, str | float | int))


def read(row: Any, path: str) -> Any:
    """An attribute of an attribute, or the item of a mapping; None where there is none.

    >>> read({"a": 1 + 2j}, "a.imag"), read({"a": None}, "a.imag")
    (2.0, None)
    """
    for name in path.split("."):
        if row is not None:
            is_plain = isinstance(row, Mapping) and not isinstance(row, Shown)
            row = row.get(name) if is_plain else getattr(row, name)
    return row


def cells(row: Any, columns: str) -> dict[str, Any]:
    """A row of a frame: of an interval both ends, of flags their names.

    >>> cells({"value": 0.5, "interval": (0.4, 0.6), "flags": {"few": "Few rows."}}, "score=value interval flags")
    {'score': 0.5, 'low': 0.4, 'high': 0.6, 'flags': 'few'}
    """
    values: dict[str, Any] = {}
    for name, path in pairs(columns):
        value = read(row, path)
        if name.endswith("interval"):
            stem = name.removesuffix("interval")
            values[f"{stem}low"], values[f"{stem}high"] = (math.nan, math.nan) if value is None else value
        else:
            values[name] = math.nan if value is None else ", ".join(value) if isinstance(value, Mapping) else value
    return values


def points(record: Any, names: str) -> list[dict[str, Any]]:
    """The points of a curve, whose coordinates are arrays of equal length."""
    columns = {name: read(record, name).tolist() for name in names.split()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def thinned(rows: Sequence[Any], most: int) -> list[Any]:
    """About so many of the rows, evenly, with the last.

    >>> thinned(range(10), 4)
    [0, 3, 6, 9]
    """
    last = len(rows) - 1
    return [rows[place] for place in sorted({*range(0, last, last // most + 1), last})]


def frame_of(rows: Any, asker: str) -> Any:
    """A pandas DataFrame of rows or columns."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError(asker, "app") from None
    return pd.DataFrame(rows)


def json_number(number: float) -> float | None:
    """A float that JSON can hold, else None."""
    return float(number) if math.isfinite(number) else None


def json_safe(value: Any, name: str = "") -> Any:
    """A value in JSON's own types; flags are a list of names and sentences."""
    if name == "flags":
        return [{"flag": flag.value, "message": message} for flag, message in value.items()]
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): json_safe(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return json_safe(value._asdict())
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    if isinstance(value, np.ndarray):
        return json_safe(value.tolist())
    if isinstance(value, float | np.floating):  # the item of a long double is itself
        return json_number(float(value))
    if isinstance(value, np.generic):
        return json_safe(value.item())
    if is_dataclass(value) and not hasattr(value, "get_params"):  # models are their text
        return json_safe(vars(value))
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def value_text(value: Any, name: str = "", decimals: int | None = None) -> str:
    """A value as people see it.

    >>> [value_text(value) for value in (0.12344, 1234.56, -2e-15, float("nan"), None, True, 12000)]
    ['0.1234', '1234.6', '0', 'none', 'none', 'yes', '12,000']
    >>> value_text(0.042, "p_value"), value_text(1e-5, "p_value"), value_text(0.25, "share"), value_text(0.2, "", 2)
    ('0.042', '< 0.001', '25%', '0.20')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "none"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if hasattr(value, "ends_text"):  # an interval
        return str(value.ends_text(decimals))
    if not isinstance(value, float):
        return str(value)
    if name == "p_value" and value < 0.001:
        return "< 0.001"
    if name in SHARES:
        return f"{value:.0%}"
    decimals = DECIMALS.get(name, decimals)
    if decimals is not None or not math.isfinite(value):
        return number_text(value, decimals or 0)
    if abs(value) < ROUNDED:
        return "0"
    return number_text(value, 4) if abs(value) < 100 else f"{value:.5g}"


def interval_text(low: float, high: float, decimals: int | None = None) -> str:
    """Both ends of an interval.

    >>> interval_text(0.5, 0.75)
    '0.5000 to 0.7500'
    """
    if math.isnan(low) and math.isnan(high):
        return "none"
    return " to ".join(value_text(end, decimals=decimals) for end in (low, high))


@dataclass(frozen=True)
class TextTable:
    """Cells as text; the first of each row is its name.

    Attributes
    ----------
    title : str
        Without rows the whole of it, a sentence.
    headings : tuple of str
        Empty of fields below each other: rows are then labels and texts.
    rows : tuple of tuple of str
    notes : tuple of str
        Sentences below it.
    main : int or None
        The row to read first: bold in a notebook, marked in a terminal.

    Examples
    --------
    >>> shown = TextTable("Effects", ("", "value"), (("age", "0.05"),), ("Per year of age, and months count.",))
    >>> print(*shown.lines(24), sep="\\n")
    Effects
         value
    age  0.05
    <BLANKLINE>
    Per year of age, and
      months count.
    """

    title: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    main: int | None = None

    def lines(self, width: int | None = WIDTH) -> list[str]:
        """For a terminal of so many columns; of any length with None."""
        rows = [self.headings, *self.rows] if self.headings else self.rows
        if self.headings and self.main is not None:
            marks = [">" if place == self.main else "\xa0" for place in range(-1, len(self.rows))]
            rows = [(mark + row[0], *row[1:]) for mark, row in zip(marks, rows, strict=True)]
        parts = [
            folded(printable(self.title), width) if self.title else [],
            [*aligned(rows, width), *([""] if self.notes else [])] if rows else [],
            *(folded(printable(note), width) for note in self.notes),
        ]
        return [line for part in parts for line in part]

    def html(self) -> str:
        """For a notebook."""
        line = f"<p>{html.escape(self.title)}</p>" if self.title else ""
        return (table(self.rows, self.headings, self.title, self.main) if self.rows else line) + notes(self.notes)


def fields_table(
    record: Any, shown: str, title: str = "", notes: Iterable[str] = (), decimals: int | None = None
) -> TextTable:
    """Fields below each other, the first of them the result."""
    rows = []
    for label, path in pairs(shown):
        value = read(record, path)
        rows.append((_heading(label, [value]), value_text(value, path.rpartition(".")[2], decimals)))
    return TextTable(title, (), tuple(rows), tuple(notes), main=0)


def rows_table(
    rows: Sequence[Any],
    shown: str,
    title: str = "",
    notes: Iterable[str] = (),
    decimals: int | None = None,
    *,
    main: int | None = None,
    most: int | None = None,
) -> TextTable:
    """A row a record, the first ``most`` of them."""
    rows, more = rows[:most], len(rows[most:]) if most else 0
    columns = {}
    for label, path in pairs(shown):
        values = [read(row, path) for row in rows]
        columns[_heading(label, values)] = [value_text(one, path.rpartition(".")[2], decimals) for one in values]
    others = [f"and {more} more: .to_frame() has all"] if more else []
    return TextTable(title, tuple(columns), tuple(zip(*columns.values(), strict=True)), (*others, *notes), main)


def _heading(label: str, values: Sequence[Any]) -> str:
    """The label; of intervals with their level."""
    levels = [value.level_text for value in values if hasattr(value, "level_text")]
    return label.replace("_", " ") + (f" ({levels[0]})" if levels else "")


def aligned(rows: Sequence[Sequence[str]], width: int | None = WIDTH) -> list[str]:
    """Rows of cells as lines of columns; of what is too wide texts go on in further lines, and columns below.

    >>> print(*aligned([("a", "0.5 to 0.6", "few rows"), ("bc", "none", "")], 20), sep="\\n")
    a   0.5 to 0.6
        few rows
    bc  none
    >>> print(*aligned([("a", "0.5", "0.6"), ("bc", "none", "")], 9), sep="\\n")
    a   0.5
    bc  none
    <BLANKLINE>
    a   0.6
    bc
    """
    # The ends of an interval stay together.
    columns = [
        [printable(cell).replace(" to ", "\xa0to\xa0") for cell in column] for column in zip(*rows, strict=True)
    ]
    least = [max(len(word) for cell in column for word in cell.split(" ")) for column in columns]
    gap = 1 if width and sum(least) + 2 * (len(least) - 1) > width else 2
    ends = [end - gap for end in accumulate(size + gap for size in least)]
    if width and len(columns) > 2 and ends[-1] > width:
        n = max(sum(end <= width for end in ends), 2)
        rest = [(row[0], *row[n:]) for row in rows]
        return [*aligned([row[:n] for row in rows], width), "", *aligned(rest, width)]
    widths = [max(map(len, column)) for column in columns]
    while width and sum(widths) + gap * (len(widths) - 1) > width:
        wide = [place for place, size in enumerate(widths) if size > least[place]]
        if not wide:
            break
        widths[max(wide, key=widths.__getitem__)] -= 1
    *others, longest = (max(map(len, column)) for column in columns)
    if width and widths[-1] < min(LEAST_WORDS, longest) and sum(others) + gap * len(others[1:]) <= width:
        # A sentence with one word in a line is hard to read: it has lines of its own below the row.
        above = aligned([row[:-1] for row in rows], width)
        texts = [folded(f"    {text}", width, 4) if text else [] for text in columns[-1]]
        return [line.replace("\xa0", " ") for one, two in zip(above, texts, strict=True) for line in (one, *two)]
    lines = []
    for row in zip(*columns, strict=True):
        parts = [folded(cell, size or 1, 0) for cell, size in zip(row, widths, strict=True)]
        lines += [
            (" " * gap).join(f"{part:<{size}}" for part, size in zip(line, widths, strict=True)).rstrip()
            for line in zip_longest(*parts, fillvalue="")
        ]
    return [line.replace("\xa0", " ") for line in lines]


def table(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), caption: str = "", main: int | None = None
) -> str:
    """A table of HTML, of which the first cell of a row is its name.

    Examples
    --------
    >>> table([("a<b", "0.5")], main=0)
    "<table><tr><th style='text-align:left'><strong>a&lt;b</strong></th><td><strong>0.5</strong></td></tr></table>"
    """
    name = "th style='text-align:left'"
    titled = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    lines = [[f"<{name}>{html.escape(cell)}</th>" for cell in head]] if head else []
    for place, row in enumerate(rows):
        texts = [f"<strong>{html.escape(cell)}</strong>" if place == main else html.escape(cell) for cell in row]
        lines.append([f"<{name}>{texts[0]}</th>", *(f"<td>{text}</td>" for text in texts[1:])])
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return f"<table>{titled}{body}</table>"


def notes(sentences: Iterable[str]) -> str:
    """A list of sentences in HTML; empty without any.

    Examples
    --------
    >>> notes(["Few rows."]), notes([])
    ('<ul><li>Few rows.</li></ul>', '')
    """
    items = "".join(f"<li>{html.escape(one)}</li>" for one in sentences)
    return f"<ul>{items}</ul>" if items else ""

"""Results as notebooks show them: small pieces of HTML that need no file, no script and no style sheet.

They take the colours and the font of the page around them, so that they are light or dark as it is. Every text is
escaped here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout._text import number_text, printable

_LEFT = " style='text-align:left'"


class Strong(str):
    """A text that is shown in bold."""

    __slots__ = ()


def table(rows: Iterable[Sequence[Any]], *, head: Sequence[str] = (), caption: str = "") -> str:
    """A table, of which the first cell of a row is a name and the others are values.

    - ``rows``: texts; ``Strong`` ones in bold.

    Examples
    --------
    >>> table([("a<b", Strong("0.5"))])
    "<table><tr><th style='text-align:left'>a&lt;b</th><td><strong>0.5</strong></td></tr></table>"
    """
    titled = f"<caption>{_text(caption)}</caption>" if caption else ""
    headed = f"<tr>{''.join(f'<th{_LEFT}>{_text(each)}</th>' for each in head)}</tr>" if head else ""
    body = "".join(
        f"<tr>{''.join(_cell(cell, is_name=not number) for number, cell in enumerate(row))}</tr>" for row in rows
    )
    return f"<table>{titled}{headed}{body}</table>"


def notes(sentences: Iterable[str], warnings: Iterable[str] = ()) -> str:
    """A list of sentences, warnings in bold; empty without any.

    Examples
    --------
    >>> notes(["Few rows."], ["Stop."]), notes([])
    ('<ul><li>Few rows.</li><li><strong>Stop.</strong></li></ul>', '')
    """
    items = [_text(each) for each in sentences] + [_text(Strong(each)) for each in warnings]
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


def line(text: str) -> str:
    """A line that stands by itself, in bold where it is ``Strong``.

    Examples
    --------
    >>> line(Strong("accuracy 0.93"))
    '<p><strong>accuracy 0.93</strong></p>'
    """
    return f"<p>{_text(text)}</p>"


def record(values: Mapping[str, Any]) -> str:
    """The fields of one record, a row each; lists and arrays are left out, as they have frames of their own.

    Examples
    --------
    >>> record({"outer_score": 0.81234, "rows": [1, 2]})
    "<table><tr><th style='text-align:left'>outer score</th><td>0.8123</td></tr></table>"
    """
    shown = {
        name.replace("_", " "): f"{value:.4g}" if isinstance(value, float) else value
        for name, value in values.items()
        if isinstance(value, str | int | float) and value != ""
    }
    return table(list(shown.items()))


def _cell(text: Any, is_name: bool) -> str:
    return f"<th{_LEFT}>{_text(text)}</th>" if is_name else f"<td>{_text(text)}</td>"


def _text(text: Any) -> str:
    shown = html.escape(str(text))
    return f"<strong>{shown}</strong>" if isinstance(text, Strong) else shown


ROUNDED = 1e-9
"""Below it a number is what rounding leaves of 0, as the calibration intercept of a model on its own rows."""


@dataclass(frozen=True)
class TextTable:
    """Cells as text; the first of each row is its name.

    Attributes
    ----------
    title : str
    headings : tuple of str
    rows : tuple of tuple of str
    notes : tuple of str
        Sentences below it.

    Examples
    --------
    >>> shown = TextTable("Effects", ("", "value"), (("age", "0.05"),), ("Per year.",))
    >>> shown.lines()
    ['Effects:', '     value', 'age  0.05', 'Per year.']
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """As lines of a terminal."""
        return [f"{self.title}:", *aligned([self.headings, *self.rows]), *map(printable, self.notes)]

    def html(self, strong: str = "") -> str:
        """As a notebook shows it, the column of one heading in bold."""
        at = self.headings.index(strong) if strong else -1
        rows = [[Strong(cell) if j == at else cell for j, cell in enumerate(row)] for row in self.rows]
        return table(rows, head=self.headings, caption=self.title) + notes(self.notes)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines of columns, control characters in names escaped."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def cell_number(value: float) -> str:
    """A number of a table.

    >>> [cell_number(value) for value in (0.12344, 1234.56, -2e-15, float("nan"))]
    ['0.1234', '1234.6', '0', 'none']
    """
    if not math.isfinite(value):
        return "none"
    if abs(value) < ROUNDED:
        return "0"
    return number_text(value, 4) if abs(value) < 100 else f"{value:.5g}"


def cell_interval(low: float, high: float) -> str:
    """An interval of a table.

    >>> cell_interval(0.5, 0.75)
    '0.5000 to 0.7500'
    """
    return f"{cell_number(low)} to {cell_number(high)}"


def cell_p_value(value: float) -> str:
    """A p-value of a table.

    >>> cell_p_value(0.0421), cell_p_value(1e-5)
    ('0.042', '< 0.001')
    """
    return "none" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"

"""Tables of text, which terminals, notebooks and reports show alike, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heldout._notebook import Strong, notes, table
from heldout._text import number_text, printable

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

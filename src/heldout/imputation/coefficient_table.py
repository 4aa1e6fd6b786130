"""The table of a model's coefficients: values, odds or hazard ratios, their intervals and p-values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from heldout._text_table import TextTable, cell_interval, cell_number, cell_p_value
from heldout._types import Floats
from heldout.imputation.coefficients import INTERCEPT

MOST_COEFFICIENTS = 30


class CoefficientSet(Protocol):
    """p coefficients with what is known of their uncertainty; NaN where nothing is.

    - ``ratio``: what exp(value) is: ``odds ratio``, ``hazard ratio``, or empty.
    - ``title``, ``notes``: of the table.
    - ``more_columns``: further columns, as text.
    """

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def values(self) -> Floats: ...
    @property
    def standard_errors(self) -> Floats: ...
    @property
    def p_values(self) -> Floats: ...
    @property
    def ratio(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def more_columns(self) -> Mapping[str, list[str]]: ...
    def intervals(self, level: float = 0.95) -> Floats:
        """(p, 2)."""


def coefficient_table(found: CoefficientSet, level: float = 0.95) -> TextTable:
    """A row a coefficient: its value and uncertainty, and its odds or hazard ratio with the interval of that."""
    has_intervals = bool(np.isfinite(found.standard_errors).any())
    columns = {"value": [cell_number(value) for value in found.values.tolist()]}
    if has_intervals:
        columns["standard error"] = [cell_number(error) for error in found.standard_errors.tolist()]
    shown = [bool(not found.ratio or name != INTERCEPT) for name in found.names]
    if found.ratio:
        ratios = zip(_exp(found.values), shown, strict=True)
        columns[found.ratio] = [cell_number(ratio) if there else "" for ratio, there in ratios]
    if has_intervals:
        ends = found.intervals(level)
        pairs = _exp(ends) if found.ratio else ends.tolist()
        columns[f"interval ({level * 100:.4g}%)"] = [
            cell_interval(*pair) if there else "" for pair, there in zip(pairs, shown, strict=True)
        ]
        columns["p"] = [cell_p_value(value) for value in found.p_values.tolist()]
    columns |= found.more_columns
    rows = tuple(zip(found.names, *columns.values(), strict=True))
    notes = found.notes
    if len(rows) > MOST_COEFFICIENTS:
        notes = (f"... and {len(rows) - MOST_COEFFICIENTS} more, in validation.json and .to_frame().", *notes)
    return TextTable(found.title, ("", *columns), rows[:MOST_COEFFICIENTS], notes)


def _exp(values: Floats) -> list[Any]:
    with np.errstate(over="ignore"):
        listed: list[Any] = np.exp(values).tolist()
    return listed

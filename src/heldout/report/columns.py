"""The columns of the data: their kind, their missing values and their range, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_COLUMNS = 200
"""Columns that a report lists; those with missing values first."""


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the data."""

    name: str
    kind: str
    """numbers, whole numbers, categories, yes or no, or times."""
    missing: int
    distinct: int
    low: float | None = None
    median: float | None = None
    high: float | None = None
    """``low``, ``median``, ``high``: of numbers; None for other columns."""
    most_common: str = ""
    """The most frequent value of a column of categories."""


@dataclass(frozen=True)
class Columns:
    """The columns of the data, and how many values are missing in all of them."""

    rows: int
    total: int
    missing: int
    columns_with_gaps: int
    rows_with_gaps: int
    listed: tuple[ColumnSummary, ...]
    """In their order; of very many columns those with most missing values and then the first."""


def columns_of(X: Any) -> Columns | None:
    """The columns of a table or array (N, columns); None for data that have no columns, such as texts.

    A sparse matrix is summarised by its size: its zeros are values.
    """
    if len(getattr(X, "shape", ())) != 2 or not X.shape[0]:
        return None
    rows, total = int(X.shape[0]), int(X.shape[1])
    if hasattr(X, "tocsc"):
        missing = int(np.isnan(X.data).sum()) if X.data.dtype.kind == "f" else 0
        return Columns(rows, total, missing, 0, 0, ())
    arrays = _arrays(X)
    gaps = [_missing(array) for _, array in arrays]
    counts = [int(gap.sum()) for gap in gaps]
    any_gap = np.zeros(rows, dtype=bool)
    for gap in gaps:
        any_gap |= gap
    places = sorted(range(total), key=lambda place: (-counts[place], place))[:MOST_COLUMNS]
    listed = tuple(_summary(*arrays[place], gaps[place]) for place in sorted(places))
    return Columns(rows, total, sum(counts), sum(count > 0 for count in counts), int(any_gap.sum()), listed)


def _arrays(X: Any) -> list[tuple[str, Any]]:
    """Each column's name and values."""
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        if hasattr(X, "iloc"):
            return [(name, np.asarray(X.iloc[:, place])) for place, name in enumerate(names)]
        return [(name, np.asarray(X[name])) for name in X.columns]
    array = np.asarray(X)
    return [(f"column {place}", array[:, place]) for place in range(array.shape[1])]


def _missing(array: Any) -> Any:
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind in "mM":
        return np.isnat(array)
    if array.dtype.kind == "O":
        return np.array([_is_gap(value) for value in array.tolist()], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def _is_gap(value: Any) -> bool:
    """None, NaN, and the missing value of pandas, which is not comparable."""
    if value is None:
        return True
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)


def _summary(name: str, array: Any, gap: Any) -> ColumnSummary:
    known, missing = array[~gap], int(gap.sum())
    if array.dtype.kind == "O" and len(known) and all(type(value) in (int, float) for value in known.tolist()):
        known = known.astype(float)
    kind = known.dtype.kind
    if kind == "b":
        return ColumnSummary(name, "yes or no", missing, len(np.unique(known)), most_common=_most_common(known))
    if kind in "mM":
        return ColumnSummary(name, "times", missing, len(np.unique(known)))
    if kind not in "fiu":
        texts = [str(value) for value in known.tolist()]
        return ColumnSummary(name, "categories", missing, len(set(texts)), most_common=_most_common(texts))
    finite = known[np.isfinite(known)]
    if not finite.size:
        return ColumnSummary(name, "numbers", missing, len(np.unique(known)))
    whole = bool((finite == np.floor(finite)).all())
    low, median, high = (float(value) for value in np.quantile(finite, [0.0, 0.5, 1.0]))
    return ColumnSummary(
        name, "whole numbers" if whole else "numbers", missing, len(np.unique(known)), low, median, high
    )


def _most_common(values: Any) -> str:
    if not len(values):
        return ""
    found, counts = np.unique(np.asarray(values, dtype=str), return_counts=True)
    return str(found[counts.argmax()])

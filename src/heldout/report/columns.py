"""The columns of the data: their kind, missing values, distribution and correlations, as plain data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from heldout._sklearn import rows_at
from heldout._types import Floats
from heldout.data.task import missing
from heldout.report.entries import Facts

MOST_ROWS = 2000
"""Rows that correlations are computed from, evenly spaced among all."""
LEAST_ROWS = 3


def strongest_correlations(names: Sequence[str], columns: Sequence[Floats]) -> tuple[Facts | None, ...]:
    """For each column of numbers (N,) the other one with the largest rank correlation by size; None without any.

    A pair is compared on the rows where neither is missing (NaN); ranks are those among a column's known values.

    Examples
    --------
    >>> rising = np.array([1.0, 2.0, 3.0, np.nan])
    >>> strongest_correlations(["a", "b"], [rising, -(rising**3)])[0]
    {'column': 'b', 'coefficient': -1.0}
    """
    if len(columns) < 2:
        return (None,) * len(columns)
    rows = len(columns[0])
    kept = np.linspace(0, rows - 1, min(rows, MOST_ROWS)).astype(int)
    values = np.stack([column[kept] for column in columns], axis=1)
    coefficients = _pairwise(rankdata(values, axis=0, nan_policy="omit"))
    np.fill_diagonal(coefficients, 0.0)
    best = np.abs(coefficients).argmax(axis=1)
    return tuple(
        Facts(column=names[other], coefficient=float(coefficients[column, other]))
        if coefficients[column, other]
        else None
        for column, other in enumerate(best)
    )


def _pairwise(values: Floats) -> Floats:
    """Correlations (columns, columns) of the rows (N, columns) where both are known; 0 where there is none."""
    known = ~np.isnan(values)
    present = known.astype(np.float64)
    centred = np.where(known, values - np.nanmean(np.where(known.any(axis=0), values, 0.0), axis=0), 0.0)
    rows = present.T @ present
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = centred.T @ present / rows  # of the first column, over the rows that the second one has too
        covariance = centred.T @ centred / rows - mean * mean.T
        variance = (centred**2).T @ present / rows - mean**2
        found = covariance / np.sqrt(variance * variance.T)
    is_constant = variance <= 1e-9 * rows
    return np.where(
        np.isfinite(found) & (rows >= LEAST_ROWS) & ~(is_constant | is_constant.T), found.clip(-1, 1), 0.0
    )


BINS = 12
MOST_COLUMNS = 200
"""Columns that a report lists; those with missing values first."""


def columns_of(X: Any) -> Facts | None:
    """The columns of a table or array (N, columns); None for data that have no columns, such as texts.

    A sparse matrix is summarised by its size: its zeros are values.
    """
    if len(getattr(X, "shape", ())) != 2 or not X.shape[0]:
        return None
    rows, total = int(X.shape[0]), int(X.shape[1])
    if hasattr(X, "tocsc"):
        n_missing = int(np.isnan(X.data).sum()) if X.data.dtype.kind == "f" else 0
        return Facts(rows=rows, total=total, missing=n_missing, columns_with_gaps=0, rows_with_gaps=0, listed=())
    columns = [rows_at(X, place, axis=1) for place in range(total)] if hasattr(X, "columns") else np.asarray(X).T
    arrays, names = [np.asarray(column) for column in columns], column_names(X)
    gaps = [missing(array) for array in arrays]
    counts = [int(gap.sum()) for gap in gaps]
    places = sorted(range(total), key=lambda place: (-counts[place], place))[:MOST_COLUMNS]
    listed, numbers = [], {}
    for place in sorted(places):
        known = arrays[place][~gaps[place]]
        if known.dtype.kind == "O" and len(known) and all(type(value) in (int, float) for value in known.tolist()):
            known = known.astype(float)
        listed.append(Facts(_NOTHING, name=names[place], missing=counts[place], **_summary(known)))
        if known.dtype.kind in "fiub":
            values = np.full(rows, np.nan)
            values[~gaps[place]] = known
            numbers[len(listed) - 1] = np.where(np.isfinite(values), values, np.nan)
    strongest = strongest_correlations([listed[place].name for place in numbers], [*numbers.values()])
    for place, correlation in zip(numbers, strongest, strict=True):
        listed[place]["correlation"] = correlation
    return Facts(
        rows=rows,
        total=total,
        missing=sum(counts),
        columns_with_gaps=sum(count > 0 for count in counts),
        rows_with_gaps=int(np.logical_or.reduce(gaps).sum()) if gaps else 0,
        listed=tuple(listed),
    )


def column_names(X: Any) -> tuple[str, ...]:
    """The names of columns; of an array "column 0" and so on."""
    if hasattr(X, "columns"):
        return tuple(str(name) for name in X.columns)
    return tuple(f"column {place}" for place in range(X.shape[1]))


_NOTHING = {
    "name": "", "kind": "", "missing": 0, "distinct": 0, "low": None, "median": None, "high": None,
    "most_common": "", "counts": (), "correlation": None,
}  # fmt: skip
"""A column that has nothing of what only some kinds of columns have."""


def _summary(known: Any) -> dict[str, Any]:
    """The kind of a column, and how its known values are distributed."""
    code = known.dtype.kind
    if code in "mM":
        return {"kind": "times", "distinct": len(np.unique(known))}
    if code in "fiu":
        finite, distinct = known[np.isfinite(known)], len(np.unique(known))
        if not finite.size:
            return {"kind": "numbers", "distinct": distinct}
        low, median, high = (float(value) for value in np.quantile(finite, [0.0, 0.5, 1.0]))
        is_range = low < high and np.isfinite(high - low)
        bars = np.histogram(finite, BINS)[0].tolist() if is_range else ()
        kind = "whole numbers" if bool((finite == np.floor(finite)).all()) else "numbers"
        return {
            "kind": kind,
            "distinct": distinct,
            "low": low,
            "median": median,
            "high": high,
            "counts": tuple(bars),
        }
    texts, counts = np.unique(np.array([str(value) for value in known.tolist()], dtype=str), return_counts=True)
    return {
        "kind": "yes or no" if code == "b" else "categories",
        "distinct": len(texts),
        "most_common": str(texts[counts.argmax()]) if len(texts) else "",
        "counts": tuple(sorted(counts.tolist(), reverse=True)[:BINS]),
    }

"""Which columns of the data go together: rank correlations of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from heldout._types import Floats

MOST_ROWS = 2000
"""Rows that correlations are computed from, evenly spaced among all."""
LEAST_ROWS = 3


@dataclass(frozen=True)
class Correlation:
    """The column that goes most with another one."""

    column: str
    coefficient: float
    """Spearman's, from -1 to 1."""


def strongest_correlations(names: Sequence[str], columns: Sequence[Floats]) -> tuple[Correlation | None, ...]:
    """For each column of numbers (N,) the other one with the largest rank correlation by size; None without any.

    A pair is compared on the rows where neither is missing (NaN); ranks are those among a column's known values.

    Examples
    --------
    >>> rising = np.array([1.0, 2.0, 3.0, np.nan])
    >>> strongest_correlations(["a", "b"], [rising, -(rising**3)])[0]
    Correlation(column='b', coefficient=-1.0)
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
        Correlation(names[other], float(coefficients[column, other])) if coefficients[column, other] else None
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

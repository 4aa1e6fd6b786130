"""Sums over the repetitions of a cell: bias, error, coverage, width, and ratios to a reference method.

Errors are such that positive flatters, and are divided by the scale of their matrix. A catastrophe (``WORST``) is
counted, and moderated before means are taken; means without that are given beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from heldout_papers.corrections.distribution import Floats
from heldout_papers.corrections.matrix import WORST, BedCell, direction, moderate
from heldout_papers.corrections.scores import end_names
from heldout_papers.engine.claims import Mean

NAN = float("nan")


@dataclass(frozen=True)
class CountedShare:
    """A share of some repetitions."""

    count: int
    of: int

    @property
    def value(self) -> float:
        return self.count / self.of if self.of else NAN

    @property
    def error(self) -> float:
        """Its standard error, by Wilson's centre, which is not 0 where all or none are counted."""
        if not self.of:
            return NAN
        p = (self.count + 2) / (self.of + 4)
        return float(np.sqrt(p * (1 - p) / (self.of + 4)))

    def p_below(self, asked: float) -> float:
        """The chance of so small a share, or a smaller one, where the true share is ``asked``.

        Examples
        --------
        >>> round(CountedShare(18, 20).p_below(0.95), 4), CountedShare(0, 0).p_below(0.95)
        (0.2642, nan)
        """
        return float(binom.cdf(self.count, self.of, asked)) if self.of else NAN


@dataclass(frozen=True, eq=False)
class MethodResults:
    """What one method gave in the repetitions of a cell; arrays of shape (repetitions,).

    Attributes
    ----------
    metric : str
    columns : mapping of str to ndarray
        As ``score_methods`` gives them.
    """

    metric: str
    columns: Mapping[str, NDArray[Any]]

    @property
    def errors(self) -> Floats:
        """How far each value flatters; NaN without a value."""
        gap = self.columns["value"] - self.columns["truth"]
        return direction(self.metric) * gap / self.columns["scale"]

    @property
    def moderate_errors(self) -> Floats:
        """The same, with catastrophes moderated."""
        value, truth = self._moderate("value"), self._moderate("truth")
        return direction(self.metric) * (value - truth)

    @property
    def catastrophes(self) -> int:
        """Repetitions whose winner is a catastrophe outside its rows."""
        if self.metric not in WORST:
            return 0
        truth, moderated = self.columns["truth"] / self.columns["scale"], self._moderate("truth")
        return int(np.count_nonzero(truth != moderated) - np.count_nonzero(np.isnan(truth)))

    def held(self, level: float, alternative: str) -> CountedShare:
        """The intervals that hold the truth, among those that there are."""
        holds, there = self._holds(level, alternative)
        return CountedShare(int(np.count_nonzero(holds & there)), int(np.count_nonzero(there)))

    def _holds(self, level: float, alternative: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        truth, names = self.columns["truth"], end_names(level, alternative)
        if any(name not in self.columns for name in names):
            none = np.zeros(len(truth), dtype=bool)
            return none, none
        ends = [self.columns[name] for name in names]
        there = ~np.isnan(np.sum(ends, axis=0)) & ~np.isnan(truth)
        slack = 1e-9 * np.maximum(1.0, np.abs(truth))  # kept ends and truths are rounded differently
        if alternative == "two-sided":
            return (ends[0] - slack <= truth) & (truth <= ends[1] + slack), there
        sign = direction(self.metric)
        return sign * ends[0] <= sign * truth + slack, there

    def widths(self, level: float, alternative: str) -> Floats:
        """Of intervals, or how far a bound is from the truth on the bad side; catastrophes moderated."""
        names = end_names(level, alternative)
        if any(name not in self.columns for name in names):
            return np.full(len(self.columns["value"]), NAN)
        ends = [self._moderate(name) for name in names]
        if alternative == "two-sided":
            return np.asarray(ends[1] - ends[0])
        return np.asarray(direction(self.metric) * (self._moderate("truth") - ends[0]))

    def _moderate(self, name: str) -> Floats:
        return moderate(self.metric, self.columns[name], self.columns["scale"])


def results_of(metric: str, columns: Mapping[str, NDArray[Any]], place: int) -> MethodResults:
    """Of the method at a place."""
    return MethodResults(metric, {name: values[:, place] for name, values in columns.items()})


def mean_of(values: Floats) -> Mean:
    """Of the finite values."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Mean(NAN, NAN)
    error = float(finite.std(ddof=1) / np.sqrt(finite.size)) if finite.size > 1 else NAN
    return Mean(float(finite.mean()), error)


def root_mean_square(errors: Floats) -> Mean:
    """With the standard error that the delta method gives.

    Examples
    --------
    >>> round(root_mean_square(np.array([3.0, -4.0])).value ** 2, 6)
    12.5
    """
    square = mean_of(errors**2)
    root = float(np.sqrt(square.value))
    return Mean(root, square.error / (2 * root) if root > 0 else 0.0)


def ratio_of_roots(errors: Floats, reference: Floats) -> Mean:
    """The ratio of two root mean squares over the same repetitions."""
    both = np.isfinite(errors) & np.isfinite(reference)
    squares, others = errors[both] ** 2, reference[both] ** 2
    if not both.any() or not others.mean() > 0:
        return Mean(NAN, NAN)
    mean, other = squares.mean(), others.mean()
    ratio = float(np.sqrt(mean / other))
    if not mean > 0:
        return Mean(ratio, 0.0)
    return Mean(ratio, ratio / 2 * mean_of(squares / mean - others / other).error)


def ratio_of_means(values: Floats, reference: Floats) -> Mean:
    """The ratio of two means over the same repetitions."""
    both = np.isfinite(values) & np.isfinite(reference)
    if not both.any() or not reference[both].mean() > 0:
        return Mean(NAN, NAN)
    other = reference[both].mean()
    ratio = float(values[both].mean() / other)
    return Mean(ratio, mean_of((values[both] - ratio * reference[both]) / other).error)


def rows_of_cell(
    cell: BedCell,
    labels: Sequence[str],
    columns: Mapping[str, NDArray[Any]],
    *,
    reference: str = "bbc",
    levels: Sequence[float] = (0.9, 0.95),
) -> list[dict[str, Any]]:
    """A row a method: what the cell says of it."""
    results = {label: results_of(cell.metric, columns, place) for place, label in enumerate(labels)}
    beside = results.get(reference)
    return [_row(cell, label, found, beside, levels) for label, found in results.items()]


def _row(
    cell: BedCell, label: str, found: MethodResults, beside: MethodResults | None, levels: Sequence[float]
) -> dict[str, Any]:
    errors = found.moderate_errors
    bias, root = mean_of(errors), root_mean_square(errors)
    ratio = Mean(NAN, NAN) if beside is None else ratio_of_roots(errors, beside.moderate_errors)
    there = int(np.count_nonzero(np.isfinite(errors)))
    row: dict[str, Any] = {
        "part": cell.part,
        "kind": cell.kind,
        "metric": cell.metric,
        "rows": cell.rows,
        "configurations": cell.configurations,
        "method": label,
        "repetitions": there,
        "no_value": len(errors) - there,
        "catastrophes": found.catastrophes,
        "bias": bias.value,
        "bias_error": bias.error,
        "rmse": root.value,
        "rmse_error": root.error,
        "rmse_ratio": ratio.value,
        "rmse_ratio_error": ratio.error,
        "plain_bias": mean_of(found.errors).value,
        "plain_rmse": root_mean_square(found.errors).value,
        "median_error": float(np.median(errors[np.isfinite(errors)])) if there else NAN,
    }
    for level in levels:
        for side, word in (("two-sided", ""), ("greater", "bound_")):
            row |= _of_interval(found, beside, level, side, f"{word}{100 * level:g}")
    seconds = found.columns["seconds"]
    row["seconds"] = float(np.median(seconds[np.isfinite(seconds)])) if np.isfinite(seconds).any() else NAN
    return row


def _of_interval(
    found: MethodResults, beside: MethodResults | None, level: float, side: str, name: str
) -> dict[str, float]:
    held, widths = found.held(level, side), found.widths(level, side)
    width = mean_of(widths)
    ratio = Mean(NAN, NAN) if beside is None else ratio_of_means(widths, beside.widths(level, side))
    row = {
        f"coverage_{name}": held.value,
        f"coverage_{name}_error": held.error,
        f"intervals_{name}": held.of,
        f"width_{name}": width.value,
        f"width_{name}_error": width.error,
        f"width_ratio_{name}": ratio.value,
    }
    if side == "two-sided":
        row[f"no_width_{name}"] = int(np.count_nonzero(widths <= 0))
    return row

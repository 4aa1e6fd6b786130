"""NumPy kernels of curves: the ROC curve and its beginning, calibration by bins and regressions, and a smoother.

The kernels of the beginning of the ROC curve go through the distinct scores of a column in descending order. For
each score they use the weight of the negative rows above it, of the negative rows down to it, and of the positive
rows at it. Probabilities are calibrated by a logistic regression on their log-odds, numbers by least squares.
"""

from typing import NamedTuple

import numpy as np

from heldout._types import Booleans, Codes, Floats, Indices, Weightings
from heldout.kernels.reference import Columns, on_exact_grid, refuse_nan, sum_in_order


class BinnedGaps(Columns):
    """The sum over bins of the absolute weighted sum of the values in the bin, in every column.

    The values are rounded like those of ``LossSums``, so that sums of counts are exact.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        Finite, of either sign.
    bins : ndarray of int, shape (n, C)
        0 .. n_bins - 1.
    n_bins : int
    most : int
        The largest total count.
    """

    def __init__(self, values: Floats, bins: Codes, n_bins: int, most: int) -> None:
        super().__init__(values.shape)
        refuse_nan(values)
        if n_bins < 1 or (bins.size and not 0 <= bins.min() <= bins.max() < n_bins):
            raise ValueError(f"a bin must be from 0 to n_bins - 1 = {n_bins - 1}, and n_bins at least 1")
        self._values, self._bins, self._n_bins = on_exact_grid(values, most), bins, n_bins

    def _column(self, counts: Weightings, j: int) -> Floats:
        total = np.zeros(len(counts))
        for k in range(self._n_bins):
            inside = self._bins[:, j] == k
            total += np.abs(sum_in_order(counts[:, inside] * self._values[inside, j]))
        return total


MOST_PASSES = 200
CLOSE_ENOUGH = 1e-9
"""A step this small ends the search: Newton's next error is its square."""
NEAR_ENOUGH = 1e-6
"""If the passes end after a step this small, it is a fit too: rounding decides where a flat likelihood is level."""
FIRST_MOVE = 32.0
"""How far the first step may move a log-odds: further away probabilities are 0 and 1, and there is no curvature.
A step that was shortened to the limit and does not overshoot doubles the limit, so every maximum can be reached."""
EXP_COEFFICIENTS = tuple(1.0 / float(np.prod(np.arange(1.0, k + 1.0))) for k in range(14))
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
LEAST_EXPONENT = -700.0


def exp_of_nonpositive(t: Floats) -> Floats:
    """``exp(t)`` for t <= 0, to two units in the last place, by the same operations as in C++.

    t = k ln 2 + r with |r| <= ln(2) / 2; the Taylor polynomial of degree 13 in r, times 2**k.
    """
    bounded = np.maximum(t, LEAST_EXPONENT)
    k = np.rint(bounded * LOG2_E)
    r = (bounded - k * LN2_HIGH) - k * LN2_LOW
    value = np.full_like(r, EXP_COEFFICIENTS[-1])
    for coefficient in EXP_COEFFICIENTS[-2::-1]:
        value = value * r + coefficient
    scaled: Floats = np.ldexp(value, k.astype(np.int64))
    return scaled


class _Slope(NamedTuple):
    """Gradient and negative second derivatives of the log-likelihood at one point, each (L,)."""

    g0: Floats
    g1: Floats
    h00: Floats
    h01: Floats
    h11: Floats


class LogisticFits(Columns):
    """Maximum-likelihood intercept and slope of the logistic regression of a binary truth on every column.

    Newton's method, from the fit to all rows with weight 1. A step that overshoots (the likelihood falls at its end
    more than half as steeply as it rose at its start) is halved. The fit is NaN if there is no finite maximum: if a
    class has no weight or, with a slope to fit, if some value separates the classes.

    Parameters
    ----------
    values : ndarray of shape (n, C)
        Finite: log-odds.
    positive : ndarray of bool, shape (n,)
    given_slope : bool
        Whether the slope is 1, and only the intercept is fitted.
    """

    def __init__(self, values: Floats, positive: Booleans, given_slope: bool) -> None:
        super().__init__(values.shape)
        check_log_odds(values)
        self._positive, self._given_slope = positive, given_slope
        # Centred, so that intercept and slope hardly depend on each other.
        self._middles = (values.min(axis=0) + values.max(axis=0)) / 2
        self._centred = values - self._middles
        self._starts = [self._start(j) for j in range(self.n_columns)]

    def all(self, counts: Weightings) -> Floats:
        """(L, C, 2): intercept and slope."""
        return super().all(counts)

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        """(L, 2)."""
        return super().selected(counts, columns)

    def _column(self, counts: Weightings, j: int) -> Floats:
        fits = self._fit(counts.astype(np.float64), j, self._starts[j])
        intercepts = fits[:, 0] - fits[:, 1] * self._middles[j]
        return np.stack([intercepts, fits[:, 1]], axis=1)

    def _start(self, j: int) -> Floats:
        """Where every weighting starts: at the fit to all rows with weight 1, if it exists."""
        start = np.array([self._middles[j], 1.0]) if self._given_slope else np.zeros(2)
        fit: Floats = self._fit(np.ones((1, self.n_rows)), j, start)[0]
        return fit if np.isfinite(fit).all() else start

    def _fit(self, weights: Floats, j: int, start: Floats) -> Floats:
        """(L, 2): intercept and slope on the centred column."""
        x = self._centred[:, j]
        # How far the slope moves the log-odds of the farthest row: steps are limited by that.
        reach = np.abs(x).max(initial=0.0)
        at = np.broadcast_to(start, (len(weights), 2)).copy()
        step = np.zeros_like(at)
        rise = np.zeros(len(weights))  # of the likelihood along the step, at its start
        largest = np.full(len(weights), FIRST_MOVE)
        result = np.full_like(at, np.nan)
        searching = self._has_maximum(weights, x)
        for _ in range(MOST_PASSES):
            if not searching.any():
                break
            slope = self._slope(weights, x, at)
            # A likelihood that falls steeply at the end of the step means that the maximum was passed.
            arrived = slope.g0 * step[:, 0] + slope.g1 * step[:, 1] >= -0.5 * rise
            newton, shortened = self._newton(slope, reach, largest)
            small = (np.abs(newton) <= CLOSE_ENOUGH * (1.0 + np.abs(at))).all(axis=1)
            done = searching & arrived & small
            result[done] = (at + newton)[done]
            # Without curvature there is no parabola to maximise, and the result stays NaN.
            searching &= ~done & ~(arrived & ~np.isfinite(newton).all(axis=1))
            on, back = (searching & arrived)[:, None], (searching & ~arrived)[:, None]
            largest = np.where(on[:, 0] & shortened, 2 * largest, largest)
            along = slope.g0 * newton[:, 0] + slope.g1 * newton[:, 1]
            rise = np.where(on[:, 0], along, np.where(back[:, 0], 0.5 * rise, rise))
            at = np.where(on, at + newton, np.where(back, at - 0.5 * step, at))
            step = np.where(on, newton, np.where(back, 0.5 * step, step))
        near = searching & (np.abs(step) <= NEAR_ENOUGH * (1.0 + np.abs(at))).all(axis=1)
        result[near] = at[near]
        return result

    def _has_maximum(self, weights: Floats, x: Floats) -> Booleans:
        """(L,)."""
        ends = []
        for of_class in (self._positive, ~self._positive):
            present = (weights > 0) & of_class
            least = np.where(present, x, np.inf).min(axis=1, initial=np.inf)
            ends.append((least, np.where(present, x, -np.inf).max(axis=1, initial=-np.inf)))
        (low, high), (low_other, high_other) = ends
        if self._given_slope:
            return (low <= high) & (low_other <= high_other)
        # Otherwise the classes are separated, and the slope grows without end.
        return (low < high_other) & (low_other < high)

    def _slope(self, weights: Floats, x: Floats, at: Floats) -> _Slope:
        log_odds = at[:, :1] + at[:, 1:] * x
        # Of minus the size, which never overflows.
        e = exp_of_nonpositive(-np.abs(log_odds))
        d = 1.0 / (1.0 + e)
        # Two forms of one function, each exact on its side of 0.
        residual: Floats = self._positive - np.where(log_odds >= 0, d, e * d)
        wr = weights * residual
        wv = weights * (e * d * d)
        sums = (sum_in_order(part) for part in (wr, wr * x, wv, wv * x, wv * x * x))
        return _Slope(*sums)

    def _newton(self, slope: _Slope, reach: float, largest: Floats) -> tuple[Floats, Booleans]:
        """(L, 2): the step to the maximum of a parabola, at most ``largest`` long; (L,): if it was shortened."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self._given_slope:
                intercept, other = slope.g0 / slope.h00, np.zeros_like(slope.g0)
            else:
                determinant = slope.h00 * slope.h11 - slope.h01 * slope.h01
                intercept = (slope.h11 * slope.g0 - slope.h01 * slope.g1) / determinant
                other = (slope.h00 * slope.g1 - slope.h01 * slope.g0) / determinant
            move = np.abs(intercept) + np.abs(other) * reach
            shortened = move > largest
            shrink = np.where(shortened, largest / move, 1.0)
            step: Floats = np.stack([intercept * shrink, other * shrink], axis=1)
        return step, shortened


class LineFits(Columns):
    """Least-squares intercept and slope of the truth on every column.

    The fit is NaN if there is a slope to fit and all rows with weight have the same value.

    Parameters
    ----------
    values : ndarray of shape (n, C)
    target : ndarray of shape (n,)
    given_slope : bool
        Whether the slope is 1, and only the intercept is fitted.
    """

    def __init__(self, values: Floats, target: Floats, given_slope: bool) -> None:
        super().__init__(values.shape)
        refuse_nan(values)
        self._values, self._given_slope = values, given_slope
        # Centred, so that a target far from zero keeps its digits.
        self._middle = float(target.mean()) if len(target) else 0.0
        self._target = target - self._middle

    def all(self, counts: Weightings) -> Floats:
        """(L, C, 2): intercept and slope."""
        return super().all(counts)

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        """(L, 2)."""
        return super().selected(counts, columns)

    def _column(self, counts: Weightings, j: int) -> Floats:
        x, y, weights = self._values[:, j], self._target, counts.astype(np.float64)
        total = sum_in_order(weights)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            if self._given_slope:
                intercept = sum_in_order(weights * (y - (x - self._middle))) / total
                return np.stack([intercept, np.where(total > 0, 1.0, np.nan)], axis=1)
            middle = sum_in_order(weights * x) / total
            away = x - middle[:, None]
            slope = sum_in_order(weights * away * y) / sum_in_order(weights * away * away)
            slope[_constant(weights, x)] = np.nan
            intercept = self._middle + sum_in_order(weights * y) / total - slope * middle
        return np.stack([intercept, slope], axis=1)


def _constant(weights: Floats, x: Floats) -> Booleans:
    """(L,): whether the rows with weight have at most one value."""
    present = weights > 0
    least = np.where(present, x, np.inf).min(axis=1, initial=np.inf)
    return np.asarray(least >= np.where(present, x, -np.inf).max(axis=1, initial=-np.inf))


def check_log_odds(values: Floats) -> None:
    refuse_nan(values)
    if not np.isfinite(values).all():
        raise ValueError("log-odds must be finite: clip probabilities of 0 and 1 first, and flag it")


SLACK = 1e-12
"""A relative excess over the allowed weight of false alarms that counts as rounding: .1 of ten rows is one row."""


class _Thresholds(NamedTuple):
    """Weights at G distinct scores, descending, each (L, G)."""

    above: Floats
    """Of the negative rows above the score."""
    down_to: Floats
    """Of the negative rows above it or tied with it."""
    gained: Floats
    """Of the positive rows at the score."""


class CurveStart(Columns):
    """The beginning of the ROC curve of every column.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Greater = more positive; no NaN.
    positive : ndarray of bool, shape (n,)
    share : float
        The largest false positive rate, from 0 to 1.
    """

    def __init__(self, scores: Floats, positive: Booleans, share: float) -> None:
        super().__init__(scores.shape)
        refuse_nan(scores)
        check_share(share)
        self._scores, self._positive, self._share = scores, positive, share

    def _thresholds(self, counts: Weightings, j: int) -> _Thresholds:
        order = np.lexsort((self._positive, -self._scores[:, j]))
        ranked, positive = self._scores[order, j], self._positive[order]
        last_of_tie = np.append(ranked[1:] != ranked[:-1], True)
        weights = counts[:, order].astype(np.float64)
        down_to = np.cumsum(weights * ~positive, axis=1)[:, last_of_tie]
        above = np.concatenate([np.zeros((len(counts), 1)), down_to[:, :-1]], axis=1)
        hits = np.cumsum(weights * positive, axis=1)[:, last_of_tie]
        return _Thresholds(above, down_to, np.diff(hits, axis=1, prepend=0.0))

    def _totals(self, counts: Weightings) -> tuple[Floats, Floats]:
        """(L,) each: the weight of positive and of negative rows."""
        weights = counts.astype(np.float64)
        return sum_in_order(weights[:, self._positive]), sum_in_order(weights[:, ~self._positive])


def check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"the false positive rate must be from 0 to 1, got {share}")


class SensitivityWithin(CurveStart):
    """The share of positive rows at or above the lowest score with at most ``share`` of the negative rows.

    With ``share`` = 1 - specificity this is the largest sensitivity at that specificity, over the thresholds
    "at least this score". NaN if a class has no weight.
    """

    def _column(self, counts: Weightings, j: int) -> Floats:
        at = self._thresholds(counts, j)
        positives, negatives = self._totals(counts)
        allowed = negatives * self._share * (1 + SLACK)
        hits = sum_in_order(np.where(at.down_to <= allowed[:, None], at.gained, 0.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            share: Floats = np.minimum(hits / positives, 1.0)
        return np.where(negatives > 0, share, np.nan)


class AreaWithin(CurveStart):
    """The area under the ROC curve from a false positive rate of 0 to one of ``share``.

    The curve rises linearly where positive and negative rows are tied: each positive row counts with the allowed
    false alarms that are left at its score, averaged over the negative rows tied with it. NaN if a class has no
    weight.
    """

    def _column(self, counts: Weightings, j: int) -> Floats:
        at = self._thresholds(counts, j)
        positives, negatives = self._totals(counts)
        allowed = (negatives * self._share)[:, None]
        left_before = np.maximum(allowed - at.above, 0.0)
        left_after = np.maximum(allowed - at.down_to, 0.0)
        tied = at.down_to - at.above
        ends_within = left_before * left_before / np.where(tied > 0, tied, 1.0)
        twice = sum_in_order(at.gained * np.where(left_after > 0, left_before + left_after, ends_within))
        with np.errstate(invalid="ignore", divide="ignore"):
            area: Floats = twice / (2.0 * positives * negatives)
        return area


def roc_points(positive: Booleans, scores: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """False and true positive rates from (0, 0) to (1, 1), with tied scores together, and the area under them.

    Examples
    --------
    >>> x, y, area = roc_points(np.array([False, True, True]), np.array([0.1, 0.1, 0.7]), np.ones(3))
    >>> x.tolist(), y.tolist(), area
    ([0.0, 0.0, 1.0], [0.0, 0.5, 1.0], 0.75)
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=np.nan) != 0)
    hits = np.cumsum(np.where(positive, weights, 0.0)[order])[ends]
    alarms = np.cumsum(np.where(positive, 0.0, weights)[order])[ends]
    x, y = np.append(0.0, alarms / alarms[-1]), np.append(0.0, hits / hits[-1])
    return x, y, float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def precision_recall_points(positive: Booleans, scores: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """Recall and precision from the highest score down, tied scores together, and the average precision.

    The first point has recall 0 and the precision of the highest score, so that the curve starts at the edge.

    Examples
    --------
    >>> positive = np.array([True, False, True, False])
    >>> recall, precision, average = precision_recall_points(positive, np.array([0.9, 0.8, 0.7, 0.1]), np.ones(4))
    >>> recall.tolist(), precision.round(3).tolist(), round(average, 4)
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.667, 0.5], 0.8333)
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=np.nan) != 0)
    hits = np.cumsum(np.where(positive, weights, 0.0)[order])[ends]
    reached = np.cumsum(weights[order])[ends]
    recall, precision = hits / hits[-1], hits / reached
    average = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    return np.append(0.0, recall), np.append(precision[0], precision), average


def net_benefit(observed: Floats, predicted: Floats, weights: Floats, thresholds: Floats) -> Floats:
    """(m,): net benefit a row, in true positives, of acting where the prediction is at least each threshold.

    Positives acted on, less the others acted on times threshold / (1 - threshold), over all rows (Vickers and Elkin
    2006). NaN without weight.

    Examples
    --------
    Acting from .5 on reaches one of two positives and one other row: (1 - 1) / 4.

    >>> net_benefit(np.array([0.0, 0, 1, 1]), np.array([0.1, 0.6, 0.3, 0.8]), np.ones(4), np.array([0.5])).tolist()
    [0.0]
    """
    acted = predicted[:, None] >= thresholds
    hits = (weights * observed) @ acted
    alarms = (weights * (1.0 - observed)) @ acted
    total = weights.sum()
    odds = thresholds / (1.0 - thresholds)
    return (hits - alarms * odds) / total if total else np.full(len(thresholds), np.nan)


def check_points(x: Floats, y: Floats) -> None:
    for numbers in (x, y):
        refuse_nan(numbers)
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("the smoother accepts finite numbers only")

"""Metrics as their definitions say, for those of which scikit-learn has no function or takes no weights.

Each takes true values ``y`` (1 is the positive class), predictions ``p`` and weights ``w`` of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import spearmanr
from sklearn.metrics import roc_curve

EPS = np.finfo(np.float64).eps


def sensitivity_at(specificity: float, y: Any, p: Any, w: Any) -> float:
    fpr, tpr, _ = roc_curve(y, p, sample_weight=w, drop_intermediate=False)
    return float(tpr[fpr <= (1 - specificity) + 1e-12].max())


def partial_area(most: float, y: Any, p: Any, w: Any) -> float:
    """Each positive row, over each negative one, for the part of the false alarms that come before ``most``."""
    positive, negative = np.flatnonzero(y), np.flatnonzero(~np.asarray(y, dtype=bool))
    left = most * w[negative].sum()
    area = 0.0
    for i in positive:
        above = w[negative][p[negative] > p[i]].sum()
        tied = w[negative][p[negative] == p[i]].sum()
        if left > above:
            share = min(1.0, (left - above) / tied) if tied > 0 else 0.0  # of the tie that comes before ``most``
            area += w[i] * (share * (left - above - share * tied / 2) + (1 - share) * max(left - above - tied, 0.0)
                            if tied > 0 else left - above)  # fmt: skip
    return float(area / (w[positive].sum() * w[negative].sum()))


def calibration_error(y: Any, p: Any, w: Any, edges: NDArray[Any]) -> float:
    """``y`` is what should have happened with probability ``p``."""
    gap = 0.0
    for low, high in zip(np.r_[-np.inf, edges], np.r_[edges, np.inf], strict=True):
        inside = (p > low) & (p <= high) & (w > 0)
        if inside.any():
            share, mean = np.average(y[inside], weights=w[inside]), np.average(p[inside], weights=w[inside])
            gap += w[inside].sum() * abs(share - mean)
    return float(gap / w.sum())


def separated(y: Any, p: Any, w: Any) -> bool:
    of_true, of_false = p[(y == 1) & (w > 0)], p[(y == 0) & (w > 0)]
    return bool(of_true.min() >= of_false.max() or of_false.min() >= of_true.max())


def logistic_fit(y: Any, p: Any, w: Any) -> tuple[float, float]:
    """The slope at which the likelihood of the best intercept for it is level, by bisection; NaN without one."""
    if separated(y, p, w):
        return float("nan"), float("nan")
    x = logit(np.clip(p, EPS, 1 - EPS))

    def derivative(slope: float) -> float:
        return float(np.sum(w * (y - expit(_intercept(y, slope * x, w) + slope * x)) * x))

    slope = brentq(derivative, -300.0, 300.0, xtol=1e-14, rtol=1e-14)
    return _intercept(y, slope * x, w), float(slope)


def intercept_given_slope(y: Any, p: Any, w: Any) -> float:
    return _intercept(y, logit(np.clip(p, EPS, 1 - EPS)), w)


def _intercept(y: Any, offset: Any, w: Any) -> float:
    far = np.abs(offset).max() + 60.0
    return float(brentq(lambda a: np.sum(w * (y - expit(a + offset))), -far, far, xtol=1e-14, rtol=1e-14))


def spearman(y: Any, p: Any, w: Any) -> float:
    if (w == np.floor(w)).all():
        rows = np.repeat(np.arange(len(y)), w.astype(int))
        return float(spearmanr(y[rows], p[rows]).statistic)
    places = [(w * (x < x[:, None])).sum(axis=1) + (w * (x == x[:, None])).sum(axis=1) / 2 for x in (y, p)]
    one, other = (place - np.average(place, weights=w) for place in places)
    return float((w * one * other).sum() / np.sqrt((w * one**2).sum() * (w * other**2).sum()))

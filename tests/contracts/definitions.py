"""Metrics as their definitions say, for those of which scikit-learn has no function or takes no weights.

Each takes true values ``y`` (1 is the positive class), predictions ``p`` and weights ``w`` of the rows.
"""

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


def likelihoods(y: Any, p: Any, w: Any) -> tuple[float, float, float]:
    """Of the prevalence, of the probabilities as they are, and of the logistic regression on them or its limit."""
    x = logit(np.clip(p, EPS, 1 - EPS))

    def of(chances: Any, rows: Any = slice(None)) -> float:
        return float(np.sum(w[rows] * np.log(np.where(y[rows] == 1, chances, 1 - chances))))

    given = of(expit(x))
    if separated(y, p, w):
        at = (x == x[(y == 1) & (w > 0)].min()) | (x == x[(y == 1) & (w > 0)].max())
        at &= np.isin(x, x[(y == 0) & (w > 0)])
        best = of(np.average(y[at], weights=w[at]), at) if w[at].sum() else 0.0
    else:
        intercept, slope = logistic_fit(y, p, w)
        best = of(expit(intercept + slope * x))
    return of(np.average(y, weights=w)), given, best


def nagelkerke(y: Any, p: Any, w: Any, recalibrated: bool = True) -> float:
    none, given, best = likelihoods(y, p, w)
    gained, total = best if recalibrated else given, w.sum()
    return float((1 - np.exp(2 * (none - gained) / total)) / (1 - np.exp(2 * none / total)))


def index(name: str, none: float, given: float, best: float, unit: float) -> float:
    """The likelihood ratio, D, U and Q; ``unit`` is what an index is divided by."""
    D, U = (2 * (best - none) - 1) / unit, (2 * (best - given) - 2) / unit
    indices = {"likelihood_ratio": 2 * (best - none), "discrimination_index": D, "unreliability_index": U}
    return (indices | {"quality_index": D - U})[name]


def mean_difference(z: Any, w: Any) -> float:
    """Of all pairs of rows, a row being as many as its weight."""
    both = np.sum(w[:, None] * w * np.abs(z[:, None] - z))
    return float(both / (w.sum() * (w.sum() - 1)))


def log_odds(p: Any) -> Any:
    return logit(np.clip(p, EPS, 1 - EPS))


def calibrated_difference(x: Any, slope: float, w: Any) -> float:
    return 0.0 if len(np.unique(x[w > 0])) == 1 else mean_difference(slope * x, w)


def calibration_emax(y: Any, p: Any, w: Any) -> float:
    intercept, slope = logistic_fit(y, p, w)
    grid = np.arange(1, 2000) / 2000
    return float(np.abs(grid - expit(intercept + slope * logit(grid))).max())


class Cox:
    """Efron's partial likelihood of one covariate, rows being copies; of real weights the last step is shorter."""

    def __init__(self, y: Any, x: Any, w: Any) -> None:
        self.x = x - np.average(x, weights=w)
        self.sets = []
        for time in np.unique(y["time"][y["event"] & (w > 0)]):
            at_risk = (y["time"] >= time) * w
            ends = (y["event"] & (y["time"] == time)) * w
            steps = np.arange(np.ceil(ends.sum() - 1e-12))
            self.sets.append((at_risk, ends, steps, np.minimum(1.0, ends.sum() - steps)))

    def value(self, slope: float) -> float:
        hazard = np.exp(slope * self.x)
        total = 0.0
        for at_risk, ends, steps, sizes in self.sets:
            left = at_risk @ hazard - steps / ends.sum() * (ends @ hazard)
            total += slope * (ends @ self.x) - sizes @ np.log(left)
        return float(total)

    def derivative(self, slope: float) -> float:
        hazard = np.exp(slope * self.x)
        total = 0.0
        for at_risk, ends, steps, sizes in self.sets:
            left = at_risk @ hazard - steps / ends.sum() * (ends @ hazard)
            rise = at_risk @ (hazard * self.x) - steps / ends.sum() * (ends @ (hazard * self.x))
            total += ends @ self.x - sizes @ (rise / left)
        return float(total)

    def slope(self) -> float:
        if self.derivative(-40.0) * self.derivative(40.0) >= 0:
            return float("nan")
        return float(brentq(self.derivative, -40.0, 40.0, xtol=1e-14, rtol=1e-14))

    def likelihoods(self) -> tuple[float, float, float]:
        return self.value(0.0), self.value(1.0), self.value(self.slope())

    def r2(self, total: float) -> float:
        none, best = self.value(0.0), self.value(self.slope())
        return float((1 - np.exp(2 * (none - best) / total)) / (1 - np.exp(2 * none / total)))


def line(y: Any, p: Any, w: Any) -> tuple[float, float]:
    root = np.sqrt(w)
    if len(np.unique(p[w > 0])) < 2:
        return float("nan"), float("nan")
    design = np.stack([np.ones(len(p)), p], axis=1) * root[:, None]
    intercept, slope = np.linalg.lstsq(design, y * root, rcond=None)[0]
    return float(intercept), float(slope)


def lowess_at(x: Any, y: Any, w: Any, at: float) -> float:
    """The line of weighted least squares at one point, of the rows near it; whole weights are copies."""
    x, y, w = x[w > 0], y[w > 0], w[w > 0]
    away = np.abs(x - at)
    order = np.argsort(away, kind="stable")
    total = w.sum()
    if (w == np.floor(w)).all():
        wanted = max(min(2.0, total), np.floor(2 / 3 * total + 1e-7))
    else:
        wanted = 2 / 3 * total * (1 - 1e-9)
    h = away[order][np.argmax(np.cumsum(w[order]) >= wanted)]
    tricube = (1 - np.minimum(away / h, 1) ** 3) ** 3 if h > 0 else np.zeros(len(x))
    kernel = w * np.where(away <= 0.001 * h, 1, np.where(away <= 0.999 * h, tricube, 0))
    middle = np.average(x, weights=kernel)
    spread = np.average((x - middle) ** 2, weights=kernel)
    level = np.average(y, weights=kernel)
    if np.sqrt(spread) <= 0.001 * (x.max() - x.min()):
        return float(level)
    return float(level + (at - middle) * np.average((x - middle) * y, weights=kernel) / spread)


def curve_distances(y: Any, p: Any, w: Any, smoother: str = "lowess") -> NDArray[Any]:
    """Of rows with weight, in their order; the lowess at points 1 % of the range apart, as R steps along them."""
    if smoother == "logistic":
        intercept, slope = logistic_fit(y, p, w)
        return np.abs(p - expit(intercept + slope * logit(np.clip(p, EPS, 1 - EPS))))[w > 0]
    ranked = np.unique(p[w > 0])
    knots, delta = [ranked[0]], 0.01 * (ranked[-1] - ranked[0])
    while knots[-1] < ranked[-1]:
        beyond = ranked[ranked > knots[-1]]
        near = beyond[beyond <= knots[-1] + delta]
        knots.append(near[-1] if len(near) else beyond[0])
    curve = [lowess_at(p, y, w, knot) for knot in knots]
    return np.abs(p - np.interp(p, knots, curve))[w > 0]


def nine_tenths(values: Any, w: Any) -> float:
    order = np.argsort(values)
    return float(values[order][np.argmax(np.cumsum(w[order]) >= (0.9 - 1e-12) * w.sum())])


DISTANCES = {
    "emax": lambda distances, w: float(distances.max()),
    "e90": nine_tenths,
    "ici": lambda distances, w: float(np.average(distances, weights=w)),
    "eci": lambda distances, w: 100 * float(np.average(distances**2, weights=w)),
}


def curve_distance(name: str, y: Any, p: Any, w: Any, smoother: str = "lowess") -> float:
    distances = curve_distances(y, p, w, smoother)
    return DISTANCES[name](distances, w[w > 0])


def spearman(y: Any, p: Any, w: Any) -> float:
    if (w == np.floor(w)).all():
        rows = np.repeat(np.arange(len(y)), w.astype(int))
        return float(spearmanr(y[rows], p[rows]).statistic)
    places = [(w * (x < x[:, None])).sum(axis=1) + (w * (x == x[:, None])).sum(axis=1) / 2 for x in (y, p)]
    one, other = (place - np.average(place, weights=w) for place in places)
    return float((w * one * other).sum() / np.sqrt((w * one**2).sum() * (w * other**2).sum()))

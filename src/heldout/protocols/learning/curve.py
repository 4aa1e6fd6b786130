"""A learning curve: the scores of all configurations at every training size, and the curves through them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from heldout._record import Record, TextTable, rows_table
from heldout._types import Floats
from heldout.estimates.types import Estimate, decimals_of

LEAST_SIZES = 3
"""Of as many coefficients."""
STEEPEST = 10.0
"""Beyond this exponent the curve has fallen to its limit between any two training sizes."""
EXPONENTS = np.geomspace(1e-3, STEEPEST, 161)


@dataclass(frozen=True)
class PowerLaw:
    """A learning curve: error(n) = a n^(-b) + c, with a, b, c >= 0 (Ding et al. 2014).

    Attributes
    ----------
    a, b, c : float
        ``c`` is the error in the limit of many rows. A curve that does not fall has a = b = 0.
    residual : float
        The distance of the mean errors from the curve: their weighted root mean square, in units of error.
    misfit : float
        The same in units of their standard errors, without weights; NaN if no standard error is known.

    Examples
    --------
    >>> law = PowerLaw(a=2.0, b=0.5, c=0.1)
    >>> float(law.at(100.0))
    0.30000000000000004
    """

    a: float
    b: float
    c: float
    residual: float = 0.0
    misfit: float = float("nan")

    @property
    def is_flat(self) -> bool:
        """Whether more training rows change nothing."""
        return self.a == 0.0

    def at(self, n_rows: float | Floats) -> Floats:
        """The error of models trained on ``n_rows`` rows."""
        return np.asarray(self.a * np.asarray(n_rows, dtype=np.float64) ** -self.b + self.c)


class _Fit(NamedTuple):
    scale: float
    limit: float
    squares: float


def fit_power_law(sizes: Floats, errors: Floats, variances: Floats) -> PowerLaw | None:
    """The power law of the least squares, each weighted by one over the variance of its mean.

    - ``sizes`` (S,): training rows, ascending.
    - ``errors`` (S,): mean errors, 0 at best; NaN where there is none.
    - ``variances`` (S,): of these means. One of 0 counts as the smallest that is not, and all count alike where all
      are 0: a mean that did not vary is no more certain than one that hardly did.

    Returns None where fewer than three sizes have an error.

    Examples
    --------
    >>> sizes = np.array([20.0, 40.0, 80.0, 160.0])
    >>> law = fit_power_law(sizes, 2 / np.sqrt(sizes) + 0.1, np.ones(4))
    >>> round(law.a, 4), round(law.b, 4), round(law.c, 4), round(float(law.at(400.0)), 6)
    (2.0, 0.5, 0.1, 0.2)
    """
    known = np.isfinite(errors)
    if known.sum() < LEAST_SIZES:
        return None
    sizes, errors, variances = sizes[known], errors[known], variances[known]
    weights = _weights(variances)
    shrunk = sizes / sizes[0]  # the first size has 1, whatever the exponent

    def least(exponent: float) -> _Fit:
        return _least_squares(shrunk**-exponent, errors, weights)

    level = float(weights @ errors)
    flat = _Fit(0.0, level, float(weights @ (errors - level) ** 2))
    found = [least(exponent) for exponent in EXPONENTS]
    best = int(np.argmin([fit.squares for fit in found]))
    exponent, fit = float(EXPONENTS[best]), found[best]
    ends = EXPONENTS[max(best - 1, 0)], EXPONENTS[min(best + 1, len(EXPONENTS) - 1)]
    refined = minimize_scalar(
        lambda log: least(np.exp(log)).squares,
        bounds=tuple(np.log(ends)),
        method="bounded",
        options={"xatol": 1e-10},
    )
    if refined.fun < fit.squares:
        exponent = float(np.exp(refined.x))
        fit = least(exponent)
    if fit.scale == 0.0 or not fit.squares < flat.squares:
        exponent, fit = 0.0, flat
    law = PowerLaw(float(fit.scale * sizes[0] ** exponent), exponent, fit.limit)
    missed = errors - law.at(sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        standardised = missed / np.sqrt(np.where(variances > 0, variances, np.nan))
    squares = standardised[~np.isnan(standardised)] ** 2
    return PowerLaw(
        law.a,
        law.b,
        law.c,
        residual=float(np.sqrt(weights @ missed**2)),
        misfit=float(np.sqrt(squares.mean())) if squares.size else float("nan"),
    )


def _weights(variances: Floats) -> Floats:
    """One over the variance, of sum 1."""
    positive = variances[np.isfinite(variances) & (variances > 0)]
    if not positive.size:
        return np.full(len(variances), 1 / len(variances))
    least = positive.min()
    relative = least / np.fmax(variances, least)
    return np.asarray(relative / relative.sum())


def _least_squares(x: Floats, errors: Floats, weights: Floats) -> _Fit:
    """scale * x + limit with both at least 0: the best inside, or else on one of the two bounds.

    The problem is convex, so that the best lies on the bound which the unbounded one breaks; where it breaks one,
    it can lie nowhere else, and errors of at least 0 allow it to break only one.
    """
    middle, level = weights @ x, weights @ errors
    spread = weights @ (x - middle) ** 2
    scale = float(weights @ ((x - middle) * (errors - level)) / spread) if spread > 0 else 0.0
    limit = float(level - scale * middle)
    if scale <= 0:
        scale, limit = 0.0, float(level)
    elif limit < 0:
        scale, limit = float(weights @ (x * errors) / (weights @ x**2)), 0.0
    return _Fit(scale, limit, float(weights @ (errors - scale * x - limit) ** 2))


@dataclass(frozen=True)
class CurvePoint:
    """The score of one configuration at one training size.

    Attributes
    ----------
    configuration : int
    name : str
    size : float
        Training rows; their mean if groups make them differ.
    mean : float
        The mean over subsamples, in the metric's own direction and units; NaN if the configuration failed.
    standard_error : float
        The standard error of ``mean`` over subsamples of these rows; it does not include how other rows would
        differ.
    n : int
        The number of subsamples with a score.
    """

    configuration: int
    name: str
    size: float
    mean: float
    standard_error: float
    n: int


@dataclass(frozen=True, eq=False)
class LearningCurve(Record):
    """The score of every configuration at every training size, and the winner's curve at all rows.

    Attributes
    ----------
    metric : str
    greater_is_better : bool
    best_possible : float
        The metric's best possible value; errors are distances from it. Infinite if unknown; there are no curves
        then.
    names : tuple of str
        Names of the C configurations.
    sizes : ndarray of shape (S,)
        Training rows, ascending.
    n_rows : int
        N, the training rows that the estimate is for.
    scores : ndarray of shape (S, n_subsamples, C)
        In the metric's own direction and units; NaN where a fit failed or the metric is undefined.
    laws : tuple of PowerLaw or None
        The curve of each configuration, in units of error; None if it failed, or too few sizes have a score.
    winner : int
        The best configuration at the largest size, by the selection rule.
    estimate : Estimate
        ``value`` is the winner's curve at N.
    model : estimator or None
        The winner fitted on all rows.
    failures : mapping of int to str
        Configurations that failed, which are no candidates, and why.
    n_fits : int
        Fits that were made, the model's included.
    """

    metric: str
    greater_is_better: bool
    best_possible: float
    names: tuple[str, ...]
    sizes: Floats
    n_rows: int
    scores: Floats
    laws: tuple[PowerLaw | None, ...]
    winner: int
    estimate: Estimate
    model: Any = None
    failures: Mapping[int, str] = field(default_factory=dict)
    n_fits: int = 0

    @cached_property
    def mean(self) -> Floats:
        """(S, C): mean score at each size, NaN for configurations that failed."""
        return summarised(self.scores)[0]

    @cached_property
    def standard_error(self) -> Floats:
        """(S, C): the standard error of ``mean``, over subsamples."""
        return summarised(self.scores)[1]

    @property
    def rows(self) -> tuple[CurvePoint, ...]:
        """One point per configuration and size, configuration by configuration."""
        n = np.count_nonzero(~np.isnan(self.scores), axis=1)
        return tuple(
            CurvePoint(j, name, float(size), float(self.mean[s, j]), float(self.standard_error[s, j]), int(n[s, j]))
            for j, name in enumerate(self.names)
            for s, size in enumerate(self.sizes)
        )

    def at(self, n_rows: float) -> Floats:
        """(C,): the score of every configuration trained on ``n_rows`` rows, by its curve; NaN if it has none."""
        errors = np.array([np.nan if law is None else float(law.at(n_rows)) for law in self.laws])
        return self.best_possible - errors if self.greater_is_better else self.best_possible + errors

    def best_at(self, n_rows: float) -> int | None:
        """The configuration whose curve is best at ``n_rows`` rows, the first of equals; None without any curve.

        It need not be the winner: a configuration that learns slowly may overtake beyond the largest size.
        """
        scores = self.at(n_rows)
        if np.isnan(scores).all():
            return None
        return int(np.nanargmax(scores) if self.greater_is_better else np.nanargmin(scores))

    _without = "best_possible names sizes scores laws model"
    _more = "n_subsamples best_at_n_rows points=rows curves=laws"
    _columns = "configuration name size mean standard_error n"

    @property
    def n_subsamples(self) -> int:
        return self.scores.shape[1]

    @property
    def best_at_n_rows(self) -> int | None:
        """The configuration whose curve is best at N rows."""
        return self.best_at(self.n_rows)

    @property
    def _rows(self) -> tuple[CurvePoint, ...]:
        return self.rows

    def __repr__(self) -> str:
        return (
            f"LearningCurve({len(self.names)} configurations at {len(self.sizes)} training sizes, "
            f"{self.n_subsamples} subsamples each, {self.n_fits} fits, {self.estimate})"
        )

    def tables(self) -> list[TextTable]:
        rows = [
            {"size": f"{size:g}", "mean": mean, "error": error, "curve": self.at(size)[self.winner]}
            for size, mean, error in zip(
                self.sizes.tolist(), self.mean[:, self.winner], self.standard_error[:, self.winner], strict=True
            )
        ]
        whole = {
            "size": f"{self.n_rows} (all)",
            "mean": "",
            "error": "",
            "curve": self.at(self.n_rows)[self.winner],
        }
        title = f"{self.metric} of {self.names[self.winner]} by training rows"
        shown = "training_rows=size curve mean standard_error=error"
        decimals = decimals_of(self.estimate)
        curve = rows_table([*rows, whole], shown, title, self._remarks(), decimals, main=len(rows))
        return [*self.estimate.tables(), curve]

    def _remarks(self) -> list[str]:
        best = self.best_at(self.n_rows)
        failed = [f"{self.names[j]} failed: {why}" for j, why in self.failures.items()]
        if best is None or best == self.winner:
            return failed
        return [f"The curve of {self.names[best]} is better at {self.n_rows} rows.", *failed]


def summarised(scores: Floats) -> tuple[Floats, Floats]:
    """Means and their standard errors (S, C) over subsamples (S, n, C), without those that have no score."""
    there = ~np.isnan(scores)
    n = np.count_nonzero(there, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(there, scores, 0.0).sum(axis=1) / n
        squares = np.where(there, scores - means[:, None], 0.0) ** 2
        errors = np.sqrt(squares.sum(axis=1) / (n - 1) / n)
    return means, np.where(n > 1, errors, np.nan)

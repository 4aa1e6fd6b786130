"""The inverse power law of a learning curve, fitted to errors at several numbers of training rows."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from heldout._types import Floats

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
    misfit = float(np.sqrt(squares.mean())) if squares.size else float("nan")
    return replace(law, residual=float(np.sqrt(weights @ missed**2)), misfit=misfit)


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

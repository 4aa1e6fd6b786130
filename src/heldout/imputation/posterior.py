"""One equation of a chain: a column given the others, with coefficients drawn from what the rows leave open.

The drawn coefficients are the same for all rows of one completion. Drawn anew for each row, or taken at their best,
completions would agree too well, and pooled standard errors would be too small.

The first predictor is the intercept. Each other has a normal prior that weighs little where rows are many, and
keeps every column drawable where they are few, depend on each other, or tell categories apart perfectly: it counts
as ``SHRINKAGE`` rows for each predictor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats

Codes = NDArray[np.intp]

SHRINKAGE = 0.1
_STEPS = 50


class Equation(Protocol):
    """A column's model with coefficients that were drawn."""

    def draw(self, Z: Floats, rng: np.random.Generator) -> NDArray[np.float64] | NDArray[np.intp]:
        """A value a row of the predictors."""
        ...


@dataclass(frozen=True, eq=False)
class LinearEquation:
    """Numbers: a drawn line, and noise of a drawn size about it."""

    coefficients: Floats
    """Of shape (P,)."""
    noise: float
    """Standard deviation."""

    def draw(self, Z: Floats, rng: np.random.Generator) -> Floats:
        return Z @ self.coefficients + self.noise * rng.standard_normal(len(Z))


@dataclass(frozen=True, eq=False)
class CategoryEquation:
    """Codes of k categories: drawn logits, the first category's being 0."""

    coefficients: Floats
    """Of shape (P, k - 1)."""

    def probabilities(self, Z: Floats) -> Floats:
        """(n, k)."""
        others, _ = _others_and_norm(Z @ self.coefficients)
        return np.column_stack([1 - others.sum(axis=1), others])

    def draw(self, Z: Floats, rng: np.random.Generator) -> Codes:
        below = np.cumsum(self.probabilities(Z), axis=1)[:, :-1]
        return (rng.random(len(Z))[:, None] >= below).sum(axis=1)


def linear_equation(Z: Floats, y: Floats, rng: np.random.Generator) -> LinearEquation:
    """Draw a linear regression from its posterior.

    - ``Z`` (n, P): predictors of the rows whose value was observed, the first one the intercept.
    - ``y`` (n,).

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys, example 5.1: σ² = RSS/χ², coefficients normal
    about the least-squares ones with covariance σ²(Z'Z)⁻¹. Here with the prior, so that degrees of freedom are n
    less the trace of the hat matrix.
    """
    gram = Z.T @ Z
    information = gram + np.diag(_precision(Z))
    solved = np.linalg.solve(information, np.column_stack([gram, Z.T @ y]))
    best = solved[:, -1]
    residual = y - Z @ best
    degrees = max(len(y) - float(np.trace(solved[:, :-1])), 1.0)
    noise = float(np.sqrt(residual @ residual / rng.chisquare(degrees)))
    return LinearEquation(best + noise * _spread(information, rng), noise)


def category_equation(Z: Floats, codes: Codes, k: int, rng: np.random.Generator) -> CategoryEquation:
    """Draw a multinomial logistic regression from the normal approximation of its posterior.

    - ``Z`` (n, P): as in ``linear_equation``.
    - ``codes`` (n,): from 0 to k - 1, each at least once.

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys, example 5.2 (two categories).
    """
    if k == 1:
        return CategoryEquation(np.zeros((Z.shape[1], 0)))
    shape, precision = (Z.shape[1], k - 1), _precision(Z)[:, None]
    seen = (codes[:, None] == np.arange(1, k)).astype(np.float64)

    def at(coefficients: Floats) -> tuple[Floats, float]:
        """Probabilities (n, k - 1), and the log posterior."""
        logits = Z @ coefficients
        p, norm = _others_and_norm(logits)
        return p, float((seen * logits).sum() - norm.sum() - 0.5 * (precision * coefficients**2).sum())

    coefficients = np.zeros(shape)
    p, now = at(coefficients)
    for _ in range(_STEPS):
        gradient = Z.T @ (seen - p) - precision * coefficients
        step = np.linalg.solve(_information(Z, p, precision), gradient.T.ravel()).reshape(shape[::-1]).T
        before = now
        p, now = at(coefficients + step)
        while now < before and np.abs(step).max() > 1e-9:  # it is concave: a shorter step always gains
            step = step / 2
            p, now = at(coefficients + step)
        coefficients = coefficients + step
        if now - before < 1e-8 * (1 + abs(now)):
            break
    drawn = _spread(_information(Z, p, precision), rng)
    return CategoryEquation(coefficients + drawn.reshape(shape[::-1]).T)


def _precision(Z: Floats) -> Floats:
    precision = np.full(Z.shape[1], SHRINKAGE * (Z.shape[1] - 1))
    # No prior on the intercept, but where all rows are of one category its logit must end somewhere.
    precision[0] = 1e-6
    return precision


def _others_and_norm(logits: Floats) -> tuple[Floats, Floats]:
    """Probabilities (n, k - 1) of all categories but the first, whose logit is 0, and the log of their norm."""
    top = logits.max(axis=1, initial=0.0)
    norm = top + np.log(np.exp(-top) + np.exp(logits - top[:, None]).sum(axis=1))
    return np.exp(logits - norm[:, None]), norm


def _information(Z: Floats, p: Floats, precision: Floats) -> Floats:
    """((k-1)P, (k-1)P), category by category."""
    P, others = Z.shape[1], p.shape[1]
    information = np.empty((others * P, others * P))
    for a in range(others):
        for b in range(a + 1):
            block = Z.T @ (Z * (p[:, a] * ((a == b) - p[:, b]))[:, None])
            information[a * P : (a + 1) * P, b * P : (b + 1) * P] = block
            information[b * P : (b + 1) * P, a * P : (a + 1) * P] = block.T
    return information + np.diag(np.tile(precision[:, 0], others))


def _spread(information: Floats, rng: np.random.Generator) -> Floats:
    """A normal draw whose covariance is the inverse of the information."""
    lower = np.linalg.cholesky(information)
    return np.linalg.solve(lower.T, rng.standard_normal(len(lower)))

"""Shrinkage estimates of frequencies, variances and correlations, with intensities estimated from the data.

Each estimate is ``intensity * target + (1 - intensity) * estimate``, as in James and Stein, with the intensity that
minimises the expected squared error: the summed variances of the estimates over their summed squared distances from
the target, at most 1. There is no tuning and no resampling: the variances are estimated from the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats


def shrunk_frequencies(counts: NDArray[np.intp], intensity: float | None) -> tuple[Floats, float]:
    """Frequencies of classes shrunk towards equal ones (Hausser and Strimmer 2009), and the intensity."""
    n, target = counts.sum(), 1.0 / len(counts)
    plain = counts / n
    if intensity is None:
        intensity = _intensity((plain * (1 - plain)).sum() / (n - 1), ((plain - target) ** 2).sum())
    return intensity * target + (1 - intensity) * plain, intensity


def shrunk_variances(centred: Floats, intensity: float | None) -> tuple[Floats, float]:
    """Variances of centred columns shrunk to their median (Opgen-Rhein and Strimmer 2007), and the intensity."""
    n = len(centred)
    squares = centred**2
    plain = squares.sum(axis=0) / (n - 1)
    target = float(np.median(plain))
    if intensity is None:
        errors = n / (n - 1) ** 3 * ((squares - squares.mean(axis=0)) ** 2).sum()
        intensity = _intensity(errors, ((plain - target) ** 2).sum())
    return intensity * target + (1 - intensity) * plain, intensity


@dataclass(frozen=True)
class ShrunkCorrelation:
    """A correlation matrix of p columns, shrunk towards the identity, in at most n directions.

    The p by p matrix itself is never computed: with n rows its powers differ from those of the identity in at most
    n directions.
    """

    directions: Floats
    """Shape (p, rank): orthonormal."""
    eigenvalues: Floats
    """Shape (rank,): eigenvalues of the unshrunk matrix; all others are 0."""
    intensity: float

    @classmethod
    def of(cls, centred: Floats, intensity: float | None) -> ShrunkCorrelation:
        """From centred columns; a constant one is correlated with none (Schafer and Strimmer 2005)."""
        n, p = centred.shape
        deviation = np.sqrt((centred**2).sum(axis=0) / (n - 1))
        scaled = np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
        if intensity is None:
            intensity = 1.0 if p == 1 else _intensity(*_errors_and_distance(scaled))
        _, singular, directions = np.linalg.svd(scaled / np.sqrt(n - 1), full_matrices=False)
        kept = singular > max(n, p) * np.finfo(float).eps * singular.max(initial=0.0)
        return cls(directions[kept].T, singular[kept] ** 2, intensity)

    def power(self, exponent: float, of: Floats) -> Floats:
        """The matrix to a power, times columns of shape (p, k); the pseudo-power if it is singular."""
        inside = self.directions.T @ of
        of_rest = self.intensity**exponent if self.intensity > 0 else 0.0
        shrunk = (self.intensity + (1 - self.intensity) * self.eigenvalues) ** exponent
        return of_rest * (of - self.directions @ inside) + self.directions @ (shrunk[:, None] * inside)


def _errors_and_distance(scaled: Floats) -> tuple[float, float]:
    """The sums of the estimated variances and of the squares of all correlations off the diagonal.

    Row k contributes z_ki * z_kj to the correlation of i and j. The sums over pairs are computed as sums over rows,
    so neither p² numbers nor p² n steps are needed.
    """
    n, p = scaled.shape
    products = scaled @ scaled.T if n < p else scaled.T @ scaled
    squares = scaled**2
    of_means = ((products**2).sum() - (squares.sum(axis=0) ** 2).sum()) / n**2
    of_rows = (squares.sum(axis=1) ** 2).sum() - (squares**2).sum()
    errors = n / (n - 1) ** 3 * (of_rows - n * of_means)
    return float(errors), float(of_means * (n / (n - 1)) ** 2)


def _intensity(errors: float, distance: float) -> float:
    return 1.0 if distance <= 0 else float(np.clip(errors / distance, 0.0, 1.0))

"""Held-out predictions whose true performance is known, for an AUC, a one-against-one AUC, an R² or an accuracy."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats: TypeAlias = NDArray[np.float64]


def scores_of_auc(rng: np.random.Generator, y: NDArray[np.intp], auc: Floats) -> Floats:
    """Scores N(0, 1) of rows of class 0 and N(μ, 1) of class 1, with μ = √2 Φ⁻¹(AUC) (Paraschakis, section 4).

    Parameters
    ----------
    rng : Generator
    y : ndarray of shape (N,)
        0 and 1.
    auc : ndarray of shape (C,)
        The AUC that each configuration truly has, between 0 and 1.

    Returns
    -------
    ndarray of shape (N, C)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = scores_of_auc(rng, np.repeat([0, 1], 20_000), np.array([0.8]))
    >>> from sklearn.metrics import roc_auc_score
    >>> round(float(roc_auc_score(np.repeat([0, 1], 20_000), scores[:, 0])), 2)
    0.8
    """
    means = np.sqrt(2.0) * ndtri(auc)
    noise: Floats = rng.standard_normal((len(y), len(auc)))
    return noise + np.asarray(y, dtype=np.float64)[:, None] * means


def predictions_of_r2(rng: np.random.Generator, y: Floats, r2: Floats) -> Floats:
    """Predictions P (y + ε) of outcomes y ~ N(0, 1), with ε ~ N(0, 1/P - 1): their true R² is P.

    They are the conditional mean of y given y + ε, so that nothing calibrates them better. 1 - R² is their mean
    squared error, as y has variance 1.

    Parameters
    ----------
    rng : Generator
    y : ndarray of shape (N,)
        Standard normal.
    r2 : ndarray of shape (C,)
        Above 0, up to 1.

    Returns
    -------
    ndarray of shape (N, C)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.standard_normal(100_000)
    >>> predicted = predictions_of_r2(rng, y, np.array([0.6]))
    >>> round(float(1 - np.mean((y - predicted[:, 0]) ** 2)), 2)
    0.6
    """
    noise: Floats = rng.standard_normal((len(y), len(r2)))
    return r2 * (y[:, None] + noise * np.sqrt(1 / r2 - 1))

"""Held-out predictions whose true performance is known, for an AUC, a one-against-one AUC, an R² or an accuracy."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats: TypeAlias = NDArray[np.float64]


def scores_of_auc(rng: np.random.Generator, y: NDArray[np.intp], auc: Floats) -> Floats:
    """Scores N(0, 1) of rows of class 0 and N(μ, 1) of class 1, with μ = √2 Φ⁻¹(AUC) (Paraschakis, section 4).

    ``y`` (N,): 0 and 1; ``auc`` (C,): the AUC that each configuration truly has, between 0 and 1. Returns (N,
    C).

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


def scores_of_class_aucs(rng: np.random.Generator, y: NDArray[np.intp], auc: Floats) -> Floats:
    """A score for each class k, N(0, 1) in its own rows and N(-μ, 1) in those of class l, μ = √2 Φ⁻¹(AUC[k, l]).

    Each of the areas for class k against class l by the score of k is then AUC[k, l], and Hand and Till's area for
    several classes the mean of all that are off the diagonal. The scores are no probabilities.

    ``y`` (N,): codes 0 .. n_classes - 1; ``auc`` (C, n_classes, n_classes): between 0 and 1; the diagonal is
    not read. Returns (N, C, n_classes).

    Examples
    --------
    >>> rng, y = np.random.default_rng(0), np.repeat([0, 1, 2], 20_000)
    >>> scores = scores_of_class_aucs(rng, y, np.full((1, 3, 3), 0.8))
    >>> from sklearn.metrics import roc_auc_score
    >>> pair = y != 2
    >>> round(float(roc_auc_score(y[pair] == 0, scores[pair, 0, 0])), 2)
    0.8
    """
    own = np.eye(auc.shape[1], dtype=bool)
    means = np.where(own, 0.0, -np.sqrt(2.0) * ndtri(np.where(own, 0.5, auc)))
    noise: Floats = rng.standard_normal((len(y), len(auc), auc.shape[1]))
    return noise + np.moveaxis(means[:, :, y], 2, 0)


def predictions_of_r2(rng: np.random.Generator, y: Floats, r2: Floats) -> Floats:
    """Predictions P (y + ε) of outcomes y ~ N(0, 1), with ε ~ N(0, 1/P - 1): their true R² is P.

    They are the conditional mean of y given y + ε, so that nothing calibrates them better. 1 - R² is their mean
    squared error, as y has variance 1.

    ``y`` (N,): standard normal; ``r2`` (C,): above 0, up to 1. Returns (N, C).

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


def labels_of_recalls(rng: np.random.Generator, y: NDArray[np.intp], recalls: Floats) -> NDArray[np.intp]:
    """Labels that are right with a probability for each class, and otherwise any other class alike.

    ``y`` (N,): codes 0 .. n_classes - 1; ``recalls`` (C, n_classes): the probability of the right label in the rows
    of each class. Returns (N, C).

    Examples
    --------
    >>> rng, y = np.random.default_rng(0), np.repeat([0, 1], 20_000)
    >>> labels = labels_of_recalls(rng, y, np.array([[0.9, 0.6]]))
    >>> [round(float((labels[y == k, 0] == k).mean()), 2) for k in (0, 1)]
    [0.9, 0.6]
    """
    n_classes = recalls.shape[1]
    is_right = rng.random((len(y), len(recalls))) < recalls[:, y].T
    other = rng.integers(1, n_classes, size=is_right.shape)
    return np.where(is_right, y[:, None], (y[:, None] + other) % n_classes)


def f1_of_recalls(recalls: Floats, positive: float) -> Floats:
    """(C,): F1 = 2 TP / (2 TP + FP + FN) of class 1, of labels with these recalls and such a share of class 1.

    Examples
    --------
    >>> f1_of_recalls(np.array([[1.0, 1.0], [0.5, 0.5]]), 0.5).tolist()
    [1.0, 0.5]
    """
    found, missed = positive * recalls[:, 1], positive * (1 - recalls[:, 1])
    wrong = (1 - positive) * (1 - recalls[:, 0])
    return np.asarray(2 * found / (2 * found + missed + wrong))

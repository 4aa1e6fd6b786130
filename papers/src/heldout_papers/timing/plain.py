"""BBC and BBC-F as the article writes them down: one bootstrap after another, in each an AUC per configuration.

They stand for published code in the study of times, and say nothing that ``heldout.estimate`` would not: with the
same rows drawn a bootstrap gives the same number.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.intp]


def bbc_bound(y: Integers, scores: Floats, n_bootstraps: int, level: float, rng: np.random.Generator) -> float:
    """The lower end of the one-sided interval of BBC.

    ``y`` (N,): 0 and 1; ``scores`` (N, C).
    """
    found = np.empty(n_bootstraps)
    for b in range(n_bootstraps):
        drawn, left_out = _drawn(len(y), rng)
        while not (_has_both(y[drawn]) and _has_both(y[left_out])):
            drawn, left_out = _drawn(len(y), rng)
        found[b] = of_bootstrap(y, scores, drawn, left_out)
    return float(np.quantile(found, 1 - level, method="inverted_cdf"))


def of_bootstrap(y: Integers, scores: Floats, drawn: Integers, left_out: Integers) -> float:
    """The AUC, on the rows left out, of the configuration whose AUC is best on the rows drawn."""
    in_bag = [auc(y[drawn], scores[drawn, j]) for j in range(scores.shape[1])]
    return auc(y[left_out], scores[left_out, int(np.argmax(in_bag))])


def bbc_f_bound(
    y: Integers, scores: Floats, folds: Integers, n_bootstraps: int, level: float, rng: np.random.Generator
) -> float:
    """The lower end of the one-sided interval of BBC-F; ``folds`` (N,) are 0 .. K - 1."""
    by_fold = fold_scores(y, scores, folds)
    found = np.empty(n_bootstraps)
    for b in range(n_bootstraps):
        drawn, left_out = _drawn(len(by_fold), rng)
        while not len(left_out):
            drawn, left_out = _drawn(len(by_fold), rng)
        found[b] = of_fold_bootstrap(by_fold, drawn, left_out)
    return float(np.quantile(found, 1 - level, method="inverted_cdf"))


def fold_scores(y: Integers, scores: Floats, folds: Integers) -> Floats:
    """(K, C): the AUC of each configuration in each fold."""
    return np.array(
        [
            [auc(y[folds == fold], scores[folds == fold, j]) for j in range(scores.shape[1])]
            for fold in range(int(folds.max()) + 1)
        ]
    )


def of_fold_bootstrap(by_fold: Floats, drawn: Integers, left_out: Integers) -> float:
    """The mean, over the folds left out, of the configuration whose mean is best over the folds drawn."""
    chosen = int(by_fold[drawn].mean(axis=0).argmax())
    return float(by_fold[left_out, chosen].mean())


def auc(y: Integers, scores: Floats) -> float:
    """The share of pairs of a row of class 1 and one of class 0 that the scores order right, ties half.

    Examples
    --------
    >>> auc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.4, 0.8]))
    0.875
    """
    negatives, positives = np.sort(scores[y == 0]), scores[y == 1]
    below = np.searchsorted(negatives, positives, side="left")
    not_above = np.searchsorted(negatives, positives, side="right")
    return float((below + not_above).sum() / (2 * len(negatives) * len(positives)))


def _drawn(n: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """As many of n as there are, with replacement; and those that were not drawn."""
    drawn = rng.integers(0, n, size=n)
    absent = np.ones(n, dtype=bool)
    absent[drawn] = False
    return drawn, np.flatnonzero(absent)


def _has_both(y: Integers) -> bool:
    return bool(0 < y.sum() < len(y))

"""Splits that leave out two folds of a K-fold plan: one fit on the other rows predicts both."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from heldout.folds.splits import Folds, Split

FEWEST, MOST = 3, 10
"""Folds of a plan that has such splits: K (K - 1) / 2 of them."""


def with_splits_without_two(folds: Folds) -> Folds:
    """The folds, with a split for every two folds of the first repeat; with none where that is no K-fold plan.

    Their training rows are those outside both folds, and their test rows those of the first fold, then those of the
    second. Each is a repeat of its own, behind the repeats of the plan.

    Examples
    --------
    >>> rows = np.arange(6)
    >>> splits = [Split(0, k, np.delete(rows, [2 * k, 2 * k + 1]), rows[2 * k : 2 * k + 2]) for k in range(3)]
    >>> for split in with_splits_without_two(Folds(tuple(splits), 6)).without_two:
    ...     print(split.place, split.train, split.test)
    (1, 0) [4 5] [0 1 2 3]
    (2, 0) [2 3] [0 1 4 5]
    (3, 0) [0 1] [2 3 4 5]
    """
    splits = folds.of_first_repeat
    if not FEWEST <= len(splits) <= MOST or not folds.exchangeable or not all(_is_fold(s, folds) for s in splits):
        return replace(folds, without_two=())
    if (folds.labels[:, 0] < 0).any():
        return replace(folds, without_two=())
    number = 1 + max(folds.columns)
    pairs: list[Split] = []
    for one, other in combinations(splits, 2):
        train = one.train[np.isin(one.train, other.test, invert=True)]
        pairs.append(Split(number + len(pairs), 0, train, np.concatenate([one.test, other.test])))
    return replace(folds, without_two=tuple(pairs))


def _is_fold(split: Split, folds: Folds) -> bool:
    """Whether every row that a split does not test trains once."""
    n_rows = len(split.train) + len(split.test)
    return n_rows == folds.n_rows == len(np.union1d(split.train, split.test))

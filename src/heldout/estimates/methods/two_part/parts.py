"""Drawing the two parts of the rows: the one that chooses and the one that is scored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout._random import stream
from heldout.data.task import Truth

MOST_ATTEMPTS = 1000

Rows = NDArray[np.intp]


class Parts(NamedTuple):
    """Row numbers of the part that chooses and of the part that is scored."""

    first: Rows
    second: Rows


def split(truth: Truth, evaluation_share: float, entropy: int) -> Parts:
    """Draw the second part: of a classification, the share of each class, rounded (half up).

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> parts = split(truth_of([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, entropy=0)
    >>> len(parts.first), parts.second.size, np.union1d(*parts).size
    (6, 2, 8)
    """
    everyone = np.arange(truth.n_rows)
    if evaluation_share == 1:
        return Parts(everyone[:0], everyone)
    generator = np.random.Generator(np.random.Philox(stream(entropy, "splits")))
    return _parts(everyone, [generator.permutation(rows) for rows in _classes(truth)], evaluation_share)


def split_at_random(truth: Truth, evaluation_share: float, entropy: int, folds: Sequence[Rows]) -> Parts | None:
    """Draw the second part from all rows, again until both parts hold each class and the first each one of a fold.

    As Paraschakis et al. (2024) drew it. None where a thousand draws did not.

    Parameters
    ----------
    folds : sequence of ndarray
        The rows of each.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> parts = split_at_random(truth_of([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, 0, [])
    >>> len(parts.first), len(parts.second)
    (6, 2)
    >>> split_at_random(truth_of([0, 0, 0, 0, 0, 0, 0, 1]), 0.25, 0, []) is None
    True
    """
    everyone = np.arange(truth.n_rows)
    if evaluation_share == 1:
        return Parts(everyone[:0], everyone)
    generator = np.random.Generator(np.random.Philox(stream(entropy, "splits at random")))
    classes = _classes(truth)
    kept = [both for fold in folds for rows in classes if (both := np.intersect1d(fold, rows)).size]
    for _ in range(MOST_ATTEMPTS):
        parts = _parts(everyone, [generator.permutation(everyone)], evaluation_share)
        first = np.isin(everyone, parts.first)
        in_both = all(first[rows].any() and not first[rows].all() for rows in classes)
        if in_both and all(first[rows].any() for rows in kept):
            return parts
    return None


def _classes(truth: Truth) -> list[Rows]:
    return [np.flatnonzero(truth.values == code) for code in range(truth.n_classes)] or [np.arange(truth.n_rows)]


def _parts(everyone: Rows, shuffled: Sequence[Rows], share: float) -> Parts:
    evaluated = np.sort(np.concatenate([rows[: math.floor(share * len(rows) + 0.5)] for rows in shuffled]))
    return Parts(np.setdiff1d(everyone, evaluated), evaluated)

"""The five protocols of the article on a complete matrix of held-out predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from heldout_papers.bias.matrix import Matrix


@dataclass(frozen=True)
class Found:
    """What a protocol says of a matrix: an estimate in the metric's units, and which configuration it is of."""

    estimate: float
    winner: int


def cross_validation(matrix: Matrix) -> Found:
    """CVT: the winner's score over all rows (algorithm 2)."""
    return _of_score(matrix, float(matrix.scores[matrix.winner]), matrix.winner)


def tibshirani(matrix: Matrix) -> Found:
    """TT: CVT less the mean over folds of (best in the fold - winner's) (algorithm 4)."""
    in_folds = matrix.by_fold
    means = in_folds.mean(axis=0)
    winner = int(means.argmax())
    score = float(means[winner] - (in_folds.max(axis=1) - in_folds[:, winner]).mean())
    return _of_score(matrix, score, winner)


def nested(matrix: Matrix) -> Found:
    """NCV on a matrix: in each fold the best of the other folds is scored; the truth is the full winner's."""
    chosen = matrix.without_fold.argmax(axis=1)
    score = float(matrix.by_fold[np.arange(len(chosen)), chosen].mean())
    return _of_score(matrix, score, matrix.winner)


def bbc(matrix: Matrix) -> Found:
    """BBC-CV (algorithm 5)."""
    return Found(matrix.corrected(), matrix.winner)


def bced(matrix: Matrix) -> Found:
    """BCED-CV: configurations are dropped from the first fold on, and BBC corrects the choice among the others."""
    alive = matrix.survivors()
    return Found(matrix.corrected(alive), int(alive[matrix.scores[alive].argmax()]))


def _of_score(matrix: Matrix, score: float, winner: int) -> Found:
    return Found(matrix.setting.flattering * score, winner)


PROTOCOLS: Mapping[str, Callable[[Matrix], Found]] = MappingProxyType(
    {"cv": cross_validation, "tt": tibshirani, "nested_cv": nested, "bbc": bbc, "bced": bced}
)

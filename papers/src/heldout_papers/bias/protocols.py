"""The five protocols of the article on a complete matrix of held-out predictions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from heldout_papers.bias.matrix import BiasMatrix
from heldout_papers.engine.results import Term


@dataclass(frozen=True)
class ProtocolEstimate:
    """The estimate of a protocol, in the metric's units, and the configuration that it selects."""

    estimate: float
    winner: int


def cross_validation(matrix: BiasMatrix) -> ProtocolEstimate:
    """CVT: the winner's score over all rows (algorithm 2)."""
    return _of_score(matrix, float(matrix.scores[matrix.winner]), matrix.winner)


def tibshirani(matrix: BiasMatrix) -> ProtocolEstimate:
    """TT: CVT less the mean over folds of (best in the fold - winner's) (algorithm 4)."""
    in_folds = matrix.by_fold
    means = in_folds.mean(axis=0)
    winner = int(means.argmax())
    score = float(means[winner] - (in_folds.max(axis=1) - in_folds[:, winner]).mean())
    return _of_score(matrix, score, winner)


def nested(matrix: BiasMatrix) -> ProtocolEstimate:
    """NCV on a matrix: in each fold the best of the other folds is scored; the truth is the full winner's."""
    chosen = matrix.without_fold.argmax(axis=1)
    score = float(matrix.by_fold[np.arange(len(chosen)), chosen].mean())
    return _of_score(matrix, score, matrix.winner)


def bbc(matrix: BiasMatrix) -> ProtocolEstimate:
    """BBC-CV (algorithm 5)."""
    return ProtocolEstimate(matrix.corrected(), matrix.winner)


def bced(matrix: BiasMatrix) -> ProtocolEstimate:
    """BCED-CV: configurations are dropped from the first fold on, and BBC corrects the choice among the others."""
    kept = matrix.survivors()
    return ProtocolEstimate(matrix.corrected(kept), int(kept[matrix.scores[kept].argmax()]))


def _of_score(matrix: BiasMatrix, score: float, winner: int) -> ProtocolEstimate:
    return ProtocolEstimate(matrix.setting.flattering * score, winner)


PROTOCOLS: Mapping[str, Callable[[BiasMatrix], ProtocolEstimate]] = MappingProxyType(
    {"cv": cross_validation, "tt": tibshirani, "nested_cv": nested, "bbc": bbc, "bced": bced}
)
TERMS = {
    "cv": Term("CVT", "the winner's own cross-validated score"),
    "tt": Term(
        "TT",
        "that score less the mean over folds of how far the winner is behind the best of the fold (Tibshirani)",
    ),
    "nested_cv": Term("NCV", "nested cross-validation: each fold scores the best of the other folds"),
    "bbc": Term(
        "BBC-CV",
        "bootstrap bias corrected: each bootstrap scores the best on its rows on the rows that it left out",
    ),
    "bced": Term("BCED-CV", "the same for the configurations that early dropping keeps"),
}
"""By the article's names."""

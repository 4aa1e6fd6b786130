"""Rows that decide a score by themselves: clipped probabilities, and errors so large that few rows count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.estimates.base import Evidence, Matrix
from heldout.flags import Flag
from heldout.kernels.reference import Floats
from heldout.metrics.base import Metric
from heldout.metrics.bounded_means import effective_size
from heldout.metrics.signed import unsigned

FEWEST_SHARE = 1 / 6
"""Of the rows. Normal errors have a third; they fall below a sixth in under 1 % of samples, of whatever size."""
ENOUGH = 30
"""Rows that carry squared errors, beyond which these are steady however many rows there are."""
MOST_COLUMNS = 50
"""Candidates whose errors are looked at, beside the winner's."""


def flags_of_rows(evidence: Evidence) -> dict[Flag, str]:
    """What to know of the rows that the reported score of the winner rests on.

    Needs a matrix.
    """
    matrix, metric = evidence.matrix, unsigned(evidence.metric)
    assert matrix is not None, "rows are those of a matrix"
    counted = matrix.in_play & _has_weight(matrix)[:, None]
    of_winner = _clipped(metric, matrix.truth, _of_winner(evidence, matrix), counted)
    if of_winner is not None:
        typical = 0
        if not evidence.chooses_ensemble:  # which averages what is clipped of its members
            some = _clipped(metric, matrix.truth, matrix.predictions[:, _some_columns(matrix)], counted)
            typical = 0 if some is None else int(np.median(some))
        total = int(counted.sum())
        return flag_of_clipping(evidence.metric, int(of_winner[0]), typical, total, evidence.winner_name)
    if metric.squares_errors:
        return _flag_of_errors(evidence, matrix)
    return {}


def flag_of_clipping(metric: Metric, of_winner: int, typical: int, total: int, winner: str) -> dict[Flag, str]:
    """The flag of clipped predictions; none where none is.

    Parameters
    ----------
    of_winner, typical : int
        How many predictions are clipped, the winner's and the median candidate's. A winner may have been chosen for
        having none, where the other configurations that bootstraps choose have some.
    """
    if not of_winner and not typical:
        return {}
    flag = Flag.CLIPPED_PROBABILITIES
    which, clipped = (winner, of_winner) if of_winner else ("the median configuration", typical)
    return {flag: flag.filled(metric=metric.name, clipped=clipped, total=total, which=which)}


def flag_of_errors(metric: Metric, of_winner: float, typical: float, total: int, winner: str) -> dict[Flag, str]:
    """The flag of squared errors that few rows carry.

    Parameters
    ----------
    of_winner, typical : float
        As how many equal ones the winner's squared errors count, and those of the median candidate. A winner may
        have been chosen for having no large error, where all others have one.
    """
    effective = min(of_winner, typical)
    if not effective < min(FEWEST_SHARE * total, ENOUGH):
        return {}
    which = winner if of_winner <= typical else "the median configuration"
    flag = Flag.FEW_ROWS_CARRY
    return {flag: flag.filled(metric=metric.name, which=which, effective=effective, total=total)}


def effective_errors(squares: Floats) -> float:
    """As how many equal ones squared errors count, (Σs)²/Σs²; NaN where all are 0.

    Examples
    --------
    >>> effective_errors(np.array([4.0, 4.0, 0.0])), effective_errors(np.array([1e200, 1.0]))
    (2.0, 1.0)
    """
    largest = squares.max(initial=0.0)
    return effective_size(squares / largest) if 0 < largest < np.inf else float("nan")


def _flag_of_errors(evidence: Evidence, matrix: Matrix) -> dict[Flag, str]:
    weights = np.ones(matrix.truth.n_rows) if matrix.sample_weight is None else matrix.sample_weight
    winner = _effective(matrix, _of_winner(evidence, matrix)[:, 0], weights)
    others = [_effective(matrix, matrix.predictions[:, column], weights) for column in _some_columns(matrix)]
    known = [each for each in others if not np.isnan(each)]
    typical = float(np.median(known)) if known else float("nan")
    total = int(np.count_nonzero(weights))
    return flag_of_errors(evidence.metric, winner, typical, total, evidence.winner_name)


def _effective(matrix: Matrix, predicted: Floats, weights: Floats) -> float:
    """Of predictions (n, R): a row's squared error is the mean over the repeats that predict it."""
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.where(matrix.in_play, (predicted - matrix.truth.values[:, None]) ** 2, 0.0)
        return effective_errors(weights * squares.sum(axis=1) / np.maximum(matrix.in_play.sum(axis=1), 1))


def _clipped(
    metric: Metric, truth: Truth, predictions: NDArray[Any], counted: NDArray[np.bool_]
) -> NDArray[np.intp] | None:
    """(D,): how many of the counted cells (n, R) of predictions (n, D, R[, n_classes]) the metric clips; None if it
    clips none ever."""
    total = np.zeros(predictions.shape[1], dtype=np.intp)
    for repeat in range(predictions.shape[2]):
        rows = np.flatnonzero(counted[:, repeat])  # others may hold no predictions
        cells = metric.clipped(truth.rows(rows), predictions[rows, :, repeat])
        if cells is None:
            return None
        total += cells.sum(axis=0)
    return total


def _some_columns(matrix: Matrix) -> NDArray[np.intp]:
    """The candidates that are looked at: all, or as many as are enough."""
    return np.unique(np.linspace(0, matrix.predictions.shape[1] - 1, MOST_COLUMNS).astype(np.intp))


def _of_winner(evidence: Evidence, matrix: Matrix) -> NDArray[Any]:
    """(n, 1, R[, n_classes]): what was chosen predicts, in the response of the reported metric."""
    chosen = evidence.chosen
    if chosen is None or chosen.weights is None:
        return matrix.predictions[:, [evidence.winner_column]]
    assert matrix.averages is not None, "a rule of weights averages something"
    return matrix.averages.of_weights(chosen.weights)


def _has_weight(matrix: Matrix) -> NDArray[np.bool_]:
    """(n,): rows that count."""
    weighed = np.zeros(matrix.truth.n_rows, dtype=bool)
    weighed[matrix.scores.rows_of_weight] = True
    return weighed

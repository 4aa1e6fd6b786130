"""Rows that were not seen: what they would do to the spread of a score, and what certain predictions may cost."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout._types import Counts, Floats, Indices
from heldout.data.task import Truth
from heldout.estimates.evidence import Candidates
from heldout.estimates.shrunken_centres import unit_of
from heldout.metrics.base import unsigned
from heldout.metrics.classification import LogLoss

MORE = 4
"""Rows or groups that bootstraps of the winner's own noise have more."""
LARGER = 2.0
"""Than the largest squared error is that of a row that was not seen."""


@dataclass(frozen=True, eq=False)
class MoreRows:
    """The rows of units that some bootstrap has more, with what comes of them, once each."""

    rows: Indices  # (m,): those whose predictions they have
    outcomes: NDArray[np.generic]  # (m,): as the values of a truth
    slots: Indices  # which of the m, and
    bootstraps: Indices  # in which bootstrap, ascending

    def counts(self, lanes: slice) -> Counts:
        """(L, m): how often some bootstraps have each."""
        first, last = np.searchsorted(self.bootstraps, [lanes.start, lanes.stop])
        counts = np.zeros((lanes.stop - lanes.start, len(self.rows)), dtype=np.uint8)
        np.add.at(counts, (self.bootstraps[first:last] - lanes.start, self.slots[first:last]), 1)
        return counts


def more_rows(
    truth: Truth, predicted: Floats, units: Sequence[Indices], n_bootstraps: int, rng: np.random.Generator
) -> MoreRows:
    """Draw ``MORE`` units for each bootstrap.

    Parameters
    ----------
    truth : Truth
        Of n rows.
    predicted : ndarray of shape (n,)
        The numbers predicted; not read of a classification.
    units : sequence of arrays
        The rows of each.
    """
    sizes, rows_of_units = np.array([len(part) for part in units]), np.concatenate(units)
    firsts = np.cumsum(sizes) - sizes
    drawn = rng.integers(len(units), size=(n_bootstraps, MORE)).ravel()
    of_draw = np.repeat(np.arange(len(drawn)), sizes[drawn])
    # Of each row its place in its unit; all units at once, as thousands are drawn.
    places = np.arange(len(of_draw)) - (np.cumsum(sizes[drawn]) - sizes[drawn])[of_draw]
    rows = rows_of_units[firsts[drawn][of_draw] + places]
    if truth.classes is None:
        codes = rng.integers(2, size=len(drawn))[of_draw]
        values = np.stack([predicted, _with_larger_errors(truth, predicted, units)])
    else:
        donors = rng.integers(len(units), size=len(drawn))[of_draw]
        # row by row; again from the first where the other unit has fewer
        codes = truth.values[rows_of_units[firsts[donors] + places % sizes[donors]]]
        values = np.repeat(np.arange(truth.n_classes), truth.n_rows).reshape(-1, truth.n_rows)
    once, slots = np.unique(codes * truth.n_rows + rows, return_inverse=True)
    return MoreRows(once % truth.n_rows, values.ravel()[once], slots, of_draw // MORE)


def _with_larger_errors(truth: Truth, predicted: Floats, units: Sequence[Indices]) -> Floats:
    """(n,): on the side of the row's own error, but not below all numbers if these have no sign."""
    rows, sizes = np.concatenate(units), np.array([len(part) for part in units])
    errors = truth.values - predicted
    unit = unit_of(errors)
    squares = np.add.reduceat((errors[rows] / unit) ** 2, np.cumsum(sizes) - sizes) / sizes
    larger: Floats = predicted + np.where(errors < 0, -unit, unit) * math.sqrt(LARGER * float(squares.max()))
    least = float(truth.values[rows].min())
    return np.maximum(larger, least) if least >= 0 else larger


JEFFREYS = 0.5
"""Rows that would prove wrong, of one more than there are, where none was: the mean of Jeffreys' posterior."""


def unseen_loss(evidence: Candidates) -> float:
    """The log loss of predictions of 0 and 1 that prove wrong, where the winner has some and all were right.

    Neighbours, trees and naive Bayes predict 0 and 1. One such row that is wrong costs 36 divided by the number of
    rows, so a search selects a configuration of which the sample has none, and no bootstrap has one either. Of m
    units with such predictions, the share ½/(m + 1) is taken to be wrong.
    """
    metric, weights = unsigned(evidence.metric), evidence.sample_weight
    if not isinstance(metric, LogLoss):
        return 0.0
    rows, repeats = np.nonzero(evidence.cells_of_weight)
    truth, predictions = evidence.truth.rows(rows), evidence.predictions_of_winner[rows, 0, repeats][:, None]
    is_zero = np.stack([
        metric.clipped(replace(truth, values=np.full_like(truth.values, code)), predictions)[:, 0]
        for code in range(truth.n_classes)
    ])  # fmt: skip
    is_true = np.arange(truth.n_classes)[:, None] == truth.values
    certain = (is_zero | is_true).all(axis=0)
    # One that was wrong shows in the score and in its bootstraps.
    if not certain.any() or is_zero[is_true].any():
        return 0.0
    weight = np.ones(len(rows)) if weights is None else weights[rows]
    n_units = evidence.count_of(np.isin(np.arange(evidence.truth.n_rows), rows[certain]))
    wrong = JEFFREYS / (n_units + 2 * JEFFREYS) * float(weight[certain].sum() / weight.sum())
    return wrong * -math.log(np.finfo(np.float64).eps)

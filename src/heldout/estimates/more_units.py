"""Rows, or groups, that bootstraps of a winner's score have more: what rows that were not seen could do to it.

Each has the predictions of any unit (a row, or a group) and, of a classification, the classes of any unit. Of a
regression it is predicted without error or, as likely, with a mean squared error of ``LARGER`` times the largest of
any unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import TaskKind, Truth
from heldout.estimates.centres import unit_of

MORE = 4
"""Rows or groups that bootstraps of the winner's own noise have more."""
LARGER = 2.0
"""Than the largest squared error is that of a row that was not seen."""


@dataclass(frozen=True, eq=False)
class MoreRows:
    """The rows of units that some bootstrap has more, with what comes of them, once each."""

    rows: NDArray[np.intp]  # (m,): those whose predictions they have
    outcomes: NDArray[np.generic]  # (m,): as the values of a truth
    slots: NDArray[np.intp]  # which of the m, and
    bootstraps: NDArray[np.intp]  # in which bootstrap, ascending

    def counts(self, lanes: slice) -> NDArray[np.uint8]:
        """(L, m): how often some bootstraps have each."""
        first, last = np.searchsorted(self.bootstraps, [lanes.start, lanes.stop])
        counts = np.zeros((lanes.stop - lanes.start, len(self.rows)), dtype=np.uint8)
        np.add.at(counts, (self.bootstraps[first:last] - lanes.start, self.slots[first:last]), 1)
        return counts


def can_have_more(truth: Truth) -> bool:
    """Whether what comes of other rows can be said: classes, or numbers of one column."""
    return truth.classes is not None or (truth.kind is TaskKind.REGRESSION and truth.values.ndim == 1)


def more_rows(
    truth: Truth, predicted: Floats, units: Sequence[NDArray[np.intp]], n_bootstraps: int, rng: np.random.Generator
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
    drawn = rng.integers(len(units), size=(n_bootstraps, MORE)).ravel().tolist()
    rows = np.concatenate([units[unit] for unit in drawn])
    of_draw = np.repeat(np.arange(len(drawn)), [len(units[unit]) for unit in drawn])
    if truth.classes is None:
        codes = rng.integers(2, size=len(drawn))[of_draw]
        values = np.stack([predicted, _with_larger_errors(truth, predicted, units)])
    else:
        others = rng.integers(len(units), size=len(drawn)).tolist()
        # row by row; again from the first where the other unit has fewer
        parts = zip(drawn, others, strict=True)
        codes = np.concatenate([np.resize(truth.values[units[b]], len(units[a])) for a, b in parts])
        values = np.repeat(np.arange(truth.n_classes), truth.n_rows).reshape(-1, truth.n_rows)
    once, slots = np.unique(codes * truth.n_rows + rows, return_inverse=True)
    return MoreRows(once % truth.n_rows, values.ravel()[once], slots, of_draw // MORE)


def _with_larger_errors(truth: Truth, predicted: Floats, units: Sequence[NDArray[np.intp]]) -> Floats:
    """(n,): on the side of the row's own error, but not below all numbers if these have no sign."""
    rows, sizes = np.concatenate(units), np.array([len(each) for each in units])
    errors = truth.values - predicted
    unit = unit_of(errors)
    squares = np.add.reduceat((errors[rows] / unit) ** 2, np.cumsum(sizes) - sizes) / sizes
    larger: Floats = predicted + np.where(errors < 0, -unit, unit) * math.sqrt(LARGER * float(squares.max()))
    least = float(truth.values[rows].min())
    return np.maximum(larger, least) if least >= 0 else larger

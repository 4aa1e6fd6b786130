"""The plan: which cells, in which order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heldout.cells import CellKey
from heldout.folds import Folds, Split
from heldout.run.plan import all_cells, cells_left

ROWS = np.arange(6)
FOLDS = Folds(
    (
        Split(0, 0, ROWS[2:], ROWS[:2]),
        Split(0, 1, ROWS[:4], ROWS[4:]),
        Split(1, 0, ROWS[3:], ROWS[:3]),
    ),
    6,
)


def test_cells_of_an_evaluation_go_configuration_by_configuration() -> None:
    assert all_cells(2, FOLDS) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 0)]


def test_work_goes_fold_by_fold() -> None:
    assert cells_left(2, FOLDS) == [(0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 0), (1, 1, 0)]


@given(st.integers(1, 5), st.sets(st.integers(0, 14)))
def test_what_is_left_and_what_is_done_are_the_whole(n_configurations: int, numbers: set[int]) -> None:
    everything = all_cells(n_configurations, FOLDS)
    done = {cell for number, cell in enumerate(everything) if number in numbers}
    left = cells_left(n_configurations, FOLDS, done)
    assert done.isdisjoint(left) and done | set(left) == set(everything)
    order = [FOLDS.splits.index(next(s for s in FOLDS.splits if (s.repeat, s.fold) == cell[1:])) for cell in left]
    assert order == sorted(order)


def test_nothing_is_left_of_what_is_done() -> None:
    assert cells_left(2, FOLDS, frozenset(CellKey(*cell) for cell in all_cells(2, FOLDS))) == []

"""The tally of a run: who leads, what is left, and what nobody can say."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable, given_scores
from heldout.execution.events import BarrierPassed, CellFinished, SearchStarted
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import best_words


def best_line(tally):
    return best_words(tally.best, tally.plan.refit_metric, is_resumed=tally.resumed > 0)


def begun(n_configurations=3, n_splits=4, **more):
    tally = RunTally()
    names = [f"c{j}" for j in range(n_configurations)]
    tally.add(SearchStarted(n_configurations * n_splits, 0, n_configurations, n_splits, names, **more))
    return tally


def score(tally, fold, *scores, repeat=0):
    for configuration, value in enumerate(scores):
        if value is not None:
            key = CellKey(configuration, repeat, fold)
            tally.add(CellFinished(CellResult(key, CellState.DONE, test_scores={"score": value})))


def leave(tally, after, leaving, n_remaining, n_saved, race=0):
    dropped = tuple(Dropped(j, after, 1.0, "worse") for j in leaving)
    barrier = Barrier(after, 100, n_remaining + len(leaving), 0, dropped)
    tally.add(BarrierPassed(race, barrier, n_remaining, n_saved))


def test_the_best_has_the_best_mean_over_the_splits_that_half_have_met():
    tally = begun()
    score(tally, 0, math.nan, math.nan, math.nan)
    assert tally.best is None and best_line(tally) == ""
    tally = begun()
    score(tally, 0, 0.5, 0.75, 0.75)
    assert tally.best.name == "c1"  # of equals the first
    tally = begun()
    score(tally, 0, 0.6, 0.8, 0.7)
    assert tally.best == ("c1", 0.8, 1)
    score(tally, 1, 0.1)  # the first to meet one more does not lead for that
    assert tally.best == ("c1", 0.8, 1)
    score(tally, 1, None, 0.2, 0.7)
    assert tally.best == ("c2", 0.7, 2)


def test_nan_failures_and_who_has_left_never_lead():
    tally = begun(4)
    score(tally, 0, math.nan, 0.9, 0.8, 0.7)
    assert tally.best.name == "c1"
    tally.add(CellFinished(CellResult(CellKey(1, 0, 1), CellState.FAILED, "no")))
    assert (tally.best.name, tally.failed) == ("c2", 1)
    leave(tally, 1, [0, 2], 1, 6)
    assert tally.best.name == "c3"


def test_what_was_done_before_is_no_measure_of_the_pace_here():
    tally = RunTally()
    tally.add(SearchStarted(20, 10, 4, 5))
    assert tally.seconds_left(100.0) is None
    score(tally, 4, 0.1, 0.2)
    assert tally.seconds_left(4.0) == 16.0
    assert "met since it was resumed" not in best_line(begun())
    assert best_line(tally) == "0.2000 (1 split since it was resumed, uncorrected): configuration 1"


def test_what_was_done_and_is_now_saved_is_not_left_twice():
    tally = RunTally()
    tally.add(SearchStarted(20, 18, 4, 5))
    leave(tally, 1, [0, 1], 2, 8)  # done by a run that dropped nobody
    assert tally.left == 0


def test_losses_are_shown_in_their_own_units():
    tally = begun(refit_metric="neg_root_mean_squared_error")
    for configuration, value in enumerate((-52.34, -49.876, -60.0)):
        scores = {"r2": 0.9, "neg_root_mean_squared_error": value}
        key = CellKey(configuration, 0, 0)
        tally.add(CellFinished(CellResult(key, CellState.DONE, test_scores=scores)))
    assert best_line(tally) == "root mean squared error 49.88 (1 split, uncorrected): c1"


def test_a_score_whose_name_was_not_known_beforehand_decides_if_it_is_the_first():
    tally = begun(1)
    scores = {"first": 0.25, "second": 0.5}
    tally.add(CellFinished(CellResult(CellKey(0, 0, 0), CellState.DONE, test_scores=scores)))
    assert tally.best.score == 0.25


# The time left follows the work that is left, however many cells arrive at once.


N_GROUP, N_SINGLE, N_SPLITS = 100, 10, 5
GROUP_SECONDS, SINGLE_SECONDS = 1.0, 10.0
UNITS = [tuple(range(N_GROUP)), *((N_GROUP + number,) for number in range(N_SINGLE))]
A_SPLIT = GROUP_SECONDS + N_SINGLE * SINGLE_SECONDS


def cell(configuration: int, split: int, seconds: float, ahead: float = 0.0, following: int = 0) -> CellFinished:
    key = CellKey(configuration, 0, split)
    return CellFinished(
        CellResult(key, CellState.DONE, fit_seconds=seconds, ahead_seconds=ahead, n_following=following)
    )


def begun_with(units: Sequence[tuple[int, ...]] = UNITS, n_splits: int = N_SPLITS, **more: int) -> RunTally:
    n = sum(map(len, units))
    tally = RunTally()
    tally.add(SearchStarted(n * n_splits, 0, n, n_splits, units=units, **more))
    return tally


def a_run() -> Iterator[tuple[float, int, CellFinished]]:
    """Now, the split and the cell, of a group that arrives whole, and then the others one by one."""
    for split in range(N_SPLITS):
        now = split * A_SPLIT + GROUP_SECONDS
        for j in range(N_GROUP):
            yield now, split, cell(j, split, GROUP_SECONDS / N_GROUP, following=N_GROUP - 1 - j)
        for number in range(N_SINGLE):
            now += SINGLE_SECONDS
            yield now, split, cell(N_GROUP + number, split, SINGLE_SECONDS)


def test_many_cells_of_one_fit_and_some_slow_ones() -> None:
    tally, of_cells = begun_with(), []
    for now, split, event in a_run():
        tally.add(event)
        if event.result.n_following:  # the others arrive at the same time
            continue
        found, left = tally.seconds_left(now), N_SPLITS * A_SPLIT - now
        assert found is not None
        if split:
            assert found == pytest.approx(left, abs=1e-9)
        # Before: each unit that has not come counts as the mean of those that have, here at least a tenth of it.
        assert left / (SINGLE_SECONDS / GROUP_SECONDS) <= found + 1e-9 and found <= left + 1e-9
        of_cells.append((left / (now / tally.done * tally.left), split) if tally.left else (1.0, split))
    assert max(ratio for ratio, split in of_cells if not split) > 100
    assert max(ratio for ratio, split in of_cells if split) > 2


def test_the_time_left_is_known_when_all_cells_of_a_group_have_arrived() -> None:
    tally = begun_with([tuple(range(100))])
    for j in range(100):
        tally.add(cell(j, 0, 0.4, following=99 - j))
    assert tally.seconds_left(40.0) == pytest.approx(4 * 40.0)
    tally.add(cell(0, 1, 0.4, following=99))
    assert tally.seconds_left(80.0) == pytest.approx(4 * 80.0)  # until the others have arrived
    for j in range(1, 100):
        tally.add(cell(j, 1, 0.4, following=99 - j))
    assert tally.seconds_left(80.0) == pytest.approx(3 * 40.0)


def test_a_group_takes_as_long_when_some_of_it_are_dropped() -> None:
    tally = begun_with(may_drop=True)
    for _, split, event in a_run():
        if not split:
            tally.add(event)
    dropped = tuple(Dropped(j, 1, 1.0, "worse") for j in (*range(90), *range(N_GROUP, N_GROUP + 6)))
    n_saved = len(dropped) * (N_SPLITS - 1)
    tally.add(BarrierPassed(0, Barrier(1, 100, N_GROUP + N_SINGLE, 99, dropped), 14, n_saved))
    a_split = GROUP_SECONDS + 4 * SINGLE_SECONDS
    assert tally.seconds_left(A_SPLIT) == pytest.approx(4 * a_split)
    for j in range(90, 100):
        tally.add(cell(j, 1, GROUP_SECONDS / 10))
    assert tally.seconds_left(A_SPLIT + GROUP_SECONDS) == pytest.approx(4 * a_split - GROUP_SECONDS)
    tally.add(BarrierPassed(0, Barrier(2, 200, 14, 99, (), None, True), 14, N_SPLITS * 110 - tally.done))
    assert tally.seconds_left(200.0) == 0.0


def test_of_several_races_the_cells_that_will_not_be_done_are_left_out() -> None:
    tally = begun_with([(0,), (1,)], n_splits=10, n_races=2)
    for split in range(5):
        for j in range(2):
            tally.add(cell(j, split, 1.0))
    assert tally.seconds_left(10.0) == pytest.approx(10.0)
    tally.add(BarrierPassed(0, Barrier(1, 100, 2, 0, (Dropped(1, 1, 1.0, "worse"),)), 1, 4))
    assert tally.seconds_left(10.0) == pytest.approx(6.0)


def test_what_an_earlier_run_has_done_is_not_left() -> None:
    """Of five splits three, and of the fourth all but the last two configurations."""
    tally = RunTally()
    tally.add(SearchStarted(20, 14, 4, 5, resumed={0: 4, 1: 4, 2: 3, 3: 3}))
    for j in (2, 3):
        tally.add(cell(j, 3, 2.0))
    assert tally.seconds_left(4.0) == pytest.approx(8.0)
    for j in range(3):
        tally.add(cell(j, 4, 2.0))
    assert tally.seconds_left(10.0) == pytest.approx(2.0)


def test_of_a_group_that_an_earlier_run_has_done_in_part_its_last_split_is_left() -> None:
    tally = RunTally()
    tally.add(SearchStarted(10, 4, 2, 5, units=[(0, 1)], resumed={0: 3, 1: 1}))
    tally.add(cell(1, 1, 2.0))
    assert tally.seconds_left(4.0) == pytest.approx(3 * 4.0)


def test_a_block_is_done_on_all_splits_and_its_time_is_no_measure_of_the_pace() -> None:
    tally = begun_with([(0, 1), (2,), (3,)])
    places = tuple((0, split) for split in range(N_SPLITS))
    block = CellTable.empty((0, 1), places, test_scores={"score": given_scores(np.ones((2, N_SPLITS)))})
    block.columns["fit_seconds"] = 3.0
    tally.add(CellFinished(block))
    assert tally.seconds_left(30.0) is None
    tally.add(cell(2, 0, 2.0))
    assert tally.seconds_left(32.0) == pytest.approx(9 * 2.0)

"""The tally of a run: who leads, what is left, and what nobody can say."""

import math

from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellKey, CellResult, CellState
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
    assert tally.best is None
    score(tally, 0, 0.6, 0.8, 0.7)
    assert tally.best == ("c1", 0.8, 1)
    score(tally, 1, 0.1)  # the first to meet one more does not lead for that
    assert tally.best == ("c1", 0.8, 1)
    score(tally, 1, None, 0.2, 0.7)
    assert tally.best == ("c2", 0.7, 2)


def test_of_equals_the_first_leads():
    tally = begun()
    score(tally, 0, 0.5, 0.75, 0.75)
    assert tally.best.name == "c1"


def test_nan_failures_and_who_has_left_never_lead():
    tally = begun(4)
    score(tally, 0, math.nan, 0.9, 0.8, 0.7)
    assert tally.best.name == "c1"
    tally.add(CellFinished(CellResult(CellKey(1, 0, 1), CellState.FAILED, "no")))
    assert (tally.best.name, tally.failed) == ("c2", 1)
    leave(tally, 1, [0, 2], 1, 6)
    assert tally.best.name == "c3"


def test_nobody_leads_where_all_scores_are_nan():
    tally = begun()
    score(tally, 0, math.nan, math.nan, math.nan)
    assert tally.best is None and best_line(tally) == ""


def test_fits_saved_and_configurations_alive_follow_the_barriers():
    tally = begun()
    score(tally, 0, 0.1, 0.2, 0.3)
    leave(tally, 1, [0], 2, 3)
    assert (tally.n_remaining, tally.n_splits_done, tally.saved, tally.left) == (2, 1, 3, 6)
    assert tally.seconds_left(6.0) == 12.0


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


def test_races_side_by_side_have_no_common_leader_nor_number_alive():
    tally = begun(n_races=3)
    score(tally, 0, 0.1, 0.2, 0.3)
    leave(tally, 1, [0], 2, 3, race=2)
    assert tally.best is None
    assert (tally.n_remaining, tally.saved) == (3, 3)


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


def test_a_second_run_begins_anew():
    tally = begun()
    score(tally, 0, 0.1, 0.2, 0.3)
    tally.add(SearchStarted(2, 0, 1, 2))
    assert (tally.done, tally.total, tally.best) == (0, 2, None)

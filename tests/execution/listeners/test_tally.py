"""The tally of a run: who leads, what is left, and what nobody can say."""

import math

from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.events import BarrierPassed, CellFinished, SearchStarted, WorkersLost
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import best_words


def begun(n_configurations=3, n_splits=4, **more):
    standings = RunTally()
    names = [f"c{j}" for j in range(n_configurations)]
    standings.see(SearchStarted(n_configurations * n_splits, 0, n_configurations, n_splits, names, **more))
    return standings


def score(standings, fold, *scores, repeat=0):
    for configuration, value in enumerate(scores):
        if value is not None:
            key = CellKey(configuration, repeat, fold)
            standings.see(CellFinished(CellResult(key, CellState.DONE, test_scores={"score": value})))


def leave(standings, after, leaving, n_alive, n_saved, race=0):
    dropped = tuple(Dropped(j, after, 1.0, "worse") for j in leaving)
    barrier = Barrier(after, 100, n_alive + len(leaving), 0, dropped)
    standings.see(BarrierPassed(race, barrier, n_alive, n_saved))


def test_the_best_has_the_best_mean_over_the_splits_that_half_have_met():
    standings = begun()
    assert standings.best is None
    score(standings, 0, 0.6, 0.8, 0.7)
    assert standings.best[1:] == ("c1", 0.8, 1)
    score(standings, 1, 0.1)  # the first to meet one more does not lead for that
    assert standings.best[1:] == ("c1", 0.8, 1)
    score(standings, 1, None, 0.2, 0.7)
    assert standings.best[1:] == ("c2", 0.7, 2)


def test_of_equals_the_first_leads():
    standings = begun()
    score(standings, 0, 0.5, 0.75, 0.75)
    assert standings.best.name == "c1"


def test_nan_failures_and_who_has_left_never_lead():
    standings = begun(4)
    score(standings, 0, math.nan, 0.9, 0.8, 0.7)
    assert standings.best.name == "c1"
    standings.see(CellFinished(CellResult(CellKey(1, 0, 1), CellState.FAILED, "no")))
    assert (standings.best.name, standings.failed) == ("c2", 1)
    leave(standings, 1, [0, 2], 1, 6)
    assert standings.best.name == "c3"


def test_nobody_leads_where_all_scores_are_nan():
    standings = begun()
    score(standings, 0, math.nan, math.nan, math.nan)
    assert standings.best is None and best_words(standings) == ""


def test_fits_saved_and_configurations_alive_follow_the_barriers():
    standings = begun()
    score(standings, 0, 0.1, 0.2, 0.3)
    leave(standings, 1, [0], 2, 3)
    assert (standings.alive, standings.met, standings.saved, standings.left) == (2, 1, 3, 6)
    assert standings.seconds_left(6.0) == 12.0


def test_what_was_done_before_is_no_measure_of_the_pace_here():
    standings = RunTally()
    standings.see(SearchStarted(20, 10, 4, 5))
    assert standings.seconds_left(100.0) is None
    score(standings, 4, 0.1, 0.2)
    assert standings.seconds_left(4.0) == 16.0
    assert "met since it was resumed" not in best_words(begun())
    assert best_words(standings) == "0.2000 (in 1 split met since it was resumed, uncorrected): configuration 1"


def test_what_was_done_and_is_now_saved_is_not_left_twice():
    standings = RunTally()
    standings.see(SearchStarted(20, 18, 4, 5))
    leave(standings, 1, [0, 1], 2, 8)  # done by a run that dropped nobody
    assert standings.left == 0


def test_races_side_by_side_have_no_common_leader_nor_number_alive():
    standings = begun(n_races=3)
    score(standings, 0, 0.1, 0.2, 0.3)
    leave(standings, 1, [0], 2, 3, race=2)
    assert standings.best is None
    assert (standings.alive, standings.saved) == (3, 3)


def test_losses_are_shown_in_their_own_units():
    standings = begun(refit_metric="neg_root_mean_squared_error")
    for configuration, value in enumerate((-52.34, -49.876, -60.0)):
        scores = {"r2": 0.9, "neg_root_mean_squared_error": value}
        key = CellKey(configuration, 0, 0)
        standings.see(CellFinished(CellResult(key, CellState.DONE, test_scores=scores)))
    assert best_words(standings) == "root mean squared error 49.88 (in 1 split, uncorrected): c1"


def test_a_score_whose_name_was_not_known_beforehand_decides_if_it_is_the_first():
    standings = begun(1)
    scores = {"first": 0.25, "second": 0.5}
    standings.see(CellFinished(CellResult(CellKey(0, 0, 0), CellState.DONE, test_scores=scores)))
    assert standings.best.score == 0.25


def test_losses_of_workers_are_counted():
    standings = begun()
    for reason in ("first", "second"):
        standings.see(WorkersLost((), reason))
    assert (standings.n_lost, standings.lost_reason) == (2, "second")


def test_a_second_run_begins_anew():
    standings = begun()
    score(standings, 0, 0.1, 0.2, 0.3)
    standings.see(SearchStarted(2, 0, 1, 2))
    assert (standings.done, standings.total, standings.best) == (0, 2, None)

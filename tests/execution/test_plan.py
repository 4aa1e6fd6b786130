"""The plan: which cells, in which order."""

import numpy as np
from scripted import all_cells

from heldout.dropping import Bootstrap
from heldout.execution.plan import Race, race_of_search
from heldout.execution.scheduler import Scheduler
from heldout.folds.splits import Folds, Split

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


def test_a_search_is_one_race_over_its_splits_in_their_order() -> None:
    race = race_of_search(FOLDS)
    assert race.splits == FOLDS.splits and not race.barriers
    assert len(Scheduler(4, [race]).next_cells()) == 12


def test_a_race_may_be_of_some_configurations() -> None:
    other = Race((Split(2, 0, ROWS[2:], ROWS[:2]),), configurations=(2,))
    scheduler = Scheduler(4, [Race(FOLDS.splits), other])
    assert len(scheduler.next_cells()) == 13
    assert scheduler.remaining(1) == [2]


def test_shuffled_folds_stay_within_their_repeat_and_depend_on_the_entropy_alone() -> None:
    rows = np.arange(40)
    splits = tuple(Split(r, f, np.delete(rows, f), rows[f : f + 1]) for r in range(2) for f in range(20))
    folds = Folds(splits, 40)
    shuffled = race_of_search(folds, Bootstrap(shuffle_folds=True), entropy=3)
    assert shuffled.barriers
    assert [split.repeat for split in shuffled.splits] == [0] * 20 + [1] * 20
    for repeat in range(2):
        order = [split.fold for split in shuffled.splits if split.repeat == repeat]
        assert sorted(order) == list(range(20)) and order != list(range(20))
    assert shuffled == race_of_search(folds, Bootstrap(shuffle_folds=True), entropy=3)
    assert shuffled != race_of_search(folds, Bootstrap(shuffle_folds=True), entropy=4)
    assert race_of_search(folds, Bootstrap(), entropy=3).splits == splits

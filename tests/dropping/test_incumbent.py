"""Forgiving and aggressive: by hand, against a plain loop, and in searches."""

from typing import Any

import numpy as np
import pytest
from optuna.distributions import IntDistribution
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier
from standings import standing_of_scores

import heldout as ho
from heldout.dropping import Aggressive, Forgiving
from heldout.dropping.base import Course
from heldout.errors import InputError
from heldout.metrics import metric_named

# The leader (0) has folds .8, .6, .9: its worst is .6, its mean .7667.
FOLDS = np.array(
    [
        [0.8, 0.7, 0.5, 0.9, 0.8, 0.2],
        [0.6, 0.8, 0.6, 0.1, 0.6, 0.9],
        [0.9, 0.75, 0.6, 0.8, 0.9, 0.7],
    ]
)


@pytest.mark.parametrize(
    ("rule", "kept", "below"),
    [
        (Forgiving(), [1, 1, 0, 1, 1, 1], 0.6 - 1.7 / 3),
        (Aggressive(), [1, 0, 0, 0, 1, 0], 2.3 / 3 - 1.7 / 3),
    ],
)
def test_by_hand(rule: Any, kept: list[int], below: float) -> None:
    """Means: .7667, .75, .5667, .6, .7667, .6; one of exactly the worst fold, or of the leader's mean, stays."""
    found = rule.judge(standing_of_scores(FOLDS, leader=0))
    assert found.keep.astype(int).tolist() == kept
    assert found.statistic[2] == pytest.approx(below)
    assert np.isnan(found.statistic[0])


@pytest.mark.parametrize("rule", [Forgiving(n_startup_folds=1), Aggressive(n_startup_folds=1)])
def test_a_plain_loop_drops_the_same(rule: Any) -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        scores = rng.integers(0, 8, size=(rng.integers(1, 7), 9)) / 7
        leader = int(scores.mean(axis=0).argmax())
        kept = []
        for column in scores.T:
            bound = min(scores[:, leader]) if rule.name == "forgiving" else sum(scores[:, leader]) / len(scores)
            kept.append(sum(column) / len(column) >= bound - 1e-9)
        assert rule.judge(standing_of_scores(scores, leader=leader)).keep.tolist() == kept
    assert rule.judge(
        standing_of_scores(np.zeros((7, 3)), leader=0)
    ).keep.all()  # twins at 0, where no slack is left


def test_none_is_dropped_before_the_start() -> None:
    for rule, first in ((Forgiving(), 3), (Aggressive(), 2)):
        for k in range(1, 4):
            found = rule.judge(standing_of_scores(FOLDS[:k], leader=0))
            assert found.keep.all() == (k < first), (rule.name, k)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, np.inf])
@pytest.mark.parametrize("rule", [Forgiving(), Aggressive()])
def test_what_is_not_a_finite_number_is_not_compared(rule: Any, bad: float) -> None:
    scores = FOLDS.copy()
    scores[1, 2] = bad
    assert rule.judge(standing_of_scores(scores, leader=0)).keep[2]
    scores = FOLDS.copy()
    scores[1, 0] = bad
    assert rule.judge(standing_of_scores(scores, leader=0)).keep.all()


def test_it_needs_a_split_to_save() -> None:
    accuracy = metric_named("accuracy")
    assert (
        Forgiving().unfit(accuracy, Course(3, 3))
        == "it drops none before 3 splits, and the last of 3 saves nothing"
    )
    assert Aggressive().unfit(accuracy, Course(3, 3)) is None
    with pytest.raises(InputError, match="n_startup_folds must be an integer of at least 1, got 0"):
        Aggressive(n_startup_folds=0)


X, Y = make_classification(200, n_informative=3, flip_y=0.2, random_state=1)


@pytest.mark.parametrize("drop", ["forgiving", "aggressive(n_startup_folds=3)"])
def test_searches_drop_by_it(drop: str) -> None:
    grid = {"n_neighbors": [1, 3, 9, 15, 150]}
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), grid, cv=8, drop=drop, random_state=0, n_bootstraps=50).fit(
        X, Y
    )
    assert search.n_fits_saved_ > 0
    assert search.n_fits_ + search.n_fits_saved_ == 40
    assert "leader" in next(iter(search.predictions_.dropped.values()))


@pytest.mark.parametrize("drop", ["forgiving", "aggressive"])
def test_an_adaptive_search_drops_what_a_loop_over_its_trials_would(drop: str) -> None:
    """Each trial against the best before it, which has all its folds, on the folds so far."""
    search = ho.HeldOutOptunaSearchCV(
        KNeighborsClassifier(), {"n_neighbors": IntDistribution(1, 150)}, n_trials=12, cv=8, drop=drop,
        random_state=0, n_bootstraps=50,
    ).fit(X, Y)  # fmt: skip
    tried = [{"n_neighbors": [each["n_neighbors"]]} for each in search.cv_results_["params"]]
    whole = ho.HeldOutSearchCV(KNeighborsClassifier(), tried, cv=8, random_state=0, n_bootstraps=50).fit(X, Y)
    folds = np.array([whole.cv_results_[f"split{k}_test_score"] for k in range(8)])
    first, best, dropped = (3 if drop == "forgiving" else 2), 0, {}
    for j in range(1, 12):
        for k in range(first, 8):
            own, other = folds[:k, j], folds[:k, best]
            bound = other.min() if drop == "forgiving" else other.mean()
            if 25 * k >= 50 and own.mean() < bound - 1e-9 and other.mean() >= own.mean():
                dropped[j] = k - 1
                break
        else:
            best = j if folds[:, j].mean() > folds[:, best].mean() + 1e-9 else best
    assert dropped
    assert {j: at for j, at in enumerate(search.cv_results_["dropped_at_split"]) if at >= 0} == dropped

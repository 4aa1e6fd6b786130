"""Sequential testing as a search: what it fits, chooses, estimates and leaves behind."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout import Flag, HeldOutSearchCV, InputError
from heldout.dropping import Sequential
from heldout.metrics import Accuracy
from heldout.selection import RankOverRepeats

GRID = {"max_depth": [1, 2, 3, 5, 8], "min_samples_leaf": [1, 100]}


class Scripted(ClassifierMixin, BaseEstimator):
    """Predicts the column of its number."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_seen_ = len(y)
        return self

    def predict(self, X):
        return X[:, self.number].astype(int)


def data(n=240):
    return make_classification(n, 8, n_informative=4, flip_y=0.1, random_state=3)


def searched(X, y, **more):
    settings = {"drop": "sequential", "n_bootstraps": 50, "random_state": 0} | more
    return HeldOutSearchCV(DecisionTreeClassifier(), GRID, **settings).fit(X, y)


@pytest.fixture(scope="module")
def plain():
    """The search that several tests read."""
    return searched(*data())


def test_the_race_worked_by_hand_is_run():
    # As in test_sequential: the first always right, the second wrong in one row, the third in each of class 1, the
    # last always. Whatever the order of the rows, the last two leave after step 2, and all is over after step 4.
    y = np.resize([0, 1], 64)
    X = np.column_stack([y, y, np.zeros(64), 1 - y])
    X[10, 1] = 1 - y[10]
    rule = Sequential(steps=7, min_predictions=1)
    search = HeldOutSearchCV(Scripted(), {"number": [0, 1, 2, 3]}, drop=rule, n_bootstraps=100, random_state=2).fit(
        X, y
    )
    assert search.best_index_ == 0
    assert (search.n_fits_, search.n_fits_saved_) == (4 + 4 + 2 + 2, 7 * 4 - 12)
    assert search.n_splits_ == 4
    assert search.cv_results_["n_splits_evaluated"].tolist() == [4, 4, 2, 2]
    assert search.cv_results_["dropped_at_split"].tolist() == [-1, -1, 1, 1]
    assert np.isnan(search.cv_results_["split2_test_score"]).tolist() == [False, False, True, True]
    barriers = search.evaluation_.barriers
    assert [barrier.stopped for barrier in barriers] == [False, False, False, True]
    assert [barrier.noted for barrier in barriers[1:3]] == [{0: 1, 1: 1, 2: 0, 3: 0}, {0: 1, 1: 1}]
    assert [left.reason for left in barriers[1].dropped] == [
        "the number of steps in which it was among the best was 0"
    ] * 2
    assert search.best_estimator_.n_seen_ == 64


def test_choice_and_estimate_are_of_the_last_three_steps(plain):
    search = plain
    assert search.n_fits_ == search.cv_results_["n_splits_evaluated"].sum()
    assert search.n_fits_ + search.n_fits_saved_ == 10 * 10
    scores = np.stack([search.cv_results_[f"split{s}_test_score"] for s in range(search.n_splits_)])
    window, alive = scores[-3:], search.cv_results_["dropped_at_split"] == -1
    assert search.n_splits_ < 10 and not alive.all()
    winner = search.best_index_
    assert search.best_score_ == pytest.approx(window[:, winner].mean(), abs=1e-15)
    assert search.estimate_.uncorrected == pytest.approx(search.best_score_, abs=1e-12)
    beaten = (window[:, alive] > window[:, [winner]]).sum(axis=1) + (window[:, alive] == window[:, [winner]]).sum(
        axis=1
    ) / 2
    for j in np.flatnonzero(alive):
        ahead = (window[:, alive] > window[:, [j]]).sum(axis=1) + (window[:, alive] == window[:, [j]]).sum(
            axis=1
        ) / 2
        assert beaten.mean() <= ahead.mean() + 1e-12
    assert search.predictions_.n_repeats == 3
    sizes = [len(split.train) for split in search.evaluation_.folds.splits[-3:]]
    said = search.estimate_.provenance
    assert said["training_rows"] == np.mean(sizes)
    assert said["selection"] == "rank_over_repeats"
    assert "krueger2015" in said["sources"]
    flags = search.estimate_.flags
    assert {Flag.GROWING_TRAINING_SETS, Flag.DROPPED_CONFIGURATIONS, Flag.INCOMPLETE_PREDICTIONS} <= set(flags)
    assert f"trained on {sizes[0]} to {sizes[-1]} of 240 rows" in flags[Flag.GROWING_TRAINING_SETS]


def test_the_estimate_replays_the_choice_by_ranks(plain):
    (_, y), search = data(), plain
    again = ho.estimate(
        y,
        replace(
            search.predictions_, question=None
        ),  # RankOverRepeats() is chosen by other repeats than in the search
        metric=Accuracy(),
        selection=RankOverRepeats(),
        aggregate="folds",
        n_bootstraps=50,
        random_state=0,
    )
    assert again.selected == search.best_index_
    assert again.value == search.estimate_.value
    assert again.interval == search.estimate_.interval


def test_jobs_and_interruptions_change_nothing(plain, tmp_path):
    (X, y), once = data(), plain
    file = tmp_path / "run.db"
    with parallel_config("threading"):
        in_threads = searched(X, y, n_jobs=2)
    other = [in_threads, searched(X, y, store=file), searched(X, y, store=file)]
    for each in other:
        assert each.estimate_.value == once.estimate_.value
        assert each.evaluation_.barriers == once.evaluation_.barriers
        assert (each.n_fits_, each.best_index_) == (once.n_fits_, once.best_index_)
    assert searched(X, y, random_state=1).evaluation_.folds.fingerprint() != once.evaluation_.folds.fingerprint()


@pytest.mark.parametrize("method", ["cv", "naive_bootstrap"])
def test_other_estimates_are_of_the_window_too(method):
    X, y = data()
    search = searched(X, y, method=method)
    assert search.estimate_.uncorrected == pytest.approx(search.best_score_, abs=1e-12)


def test_pooled_is_the_same_as_every_step_is_one_fold(plain):
    folds, pooled = plain, searched(*data(), aggregate="pooled")
    assert pooled.best_index_ == folds.best_index_
    assert pooled.best_score_ == pytest.approx(folds.best_score_, abs=1e-12)
    assert pooled.estimate_.value == pytest.approx(folds.estimate_.value, abs=1e-12)


def test_regressions_and_probabilities_are_raced_by_friedman_s_test():
    X, y = make_regression(200, 6, noise=30.0, random_state=0)
    search = HeldOutSearchCV(
        Ridge(), {"alpha": [0.1, 1.0, 1e3, 1e5]}, drop="sequential", n_bootstraps=100, random_state=0
    ).fit(X, y)
    assert search.cv_results_["dropped_at_split"][3] >= 0 and search.best_params_["alpha"] <= 1
    X, y = data()
    search = HeldOutSearchCV(
        LogisticRegression(),
        {"C": [1e-5, 0.1, 1.0]},
        drop="sequential",
        scoring="neg_log_loss",
        n_bootstraps=100,
        random_state=0,
    ).fit(X, y)
    assert search.cv_results_["dropped_at_split"][0] >= 0


def test_groups_are_never_cut():
    X, y = data()
    groups = np.arange(240) // 4
    search = HeldOutSearchCV(
        DecisionTreeClassifier(), GRID, drop="sequential", n_bootstraps=100, random_state=0
    ).fit(X, y, groups=groups)
    assert search.predictions_.grouped and search.estimate_.provenance["grouped"]
    for split in search.evaluation_.folds.splits:
        assert not set(groups[split.train]) & set(groups[split.test])


def test_below_min_predictions_nobody_leaves():
    X, y = data(60)
    rule = Sequential(min_predictions=56)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = searched(X, y, drop=rule)
    assert (search.n_fits_, search.n_fits_saved_) == (100, 0)
    assert Flag.GROWING_TRAINING_SETS in search.estimate_.flags


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"cv": 5}, "plans its own splits, so cv must be None and repeats 1, got `cv=5` and `repeats=1`"),
        ({"repeats": 2}, "got `cv=None` and `repeats=2`"),
        (
            {"scoring": "roc_auc"},
            "compares configurations row by row, and roc_auc is not a mean of one loss per row",
        ),
        ({"selection": "one_standard_error"}, "selection must be 'best' .*, got 'one_standard_error'"),
        ({"refit": lambda results: 0}, "and refit no function"),
        ({"drop": Sequential(steps=30)}, r"steps \+ 1 = 31 parts, and 30 rows of class"),
    ],
    ids=["cv", "repeats", "metric", "selection", "refit", "rows"],
)
def test_what_does_not_go_with_it_is_refused(settings, said):
    y = np.resize([0, 1], 60)
    with pytest.raises(InputError, match=said):
        searched(np.arange(60.0)[:, None], y, **settings)


def test_protocols_that_plan_splits_refuse_it():
    X, y = data(100)
    with pytest.raises(
        InputError, match="`drop='sequential'` plans its own splits, and here the protocol plans them"
    ):
        ho.nested_cv(DecisionTreeClassifier(), X, y, GRID, drop="sequential")

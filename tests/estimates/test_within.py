"""``aggregate="within"`` as a user asks for it: pairs of rows of one fold, in estimates, searches and protocols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

import heldout as ho
from heldout.flags import Flag

N, K = 100, 10
FAST: dict[str, Any] = {"metric": "roc_auc", "n_bootstraps": 100, "random_state": 0}


def scores_of_folds(
    shift: float, columns: int = 10, repeats: int = 1, n: int = N, k: int = K, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """Labels (n,), scores (n, columns, repeats) of AUC .85 in each fold, each shifted by as much, and the folds."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    folds = np.stack([np.arange(n) // 2 % k for _ in range(repeats)], axis=1)
    scores = rng.normal(size=(n, columns, repeats)) + np.sqrt(2) * norm.ppf(0.85) * y[:, None, None]
    shifts = shift * rng.normal(size=(k, columns, repeats))
    for repeat in range(repeats):
        scores[:, :, repeat] += shifts[folds[:, repeat], :, repeat]
    return y, scores, folds


@pytest.mark.parametrize("method", ["bbc", "cv", "naive_bootstrap"])
def test_shifts_of_folds_change_nothing(method: str) -> None:
    y, plain, folds = scores_of_folds(0.0)
    shifted = plain + 100.0 * np.arange(K)[folds][:, None, :]
    asked = {**FAST, "folds": folds, "aggregate": "within", "method": method}
    one, other = (ho.estimate(y, scores, **asked) for scores in (plain, shifted))
    assert one.value == other.value and one.interval == other.interval and one.selected == other.selected
    assert one.provenance["aggregate"] == "within"


def test_pooled_is_flagged_with_both_numbers_and_left_by_default() -> None:
    y, scores, folds = scores_of_folds(2.0)
    pooled, within, default = (
        ho.estimate(y, scores, folds=folds, aggregate=name, method="bbc", **FAST)
        for name in ("pooled", "within", None)
    )
    sentence = pooled.flags[Flag.INCOMPARABLE_FOLDS]
    assert f"{pooled.uncorrected:.4g} on all rows together" in sentence and "within folds but" in sentence
    assert default.provenance["aggregate"] == "within" and default.value == within.value
    assert Flag.INCOMPARABLE_FOLDS in default.flags
    assert pooled.value < 0.75 < within.value


def test_by_default_rows_are_pooled_where_folds_are_comparable() -> None:
    y, scores, folds = scores_of_folds(0.0)
    default, pooled = (ho.estimate(y, scores, folds=folds, aggregate=name, **FAST) for name in (None, "pooled"))
    assert default.value == pooled.value and default.provenance["aggregate"] == "pooled"
    assert Flag.INCOMPARABLE_FOLDS not in default.flags
    single = ho.estimate(y, scores, folds=np.arange(N), **FAST)  # folds of one row hold no pair
    assert single.value == pooled.value


def test_scores_that_spread_otherwise_are_incomparable_too() -> None:
    y, scores, folds = scores_of_folds(0.0, n=400)
    scores = (scores - scores.mean()) * np.array([0.1, 10.0])[folds % 2][:, None, :]
    assert Flag.INCOMPARABLE_FOLDS in ho.estimate(y, scores, folds=folds, **FAST).flags


def test_the_beginning_of_a_curve_is_judged_by_the_whole_of_it() -> None:
    y, scores, folds = scores_of_folds(2.0)
    asked = {**FAST, "metric": "partial_roc_auc(max_fpr=0.2)", "folds": folds}
    found = ho.estimate(y, scores, **asked)
    assert found.flags[Flag.INCOMPARABLE_FOLDS].startswith("The roc_auc of")
    assert found.provenance["aggregate"] == "within" and found.value > 0.7
    plain = ho.estimate(*scores_of_folds(0.0)[:2], **asked)
    assert Flag.INCOMPARABLE_FOLDS not in plain.flags and plain.provenance["aggregate"] == "pooled"


def test_groups_that_differ_are_no_fault_of_the_folds() -> None:
    rng = np.random.default_rng(3)
    y, scores, folds = scores_of_folds(0.0, n=200, columns=1)
    groups = folds[:, 0] * 2 + (np.arange(200) // 40) % 2
    scores = scores + 3.0 * rng.normal(size=groups.max() + 1)[groups][:, None, None]
    asked = {**FAST, "folds": folds, "aggregate": "pooled"}
    assert Flag.INCOMPARABLE_FOLDS in ho.estimate(y, scores, **asked).flags
    assert Flag.INCOMPARABLE_FOLDS not in ho.estimate(y, scores, groups=groups, **asked).flags


def test_several_classes_and_rules_of_several_metrics() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    chances = rng.dirichlet(np.ones(3), size=(90, 4, 1)) + np.eye(3)[y][:, None, None, :]
    chances /= chances.sum(axis=-1, keepdims=True)
    asked = {"folds": np.arange(90) // 3 % 5, "aggregate": "within", "n_bootstraps": 50, "random_state": 0}
    rule = ho.selection.AverageRank(["roc_auc_ovo", "log_loss"])
    assert ho.estimate(y, chances, metric="roc_auc_ovr", selection=rule, **asked).value > 0.8
    with pytest.raises(ho.InputError, match="balanced_accuracy is neither made of pairs"):
        rule = ho.selection.AverageRank(["roc_auc_ovr", "balanced_accuracy"])
        ho.estimate(y, chances, metric="roc_auc_ovr", selection=rule, **asked)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"metric": "f1", "folds": np.arange(N) % 5, "threshold": 0.0}, "f1 is neither made of pairs"),
        ({"folds": None}, "`aggregate='within'` needs `folds=`"),
        ({"folds": np.arange(N)}, "no fold contains the rows that roc_auc needs"),
        ({"aggregate": "inside"}, "aggregate must be one of auto, folds, pooled, within"),
    ],
)
def test_what_cannot_be_counted_is_refused(settings: dict[str, Any], sentence: str) -> None:
    y, scores, folds = scores_of_folds(0.0)
    with pytest.raises(ho.InputError, match=sentence):
        ho.estimate(y, scores, **{**FAST, "folds": folds, "aggregate": "within", **settings})


def test_other_questions_take_it_too() -> None:
    y, scores, folds = scores_of_folds(5.0)
    asked = {**FAST, "folds": folds, "aggregate": "within"}
    compared = ho.compare_estimates(y, scores, **asked)
    assert compared["shrinkage"].value == ho.estimate(y, scores, **asked).value
    assert "pairs of rows of one fold only" in compared.refused["delong"]
    assert ho.compare_configurations(y, scores, **asked).winner == compared["shrinkage"].selected_name


class OfColumn(ClassifierMixin, BaseEstimator):
    """Scores rows by a column, shifted by what it was trained on."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> OfColumn:
        self.classes_ = np.unique(y)
        self.shift_ = 1000.0 * np.sin(X.sum() * 99)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        return np.asarray(X[:, self.column] + self.shift_)

    def predict(self, X: Any) -> NDArray[Any]:
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def search_of(**settings: Any) -> ho.HeldOutSearchCV:
    grid = {"column": [0, 1, 2]}
    return ho.HeldOutSearchCV(
        OfColumn(), grid, scoring="roc_auc", cv=KFold(5), n_bootstraps=50, random_state=0, **settings
    )


def test_a_search_by_pairs_within_folds() -> None:
    y, scores, _ = scores_of_folds(0.0, columns=3)
    X = scores[:, :, 0]
    search = search_of(aggregate="within").fit(X, y)
    again = ho.estimate(y, search.predictions_, aggregate="within")
    assert search.best_index_ == again.selected and search.best_score_ == again.uncorrected
    assert search.best_score_ == search.cv_results_["within_test_score"].max()
    assert search.cv_results_["rank_within_test_score"][search.best_index_] == 1
    assert search.estimate_.uncorrected == search.best_score_ and search.estimate_.value > 0.75
    folds = search_of().fit(X, y)
    assert folds.estimate_.value > 0.75
    assert Flag.INCOMPARABLE_FOLDS not in folds.estimate_.flags  # a mean over folds compares no rows of two folds
    assert Flag.INCOMPARABLE_FOLDS in search_of(aggregate="pooled").fit(X, y).estimate_.flags
    assert "within_test_score" not in folds.cv_results_


def test_a_search_refuses_metrics_without_pairs_before_it_fits() -> None:
    y, scores, _ = scores_of_folds(0.0, columns=3)
    search = search_of(aggregate="within").set_params(scoring=["roc_auc", "f1"], refit="roc_auc")
    with pytest.raises(ho.InputError, match="f1 is neither made of pairs"):
        search.fit(scores[:, :, 0], y)


@pytest.mark.parametrize("drop", [None, "bootstrap(replay=True)"])
def test_dropping_and_repeats_go_by_pairs_within_folds(drop: str | None) -> None:
    y, scores, _ = scores_of_folds(0.0, columns=3)
    X = np.where(np.arange(3) == 2, -1.0, 1.0) * scores[:, :, 0]
    search = search_of(aggregate="within", drop=drop, repeats=2).set_params(cv=5).fit(X, y)
    assert search.best_index_ != 2 and search.estimate_.value > 0.75
    assert (search.n_fits_saved_ > 0) == (drop is not None)


def test_protocols_count_pairs_within_folds() -> None:
    y, scores, _ = scores_of_folds(0.0, columns=3)
    X, grid = scores[:, :, 0], {"column": [0, 1, 2]}
    asked: dict[str, Any] = {"scoring": "roc_auc", "random_state": 0, "aggregate": "within"}
    nested = ho.nested_cv(OfColumn(), X, y, param_grid=grid, cv=5, **asked)
    weights = [
        np.count_nonzero(y[fold.test_rows]) * np.count_nonzero(1 - y[fold.test_rows]) for fold in nested.outer_folds
    ]
    expected = np.average([fold.score for fold in nested.outer_folds], weights=weights)
    assert nested.value == pytest.approx(expected, abs=1e-12)
    repeated = ho.bootstrap_search(OfColumn(), X, y, param_grid=grid, scheme="cvt", cv=3, n_bootstraps=4, **asked)
    assert repeated.provenance["aggregate"] == "within" and repeated.value > 0.6

"""What nested cross-validation promises: for every kind of argument, and however it is run."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - needed by HalvingGridSearchCV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.arguments.search import SearchArguments
from heldout.errors import HeldoutWarning, InputError
from heldout.protocols import NestedEstimate

CANCER = tuple(array[:120] for array in load_breast_cancer(return_X_y=True))
X, Y = CANCER[0][:, :6], CANCER[1]
NEIGHBOURS = {"n_neighbors": [1, 5, 25]}
MODELS = [
    ("knn", KNeighborsClassifier(), {"n_neighbors": [3, 15]}),
    ("forest", RandomForestClassifier(3), {"max_depth": [1, 3]}),
]


def nested(**settings: Any) -> NestedEstimate:
    settings = {"cv": 4, "random_state": 3} | settings
    return ho.nested_cv(KNeighborsClassifier(), X, Y, NEIGHBOURS, **settings)


@cache
def plain() -> NestedEstimate:
    return nested()


def test_it_is_an_estimate_with_its_outer_folds_in_json_and_in_a_table() -> None:
    found = nested(scoring="roc_auc", repeats=2)
    assert isinstance(found, ho.Estimate) and found.method == "nested_cv" and found.metric == "roc_auc"
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["value"] == found.value and len(document["outer_folds"]) == 8
    one = document["outer_folds"][5]
    assert (one["repeat"], one["fold"], one["n_test_rows"]) == (1, 1, 30) and len(one["inner_scores"]) == 3
    assert sum(each["wins"] for each in document["agreement"]["chosen"]) == 8
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame) and len(frame) == 8
    assert frame["score"].mean() == pytest.approx(found.value)
    assert "NestedEstimate" not in repr(found) and "nested_cv" in repr(found)
    assert "nested_cv" in found._repr_html_()
    assert found.provenance["training_rows"] == 90 and found.provenance["n_folds"] == 4


def test_a_finished_estimate_names_its_quantity_and_its_sources() -> None:
    found = nested(repeats=2, interval="bates_hastie_tibshirani", across="folds")
    assert "whole search" in found.provenance["quantity"]
    assert {"tsamardinos2018", "varma2006", "bates2024"} <= set(found.provenance["sources"])
    assert "few_repeats" in found.flags and "2 draws of the folds" in found.flags["few_repeats"]
    measured = found.provenance["bates_hastie_tibshirani"]
    assert 1 <= measured["inflation"] <= 2
    # The center is the value drawn on to all the training rows: its own bias taken off the outer mean.
    assert measured["outer"] == pytest.approx(np.mean([fold.score for fold in found.outer_folds]))
    assert measured["center"] == pytest.approx(measured["inner"] - measured["bias"])
    assert found.interval.low <= measured["center"] <= found.interval.high


@pytest.mark.parametrize("interval", ["bates_hastie_tibshirani", None])
def test_the_interval_never_changes_the_value(interval: str | None) -> None:
    found = nested(interval=interval)
    assert found.value == plain().value
    assert (found.interval is None) == (interval is None) == (found.standard_error is None)


def test_a_lower_bound_lies_above_the_lower_end() -> None:
    two, one = plain(), nested(alternative="greater")
    assert two.interval.low < one.interval.low < two.value and one.interval.high == 1.0


def test_pooled_outer_predictions_are_scored_together() -> None:
    found = nested(scoring="roc_auc", aggregate="pooled")
    models = [
        KNeighborsClassifier(NEIGHBOURS["n_neighbors"][fold.selected]).fit(
            X[fold.training_rows], Y[fold.training_rows]
        )
        for fold in found.outer_folds
    ]
    scores = np.empty(len(Y))
    for fold, model in zip(found.outer_folds, models, strict=True):
        scores[fold.test_rows] = model.predict_proba(X[fold.test_rows])[:, 1]
    assert found.value == pytest.approx(roc_auc_score(Y, scores), abs=1e-12)


def test_leave_one_out_with_pooled_scores() -> None:
    found = ho.nested_cv(
        KNeighborsClassifier(), X[:16], np.arange(16) % 2, {"n_neighbors": [1, 3]}, cv=LeaveOneOut(), inner=4,
        scoring="roc_auc", aggregate="pooled", interval=None, random_state=0,
    )  # fmt: skip
    assert 0 <= found.value <= 1 and len(found.outer_folds) == 16


def test_a_search_brings_its_settings() -> None:
    settings = {"scoring": "roc_auc", "cv": StratifiedKFold(4)}
    plain = ho.nested_cv(KNeighborsClassifier(), X, Y, NEIGHBOURS, **settings, random_state=1)
    for search in (
        GridSearchCV(KNeighborsClassifier(), NEIGHBOURS, **settings),
        ho.HeldOutSearchCV(KNeighborsClassifier(), NEIGHBOURS, **settings, method=None),
    ):
        found = ho.nested_cv(search, X, Y, random_state=1)
        assert found.to_dict() == plain.to_dict()
        assert not hasattr(search, "best_estimator_")


def test_a_fitted_search_gives_what_its_parts_give(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "scoring": ["accuracy", "roc_auc"], "refit": "roc_auc", "cv": 3, "repeats": 2, "aggregate": "pooled",
        "drop": "bootstrap", "confidence_level": 0.9, "alternative": "greater", "random_state": 3,
    }  # fmt: skip
    store = tmp_path / "run.db"
    search = ho.HeldOutSearchCV(MODELS, **settings, store=store, n_bootstraps=20).fit(X, Y)
    best, before = search.best_estimator_, search.get_params(deep=False)
    found = ho.nested_cv(search, X, Y, inner=3, interval=None)
    assert found.to_dict() == ho.nested_cv(MODELS, X, Y, **settings, inner=3, interval=None).to_dict()
    assert search.best_estimator_ is best and search.get_params(deep=False) == before


def test_a_part_that_differs_from_that_of_the_search_is_refused() -> None:
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), NEIGHBOURS, scoring="roc_auc", confidence_level=0.9)
    with pytest.raises(
        InputError, match="HeldOutSearchCV has `scoring='roc_auc'`, and `scoring='accuracy'` is passed"
    ):
        ho.nested_cv(search, X, Y, scoring="accuracy")
    with pytest.raises(InputError, match=r"has `confidence_level=0\.9`, and `confidence_level=0\.8` is passed"):
        ho.nested_cv(search, X, Y, confidence_level=0.8)
    with pytest.raises(InputError, match="HeldOutSearchCV has `cv=3`, and `cv=4` is passed"):
        ho.bootstrap_search(search.set_params(cv=3), X, Y, cv=4)
    same = ho.nested_cv(search, X, Y, scoring="roc_auc", aggregate="pooled", random_state=1)
    assert same.provenance["aggregate"] == "pooled" and same.interval.confidence_level == 0.9


def test_a_callable_refit_selects_in_every_search_and_may_read_times() -> None:
    def fastest_of_the_best(results: dict[str, Any]) -> int:
        assert len(results["mean_fit_time"]) == 3
        return int(np.argmax(results["mean_test_score"]))

    assert nested(refit=fastest_of_the_best).to_dict()["outer_folds"] == plain().to_dict()["outer_folds"]


def test_several_estimators_are_named_and_another_seed_gives_other_folds() -> None:
    one, other = (ho.nested_cv(MODELS, X, Y, cv=3, scoring="roc_auc", random_state=seed) for seed in (5, 6))
    assert one.selected_name.startswith(("knn", "forest")) and other.to_dict() != one.to_dict()


def test_without_a_seed_a_run_file_has_its_own(tmp_path: Path) -> None:
    first = nested(store=tmp_path / "run.db")
    assert (
        nested(store=str(tmp_path / "run.db"), random_state=None).to_dict() == first.to_dict() == plain().to_dict()
    )


def test_every_search_drops_on_its_own_and_saves_fits() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    grid = {"C": [1e-6, 1.0], "class_weight": [None, {0: 9, 1: 1}]}
    settings = {"cv": 3, "inner": 4, "interval": None, "random_state": 0}
    found = ho.nested_cv(LogisticRegression(), X, y, grid, **settings, drop="bootstrap")
    plain = ho.nested_cv(LogisticRegression(), X, y, grid, **settings)

    assert found.n_fits_saved > 0 and found.n_fits + found.n_fits_saved == plain.n_fits
    assert all(fold.barriers for fold in found.outer_folds)
    for fold in found.outer_folds:
        dropped = {left.configuration for barrier in fold.barriers for left in barrier.dropped}
        assert np.isnan(fold.inner_scores[list(dropped)]).all() and fold.selected not in dropped
    assert found.value == pytest.approx(plain.value, abs=0.02)


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails with these numbers of training rows; with -1, always."""

    def __init__(self, breaks_with=(), label=0):
        self.breaks_with = breaks_with
        self.label = label

    def fit(self, X, y):
        if len(X) in self.breaks_with or -1 in self.breaks_with:
            raise ValueError(f"cannot learn from {len(X)} rows")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


FEW = {"X": np.zeros((12, 1)), "y": np.arange(12) % 3 % 2}


def test_a_configuration_that_fails_is_never_chosen() -> None:
    with pytest.warns(HeldoutWarning, match="1 of 2 configurations failed"):
        found = ho.nested_cv(Fragile(), **FEW, param_grid={"breaks_with": [(-1,), ()]}, cv=4, interval=None)
    assert {fold.selected for fold in found.outer_folds} == {1} == {found.selected}
    assert "failed_configurations" in found.flags
    assert all(list(fold.failures) == [0] and math.isnan(fold.inner_scores[0]) for fold in found.outer_folds)


class FailsLater(Fragile):
    """Of the fits on 9 rows the first eight succeed, those of the search on all rows; the winners' come later."""

    n_fits = 0

    def fit(self, X, y):
        FailsLater.n_fits += len(X) == 9
        if len(X) == 9 and FailsLater.n_fits > 8:
            raise ValueError("too late")
        return super().fit(X, y)


def test_a_winner_that_fails_on_the_outer_rows_leaves_no_value_and_a_flag() -> None:
    FailsLater.n_fits = 0
    with pytest.warns(
        HeldoutWarning, match=r"outer fold 0 of repeat 0 has a winner that failed \(ValueError: too la"
    ):
        found = ho.nested_cv(FailsLater(), **FEW, param_grid={"label": [0, 1]}, cv=4, share=False)
    assert math.isnan(found.value) and found.interval is None and "undefined" in found.flags
    assert [fold.selected for fold in found.outer_folds] == [0] * 4 and found.model is not None
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_an_outer_fold_in_which_everything_fails_leaves_no_value() -> None:
    """With 6 training rows, as inner searches have, everything fails; on all rows, with 9, nothing does."""
    with pytest.warns(HeldoutWarning, match=r"outer fold 0 of repeat 0 has no winner \(ValueError: cannot learn"):
        found = ho.nested_cv(Fragile(), **FEW, param_grid={"breaks_with": [(6,)], "label": [0, 1]}, cv=4)
    assert math.isnan(found.value) and found.selected in (0, 1) and found.model is not None
    assert [fold.selected for fold in found.outer_folds] == [None] * 4
    assert found.agreement.wins == {} and math.isnan(found.agreement.share)


def test_everything_failing_on_all_rows_is_an_error() -> None:
    with pytest.raises(InputError, match="the only configuration failed"):
        ho.nested_cv(Fragile(), **FEW, param_grid={"breaks_with": [(-1,)]}, cv=4)


@pytest.mark.filterwarnings("ignore:Only one class is present")
def test_outer_folds_in_which_the_metric_is_undefined_are_left_out_and_counted() -> None:
    y = np.where(np.arange(120) < 30, 0, np.arange(120) % 2)
    found = ho.nested_cv(
        KNeighborsClassifier(), X, y, NEIGHBOURS, cv=KFold(4), inner=StratifiedKFold(2), scoring="roc_auc"
    )
    scores = [fold.score for fold in found.outer_folds]
    assert math.isnan(scores[0]) and found.value == pytest.approx(np.mean(scores[1:]))
    assert "undefined in 1 of 4 folds" in found.flags["undefined_folds"]
    expected = np.var(scores[1:], ddof=1) * (1 / 3 + 1 / 3)
    assert found.standard_error == pytest.approx(np.sqrt(expected))


def test_an_integer_cv_keeps_groups_whole() -> None:
    groups = np.arange(120) // 4
    found = nested(groups=groups, inner=3, repeats=2)
    for fold in found.outer_folds:
        assert not set(groups[fold.training_rows]) & set(groups[fold.test_rows])
    assert found.provenance["grouped"] and found.provenance["n_repeats"] == 2
    assert nested(groups=groups).value == nested(groups=groups).value


def test_weights_reach_fit_and_scorer() -> None:
    weights = np.where(np.arange(120) < 60, 1.0, 0.0) + 1e-9
    model = LogisticRegression(solver="liblinear")
    settings = {"cv": 3, "sample_weight": weights, "scoring": "accuracy"}
    found = ho.nested_cv(model, X, Y, {"C": [0.01, 1.0]}, **settings)
    for fold in found.outer_folds:
        model = LogisticRegression(solver="liblinear", C=[0.01, 1.0][fold.selected])
        model.fit(X[fold.training_rows], Y[fold.training_rows], weights[fold.training_rows])
        labels = model.predict(X[fold.test_rows])
        assert fold.score == pytest.approx(
            accuracy_score(Y[fold.test_rows], labels, sample_weight=weights[fold.test_rows]), abs=1e-12
        )
    with pytest.raises(InputError, match="Pipeline"):
        ho.nested_cv(make_pipeline(StandardScaler(), Ridge()), X, Y, cv=3, sample_weight=weights)


def test_rows_in_the_order_of_time() -> None:
    X, y = load_diabetes(return_X_y=True)
    found = ho.nested_cv(Ridge(), X, y, {"alpha": [0.1, 10.0]}, cv=TimeSeriesSplit(3), inner=TimeSeriesSplit(2))
    assert {"not_exchangeable", "incomplete_predictions"} <= set(found.flags)
    assert all(fold.training_rows.max() < fold.test_rows.min() for fold in found.outer_folds)


def test_a_scorer_that_cannot_be_opened_is_accepted() -> None:
    def score(model: Any, X: Any, y: Any) -> float:
        return float(model.score(X, y))

    assert nested(scoring=score).value == plain().value
    with pytest.raises(InputError, match="is for means of one loss per row"):
        nested(scoring=score, interval="bates_hastie_tibshirani")


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"drop": "sequential"}, "`drop='sequential'` plans its own splits"),
        ({"across": "each"}, "across must be one of folds, all, got 'each'"),
        (
            {"interval": "percentile"},
            "interval must be one of auto, nadeau_bengio, bates_hastie_tibshirani, test_part, bootstrap, or None",
        ),
        ({"inner": "outer"}, "inner must be 'remaining'"),
        ({"confidence_level": 95}, "confidence_level must lie between 0 and 1"),
        ({"alternative": "up"}, "alternative must be one of"),
        ({"cv": 2}, "needs at least 3 outer folds"),
        ({"interval": "bates_hastie_tibshirani", "scoring": "roc_auc"}, "is for means of one loss per row"),
        ({"interval": "bates_hastie_tibshirani", "groups": np.arange(120) // 2}, "takes rows as independent"),
        ({"interval": "bates_hastie_tibshirani", "across": "all"}, "repeats the whole search"),
        ({"across": "all", "refit": lambda results: 0}, "compares one score per configuration"),
        ({"across": "all", "drop": "bootstrap"}, "only configurations that no search dropped have them"),
    ],
    ids=lambda given: ", ".join(given) if isinstance(given, dict) else "",
)
def test_contradictory_settings_are_refused_before_any_fit(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        nested(**settings)


def test_an_adaptive_search_is_scored_by_its_own_scorer() -> None:
    halving = HalvingGridSearchCV(KNeighborsClassifier(), NEIGHBOURS, scoring="roc_auc")
    assert SearchArguments(halving).with_search().scoring == "roc_auc"
    assert SearchArguments(halving, scoring="accuracy").with_search().scoring == "accuracy"


def test_what_a_search_has_is_refused_beside_it() -> None:
    with pytest.raises(InputError, match="GridSearchCV has its own grid"):
        ho.nested_cv(GridSearchCV(KNeighborsClassifier(), NEIGHBOURS), X, Y, NEIGHBOURS)
    with pytest.raises(InputError, match="y is None"):
        ho.nested_cv(KNeighborsClassifier(), X, None, NEIGHBOURS)

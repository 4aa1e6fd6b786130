"""A fold without a score: undefined by the metric's definition, or an error of the metric or the model."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error, mean_poisson_deviance, roc_auc_score

import heldout as ho
from heldout.errors import HeldoutWarning, InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
COUNTS = RNG.poisson(np.exp(0.8 * X[:, 0])).astype(float)
RIDGES = {"alpha": [0.1, 1.0]}
TWO = {"mse": "neg_mean_squared_error", "poisson": "neg_mean_poisson_deviance"}
BOTH = [("ridge", Ridge(), RIDGES), ("mean", DummyRegressor(), {})]
FEW = {"n_bootstraps": 20, "random_state": 0}

pytestmark = [
    pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite"),
    pytest.mark.filterwarnings("ignore:Only one class is present"),
    pytest.mark.filterwarnings("ignore:The least populated class"),
    pytest.mark.filterwarnings("ignore:invalid value encountered in subtract"),  # the SD of infinite scores
]


def raises_on_large(y: Any, predicted: Any) -> float:
    if predicted.max() > 2.2:
        raise ValueError("too large")
    return float(mean_absolute_error(y, predicted))


def nan_on_large(y: Any, predicted: Any) -> float:
    return np.nan if predicted.max() > 2.2 else float(mean_absolute_error(y, predicted))


def infinite_on_large(y: Any, predicted: Any) -> float:
    return -np.inf if predicted.max() > 2.2 else float(mean_absolute_error(y, predicted))


def closed_nan(model: Any, X: Any, y: Any) -> float:
    return -nan_on_large(y, model.predict(X))


@pytest.mark.parametrize(
    ("scoring", "method", "why", "error_score"),
    [
        ("neg_mean_poisson_deviance", "shrinkage", "strictly positive y_pred", 0.0),
        (make_scorer(raises_on_large, greater_is_better=False), "shrinkage", "ValueError: too large", np.nan),
        (make_scorer(nan_on_large, greater_is_better=False), "shrinkage", "its score is NaN", 0.0),
        (make_scorer(infinite_on_large, greater_is_better=False), "shrinkage", "its score is inf", np.nan),
        (closed_nan, "tt", "its score is NaN", np.nan),
    ],
)
def test_a_score_that_fails_in_some_folds_is_no_score(
    scoring: Any, method: str, why: str, error_score: float
) -> None:
    settings = {"scoring": scoring, "method": method, "error_score": error_score, **FEW}
    with pytest.warns(HeldoutWarning, match=f"No estimate: .* has no score .*{why}"):
        none = ho.HeldOutSearchCV(Ridge(), RIDGES, **settings).fit(X, COUNTS)  # of the first, as GridSearchCV
    assert none.best_index_ == 0 and np.isnan(none.estimate_.value) and why in none.estimate_.flags["undefined"]
    with pytest.warns(UserWarning, match=f"2 of 3 configurations failed.*{why}|scores are non-finite"):
        search = ho.HeldOutSearchCV(BOTH, **settings).fit(X, COUNTS)
    assert search.best_index_ == 2 and why in search.estimate_.flags["failed_configurations"]
    assert search.cv_results_["rank_test_score"].tolist() == [2, 2, 1]


def test_the_second_of_two_metrics_may_fail_alone() -> None:
    with pytest.warns(HeldoutWarning, match=r"No estimate: ridge \(alpha=1\) has no score"):
        search = ho.HeldOutSearchCV(BOTH, scoring=TWO, refit="mse", **FEW).fit(X, COUNTS)
    assert search.best_index_ == 1 and search.predictions_.failed == {}
    estimate = search.estimates_["poisson"]
    assert np.isnan(estimate.value) and "strictly positive y_pred" in estimate.flags["undefined"]
    assert search.cv_results_["rank_test_poisson"].tolist() == [2, 2, 1]
    assert np.isfinite(search.estimate_.value)


def test_only_the_folds_of_one_class_are_left_out_and_named() -> None:
    y = np.zeros(30, dtype=int)
    y[[7, 11]] = 1
    X = RNG.normal(size=(30, 2))
    opened = make_scorer(roc_auc_score, response_method="predict_proba")
    for scoring in ("neg_log_loss", opened, own_auc(np.nan), own_auc(None)):
        search = ho.HeldOutSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=scoring, cv=5, **FEW).fit(X, y)
        sentence = search.estimate_.flags["undefined_folds"]
        assert "undefined in 3 of 5 folds (each needs a row of every class): fold 0 of repeat 0" in sentence
        assert np.isfinite(search.best_score_)


def own_auc(of_one_class: float | None) -> Any:
    """Of folds of one class it gives a number, or raises."""

    def auc(y: Any, probabilities: Any) -> float:
        if len(np.unique(y)) == 2:
            return float(roc_auc_score(y, probabilities))
        if of_one_class is None:
            raise ValueError("one class")
        return of_one_class

    return make_scorer(auc, response_method="predict_proba")


@pytest.mark.parametrize(("aggregate", "method"), [("folds", "cv"), ("pooled", "shrinkage"), ("folds", "bbc")])
def test_predictions_that_a_metric_cannot_score_are_no_candidate(aggregate: str, method: str) -> None:
    folds = np.arange(100) % 5
    good = 2 + 0.01 * RNG.normal(size=100)
    best = np.where(folds == 1, -1.0, np.clip(COUNTS, 0.1, None))
    asked = {"metric": "neg_mean_poisson_deviance", "folds": folds, "aggregate": aggregate, "method": method, **FEW}
    with pytest.warns(HeldoutWarning, match="1 of 2 configurations failed.*strictly positive y_pred"):
        estimate = ho.estimate(COUNTS, np.stack([best, good], axis=1), **asked)
    assert estimate.selected == 1
    expected = np.mean([mean_poisson_deviance(COUNTS[folds == k], good[folds == k]) for k in range(5)])
    assert estimate.uncorrected == pytest.approx(-expected, abs=1e-12)
    alone = ho.estimate(COUNTS, good[:, None], **asked)
    assert estimate.value == alone.value and estimate.interval == alone.interval
    with pytest.raises(InputError, match="strictly positive y_pred"):
        ho.estimate(COUNTS, best[:, None], **asked)


def test_nested_and_other_protocols_have_the_same_candidates() -> None:
    settings = {"scoring": "neg_mean_poisson_deviance", "cv": 3, "random_state": 0}
    with pytest.raises(InputError, match=r"all 2 configurations failed.*strictly positive y_pred"):
        ho.nested_cv(Ridge(), X, COUNTS, param_grid=RIDGES, **settings)
    for run in (partial(ho.nested_cv, interval=None), partial(ho.bootstrap_search, n_bootstraps=2)):
        with pytest.warns(HeldoutWarning, match="2 of 3 configurations failed"):
            estimate = run(BOTH, X, COUNTS, **settings)
        assert estimate.selected == 2 and "strictly positive" in estimate.flags["failed_configurations"]

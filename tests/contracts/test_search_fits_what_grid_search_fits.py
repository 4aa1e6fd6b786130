"""A search refuses nothing that ``GridSearchCV`` fits: its estimate is of fold scores, or says why not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import make_classification, make_multilabel_classification, make_regression
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    hamming_loss,
    jaccard_score,
    make_scorer,
    zero_one_loss,
)
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout import InputError

FEW = {"n_bootstraps": 50, "random_state": 0}
X, Y = make_classification(60, 4, random_state=0)
NUMBERS = make_regression(60, 4, n_targets=3, noise=20, random_state=0)
LABELS = make_multilabel_classification(60, 4, n_classes=3, random_state=0)


LOSSES = {
    "squares": "neg_mean_squared_error",
    "roots": "neg_root_mean_squared_error",
    "absolute": "neg_mean_absolute_error",
    "medians": "neg_median_absolute_error",
    "own score": None,
}
SHARES = {
    "any wrong": make_scorer(zero_one_loss, greater_is_better=False),
    "wrong labels": make_scorer(hamming_loss, greater_is_better=False),
    "jaccard": make_scorer(jaccard_score, average="samples", zero_division=0.0),
    "samples": "jaccard_samples",
    "own score": None,
}


@pytest.mark.parametrize("name", [*LOSSES, *(f"labels, {share}" for share in SHARES)])
def test_several_columns_have_an_estimate_from_their_predictions(name: str) -> None:
    is_labels = name.startswith("labels, ")
    model: Any = KNeighborsClassifier() if is_labels else KNeighborsRegressor()
    scoring = SHARES[name.removeprefix("labels, ")] if is_labels else LOSSES[name]
    rows, y = LABELS if is_labels else NUMBERS
    ours = ho.HeldOutSearchCV(model, {"n_neighbors": [3, 9, 15]}, scoring=scoring, cv=3, **FEW).fit(rows, y)
    theirs = GridSearchCV(model, {"n_neighbors": [3, 9, 15]}, scoring=scoring, cv=3).fit(rows, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12, atol=1e-12
    )
    assert ours.best_index_ == theirs.best_index_ and ours.estimate_.method == "shrinkage"
    low, high = ours.estimate_.interval
    assert low <= ours.estimate_.value <= high and low < high
    # All rows together, each row as often as it was drawn: the function itself on repeated rows.
    predicted = ours.predictions_.responses["values"][:, ours.best_index_, 0]
    assert predicted.shape == y.shape
    scorer = get_scorer("accuracy" if is_labels else "r2") if scoring is None else theirs.scorer_
    by_hand = scorer._sign * scorer._score_func(y, predicted, **scorer._kwargs)
    assert ours.evaluation_.pooled_scores["score"][ours.best_index_] == pytest.approx(by_hand, rel=1e-12)
    assert ho.estimate(ours).value == ours.estimate_.value
    assert ho.compare_estimates(ours) and ho.compare_configurations(ours)


def score(model: Any, X: Any, y: Any) -> float:
    return float((model.predict(X) == y).mean())


def test_a_method_by_name_is_refused_where_it_cannot_serve() -> None:
    with pytest.raises(InputError, match="needs held-out predictions, but the scorer 'score' cannot be opened"):
        ho.HeldOutSearchCV(LogisticRegression(), {"C": [1]}, scoring=score, method="bbc").fit(X, Y)


def test_a_target_is_required_where_the_model_requires_one() -> None:
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        ho.HeldOutSearchCV(LogisticRegression(), {"C": [1]}).fit(X)


class Untagged(BaseEstimator):
    """Neither a classifier nor a regressor."""

    def __init__(self, power: float = 1.0) -> None:
        self.power = power

    def fit(self, X: Any, y: Any) -> None:
        self.model_ = LinearRegression().fit(X**self.power, y)

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X**self.power)


def test_the_scorer_decides_what_whole_numbers_are_and_fit_may_return_nothing() -> None:
    ratings = np.round(np.abs(X[:, 0]) * 3)
    search = ho.HeldOutSearchCV(Untagged(), {"power": [1, 2]}, scoring="r2", cv=KFold(5, shuffle=True), **FEW)
    search.fit(np.abs(X), ratings)
    assert search.estimate_.method == "shrinkage" and search.predictions_.classes is None
    assert isinstance(search.best_estimator_, Untagged) and search.best_estimator_.model_.coef_.shape == (4,)


class Stranger(ClassifierMixin, BaseEstimator):
    """It predicts a label that no row has where ``power`` is high."""

    def __init__(self, limit: float = 1.0) -> None:
        self.limit = limit

    def fit(self, X: Any, y: Any) -> Stranger:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.where(X[:, 0] > self.limit, 7, (X[:, 1] > 0).astype(int))


@pytest.mark.parametrize("limits", [[0.0, 9.0], [0.0, 0.5]])
def test_a_strange_label_counts_as_wrong_and_takes_no_rows_from_others(limits: list[float]) -> None:
    theirs = GridSearchCV(Stranger(), {"limit": limits}).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = ho.HeldOutSearchCV(Stranger(), {"limit": limits}, **FEW).fit(X, Y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_index_ == theirs.best_index_
    labels = ours.predictions_.responses.get("labels")
    if 9.0 in limits:
        assert (labels[:, 0] == -1).all() and (labels[:, 1] >= 0).all()
        assert ours.estimate_.n_rows_used == len(Y) and np.isfinite(ours.estimate_.value)
    else:  # the winner's predictions cannot be resampled
        assert np.isnan(ours.estimate_.value) and "hold none that can be read" in ours.estimate_.flags["undefined"]


def test_a_response_that_fails_costs_its_own_metric_alone() -> None:
    class Half(LogisticRegression):
        def predict_proba(self, X: Any) -> Any:
            raise OSError("no probabilities")

    scoring = {"hits": "accuracy", "loss": "neg_log_loss"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(Half(), {"C": [0.01, 1]}, scoring=scoring, refit="hits").fit(X, Y)
        ours = ho.HeldOutSearchCV(Half(), {"C": [0.01, 1]}, scoring=scoring, refit="hits", **FEW).fit(X, Y)
    assert ours.best_score_ == theirs.best_score_ and np.isfinite(ours.estimate_.value)
    assert np.isnan(ours.estimates_["loss"].value) and "no probabilities" in str(ours.estimates_["loss"].flags)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning", "ignore:One or more of the test")
def test_no_score_anywhere_is_the_first_and_one_warning() -> None:
    with pytest.warns(ho.HeldoutWarning, match="no estimate: r2 needs two rows") as seen:
        search = ho.HeldOutSearchCV(Ridge(), {"alpha": [1, 10]}, scoring="r2", cv=LeaveOneOut(), **FEW)
        search.fit(X[:12], X[:12, 0])
    assert sum(issubclass(each.category, ho.HeldoutWarning) for each in seen) == 1
    assert search.best_index_ == 0 and np.isnan(search.best_score_) and np.isnan(search.estimate_.value)


class NoScore(BaseEstimator):
    def fit(self, X: Any, y: Any) -> NoScore:
        return self


@pytest.mark.parametrize(
    ("kind", "model", "grid", "settings"),
    [
        (TypeError, NoScore(), {}, {}),
        (TypeError, Ridge(), {"alpha": 1}, {}),
        (TypeError, Ridge(), {"alpha": [1]}, {"refit": lambda results: 0.5}),
        (IndexError, Ridge(), {"alpha": [1]}, {"refit": lambda results: 7}),
    ],
    ids=["score", "grid", "half", "index"],
)
def test_errors_have_the_types_of_scikit_learn(kind: Any, model: Any, grid: Any, settings: Any) -> None:
    with pytest.raises(kind):
        GridSearchCV(model, grid, **settings).fit(X, X[:, 0])
    with pytest.raises(kind) as caught:
        ho.HeldOutSearchCV(model, grid, **settings).fit(X, X[:, 0])
    assert isinstance(caught.value, InputError)


def test_a_function_is_not_called_on_made_up_data() -> None:
    targets = set()

    def hits(y: Any, predicted: Any) -> float:
        targets.add(tuple(sorted(set(np.asarray(y).tolist()))))
        assert len(y) in (12, 60) and len(predicted) == len(y)
        return float(accuracy_score(y, predicted))

    told = np.where(Y == 1, "yes", "no")
    search = ho.HeldOutSearchCV(DummyClassifier(), {"strategy": ["prior", "uniform"]}, scoring=make_scorer(hits))
    search.set_params(**FEW).fit(X, told)
    assert np.isfinite(search.estimate_.value) and targets <= {("no", "yes")}


class Unequal(RegressorMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Unequal:
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(3)


def test_predictions_of_another_length_are_the_scorer_s_affair() -> None:
    def constant(model: Any, X: Any, y: Any) -> float:
        return float(len(model.predict(X)))

    search = ho.HeldOutSearchCV(Unequal(), {}, scoring=constant, method=None).fit(X, X[:, 0])
    assert search.best_score_ == 3 and search.predictions_.responses == {}

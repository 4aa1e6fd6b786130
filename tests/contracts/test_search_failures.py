"""A configuration that fails is recorded, warned of, and never wins."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

from heldout.errors import HeldoutWarning, InputError
from heldout.execution.conclusion import FailedConfigurationsWarning
from heldout.search import HeldOutSearchCV

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, :3], Y[:60]


class Moody(ClassifierMixin, BaseEstimator):
    """A classifier by a threshold that can misbehave."""

    def __init__(self, mood: str = "well", threshold: float = 15.0) -> None:
        self.mood = mood
        self.threshold = threshold

    def fit(self, X: Any, y: Any) -> Moody:
        # The first fold's training rows lack row 0, so this fails in one fold of several.
        if self.mood == "raises" or (self.mood == "raises once" and not (X == FIRST_ROW).all(axis=1).any()):
            raise RuntimeError("in a bad mood")
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.mood == "cannot predict":
            raise OSError("no words")
        return self.classes_[np.minimum(X[:, 0] < self.threshold, len(self.classes_) - 1)]

    def predict_proba(self, X: Any) -> Any:
        p = 1 / (1 + np.exp(X[:, 0] - self.threshold))
        if self.mood == "nan":
            p[0] = np.nan
        return np.stack([1 - p, p], axis=1)


class MoodyRegressor(RegressorMixin, BaseEstimator):
    def __init__(self, mood: str = "well") -> None:
        self.mood = mood

    def fit(self, X: Any, y: Any) -> MoodyRegressor:
        if self.mood == "raises":
            raise RuntimeError("in a bad mood")
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        values = np.full(len(X), self.mean_)
        return values * np.inf if self.mood == "infinite" else values


FIRST_ROW = X[0]


def searched(moods: list[str], **settings: Any) -> HeldOutSearchCV:
    return HeldOutSearchCV(Moody(), {"mood": moods}, cv=3, n_bootstraps=20, random_state=0, **settings).fit(X, Y)


@pytest.mark.parametrize(
    ("mood", "words"),
    [
        ("raises", "RuntimeError: in a bad mood"),
        ("raises once", "RuntimeError: in a bad mood"),
        ("nan", "it predicted NaN or infinite probabilities for 1 of 20 rows"),
        ("cannot predict", "OSError: no words"),
    ],
)
def test_failure_is_named_and_never_wins(mood: str, words: str) -> None:
    scoring = "neg_brier_score" if mood == "nan" else None
    match = f"1 of 2 configurations failed.*{mood}.*{words}"
    with warnings.catch_warnings(), pytest.warns(FailedConfigurationsWarning, match=match) as seen:
        warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
        search = searched([mood, "well"], scoring=scoring)
    assert issubclass(seen[0].category, HeldoutWarning) and issubclass(seen[0].category, FitFailedWarning)
    assert search.best_params_ == {"mood": "well"}
    assert words in search.evaluation_.failures[0]
    assert "failed_configurations" in search.estimate_.flags
    np.testing.assert_array_equal(search.cv_results_["rank_test_score"], [2, 1])
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    assert np.isnan(search.evaluation_.pooled_scores["score"][0])
    assert search.estimate_.selection_frequency[0] == 0


def test_error_score_of_zero_lets_no_failure_win_a_loss() -> None:
    y = np.linspace(0, 1, 60)
    grid = {"mood": ["raises", "infinite", "well"]}
    with pytest.warns(FailedConfigurationsWarning, match="2 of 3 configurations failed"):
        ours = HeldOutSearchCV(
            MoodyRegressor(), grid, cv=3, scoring="neg_mean_squared_error", error_score=0, n_bootstraps=20
        ).fit(X, y)
    # GridSearchCV crowns the failure here: what we do otherwise on purpose.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(
            MoodyRegressor(), grid, cv=3, scoring="neg_mean_squared_error", error_score=0, refit=False
        ).fit(X, y)
    assert theirs.best_params_ == {"mood": "raises"}
    assert ours.best_params_ == {"mood": "well"}
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"][:2], [0.0, 0.0])
    np.testing.assert_array_equal(ours.cv_results_["rank_test_score"], [2, 2, 1])


def test_all_failed_is_an_error_with_their_words() -> None:
    with pytest.raises(InputError, match=r"all 2 configurations failed.*in a bad mood"):
        HeldOutSearchCV(Moody(mood="raises"), {"threshold": [1.0, 2.0]}).fit(X, Y)


def test_a_callable_refit_cannot_choose_a_failure() -> None:
    with (
        pytest.warns(FailedConfigurationsWarning),
        pytest.raises(InputError, match="chose configuration 0, which failed"),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
        searched(["raises", "well"], refit=lambda results: 0)


class Prepared(Moody):
    """Knows beforehand which classes there are."""

    def fit(self, X: Any, y: Any) -> Prepared:
        super().fit(X, y)
        self.classes_ = np.array([0, 1])
        return self


def test_a_class_missing_from_training_fails_where_its_probability_is_needed() -> None:
    y = np.repeat([0, 1, 0], [40, 12, 8])
    splits = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1)), (np.arange(20, 60), np.arange(20))]
    models = [("unprepared", Moody(), {}), ("prepared", Prepared(), {})]
    with pytest.warns(FailedConfigurationsWarning, match="unprepared: class 1 is missing from its training rows"):
        search = HeldOutSearchCV(
            models, scoring={"brier": "neg_brier_score", "accuracy": "accuracy"}, refit="brier", cv=splits
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "One or more of the test scores are non-finite")
            search.fit(X, y)
    assert search.best_params_ == {"model": "prepared"}
    # Labels need no column: by accuracy alone nobody fails.
    assert not HeldOutSearchCV(models, scoring="accuracy", cv=splits).fit(X, y).evaluation_.failures


def test_a_score_that_is_missing_is_no_number_where_errors_raise() -> None:
    def scores(model: Any, X: Any, y: Any) -> dict[str, float]:
        return {"always": 0.5} | ({"sometimes": 0.5} if model.threshold < 15 else {})

    search = HeldOutSearchCV(
        Moody(), {"threshold": [12.0, 16.0]}, scoring=scores, refit="sometimes", method=None, error_score="raise"
    )
    with pytest.warns(UserWarning, match="One or more of the test scores are non-finite"):
        search.fit(X, Y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_sometimes"], [0.5, np.nan])
    assert search.evaluation_.failures == {1: "its score is NaN"}

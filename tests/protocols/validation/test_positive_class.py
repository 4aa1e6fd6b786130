"""A validation is of its positive class throughout, and coefficients that cannot be read do not end it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import heldout as ho
from heldout.flags import Flag

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.where(X[:, 0] + RNG.logistic(size=120) > 0, "Nein", "Ja")
SETTINGS: dict[str, Any] = {"n_bootstraps": 4, "random_state": 0, "metric": ["roc_auc", "calibration_intercept"]}


@pytest.mark.parametrize("imputation", [None, 2])
def test_coefficients_and_all_else_are_of_the_positive_class(imputation: int | None) -> None:
    table = X.copy()
    if imputation:
        table[::7, 1] = np.nan
    no, yes = (
        ho.bootstrap_validate(
            LogisticRegression(C=np.inf), table, Y, pos_label=label, imputation=imputation, **SETTINGS
        )
        for label in ("Nein", "Ja")
    )
    np.testing.assert_allclose(yes.coefficients.values, -no.coefficients.values, rtol=1e-9)
    np.testing.assert_allclose(yes.coefficients.intervals(), -no.coefficients.intervals()[:, ::-1], rtol=1e-9)
    assert yes.rows["calibration_intercept"].corrected == pytest.approx(-no.rows["calibration_intercept"].corrected)
    assert yes.rows["roc_auc"].corrected == pytest.approx(no.rows["roc_auc"].corrected)
    assert {each.provenance["pos_label"] for each in yes.estimates.values()} == {"Ja"}
    assert yes.roc_curve().name == "Ja"
    assert imputation or (yes.coefficients.of == "Ja" and "log-odds of Ja" in str(yes))
    default = ho.bootstrap_validate(LogisticRegression(C=np.inf), table, Y, imputation=imputation, **SETTINGS)
    assert str(default) == str(no), "the last in sorted order"


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_model_that_chooses_its_penalty_has_coefficients_without_intervals() -> None:
    found = ho.bootstrap_validate(LogisticRegressionCV(cv=3), X, Y, **SETTINGS)
    assert found.coefficients is not None and "penalty (C=" in found.coefficients.reason


class Hidden(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Coefficients of which nobody knows the shape."""

    def fit(self, X: Any, y: Any) -> Hidden:
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    @property
    def coef_(self) -> Any:
        raise RuntimeError("they are elsewhere")

    def predict(self, X: Any) -> Any:
        return self.inner_.predict(X)

    def decision_function(self, X: Any) -> Any:
        return self.inner_.decision_function(X)


class Sampler(LogisticRegression):  # type: ignore[misc]
    """A step that has no ``transform``, as those that draw rows."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return X


class SamplingPipeline(Pipeline):  # type: ignore[misc]
    """It leaves such steps out when it predicts, and knows nothing of them when it is cut."""

    def _validate_steps(self) -> None:
        return

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        self.steps[-1][1].fit(X, y)
        return self

    def decision_function(self, X: Any, **params: Any) -> Any:
        return self.steps[-1][1].decision_function(X)

    def predict_proba(self, X: Any, **params: Any) -> Any:
        return self.steps[-1][1].predict_proba(X)


@pytest.mark.parametrize(
    "model",
    [Hidden(), SamplingPipeline([("draws", Sampler()), ("model", LogisticRegression())])],
    ids=lambda model: type(model).__name__,
)
def test_coefficients_that_cannot_be_read_are_none_with_the_reason(model: Any) -> None:
    found = ho.bootstrap_validate(model, X, Y, n_bootstraps=4, random_state=0, metric="roc_auc")
    assert found.coefficients is None and np.isfinite(found.value)
    assert Flag.NO_COEFFICIENTS in found.flags and found.flags[Flag.NO_COEFFICIENTS] in found.text(None)


@pytest.mark.parametrize(
    "wraps", [lambda stack: stack, lambda stack: GridSearchCV(stack, {"passthrough": [False]}, cv=2)]
)
def test_a_stack_has_the_responses_that_it_has_when_fitted(wraps: Any) -> None:
    stack = wraps(StackingClassifier([("one", LogisticRegression())], cv=2))
    found = ho.bootstrap_validate(stack, X, Y, n_bootstraps=2, random_state=0)
    assert {"roc_auc", "brier_score", "emax"} <= found.rows.keys()
    named = ho.bootstrap_validate(stack, X, Y, n_bootstraps=2, random_state=0, metric="log_loss")
    assert named.value == found.rows["log_loss"].corrected

"""Coefficients of the model of all rows: whose have intervals, and what is said of the others."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC

import heldout as ho
from heldout.protocols import ImputedModel
from heldout.protocols.validation.coefficients import FittedCoefficients, fitted_coefficients
from heldout.spaces import CoxRegression
from heldout.spaces.regressions import NO_PENALTY

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 2))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
TIMES = (RNG.random(60) < 0.7, RNG.exponential(np.exp(-X[:, 0])))
LOGISTIC = LogisticRegression(C=NO_PENALTY, solver="newton-cholesky")
TWICE = make_pipeline(make_column_transformer(("passthrough", [0, 0])), LinearRegression())


def fitted(model: Any, X: Any = X, y: Any = Y, sample_weight: Any = None) -> FittedCoefficients:
    settings = {} if sample_weight is None else {"sample_weight": sample_weight}
    found = fitted_coefficients(model.fit(X, y, **settings), X, y, sample_weight)
    assert isinstance(found, FittedCoefficients)
    return found


def target_of_cox() -> np.ndarray:
    y = np.empty(60, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = TIMES
    return y


@pytest.mark.parametrize(
    ("model", "y", "reason"),
    [
        (LogisticRegression(), Y, "The penalty (C=1.0) shrinks"),
        (Lasso(alpha=0.01), X[:, 0], "The penalty (alpha=0.01) shrinks"),
        (CoxRegression(alpha=2.0), target_of_cox(), "The penalty (alpha=2.0) shrinks"),
        (LogisticRegression(C=NO_PENALTY, class_weight="balanced"), Y, "With class weights"),
        (GridSearchCV(LOGISTIC, {"fit_intercept": [True]}), Y, "The model was selected"),
        (LinearSVC(C=0.1), Y, "The penalty (C=0.1)"),
        (TWICE, Y, "The columns depend"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_without_the_covariance_of_a_maximum_there_are_values_and_a_reason(model: Any, y: Any, reason: str) -> None:
    found = fitted(model, y=y)
    assert found.reason.startswith(reason)
    assert np.isfinite(found.values).all() and np.isnan(found.intervals()).all()
    assert found.likelihood_ratio is None and found.covariance is None


def test_importance_weights_give_robust_intervals_and_no_test() -> None:
    weights = RNG.uniform(0.5, 1.5, 60)
    found = fitted(LOGISTIC, sample_weight=weights)
    assert np.isfinite(found.intervals()).all() and found.likelihood_ratio is None and not found.reason
    assert fitted(CoxRegression(), y=target_of_cox(), sample_weight=weights).reason.startswith("Importance weights")


def test_models_that_are_not_one_linear_predictor_have_none() -> None:
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    assert fitted_coefficients(forest, X, Y) is None
    three = np.arange(60) % 3
    reason = "it has 3 linear predictors, one for each class or target."
    assert fitted_coefficients(LogisticRegression().fit(X, three), X, three) == reason


def test_columns_levels_and_units_are_named() -> None:
    table = pd.DataFrame({"a": X[:, 0], "site": np.array(["north", "south", "west"])[np.arange(60) % 3]})
    columns = make_column_transformer(
        (StandardScaler(), ["a"]), (OneHotEncoder(drop="first"), ["site"]), verbose_feature_names_out=False
    )
    found = fitted(make_pipeline(columns, LOGISTIC), table, np.where(Y, "well", "ill"))
    assert found.names == ("intercept", "a", "site_south", "site_west")
    assert found.references == {"site": "north"} and found.rescaled_by == ("StandardScaler",)
    assert (found.of, found.ratio) == ("well", "odds ratio")


def test_a_model_that_imputes_itself_keeps_its_pooled_coefficients() -> None:
    missing = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    model = ImputedModel(LOGISTIC, 2, random_state=0).fit(missing, Y)
    assert fitted_coefficients(model, missing, Y) is model.coefficients_


def test_ratios_have_intervals_and_penalised_coefficients_a_reason() -> None:
    found = ho.bootstrap_validate(LOGISTIC, X, Y, metric="brier_score", n_bootstraps=3, random_state=0)
    coefficients, text = found.coefficients, str(found)
    assert coefficients is not None
    low, high = np.exp(coefficients.intervals()[1])
    assert f"{np.exp(coefficients.values[1]):.4f}" in text and f"{low:.4f} to {high:.4f}" in text
    assert "log-odds of 1" in text and "interval (95%)" in text
    penalised = ho.bootstrap_validate(
        LogisticRegression(), X, Y, metric="brier_score", n_bootstraps=3, random_state=0
    )
    assert "No intervals: the penalty (C=1.0) shrinks" in str(penalised) and " to " in str(penalised)


def test_intervals_say_what_they_take_for_granted() -> None:
    table = pd.DataFrame(X).rename(columns={0: "a\nb"}).rename(columns=str)
    table.iloc[0, 1] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), PolynomialFeatures(1, include_bias=False), LOGISTIC)
    found = ho.bootstrap_validate(model, table, Y, groups=np.arange(60) // 2, n_bootstraps=5, random_state=0)
    text = found.text(None)
    for sentence in (
        "They are in the units that StandardScaler and PolynomialFeatures make,",
        "Missing values were filled in once, and the intervals take them for measured ones.",
        "The intervals take rows as independent, and are too narrow where rows of a group are alike.",
        r"a\nb  ",
    ):
        assert sentence in text
    share = 100 / table.size
    missing = f"Of the predictor values, 1 ({share:.2g}%) was missing, in 1 observation and 1 predictor."
    assert missing in found.methods_text().text
    assert not fitted(LOGISTIC).caveats

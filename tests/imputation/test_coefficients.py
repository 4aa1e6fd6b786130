"""Coefficients and their covariance, of models that have one; no other is made up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from heldout.imputation.coefficients import coefficients_of


def table(n: int = 80) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


def plain(**settings: Any) -> LogisticRegression:
    return LogisticRegression(C=np.inf, tol=1e-8, **settings)


def test_weights_give_the_sandwich_and_twice_the_weights_the_same() -> None:
    X, y = table()
    weights = np.random.default_rng(0).uniform(0.5, 2, size=80)
    for model, target in ((plain(), y), (LinearRegression(), X[:, 0] + y)):
        model.fit(X, target, sample_weight=weights)
        found = coefficients_of(model, X, target, weights)
        doubled = coefficients_of(model, X, target, 2 * weights)
        assert found is not None and doubled is not None
        np.testing.assert_allclose(found.covariance, doubled.covariance, rtol=1e-10)
        Z = np.column_stack([np.ones(80), X])
        said = Z @ found.values if target is not y else 1 / (1 + np.exp(-Z @ found.values))
        slope = np.ones(80) if target is not y else said * (1 - said)
        bread = np.linalg.inv(sum(w * s * np.outer(z, z) for w, s, z in zip(weights, slope, Z, strict=True)))
        meat = sum((w * (t - p)) ** 2 * np.outer(z, z) for w, t, p, z in zip(weights, target, said, Z, strict=True))
        np.testing.assert_allclose(found.covariance, bread @ meat @ bread, rtol=1e-8)


def test_names_are_the_columns_of_pandas_or_of_the_steps_before() -> None:
    pd = pytest.importorskip("pandas")
    X, y = table()
    frame = pd.DataFrame(X, columns=["age", "dose"])
    for model in (plain(), make_pipeline(StandardScaler(), plain()), make_pipeline(plain())):
        found = coefficients_of(model.fit(frame, y), frame, y)
        assert found is not None and found.names == ("intercept", "age", "dose")
    chosen = coefficients_of(make_pipeline(SelectKBest(k=1), plain()).fit(frame, y), frame, y)
    assert chosen is not None and chosen.names == ("intercept", "age")
    bare = coefficients_of(plain(fit_intercept=False).fit(X, y), X, y)
    assert bare is not None and bare.names == ("x0", "x1")


@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        LinearRegression(positive=True),
        LinearDiscriminantAnalysis(store_covariance=True),
        RandomForestClassifier(n_estimators=2, random_state=0),
        make_pipeline(FunctionTransformer(np.tanh), plain()),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["ridge", "positive", "lda", "forest", "nameless", "piped"],
)
def test_models_without_a_covariance_have_no_coefficients(model: Any) -> None:
    X, y = table()
    assert coefficients_of(model.fit(X, y), X, y) is None


def test_no_coefficients_where_columns_depend_on_each_other_or_rows_are_few() -> None:
    X, y = table()
    copied = np.column_stack([X, X[:, 0]])
    assert coefficients_of(LinearRegression().fit(copied, y), copied, y) is None
    assert coefficients_of(LinearRegression().fit(X[:3], y[:3]), X[:3], y[:3]) is None
    several = np.arange(80) % 3
    assert coefficients_of(plain().fit(X, several), X, several) is None


def test_cox_models_and_results_are_read_by_what_they_have() -> None:
    y = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", bool), ("time", float)])
    cox = SimpleNamespace(coef_=np.array([0.5]), covariance_=np.array([[0.04]]), feature_names_in_=["age"])
    found = coefficients_of(cox, np.zeros((3, 1)), y)
    assert found is not None
    assert (found.names, found.values.tolist(), found.n_informative) == (("age",), [0.5], 2)
    assert coefficients_of(cox, np.zeros((3, 1)), np.arange(3.0)) is None
    results = SimpleNamespace(
        params=np.array([1.0, 2.0]), cov_params=lambda: np.eye(2), model=SimpleNamespace(exog_names=["const", "a"])
    )
    found = coefficients_of(results, None, None)
    assert found is not None and found.names == ("const", "a")

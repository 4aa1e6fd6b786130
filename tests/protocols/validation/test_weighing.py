"""Weights are only used where they give the model that copies give."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.protocols.validation.plan import weighs_copies, weighted_rows

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
NUMBERS = X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=60)
CLASSES = (NUMBERS + RNG.normal(size=60) > 0).astype(int)
ROWS = np.sort(RNG.integers(0, 60, size=60))

SAME: dict[str, Any] = {
    "logistic": LogisticRegression(tol=1e-8, max_iter=1000),
    "unpenalised": LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8),
    "newton-cg": LogisticRegression(solver="newton-cg", tol=1e-8),
    "linear": LinearRegression(),
    "ridge": Ridge(2.0),
}


@pytest.mark.parametrize("name", SAME)
def test_weights_and_copies_give_the_same_model(name: str) -> None:
    model, y = SAME[name], CLASSES if isinstance(SAME[name], LogisticRegression) else NUMBERS
    assert weighs_copies(model)
    copies = model.fit(X[ROWS], y[ROWS]).coef_.copy()
    distinct, weights = weighted_rows(ROWS)
    assert len(distinct) < len(ROWS)
    np.testing.assert_allclose(model.fit(X[distinct], y[distinct], sample_weight=weights).coef_, copies, atol=1e-6)


class Logistic(LogisticRegression):
    """Could be anything."""


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(RandomForestClassifier(), id="forest"),
        pytest.param(SGDClassifier(), id="stochastic"),
        pytest.param(LogisticRegression(solver="saga"), id="saga"),
        pytest.param(LogisticRegression(class_weight="balanced"), id="balanced"),
        pytest.param(Logistic(), id="subclass"),
        pytest.param(make_pipeline(StandardScaler(), LogisticRegression()), id="pipeline"),
    ],
)
def test_others_get_copies(model: Any) -> None:
    assert not weighs_copies(model)


def test_importance_weights_multiply() -> None:
    distinct, weights = weighted_rows(np.array([1, 1, 2]), weights=np.array([9.0, 2.0, 0.5]))
    assert distinct.tolist() == [1, 2] and weights.tolist() == [4.0, 0.5]

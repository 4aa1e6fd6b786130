"""What ``check_submodels`` reports of a provider, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.spaces.submodels import registry

X = np.random.default_rng(0).normal(size=(40, 3))
Y = X[:, 0] + X[:, 1]
GRID = {"by": [1.0, 2.0, 3.0], "shift": [0.0, 1.0]}


class Multiple(RegressorMixin, BaseEstimator):
    """Predicts the first column times ``by``, plus ``shift``."""

    def __init__(self, by: float = 1.0, shift: float = 0.0) -> None:
        self.by = by
        self.shift = shift

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Multiple:
        self.mean_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0] * self.by + self.shift + self.mean_


Answer = Callable[[Multiple, float, Any], Any]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Registers a provider that answers for each value by a function."""
    monkeypatch.setattr(registry, "_REGISTERED", {})

    def registered(answer: Answer, exact: Any = "bitwise") -> None:
        class Multiples:
            def __init__(self, model: Multiple, values: Any) -> None:
                self.model, self.values = model, values

            def predict_many(self, X: Any, response: str) -> list[Any]:
                answers = [answer(self.model, value["by"], X) for value in self.values]
                return [array for array in answers if not isinstance(array, str)]

        def fit_many(estimator: Any, values: Any, X: Any, y: Any, **fit_params: Any) -> Multiples:
            assert not X.flags.writeable
            return Multiples(estimator.fit(X, y, **fit_params), values)

        ho.spaces.register_submodels(Multiple, ("by",), fit_many, exact=exact)

    yield registered


def right(model: Multiple, by: float, X: Any) -> Any:
    return X[:, 0] * by + model.shift + model.mean_


def test_a_right_provider_has_no_difference(register: Any) -> None:
    register(right)
    weights = {"sample_weight": np.arange(40.0) + 1}  # divided with the rows
    checked = ho.spaces.check_submodels(Multiple(), GRID, X, Y, cv=4, fit_params=weights)
    assert (checked.n_fits, checked.n_alone, checked.difference) == (24, 0, 0.0)


@pytest.mark.parametrize(
    ("answer", "exact", "message"),
    [
        (lambda model, by, X: right(model, by, X) * (1 + 1e-14 * (by == 2)), "bitwise", r"'by': 2.0.*allows 0\."),
        (lambda model, by, X: right(model, by, X) * (1 + 1e-9 * (by == 2)), True, r"by 1.0e-09 .*allows 1e-12\."),
        (lambda model, by, X: np.full(len(X), np.nan), True, "by nan of the largest"),
        (lambda model, by, X: right(model, by, X)[1:], True, r"float64 and shape \(13,\), and a separate fit .*14"),
        (lambda model, by, X: right(model, by, X).astype(np.float32), False, "an array of float32"),
        (lambda model, by, X: "none" if by == 2 else right(model, by, X), True, "each of 3 values, got 2"),
    ],
    ids=["last bit", "above 1e-12", "NaN", "shape", "type", "too few"],
)
def test_a_wrong_provider_is_refused(register: Any, answer: Any, exact: Any, message: str) -> None:
    register(answer, exact)
    with pytest.raises(ho.InputError, match=message) as refused:
        ho.spaces.check_submodels(Multiple(), GRID, X, Y)
    assert "\n" not in str(refused.value)


def test_a_difference_within_the_tolerance_is_reported(register: Any) -> None:
    register(lambda model, by, X: right(model, by, X) * (1 + 1e-3 * (by == 2)), False)
    checked = ho.spaces.check_submodels(Multiple(), GRID, X, Y)
    assert checked.difference == pytest.approx(1e-3)
    assert checked.params["by"] == 2.0 and checked.response == "predict"


def test_a_value_without_an_answer_is_alone(register: Any) -> None:
    register(lambda model, by, X: None if by == 2 else right(model, by, X))
    checked = ho.spaces.check_submodels(Multiple(), GRID, X, Y)
    assert (checked.n_fits, checked.n_alone) == (18, 6)


def test_labels_that_differ_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    forest, labels = RandomForestClassifier(random_state=0), Y > 0
    assert ho.spaces.check_submodels(forest, {"n_estimators": [1, 4]}, X, labels).difference == 0.0
    predict = RandomForestClassifier.predict

    def of_size(model: Any, rows: Any) -> Any:  # alone it has its own number of trees
        return predict(model, rows) ^ (model.n_estimators == 1)

    monkeypatch.setattr(RandomForestClassifier, "predict", of_size)
    with pytest.raises(ho.InputError, match=r"by predict other numbers than a separate fit, by 1.0e\+00"):
        ho.spaces.check_submodels(forest, {"n_estimators": [1, 4]}, X, labels)


def test_built_in_providers() -> None:
    ridge = ho.spaces.check_submodels(Ridge(), {"alpha": [0.1, 1.0], "fit_intercept": [True, False]}, X, Y)
    assert ridge.n_fits == 12 and 0 < ridge.difference <= 1e-12
    lasso = ho.spaces.check_submodels(Lasso(tol=1e-3), {"alpha": [0.5, 0.1, 0.02]}, X, Y)
    assert 1e-12 < lasso.difference < 1e-2
    assert ho.spaces.check_submodels(PCA(), {"n_components": [1, 2]}, X).difference == 0.0
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abc"))
    assert ho.spaces.check_submodels(SelectKBest(), {"k": [1, 2]}, table, Y > 0).n_fits == 6


@pytest.mark.parametrize(
    "estimator", [make_pipeline(StandardScaler(), Ridge()), RandomForestClassifier()], ids=["pipeline", "no seed"]
)
def test_an_estimator_without_a_provider_is_refused(estimator: Any) -> None:
    with pytest.raises(ho.InputError, match="has no provider of submodels; give the model") as refused:
        ho.spaces.check_submodels(estimator, {}, X, Y)
    assert refused.value.argument == "estimator"

"""A stored run is resumed only by the code that started it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from heldout.configurations import make_configurations
from heldout.errors import StoreError
from heldout.execution.identity import _sources_of_providers
from heldout.execution.sharing.groups import sharing_of
from heldout.search import HeldOutSearchCV
from heldout.spaces import register_submodels
from heldout.spaces.submodels import registry

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] + 1.0


class Shift(RegressorMixin, BaseEstimator):
    """Predicts one number."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any) -> Shift:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.shift)


class Shifts:
    def __init__(self, values: Sequence[Mapping[str, Any]]) -> None:
        self.values = values

    def predict_many(self, X: Any, response: str) -> list[Any]:
        return [np.full(len(X), value["shift"]) for value in self.values]


def fit_shifts(estimator: Any, values: Any, X: Any, y: Any) -> Shifts:
    return Shifts(values)


def fit_shifts_again(estimator: Any, values: Any, X: Any, y: Any) -> Shifts:
    return Shifts(list(values))


def fit_within(limit: float) -> Callable[..., Shifts]:
    def fit(estimator: Any, values: Any, X: Any, y: Any) -> Shifts:
        return Shifts([{"shift": min(value["shift"], limit)} for value in values])

    return fit


def recursive() -> Callable[..., float]:
    def score(model: Any, X: Any, y: Any, depth: int = 1) -> float:
        return score(model, X, y, depth - 1) if depth else 0.0

    return score


@pytest.fixture(autouse=True)
def no_other_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})


def search(path: Path, fit_many: Any = fit_shifts, **settings: Any) -> HeldOutSearchCV:
    register_submodels(Shift, ("shift",), fit_many, exact="bitwise")
    chosen = {"scoring": "neg_mean_squared_error", "cv": 2, "n_bootstraps": 5, "random_state": 0} | settings
    return HeldOutSearchCV(Shift(), {"shift": [0.0, 1.0]}, store=path, **chosen).fit(X, Y)


@pytest.mark.parametrize(("first", "second"), [(fit_shifts, fit_shifts_again), (fit_within(1.0), fit_within(2.0))])
def test_a_run_is_not_resumed_with_another_provider(tmp_path: Path, first: Any, second: Any) -> None:
    search(tmp_path / "run.db", first)
    with pytest.raises(StoreError, match=r"source of the submodels of .*Shift"):
        search(tmp_path / "run.db", second)


def test_a_run_is_resumed_with_the_same_provider(tmp_path: Path) -> None:
    first, again = (search(tmp_path / "run.db", fit_within(1.0)) for _ in range(2))
    assert first.n_fits_shared_ == again.n_fits_shared_ == 4
    assert again.cv_results_["mean_test_score"].tolist() == first.cv_results_["mean_test_score"].tolist()


def test_only_the_source_of_registered_providers_is_part_of_the_identity() -> None:
    def found(regressor: Any, name: str) -> list[str]:
        estimator = TransformedTargetRegressor(regressor, transformer=StandardScaler())
        configurations = make_configurations(estimator, {f"regressor__{name}": [1.0, 2.0]})
        return list(_sources_of_providers(sharing_of(configurations, lambda each: each.fresh(), "exact", {})))

    register_submodels(Shift, ("shift",), fit_shifts, exact="bitwise")
    assert found(Ridge(), "alpha") == []
    assert len(found(Shift(), "shift")) == 1


def typed_in(source: str) -> Any:
    """What a prompt without files defines: its source cannot be read."""
    names: dict[str, Any] = {"__name__": "__main__", "Shift": Shift, "Shifts": Shifts}
    exec(source, names)
    return names["own"]


def test_a_provider_without_source_is_refused_with_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be stored.*the source of __main__\.own cannot be found"):
        search(tmp_path / "run.db", typed_in("def own(estimator, values, X, y): return Shifts(values)"))


def test_an_estimator_without_source_is_refused_with_a_store(tmp_path: Path) -> None:
    estimator = typed_in("class own(Shift): pass")()
    with pytest.raises(StoreError, match=r"cannot be stored.*the source of __main__\.own cannot be found"):
        HeldOutSearchCV(estimator, {"shift": [0.0, 1.0]}, scoring="r2", store=tmp_path / "run.db").fit(X, Y)


def test_a_scorer_that_contains_itself_is_refused_with_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be stored.*contains itself"):
        search(tmp_path / "run.db", scoring=recursive(), method=None)

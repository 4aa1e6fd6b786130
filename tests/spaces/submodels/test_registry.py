"""Providers that users register."""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.errors import InputError
from heldout.spaces.submodels import family_of, registry
from heldout.spaces.submodels.registry import register_submodels


class Constants:
    """Submodels that predict their constants."""

    def __init__(self, values: Sequence[Mapping[str, Any]]) -> None:
        self.values = values

    def predict_many(self, X: Any, response: str) -> list[Any]:
        return [np.full(len(X), value["constant"]) for value in self.values]


def fit_constants(estimator: Any, values: Any, X: Any, y: Any, **fit_params: Any) -> Constants:
    return Constants(values)


class OtherRidge(Ridge):
    """A subclass, which no provider serves."""


@pytest.fixture(autouse=True)
def no_other_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})


def test_a_registered_provider_serves_its_exact_type() -> None:
    assert family_of(DummyRegressor()) is None
    ho.spaces.register_submodels(DummyRegressor, ("constant",), fit_constants, exact="bitwise", version=2)
    family = family_of(DummyRegressor())
    assert family is not None
    assert family.name == "sklearn.dummy.DummyRegressor(constant) v2"
    many: Any = family.fit_many(DummyRegressor(), [{"constant": 3.0}], None, None)
    assert many.predict_many(np.zeros((2, 1)), "predict")[0].tolist() == [3.0, 3.0]
    assert pickle.loads(pickle.dumps(family)).fit_many is fit_constants
    assert family_of(OtherRidge()) is None


def test_the_last_registered_provider_comes_first() -> None:
    register_submodels(Ridge, ["alpha"], fit_constants)  # type: ignore[arg-type]
    assert family_of(Ridge()).fit_many is fit_constants  # type: ignore[union-attr]
    register_submodels(Ridge, ("alpha",), fit_constants, applies=lambda ridge: False, exact=False)
    assert family_of(Ridge()).fit_many is not fit_constants  # type: ignore[union-attr]


def test_a_judgement_that_fails_means_no_sharing() -> None:
    register_submodels(DummyRegressor, ("constant",), fit_constants, applies=lambda dummy: dummy.nothing)
    assert family_of(DummyRegressor()) is None


def test_providers_to_a_tolerance_serve_only_where_that_is_allowed() -> None:
    register_submodels(DummyRegressor, ("constant",), fit_constants, exact=False)
    assert family_of(DummyRegressor()) is None
    assert family_of(DummyRegressor(), "tolerance") is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"type": Ridge()}, "class of an estimator"),
        ({"parameters": "alpha"}, "tuple of names"),
        ({"parameters": ()}, "tuple of names"),
        ({"fit_many": 3}, "callable"),
        ({"applies": "always"}, "callable or None"),
        ({"exact": "nearly"}, "'bitwise', True or False"),
        ({"cost": "double"}, "'proportional', 'equal' or None"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    right = {"type": Ridge, "parameters": ("alpha",), "fit_many": fit_constants}
    with pytest.raises(InputError, match=message):
        register_submodels(**{**right, **arguments})

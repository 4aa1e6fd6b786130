"""Work is shared only where parameters are the same in every respect."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from heldout.configurations import NotHashableError, is_cloned
from heldout.execution.sharing.steps import form_of


def in_a_notebook(source: str) -> Any:
    """A function whose source cannot be read."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(source, names)
    return names["f"]


def two_classes() -> list[Any]:
    def make(shift: float) -> Any:
        class Own(TransformerMixin, BaseEstimator):
            def fit(self, X: Any, y: Any = None) -> Own:
                return self

            def transform(self, X: Any) -> Any:
                return X + shift

        return Own()

    return [make(0.0), make(1.0)]


def clipped(limit: float) -> Any:
    return lambda X, *, limit=limit: np.clip(X, -limit, limit)


DIFFERENT = {
    "a list and a tuple": [MinMaxScaler(feature_range=(0, 1)), MinMaxScaler(feature_range=[0, 1])],
    "keyword defaults": [clipped(0.1), clipped(5.0)],
    "ufuncs": [np.log, np.log1p],
    "classes of one name": two_classes(),
    "containers of the output": [StandardScaler(), StandardScaler().set_output(transform="pandas")],
    "arrays in another order": [np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))],
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_what_may_give_other_numbers_has_another_form(pair: list[Any]) -> None:
    assert form_of(pair[0]) != form_of(pair[1])


def scaled(X: Any, factor: float = 1.0) -> Any:
    return X * factor


@pytest.mark.parametrize(
    "make",
    [
        lambda: FunctionTransformer(scaled, kw_args={"factor": 2.0}),
        lambda: FunctionTransformer(functools.partial(scaled, factor=2.0)),
        lambda: FunctionTransformer(np.log1p),
        lambda: StandardScaler().set_output(transform="pandas"),
        lambda: [1, "a", None, np.float64(0.5), {"key": (1, 2)}],
    ],
)
def test_copies_have_the_same_form(make: Any) -> None:
    assert form_of(make()) == form_of(make())


class Slots:
    __slots__ = ("limit",)

    def __init__(self, limit: float) -> None:
        self.limit = limit


class Clipping(Slots):
    def __call__(self, X: Any) -> Any:
        return np.clip(X, -self.limit, self.limit)


class Partial(functools.partial):  # type: ignore[type-arg]
    """May hold anything."""


@pytest.mark.parametrize(
    "value",
    [
        FrozenEstimator(StandardScaler()),
        Clipping(0.1),
        Partial(abs),
        np.random.RandomState(0),
        in_a_notebook("def f(X): return X"),
        np.frompyfunc(in_a_notebook("def f(X): return X"), 1, 1),
    ],
)
def test_what_cannot_be_compared_is_refused(value: Any) -> None:
    with pytest.raises(NotHashableError):
        form_of(FunctionTransformer(value))


def test_a_frozen_estimator_is_not_cloned() -> None:
    assert is_cloned(StandardScaler()) and is_cloned(object()) and not is_cloned(FrozenEstimator(StandardScaler()))

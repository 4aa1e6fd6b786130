"""Pieces that several providers use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from heldout.spaces.submodels.base import SeparateFitsError, Value

_TIE = 1e-10
"""Classes whose decisions differ by less, relative to the largest, are equal to rounding."""


def weights_only(fit_params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of ``fit`` where they are no others than the weights of rows."""
    given = {name: value for name, value in fit_params.items() if value is not None}
    if set(given) - {"sample_weight"}:
        raise SeparateFitsError(f"fit receives more than weights: {sorted(given)}")
    return given


def without_weights(fit_params: Mapping[str, Any]) -> None:
    """Refuse fits with parameters."""
    if any(value is not None for value in fit_params.values()):
        raise SeparateFitsError(f"fit receives parameters: {sorted(fit_params)}")


def counts(values: Sequence[Value], name: str) -> list[int | None]:
    """The values of a parameter that counts something, None where a value is no positive integer."""
    return [count(value[name]) for value in values]


def count(value: Any) -> int | None:
    """The value as a positive integer, or None."""
    return int(value) if isinstance(value, int | np.integer) and type(value) is not bool and value >= 1 else None


def largest(sizes: Iterable[int | None]) -> int:
    """The largest size that can be shared."""
    return max(_usable(sizes))


def smallest(sizes: Iterable[int | None]) -> int:
    """The smallest size that can be shared."""
    return min(_usable(sizes))


def _usable(sizes: Iterable[int | None]) -> list[int]:
    usable = [size for size in sizes if size is not None]
    if not usable:
        raise SeparateFitsError("no value can be shared")
    return usable


def is_seeded(estimator: Any) -> bool:
    """Whether two fits draw the same numbers."""
    return estimator.random_state is not None


def fitted_copy(estimator: Any, parameters: Value, X: Any, y: Any, fit_params: Mapping[str, Any]) -> Any:
    """A clone with other parameters, fitted; it leaves X as it is."""
    copying = {name: True for name in ("copy_X", "copy") if name in estimator.get_params(deep=False)}
    return clone(estimator).set_params(**parameters, **copying).fit(X, y, **fit_params)


def view_of(model: Any, **attributes: Any) -> Any:
    """A fitted model that shares everything with another one, except these attributes."""
    view = object.__new__(type(model))
    view.__dict__.update(model.__dict__, **attributes)
    return view


def is_clear(decision: NDArray[np.float64]) -> bool:
    """Whether no row (rows[, classes]) is between two classes, where its label would depend on rounding."""
    margins = np.abs(decision) if decision.ndim == 1 else np.diff(np.sort(decision, axis=1)[:, -2:])
    return bool(margins.min() > _TIE * (1.0 + np.abs(decision).max()))


class Answer:
    """A function that returns a copy of one array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __call__(self, X: Any) -> Any:
        return self.array.copy(order="K")


class Views:
    """Submodels of which each is a view of one fitted model, made for the rows that are predicted.

    Parameters
    ----------
    model : estimator
        Fitted with the largest size.
    sizes : sequence of int or None
        One a configuration.
    make_views : callable
        ``make_views(model, X, sizes)`` to a mapping from each size to a view: a fitted model that answers for
        these X only.
    """

    def __init__(
        self,
        model: Any,
        sizes: Sequence[int | None],
        make_views: Callable[[Any, Any, list[int]], Mapping[int, Any]],
    ) -> None:
        self.model = model
        self.sizes = sizes
        self.make_views = make_views
        self._views: Mapping[int, Any] = {}
        self._rows: Any = None

    def predict_many(self, X: Any, response: str) -> list[NDArray[Any] | None]:
        if self._rows is not X:
            distinct = sorted({size for size in self.sizes if size is not None})
            self._views, self._rows = self.make_views(self.model, X, distinct), X
        return [None if size is None else getattr(self._views[size], response)(X) for size in self.sizes]

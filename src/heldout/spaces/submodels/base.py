"""What a provider of submodels is: one fit whose predictions contain those of many configurations."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from sklearn.base import clone

from heldout._types import Array, Floats

Exactness = Literal["bitwise"] | bool
Cost = Literal["proportional", "equal"] | None
Value = Mapping[str, Any]
"""Parameter → value, of one configuration of a group."""


class SeparateFitsError(Exception):
    """The configurations of a group must be fitted one by one: a provider does not serve these data.

    Any other exception of a provider has the same effect; this one says that nothing went wrong.
    """


class Submodels(Protocol):
    """What one fit gives for all values of a group. An entry is None where that value must be fitted alone."""

    def predict_many(self, X: Any, response: str) -> Sequence[Array | None]:
        """For each value the array that the model fitted alone would return from its method ``response``."""


class Subtransformers(Protocol):
    """The same for transformers."""

    def fit_transform_many(self) -> Sequence[tuple[Any, Any] | None]:
        """For each value the output of ``fit_transform(X, y)``, and the fitted transformer."""


FitMany = Callable[..., Submodels | Subtransformers]
"""``fit_many(estimator, values, X, y, **fit_params)``."""


class OfEstimator:
    """What serves estimators of one class; its subclasses are dataclasses with these fields."""

    type: type
    parameters: tuple[str, ...]
    applies: Callable[[Any], bool] | None
    version: int
    what: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """The class, its parameters and the version: one line that identifies the provider."""
        kind = f"{self.type.__module__}.{self.type.__qualname__}"
        return f"{kind}({', '.join(self.parameters)}){self.what} v{self.version}"

    def admits(self, estimator: Any) -> bool:
        """Whether the estimator, with its parameters, is served. Unusual parameters never raise."""
        if type(estimator) is not self.type:
            return False
        try:
            return self.applies is None or bool(self.applies(estimator))
        except Exception:
            return False


@dataclass(frozen=True, eq=False)
class SubmodelFamily(OfEstimator):
    """The configurations of one estimator that one fit can serve.

    Attributes
    ----------
    type : type
        The exact class of the estimator.
    parameters : tuple of str
        The parameters that may differ within a group.
    fit_many : callable
        ``fit_many(estimator, values, X, y, **fit_params)`` to `Submodels` or `Subtransformers`.
    applies : callable or None
        Of an unfitted estimator with all its parameters set; None means always.
    exact : {"bitwise", True, False}
        Predictions equal those of separate fits to the last bit, to 1e-12 of the largest prediction, or to a
        tolerance only.
    version : int
        Enters the identity of a run.
    cost : {"proportional", "equal", None}
        How long a separate fit takes: in proportion to its value, the largest as long as ``fit_many``; or each as
        long as ``fit_many``; None if neither is true. Only the seconds saved are computed from it.
    """

    type: type
    parameters: tuple[str, ...]
    fit_many: FitMany
    applies: Callable[[Any], bool] | None = None
    exact: Exactness = True
    version: int = 1
    cost: Cost = None

    def costs(self, values: Sequence[Value]) -> list[float | None]:
        """The time of a separate fit of each value, as a part of the time of ``fit_many``; None if unknown."""
        if self.cost != "proportional":
            return [1.0 if self.cost == "equal" else None] * len(values)
        sizes = [_size(value) for value in values]
        largest = max((size for size in sizes if size), default=1.0)
        return [None if size is None else size / largest for size in sizes]


def _size(value: Value) -> float | None:
    """The one number among the parameters: they may be names of the same one."""
    numbers = [float(each) for each in value.values() if isinstance(each, int | float | np.number)]
    return numbers[0] if len(numbers) == 1 and 0 < numbers[0] < math.inf else None


class LeftOut(Protocol):
    """The predictions of leave-one-out without the fits."""

    def __call__(
        self, estimator: Any, values: Sequence[Value], X: Any, y: Any, response: str, **fit_params: Any
    ) -> Sequence[Array | None]: ...


@dataclass(frozen=True, eq=False)
class ClosedForm(OfEstimator):
    """A formula for the predictions of leave-one-out of an estimator.

    Attributes
    ----------
    parameters : tuple of str
        The parameters that may differ within a group.
    predict_left_out : callable
        ``predict_left_out(estimator, values, X, y, response, **fit_params)`` to one array of N rows a value: row i
        is predicted by the model fitted on all other rows. None where a value must be fitted.
    applies : callable or None
    version : int
    """

    type: type
    parameters: tuple[str, ...]
    predict_left_out: LeftOut
    applies: Callable[[Any], bool] | None = None
    version: int = 1

    what = " left out"


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


def is_clear(decision: Floats) -> bool:
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

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        if self._rows is not X:
            distinct = sorted({size for size in self.sizes if size is not None})
            self._views, self._rows = self.make_views(self.model, X, distinct), X
        return [None if size is None else getattr(self._views[size], response)(X) for size in self.sizes]

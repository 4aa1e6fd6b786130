"""What a provider of submodels is: one fit whose predictions contain those of many configurations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

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

    def predict_many(self, X: Any, response: str) -> Sequence[NDArray[Any] | None]:
        """For each value the array that the model fitted alone would return from its method ``response``."""


class Subtransformers(Protocol):
    """The same for transformers."""

    def fit_transform_many(self) -> Sequence[tuple[Any, Any] | None]:
        """For each value the output of ``fit_transform(X, y)``, and the fitted transformer."""


FitMany = Callable[..., Submodels | Subtransformers]
"""``fit_many(estimator, values, X, y, **fit_params)``."""


@dataclass(frozen=True, eq=False)
class SubmodelFamily:
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

    @property
    def name(self) -> str:
        """The class, its parameters and the version: one line that identifies the provider."""
        kind = f"{self.type.__module__}.{self.type.__qualname__}"
        return f"{kind}({', '.join(self.parameters)}) v{self.version}"

    def costs(self, values: Sequence[Value]) -> list[float | None]:
        """The time of a separate fit of each value, as a part of the time of ``fit_many``; None if unknown."""
        if self.cost != "proportional":
            return [1.0 if self.cost == "equal" else None] * len(values)
        sizes = [_size(value) for value in values]
        largest = max((size for size in sizes if size), default=1.0)
        return [None if size is None else size / largest for size in sizes]

    def admits(self, estimator: Any) -> bool:
        """Whether the estimator, with its parameters, may join a group. Unusual parameters never raise."""
        if type(estimator) is not self.type:
            return False
        try:
            return self.applies is None or bool(self.applies(estimator))
        except Exception:
            return False


def _size(value: Value) -> float | None:
    """The one number among the parameters: they may be names of the same one."""
    numbers = [float(each) for each in value.values() if isinstance(each, int | float | np.number)]
    return numbers[0] if len(numbers) == 1 and 0 < numbers[0] < math.inf else None


class LeftOut(Protocol):
    """The predictions of leave-one-out without the fits."""

    def __call__(
        self, estimator: Any, values: Sequence[Value], X: Any, y: Any, response: str, **fit_params: Any
    ) -> Sequence[NDArray[Any] | None]: ...


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """A formula for the predictions of leave-one-out of an estimator.

    Attributes
    ----------
    parameters : tuple of str
        The parameters that may differ within a group.
    predict_left_out : callable
        ``predict_left_out(estimator, values, X, y, response, **fit_params)`` to one array of N rows a value: row i
        is predicted by the model fitted on all other rows. None where a value must be fitted.
    cheaper : callable
        ``cheaper(n_rows, n_features, n_splits)``: whether the formula costs less than the fits.
    applies : callable or None
    version : int
    """

    type: type
    parameters: tuple[str, ...]
    predict_left_out: LeftOut
    cheaper: Callable[[int, int, int], bool]
    applies: Callable[[Any], bool] | None = None
    version: int = 1

    @property
    def name(self) -> str:
        """The class, its parameters and the version: one line that identifies the formula."""
        kind = f"{self.type.__module__}.{self.type.__qualname__}"
        return f"{kind}({', '.join(self.parameters)}) left out v{self.version}"

    admits = SubmodelFamily.admits

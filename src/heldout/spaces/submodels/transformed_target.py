"""Regressions of a transformed target: the submodels of the regressor, transformed back by scikit-learn itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from heldout.spaces.submodels.base import FitMany, SeparateFitsError, SubmodelFamily, Submodels, Value

_PREFIX = "regressor__"


def family_of_target(
    estimator: Any, family_of: Callable[[Any], SubmodelFamily | None], *, tolerance: bool
) -> SubmodelFamily | None:
    """The family of the regressor, with the names that its parameters have here.

    What is exact to rounding stays so behind an affine transformer; another one may make differences larger.
    """
    if estimator.regressor is None:
        return None
    family = family_of(estimator.regressor)
    if family is None or not (tolerance or family.exact == "bitwise" or _is_affine(estimator)):
        return None
    return replace(
        family,
        type=type(estimator),
        parameters=tuple(_PREFIX + name for name in family.parameters),
        fit_many=partial(fit_target, family.fit_many),
        applies=None,
    )


def _is_affine(estimator: Any) -> bool:
    kind = type(estimator.transformer)
    return kind.__module__.startswith("sklearn.") and kind.__name__ in ("StandardScaler", "MinMaxScaler")


def fit_target(
    fit_many: FitMany, estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any
) -> TransformedBack:
    """The submodels of the regressor, fitted on the transformed target."""
    model = clone(estimator).set_params(regressor=StandIn(estimator.regressor)).fit(X, y, **fit_params)
    received = model.regressor_
    if received.y.ndim != 1:
        raise SeparateFitsError("several outputs")
    own = [{name.removeprefix(_PREFIX): each for name, each in value.items()} for value in values]
    submodels: Any = fit_many(clone(estimator.regressor), own, received.X, received.y, **received.fit_params)
    return TransformedBack(model, submodels)


class TransformedBack:
    """Submodels of a transformed target.

    Parameters
    ----------
    model : TransformedTargetRegressor
        Fitted with a `StandIn`.
    submodels : Submodels
        Of the regressor.
    """

    def __init__(self, model: Any, submodels: Submodels) -> None:
        self.model = model
        self.submodels = submodels

    def predict_many(self, X: Any, response: str) -> list[NDArray[Any] | None]:
        return [None if each is None else self._back(each, X) for each in self.submodels.predict_many(X, response)]

    def _back(self, predictions: Any, X: Any) -> Any:
        self.model.regressor_.predictions = predictions
        return self.model.predict(X)


class StandIn(BaseEstimator):  # type: ignore[misc]
    """Takes the place of a regressor: it keeps what ``fit`` receives, and predicts what it is given."""

    predictions: Any = None

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Any, y: Any, **fit_params: Any) -> StandIn:
        """Keep the training rows and their transformed target."""
        self.X, self.y, self.fit_params = X, y, fit_params
        return self

    def predict(self, X: Any) -> Any:
        """The given predictions."""
        return self.predictions

    def get_metadata_routing(self) -> Any:
        """That of the regressor."""
        return self.regressor.get_metadata_routing()

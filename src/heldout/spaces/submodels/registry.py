"""Which provider serves an estimator: users' own ones first, then the built-in ones.

A built-in provider is found by the name of the estimator's package and class, so that nothing is imported before an
estimator is there: neither scikit-learn's modules nor optional packages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, Literal

from sklearn.base import BaseEstimator, clone

from heldout import _defaults
from heldout._text import is_one_of
from heldout._types import Array
from heldout.errors import InputError
from heldout.spaces.submodels import base

_PREFIX = "regressor__"


def family_of_target(
    estimator: Any, family_of: Callable[[Any], base.SubmodelFamily | None], *, tolerance: bool
) -> base.SubmodelFamily | None:
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
    fit_many: base.FitMany, estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any
) -> TransformedBack:
    """The submodels of the regressor, fitted on the transformed target."""
    model = clone(estimator).set_params(regressor=StandIn(estimator.regressor)).fit(X, y, **fit_params)
    received = model.regressor_
    if received.y.ndim != 1:
        raise base.SeparateFitsError("several outputs")
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

    def __init__(self, model: Any, submodels: base.Submodels) -> None:
        self.model = model
        self.submodels = submodels

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
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


def _of_both(*names: str) -> str:
    """A classifier and a regressor of each name."""
    return " ".join(f"{name}Classifier {name}Regressor" for name in names)


_FAMILIES: Mapping[str, str] = {
    "boosting.HISTOGRAM": _of_both("sklearn.HistGradientBoosting"),
    "boosting.ROUNDS": _of_both("sklearn.GradientBoosting"),
    "boosting.ADABOOST": _of_both("sklearn.AdaBoost"),
    "boosting.XGBOOST": f"{_of_both('xgboost.XGB')} heldout.LabelledXGBClassifier",
    "boosting.LIGHTGBM": _of_both("lightgbm.LGBM"),
    "boosting.CATBOOST": _of_both("catboost.CatBoost"),
    "forests.FOREST": _of_both("sklearn.RandomForest", "sklearn.ExtraTrees"),
    "forests.BAGGING": _of_both("sklearn.Bagging"),
    "ridge.RIDGE": "sklearn.Ridge sklearn.RidgeClassifier",
    "ridge.KERNEL_RIDGE": "sklearn.KernelRidge",
    "transformers.K_BEST": "sklearn.SelectKBest",
    "transformers.PERCENTILE": "sklearn.SelectPercentile",
    "transformers.ELIMINATION": "sklearn.RFE",
    "transformers.COMPONENTS": "sklearn.PCA",
    "logistic.LOGISTIC": "sklearn.LogisticRegression",
    "lasso.LASSO": "sklearn.Lasso",
    "lasso.ELASTIC_NET": "sklearn.ElasticNet",
    "svm.SVC": "sklearn.SVC",
    "svm.NU_SVC": "sklearn.NuSVC",
    "svm.SVR": "sklearn.SVR",
    "svm.NU_SVR": "sklearn.NuSVR",
    "forests.PRUNING": _of_both("sklearn.DecisionTree", "sklearn.ExtraTree"),
    "partial_least_squares.PLS": "sklearn.PLSRegression",
    "neighbours.NEIGHBOURS": _of_both("sklearn.KNeighbors"),
}
"""Providers by their modules and names, each with the classes that it serves."""
_CLOSED_FORMS: Mapping[str, str] = {
    "left_out.RIDGE": "sklearn.Ridge sklearn.RidgeClassifier",
    "left_out.DISCRIMINANT": "sklearn.LinearDiscriminantAnalysis",
    "left_out.KERNEL_RIDGE": "sklearn.KernelRidge",
    "left_out.PROCESS": "sklearn.GaussianProcessRegressor",
    "left_out.NEIGHBOURS": _of_both("sklearn.KNeighbors"),
}
_REGISTERED: dict[type, tuple[base.SubmodelFamily, ...]] = {}


def register_submodels(
    type: type,
    parameters: tuple[str, ...],
    fit_many: base.FitMany,
    *,
    applies: Callable[[Any], bool] | None = None,
    exact: base.Exactness = True,
    version: int = 1,
    cost: base.Cost = None,
) -> None:
    """Register a provider of submodels: a function whose one fit serves many configurations of an estimator.

    A search then fits configurations that differ only in ``parameters`` together. If the provider raises, they are
    fitted separately. The functions are sent to other processes, so define them in a module.

    Parameters
    ----------
    type : type
        The exact class of the estimator; subclasses are not included.
    parameters : tuple of str
        The parameters that may differ within a group, for instance ``("max_iter",)``.
    fit_many : callable
        ``fit_many(estimator, values, X, y, **fit_params)``. ``estimator`` is an unfitted copy with all other
        parameters set; ``values`` has one dict per configuration, in any order. X and y are the training rows and
        may be read-only. The returned object has ``predict_many(X, response)``: for each value the array that the
        separately fitted model's method ``response`` would return, or None if that value must be fitted alone. For
        a transformer it has ``fit_transform_many()`` instead: for each value the transformed training rows and the
        fitted transformer, or None.
    applies : callable, optional
        ``applies(estimator)`` returns whether the provider can serve an unfitted estimator with all its parameters
        set.
    exact : {"bitwise", True, False}, default=True
        "bitwise": predictions equal those of separate fits to the last bit, and do not depend on the other values
        of the group. True: the largest difference is at most 1e-12 times the largest prediction. False: only to the
        solver's tolerance; used with ``share="tolerance"``.
    version : int, default=1
        Increase it when predictions change, so that stored runs do not mix old and new ones. A stored run also
        recognises changes to the source of ``fit_many`` and ``applies``, but not to functions that they call.
    cost : {"proportional", "equal", None}, default=None
        How long a separate fit takes, to estimate the seconds saved. "proportional": in proportion to the value of
        the only parameter, the largest as long as ``fit_many``. "equal": as long as ``fit_many``. None: unknown, so
        the seconds are not estimated.

    Raises
    ------
    InputError
        When an argument is not allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> class Constant(DummyRegressor):
    ...     "Your own estimator."
    >>> class Constants:
    ...     def __init__(self, values):
    ...         self.values = values
    ...     def predict_many(self, X, response):
    ...         return [np.full(len(X), value["constant"]) for value in self.values]
    >>> def fit_many(estimator, values, X, y):
    ...     return Constants(values)
    >>> register_submodels(Constant, ("constant",), fit_many, applies=lambda model: model.strategy == "constant")
    >>> family_of(Constant(strategy="constant")).parameters
    ('constant',)
    >>> family_of(Constant(strategy="mean")) is None
    True
    """
    _check(type, parameters, fit_many, applies, exact, cost)
    family = base.SubmodelFamily(type, tuple(parameters), fit_many, applies, exact, int(version), cost)
    others = (other for other in _REGISTERED.get(type, ()) if set(other.parameters) != set(parameters))
    _REGISTERED[type] = (family, *others)


def _check(
    kind: object, parameters: object, fit_many: object, applies: object, exact: object, cost: object
) -> None:
    if not isinstance(kind, type):
        raise InputError(f"type must be the class of an estimator, got {kind!r}.")
    if (
        not isinstance(parameters, tuple | list)
        or not parameters
        or not all(isinstance(p, str) for p in parameters)
    ):
        raise InputError(f"parameters must be a tuple of names such as ('max_iter',), got {parameters!r}.")
    if not callable(fit_many):
        raise InputError(f"fit_many must be callable, got {fit_many!r}.")
    if applies is not None and not callable(applies):
        raise InputError(f"applies must be callable or None, got {applies!r}.")
    if not is_one_of(exact, ("bitwise", True, False)):
        raise InputError(f"exact must be 'bitwise', True or False, got {exact!r}.")
    if not is_one_of(cost, ("proportional", "equal", None)):
        raise InputError(f"cost must be 'proportional', 'equal' or None, got {cost!r}.")


def family_of(estimator: Any, share: Literal["exact", "tolerance"] = _defaults.SHARE) -> base.SubmodelFamily | None:
    """The provider that serves an unfitted estimator with its present parameters, or None."""
    if _short_name(type(estimator)) == "sklearn.TransformedTargetRegressor" and type(estimator) not in _REGISTERED:
        of_regressor = partial(family_of, share=share)
        return family_of_target(estimator, of_regressor, tolerance=share == "tolerance")
    built_in: Iterator[base.SubmodelFamily] = _built_in(type(estimator), _FAMILIES)
    families = (*_REGISTERED.get(type(estimator), ()), *built_in)
    return next(
        (family for family in families if (share == "tolerance" or family.exact) and family.admits(estimator)), None
    )


def closed_form_of(estimator: Any) -> base.ClosedForm | None:
    """The formula for leave-one-out of an unfitted estimator with its present parameters, or None."""
    forms: Iterator[base.ClosedForm] = _built_in(type(estimator), _CLOSED_FORMS)
    return next((form for form in forms if form.admits(estimator)), None)


def _built_in(kind: type, places: Mapping[str, str]) -> Iterator[Any]:
    name = _short_name(kind)
    for place, classes in places.items():
        if name in classes.split():
            module, _, provider = place.partition(".")
            yield replace(getattr(import_module(f"heldout.spaces.submodels.{module}"), provider), type=kind)


def _short_name(kind: type) -> str:
    """The package and the class, for instance ``sklearn.Ridge``: the modules between them differ by version."""
    return f"{kind.__module__.split('.')[0]}.{kind.__qualname__}"

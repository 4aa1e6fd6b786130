"""Compare the fits that a provider shares with separate ones, for authors of providers.

A search takes separate fits wherever a provider raises or returns too little, without a message. Here an error of
the provider is raised, and each configuration is fitted alone too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid, check_cv

from heldout._sklearn import rows_at
from heldout._types import Array
from heldout.errors import InputError
from heldout.spaces.submodels.base import SubmodelFamily, Submodels, Subtransformers, Value
from heldout.spaces.submodels.registry import family_of

_RESPONSES = ("predict", "predict_proba", "decision_function")
_ALLOWED = {"bitwise": 0.0, True: 1e-12, False: np.inf}
"""By ``SubmodelFamily.exact``: the largest difference, relative to the largest number of the separate fit."""


@dataclass(frozen=True)
class SubmodelCheck:
    """The result of ``check_submodels``: how far shared fits are from separate ones.

    Attributes
    ----------
    n_fits : int
        Separate fits that were compared: configurations times splits.
    n_alone : int
        How many of them a search fits alone, because the provider returned None.
    difference : float
        The largest difference, relative to the largest number that the separate fit predicts; for labels the share
        that differs.
    params : dict
        The parameters of the configuration with the largest difference.
    response : str
        The method with the largest difference, for instance "predict_proba".
    """

    n_fits: int
    n_alone: int
    difference: float
    params: dict[str, Any]
    response: str


def check_submodels(
    estimator: Any,
    grid: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 3,
    fit_params: Mapping[str, Any] | None = None,
) -> SubmodelCheck:
    """Check a provider of submodels: compare the fits that it shares with separate ones.

    Parameters
    ----------
    estimator : estimator
        The model or transformer itself, not a pipeline, with an integer ``random_state`` if it draws.
    grid : dict or list of dict
        As ``param_grid`` of a search. Configurations that differ only in the provider's parameters share a fit.
    X, y : array-like
        Rows and target; y is optional.
    cv : int, splitter or iterable of (train, test), default=3
        The splits on which both are fitted.
    fit_params : dict, optional
        Arguments of ``fit``; arrays with one value per row are divided like the rows.

    Returns
    -------
    SubmodelCheck

    Raises
    ------
    InputError
        When no provider serves the estimator, or predictions differ in type, in shape, or by more than the
        provider's ``exact`` allows: not at all for "bitwise", 1e-12 of the largest for True. With False any
        difference is only reported.
    Exception
        Any exception of the provider.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = RandomForestClassifier(random_state=0)
    >>> ho.spaces.check_submodels(forest, {"n_estimators": [2, 5]}, *load_iris(return_X_y=True))
    SubmodelCheck(n_fits=6, n_alone=0, difference=0.0, params={'n_estimators': 2}, response='predict')
    """
    groups = _groups(estimator, ParameterGrid(grid))
    fits: list[ComparedFit] = []
    for train, test in check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y):
        rows = _Rows.of(X, y, fit_params or {}, train, test)
        fits += (fit for group in groups for fit in group.fits(rows))
    worst = max(fits, key=lambda fit: fit.difference)
    n_alone = sum(not fit.response for fit in fits)
    return SubmodelCheck(len(fits), n_alone, worst.difference, worst.params, worst.response)


class _Rows(NamedTuple):
    """Training rows with what ``fit`` receives, and rows to predict."""

    X: Any
    y: Any
    fit_params: Mapping[str, Any]
    X_new: Any

    @classmethod
    def of(cls, X: Any, y: Any, fit_params: Mapping[str, Any], train: Any, test: Any) -> _Rows:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        of_fit = {
            name: rows_at(value, train) if np.shape(value)[:1] == (n_rows,) else value
            for name, value in fit_params.items()
        }
        target = None if y is None else rows_at(y, train)
        return cls(rows_at(X, train), target, of_fit, rows_at(X, test))


class ComparedFit(NamedTuple):
    """A separate fit beside the shared one; no ``response`` where the provider leaves it alone."""

    difference: float
    params: dict[str, Any]
    response: str


@dataclass(frozen=True, eq=False)
class _Group:
    """The configurations that one fit serves: their parameters in the grid, and the provider's."""

    family: SubmodelFamily
    params: list[dict[str, Any]] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    estimators: list[Any] = field(default_factory=list)

    def fits(self, rows: _Rows) -> Iterator[ComparedFit]:
        shared: Any = self.family.fit_many(
            clone(self.estimators[0]), self.values, _read_only(rows.X), _read_only(rows.y), **rows.fit_params
        )
        of_all = _of_transformers if hasattr(shared, "fit_transform_many") else _of_models
        answers = {name: (ours, theirs) for name, ours, theirs in of_all(shared, self.estimators, rows)}
        for name, (ours, theirs) in answers.items():
            if len(ours) != len(theirs):
                raise InputError(
                    f"{self.family.name} must give an array for each of {len(theirs)} values, got {len(ours)} for "
                    f"{name}; correct fit_many."
                )
        for j, params in enumerate(self.params):
            if any(ours[j] is None for ours, _ in answers.values()):
                yield ComparedFit(0.0, params, "")
                continue
            differences = {
                name: self._difference(params, name, _array(ours[j]), _array(theirs[j]))
                for name, (ours, theirs) in answers.items()
            }
            response = max(differences, key=differences.__getitem__)
            yield ComparedFit(differences[response], params, response)

    def _difference(self, params: dict[str, Any], response: str, ours: Array, theirs: Array) -> float:
        """The largest difference between two arrays, relative to the largest number of the second; of labels the
        share that differs."""
        what = f"{self.family.name} gives for {params} by {response}"
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            raise InputError(
                f"{what} an array of {ours.dtype} and shape {ours.shape}, and a separate fit one of {theirs.dtype} "
                f"and shape {theirs.shape}; correct fit_many."
            )
        if ours.dtype.kind in "fc":
            difference = float(np.abs(ours - theirs).max(initial=0.0) / (np.abs(theirs).max(initial=0.0) or 1.0))
        else:
            difference = float(np.mean(ours != theirs))
        allowed = _ALLOWED[self.family.exact]
        if not difference <= allowed:
            raise InputError(
                f"{what} other numbers than a separate fit, by {difference:.1e} of the largest; "
                f"exact={self.family.exact!r} allows {allowed:g}. Correct fit_many, or register another exact."
            )
        return difference


def _groups(estimator: Any, grid: Iterable[dict[str, Any]]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for params in grid:
        alone = clone(estimator).set_params(**params)
        if (family := family_of(alone, "tolerance")) is None:
            raise InputError(
                f"estimator {alone} has no provider of submodels; give the model or transformer itself, with an "
                "integer random_state if it draws.",
                argument="estimator",
            )
        owners = {name.rpartition("__")[0] for name in family.parameters} - {""}
        others = alone.get_params(deep=bool(owners))
        value = {name: others.pop(name, None) for name in family.parameters}
        group = groups.setdefault(
            joblib.hash([family.name, {name: others[name] for name in others.keys() - owners}]), _Group(family)
        )
        group.params.append(params)
        group.values.append(value)
        group.estimators.append(alone)
    return list(groups.values())


def _of_models(
    shared: Submodels, estimators: Sequence[Any], rows: _Rows
) -> Iterator[tuple[str, Sequence[Any], Sequence[Any]]]:
    """By response: what the shared fit predicts for each value, and what separate fits predict."""
    models = [clone(estimator).fit(rows.X, rows.y, **rows.fit_params) for estimator in estimators]
    for response in _RESPONSES:
        if all(hasattr(model, response) for model in models):
            alone = [getattr(model, response)(rows.X_new) for model in models]
            yield response, shared.predict_many(rows.X_new, response), alone


def _of_transformers(
    shared: Subtransformers, estimators: Sequence[Any], rows: _Rows
) -> Iterator[tuple[str, Sequence[Any], Sequence[Any]]]:
    """The same of what they transform: training rows, then others."""
    steps = [clone(estimator) for estimator in estimators]
    alone = [step.fit_transform(rows.X, rows.y, **rows.fit_params) for step in steps]
    entries = shared.fit_transform_many()
    yield "fit_transform", [None if entry is None else entry[0] for entry in entries], alone
    ours = [None if entry is None else entry[1].transform(rows.X_new) for entry in entries]
    yield "transform", ours, [step.transform(rows.X_new) for step in steps]


def _array(values: Any) -> Array:
    return values.toarray() if sp.issparse(values) else np.asarray(values)


def _read_only(rows: Any) -> Any:
    """Rows as a provider may receive them in a search."""
    if not isinstance(rows, np.ndarray):
        return rows
    view = rows.view()
    view.flags.writeable = False
    return view

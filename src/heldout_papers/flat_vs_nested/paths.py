"""Predictions of many configurations of a model at the cost of few fits.

The trees of a forest are the first trees of a larger one; the stages of a boosting, the neighbours of a row and the
kernel between rows are the same for many configurations. What is found here is what each configuration fitted by
itself predicts; models that share nothing are fitted one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from heldout.execution.fit import error_line
from heldout_papers.spaces.boosted_linear import BoostedLinear
from heldout_papers.spaces.random_subspace_knn import RandomSubspaceKNN

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Parameters: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Rows:
    """The rows that a model is trained on, and those that it predicts."""

    X: Any
    y: Labels
    test: Any


@dataclass(frozen=True)
class Path:
    """How configurations that differ in one parameter are fitted together."""

    parameter: str
    applies: Callable[[Any], bool]  # Whether a model, as it is set, can be fitted so
    # From a model with all other parameters set, the values and the rows to predictions, a value after another
    predictions: Callable[[Any, Sequence[Any], Rows], Iterator[Labels]]


@dataclass(frozen=True)
class LabelsOrReason:
    """Predictions of a configuration, or why there are none."""

    labels: Labels | None
    reason: str = ""


def predictions_of(model: BaseEstimator, configurations: Sequence[Parameters], rows: Rows) -> list[LabelsOrReason]:
    """Predictions of each configuration of a model.

    ``model``: its ``random_state`` is set, so that fits can be repeated. A configuration that fails
    has none, and no other suffers from it.
    """
    path = PATHS.get(type(model))
    found: dict[int, LabelsOrReason] = {}
    for places in _groups(configurations, None if path is None else path.parameter):
        first = configurations[places[0]]
        if path is None or path.parameter not in first:
            found.update({place: _alone(model, configurations[place], rows) for place in places})
            continue
        others = {name: value for name, value in first.items() if name != path.parameter}
        values = [configurations[place][path.parameter] for place in places]
        try:
            shared = clone(model).set_params(**others)
            together = (
                [LabelsOrReason(labels) for labels in path.predictions(shared, values, rows)]
                if path.applies(shared) and _can_be_shared(values)
                else None
            )
        except Exception:  # one of them may be to blame: each is tried by itself
            together = None
        if together is None:
            together = [_alone(model, configurations[place], rows) for place in places]
        found.update(zip(places, together, strict=True))
    return [found[place] for place in range(len(configurations))]


def _alone(model: BaseEstimator, configuration: Parameters, rows: Rows) -> LabelsOrReason:
    try:
        return LabelsOrReason(clone(model).set_params(**configuration).fit(rows.X, rows.y).predict(rows.test))
    except Exception as error:
        return LabelsOrReason(None, error_line(error))


def _can_be_shared(values: Sequence[Any]) -> bool:
    """Whether no count is below 1, which would be read from the end of a path; by itself such a one fails."""
    return all(not isinstance(value, int | np.integer) or value >= 1 for value in values)


def _groups(configurations: Sequence[Parameters], parameter: str | None) -> list[list[int]]:
    """Places of configurations that differ in one parameter alone."""
    groups: list[tuple[dict[str, Any], list[int]]] = []
    for place, configuration in enumerate(configurations):
        others = {name: value for name, value in configuration.items() if name != parameter}
        same = next(
            (places for known, places in groups if parameter in configuration and _equal(known, others)), None
        )
        if same is None:
            groups.append((others, [place]))
        else:
            same.append(place)
    return [places for _, places in groups]


def _equal(known: Parameters, others: Parameters) -> bool:
    """Whether all values agree; arrays, which do not say so in one word, are never taken to."""
    try:
        return bool(known == others)
    except ValueError:
        return False


def _forest(model: Any, values: Sequence[int], rows: Rows) -> Iterator[Labels]:
    forest = model.set_params(n_estimators=max(values)).fit(rows.X, rows.y)
    test = np.ascontiguousarray(rows.test, dtype=np.float32)
    votes = np.cumsum([tree.predict_proba(test, check_input=False) for tree in forest.estimators_], axis=0)
    for value in values:
        yield forest.classes_[(votes[value - 1] / value).argmax(axis=1)]


def _boosting(model: Any, values: Sequence[int], rows: Rows) -> Iterator[Labels]:
    stages = list(model.set_params(n_estimators=max(values)).fit(rows.X, rows.y).staged_predict(rows.test))
    for value in values:
        yield stages[value - 1]


def _boosted_linear(model: Any, values: Sequence[int], rows: Rows) -> Iterator[Labels]:
    boosted = model.set_params(n_iterations=max(values)).fit(rows.X, rows.y)
    stages = list(boosted.staged_decision_function(rows.test))
    for value in values:
        scores = stages[value - 1]
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        yield boosted.classes_[best]


def _neighbours(model: Any, values: Sequence[int], rows: Rows) -> Iterator[Labels]:
    # Which of equally far rows are the nearest depends on their number: only training is shared.
    model.set_params(n_neighbors=max(values)).fit(rows.X, rows.y)
    for value in values:
        yield model.set_params(n_neighbors=value).predict(rows.test)


def _subspaces(model: Any, values: Sequence[int], rows: Rows) -> Iterator[Labels]:
    fitted = model.set_params(n_neighbors=max(values)).fit(rows.X, rows.y)
    for votes in fitted.votes(rows.test, values):
        yield fitted.classes_[votes.argmax(axis=1)]


def _machine(model: Any, values: Sequence[float], rows: Rows) -> Iterator[Labels]:
    gamma = model.gamma
    if gamma == "scale":
        gamma = 1 / (rows.X.shape[1] * rows.X.var()) if rows.X.var() > 0 else 1.0
    elif gamma == "auto":
        gamma = 1 / rows.X.shape[1]
    how = {"filter_params": True, "gamma": gamma, "degree": model.degree, "coef0": model.coef0}
    trained = pairwise_kernels(rows.X, metric=model.kernel, **how)
    test = pairwise_kernels(rows.test, rows.X, metric=model.kernel, **how)
    for value in values:
        yield clone(model).set_params(kernel="precomputed", C=value).fit(trained, rows.y).predict(test)


def _is_plain_machine(model: Any) -> bool:
    return model.kernel in ("linear", "poly", "rbf") and model.probability in (False, "deprecated")


PATHS: Mapping[type, Path] = MappingProxyType(
    {
        RandomForestClassifier: Path("n_estimators", lambda model: not model.warm_start, _forest),
        GradientBoostingClassifier: Path(
            "n_estimators", lambda model: not model.warm_start and model.n_iter_no_change is None, _boosting
        ),
        BoostedLinear: Path("n_iterations", lambda model: True, _boosted_linear),
        KNeighborsClassifier: Path("n_neighbors", lambda model: model.algorithm == "brute", _neighbours),
        RandomSubspaceKNN: Path("n_neighbors", lambda model: True, _subspaces),
        SVC: Path("C", _is_plain_machine, _machine),
    }
)

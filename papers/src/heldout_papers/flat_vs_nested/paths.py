"""Predictions of many configurations of a model at the cost of few fits.

The trees of a forest are the first trees of a larger one; the stages of a boosting, the neighbours of a row and the
kernel between rows are the same for many configurations. What is found here is what each configuration fitted by
itself predicts; models that share nothing are fitted one by one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from heldout.execution.fit import error_line
from heldout.metrics.base import ESTIMATOR_METHODS
from heldout_papers.spaces.boosted_linear import BoostedLinear, probabilities_of_scores
from heldout_papers.spaces.random_subspace_knn import RandomSubspaceKNN

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Parameters: TypeAlias = Mapping[str, Any]
_METHODS = tuple(dict.fromkeys(ESTIMATOR_METHODS.values()))


@dataclass(frozen=True)
class Rows:
    """The rows that a model is trained on, and those that it predicts."""

    X: Any
    y: Labels
    test: Any


Read: TypeAlias = Callable[[Any, Any], NDArray[Any]]
"""``read(model, X)``: what is wanted of a fitted model's predictions of some rows."""


def read_labels(model: Any, X: Any) -> Labels:
    """The labels that a model predicts."""
    return np.asarray(model.predict(X))


@dataclass(frozen=True)
class Path:
    """How configurations that differ in one parameter are fitted together."""

    parameter: str
    applies: Callable[[Any], bool]  # Whether a model, as it is set, can be fitted so
    # From a model with all other parameters set, the values and the rows to a fitted model of each value, and the
    # rows that it predicts. Each is read before the next is asked for.
    models: Callable[[Any, Sequence[Any], Rows], Iterator[tuple[Any, Any]]]


@dataclass(frozen=True)
class PredictionsOrReason:
    """What was read of a configuration's predictions, or why there are none."""

    values: NDArray[Any] | None
    reason: str = ""


def predictions_of(
    model: BaseEstimator, configurations: Sequence[Parameters], rows: Rows, read: Read = read_labels
) -> list[PredictionsOrReason]:
    """Predictions of each configuration of a model.

    ``model``: its ``random_state`` is set, so that fits can be repeated; ``read``: what is read of each. A
    configuration that fails has none, and no other suffers from it.
    """
    path = PATHS.get(type(model))
    found: dict[int, PredictionsOrReason] = {}
    for places in _groups(configurations, None if path is None else path.parameter):
        first = configurations[places[0]]
        if path is None or path.parameter not in first:
            found.update({place: _alone(model, configurations[place], rows, read) for place in places})
            continue
        others = {name: value for name, value in first.items() if name != path.parameter}
        values = [configurations[place][path.parameter] for place in places]
        try:
            shared = clone(model).set_params(**others)
            together = (
                [PredictionsOrReason(read(fitted, test)) for fitted, test in path.models(shared, values, rows)]
                if path.applies(shared) and _can_be_shared(values)
                else None
            )
        except Exception:  # one of them may be to blame: each is tried by itself
            together = None
        if together is None:
            together = [_alone(model, configurations[place], rows, read) for place in places]
        found.update(zip(places, together, strict=True))
    return [found[place] for place in range(len(configurations))]


def _alone(model: BaseEstimator, configuration: Parameters, rows: Rows, read: Read) -> PredictionsOrReason:
    try:
        return PredictionsOrReason(read(clone(model).set_params(**configuration).fit(rows.X, rows.y), rows.test))
    except Exception as error:
        return PredictionsOrReason(None, error_line(error))


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


def _forest(model: Any, values: Sequence[int], rows: Rows) -> Iterator[tuple[Any, Any]]:
    forest = model.set_params(n_estimators=max(values)).fit(rows.X, rows.y)
    test = np.ascontiguousarray(rows.test, dtype=np.float32)
    votes = np.cumsum([tree.predict_proba(test, check_input=False) for tree in forest.estimators_], axis=0)
    for value in values:
        yield _by_probabilities(forest.classes_, votes[value - 1] / value), rows.test


def _boosting(model: Any, values: Sequence[int], rows: Rows) -> Iterator[tuple[Any, Any]]:
    boosted = model.set_params(n_estimators=max(values)).fit(rows.X, rows.y)
    staged = {name: cache(partial(_stages, boosted, name, rows.test)) for name in _METHODS}
    for value in values:
        stage = {name: partial(_stage, every, value - 1) for name, every in staged.items()}
        yield SimpleNamespace(classes_=boosted.classes_, **stage), rows.test


def _stages(boosted: Any, method: str, test: Any) -> list[Any]:
    return list(getattr(boosted, f"staged_{method}")(test))


def _stage(stages: Callable[[], Sequence[Any]], place: int, X: Any) -> Any:
    return stages()[place]


def _boosted_linear(model: Any, values: Sequence[int], rows: Rows) -> Iterator[tuple[Any, Any]]:
    boosted = model.set_params(n_iterations=max(values)).fit(rows.X, rows.y)
    stages = list(boosted.staged_decision_function(rows.test))
    for value in values:
        scores = stages[value - 1]
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        answers = {"predict": boosted.classes_[best], "decision_function": scores}
        if boosted.loss == "logistic":
            answers["predict_proba"] = probabilities_of_scores(scores)
        yield _model_of(boosted.classes_, answers), rows.test


def _neighbours(model: Any, values: Sequence[int], rows: Rows) -> Iterator[tuple[Any, Any]]:
    # Which of equally far rows are the nearest depends on their number: only training is shared.
    model.set_params(n_neighbors=max(values)).fit(rows.X, rows.y)
    for value in values:
        yield model.set_params(n_neighbors=value), rows.test


def _subspaces(model: Any, values: Sequence[int], rows: Rows) -> Iterator[tuple[Any, Any]]:
    fitted = model.set_params(n_neighbors=max(values)).fit(rows.X, rows.y)
    for votes in fitted.votes(rows.test, values):
        yield _by_probabilities(fitted.classes_, votes / fitted.n_estimators), rows.test


def _machine(model: Any, values: Sequence[float], rows: Rows) -> Iterator[tuple[Any, Any]]:
    gamma = model.gamma
    if gamma == "scale":
        gamma = 1 / (rows.X.shape[1] * rows.X.var()) if rows.X.var() > 0 else 1.0
    elif gamma == "auto":
        gamma = 1 / rows.X.shape[1]
    how = {"filter_params": True, "gamma": gamma, "degree": model.degree, "coef0": model.coef0}
    trained = pairwise_kernels(rows.X, metric=model.kernel, **how)
    test = pairwise_kernels(rows.test, rows.X, metric=model.kernel, **how)
    for value in values:
        yield clone(model).set_params(kernel="precomputed", C=value).fit(trained, rows.y), test


def _by_probabilities(classes: NDArray[Any], probabilities: Floats) -> SimpleNamespace:
    """A model of the class with the highest probability, the first of equals."""
    return _model_of(
        classes, {"predict": classes[probabilities.argmax(axis=1)], "predict_proba": probabilities}
    )  # fmt: skip


def _model_of(classes: NDArray[Any], answers: Mapping[str, NDArray[Any]]) -> SimpleNamespace:
    """What has the methods of a fitted model, for the rows of these answers alone."""
    return SimpleNamespace(classes_=classes, **{name: partial(_same, answer) for name, answer in answers.items()})


def _same(answer: NDArray[Any], X: Any) -> NDArray[Any]:
    return answer


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

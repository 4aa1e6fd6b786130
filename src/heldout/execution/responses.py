"""What a fitted model is asked for: each response once, coded as ``HeldOutPredictions`` holds it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from heldout.data.task import codes_of, labels_text
from heldout.errors import UnusablePredictionError
from heldout.metrics.base import ESTIMATOR_METHODS, Response
from heldout.metrics.survival_model import (
    RISK_METHOD,
    SURVIVAL_METHOD,
    gives_survival,
    last_step,
    risks,
    survival,
    survival_method,
)


class ResponseRequest(Protocol):
    """The responses to record; a ``Scoring`` is this.

    Attributes
    ----------
    wanted : tuple of tuple of Response
        Of each group the first that a model offers.
    times : tuple of float
        Of the survival probabilities.
    """

    @property
    def wanted(self) -> tuple[tuple[Response, ...], ...]: ...
    @property
    def times(self) -> tuple[float, ...]: ...


class ResponseContext(Protocol):
    """What models are asked for, and of what task; a ``CellContext`` is this."""

    @property
    def survival(self) -> bool: ...
    @property
    def classes(self) -> NDArray[Any] | None: ...
    @property
    def positive(self) -> int | None: ...
    @property
    def scoring(self) -> ResponseRequest: ...


def remember_responses(model: Any, X: Any) -> None:
    """Make the model compute each response to ``X`` once, however often it is asked.

    The methods are shadowed on this one object, which is thrown away after scoring: so it stays of its own type
    for scorers that look at it.
    """
    for method in dict.fromkeys(ESTIMATOR_METHODS.values()):
        if hasattr(model, method):
            setattr(model, method, _once(getattr(model, method), X))
    if gives_survival(model):
        setattr(model, SURVIVAL_METHOD, _once(survival_method(model), X))
    last = last_step(model)
    inherited = getattr(type(last), "score", None)
    # A pipeline's own score would transform and predict once more.
    if last is not model and inherited in (ClassifierMixin.score, RegressorMixin.score):
        model.score = functools.partial(inherited, model)


def _once(method: Callable[..., Any], X: Any) -> Callable[..., Any]:
    answers: list[Any] = []

    @functools.wraps(method)
    def answer(asked: Any, *args: Any, **kwargs: Any) -> Any:
        if asked is not X or args or kwargs:
            return method(asked, *args, **kwargs)
        if not answers:
            answers.append(method(asked))
        # A copy: some callers write into what they get (MLPClassifier.predict_log_proba does).
        return answers[0].copy() if hasattr(answers[0], "copy") else answers[0]

    return answer


def coded_responses(asked: ResponseContext, model: Any, X: Any) -> dict[Response, NDArray[Any]]:
    """The wanted responses to ``X``, coded as ``HeldOutPredictions`` holds them.

    Raises
    ------
    UnusablePredictionError
        When a response is not finite, of the wrong shape, or lacks a class, or a time that is asked for.
    """
    offered = available_responses(asked, model)
    responses: dict[Response, NDArray[Any]] = {}
    for group in asked.scoring.wanted:
        found = next((response for response in group if response in offered), None)
        if found is None or found in responses:
            continue
        responses[found] = _coded(asked, model, found, _answer(asked, model, found, X))
    return responses


def available_responses(asked: ResponseContext, model: Any) -> set[Response]:
    """What a model can be asked for; before it is fitted, as far as its methods tell."""
    if asked.survival:
        gives = {Response.RISK: hasattr(model, RISK_METHOD)}
        gives[Response.SURVIVAL] = bool(asked.scoring.times) and gives_survival(model)
        return {response for response, given in gives.items() if given}
    other = Response.VALUES if asked.classes is not None else Response.LABELS
    offered = ((response, method) for response, method in ESTIMATOR_METHODS.items() if response is not other)
    return {response for response, method in offered if hasattr(model, method)}


def _answer(asked: ResponseContext, model: Any, response: Response, X: Any) -> NDArray[Any]:
    if response is Response.RISK:
        return risks(model, X)
    if response is Response.SURVIVAL:
        return survival(model, X, asked.scoring.times)
    return np.asarray(getattr(model, ESTIMATOR_METHODS[response])(X))


def _coded(asked: ResponseContext, model: Any, response: Response, answer: NDArray[Any]) -> NDArray[Any]:
    classes = asked.classes
    if response is Response.LABELS:
        assert classes is not None
        codes = codes_of(answer.reshape(-1), classes)
        if (codes < 0).any():
            stranger = answer.reshape(-1)[codes < 0][:1]
            raise UnusablePredictionError(f"it predicted {labels_text(stranger)}, which is no class of the target")
        return codes
    numbers = answer.astype(np.float64)
    if not np.isfinite(numbers).all():
        unusable = int((~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)).sum())
        raise UnusablePredictionError(
            f"it predicted NaN or infinite {response} for {unusable} of {len(numbers)} rows"
        )
    if response is Response.SURVIVAL:
        return numbers
    if response in (Response.VALUES, Response.RISK):
        if numbers.size != len(numbers):
            raise UnusablePredictionError(f"it predicted an array of shape {numbers.shape}, not a number a row")
        return numbers.reshape(-1)
    assert classes is not None
    return _by_class(asked, numbers, np.asarray(getattr(model, "classes_", classes)), response)


def _by_class(
    asked: ResponseContext, numbers: NDArray[np.float64], known: NDArray[Any], response: Response
) -> NDArray[np.float64]:
    """Columns in the order of the target's classes; of a binary task the positive class alone."""
    classes = asked.classes
    assert classes is not None
    place = codes_of(classes, known)
    if (place < 0).any():
        raise UnusablePredictionError(f"class {labels_text(classes[place < 0])} is missing from its training rows")
    if len(classes) == 2 and numbers.ndim == 1:  # a decision points to the second class that the model knows
        return numbers if place[asked.positive or 0] == 1 else -numbers
    if numbers.ndim != 2 or numbers.shape[1] != len(known):
        raise UnusablePredictionError(
            f"its {response} have shape {numbers.shape}, not a column for each of {len(known)} classes"
        )
    aligned = numbers[:, place]
    return aligned[:, asked.positive or 0] if len(classes) == 2 else aligned

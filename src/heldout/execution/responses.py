"""The responses of a fitted model: each computed once, coded as ``HeldOutPredictions`` holds it."""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from heldout._types import Array, Codes, Floats
from heldout.data.task import TaskKind, Truth, codes_of, labels_text, missing
from heldout.errors import StrangeLabelError, UnusablePredictionError
from heldout.metrics import survival_model
from heldout.metrics.aggregate import fold_score
from heldout.metrics.base import ESTIMATOR_METHODS, Metric, Response, positive_of
from heldout.metrics.ranking import RocAucOneVsOne
from heldout.predictions import HeldOutPredictions


class ResponseRequest(Protocol):
    """The responses to record; a ``Scoring`` is this.

    - ``wanted``: of each group the first response that a model offers.
    - ``times``: of the survival probabilities.
    """

    @property
    def wanted(self) -> tuple[tuple[Response, ...], ...]: ...
    @property
    def times(self) -> tuple[float, ...]: ...


def remember_responses(model: Any, X: Any) -> None:
    """Make the model compute each response to ``X`` only once.

    The methods are replaced on this one object, which is discarded after scoring; its type stays the same for
    scorers that check it.
    """
    for method in dict.fromkeys(ESTIMATOR_METHODS.values()):
        if hasattr(model, method):
            setattr(model, method, _once(getattr(model, method), X))
    if survival_model.gives_survival(model):
        setattr(model, survival_model.SURVIVAL_METHOD, _once(survival_model.survival_method(model), X))
    last = survival_model.last_step(model)
    inherited = getattr(type(last), "score", None)
    # A pipeline's own score would transform and predict once more.
    if last is not model and inherited in (ClassifierMixin.score, RegressorMixin.score):
        model.score = functools.partial(inherited, model)


def forget_responses(model: Any) -> None:
    """Undo ``remember_responses``."""
    for name in (*dict.fromkeys(ESTIMATOR_METHODS.values()), survival_model.SURVIVAL_METHOD, "score"):
        replaced = vars(model).pop(name, None)
        before = getattr(replaced, "__wrapped__", None)
        if before is not None and getattr(before, "__self__", model) is not model:
            setattr(model, name, before)


def _once(method: Callable[..., Any], X: Any) -> Callable[..., Any]:
    answers: list[Any] = []

    @functools.wraps(method)
    def answer(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != 1 or args[0] is not X:  # LightGBM calls itself by keyword
            return method(*args, **kwargs)
        if not answers:
            answers.append(method(X))
        # A copy, because some callers write into the array (MLPClassifier.predict_log_proba).
        return answers[0].copy() if hasattr(answers[0], "copy") else answers[0]

    return answer


def coded_responses(truth: Truth, scoring: ResponseRequest, model: Any, X: Any) -> dict[Response, Array]:
    """The wanted responses to ``X``, coded as ``HeldOutPredictions`` holds them.

    Raises UnusablePredictionError when a response is not finite, of the wrong shape or number of rows, or lacks a
    class or a time.
    """
    return {
        each: coded_response(truth, scoring, model, each, X) for each in responses_to_record(truth, scoring, model)
    }


def coded_response(truth: Truth, scoring: ResponseRequest, model: Any, response: Response, X: Any) -> Array:
    """One response to ``X``, as ``coded_responses`` gives it."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if response is Response.RISK:
        answer = survival_model.risks(model, X)
    elif response is Response.SURVIVAL:
        answer = survival_model.survival(model, X, scoring.times)
    else:
        answer = np.asarray(getattr(model, ESTIMATOR_METHODS[response])(X))
    if answer.shape[:1] != (n_rows,):
        got = f"{len(answer)} rows" if answer.ndim else "no rows"
        raise UnusablePredictionError(f"it predicted {response} for {got}, where {n_rows} rows are tested")
    return coded(truth, model, response, answer)


def responses_to_record(truth: Truth, scoring: ResponseRequest, model: Any) -> list[Response]:
    """Of each wanted group the first response that a model offers, each once."""
    offered = available_responses(truth, scoring, model)
    found = (next((response for response in group if response in offered), None) for group in scoring.wanted)
    return list(dict.fromkeys(response for response in found if response is not None))


def coded_answers(
    truth: Truth, scoring: ResponseRequest, model: Any, y: Any, answer: Callable[[str], Sequence[Array | None]]
) -> list[dict[Response, Array]]:
    """The wanted responses of several models of one class; none of a model whose answer is None or unusable.

    ``answer``: from the name of a method to what each model, fitted on ``y``, returns from it.
    """
    known = SimpleNamespace(classes_=None if truth.classes is None else np.unique(y))
    found: list[dict[Response, Array]] = []
    for response in responses_to_record(truth, scoring, model):
        many = answer(ESTIMATOR_METHODS[response])
        found = found or [{} for _ in many]
        for own, one in zip(found, many, strict=True):
            with suppress(UnusablePredictionError):
                if one is not None:
                    own[response] = coded(truth, known, response, np.asarray(one))
    return found


def available_responses(truth: Truth, scoring: ResponseRequest, model: Any) -> set[Response]:
    """The responses that a model offers, judged by its methods."""
    if truth.kind is TaskKind.SURVIVAL:
        gives = {Response.RISK: hasattr(model, survival_model.RISK_METHOD)}
        gives[Response.SURVIVAL] = bool(scoring.times) and survival_model.gives_survival(model)
        return {response for response, given in gives.items() if given}
    other = Response.VALUES if truth.classes is not None else Response.LABELS
    offered = ((response, method) for response, method in ESTIMATOR_METHODS.items() if response is not other)
    return {response for response, method in offered if hasattr(model, method)}


def coded(truth: Truth, model: Any, response: Response, answer: Array) -> Array:
    """A response as ``HeldOutPredictions`` holds it; the model has ``classes_`` if it is a classifier."""
    classes = truth.classes
    if response is Response.LABELS:
        assert classes is not None
        if answer.size != len(answer):
            raise UnusablePredictionError(f"it predicted an array of shape {answer.shape}, not one label per row")
        codes = codes_of(answer.reshape(-1), classes)
        if (codes < 0).any():
            stranger = answer.reshape(-1)[codes < 0][:1]
            kind = UnusablePredictionError if missing(stranger).any() else StrangeLabelError
            raise kind(f"it predicted {labels_text(stranger)}, which is not a class of the target")
        return codes
    if answer.dtype.kind == "c":
        raise UnusablePredictionError(f"it predicted complex numbers as {response}")
    numbers = answer.astype(np.float64)
    if not np.isfinite(numbers).all():
        unusable = int((~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)).sum())
        raise UnusablePredictionError(
            f"it predicted NaN or infinite {response} for {unusable} of {len(numbers)} rows"
        )
    if response is Response.SURVIVAL:
        return numbers
    if response in (Response.VALUES, Response.RISK):
        columns = truth.values.shape[1:]
        if numbers.shape[1:] == columns:
            return numbers
        if columns or numbers.size != len(numbers):
            raise UnusablePredictionError(f"it predicted an array of shape {numbers.shape}, not one number per row")
        return numbers.reshape(-1)
    assert classes is not None
    return _by_class(truth, numbers, np.asarray(getattr(model, "classes_", classes)), response)


def _by_class(truth: Truth, numbers: Floats, known: Array, response: Response) -> Floats:
    """Columns in the order of the target's classes; of a binary task the positive class alone."""
    classes = truth.classes
    assert classes is not None
    # Most models know all classes in their order, and then nothing need be looked up.
    place = np.arange(len(classes)) if np.array_equal(known, classes) else codes_of(classes, known)
    if (place < 0).any():
        raise UnusablePredictionError(f"class {labels_text(classes[place < 0])} is missing from its training rows")
    if len(classes) == 2 and numbers.ndim == 1:  # a decision refers to the second class of the model
        return numbers if place[truth.positive or 0] == 1 else -numbers
    if numbers.ndim != 2 or numbers.shape[1] != len(known):
        raise UnusablePredictionError(
            f"its {response} have shape {numbers.shape}, not a column for each of {len(known)} classes"
        )
    aligned = numbers[:, place]
    return aligned[:, truth.positive or 0] if len(classes) == 2 else aligned


Predictions = Mapping[Response, Array]


def is_computable(metrics: Collection[Metric | None], test: Truth, weight: Floats | None) -> bool:
    """Whether our kernels give the scores of these rows: the scorers can be opened, and the scores are defined."""
    once = np.ones((1, test.n_rows))
    return all(metric is not None and _are_defined(metric, test, weight, once) for metric in metrics)


def is_computable_by_row(metrics: Collection[Metric | None], tests: Truth, weight: Floats | None) -> bool:
    """The same where each row is a test set of its own."""
    blocks = (range(tests.n_rows)[start : start + 500] for start in range(0, tests.n_rows, 500))
    return all(
        metric is not None and _are_defined(metric, tests, weight, np.equal.outer(block, range(tests.n_rows)))
        for block in blocks
        for metric in metrics
    )


def _are_defined(metric: Metric, rows: Truth, weight: Floats | None, test_sets: Array) -> bool:
    """... of test sets (T, n) of the rows."""
    # scikit-learn's scorer takes weights too, except for pairs of classes.
    takes_weights = metric.takes_weights and not isinstance(metric, RocAucOneVsOne)
    if metric.calls_foreign_code or (weight is not None and not takes_weights):
        return False
    metric = metric.for_truth(rows)
    weighted = test_sets if weight is None else test_sets * weight
    counted, positive = metric.truth_for_needs(rows), positive_of(metric, rows)
    needs = {metric.needs, metric.undefined_without}
    return all(bool(each.met(counted, positive, weighted).all()) for each in needs)


def has_responses(metrics: Collection[Metric | None], predictions: Predictions) -> bool:
    """Whether a model has given what every metric reads."""
    return all(any(each in predictions for each in metric.responses) for metric in metrics if metric is not None)


def fold_scores(
    metrics: Mapping[str, Metric | None],
    tests: Truth,
    predictions: Predictions,
    folds: Codes,
    weight: Floats | None,
    times: tuple[float, ...] = (),
) -> dict[str, Floats]:
    """The scores (C, S) of C models on S splits by scorer, greater = better, as scorers return them.

    Parameters
    ----------
    tests : Truth of the n test rows of all splits
    predictions : mapping of Response to ndarray of shape (n, C) or (n, C, outputs)
    folds : ndarray of shape (n,)
        The split, 0 to S - 1, that tests each row.
    weight : ndarray of shape (n,), optional
    """
    (first, *_) = predictions.values()
    models = HeldOutPredictions(
        {response: array[:, :, None] for response, array in predictions.items()},
        names=("",) * first.shape[1],
        times=times,
    )
    found = {}
    for name, metric in metrics.items():
        assert metric is not None, "is_computable says so"
        array = models.for_metric(metric)
        scores = fold_score(metric, tests, array, folds[:, None], weight).observed_by_segment()
        found[name] = (scores if metric.greater_is_better else -scores).T
    return found

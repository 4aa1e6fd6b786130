"""From a user's arrays to held-out predictions: which response they are, and what a metric reads of them.

What cannot be told apart is asked back: an array is never read in the likelier of two ways where the answer
would differ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.folds import folds_from_labels
from heldout.metrics.base import Metric, Response
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.task import TaskKind, Truth, codes_of, labels_text, missing

ResponseName: TypeAlias = Literal["auto", "labels", "probabilities", "decision"]
RESPONSES = ("auto", "labels", "probabilities", "decision")
SHAPES = "(rows, configurations), (rows, configurations, repeats) or (rows, configurations, repeats, classes)"


def read_predictions(
    truth: Truth,
    predictions: Any,
    metric: Metric,
    *,
    response: ResponseName = "auto",
    threshold: float | None = None,
    folds: Any = None,
) -> HeldOutPredictions:
    """Held-out predictions from an array or table, holding the response that ``metric`` reads.

    Parameters
    ----------
    predictions : array-like or table
        (N, C), (N, C, R) or (N, C, R, n_classes); NaN (None for labels) where not predicted. The columns of a
        table name its configurations.
    response : "auto", "labels", "probabilities" or "decision"
        What the numbers are.
    threshold : float, optional
        Where a metric on labels cuts: .5 for probabilities and 0 for decisions by default; strictly above is
        positive.
    folds : array-like of shape (N,) or (N, R), optional

    Raises
    ------
    InputError
    """
    if response not in RESPONSES:
        raise InputError(f"response must be one of {', '.join(RESPONSES)}, got {response!r}.")
    array, names = _four_dimensional(truth, predictions)
    labels = None if folds is None else folds_from_labels(folds, truth.n_rows, array.shape[2])
    failed: dict[int, str] = {}
    if truth.kind is TaskKind.REGRESSION:
        kind, held = Response.VALUES, _numeric(array)[..., 0]
    else:
        kind, held = _classification(truth, array, metric, response, threshold)
    if held.dtype.kind == "f":
        infinite = np.isinf(held).reshape(held.shape[0], held.shape[1], -1).any(axis=(0, 2))
        failed = {int(column): "it predicted an infinite value" for column in np.flatnonzero(infinite)}
        held = np.where(np.isinf(held), np.nan, held) if failed else held
    return HeldOutPredictions(
        {kind: held}, names, labels, truth.classes, truth.positive, failed, training_rows=_training_rows(labels)
    )


def with_folds(predictions: HeldOutPredictions, folds: Any) -> HeldOutPredictions:
    """The same predictions with the user's folds in place of their own."""
    labels = folds_from_labels(folds, predictions.n_rows, predictions.n_repeats)
    return replace(predictions, folds=labels, training_rows=_training_rows(labels))


def _training_rows(folds: NDArray[np.int32] | None) -> float | None:
    """Mean rows behind a prediction, taking each fold to be predicted from all the other rows."""
    if folds is None or (folds < 0).any():
        return None
    sizes = [n for column in folds.T for n in np.bincount(column) if n]
    return float(len(folds) - np.mean(sizes))


def _four_dimensional(truth: Truth, predictions: Any) -> tuple[NDArray[Any], tuple[str, ...]]:
    """The array as (N, C, R, outputs), and the names of the configurations."""
    named = hasattr(predictions, "columns") and hasattr(predictions, "to_numpy")
    array = predictions.to_numpy() if named else np.asarray(predictions)
    if array.ndim == 1:
        raise InputError(
            f"predictions must have a column a configuration, got shape {array.shape}; for one configuration use "
            "predictions.reshape(-1, 1)."
        )
    if not 2 <= array.ndim <= 4 or 0 in array.shape:
        raise InputError(f"predictions must be {SHAPES}, none of them empty; got shape {array.shape}.")
    if array.shape[0] != truth.n_rows:
        raise InputError(
            f"predictions must have a row for each of the {truth.n_rows} rows of y_true, got shape {array.shape}; "
            f"the shape is {SHAPES}."
        )
    if array.ndim == 3 and _sums_to_one(array):
        raise InputError(
            f"predictions of shape {array.shape} sum to 1 over the last axis, which 3-D predictions keep for "
            "repeats; pass class probabilities as (rows, configurations, repeats, classes): "
            "predictions[:, :, None, :]."
        )
    names = (
        tuple(str(column) for column in predictions.columns)
        if named
        else tuple(f"configuration {j}" for j in range(array.shape[1]))
    )
    return array.reshape(array.shape + (1,) * (4 - array.ndim)), names


def _sums_to_one(array: NDArray[Any]) -> bool:
    if array.dtype.kind != "f" or array.shape[2] < 2:
        return False
    sums = array.sum(axis=2)
    present = ~np.isnan(sums)
    return bool(present.any() and np.allclose(sums[present], 1.0) and (array[present] >= 0).all())


def _numeric(array: NDArray[Any]) -> NDArray[np.float64]:
    if array.shape[3] != 1:
        raise InputError(f"predictions of a regression have one value each, got {array.shape[3]} on the last axis.")
    return _floats(array)


def _floats(array: NDArray[Any]) -> NDArray[np.float64]:
    if array.dtype.kind == "O":
        array = np.where(missing(array), np.nan, array)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        stranger = next(value for value in array.ravel() if isinstance(value, str) or value is None)
        raise InputError(f"predictions must be numbers here, got {stranger!r}.") from None


def _classification(
    truth: Truth, array: NDArray[Any], metric: Metric, response: ResponseName, threshold: float | None
) -> tuple[Response, NDArray[Any]]:
    kind = _response_of(truth, array, metric) if response == "auto" else Response(response)
    if kind is Response.LABELS:
        return _from_labels(truth, array, metric, threshold)
    scores = _oriented(truth, _floats(array), kind)
    if Response.LABELS in metric.responses:
        return Response.LABELS, _cut(truth, scores, kind, threshold)
    if kind not in metric.responses:
        raise InputError(f"{metric.name} needs {' or '.join(metric.responses)}, got {kind}.")
    return kind, scores


def _response_of(truth: Truth, array: NDArray[Any], metric: Metric) -> Response:
    """What the numbers are, where there is only one way to read them (or all give the same answer)."""
    if array.shape[3] > 1:
        in_unit = _within_unit(_floats(array))
        return Response.PROBABILITIES if in_unit.all() else Response.DECISION
    if not _is_numeric(array):
        return Response.LABELS
    numbers = _floats(array)
    present = numbers[~np.isnan(numbers)]
    on_labels = Response.LABELS in metric.responses
    if on_labels and _all_labels(truth, present):
        return Response.LABELS
    if truth.kind is TaskKind.MULTICLASS:
        return Response.LABELS
    if on_labels and array.dtype.kind in "iu":
        return Response.LABELS  # whole numbers that are no classes: refused where they are coded
    in_unit = _within_unit(numbers)
    if in_unit.all():
        return Response.PROBABILITIES
    if on_labels and in_unit.any():
        inside, outside = int(in_unit.argmax()), int((~in_unit).argmax())
        raise InputError(
            f"configuration {inside} lies within [0, 1] and configuration {outside} does not, so they could be cut "
            "at .5 (probabilities) or at 0 (decisions), with other answers; say response='probabilities' or "
            "'decision', or pass labels."
        )
    return Response.DECISION


def _is_numeric(array: NDArray[Any]) -> bool:
    if array.dtype.kind in "iuf":
        return True
    if array.dtype.kind != "O":
        return False
    present = array[~missing(array)]
    return all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in present)


def _all_labels(truth: Truth, present: NDArray[np.float64]) -> bool:
    assert truth.classes is not None
    if truth.classes.dtype.kind not in "iufb":
        return False
    return bool(np.isin(present, truth.classes.astype(np.float64)).all())


def _within_unit(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(C,): whether all numbers of a configuration lie in [0, 1]."""
    outside = (numbers < 0) | (numbers > 1)
    return np.asarray(~outside.any(axis=(0, 2, 3)))


def _from_labels(
    truth: Truth, array: NDArray[Any], metric: Metric, threshold: float | None
) -> tuple[Response, NDArray[Any]]:
    if threshold is not None:
        raise InputError(f"threshold={threshold} cuts probabilities or decisions, but the predictions are labels.")
    if Response.LABELS not in metric.responses:
        wanted = " or ".join(metric.responses)
        raise InputError(f"{metric.name} needs {wanted}, but the predictions are labels.")
    if array.shape[3] > 1:
        raise InputError(f"labels have one value each, got {array.shape[3]} on the last axis.")
    assert truth.classes is not None
    column = array[..., 0]
    absent = missing(column)
    codes = np.full(column.shape, UNPREDICTED_LABEL, dtype=np.int32)
    codes[~absent] = codes_of(column[~absent], truth.classes)
    unknown = (codes == UNPREDICTED_LABEL) & ~absent
    if unknown.any():
        stranger = labels_text(
            np.unique(column[unknown].astype(str) if column.dtype.kind == "O" else column[unknown])
        )
        raise InputError(
            f"predictions hold labels that y_true lacks: {stranger}; its classes are {labels_text(truth.classes)}. "
            "Pass classes= if there are more."
        )
    return Response.LABELS, codes


def _oriented(truth: Truth, scores: NDArray[np.float64], kind: Response) -> NDArray[np.float64]:
    """Scores as ``HeldOutPredictions`` holds them: binary ones of the positive class, (N, C, R)."""
    outputs = scores.shape[3]
    if kind is Response.PROBABILITIES:
        _check_probabilities(truth, scores)
    if truth.kind is TaskKind.BINARY:
        if outputs == 2 and kind is Response.PROBABILITIES:
            return scores[..., truth.positive]
        if outputs != 1:
            raise InputError(f"{kind} of a binary task have one value each (or two probabilities), got {outputs}.")
        return scores[..., 0]
    if outputs != truth.n_classes:
        raise InputError(
            f"{kind} of {truth.n_classes} classes need {truth.n_classes} values on the fourth axis, got {outputs}."
        )
    return scores


def _check_probabilities(truth: Truth, scores: NDArray[np.float64]) -> None:
    present = scores[~np.isnan(scores)]
    if present.size and (present.min() < 0 or present.max() > 1):
        raise InputError(
            f"probabilities must lie in [0, 1], got values from {present.min():.4g} to {present.max():.4g}."
        )
    if scores.shape[3] > 1:
        sums = scores.sum(axis=3)
        wrong = ~np.isnan(sums) & (np.abs(sums - 1) > 1e-4)
        if wrong.any():
            raise InputError(
                f"probabilities must sum to 1 over the classes, got a sum of {sums[wrong].flat[0]:.4g}."
            )


def _cut(truth: Truth, scores: NDArray[np.float64], kind: Response, threshold: float | None) -> NDArray[np.int32]:
    """Labels from scores: strictly above the threshold is positive; of several classes the first greatest."""
    if truth.kind is TaskKind.MULTICLASS:
        if threshold is not None:
            raise InputError(f"threshold={threshold} is for binary tasks; several classes take the greatest score.")
        absent = np.asarray(np.isnan(scores).any(axis=3))
        labels = np.where(absent[..., None], -np.inf, scores).argmax(axis=3)
    else:
        cut = threshold if threshold is not None else 0.5 if kind is Response.PROBABILITIES else 0.0
        absent = np.asarray(np.isnan(scores))
        assert truth.positive is not None
        labels = np.where(scores > cut, truth.positive, 1 - truth.positive)
    return np.where(absent, UNPREDICTED_LABEL, labels).astype(np.int32)

"""From a user's arrays to held-out predictions: shapes, names and folds, and what the numbers are.

Predictions are labels, probabilities or decisions. Those that can be read in two ways with different results are
refused with a question, and so is a reading that would give every row one label. A setting that would do nothing is
refused, because its user expects an effect.

A selection rule may read other predictions than its metric. A rule that tunes a threshold reads scores, although
its metric reads labels. A rule that averages predictions reads probabilities or values, because labels and
decisions of different models have no average. ``read_as`` gives the metric that stands in for the rule there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from heldout import _defaults
from heldout._text import counted
from heldout._types import Array, Booleans, Codes, Floats
from heldout.data.checks import RESPONSES, check_choice, check_number
from heldout.data.task import (
    TaskKind,
    Truth,
    array_of,
    check_labels_or_numbers,
    codes_of,
    distinct,
    labels_text,
    missing,
    numbers_of,
    shortened,
)
from heldout.errors import InputError
from heldout.metrics.base import Metric, ReadAs, Response, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.selection import Rule
from heldout.selection.base import WeightRule
from heldout.selection.threshold import Threshold, read_at_threshold


@runtime_checkable
class KnownPredictions(Protocol):
    """True values with held-out predictions of them, such as a table of another tool."""

    @property
    def predictions(self) -> Any:
        """``HeldOutPredictions``, or what becomes such when the metric is known."""

    def arguments(
        self,
        metric: Metric,
        rule: Rule,
        *,
        classes: Any,
        pos_label: Any,
        response: ResponseName,
        threshold: float | None,
    ) -> dict[str, Any]:
        """The arguments of ``read_inputs`` that stand for them: y_true, predictions, groups, sample_weight
        and, where averages are cut, threshold."""


@runtime_checkable
class FittedSearch(Protocol):
    """A fitted search of heldout."""

    estimate_: Any
    estimates_: Any


def parts_of_search(search: FittedSearch, predictions: Any) -> tuple[Any, HeldOutPredictions]:
    """The target of a fitted search, and its held-out predictions.

    Raises InputError when there are predictions beside it, or it kept none.
    """
    if predictions is not None:
        raise InputError(
            "predictions must be left out beside a search, which has its own; pass the true values as an array to "
            "give others."
        )
    held: HeldOutPredictions | None = getattr(search, "predictions_", None)
    if held is None or held.question is None or held.question.truth is None:
        raise InputError("the search kept no held-out predictions; search with `keep_predictions=True`.")
    return held.question.truth.labels(), held


SHAPES = "(rows, configurations), (rows, configurations, repeats) or (rows, configurations, repeats, classes)"
TWO_DECIMALS = 0.0101
"""How far from 1 the sum of class probabilities lies that were rounded to two decimals, and a little."""


def read_predictions(
    truth: Truth,
    predictions: Any,
    metric: Metric,
    *,
    response: ResponseName = _defaults.RESPONSE,
    threshold: float | None = None,
    folds: Any = None,
) -> HeldOutPredictions:
    """Held-out predictions from an array or table, holding the response that ``metric`` reads.

    Parameters
    ----------
    predictions : array-like or table
        (N, C), (N, C, R) or (N, C, R, n_classes or n_times); NaN (None for labels) or masked where not predicted.
        The columns of a table name its configurations.
    response : "auto", "labels", "probabilities" or "decision"
        What the numbers are.
    threshold : float, optional
        Where a metric on labels cuts: .5 for probabilities and 0 for decisions by default; strictly above is
        positive.
    folds : array-like of shape (N,) or (N, R), optional
    """
    check_settings(response, threshold)
    array, names = _four_dimensional(truth, predictions)
    labels = None if folds is None else folds_from_labels(folds, truth.n_rows, array.shape[2])
    kind: Response
    if truth.kind is TaskKind.SURVIVAL:
        _refuse_of_numbers(metric, response, threshold)
        kind, held = _of_survival(array, metric)
    elif truth.kind is TaskKind.REGRESSION:
        _refuse_of_numbers(metric, response, threshold)
        kind, held = Response.VALUES, _values(array)
    else:
        kind, held = read_response(truth, array, metric, response, threshold)
    held_out = HeldOutPredictions({kind: held}, names, labels, truth.classes, truth.positive)
    return without_infinite(_with_training_rows(held_out, metric), metric)


def checked_held_out(
    truth: Truth,
    predictions: HeldOutPredictions,
    metric: Metric,
    *,
    response: ResponseName = _defaults.RESPONSE,
    threshold: float | None = None,
    folds: Any = None,
) -> HeldOutPredictions:
    """Held-out predictions that are such already, with the user's folds in place of their own."""
    check_settings(response, threshold)
    _check_shapes(predictions)
    if predictions.n_rows != truth.n_rows:
        raise InputError(
            f"predictions are of {counted(predictions.n_rows, 'row')}, y_true has {truth.n_rows}; give the "
            "rows that were predicted."
        )
    if threshold is not None:
        raise InputError(
            f"`threshold={threshold!r}` cuts an array of scores, but these held-out predictions hold their labels; "
            "leave it out, or pass one of their arrays, such as predictions.responses['probabilities']."
        )
    # Naming the response that is there anyway is no contradiction.
    read = [str(name) for name in metric.responses if name in predictions.responses]
    if response != "auto" and read != [response]:
        raise InputError(
            f"`response={response!r}` describes an array, but the predictions already contain it ({metric.name} "
            f"reads their {' and '.join(read) or 'nothing'}); leave it out, or pass an array."
        )
    if folds is not None:
        labels = folds_from_labels(folds, predictions.n_rows, predictions.n_repeats)
        predictions = _with_training_rows(replace(predictions, folds=labels), metric)
    return without_infinite(predictions, metric)


def folds_from_labels(labels: Any, n_rows: int, n_repeats: int) -> Codes:
    """Fold labels of any type as codes (N, R), -1 where missing; one column serves every repeat.

    Raises InputError when the shape is neither (N,) nor (N, R), or labels of two types have no common order.
    """
    table = array_of(labels, "folds")
    shape = table.shape
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or table.shape[0] != n_rows or table.shape[1] not in (1, n_repeats):
        raise InputError(
            f"folds must have shape ({n_rows},) or ({n_rows}, {n_repeats}), one label per row (and repeat), got "
            f"{shape if shape else shortened(labels)}."
        )
    absent = missing(table)
    codes = np.full((n_rows, table.shape[1]), -1, dtype=np.int32)
    for column in range(table.shape[1]):
        present = ~absent[:, column]
        codes[present, column] = distinct(table[present, column], "folds")[1]
    return codes if table.shape[1] == n_repeats else np.repeat(codes, n_repeats, axis=1)


def _with_training_rows(predictions: HeldOutPredictions, metric: Metric) -> HeldOutPredictions:
    """The predictions with the number of training rows that their folds tell.

    A row with predictions and no fold, which means over folds would leave out without a word, is refused.
    """
    tested, folds = np.asarray(predictions.predicted(metric).any(axis=1)), predictions.folds
    rows = np.flatnonzero([] if folds is None else (tested & (folds < 0)).any(axis=1))
    if rows.size:
        raise InputError(
            f"folds has a missing value in {counted(rows.size, 'row')} with predictions (the first is row "
            f"{rows[0]}, counted from 0); a row without a fold was not held out: give its fold, "
            "or make its predictions NaN.",
            argument="folds",
        )
    return replace(predictions, training_rows=training_rows_of(folds, tested))


def without_infinite(predictions: HeldOutPredictions, metric: Metric) -> HeldOutPredictions:
    """Configurations that predicted infinite values of what the metric reads, as failed ones."""
    responses: dict[Response, Array] = dict(predictions.responses)
    failed: dict[int, str] = {}
    for kind in set(responses) & set(metric.responses):
        array = responses[kind]
        # Labels are whole numbers and hold no infinity; ``isinf`` of them would take time for nothing.
        infinite = np.isinf(array) if array.dtype.kind == "f" else np.zeros(0, dtype=bool)
        if infinite.any():
            responses[kind] = np.where(infinite, np.nan, array)
            columns = infinite.reshape(array.shape[0], array.shape[1], -1).any(axis=(0, 2))
            failed |= {int(column): "it predicted an infinite value" for column in np.flatnonzero(columns)}
    if not failed:
        return predictions
    return replace(predictions, responses=responses, failed=failed | dict(predictions.failed))


def training_rows_of(folds: Codes | None, tested: Booleans) -> float | None:
    """Mean rows behind a prediction, where the labels are those of a K-fold: each row in one of several folds.

    Folds (N, R) without tested rows (N, R), as those of the training rows of a hold-out, have no models.

    Examples
    --------
    >>> training_rows_of(np.array([[0], [0], [1], [1]], dtype=np.int32), np.ones((4, 1), dtype=bool))
    2.0
    """
    if folds is None or (folds < 0).any():
        return None
    sizes = []
    # Each row is predicted by a model of the rows outside its own fold, so the sizes of folds tell how many that
    # were.
    for column, seen in zip(folds.T, tested.T, strict=True):
        of_all = np.bincount(column)
        if len(of_all) < 2:
            return None
        sizes.append(of_all[np.unique(column[seen])])
    together = np.concatenate(sizes)
    return float(len(folds) - together.mean()) if together.size else None


def _four_dimensional(truth: Truth, predictions: Any) -> tuple[Array, tuple[str, ...]]:
    """The array as (N, C, R, outputs), and the names of the configurations."""
    array = array_of(predictions, "predictions")
    if array.ndim == 0:
        raise InputError(
            f"predictions must be an array or a table, {SHAPES}, got {shortened(predictions)}; "
            "`ho.read_predictions` reads a file or a dict of columns."
        )
    check_labels_or_numbers(array, "predictions")
    if array.ndim == 1:
        as_column = "to_frame()" if hasattr(predictions, "to_frame") else "reshape(-1, 1)"
        raise InputError(
            f"predictions must have one column per configuration, got shape {array.shape}; for one "
            "configuration use "
            f"predictions.{as_column}."
        )
    if not 2 <= array.ndim <= 4 or 0 in array.shape:
        raise InputError(f"predictions must be {SHAPES}, none of them empty; got shape {array.shape}.")
    if array.shape[0] != truth.n_rows:
        raise InputError(
            f"predictions must have a row for each of the {truth.n_rows} rows of y_true, got shape {array.shape}; "
            f"the shape is {SHAPES}."
        )
    # The third axis is that of repeats: probabilities of classes there would be read as repeats of one class.
    if array.ndim == 3 and truth.kind is not TaskKind.SURVIVAL and _sums_to_one(array):
        raise InputError(
            f"predictions of shape {array.shape} sum to 1 over the last axis, which 3-D predictions keep for "
            "repeats; pass class probabilities as (rows, configurations, repeats, classes): "
            "predictions[:, :, None, :]."
        )
    names = names_of_columns(predictions, array.shape[1])
    _check_no_text_beside_numbers(array, names)
    return array.reshape(array.shape + (1,) * (4 - array.ndim)), names


def _check_no_text_beside_numbers(array: Array, names: Sequence[str]) -> None:
    """Refuse configurations of text beside those of numbers: names of the rows were left in the table."""
    if array.dtype.kind != "O":
        return
    columns = [array[:, j].ravel().tolist() for j in range(array.shape[1])]
    are_texts = [any(isinstance(value, str) for value in column) for column in columns]
    if any(are_texts) and any(
        isinstance(value, Real) for j in np.flatnonzero(~np.array(are_texts)) for value in columns[j]
    ):
        texts = labels_text([name for name, is_text in zip(names, are_texts, strict=True) if is_text])
        raise InputError(
            f"predictions hold text in {texts} and numbers in other columns; leave out what is no prediction, and "
            "give all others as labels or all as numbers.",
            argument="predictions",
        )


def names_of_columns(table: Any, n_columns: int) -> tuple[str, ...]:
    """The names of a table's columns; numbers for those of an array."""
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):
        return distinct_names(table.columns)
    return tuple(f"configuration {j}" for j in range(n_columns))


def distinct_names(given: Iterable[Any]) -> tuple[str, ...]:
    """Names of configurations as text; two of one name are refused, as by it the winner could not be told."""
    names = tuple(map(str, given))
    again = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if again is not None:
        raise InputError(f"two configurations are named {shortened(again)}; name each once.")
    return names


def _sums_to_one(array: Array) -> bool:
    """Whether the last axis looks like classes, as one-hot labels and rounded probabilities do too."""
    if array.shape[2] < 2 or array.dtype.kind not in "iufO":
        return False
    try:
        numbers = numbers_of(array, "predictions")
    except InputError:
        return False  # text
    sums = numbers.sum(axis=2)
    present = ~np.isnan(sums)
    return bool(
        # Rounded to two decimals, probabilities of many classes sum to a little more or less than 1.
        present.any() and (np.abs(sums[present] - 1) <= TWO_DECIMALS).all() and (numbers[present] >= 0).all()
    )


def _values(array: Array) -> Floats:
    if array.shape[3] != 1:
        raise InputError(f"predictions of a regression have one value each, got {array.shape[3]} on the last axis.")
    return numbers_of(array, "predictions")[..., 0]


def _of_survival(array: Array, metric: Metric) -> tuple[Response, Floats]:
    """Risks (N, C, R), or survival probabilities (N, C, R, n_times)."""
    kind = metric.responses[0]
    numbers = numbers_of(array, "predictions")
    if kind is Response.RISK:
        if array.shape[3] != 1:
            raise InputError(f"{metric.name} reads one risk each, got {array.shape[3]} on the last axis.")
        return kind, numbers[..., 0]
    present = numbers[~np.isnan(numbers)]
    # With a single time the last axis may be left out; with several it is what tells times from repeats.
    if array.shape[3] == 1 and len(times_of(metric)) != 1:
        raise InputError(
            f"{metric.name} reads survival probabilities at several times, (rows, configurations, repeats, times), "
            f"got shape {array.shape[: 2 + (array.shape[2] > 1)]}; of one repeat pass predictions[:, :, None, :]."
        )
    if present.size and (present.min() < 0 or present.max() > 1):
        raise InputError(
            f"survival probabilities must lie in [0, 1], got {present.min():.9g} to {present.max():.9g}; if they "
            "are risks, use concordance_index."
        )
    return kind, numbers


def _refuse_of_numbers(metric: Metric, response: ResponseName, threshold: float | None) -> None:
    settings: Mapping[str, Any] = {"response": None if response == "auto" else response, "threshold": threshold}
    for name, value in settings.items():
        if value is not None:
            raise InputError(
                f"`{name}={value!r}` is for classifications, but {metric.name} compares numbers here; leave it out."
            )


_AXES: Mapping[Response, tuple[int, ...]] = {
    Response.PROBABILITIES: (3, 4),
    Response.DECISION: (3, 4),
    Response.SURVIVAL: (4,),
    Response.VALUES: (3, 4),
}


def _check_shapes(predictions: HeldOutPredictions) -> None:
    """Arrays of one number of rows, configurations and repeats, each of the type of its response."""
    if not predictions.responses:
        raise InputError("HeldOutPredictions hold no response; give at least one array.")
    shapes = {str(kind): np.shape(array) for kind, array in predictions.responses.items()}
    n_configurations = len(predictions.names)
    for kind, shape in shapes.items():
        axes = _AXES.get(Response(kind), (3,))
        if len(shape) not in axes or 0 in shape or shape[1] != n_configurations:
            fourth = {
                (3, 4): " or with classes or columns as a fourth axis",
                (4,): " with times as a fourth axis",
            }.get(axes, "")
            raise InputError(
                f"{kind} of HeldOutPredictions must have shape (rows, {n_configurations} configurations, repeats)"
                f"{fourth}, got {shape}."
            )
    if len({shape[:3] for shape in shapes.values()}) > 1:
        raise InputError(f"the responses of HeldOutPredictions must agree in shape, got {shapes}.")
    for kind, array in predictions.responses.items():
        of_codes = kind is Response.LABELS
        if array.dtype.kind not in ("iu" if of_codes else "f"):
            wanted = "class codes (int32)" if of_codes else "floats"
            raise InputError(f"{kind} of HeldOutPredictions must be {wanted}, got {array.dtype}.")
    # Every array has the same first three axes by now, so the first one stands for all.
    expected = next(iter(shapes.values()))[0], next(iter(shapes.values()))[2]
    if predictions.folds is not None and np.shape(predictions.folds) != expected:
        raise InputError(
            f"folds of HeldOutPredictions must have shape {expected}, got {np.shape(predictions.folds)}."
        )


def read_as(rule: Rule, metric: Metric, truth: Truth) -> Metric:
    """The metric that says which response is read: ``metric``, or a stand-in that reads what the rule reads."""
    if isinstance(rule, Threshold):
        return read_at_threshold(rule, metric, truth)
    if not isinstance(rule, WeightRule):
        return metric
    if Response.VALUES in metric.responses and not truth.kind.is_classification:
        return metric
    if {Response.PROBABILITIES, Response.LABELS} & set(metric.responses) and truth.kind.is_classification:
        # Labels have no mean; probabilities are averaged first and cut afterwards.
        return ReadAs(metric, f"{metric.name} of an ensemble", (Response.PROBABILITIES,))
    raise InputError(
        f"`selection={rule.name!r}` averages predictions, but {metric.name} reads {' or '.join(metric.responses)}, "
        "which are not on one scale for different models; use a metric of probabilities or of predicted values."
    )


def threshold_of_reading(rule: Rule, metrics: Sequence[Metric], threshold: float | None) -> float | None:
    """The threshold at which predictions are cut as they are read; None where they are averaged first."""
    if threshold is not None and isinstance(rule, Threshold):
        raise InputError(
            f"`threshold={threshold!r}` sets where to cut, but `selection={rule.name!r}` tunes this; leave one out "
            f"(or try a few: 'threshold(grid=[{threshold}, ...])')."
        )
    # The average is cut, not its parts: a threshold on the parts would be another ensemble.
    averaged = isinstance(rule, WeightRule) and any(Response.LABELS in metric.responses for metric in metrics)
    return None if averaged else threshold


def refuse_labels(rule: Rule, truth: Truth, predictions: Any, response: str) -> None:
    """Refuse an array of labels where a rule cuts or averages scores of classes."""
    is_array = not isinstance(predictions, HeldOutPredictions)
    reads_scores = isinstance(rule, Threshold | WeightRule) and truth.kind.is_classification
    if not is_array or not reads_scores or response not in ("auto", "labels"):
        return
    array = array_of(predictions, "predictions")
    if response == "auto" and array.dtype.kind == "f" and not np.isin(array[~missing(array)], [0, 1]).all():
        return
    verb, give = (
        ("tunes where scores are cut into labels", "probabilities or decisions")
        if isinstance(rule, Threshold)
        else ("averages predictions, but labels have no average", "probabilities")
    )
    raise InputError(
        f"`selection={rule.name!r}` {verb}, but the predictions are labels; pass {give} (and say `response=` where "
        "they are 0 and 1 only)."
    )


ResponseName: TypeAlias = Literal["auto", "labels", "probabilities", "decision"]
ROUNDING = 1e-6
"""How far beyond [0, 1] rounding errors take probabilities, those of a softmax in float32 included."""


def read_response(
    truth: Truth, array: Array, metric: Metric, response: ResponseName, threshold: float | None
) -> tuple[Response, Array]:
    """The response that a metric reads, and an array (N, C, R, outputs) of a classification in that response, as
    ``HeldOutPredictions`` holds it."""
    on_labels = Response.LABELS in metric.responses
    # Before anything is guessed: a threshold that would do nothing tells that the user means other numbers.
    check_cuts(metric, threshold)
    kind = response_of(truth, array, metric, threshold) if response == "auto" else Response(response)
    if kind is Response.LABELS:
        return kind, _from_labels(truth, array, metric, threshold)
    # From here on numbers are scores. For a metric of labels they are cut, as .7 of a classifier's predict_proba.
    scores = _oriented(truth, numbers_of(array, "predictions"), kind)
    if on_labels:
        return Response.LABELS, cut(truth, scores, kind, threshold)
    if kind not in metric.responses:
        got = f"numbers from {_ends(scores)}, beyond [0, 1]{_advice(scores)}" if response == "auto" else kind
        raise InputError(f"{metric.name} needs {' or '.join(metric.responses)}, got {got}.")
    return kind, scores


def check_settings(response: Any, threshold: Any) -> None:
    """Refuse a response or threshold that has no meaning."""
    check_choice("response", response, RESPONSES)
    if threshold is not None:
        check_number("threshold", threshold, usual=".5 is usual for probabilities")


def check_cuts(metric: Metric, threshold: float | None) -> None:
    """Refuse a threshold for a metric that reads scores as they are."""
    if threshold is not None and Response.LABELS not in metric.responses:
        raise InputError(
            f"`threshold={threshold!r}` cuts scores into labels, but {metric.name} reads the scores; leave it out."
        )


def response_of(truth: Truth, array: Array, metric: Metric, threshold: float | None) -> Response:
    """What the numbers are, where there is only one way to read them (or all give the same answer)."""
    # The branches go from what is certain to what is a guess; each has an example.
    on_labels = Response.LABELS in metric.responses
    # Only scores have a number for each class: (100, 3, 1, 4) of four classes. Labels have one for each row.
    if array.shape[3] > 1:
        return _of_several_outputs(truth, numbers_of(array, "predictions"), on_labels)
    # One number cannot score three classes, so 0, 1, 2 are labels; and "cat" is no score of anything.
    if truth.kind is TaskKind.MULTICLASS or not _is_numeric(array):
        return Response.LABELS
    numbers = numbers_of(array, "predictions")
    present = _present(numbers)
    # As they are stored, and not by value: 0 and 1 of int64 are labels to whoever wrote them, 0. and 1. may be
    # scores.
    whole = array.dtype.kind != "f"
    # Every number is a class: y is -1 and 1, and predictions are -1 and 1. Classes 1 and 2 with scores of .3 fail
    # here.
    if present.size and _all_labels(truth, present):
        return _of_labels(truth, present, metric, whole, threshold)
    # Predictions of 2 where y has 0 and 1: a wrong label, which the user must hear of; as a score it would pass.
    if on_labels and whole:
        return Response.LABELS  # whole numbers that are no classes: refused where they are coded
    # Numbers between the classes, such as .3 and -1.7: no labels, so probabilities or decisions.
    return _of_scores(numbers[..., 0], metric, threshold)


def _of_several_outputs(truth: Truth, numbers: Floats, on_labels: bool) -> Response:
    """Of several classes the greatest number gives the label; otherwise numbers in [0, 1] are probabilities."""
    # The greatest number is the label whether they sum to 1 or not, so the question need not be answered.
    if on_labels and truth.kind is TaskKind.MULTICLASS:
        return Response.DECISION
    # A softmax in float32 gives 1.0000001, and a polynomial of probabilities -1e-9: no decisions for that.
    outside = (numbers < -ROUNDING) | (numbers > 1 + ROUNDING)
    return Response.DECISION if outside.any() else Response.PROBABILITIES


def _of_labels(truth: Truth, present: Floats, metric: Metric, whole: bool, threshold: float | None) -> Response:
    """Numbers that are all classes: labels, or scores that happen to be 0 and 1.

    Labels of the greater class rise with its scores, so both readings agree where it is the positive one.
    """
    assert truth.classes is not None and truth.positive is not None
    # As scores, classes -1 and 1 would be decisions, and 0 and 1 probabilities.
    inside = bool(((present >= 0) & (present <= 1)).all())
    as_scores = Response.PROBABILITIES if inside else Response.DECISION
    # Positive is "1" of 0 and 1: labels and scores rise together. With pos_label=0 a label of 1 is the worst score.
    rising = truth.classes.astype(np.float64).argmax() == truth.positive
    on_labels = Response.LABELS in metric.responses
    if on_labels:
        # 0. and 1. with threshold=.3: a cut is named for what can be cut.
        if threshold is not None and not whole:
            return as_scores  # labels are not cut, so these are scores
        # -1. and 1. could be decisions, which are cut at 0; 1. and 2. could not be cut anywhere, so they are
        # labels.
        both_sides = (present < 0).any() and (present > 0).any()
        # All readings give the same label, or the numbers can be nothing but labels: no question is asked.
        if whole or rising or not (inside or both_sides):
            return Response.LABELS
    # Ranks of labels 0 and 1 and of probabilities 0 and 1 are the same.
    elif rising:
        return as_scores
    # Left is y of 0 and 1 with pos_label=0: a 1 means either "not the positive class" or "surely the positive
    # class".
    label = labels_text(truth.classes[truth.positive : truth.positive + 1])
    otherwise = "or 'labels' if they are the classes themselves"
    if not on_labels:
        other = "with the other class as `pos_label` it can"
        otherwise = f"but from labels {metric.name} cannot be computed ({other})"
    raise InputError(
        f"predictions hold only {labels_text(np.unique(present))}: labels, or scores of `pos_label={label}`, which "
        f"mean the opposite; pass `response={str(as_scores)!r}` if a greater number means more of class {label}, "
        f"{otherwise}."
    )


def _of_scores(numbers: Floats, metric: Metric, threshold: float | None) -> Response:
    """Probabilities or decisions (N, C, R), from where they lie."""
    # By configuration: one that predicted nothing says nothing of the others.
    has = (~np.isnan(numbers)).any(axis=(0, 2))
    outside = ((numbers < 0) | (numbers > 1)).any(axis=(0, 2))
    # All within [0, 1]: probabilities, because decisions leave it as soon as a model is sure.
    if not outside.any():
        return Response.PROBABILITIES
    if Response.LABELS not in metric.responses or threshold is not None:
        return Response.DECISION  # ranks, and a cut that was said, are the same of both
    # 1.0000001 by rounding: as a decision it would be cut at 0, and every row would be positive.
    if _almost_probabilities(numbers):
        raise InputError(
            f"predictions reach {_ends(numbers)}, beyond [0, 1]{_advice(numbers)}; or say `response=`."
        )
    # One model gives .2 to .9 and another -3 to 4: probably probabilities beside decisions, on two scales in one
    # table.
    if (has & ~outside).any():
        inside = int((has & ~outside).argmax())
        raise InputError(
            f"configuration {inside} lies within [0, 1] and configuration {int(outside.argmax())} does not, so "
            "they could be cut at .5 (probabilities) or at 0 (decisions), with other answers; say "
            "`response='probabilities'` or 'decision', or pass labels."
        )
    # Percentages (3 to 97) or classes 1 and 2 as floats: cut at 0, all rows would be positive.
    one_sided = has & ~((numbers < 0).any(axis=(0, 2)) & (numbers > 0).any(axis=(0, 2)))
    if one_sided.any():
        which = int(one_sided.argmax())
        raise InputError(
            f"configuration {which} holds numbers from {_ends(numbers[:, which])}, so cutting decisions at 0 would "
            "give every row one label; if they are percentages, divide them by 100; if labels, pass those of "
            "y_true; if decisions all the same, say `response='decision'` (or where to cut: `threshold=`)."
        )
    return Response.DECISION


def _present(numbers: Floats) -> Floats:
    """What is not NaN; without a copy where that is everything."""
    absent = np.isnan(numbers)
    return numbers[~absent] if absent.any() else numbers.reshape(-1)


def _ends(numbers: Floats) -> str:
    present = _present(numbers)
    return f"{present.min():.9g} to {present.max():.9g}"


def _almost_probabilities(numbers: Floats) -> bool:
    present = _present(numbers)
    return bool(present.size and present.min() >= -ROUNDING and present.max() <= 1 + ROUNDING)


def _advice(numbers: Floats) -> str:
    if not _almost_probabilities(numbers):
        return ""
    return ": if they are probabilities with rounding errors, cut them off at 0 and 1 (np.clip)"


def _is_numeric(array: Array) -> bool:
    if array.dtype.kind != "O":
        # Numbers, true and false; text and dates are labels in any case.
        return array.dtype.kind in "iufb"
    # ``array_of`` leaves as objects only whole numbers with gaps or beyond int64, and what is no number.
    present = array[~missing(array)].ravel()
    return all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in present)


def _all_labels(truth: Truth, present: Floats) -> bool:
    assert truth.classes is not None
    # Classes of text are never equal to numbers, and comparing the two would raise or warn.
    if truth.classes.dtype.kind not in "iufb":
        return False
    return bool(np.isin(present, truth.classes.astype(np.float64)).all())


def _from_labels(truth: Truth, array: Array, metric: Metric, threshold: float | None) -> Codes:
    if truth.kind is TaskKind.MULTICLASS and array.dtype.kind == "f" and array.shape[3] == 1:
        present = _present(array)
        if not _all_labels(truth, present) and (present % 1 != 0).any():
            raise InputError(
                f"predictions of shape {array.shape[: 2 + (array.shape[2] > 1)]} hold one number for each row, "
                f"configuration and repeat, such as {present[present % 1 != 0][0]:.6g}, which is no label; pass "
                f"labels, or scores of the {truth.n_classes} classes as (rows, configurations, repeats, classes).",
                argument="predictions",
            )
    if Response.LABELS not in metric.responses:
        raise InputError(
            f"{metric.name} needs {' or '.join(metric.responses)}, but the predictions are labels; pass those, or "
            "use a metric of labels such as accuracy."
        )
    if threshold is not None:
        raise InputError(
            f"`threshold={threshold!r}` cuts probabilities or decisions, but the predictions are labels; leave it "
            "out, or say `response='probabilities'` if they are."
        )
    if array.shape[3] > 1:
        raise InputError(f"labels have one value each, got {array.shape[3]} on the last axis.")
    assert truth.classes is not None
    column = array[..., 0]
    absent = missing(column)
    codes = np.full(column.shape, UNPREDICTED_LABEL, dtype=np.int32)
    codes[~absent] = codes_of(column[~absent], truth.classes)
    unknown = (codes == UNPREDICTED_LABEL) & ~absent
    if unknown.any():
        stranger = labels_text(np.unique(column[unknown]))
        raise InputError(
            f"predictions hold labels that y_true lacks: {stranger}; its classes are {labels_text(truth.classes)}. "
            "If there are more, list all as `classes=`."
        )
    return codes


def _oriented(truth: Truth, scores: Floats, kind: Response) -> Floats:
    """Scores as ``HeldOutPredictions`` holds them: binary ones of the positive class, (N, C, R)."""
    outputs = scores.shape[3]
    if kind is Response.PROBABILITIES:
        _check_probabilities(scores)
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


def _check_probabilities(scores: Floats) -> None:
    present = _present(scores)
    if present.size and (present.min() < 0 or present.max() > 1):
        ends = f"{_ends(scores)}{_advice(scores)}"
        raise InputError(f"probabilities must lie in [0, 1], got values from {ends}.", argument="")
    if scores.shape[3] > 1:
        sums = scores.sum(axis=3)
        wrong = ~np.isnan(sums) & (np.abs(sums - 1) > 1e-4)
        if wrong.any():
            raise InputError(
                f"probabilities must sum to 1 over the classes, got a sum of {sums[wrong].flat[0]:.4g}; divide "
                "them by their sum if that is rounding.",
                argument="",
            )


def cut(truth: Truth, scores: Floats, kind: Response, threshold: float | None) -> Codes:
    """Labels from scores: strictly above the threshold is positive; of several classes the first greatest."""
    if truth.kind is TaskKind.MULTICLASS:
        if threshold is not None:
            raise InputError(
                f"`threshold={threshold!r}` is for binary tasks; several classes take the greatest score."
            )
        absent = np.asarray(np.isnan(scores).any(axis=3))
        labels = np.where(absent[..., None], -np.inf, scores).argmax(axis=3).astype(np.int32)
    else:
        if threshold is not None and kind is Response.PROBABILITIES and not 0 <= threshold <= 1:
            raise InputError(f"threshold must lie in [0, 1] for probabilities, got {threshold}; .5 is usual.")
        cut = threshold if threshold is not None else 0.5 if kind is Response.PROBABILITIES else 0.0
        absent = np.asarray(np.isnan(scores))
        assert truth.positive is not None
        labels = np.full(scores.shape, 1 - truth.positive, dtype=np.int32)
        labels[scores > cut] = truth.positive
    labels[absent] = UNPREDICTED_LABEL
    return labels

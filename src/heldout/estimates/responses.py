"""What predictions are, and what a metric reads of them: labels, probabilities or decisions.

Predictions that can be read in two ways with different results are refused with a question, and so is a reading
that would give every row one label.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from heldout._types import Array, Codes, Floats
from heldout.data.checks import RESPONSES, check_choice
from heldout.data.task import TaskKind, Truth, codes_of, labels_text, missing, numbers_of
from heldout.errors import InputError
from heldout.metrics.base import Metric, Response
from heldout.predictions import UNPREDICTED_LABEL

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
    if threshold is None:
        return
    is_number = isinstance(threshold, int | float | np.integer | np.floating) and not isinstance(threshold, bool)
    if not is_number or not np.isfinite(threshold):
        raise InputError(
            f"threshold must be a finite number, got {threshold!r}; .5 is usual for probabilities.",
            argument="threshold",
        )


def check_cuts(metric: Metric, threshold: float | None) -> None:
    """Refuse a threshold for a metric that reads scores as they are."""
    if threshold is not None and Response.LABELS not in metric.responses:
        raise InputError(
            f"`threshold={threshold!r}` cuts scores into labels, but {metric.name} reads the scores; leave it out.",
            argument="threshold",
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
            "out, or say `response='probabilities'` if they are.",
            argument="threshold",
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
        raise InputError(f"probabilities must lie in [0, 1], got values from {_ends(scores)}{_advice(scores)}.")
    if scores.shape[3] > 1:
        sums = scores.sum(axis=3)
        wrong = ~np.isnan(sums) & (np.abs(sums - 1) > 1e-4)
        if wrong.any():
            raise InputError(
                f"probabilities must sum to 1 over the classes, got a sum of {sums[wrong].flat[0]:.4g}; divide "
                "them by their sum if that is rounding."
            )


def cut(truth: Truth, scores: Floats, kind: Response, threshold: float | None) -> Codes:
    """Labels from scores: strictly above the threshold is positive; of several classes the first greatest."""
    if truth.kind is TaskKind.MULTICLASS:
        if threshold is not None:
            raise InputError(
                f"`threshold={threshold!r}` is for binary tasks; several classes take the greatest score.",
                argument="threshold",
            )
        absent = np.asarray(np.isnan(scores).any(axis=3))
        labels = np.where(absent[..., None], -np.inf, scores).argmax(axis=3).astype(np.int32)
    else:
        if threshold is not None and kind is Response.PROBABILITIES and not 0 <= threshold <= 1:
            raise InputError(
                f"threshold must lie in [0, 1] for probabilities, got {threshold}; .5 is usual.",
                argument="threshold",
            )
        cut = threshold if threshold is not None else 0.5 if kind is Response.PROBABILITIES else 0.0
        absent = np.asarray(np.isnan(scores))
        assert truth.positive is not None
        labels = np.full(scores.shape, 1 - truth.positive, dtype=np.int32)
        labels[scores > cut] = truth.positive
    labels[absent] = UNPREDICTED_LABEL
    return labels

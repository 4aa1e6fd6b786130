"""Whether columns of predictions hold what a metric can read, said of the column, the value and the row."""

from __future__ import annotations

from typing import Any

from heldout.adapters.table_predictions import TablePredictions
from heldout.adapters.table_predictions_classes import Heads
from heldout.adapters.tables import quoted, reads_as_number
from heldout.errors import InputError
from heldout.metrics.base import Metric, Response
from heldout.task import TaskKind, Truth, labels_text

MOST_REMARKS = 3


def check_kinds(found: TablePredictions, heads: Heads, truth: Truth, metric: Metric) -> None:
    """Refuse text among numbers, and numbers beside labels, naming the column, value and row.

    Raises
    ------
    InputError
    """
    if found.held is not None:
        return
    frame = found.predictions
    if truth.kind is TaskKind.MULTICLASS and not heads.per_class:
        _check_labels_of_several_classes(frame, truth, metric)
    texts = [name for name in frame.columns if frame[name].dtype.kind not in "iufb"]
    labels_will_do = truth.kind.is_classification and Response.LABELS in metric.responses
    needs_numbers = heads.per_class or not labels_will_do
    for name in texts:
        present = frame[name].dropna()
        is_number = present.map(reads_as_number).astype(bool)
        if is_number.all() or not (needs_numbers or is_number.mean() > 0.5):
            continue
        stranger = present[~is_number]
        why = "most of its other rows hold numbers"
        if needs_numbers:
            why = "a column of a class needs numbers" if heads.per_class else f"{metric.name} needs numbers"
        raise InputError(
            f"column {name!r} holds {stranger.iloc[0]!r} in row {stranger.index[0] + 1}, but {why}; mend the file, "
            "or leave the column out (--exclude)."
        )
    numeric = [name for name in frame.columns if name not in texts]
    if texts and numeric:
        raise InputError(
            f"{quoted(numeric)} hold numbers and {quoted(texts)} text; predictions must be all scores or all "
            "labels: leave one kind out (--exclude)."
        )


def remarks_on_whole_numbers(found: TablePredictions) -> tuple[str, ...]:
    """A forgotten column of groups or rows would pass for a configuration, and could win: its numbers are whole."""
    if found.held is not None:
        return ()
    frame = found.predictions
    whole = [name for name in frame.columns if frame[name].dtype.kind in "iu" and frame[name].nunique() > 2]
    others = [name for name in frame.columns if name not in whole]
    if not whole or len(whole) >= len(others) or any(frame[name].dtype.kind != "f" for name in others):
        return ()
    return tuple(
        f"Column {name!r} is read as a configuration, although it holds whole numbers and most others do not; if "
        "it is none, say what it is for (--group, --row, --repeat, ...), or --exclude it."
        for name in whole[:MOST_REMARKS]
    )


def _check_labels_of_several_classes(frame: Any, truth: Truth, metric: Metric) -> None:
    """A column a configuration holds one thing a row: of several classes the label, no probabilities."""
    instead = "probabilities of several classes are a column for each class, named name[class]"
    assert truth.classes is not None
    if Response.LABELS not in metric.responses:
        raise InputError(
            f"{metric.name} needs {' or '.join(metric.responses)}, and {instead}; give those, or use a metric of "
            "labels such as accuracy, with columns of labels."
        )
    known = {*truth.classes.tolist(), *map(str, truth.classes.tolist())}
    for name in frame.columns:
        present = frame[name].dropna()
        strange = present[~present.isin(known)]
        if not len(strange):
            continue
        value, row = strange.iloc[0], strange.index[0] + 1
        has_decimals = frame[name].dtype.kind == "f" and bool((present != present.round()).any())
        why = (
            f"; with {truth.n_classes} classes a column must hold labels: {instead}"
            if has_decimals
            else "; mend the file, or leave the column out (--exclude)"
        )
        raise InputError(
            f"column {name!r} holds {value!s} in row {row}, which is none of the target's classes "
            f"({labels_text(truth.classes)}){why}."
        )


def guessed_metric(truth: Truth, found: TablePredictions, heads: Heads) -> str:
    """A metric that the predictions can be scored by: ranks where they are scores, else labels or R²."""
    if truth.kind is TaskKind.SURVIVAL:
        return "concordance_index"
    if truth.kind is TaskKind.REGRESSION:
        return "r2"
    if truth.kind is TaskKind.BINARY and found.held is None:
        numeric = all(dtype.kind in "iuf" for dtype in found.predictions.dtypes)
        assert truth.classes is not None
        labels = set(truth.classes.tolist())
        hard = all(set(found.predictions[name].dropna()) <= labels for name in found.predictions)
        if numeric and (heads.per_class or not hard):
            return "roc_auc"
    return "accuracy"

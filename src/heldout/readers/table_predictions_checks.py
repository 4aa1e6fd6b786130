"""Whether columns of predictions hold what a metric can read, said of the column, the value and the row."""

from __future__ import annotations

from typing import Any

from heldout.data.arrays import shortened
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.errors import InputError
from heldout.metrics.base import Metric, Response
from heldout.readers.long_signs import check_no_probabilities_of_classes
from heldout.readers.table_predictions import TablePredictions
from heldout.readers.table_predictions_classes import Heads
from heldout.readers.table_words import plain
from heldout.readers.tables import quoted, reads_as_number

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
    _check_no_dates(frame)
    if truth.classes is not None and not heads.per_class and found.configurations is None:
        check_no_probabilities_of_classes(frame, truth.classes.tolist())
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
            f"column {name!r} holds {shortened(stranger.iloc[0])} in row {stranger.index[0] + 1}, but {why}; fix "
            "the file, or leave the column out (--exclude)."
        )
    _check_of_one_kind(frame)


def _check_no_dates(frame: Any) -> None:
    """Refuse dates, times and durations, which are no predictions."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "iufb":
            continue
        strange = column.map(lambda value: not isinstance(value, str | bool | int | float))
        if strange.any():
            value = column[strange].iloc[0]
            raise InputError(
                f"column {name!r} holds {plain(value)}, a {type(value).__name__}, where a "
                "prediction must be a number or a label; leave the column out (--exclude)."
            )


def _check_of_one_kind(frame: Any) -> None:
    """Refuse numbers beside text, and true and false beside other numbers, with a value of each."""
    kinds = {name: frame[name].dtype.kind for name in frame.columns}
    of = {
        "numbers": [name for name, kind in kinds.items() if kind in "iuf"],
        "true and false": [name for name, kind in kinds.items() if kind == "b"],
        "text": [name for name, kind in kinds.items() if kind not in "iufb"],
    }
    held = [(what, names) for what, names in of.items() if names]
    if len(held) > 1:
        (one, these), (other, those) = held[:2]
        raise InputError(
            f"{quoted(these)} hold {one} and {quoted(those)} {other} (such as {_example(frame[those[0]])}); "
            "predictions must be all scores or all labels: leave one kind out (--exclude), or fix the file."
        )


def _example(column: Any) -> str:
    """A value of a column of text that reads as no number, where there is one, and its row."""
    present = column.dropna()
    strange = present[~present.map(reads_as_number).astype(bool)]
    first = (strange if len(strange) else present).head(1)
    return f"{shortened(first.iloc[0])} in row {first.index[0] + 1}"


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
            f"column {name!r} holds {plain(value)} in row {row}, which is none of the target's classes "
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

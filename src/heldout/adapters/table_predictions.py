"""Held-out predictions to and from a table: a row a data row, a column a configuration.

A table that heldout writes says in its metadata (``Table.roles``) what each column is, and so reads back as the
same ``HeldOutPredictions``, repeats and probabilities of several classes included. Of any other table the
user names the target and the columns that are no predictions; every remaining column is a configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.adapters.tables import Table, counted, quoted, reads_as_number
from heldout.errors import InputError
from heldout.metrics.base import Metric, Response
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.task import Task, TaskKind, Truth, checked_groups, checked_weights, codes_of, labels_text

OWN_COLUMNS = ("row", "repeat", "fold", "group", "weight")
"""Columns of a table that heldout writes, before the target and the configurations."""


_NO_CONFIGURATION = {
    **dict.fromkeys(("fold", "folds"), "--fold"),
    **dict.fromkeys(("group", "groups"), "--group"),
    **dict.fromkeys(("weight", "weights", "sample_weight"), "--weight"),
    **dict.fromkeys(("row", "id", "index", "repeat", "unnamed: 0"), "--exclude"),
}
"""Names that no configuration has, and the option that a column of that name is for."""


@dataclass(frozen=True, eq=False)
class TablePredictions:
    """What ``heldout.estimate`` needs, as a table holds it.

    Attributes
    ----------
    y_true : ndarray of shape (N,)
    predictions : HeldOutPredictions or pandas.DataFrame
        The latter with a column a configuration.
    folds, groups, sample_weight : ndarray of shape (N,) or None
    """

    y_true: NDArray[Any]
    predictions: Any
    folds: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[Any] | None = None

    @property
    def n_configurations(self) -> int:
        if isinstance(self.predictions, HeldOutPredictions):
            return self.predictions.n_configurations
        return int(self.predictions.shape[1])


def predictions_from_table(
    table: Table,
    target: str,
    *,
    fold: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    exclude: Sequence[str] = (),
) -> TablePredictions:
    """Read a foreign table of predictions.

    Parameters
    ----------
    table : Table
    target : str
        Column of true values.
    fold, group, weight : str, optional
        Columns that say in which fold a row was held out, to which group it belongs, and how much it counts.
    exclude : sequence of str
        Columns that are nothing of these, such as the number of the row.

    Raises
    ------
    InputError
        When a column is unknown or has two uses, no configuration is left, or one has no predictions at all.
    """
    roles = {"the target": target, "the folds": fold, "the groups": group, "the weights": weight}
    named = {purpose: name for purpose, name in roles.items() if name is not None}
    columns = {purpose: table.column(name, purpose) for purpose, name in named.items()}
    used = [*named.values(), *exclude]
    for name in exclude:
        table.column(name, "one to leave out")
    twice = [name for name, times in Counter(used).items() if times > 1]
    if twice:
        raise InputError(f"column {twice[0]!r} was named for two uses; a column has one.")
    predictions = table.frame.drop(columns=used)
    _check_left_over(predictions.columns)
    if not predictions.shape[1]:
        raise InputError(
            f"{table.name} has no column of predictions besides {quoted(used)}; it needs a column a configuration."
        )
    empty = [name for name in predictions.columns if predictions[name].isna().all()]
    if empty:
        raise InputError(
            f"{quoted(empty)} of {table.name} {'has' if len(empty) == 1 else 'have'} no predictions at all, only "
            f"missing values; leave {'it' if len(empty) == 1 else 'them'} out (--exclude), or mend the file."
        )
    for purpose, column in columns.items():
        _check_complete(column, purpose)
    weights = columns.get("the weights")
    if weights is not None and weights.dtype.kind not in "iuf":
        raise InputError(f"the weights column {weight!r} must hold numbers, got {weights.iloc[0]!r}.")
    return TablePredictions(
        y_true=_labels(columns["the target"]),
        predictions=predictions,
        folds=_labels(columns.get("the folds")),
        groups=_labels(columns.get("the groups")),
        sample_weight=None if weights is None else weights.to_numpy(),
    )


def _check_complete(column: Any, purpose: str) -> None:
    absent = column.isna()
    if absent.any():
        lacking, first = counted(int(absent.sum()), "missing value"), int(absent.to_numpy().argmax()) + 1
        raise InputError(
            f"column {column.name!r} ({purpose}) has {lacking} in {counted(len(column), 'row')} (the first in row "
            f"{first}); every row needs one: fill them in, or leave these rows out."
        )


def _labels(column: Any) -> Any:
    if column is None:
        return None
    array = column.to_numpy()
    return array.astype(str) if array.dtype == object and not column.isna().any() else array


def _check_left_over(names: Sequence[str]) -> None:
    """A forgotten column of folds would pass for a configuration, and could even win."""
    for name in names:
        option = _NO_CONFIGURATION.get(name.lower())
        if option is not None:
            use = "" if option == "--exclude" else f"{option} {name}, or "
            raise InputError(
                f"column {name!r} would be read as a configuration, which its name does not suggest; say {use}"
                f"--exclude {name} (or rename it if it is one)."
            )


def check_kinds(found: TablePredictions, truth: Truth, metric: Metric) -> None:
    """Refuse text among numbers, and numbers beside labels, naming the column, value and row.

    Raises
    ------
    InputError
    """
    if isinstance(found.predictions, HeldOutPredictions):
        return
    frame = found.predictions
    if truth.kind is TaskKind.MULTICLASS:
        _check_labels_of_several_classes(frame, truth, metric)
    texts = [name for name in frame.columns if frame[name].dtype.kind not in "iufb"]
    needs_numbers = truth.kind is TaskKind.REGRESSION or Response.LABELS not in metric.responses
    for name in texts:
        present = frame[name].dropna()
        is_number = present.map(reads_as_number).astype(bool)
        if is_number.all() or not (needs_numbers or is_number.mean() > 0.5):
            continue
        stranger = present[~is_number]
        why = f"{metric.name} needs numbers" if needs_numbers else "most of its other rows hold numbers"
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


def _check_labels_of_several_classes(frame: Any, truth: Truth, metric: Metric) -> None:
    """A column a configuration holds one thing a row: of several classes the label, no probabilities."""
    instead = (
        "probabilities of several classes cannot be read from a table yet (in Python heldout.estimate takes them, "
        "as an array of rows x configurations x repeats x classes)"
    )
    assert truth.classes is not None
    if Response.LABELS not in metric.responses:
        raise InputError(
            f"{metric.name} needs {' or '.join(metric.responses)}, and {instead}; use a metric of labels such as "
            "accuracy, with columns of labels."
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


def table_of_predictions(
    task: Task, predictions: HeldOutPredictions, metric: Metric, target: str
) -> tuple[Any, dict[str, Any]]:
    """The predictions that a metric reads as a table, with what each column is.

    Returns
    -------
    frame : pandas.DataFrame
        One row for each data row and repeat: ``row``, ``repeat``, ``fold``, ``group`` and ``weight`` where there
        are any, the target, then a column a configuration (of several classes: one a configuration and class).
    roles : dict
        JSON-safe; ``predictions_from_own_table`` reads the frame back by it.
    """
    import pandas as pd

    array = predictions.for_metric(metric)
    n_rows, n_configurations, n_repeats = array.shape[:3]
    response = _response_held(predictions, metric)
    names = _distinct(predictions.names, taken=(*OWN_COLUMNS, target))
    target_name = target if target not in OWN_COLUMNS else f"{target} (target)"
    classes = predictions.classes
    columns: dict[str, Any] = {
        "row": np.tile(np.arange(n_rows), n_repeats),
        "repeat": np.repeat(np.arange(n_repeats), n_rows),
    }
    if predictions.folds is not None:
        columns["fold"] = predictions.folds.T.ravel()
    if task.groups is not None:
        columns["group"] = np.tile(task.groups, n_repeats)
    if task.sample_weight is not None:
        columns["weight"] = np.tile(task.sample_weight, n_repeats)
    columns[target_name] = np.tile(task.truth.labels(), n_repeats)
    outputs: list[list[str]] = []
    for j in range(n_configurations):
        long = np.moveaxis(array[:, j], 1, 0).reshape(n_rows * n_repeats, -1)
        heads = [names[j]] if array.ndim == 3 else [f"{names[j]} = {label}" for label in _listed(classes)]
        for head, values in zip(heads, long.T, strict=True):
            columns[head] = _readable(values, classes) if response is Response.LABELS else values
        outputs.append(heads)
    roles = {
        "target": target_name,
        "kind": task.truth.kind.value,
        "metric": metric.name,
        "response": response.value,
        "classes": None if classes is None else _listed(classes),
        "positive": predictions.positive,
        "names": list(predictions.names),
        "columns": outputs,
        "failed": {str(position): reason for position, reason in predictions.failed.items()},
        "exchangeable": predictions.exchangeable,
        "training_rows": predictions.training_rows,
    }
    return pd.DataFrame(columns), roles


def predictions_from_own_table(table: Table) -> TablePredictions:
    """Read back what ``table_of_predictions`` wrote."""
    frame, roles = table.frame, table.roles
    n_rows = int(frame["row"].max()) + 1
    n_repeats = int(frame["repeat"].max()) + 1
    response = Response(roles["response"])
    classes = None if roles["classes"] is None else np.asarray(roles["classes"])
    several = len(roles["columns"][0]) > 1

    def by_row(column: str) -> NDArray[Any]:
        return np.asarray(frame[column].to_numpy().reshape(n_repeats, n_rows).T)

    def of_configuration(heads: Sequence[str]) -> NDArray[Any]:
        stacked = np.stack([by_row(head) for head in heads], axis=-1)
        return stacked if several else stacked[..., 0]

    array = np.stack([of_configuration(heads) for heads in roles["columns"]], axis=1)
    if response is Response.LABELS:
        array = _codes(array, classes)
    predictions = HeldOutPredictions(
        {response: array},
        tuple(roles["names"]),
        by_row("fold").astype(np.int32) if "fold" in frame else None,
        classes,
        roles["positive"],
        {int(position): reason for position, reason in roles["failed"].items()},
        roles["exchangeable"],
        roles["training_rows"],
    )
    first = frame["repeat"].to_numpy() == 0
    kept = {name: frame[name].to_numpy()[first] for name in ("group", "weight") if name in frame}
    y_true = _labels(frame[roles["target"]][first])
    if classes is not None:
        y_true = y_true.astype(classes.dtype)
    return TablePredictions(
        y_true,
        predictions,
        None,
        checked_groups(kept.get("group"), n_rows),
        checked_weights(kept.get("weight"), n_rows),
    )


def guessed_metric(truth: Truth, found: TablePredictions) -> str:
    """A metric that the predictions can be scored by: ranks where they are scores, else labels or R²."""
    if truth.kind is TaskKind.REGRESSION:
        return "r2"
    if truth.kind is TaskKind.BINARY and not isinstance(found.predictions, HeldOutPredictions):
        numeric = all(dtype.kind in "iuf" for dtype in found.predictions.dtypes)
        assert truth.classes is not None
        labels = set(truth.classes.tolist())
        if numeric and not all(set(found.predictions[name].dropna()) <= labels for name in found.predictions):
            return "roc_auc"
    return "accuracy"


def _response_held(predictions: HeldOutPredictions, metric: Metric) -> Response:
    return next(response for response in metric.responses if response in predictions.responses)


def _distinct(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Column names that differ from each other and from the other columns."""
    seen: Counter[str] = Counter(taken)
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return distinct


def _listed(classes: NDArray[Any] | None) -> list[Any]:
    assert classes is not None
    return list(classes.tolist())


def _readable(codes: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    assert classes is not None
    labels = classes.astype(object)[np.where(codes == UNPREDICTED_LABEL, 0, codes)]
    labels[codes == UNPREDICTED_LABEL] = None
    return np.asarray(labels)


def _codes(array: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[np.int32]:
    assert classes is not None
    from heldout.task import missing

    absent = missing(array)
    codes = np.full(array.shape, UNPREDICTED_LABEL, dtype=np.int32)
    codes[~absent] = codes_of(array[~absent].astype(classes.dtype), classes)
    return codes

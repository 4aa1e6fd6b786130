"""The columns of each configuration: which they are, whether a metric can read them, and their predictions.

A configuration has one column, or one per class, named ``name[class]``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from heldout import _defaults
from heldout._types import Array, Codes, Floats, Indices
from heldout.data.task import TaskKind, Truth, array_of, labels_text, no_labels, numbers_of
from heldout.errors import InputError
from heldout.estimates.input_arrays import ResponseName, read_predictions
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response
from heldout.predictions import HeldOutPredictions
from heldout.readers.columns import (
    check_no_dates,
    check_numbers,
    check_one_kind,
    codes_of_column,
    columns_of_classes,
    place_of_class,
    quoted,
    reads_as_number,
)

_OF_CLASS = re.compile(r"(.+)\[([^\[\]]*)\]")
MOST_REMARKS = 3
AS_LONG = "if the table has a line for each row and configuration, use --configuration COL --row COL"
FEWEST_CHANGES = 5
_ROUNDED = 0.0101
"""The largest distance from 1 of the sum of probabilities that were rounded to two decimals."""


@dataclass(frozen=True, eq=False)
class ColumnPredictions:
    """Predictions of N rows in R repeats, as columns of a table."""

    frame: Any
    """A row per line of the file, and one column, or one per class, for each configuration."""
    places: Indices
    """(N, R): the line of the data frame of each row in each repeat."""
    configurations: Mapping[str, dict[str, str | None]] | None = None
    """The columns of each configuration and their classes, None for a single column; by default those that follow
    from the names of the columns.
    """
    flags: Mapping[Flag, str] = field(default_factory=dict)
    """What a reader of any estimate from these predictions must know."""

    @property
    def by_name(self) -> Mapping[str, dict[str, str | None]]:
        """The columns of each configuration with their classes; those of a table if names in brackets are such."""
        if self.configurations is not None:
            return self.configurations
        stems: dict[str, dict[str, str | None]] = {}
        for column in self.frame.columns:
            match = _OF_CLASS.fullmatch(column)
            stem, label = (column, None) if match is None else match.groups()
            stems.setdefault(stem, {})[column] = label
        return stems


@dataclass(frozen=True)
class PredictionColumns:
    """The columns of each configuration."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    """One per configuration, or one per class in the target's order."""
    per_class: bool = False
    """Whether each column belongs to a class."""


def prediction_columns_of(table: ColumnPredictions, truth: Truth) -> PredictionColumns:
    """Find the columns of each configuration.

    ``name[class]`` is the column of a class if the text in brackets is a class of the target; with two classes the
    column of the positive one is enough. Missing classes, or columns of which only some name a class, are refused.
    """
    by_name = table.by_name
    classes = [] if truth.classes is None else truth.classes.tolist()
    by_class = {
        name: [
            (None if label is None else place_of_class(label.strip(), classes), column)
            for column, label in labels.items()
        ]
        for name, labels in by_name.items()
    }
    codes = {code for pairs in by_class.values() for code, _ in pairs}
    if codes == {None}:
        columns = [*by_name.items()] if table.configurations else [(name, [name]) for name in table.frame.columns]
        several = next((pairs for _, pairs in columns if len(pairs) > 1), None)
        if several is not None:
            raise InputError(
                f"{quoted([*several])} belong to classes, but the target is read as numbers; name one column of "
                "predictions with --prediction COL, or use a metric of labels."
            )
        return PredictionColumns(tuple(name for name, _ in columns), tuple((*pairs,) for _, pairs in columns))
    needed = {*range(len(classes))} if codes - {None} != {truth.positive} else codes - {None}
    of_none = [column for pairs in by_class.values() for code, column in pairs if code is None]
    if of_none:
        of_class = next(column for pairs in by_class.values() for code, column in pairs if code is not None)
        raise InputError(
            f"column {of_none[0]!r} belongs to no class of the target ({labels_text(truth.classes)}), as "
            f"{of_class!r} does; name every column name[class], or none, or leave columns out (--exclude)."
        )
    for name, pairs in by_class.items():
        if len({code for code, _ in pairs}) < len(pairs):
            raise InputError(
                f"{quoted([column for _, column in pairs])} name a class of the target twice; leave one out "
                "(--exclude)."
            )
        if {code for code, _ in pairs} != needed:
            hint = (
                f" (with two classes the column of the positive one, {labels_text([truth.pos_label])}, is enough; "
                "--positive LABEL names it)"
                if truth.positive is not None
                else ""
            )
            raise InputError(
                f"{quoted([column for _, column in pairs])} of {name!r} must be one column for each class of the "
                f"target ({labels_text(truth.classes)}), as other columns name a class{hint}; name every column "
                "name[class], or none, or leave columns out (--exclude)."
            )
    return PredictionColumns(
        tuple(by_class), tuple(tuple(column for _, column in sorted(pairs)) for pairs in by_class.values()), True
    )


def held_out(
    table: ColumnPredictions,
    folds: Array | None,
    heads: PredictionColumns,
    truth: Truth,
    metric: Metric,
    *,
    response: ResponseName = _defaults.RESPONSE,
    threshold: float | None = None,
) -> HeldOutPredictions:
    """The predictions that ``metric`` reads, named after their configurations.

    Predictions that the metric cannot use, or that can be read in two ways, are refused.
    """
    if len(heads.columns[0]) == 1:
        lines = array_of(table.frame[[column for (column,) in heads.columns]], "predictions")
        array = np.moveaxis(lines[table.places], 2, 1)[..., None]  # (N, R, C) as (N, C, R, 1)
    else:
        of_each = [
            numbers_of(array_of(table.frame[list(names)], "predictions"), names[0]) for names in heads.columns
        ]
        array = np.stack([lines[table.places] for lines in of_each], axis=1)
    several = array.shape[-1] == truth.n_classes > 1
    flags = exchanged(truth.values, array, heads.names) if several else {}
    held = read_predictions(truth, array, metric, response=response, threshold=threshold, folds=folds)
    return replace(held, names=heads.names, flags={**table.flags, **flags})


def check_kinds(table: ColumnPredictions, heads: PredictionColumns, truth: Truth, metric: Metric) -> None:
    """Refuse columns that a metric cannot read, and text among numbers, naming the column, value and row."""
    frame = table.frame
    if truth.classes is not None and not heads.per_class and table.configurations is None:
        check_no_probabilities_of_classes(frame, truth.classes.tolist(), table.by_name.values())
    labels_will_do = truth.kind.is_classification and Response.LABELS in metric.responses
    if truth.kind is TaskKind.MULTICLASS and not heads.per_class:
        if not labels_will_do:
            raise InputError(
                f"{metric.name} needs {' or '.join(metric.responses)}, and probabilities of several classes are a "
                "column for each class, named name[class]; give those, or use a metric of labels such as accuracy, "
                "with columns of labels."
            )
        assert truth.classes is not None
        for name in frame.columns:
            codes_of_column(frame[name], truth.classes)
    for name in frame.columns:
        check_no_dates(frame[name], "a prediction")
        numbers = frame[name].dtype.kind in "iuf"  # no need to look at every cell
        is_number = frame[name].dropna().map(reads_as_number).astype(bool).mean() if not numbers else 1.0
        # A few words among numbers are damage, where labels would do.
        if frame[name].dtype.kind != "b" and (heads.per_class or not labels_will_do or 0.5 < is_number < 1):
            check_numbers(frame[name], "the predictions")
    columns = [frame[name] for name in frame.columns]
    check_one_kind(
        columns, "predictions must be all scores or all labels: leave one kind out (--exclude), or fix the file"
    )


def remarks_on_whole_numbers(table: ColumnPredictions) -> tuple[str, ...]:
    """Remarks on columns of whole numbers: a forgotten column of groups or rows would count as a configuration."""
    frame = table.frame
    whole = [name for name in frame.columns if frame[name].dtype.kind in "iu" and frame[name].nunique() > 2]
    others = [name for name in frame.columns if name not in whole]
    if not whole or len(whole) >= len(others) or any(frame[name].dtype.kind != "f" for name in others):
        return ()
    return tuple(
        f"Column {name!r} is read as a configuration, although it holds whole numbers and most others do not; if "
        "it is not one, name its use (--group, --row, --repeat, ...), or --exclude it."
        for name in whole[:MOST_REMARKS]
    )


def holds_amounts(table: ColumnPredictions, truth: Truth) -> bool:
    """Whether numbers with decimals are predicted of whole numbers that could be several classes: of counts."""
    if truth.kind is not TaskKind.MULTICLASS or truth.classes is None or truth.classes.dtype.kind not in "iuf":
        return False
    of_classes = any(label is not None for labels in table.by_name.values() for label in labels.values())
    numeric = all(dtype.kind in "iuf" for dtype in table.frame.dtypes)
    return not of_classes and numeric and any(no_labels(column).any() for column in table.frame.to_numpy().T)


def holds_scores(table: ColumnPredictions, heads: PredictionColumns, truth: Truth) -> bool:
    """Whether columns of a classification hold scores, or only labels of its classes."""
    numeric = all(dtype.kind in "iuf" for dtype in table.frame.dtypes)
    labels = set([] if truth.classes is None else truth.classes.tolist())
    hard = all(set(table.frame[name].dropna()) <= labels for name in table.frame)
    return numeric and (heads.per_class or not hard)


LEAST_SPREAD = 0.05
"""The standard deviation of probabilities from which an order of rows is taken for one that a model meant."""


def exchanged(codes: Codes, probabilities: Floats, names: Sequence[str]) -> dict[Flag, str]:
    """The flag of configurations whose columns of classes were exchanged.

    They rank the rows (N, C, R, K) of a class clearly the wrong way round, where most rank them rightly.
    Probabilities with little spread do so by themselves: a constant is lower for the class of a held-out row.
    """
    first = probabilities[:, :, 0]
    rows = ~np.isnan(first).any(axis=(1, 2))
    places = set[int]()
    for code in np.unique(codes[rows]) if len(np.unique(codes[rows])) > 1 else ():
        of_class, values = codes[rows] == code, first[rows, :, code]
        areas = np.array([roc_auc_score(of_class, column) for column in values.T]) - 0.5
        error = np.sqrt((len(of_class) + 1) / (12 * of_class.sum() * (~of_class).sum()))
        least = max(np.median(areas) / 2, NormalDist().inv_cdf(1 - 0.005 / first[0].size) * error)
        if np.median(areas) > 0:
            places |= {*np.flatnonzero((-areas > least) & (values.std(axis=0) > LEAST_SPREAD))}
    which = [names[j] for j in sorted(places)]
    named = {"lacking": len(which), "total": len(names), "which": quoted(which, 3)}
    return Flag.CLASSES_EXCHANGED.of(**named) if which else {}


def check_no_probabilities_of_classes(
    predictions: Any, classes: Sequence[Any], stems: Iterable[Iterable[str]] = ()
) -> None:
    """Refuse neighbouring columns, or columns named after the classes or alike, that sum to 1 in every row.

    ``stems``: columns of one name but for the text in brackets.
    """
    named = [*columns_of_classes(list(predictions.columns), [str(label) for label in classes])]
    alike = [[*stem] for stem in stems]
    named += [dict.fromkeys(columns, "") for columns in alike if len(columns) == len(classes)]
    together = next((list(columns) for columns in named if _sum_to_one(predictions[list(columns)])), None)
    together = together or _neighbours(predictions, len(classes))
    if together:
        raise InputError(
            f"{quoted(together)} sum to 1 in every row, as the probabilities of the target's classes "
            f"({quoted([str(label) for label in classes])}) do, and would be read as {len(together)} "
            f"configurations; name them name[class], or, {AS_LONG} (or leave out all but one with --exclude)."
        )


def _neighbours(predictions: Any, n_classes: int) -> list[str]:
    numeric = [name for name in predictions.columns if predictions[name].dtype.kind == "f"]
    if not 2 <= n_classes <= len(numeric):
        return []
    values = predictions[numeric].to_numpy(dtype=np.float64)
    n_windows = len(numeric) - n_classes + 1
    near = np.abs(values[:50, :n_windows] + sum(values[:50, j : j + n_windows] for j in range(1, n_classes)) - 1)
    for first in np.flatnonzero((np.nan_to_num(near) <= _ROUNDED).all(axis=0)):
        columns = numeric[first : first + n_classes]
        if _sum_to_one(predictions[columns]):
            return columns
    return []


def _sum_to_one(columns: Any) -> bool:
    if any(dtype.kind != "f" for dtype in columns.dtypes):
        return False
    values: Floats = columns.to_numpy(dtype=np.float64)
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < FEWEST_CHANGES or values.min() < 0 or values.max() > 1 or (values == values.round()).all():
        return False
    return bool((np.abs(values.sum(axis=1) - 1) <= _ROUNDED).all())

"""A tool whose columns are known: a declaration of them, from which its tables are read.

A tool that writes a file or table for each model says what their files end with; all of them become one table with
a column of models.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.data.task import checked_groups, checked_weights, row_labels
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.readers.columns import check_numbers, free_name, quoted
from heldout.readers.formats.base import ColumnUses, Export, parts_of, stacked, with_values, without_row_names
from heldout.readers.known_classes import KnownClasses, kind_of_prediction
from heldout.readers.long_table import LineRoles, Pivot, numbered_rows, pivot_of
from heldout.readers.prediction_arrays import PredictionArrays
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.tables import Table

_AS_LABELS = (
    "The whole numbers in {column!r} are read as labels of classes, because the target holds each of them; if they "
    "are amounts, name all columns yourself (configuration, row, target, fold and prediction)."
)


class Tool(ABC):
    """What its tables need, and what their columns are: one file in this folder, and one line in ``FORMATS``."""

    name: str
    """What users write for it, such as "caret"."""
    title: str
    """What it is, such as "fit$pred of caret"."""
    signs: str
    """What it is recognised by, for sentences, such as "columns pred, obs and rowIndex"."""
    needs: tuple[str, ...] = ()
    """Columns that every table of it has."""
    marks: tuple[str, ...] = ()
    """Columns by which its tables are recognised besides; they can lack where the user names the tool."""
    endings: tuple[str, ...] = ()
    """Of files that hold one model each; none where a table holds all."""
    free: tuple[str, ...] = ()
    """Uses for which the user may name columns beside those of the tool."""
    by_label: bool = False
    """Whether tables keep the labels of the rows of the data."""
    configuration: str = "the configuration"
    """The name of a configuration that no column names."""
    slices: str = ""
    """A pattern of the tool's names for resamples in the order of time."""
    remedy: str = ""
    """A sentence on how the tool keeps the predictions of all configurations."""

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        """Whether an export is of this format; certain, never likely: two formats must not recognise one export."""
        parts = parts_of(export, *self.endings).values() if self.endings else [export]
        return any(part.columns - {*uses.exclude} >= {*self.needs, *self.marks} for part in parts)

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        """The predictions; called where the format was recognised, or named by the user.

        Raises InputError where a column is missing, a line occurs twice, or a column could have two uses.
        """
        needed = [name for name in self.needs if name in uses.exclude]
        if needed:
            raise InputError(
                f"column {needed[0]!r} cannot be left out of {self.title}, which cannot be read without it; leave "
                "out other columns.",
                argument="exclude",
            )
        tables, uses = self.tables(export, uses)
        if not tables:
            raise InputError(f"{export.name} holds no file of {self.title} ({' or '.join(self.endings)}).")
        first, given = next(iter(tables.values())), uses.target
        columns = self.columns(
            [name for name in first.frame.columns if name not in (*uses.exclude, str(uses.target))]
        )
        uses.check_agree(self.title, columns, self.free)
        named: dict[str, Any] = {use: column for use, column in columns.items() if column is not None}
        uses = replace(uses, **named)
        read = {model: _complete(table, uses, self.by_label) for model, table in tables.items()}
        table, uses = next(iter(read.values()))
        if self.endings:
            table, model = stacked({model: table for model, (table, _) in read.items()}, export.name)
            uses = replace(uses, configuration=(model,))
        roles = self.roles(export, table, uses)
        filled = {use: getattr(roles, use) or getattr(uses, use) for use in _FILLED}
        fold = roles.fold or (() if uses.fold is None else (uses.fold,))
        n_rows = roles.n_rows or (_n_rows(first.labels, given) if self.by_label else None)
        return self.predictions(table, replace(roles, fold=fold, n_rows=n_rows, **filled), uses)

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        """The table of each model, or that of all, and the uses; refused where the export cannot be read."""
        if not self.endings:
            return {"": without_row_names(export.table_with(*self.needs))}, uses
        parts = parts_of(export, *self.endings)
        return {model: part.table_with(*self.needs) for model, part in parts.items()}, uses

    def columns(self, names: list[str]) -> dict[str, str | None]:
        """The tool's column for each use, None where a use has none; without a row the lines are numbered."""
        return {}

    @abstractmethod
    def roles(self, export: Export, table: Table, uses: ColumnUses) -> LineRoles:
        """What the other columns of the table are; the uses are those of the user and of ``columns``."""

    def predictions(self, table: Table, roles: LineRoles, uses: ColumnUses) -> PredictionTable:
        """The predictions of a table, of which the tool says what they are."""
        if not (roles.labels or roles.values or roles.probabilities or roles.heads):
            raise InputError(
                f"{table.name} has no column of predictions beside {quoted([*table.frame])}; give the file as it "
                "was written, and leave out other columns.",
                argument="exclude",
            )
        pivot = pivot_of(table, roles, self.configuration)
        flags = {**roles.flags, **pivot.flags}
        if len(pivot.names) == 1 and roles.is_chosen and Flag.INCOMPLETE_CONFIGURATIONS not in flags:
            flags |= Flag.ONE_CONFIGURATION_KEPT.of(source=table.name, remedy=self.remedy)
        if pivot.folds is None:
            flags |= Flag.FOLDS_UNKNOWN.of(source=table.name)
        by_time = (
            self.slices and pivot.resamples and all(re.fullmatch(self.slices, name) for name in pivot.resamples)
        )
        arrays = PredictionArrays(
            names=tuple(roles.heads) or pivot.names,
            folds=pivot.folds,
            adaptive=roles.adaptive,
            exchangeable=not by_time,
            flags=flags,
            question=roles.question,
            **_responses(table.frame, roles, pivot),
        )
        as_labels: tuple[str, ...] = ()
        if arrays.classes is not None and arrays.probabilities is None and arrays.classes.dtype.kind in "iuf":
            as_labels = (_AS_LABELS.format(column=roles.labels),) * (len(arrays.classes) > 2)
        columns = replace(roles, settings=pivot.settings).columns
        shown = {use: (" in " if use == "folds" else ", ").join(names) for use, names in columns.items()}
        return PredictionTable.of_arrays(
            pivot.truth,
            arrays,
            Source(table.name, self.name, self.title, shown if roles.shown is None else roles.shown),
            groups=checked_groups(pivot.groups, len(pivot.truth)),
            sample_weight=checked_weights(pivot.weights, len(pivot.truth)),
            remarks=(*table.remarks, *as_labels, *roles.remarks),
        )


_FILLED = ("target", "event", "row", "repeat", "configuration", "group", "weight")


def _complete(table: Table, uses: ColumnUses, by_label: bool) -> tuple[Table, ColumnUses]:
    """A table of the tool with what the user gives, without what the user leaves out, and with numbered rows."""
    table, uses = with_values(table, uses, by_label=by_label)
    uses.purposes_in(table)
    frame = table.frame.drop(columns=list(uses.exclude))
    if uses.row is None:
        uses = replace(uses, row=free_name("row", frame.columns))
        repeats = np.zeros(len(frame)) if uses.repeat is None else frame[uses.repeat].factorize()[0]
        frame = frame.assign(**{str(uses.row): frame.groupby(repeats).cumcount().to_numpy() + 1})
    return replace(table, frame=frame), replace(uses, exclude=())


def _n_rows(labels: Any, target: Any) -> int | None:
    """How many rows the data have, by the labels of the true values or of the tables."""
    given = row_labels(target)
    if labels is None:
        return None
    return len(given) if given is not None and {*labels} <= {*given} else numbered_rows(labels)


def _responses(frame: Any, roles: LineRoles, pivot: Pivot) -> dict[str, Any]:
    """The classes, and the predictions as the fields of ``PredictionArrays`` hold them."""
    heads = [*roles.heads.values()] or [{"": roles.values} if roles.values else roles.probabilities]
    if "" in heads[0]:
        columns = [frame[head[""]] for head in heads]
        if frame[roles.target].dtype.kind not in "iuf" and not roles.of_classes:
            raise no_class(columns[0].name, roles.target)
        for column in columns:
            check_numbers(column, "the predictions")
        values = [pivot.placed(column.to_numpy(dtype=np.float64), np.nan) for column in columns]
        classes = np.unique(frame[roles.target].to_numpy(dtype=str)) if roles.of_classes else None
        return {"values": np.concatenate(values, axis=1), "classes": classes}
    known = [KnownClasses.of_columns(frame, roles.target, roles.labels, head) for head in heads]
    responses: dict[str, Any] = {"classes": known[0].labels}
    if roles.labels is not None:
        responses["labels"] = pivot.placed(known[0].codes(frame[roles.labels]), -1)
    if any(heads):
        scores = [pivot.placed(classes.scores(frame), np.nan) for classes in known]
        responses["probabilities"] = np.concatenate(scores, axis=1)
    return responses


def of_kind(
    table: Table, predicted: str, target: str, *, with_classes: bool = False, two_are_classes: bool = False
) -> dict[str, Any]:
    """The role of a column of predictions: labels or values; ``with_classes``, beside columns of these, labels.

    ``two_are_classes``: numbers of a target of two numbers are refused, as nothing says which class they are of.
    """
    kind = Response.LABELS if with_classes else kind_of_prediction(table.frame[predicted], table.frame[target])
    if kind is Response.PROBABILITIES and two_are_classes:
        raise no_class(predicted, target)
    return {"labels" if kind is Response.LABELS else "values": predicted}


def no_class(predicted: str, target: str) -> InputError:
    """The error of numbers that are of one class."""
    return InputError(
        f"column {predicted!r} holds numbers, and nothing says of which class of {target!r} they are; give a "
        "column for each class."
    )


def with_prefix(frame: Any, prefix: str) -> dict[str, str]:
    """The columns that are named after classes behind a prefix, by class."""
    return {name.removeprefix(prefix): name for name in frame if name.startswith(prefix)}


def check_alone(table: Table, *names: str) -> None:
    """Refuse lines of several tasks, resamplings or sizes: their rows are not the same."""
    for name in names:
        values = table.frame[name].unique() if name in table.frame else ()
        if len(values) > 1:
            raise InputError(
                f"{table.name} has {len(values)} values of {name!r} ({quoted(values)}), and its lines must be of "
                "one task, resampling or number of training rows; give those of one."
            )

"""A tool whose columns are known: a declaration of them, from which its tables are read.

A tool that writes a file or table for each model says what their files end with; all of them become one table with
a column of models.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from heldout._types import Array
from heldout.data.row_labels import in_order_of, row_labels
from heldout.data.task import checked_groups, checked_weights, column_of, truth_of
from heldout.errors import InputError
from heldout.estimates.input_arrays import distinct_names
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.readers.columns import (
    check_numbers,
    classes_of_columns,
    codes_of_column,
    free_name,
    kind_of_prediction,
    quoted,
)
from heldout.readers.long_table import PURPOSES, ColumnUses, Pivot, numbered_rows, pivot_of
from heldout.readers.prediction_table import PredictionTable, Source, flagged, of_positive, task_kind
from heldout.readers.tables import Table, read_table, table_of_frame


@dataclass(frozen=True, eq=False)
class Export:
    """What a user has of a tool: a file or folder, a table in memory, or another object."""

    name: str
    """As the user wrote it, or a noun for an object; for sentences."""
    path: Path | None = None
    value: Any = None
    """The object where there is no path."""

    @classmethod
    def of(cls, source: Any) -> Export:
        """The export at a path, or of an object."""
        if isinstance(source, str | Path):
            return cls(str(source), Path(source))
        if is_frame(source):
            return cls("the table", value=source)
        return cls(f"the {type(source).__name__}", value=source)

    @cached_property
    def table(self) -> Table | None:
        """The table in a file or in memory; None of a folder and of other objects."""
        if self.path is not None:
            return None if self.path.is_dir() else read_table(self.name)
        frame = self.value.as_data_frame() if hasattr(self.value, "as_data_frame") else self.value  # of H2O
        return table_of_frame(frame, self.name) if is_frame(frame) else None

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of the columns of the table; none where there is no table."""
        if hasattr(self.value, "as_data_frame"):  # which takes time
            return frozenset(self.value.columns)
        return frozenset(() if self.table is None else self.table.frame.columns)

    def table_with(self, *columns: str) -> Table:
        """The table; refused where there is none, or a column is missing."""
        if self.table is None:
            raise InputError(f"{self.name} is no table; give a CSV or Parquet file, or a data frame.")
        for name in columns:
            self.table.column(name, "one of the format")
        return self.table


def without_row_names(table: Table) -> Table:
    """The table without the names of its lines, which R's ``write.csv`` writes as a first column without a name."""
    name = "Unnamed: 0"
    if name not in table.frame or table.frame[name].duplicated().any():
        return table
    remark = "The column without a name holds the names of the lines and was excluded."
    return replace(table, frame=table.frame.drop(columns=name), remarks=(*table.remarks, remark))


def is_frame(value: Any) -> bool:
    """Whether an object is a data frame, of pandas, polars and so on."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


INDEX = "Unnamed: 0"
"""The name that a column without a name gets, such as an index that pandas wrote."""
_COLUMNS = {"target": "true values", "fold": "folds", "group": "groups", "weight": "weights"}
"""The names of the columns that hold given values."""


def with_values(table: Table, uses: ColumnUses, *, by_label: bool = False) -> tuple[Table, ColumnUses]:
    """The table with what the user gives as values in columns of its own, and the uses with the names of these.

    A Series is matched with the labels of the rows, as ``in_order_of`` says; all else is in the order of the lines.
    ``by_label``: the tool keeps the labels of the rows of the data, of which a Series may have more.
    """
    named: dict[str, Any] = {}
    frame, labels = table.frame, table.labels
    for use, name in _COLUMNS.items():
        given = getattr(uses, use)
        if given is None or (isinstance(given, str) and given in frame):
            continue
        values = values_of(given, use, table)
        index = row_labels(values)
        if by_label and labels is not None and index is not None and index.is_unique and {*labels} <= {*index}:
            values = values.loc[labels]
        array = column_of(in_order_of(labels, "source", values, use), use)
        if array.ndim != 1 or len(array) != len(frame):
            raise InputError(
                f"{use} must be a column, or one value for each of the {len(frame)} lines of {table.name}, got "
                f"shape {array.shape}."
            )
        named[use] = free_name(name, frame.columns)
        frame = frame.assign(**{named[use]: array})
    return replace(table, frame=frame), replace(uses, **named)


def check_target(uses: ColumnUses, name: str) -> None:
    """Refuse an export without true values where the user gives none."""
    if uses.target is None:
        raise InputError(
            f"target is needed: name the column of true values of {name} with `target='COL'`, or give "
            "`target='FILE:COL'`, a column of another file with rows in the same order (in Python also an array). "
            "Scores that need no true values, such as right or wrong, are read with `format='scores'`.",
            argument="target",
        )


def values_of(given: Any, use: str, table: Table) -> Any:
    """The column of a file, with the labels in a column without a name, or an array or Series as it is.

    A name that is neither a file's column nor ``FILE:COL`` is refused with the nearest names of the table.
    """
    if isinstance(given, str):
        file, _, column = given.rpartition(":")
        if not (file and Path(file).is_file()):
            table.column(given, PURPOSES[use])
        other = read_table(file)
        values = other.column(column, PURPOSES[use])
        return values.set_axis(other.frame[INDEX]) if INDEX in other.frame else values
    if hasattr(given, "as_data_frame"):  # a frame of H2O
        given = given.as_data_frame()
    if getattr(given, "ndim", 1) == 2 and given.shape[1] == 1 and hasattr(given, "iloc"):
        return given.iloc[:, 0]
    return given


def parts_of(export: Export, *endings: str) -> dict[str, Export]:
    """The parts of an export by the names of their models; a single file or table is one part.

    Parameters
    ----------
    endings : str
        The files of a folder that are parts are those whose names end so. Where all have one name, as in
        ``run_7/predictions.arff``, those of its folders are, and the model has the name of the folder.
    """
    if isinstance(export.value, Mapping):
        parts = dict(zip(distinct_names(export.value), map(Export.of, export.value.values()), strict=True))
        return {name: replace(part, name=name) if part.path is None else part for name, part in parts.items()}
    if isinstance(export.value, list | tuple):
        if not all(isinstance(part, str | Path) for part in export.value):
            return {}
        return _named([Path(part) for part in export.value], export.name)
    if export.path is not None and export.path.is_dir():
        own = [path for path in sorted(export.path.iterdir()) if _ends(path, endings)]
        nested = [] if own else [path for path in sorted(export.path.glob("*/*")) if _ends(path, endings)]
        return _named(own or (nested if len({path.name for path in nested}) == 1 else []), export.name)
    if export.path is not None:
        return dict.fromkeys(_named([export.path], export.name), export)  # whose table is read once
    return {"the model": export}


def stacked(tables: Mapping[str, Table], name: str) -> tuple[Table, str]:
    """The tables of all models as one, and the name of the column that says which model a line is of.

    Tables with different columns or of different lengths are refused: they are not of the same target and rows.
    """
    import pandas as pd

    frames = {model: table.frame for model, table in tables.items()}
    first, *others = frames
    columns = list(frames[first].columns)
    for other in others:
        if set(frames[other].columns) != set(columns):
            odd = sorted({*frames[other].columns} ^ {*columns}, key=str)
            raise InputError(
                f"{other} and {first} of {name} have different columns ({quoted(odd)} in one only); all models "
                "must predict the same target."
            )
        if len(frames[other]) != len(frames[first]):
            raise InputError(
                f"{other} of {name} has {len(frames[other])} lines and {first} has {len(frames[first])}; all "
                "models must predict the same rows. Is a file incomplete?"
            )
        for column in columns:
            kinds = [frames[each][column].dtype.kind in "iufb" for each in (first, other)]
            if kinds[0] != kinds[1]:
                raise InputError(
                    f"column {column!r} of {name} holds {'numbers' if kinds[0] else 'text'} in {first} and "
                    f"{'numbers' if kinds[1] else 'text'} in {other}; is a file damaged?"
                )
    model = free_name("model", columns)
    frame = pd.concat([frame[columns].assign(**{model: key}) for key, frame in frames.items()], ignore_index=True)
    return Table(name, frame, tables[first].remarks), model


def _named(paths: Sequence[Path], name: str) -> dict[str, Export]:
    names = [path.stem for path in paths]
    if len(set(names)) < len(names) or (paths and all(path.name == "predictions.arff" for path in paths)):
        names = [path.resolve().parent.name for path in paths]
    again = [each for each, count in Counter(names).items() if count > 1]
    if again:
        raise InputError(
            f"two files of {name} have the name {again[0]!r}, which names a configuration; rename one, or in "
            "Python give a mapping from names to files."
        )
    return {each: Export.of(path) for each, path in zip(names, paths, strict=True)}


def _ends(path: Path, endings: Sequence[str]) -> bool:
    return path.is_file() and path.name.lower().endswith(tuple(endings)) and not path.name.startswith(".")


_AS_LABELS = (
    "The whole numbers in {columns} are read as labels of classes, because the target holds each of them; if they "
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
    columns: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Its columns for each use, of which a table has the first that is there; without a row lines are numbered."""
    endings: tuple[str, ...] = ()
    """Of files that hold one model each; none where a table holds all."""
    free: tuple[str, ...] = ()
    """Uses for which the user may name columns beside those of the tool."""
    finds_target: bool = False
    """Whether ``roles`` finds the true values where the user does not name them."""
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
        columns = self._columns_in(first, uses)
        uses.check_agree(self.title, columns, self.free)
        named: dict[str, Any] = {use: column for use, column in columns.items() if column is not None}
        uses = replace(uses, **named)
        if not self.finds_target:
            check_target(uses, export.name)
        read = {model: _complete(table, uses, self.by_label) for model, table in tables.items()}
        table, uses = next(iter(read.values()))
        if self.endings:
            table, model = stacked({model: table for model, (table, _) in read.items()}, export.name)
            uses = replace(uses, configuration=(model,))
        roles = self.roles(export, table, uses)
        fold = (roles.fold,) if isinstance(roles.fold, str) else roles.fold or ()
        n_rows = roles.n_rows or (_n_rows(first.labels, given) if self.by_label else None)
        return self.predictions(table, replace(roles, fold=fold, n_rows=n_rows))

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        """The table of each model, or that of all, and the uses; refused where the export cannot be read."""
        if not self.endings:
            return {"": without_row_names(export.table_with(*self.needs))}, uses
        parts = parts_of(export, *self.endings)
        return {model: part.table_with(*self.needs) for model, part in parts.items()}, uses

    def _columns_in(self, table: Table, uses: ColumnUses) -> dict[str, str | None]:
        """The column for each use in a table, None where it has none; the user may then give the true values."""
        names = [name for name in table.frame.columns if name not in uses.exclude]
        columns = {
            use: next(
                (name for name in ours if name in names and (use == "target" or name != str(uses.target))), None
            )
            for use, ours in self.columns.items()
        }
        return {use: name for use, name in columns.items() if use != "target" or name is not None}

    @abstractmethod
    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        """The uses that the user and ``columns`` name, with those of the other columns of the table."""

    def predictions(self, table: Table, roles: ColumnUses) -> PredictionTable:
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
        responses, classes = _responses(table.frame, roles, pivot)
        arrays = HeldOutPredictions(
            responses,
            tuple(roles.heads) or pivot.names,
            pivot.folds,
            classes,
            adaptive=roles.adaptive,
            exchangeable=not by_time,
            flags=flags,
            question=roles.question,
        )
        as_labels: tuple[str, ...] = ()
        if classes is not None and Response.PROBABILITIES not in responses and classes.dtype.kind in "iuf":
            labels = quoted([head.labels for head in roles.responses])
            as_labels = (_AS_LABELS.format(columns=labels),) * (len(classes) > 2)
        columns = replace(roles, settings=pivot.settings).columns
        shown = {use: (" in " if use == "folds" else ", ").join(names) for use, names in columns.items()}
        truth = truth_of(pivot.truth, task_kind(classes), classes=classes)
        arrays = flagged(arrays, truth)
        held = of_positive(arrays, truth)
        return PredictionTable(
            pivot.truth,
            held,
            held.folds,
            checked_groups(pivot.groups, len(pivot.truth)),
            checked_weights(pivot.weights, len(pivot.truth)),
            Source(table.name, self.name, self.title, shown if roles.shown is None else roles.shown),
            arrays,
            (*table.remarks, *as_labels, *roles.remarks),
        )


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


def _responses(frame: Any, roles: ColumnUses, pivot: Pivot) -> tuple[dict[Response, Array], Array | None]:
    """The predictions of all classes as ``HeldOutPredictions`` holds them, and the classes."""
    heads = roles.responses
    numbers = [head.values for head in heads if head.values]
    labels = [head.labels for head in heads if head.labels]
    if numbers:
        for name in numbers:
            check_numbers(frame[name], "the predictions")
        if frame[roles.target].dtype.kind not in "iuf" and not roles.of_classes:
            raise no_class(numbers[0], roles.target)
        values = [pivot.placed(frame[name].to_numpy(dtype=np.float64), np.nan) for name in numbers]
        classes = np.unique(frame[roles.target].to_numpy(dtype=str)) if roles.of_classes else None
        return {Response.VALUES: np.concatenate(values, axis=1)}, classes
    known = [classes_of_columns(frame, roles.target, labels, head.probabilities) for head in heads]
    classes = known[0][0]
    responses: dict[Response, Array] = {}
    if heads[0].probabilities:
        for name in dict.fromkeys(name for _, columns in known for name in columns):
            check_numbers(frame[name], "the probabilities")
        scores = [pivot.placed(frame[columns].to_numpy(dtype=np.float64), np.nan) for _, columns in known]
        responses[Response.PROBABILITIES] = np.concatenate(scores, axis=1)
    if labels:
        codes = [pivot.placed(codes_of_column(frame[name], classes), -1) for name in labels]
        responses[Response.LABELS] = np.concatenate(codes, axis=1)
    return responses, classes


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

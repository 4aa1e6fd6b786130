"""A table of a tool with a line for each row, resample and configuration, whose columns are known.

Lines are placed by their keys (``line_grid``), so their order means nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import checked_groups, checked_weights
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.predictions import SearchQuestion
from heldout.readers.columns import check_complete, check_numbers, is_setting, labels_of_column, plain, quoted
from heldout.readers.known_classes import KnownClasses
from heldout.readers.lines import (
    LineKey,
    check_same,
    configuration_key,
    first_lines,
    flag_of_rows,
    line_key,
    lines_of_cells,
    natural_order,
    numbered_rows,
    repeats_of_names,
    repeats_of_resamples,
)
from heldout.readers.prediction_arrays import PredictionArrays
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.tables import Table


@dataclass(frozen=True, eq=False)
class LineGrid:
    """Where the cells of N rows, R repeats and C configurations are."""

    lines: NDArray[np.intp]
    """(N, R, C): -1 where a row was not held out in a repeat."""
    folds: NDArray[np.int32] | None
    """(N, R): numbered from 0 in each repeat, -1 where a row was not held out; None if unknown."""
    names: tuple[str, ...]
    """Of the configurations."""
    flags: Mapping[Flag, str] = field(default_factory=dict)

    def placed(self, values: NDArray[Any], absent: Any) -> NDArray[Any]:
        """Values of lines (n_lines, ...) as (N, C, R, ...)."""
        placed = values[self.lines]
        placed[self.lines < 0] = absent
        return np.ascontiguousarray(placed.swapaxes(1, 2))


def grid_of_lines(
    rows: LineKey, resamples: LineKey | None, configurations: LineKey, repeats: LineKey | None, roles: LineRoles
) -> LineGrid:
    """Place the lines by their keys; without ``repeats`` these are found from which resamples overlap."""
    of_line = _repeat_of_line(rows, resamples, configurations, repeats)
    lines = lines_of_cells(
        [rows, LineKey("repeat", of_line, range(int(of_line.max()) + 1)), configurations],
        f"{roles.keys} tell lines apart: name the column that distinguishes these with `configuration=` (export it "
        "if it is missing), or leave one of the lines out",
        shown=[key for key in (rows, repeats or resamples, configurations) if key is not None],
    )
    folds = None if resamples is None else _folds(rows, resamples, lines, ", ".join(roles.fold))
    grid = LineGrid(lines, folds, tuple(map(str, configurations.labels)))
    return _of_complete_configurations(grid, rows, roles.keys)


def _repeat_of_line(
    rows: LineKey, resamples: LineKey | None, configurations: LineKey, repeats: LineKey | None
) -> NDArray[np.intp]:
    if repeats is not None:
        return repeats.codes
    cells = np.unique(rows.codes * len(configurations.labels) + configurations.codes)
    # Where each configuration predicted a row once, all resamples are folds of one repeat.
    if resamples is None or len(cells) == len(rows.codes):
        return np.zeros(len(rows.codes), dtype=np.intp)
    return repeats_of_resamples(rows.codes, resamples.codes, len(rows.labels))[resamples.codes]


def _folds(rows: LineKey, resamples: LineKey, lines: NDArray[np.intp], name: str) -> NDArray[np.int32]:
    """The fold (N, R) of each row in each repeat, numbered from 0 in each as those of a search are."""
    import pandas as pd

    in_repeat = lines.reshape(-1, lines.shape[2])
    labels = np.array([*resamples.labels], dtype=object)
    check_same("the folds", pd.Series(labels[resamples.codes], name=name), in_repeat, rows)
    first = first_lines(in_repeat)
    folds = np.where(first < 0, -1, resamples.codes[first]).astype(np.int32).reshape(lines.shape[:2])
    for column in folds.T:
        held = column >= 0
        column[held] = np.unique(column[held], return_inverse=True)[1]
    return folds


def _of_complete_configurations(grid: LineGrid, rows: LineKey, columns: str) -> LineGrid:
    """The configurations that predicted every row that others predicted, with a flag on those that lack folds."""
    has: NDArray[np.bool_] = np.asarray(grid.lines >= 0)
    lacks = np.any(has, axis=2, keepdims=True) & ~has
    incomplete = np.flatnonzero(lacks.any(axis=(0, 1)))
    if not incomplete.size:
        return grid
    _refuse_partial_folds(grid, has, lacks, rows, columns)
    kept = np.flatnonzero(~lacks.any(axis=(0, 1)))
    if not kept.size:
        raise InputError(
            f"no configuration has predictions of all folds ({columns}); if one of these columns is no setting of "
            "the model, leave it out with `exclude=`."
        )
    which = quoted([grid.names[column] for column in incomplete], 3)
    return replace(
        grid,
        lines=grid.lines[:, :, kept],
        names=tuple(grid.names[column] for column in kept),
        flags=Flag.INCOMPLETE_CONFIGURATIONS.of(lacking=len(incomplete), total=len(grid.names), which=which),
    )


def _refuse_partial_folds(
    grid: LineGrid, has: NDArray[np.bool_], lacks: NDArray[np.bool_], rows: LineKey, columns: str
) -> None:
    """Refuse a configuration that predicted only some rows of a fold."""
    shape = grid.lines.shape
    of_cell = np.zeros(shape[:2], dtype=np.intp) if grid.folds is None else grid.folds.astype(np.intp)
    # Codes that do not recur in another repeat, so that a fold is one number.
    of_cell = of_cell + np.arange(shape[1]) * (of_cell.max() + 1)
    for column in np.flatnonzero(lacks.any(axis=(0, 1))):
        # A fold that lacks all rows of a configuration is a fit that was not made; one that lacks some is damage.
        partly = np.isin(of_cell, of_cell[has[:, :, column]]) & lacks[:, :, column]
        if partly.any():
            row = int(partly.any(axis=1).argmax())
            raise InputError(
                f"{rows.text(row)} of {grid.names[column]} is in no line, but others predicted it ({columns}); "
                "each configuration must have predicted the same rows: add its line with an empty prediction, or "
                "if one of these is no setting of the model, leave it out with `exclude=`."
            )


_AS_LABELS = (
    "The whole numbers in {column!r} are read as labels of classes, because the target holds each of them; if they "
    "are amounts, name all columns yourself (configuration, row, target, fold and prediction)."
)


@dataclass(frozen=True)
class LineRoles:
    """The role of each column that matters; all are names of columns."""

    target: str = ""
    row: str = ""
    configuration: tuple[str, ...] = ()
    """Columns that together identify a configuration; none for a single configuration. Some may be of one model."""
    fold: tuple[str, ...] = ()
    """Columns that together identify a resample, such as ``("id", "id2")``."""
    repeat: str | None = None
    """By default repeats are found from which resamples overlap."""
    labels: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)
    """The column of each class, by the text of the class."""
    values: str | None = None
    """Predicted numbers of a regression; at least one of ``labels``, ``probabilities`` and ``values`` is given."""
    of_classes: bool = False
    """Whether the values are scores, and the target holds the class of each row, such as its task."""
    heads: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """``probabilities`` of each configuration by its name, where these have columns and no lines of their own; a
    column of no class holds values."""
    group: str | None = None
    weight: str | None = None
    settings: tuple[str, ...] = ()
    """Columns that are added to the name of a configuration, as far as they have one value in each."""
    attributes: tuple[str, ...] = ()
    """Columns of the data, which are the same in all lines of a row."""
    n_rows: int | None = None
    """How many rows the data have; by default as many as the rows are numbered up to."""
    is_chosen: bool = False
    """Whether a single configuration may be the best of several that are not in the table."""
    adaptive: bool = False
    """Whether configurations were proposed or dropped because of scores."""
    question: SearchQuestion | None = None
    """What is estimated where the user says nothing else."""
    flags: Mapping[Flag, str] = field(default_factory=dict)
    """What the format knows to be lost; unknown folds are flagged for all."""
    remarks: Sequence[str] = ()
    """Sentences about assumptions, in addition to those of the table."""

    @property
    def keys(self) -> str:
        """The columns that identify a line, for sentences."""
        folds, settings = quoted(self.fold) or "unknown", quoted(self.configuration) or "one"
        return f"rows: {self.row!r}, folds: {folds}, configurations: {settings}"

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The columns of each use as people call it, in the order in which they read them."""
        columns: dict[str, Sequence[str | None]] = {
            "truth": (self.target,),
            "rows": (self.row,),
            "folds": tuple(reversed(self.fold)),
            "repeats": (self.repeat,),
            "configurations": (*self.configuration, *self.settings),
            "labels": (self.labels,),
            "probabilities": tuple(self.probabilities.values()),
            "predictions": (self.values,),
            "groups": (self.group,),
            "weights": (self.weight,),
        }
        return {use: given for use, names in columns.items() if (given := tuple(name for name in names if name))}

    def check(self, table: Table) -> None:
        """Refuse columns that are missing, or that have missing values where every line needs one."""
        for use, names in self.columns.items():
            purpose = "the target" if use == "truth" else f"the {use}"
            for name in names:
                column = table.column(name, purpose)
                if use in ("truth", "rows", "folds", "repeats", "groups", "weights"):
                    check_complete(column, purpose)
        if self.weight is not None:
            check_numbers(table.frame[self.weight], "the weights")


def predictions_of_lines(table: Table, roles: LineRoles, tool: Any, name: str) -> PredictionTable:
    """The predictions of a table whose columns are known.

    ``tool`` is the ``Tool`` that declared them, and ``name`` that of the export.
    """
    frame = table.frame
    roles.check(table)
    configurations, settings = _configurations(table, roles, tool.configuration)
    roles = replace(roles, settings=settings)
    columns = {use: (" in " if use == "folds" else ", ").join(names) for use, names in roles.columns.items()}
    rows = line_key("row", frame[roles.row])
    resamples = _resample_key(frame, roles)
    numbers = None if roles.repeat is None else frame[roles.repeat]
    if numbers is None and len(roles.fold) == 1:
        numbers = repeats_of_names(frame[roles.fold[0]])
    repeats = None if numbers is None else line_key("repeat", numbers)
    grid = grid_of_lines(rows, resamples, configurations, repeats, roles)
    lines = grid.lines.reshape(len(grid.lines), -1)
    first = first_lines(lines)
    fixed = [("the target", roles.target), ("the groups", roles.group), ("the weights", roles.weight)]
    for what, column in [*fixed, *(("the attributes", name) for name in roles.attributes)]:
        if column is not None:
            check_same(what, frame[column], lines, rows)
    truth = labels_of_column(frame[roles.target])[first]
    n_rows = roles.n_rows or numbered_rows(rows.labels, math.inf)
    flags = {**roles.flags, **grid.flags, **flag_of_rows(n_rows, len(rows.labels), name)}
    if len(grid.names) == 1 and roles.is_chosen and not grid.flags:
        flags |= Flag.ONE_CONFIGURATION_KEPT.of(source=name, remedy=tool.remedy)
    if grid.folds is None:
        flags |= Flag.FOLDS_UNKNOWN.of(source=name)
    names = () if resamples is None else resamples.labels
    by_time = bool(tool.slices and len(names)) and all(re.fullmatch(tool.slices, label) for label in names)
    arrays = PredictionArrays(
        names=tuple(roles.heads) or grid.names,
        folds=grid.folds,
        adaptive=roles.adaptive,
        exchangeable=not by_time,
        flags=flags,
        question=roles.question,
        **_responses(frame, roles, grid),
    )
    as_labels: tuple[str, ...] = ()
    if arrays.classes is not None and arrays.probabilities is None and arrays.classes.dtype.kind in "iuf":
        as_labels = (_AS_LABELS.format(column=roles.labels),) * (len(arrays.classes) > 2)
    groups = None if roles.group is None else labels_of_column(frame[roles.group])[first]
    weights = None if roles.weight is None else frame[roles.weight].to_numpy()[first]
    return PredictionTable.of_arrays(
        truth,
        arrays,
        Source(name, tool.name, tool.title, columns),
        groups=checked_groups(groups, len(first)),
        sample_weight=checked_weights(weights, len(first)),
        remarks=(*table.remarks, *as_labels, *roles.remarks),
    )


def _responses(frame: Any, roles: LineRoles, grid: LineGrid) -> dict[str, Any]:
    """The classes, and the predictions as the fields of ``PredictionArrays`` hold them."""
    heads = [*roles.heads.values()] or [{"": roles.values} if roles.values else roles.probabilities]
    if "" in heads[0]:
        columns = [frame[head[""]] for head in heads]
        for column in columns:
            check_numbers(column, "the predictions")
        values = [grid.placed(column.to_numpy(dtype=np.float64), np.nan) for column in columns]
        classes = np.unique(frame[roles.target].to_numpy(dtype=str)) if roles.of_classes else None
        return {"values": np.concatenate(values, axis=1), "classes": classes}
    known = [KnownClasses.of_columns(frame, roles.target, roles.labels, head) for head in heads]
    responses: dict[str, Any] = {"classes": known[0].labels}
    if roles.labels is not None:
        responses["labels"] = grid.placed(known[0].codes(frame[roles.labels]), -1)
    if any(heads):
        scores = [grid.placed(classes.scores(frame), np.nan) for classes in known]
        responses["probabilities"] = np.concatenate(scores, axis=1)
    return responses


def _configurations(table: Table, roles: LineRoles, name: str) -> tuple[LineKey, tuple[str, ...]]:
    """The configurations, with the values of their settings in their names, and the columns of these settings."""
    frame = table.frame
    if not roles.configuration:
        return LineKey("configuration", np.zeros(len(frame), dtype=np.intp), [name]), ()
    # A column with one value everywhere tells no configurations apart, and only lengthens names.
    distinct = [column for column in roles.configuration if frame[column].nunique(dropna=False) > 1]
    key = configuration_key(frame, distinct or roles.configuration, table.name)
    several = [column for column in roles.settings if frame[column].nunique(dropna=False) > 1]
    settings = tuple(column for column in several if is_setting(frame[column], key.codes))
    if not settings:
        return key, ()
    first = np.unique(key.codes, return_index=True)[1]
    labels = [
        f"{label} ({_settings_text(frame.iloc[int(line)], settings)})"
        for label, line in zip(key.labels, first, strict=True)
    ]
    return LineKey(key.noun, key.codes, labels), settings


def _settings_text(line: Any, settings: Sequence[str]) -> str:
    """The settings of a line; those of other models are missing."""
    values = {name: line[name] for name in settings if line[name] == line[name]}
    return ", ".join(
        f"{name}={f'{value:.6g}' if isinstance(value, float) else plain(value)}" for name, value in values.items()
    )


def _resample_key(frame: Any, roles: LineRoles) -> LineKey | None:
    """The resamples, in the order of the numbers in their names."""
    if not roles.fold:
        return None
    codes = frame.groupby(list(roles.fold), sort=False).ngroup().to_numpy()
    first = np.unique(codes, return_index=True)[1]
    labels = [", ".join(plain(frame[column].iloc[line], 200) for column in roles.fold) for line in first]
    # Fold10 follows Fold9, although it sorts before Fold2.
    order = natural_order(labels)
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    return LineKey("fold", ranks[codes], [labels[place] for place in order])

"""The long table: which columns of a table are rows, repeats, folds, configurations and predictions, and its pivot.

Lines are placed by their keys, and no two lines have the same keys, so the order of the lines means nothing. All
formats end here, so every check of lines, rows, folds and repeats is made here once.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from heldout._text import counted
from heldout._types import Array, Booleans, Codes, Indices
from heldout.data.task import survival_target
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.predictions import SearchQuestion
from heldout.readers.columns import (
    check_complete,
    check_numbers,
    events_of_column,
    free_names,
    is_setting,
    labels_of_column,
    plain,
    quoted,
)
from heldout.readers.tables import Table

_REPEAT = re.compile(r".+\.Rep(\d{1,18})")
"""The names that caret gives to the folds of repeats: ``Fold1.Rep2``."""
_DIGITS = re.compile(r"(\d{1,18})")


@dataclass(frozen=True)
class ResponseColumns:
    """The columns of the predictions of a configuration; there is at least one."""

    labels: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)
    """The column of each class, by the text of the class."""
    values: str | None = None
    """Predicted numbers of a regression, or scores."""


PURPOSES = {
    "target": "the target", "event": "the event", "fold": "the folds", "repeat": "the repeats", "row": "the rows",
    "group": "the groups", "weight": "the weights", "configuration": "the configurations",
    "predictions": "the predictions", "exclude": "one to leave out",
}  # fmt: skip
"""What the columns are for that a user names."""


@dataclass(frozen=True, eq=False)
class ColumnUses(ResponseColumns):
    """What the columns of a table are for: what the user says, then also what the format knows.

    All are names of columns. The ``target``, ``fold``, ``group`` and ``weight`` of a user can be arrays with a
    value a row, which become columns before the lines are placed.
    """

    target: Any = None
    event: str | None = None
    """Of a survival target, which then holds times."""
    row: str | None = None
    configuration: tuple[str, ...] = ()
    """Columns that together identify a configuration; none for a single configuration. Some may be of one model."""
    fold: Any = None
    """In the end columns that together identify a resample, such as ``("id", "id2")``."""
    repeat: str | None = None
    """By default repeats are found from the names of folds, or from which resamples overlap."""
    group: Any = None
    weight: Any = None
    predictions: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tasks: str | None = None
    """Of evaluations with several tasks: whether the tasks are drawn ("whole"), or items in each ("stratified")."""
    of_classes: bool = False
    """Whether the values are scores, and the target holds the class of each row, such as its task."""
    heads: Mapping[str, ResponseColumns] = field(default_factory=dict)
    """Of each configuration by its name, where these have columns and no lines of their own."""
    settings: tuple[str, ...] = ()
    """Columns that are added to the name of a configuration, as far as they have one value in each."""
    attributes: tuple[str, ...] = ()
    """Columns of the data, which are the same in all lines of a row."""
    n_rows: int | None = None
    """How many rows the data have; by default as many as the rows are numbered up to."""
    whole: bool = False
    """Whether every configuration predicts every row in every repeat; else a row may be held out in some repeats,
    and a configuration may lack folds."""
    when_damaged: str = ""
    """What to do where a line lacks or recurs and the user names no column; by default, which column to name."""
    in_order: bool = False
    """Whether rows keep the order of their lines; else they are sorted."""
    is_chosen: bool = False
    """Whether a single configuration may be the best of several that are not in the table."""
    adaptive: bool = False
    """Whether configurations were proposed or dropped because of scores."""
    question: SearchQuestion | None = None
    """What is estimated where the user says nothing else."""
    shown: Mapping[str, str] | None = None
    """What was found where, for people; by default the columns of each use."""
    flags: Mapping[Flag, str] = field(default_factory=dict)
    """What the format knows to be lost; unknown folds are flagged for all."""
    remarks: Sequence[str] = ()
    """Sentences about assumptions, in addition to those of the table."""

    def with_roles(self, **roles: Any) -> Self:
        """The same with what a format knows of the other columns."""
        return replace(self, **roles)

    @property
    def responses(self) -> Sequence[ResponseColumns]:
        """Of each configuration with columns of its own, or of all lines."""
        return [*self.heads.values()] or [self]

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
            "event": (self.event,),
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
        """Refuse missing values where every line needs one, and rows, weights and times that are none."""
        last = "configuration" if self.whole else "fold"
        for use in ("target", "event", "row", "repeat", "group", "weight", last):
            names = getattr(self, use)
            for name in (names,) if isinstance(names, str) else names or ():
                check_complete(table.frame[name], PURPOSES[use])
        rows = table.frame[self.row]
        if rows.dtype.kind == "f" and (beyond := rows.abs() >= 2**53).any():
            raise InputError(
                f"column {self.row!r} of {table.name} must number or name the rows, got {rows[beyond].iloc[0]}; is "
                "it damaged?"
            )
        if self.weight is not None and table.frame[self.weight].dtype.kind != "b":
            check_numbers(table.frame[self.weight], "the weights")
        if self.event is not None:
            check_numbers(table.frame[self.target], "the target (times)")

    def purposes_in(self, table: Table) -> dict[str, str]:
        """What each column is for that the user names; refused where one is missing, or has two uses."""
        return table.purposes({purpose: getattr(self, use) for use, purpose in PURPOSES.items()})

    def others(self, table: Table, *names: str) -> list[str]:
        """The columns that have no use, besides those of these names."""
        purposes = self.purposes_in(table)
        return [name for name in table.frame.columns if name not in purposes and name not in names]

    @property
    def described(self) -> bool:
        """Whether the user describes a table with a line for each row and configuration."""
        return bool(self.configuration) and self.row is not None

    def check_agree(self, title: str, columns: Mapping[str, str | None], free: Sequence[str] = ()) -> None:
        """Refuse a use that contradicts the column that a format has for it.

        Formats of tools have no column of events, and none of repeats, configurations and predictions but those
        that they find, unless these uses are ``free``.
        """
        for name in dict.fromkeys((*columns, "event", "repeat", "configuration", "predictions")):
            said, column = getattr(self, name), columns.get(name)
            is_text = isinstance(said, str | tuple)
            if name in free or said is None or (is_text and said in ((), column)):
                continue
            shown = repr(said if isinstance(said, str) else said[0]) if is_text else "..."
            own = "there is none" if column is None else f"this is {column!r}"
            raise InputError(
                f"`{'prediction' if name == 'predictions' else name}={shown}` contradicts what was recognised, "
                f"{title}, in which {own}; leave it out, or describe all columns yourself with `configuration=` "
                "and `row=`.",
                argument=name,
            )


@dataclass(frozen=True, eq=False)
class Pivot:
    """The cells of N rows, R repeats and C configurations of a long table, and what is the same in each row."""

    lines: Indices
    """(N, R, C): -1 where a row was not held out in a repeat."""
    names: tuple[str, ...]
    """Of the configurations."""
    settings: tuple[str, ...]
    """The columns that were added to these names."""
    truth: Array
    groups: Array | None
    weights: Array | None
    """(N,): as in the table."""
    folds: Array | None
    """(N, R): of a ``whole`` table as they are there, else numbered from 0 in each repeat, -1 where a row was not
    held out; None if unknown."""
    resamples: Sequence[str]
    """The names of the resamples."""
    flags: Mapping[Flag, str]

    def placed(self, values: Array, absent: Any) -> Array:
        """Values of lines (n_lines, ...) as (N, C, R, ...)."""
        placed = values[self.lines]
        placed[self.lines < 0] = absent
        return np.ascontiguousarray(placed.swapaxes(1, 2))


@dataclass(frozen=True, eq=False)
class LineKey:
    """One key of a cell."""

    noun: str
    """What its values are, such as "row"."""
    codes: Indices
    """(n_lines,): the number of each line's value."""
    labels: Sequence[Any]
    """The value of each code."""

    def column(self, name: str) -> Any:
        """The value of each line, as a column."""
        import pandas as pd

        return pd.Series(np.array([*self.labels], dtype=object)[self.codes], name=name)


def pivot_of(table: Table, roles: ColumnUses, alone: str) -> Pivot:
    """Place the lines of a table by their keys.

    ``alone``: the name of a configuration that no column names. Refused are missing values, a cell in two lines or,
    where it must be there, in none, and rows with two values of what is the same in all lines of a row.
    """
    frame = table.frame
    roles.check(table)
    configurations, settings = _configurations(table, roles, alone)
    rows = _line_key("row", frame[roles.row])
    resamples = None if roles.whole else _resample_key(frame, roles)
    numbers = None if roles.repeat is None else frame[roles.repeat]
    if numbers is None and len(roles.fold) == 1 and not roles.heads:
        numbers = repeats_of_names(frame[roles.fold[0]])
    repeats = None if numbers is None else _line_key("repeat", numbers)
    of_line = _repeat_of_line(rows, resamples, configurations) if repeats is None else repeats.codes
    in_repeat = repeats or LineKey("repeat", of_line, range(int(of_line.max()) + 1))
    lines = _lines_of_cells([rows, in_repeat, configurations], [rows, repeats or resamples, configurations], roles)
    if roles.in_order:
        lines.sort(axis=0)
    folds = None
    if roles.fold:
        of_cell = lines.reshape(-1, lines.shape[2])
        column = frame[roles.fold[0]] if resamples is None else resamples.column(", ".join(roles.fold))
        check_same("the folds", column, of_cell, rows)
        first = _first_lines(of_cell)
        if resamples is None:
            folds = np.asarray(labels_of_column(column))[first].reshape(lines.shape[:2])
        else:
            folds = _numbered(np.where(first < 0, -1, resamples.codes[first]).reshape(lines.shape[:2]))
    kept, flags = _complete_configurations(lines, folds, [rows, in_repeat, configurations], roles)
    lines, names = lines[:, :, kept], tuple(str(configurations.labels[place]) for place in kept)
    of_row = lines.reshape(len(lines), -1)
    first = _first_lines(of_row)
    same = [("the target", roles.target), ("the event", roles.event), ("the groups", roles.group)]
    for what, name in [
        *same,
        ("the weights", roles.weight),
        *(("the attributes", name) for name in roles.attributes),
    ]:
        if name is not None:
            check_same(what, frame[name], of_row, rows)
    truth = labels_of_column(frame[roles.target])[first]
    if roles.event is not None:
        truth = survival_target((events_of_column(frame[roles.event])[first], truth))
    missing = (roles.n_rows or numbered_rows(rows.labels, math.inf)) - len(lines)
    if missing > 0:
        flags |= Flag.ROWS_NOT_HELD_OUT.of(source=table.name, missing=missing, total=missing + len(lines))
    return Pivot(
        lines,
        names,
        settings,
        truth,
        None if roles.group is None else labels_of_column(frame[roles.group])[first],
        None if roles.weight is None else frame[roles.weight].to_numpy()[first],
        folds,
        () if resamples is None else resamples.labels,
        flags,
    )


def _repeat_of_line(rows: LineKey, resamples: LineKey | None, configurations: LineKey) -> Indices:
    cells = np.unique(rows.codes * len(configurations.labels) + configurations.codes)
    # Where each configuration predicted a row once, all resamples are folds of one repeat.
    if resamples is None or len(cells) == len(rows.codes):
        return np.zeros(len(rows.codes), dtype=np.intp)
    return repeats_of_resamples(rows.codes, resamples.codes, len(rows.labels))[resamples.codes]


def _lines_of_cells(keys: Sequence[LineKey], shown: Sequence[LineKey | None], roles: ColumnUses) -> Indices:
    """The line of each cell, with an axis for each key, -1 where a cell is in no line; two lines are refused."""
    shape = tuple(len(key.labels) for key in keys)
    # Beyond this, numbers of cells would overflow and meet each other.
    if math.prod(shape) > np.iinfo(np.int64).max:
        raise InputError(
            f"{' x '.join(f'{n} {key.noun}s' for n, key in zip(shape, keys, strict=True))} are too many cells."
        )
    numbers = np.ravel_multi_index([key.codes for key in keys], shape)
    order = np.argsort(numbers, kind="stable")
    placed = numbers[order]
    twice = np.flatnonzero(placed[1:] == placed[:-1])
    if twice.size:
        first, second = (int(line) for line in order[twice[0] : twice[0] + 2])
        named = [key for key in shown if key is not None]
        remedy = roles.when_damaged or (
            f"{roles.keys} tell lines apart: name the column that distinguishes these with `configuration=` or "
            "`repeat=` (export it if it is missing), or leave one of the lines out"
        )
        raise InputError(
            f"{_cell(named, [key.codes[first] for key in named])} is in two lines, {first + 1} and {second + 1}; "
            f"{remedy}."
        )
    lines = np.full(shape, -1, dtype=np.intp)
    lines.reshape(-1)[placed] = order
    return lines


def _cell(keys: Sequence[LineKey], codes: Sequence[Any]) -> str:
    named = [f"{key.noun} {key.labels[code]!s}" for key, code in zip(keys, codes, strict=True)]
    several = [text for key, text in zip(keys, named, strict=True) if len(key.labels) > 1]
    return " of ".join(several or named[:1])


def _numbered(resamples: Indices) -> Codes:
    """The folds (N, R) numbered from 0 in each repeat, as those of a search are; -1 stays."""
    folds = resamples.astype(np.int32)
    for column in folds.T:
        held = column >= 0
        column[held] = np.unique(column[held], return_inverse=True)[1]
    return folds


def _complete_configurations(
    lines: Indices, folds: Array | None, keys: Sequence[LineKey], roles: ColumnUses
) -> tuple[Indices, dict[Flag, str]]:
    """The configurations that predicted every row that others predicted, and a flag on those that lack folds.

    A fold that lacks all rows of a configuration is a fit that was not made; one that lacks some is damage.
    """
    has: Booleans = np.asarray(lines >= 0)
    lacks = ~has & (roles.whole | np.any(has, axis=2, keepdims=True))
    absent = lacks
    if not roles.whole:
        of_cell = np.zeros(lines.shape[:2], dtype=np.intp) if folds is None else folds.astype(np.intp)
        # Codes that do not recur in another repeat, so that a fold is one number.
        of_cell = of_cell + np.arange(lines.shape[1]) * (of_cell.max() + 1)
        fits = [np.isin(of_cell, of_cell[has[:, :, column]]) for column in range(lines.shape[2])]
        absent = lacks & np.stack(fits, axis=2)
    if absent.any():
        n = int(absent.sum())
        more = f" (one of {n} that are missing)" if n > 1 else ""
        # A line with a damaged setting is a configuration that lacks nearly all; the one that it was of lacks one.
        per_configuration = absent.sum(axis=(0, 1))
        fewest = int(np.where(per_configuration, per_configuration, n + 1).argmin())
        row, repeat = np.argwhere(absent[..., fewest])[0]
        remedy = roles.when_damaged or (
            "each configuration must have predicted the same rows in each repeat: add its line with an empty "
            "prediction, or if one of these is no setting of the model, leave it out with `exclude=`"
        )
        raise InputError(
            f"{_cell(keys, (row, repeat, fewest))} is in no line{more}, but others predicted it ({roles.keys}); "
            f"{remedy}."
        )
    incomplete, kept = (np.flatnonzero(lacks.any(axis=(0, 1)) == lacking) for lacking in (True, False))
    if not kept.size:
        raise InputError(
            f"no configuration has predictions of all folds ({roles.keys}); if one of these columns is no setting "
            "of the model, leave it out with `exclude=`."
        )
    which = quoted([keys[2].labels[int(place)] for place in incomplete], 3)
    total, lacking = lines.shape[2], len(incomplete)
    flag = Flag.INCOMPLETE_CONFIGURATIONS.of(lacking=lacking, total=total, which=which) if lacking else {}
    return kept, flag


def _configurations(table: Table, roles: ColumnUses, alone: str) -> tuple[LineKey, tuple[str, ...]]:
    """The configurations, with the values of their settings in their names, and the columns of these settings."""
    frame = table.frame
    if not roles.configuration:
        return LineKey("configuration", np.zeros(len(frame), dtype=np.intp), [alone]), ()
    # A tool's column with one value everywhere tells no configurations apart, and only lengthens names; one that
    # the user names stays in them, as the names are what the user calls configurations by.
    distinct = [each for each in roles.configuration if roles.whole or frame[each].nunique(dropna=False) > 1]
    key = _configuration_key(frame, distinct or roles.configuration, table.name)
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


def _configuration_key(frame: Any, columns: Sequence[str], name: str) -> LineKey:
    """The configurations: combinations of the values of their columns, by the sorted values of each column.

    A missing value is the setting of another model: it is a value of its own, which the name leaves out. Columns of
    which most combinations are in one line, as those of identifiers are, are refused; ``name`` is the table's, for
    the sentence.
    """
    keys = [_setting_key(frame[column]) for column in columns]
    codes = np.zeros(len(frame), dtype=np.intp)
    for key in keys:  # one column after the other: all combinations of many settings would be too many to number
        codes = np.unique(codes * len(key.labels) + key.codes, return_inverse=True)[1].reshape(-1)
    first = np.unique(codes, return_index=True)[1]
    alone = len(keys) == 1 and isinstance(keys[0].labels[0], str)
    labels = [
        ", ".join(
            plain(value, 200) if alone else f"{column}={plain(value, 200)}"
            for column, value in zip(columns, (key.labels[key.codes[line]] for key in keys), strict=True)
            if value is not None
        )
        or "no settings"
        for line in first
    ]
    if 2 * len(labels) > len(codes):
        raise InputError(
            f"{quoted(columns)} of {name} would make {len(labels)} configurations of "
            f"{counted(len(codes), 'line')}, most of them with one row; name the columns of settings with "
            "`configuration=`, or leave out with `exclude=` a column that is none (to bound one configuration "
            "named beforehand: heldout estimate --fixed-configuration NAME)."
        )
    # Long names are cut, and may then be the same.
    return LineKey("configuration", codes, free_names(labels))


def _setting_key(column: Any) -> LineKey:
    """The key with a column's values, sorted, and None last for missing ones."""
    codes, labels = column.factorize(sort=True)
    missing = codes < 0
    is_whole = labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == labels.round()).all()
    if missing.any() and is_whole:
        labels = labels.astype(np.int64)  # whole numbers, which missing values turned into floats
    return LineKey("configuration", np.where(missing, len(labels), codes), [*labels, None])


def _line_key(noun: str, column: Any) -> LineKey:
    """The key with a column's values, none of them missing; sorted, so that the order of lines does not matter."""
    return LineKey(noun, *column.factorize(sort=True))


def _resample_key(frame: Any, roles: ColumnUses) -> LineKey | None:
    """The resamples, in the order of the numbers in their names."""
    if not roles.fold:
        return None
    codes = frame.groupby(list(roles.fold), sort=False).ngroup().to_numpy()
    first = np.unique(codes, return_index=True)[1]
    labels = [", ".join(plain(frame[column].iloc[line], 200) for column in roles.fold) for line in first]
    # Fold10 follows Fold9, although it sorts before Fold2.
    order = natural_order(labels)
    return LineKey("fold", np.argsort(order)[codes], [labels[place] for place in order])


def natural_order(labels: Sequence[Any]) -> list[int]:
    """The order in which people number: Fold2 before Fold10.

    Examples
    --------
    >>> natural_order(["Fold10", "Fold9", "Fold1"])
    [2, 1, 0]
    """

    def parts(label: Any) -> list[tuple[int, int, str]]:
        pieces = _DIGITS.split(str(label))
        # Numbers before text where both begin a name, so that all names can be compared.
        return [(0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces if piece]

    return sorted(range(len(labels)), key=lambda place: parts(labels[place]))


def repeats_of_names(folds: Any) -> Any:
    """The number of the repeat in the name of each fold, as caret writes it; None if the names have none.

    Examples
    --------
    >>> import pandas as pd
    >>> repeats_of_names(pd.Series(["Fold1.Rep2", "Fold1.Rep1"])).tolist()
    [2, 1]
    """
    numbers = {label: match[1] for label in folds.unique() if (match := _REPEAT.fullmatch(str(label)))}
    return folds.map(numbers).astype(int) if len(numbers) == folds.nunique(dropna=False) else None


def repeats_of_resamples(rows: Indices, resamples: Indices, n_rows: int) -> Indices:
    """The repeat of each resample.

    Parameters
    ----------
    rows, resamples : ndarray of int, shape (n,)
        Rows that were held out, each with the number of its resample, in the order in which they were drawn.
    n_rows : int

    Returns
    -------
    ndarray of int, shape (number of resamples,)
        Successive resamples are one repeat if each row is in exactly one of them, and this divides all resamples;
        otherwise each resample is a repeat of its own, unless no two overlap.

    Examples
    --------
    >>> rows, folds = np.array([0, 1, 2, 2, 0, 1]), np.array([0, 0, 1, 2, 3, 3])
    >>> repeats_of_resamples(rows, folds, 3).tolist()
    [0, 0, 1, 1]
    """
    # Once a row and resample: each configuration repeats them.
    pairs = np.unique(np.stack([resamples, rows]), axis=1)
    sizes = np.bincount(pairs[0])
    # No row recurs, so all resamples are folds of one repeat.
    if len(np.unique(pairs[1])) == len(pairs[1]):
        return np.zeros(len(sizes), dtype=np.intp)
    ends = np.cumsum(sizes)
    repeat = (ends - 1) // n_rows
    # Repeats of whole cross-validations end exactly at multiples of the number of rows; bootstraps and hold-outs do
    # not.
    whole = np.isin(np.arange(n_rows, ends[-1] + n_rows, n_rows), ends).all()
    once = np.unique(np.stack([repeat[pairs[0]], pairs[1]]), axis=1).shape == pairs.shape
    return repeat if whole and once else np.arange(len(sizes), dtype=np.intp)


def _first_lines(lines: Indices) -> Indices:
    """(n,): the first of lines (n, k) that is there, -1 where there is none."""
    return np.asarray(lines[np.arange(len(lines)), (lines >= 0).argmax(axis=1)])


def check_same(what: str, column: Any, lines: Indices, rows: LineKey) -> None:
    """Refuse rows with two values of a column; ``lines`` (N, n) has lines of each row, -1 for none."""
    codes, first = column.factorize()[0], _first_lines(lines)
    differs = np.argwhere((lines >= 0) & (codes[lines] != codes[first][:, None]))
    if not differs.size:
        return
    place, other = differs[0]
    one, two = sorted((int(first[place]), int(lines[place, other])))
    raise InputError(
        f"row {plain(rows.labels[rows.codes[one]])} has two values of {what} (column {column.name!r}): "
        f"{plain(column.iloc[one])} in line {one + 1} and {plain(column.iloc[two])} in line {two + 1}; fix the "
        "file, or name the column that numbers the rows with --row COL."
    )


def numbered_rows(labels: Sequence[Any], most: float = 2) -> int:
    """How many rows numbers from 0 or 1 count.

    Names, and numbers that count over ``most`` times as many rows as there are, are as many rows as there are.
    """
    numbers = np.asarray(labels)
    if numbers.dtype.kind not in "iu" or numbers.min() < 0:
        return len(numbers)
    last = int(numbers.max()) + int(numbers.min() == 0)
    return last if last <= most * len(numbers) else len(numbers)

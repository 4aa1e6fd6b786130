"""Real tables of a folder for a study: which there are, which are fit for it, and one of them as a task."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.task import Task, TaskKind, Truth, truth_of
from heldout.errors import InputError, reason_of
from heldout.spaces.preprocessing import column_kinds

SUFFIXES = (".parquet", ".csv")
BINARY: frozenset[TaskKind] = frozenset({TaskKind.BINARY})
CLASSES: frozenset[TaskKind] = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
SURVIVAL: frozenset[TaskKind] = frozenset({TaskKind.SURVIVAL})
_TARGETS: Mapping[frozenset[TaskKind], str] = {BINARY: "with two classes", CLASSES: "with classes"}

Target: TypeAlias = NDArray[Any]
"""Codes of classes, numbers, or events with their times (a structured array)."""


@dataclass(frozen=True)
class TableFile:
    """A table of a folder."""

    name: str  # The file's, without its ending
    digest: str  # Of what the file holds: by it and not by its place a batch that was kept is recognised
    # Rows, and columns to predict from
    rows: int
    columns: int
    minority: float  # The share of the rarest class; of survival that of the events
    path: str = field(repr=False)
    target: str = "target"
    kind: TaskKind = TaskKind.BINARY
    n_classes: int = 2  # 0 where the target holds no classes
    event: str | None = None  # The column of events of a survival table
    task: str | None = None  # How the target is read, where the user says so

    def read(self) -> tuple[Any, Target]:
        """Columns to predict from (a DataFrame), and the target.

        Of two classes the rarer has the code 1; of more each has the place of its label among the sorted labels.
        """
        task = read_task(Path(self.path), self.target, self.event, self.task)
        values = task.truth.values
        if self.kind is not TaskKind.BINARY:
            return task.X, values.astype(np.intp) if self.n_classes else values
        rarer = int(np.bincount(values).argmin())
        return task.X, (values == rarer).astype(np.intp)

    def truth(self, y: Target) -> Truth:
        """Some rows of the target, as metrics read it."""
        if self.n_classes:
            return truth_of(y, self.kind, classes=np.arange(self.n_classes))
        return truth_of(y, self.kind)


@dataclass(frozen=True)
class TableCharacteristics:
    """What a table is like, as the table of the data sets in an article."""

    table: str
    rows: int
    columns: int  # To predict from
    classes: int  # 0 of numbers and of survival
    minority: float  # The share of the rarest class, or of events
    parts: tuple[tuple[str, int], ...] = ()  # Rows of its parts, by name

    def cells(self) -> dict[str, str]:
        """As texts by the heads of their columns."""
        ratio = {"positives / negatives": f"{self.minority / (1 - self.minority):.3g}"} if self.classes == 2 else {}
        rarest = {"rarest class": f"{self.minority:.1%}"} if self.classes > 2 else {}
        events = {"events": f"{self.minority:.1%}"} if not self.classes and self.minority < 1 else {}
        classes = {"classes": f"{self.classes}"} if self.classes else {}
        parts = {name: f"{rows:,}" for name, rows in self.parts}
        sizes = {"rows": f"{self.rows:,}", "columns": f"{self.columns:,}"}
        return {**sizes, **classes, **ratio, **rarest, **events, **parts}


def characteristics_of(table: TableFile, *parts: tuple[str, int]) -> TableCharacteristics:
    """Of a table, with the rows of its parts."""
    return TableCharacteristics(table.name, table.rows, table.columns, table.n_classes, table.minority, parts)


@dataclass(frozen=True)
class TableFolder:
    """What a folder holds."""

    tables: tuple[TableFile, ...]  # By name
    left_out: Mapping[str, str]  # Names of other tables, with the reason


def tables_in(
    folder: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    target: str = "target",
    event: str | None = None,
    task: str | None = None,
    kinds: frozenset[TaskKind] = BINARY,
    least_rows: int = 0,
    least_minority: int = 2,
    most: int | None = None,
) -> TableFolder:
    """The tables of a folder, CSV or Parquet, whose target is of some kind.

    ``names``: only these; all of them must be fit for the study; ``target``: the column that holds the classes,
    the numbers or the times; ``event``: the column of events; ``task``: the kind of the target, where it is not to
    be guessed; ``least_minority``: rows of the rarest class; ``most``: at most so many tables, of the smallest
    files: the others are not read and not listed as left out. Raises InputError when there is no folder of that
    name, no table in it that fits, or not one of ``names``.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{place} is no folder; give one that holds tables, CSV or Parquet.")
    paths = {path.stem: path for path in sorted(place.iterdir()) if path.suffix.lower() in SUFFIXES}
    strangers = [name for name in names or () if name not in paths]
    if strangers:
        raise InputError(
            f"{place} holds no table {strangers[0]!r}; it holds {', '.join(list(paths)[:12]) or 'none'}."
        )
    tables: list[TableFile] = []
    left_out: dict[str, str] = {}
    by_size = sorted(names or paths, key=lambda name: paths[name].stat().st_size) if most else names or paths
    for name in by_size:
        if len(tables) == most:
            break
        found = _fit(paths[name], target, event, task, kinds, least_rows, least_minority)
        if isinstance(found, TableFile):
            tables.append(found)
        elif names:
            raise InputError(f"table {name} cannot be used: {found}.")
        else:
            left_out[name] = found
    if not tables:
        enough = f", {least_rows} rows or more" if least_rows else ""
        what = _TARGETS.get(kinds, "to predict")
        why = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
        raise InputError(
            f"{place} holds no table that fits: a column {target!r} {what}{enough}. "
            + (f"Left out were {why}." if why else "It holds no CSV or Parquet file.")
        )
    return TableFolder(tuple(sorted(tables, key=lambda table: table.name)), left_out)


def smallest_tables(
    folder: str | os.PathLike[str], n: int, unfit: Callable[[TableFile], str | None], **how: Any
) -> list[str]:
    """Names of some small tables of a folder that fit a study, without reading all of it.

    ``n``: at most; ``unfit``: why a table does not fit; None where it does; ``how``: as for ``tables_in``; tables
    with fewer rows than these settings allow are not counted among the small ones that are read.
    """
    fitting = [table for table in tables_in(folder, **how, most=3 * n).tables if unfit(table) is None]
    return [table.name for table in sorted(fitting, key=lambda table: table.rows * table.columns)[:n]]


@lru_cache(maxsize=1)
def arrays_of(table: TableFile) -> tuple[Any, Target]:
    """What ``TableFile.read`` gives, remembered: a process studies parts of a table one after another."""
    X, y = table.read()
    # An array is prepared several times as fast as a table of as many columns.
    return (X if column_kinds(X).categorical else X.to_numpy(dtype=np.float64)), y


def _fit(
    path: Path,
    target: str,
    event: str | None,
    task: str | None,
    kinds: frozenset[TaskKind],
    least_rows: int,
    least_minority: int,
) -> TableFile | str:
    """The table, or why it does not fit."""
    try:
        found = read_task(path, target, event, task)
    except InputError as error:
        return reason_of(error)
    truth = found.truth
    if truth.kind not in kinds:
        return f"its target is {truth.kind.value}"
    if found.n_rows < least_rows:
        return f"it has {found.n_rows} rows"
    rarest, sentence = _minority(truth)
    if rarest < least_minority:
        return sentence
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    share = round(rarest / found.n_rows, 4)
    return TableFile(
        path.stem, digest, found.n_rows, found.X.shape[1], share, str(path), target, truth.kind, truth.n_classes,
        event, task,
    )  # fmt: skip


def _minority(truth: Truth) -> tuple[int, str]:
    """The rows of the rarest class, or with an event, and a sentence about them; of numbers all rows."""
    if truth.kind is TaskKind.REGRESSION:
        return truth.n_rows, f"it has {truth.n_rows} rows"
    if truth.kind is TaskKind.SURVIVAL:
        events = int(truth.values["event"].sum())
        return events, f"it has {counted(events, 'event')}"
    rows = int(truth.class_counts().min())
    return rows, f"its {'rarer' if truth.n_classes == 2 else 'rarest'} class has {rows} rows"


def read_task(path: Path, target: str, event: str | None = None, kind: str | None = None) -> Task:
    """A file as a task, with its groups where it has a column of them."""
    from heldout.readers.table_task import task_from_table
    from heldout.readers.tables import read_table

    table = read_table(path)
    groups = "group" if "group" in table.frame.columns else None
    return task_from_table(table, target, event=event, kind=kind, groups=groups).task

"""Real tables of a folder for a study: which there are, which are fit for it, and one of them as a task."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Task, TaskKind
from heldout.errors import InputError
from heldout.spaces.preprocessing import column_kinds

SUFFIXES = (".parquet", ".csv")


@dataclass(frozen=True)
class TableFile:
    """A binary table of a folder."""

    name: str  # The file's, without its ending
    digest: str  # Of what the file holds: by it and not by its place a batch that was kept is recognised
    # Rows, and columns to predict from
    rows: int
    columns: int
    minority: float  # The share of the rarer class
    path: str = field(repr=False)
    target: str = "target"

    def read(self) -> tuple[Any, NDArray[np.intp]]:
        """Columns to predict from (a DataFrame), and 1 for the rows of the rarer class, 0 for the others."""
        task = read_task(Path(self.path), self.target)
        codes = task.truth.values
        rarer = int(np.bincount(codes).argmin())
        return task.X, (codes == rarer).astype(np.intp)


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
    least_rows: int = 0,
    least_minority: int = 2,
    most: int | None = None,
) -> TableFolder:
    """The binary tables of a folder, CSV or Parquet.

    ``names``: only these; all of them must be fit for the study; ``target``: the column that holds the classes;
    ``least_minority``: rows of the rarer class; ``most``: at most so many tables, of the smallest files: the
    others are not read and not listed as left out. Raises InputError when there is no folder of that name, no table
    in it that fits, or not one of ``names``.
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
        found = _fit(paths[name], target, least_rows, least_minority)
        if isinstance(found, TableFile):
            tables.append(found)
        elif names:
            raise InputError(f"table {name} cannot be used: {found}.")
        else:
            left_out[name] = found
    if not tables:
        enough = f", {least_rows} rows or more" if least_rows else ""
        why = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
        raise InputError(
            f"{place} holds no table that fits: a column {target!r} with two classes{enough}. "
            + (f"Left out were {why}." if why else "It holds no CSV or Parquet file.")
        )
    return TableFolder(tuple(sorted(tables, key=lambda table: table.name)), left_out)


def smallest_tables(
    folder: str | os.PathLike[str],
    n: int,
    unfit: Callable[[TableFile], str | None],
    *,
    target: str = "target",
    least_rows: int = 0,
    least_minority: int = 2,
) -> list[str]:
    """Names of some small tables of a folder that fit a study, without reading all of it.

    ``n``: at most; ``unfit``: why a table does not fit; None where it does; ``least_rows, least_minority``:
    what fits has at least: tables with fewer are not counted among the small ones that are read.
    """
    few: dict[str, Any] = {"target": target, "least_rows": least_rows, "least_minority": least_minority}
    fitting = [table for table in tables_in(folder, **few, most=3 * n).tables if unfit(table) is None]
    return [table.name for table in sorted(fitting, key=lambda table: table.rows * table.columns)[:n]]


@lru_cache(maxsize=1)
def arrays_of(table: TableFile) -> tuple[Any, NDArray[np.intp]]:
    """What ``TableFile.read`` gives, remembered: a process studies parts of a table one after another."""
    X, y = table.read()
    # An array is prepared several times as fast as a table of as many columns.
    return (X if column_kinds(X).categorical else X.to_numpy(dtype=np.float64)), y


def _fit(path: Path, target: str, least_rows: int, least_minority: int) -> TableFile | str:
    """The table, or why it does not fit."""
    try:
        task = read_task(path, target)
    except InputError as error:
        return str(error).rstrip(".")
    if task.truth.kind is not TaskKind.BINARY:
        return f"its target is {task.truth.kind.value}"
    classes = np.bincount(task.truth.values)
    if task.n_rows < least_rows:
        return f"it has {task.n_rows} rows"
    if classes.min() < least_minority:
        return f"its rarer class has {classes.min()} rows"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    share = round(float(classes.min() / classes.sum()), 4)
    return TableFile(path.stem, digest, task.n_rows, task.X.shape[1], share, str(path), target)


def read_task(path: Path, target: str) -> Task:
    """A file as a task, with its groups where it has a column of them."""
    from heldout.readers.table_task import task_from_table
    from heldout.readers.tables import read_table

    table = read_table(path)
    groups = "group" if "group" in table.frame.columns else None
    return task_from_table(table, target, groups=groups).task

"""Searches on samples of the tables of a folder, run in batches that are kept: the costly step of part "tables"."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout_papers.corrections.kept import KINDS, KeptSearch, as_codes, as_probabilities
from heldout_papers.corrections.of_tables import SEARCHED
from heldout_papers.corrections.table_search import (
    METRICS,
    Kind,
    SearchTable,
    TableSearch,
    search_on_sample,
    search_table,
)
from heldout_papers.engine.arguments import checked_sizes
from heldout_papers.engine.batches import Batch, Columns, StudyPlan
from heldout_papers.tables import SUFFIXES

ROWS = (40, 100, 300)
BATCH = 4
"""Searches of a batch."""


@dataclass(frozen=True)
class SearchSetting:
    """Searches of one kind and size: repetition r is on table r mod T of the T tables that fit.

    Attributes
    ----------
    kind : "classification" or "regression"
    rows : int
    tables : tuple of SearchTable
    """

    kind: Kind
    rows: int
    tables: tuple[SearchTable, ...]


def do_batch(batch: Batch[SearchSetting], entropy: int) -> Columns:
    """The searches of a batch; of one that failed there are NaN only."""
    setting = batch.setting
    numbers = range(batch.first, batch.last)
    found = [_searched(setting, number, entropy) for number in numbers]
    is_class = setting.kind == "classification"
    columns: dict[str, Any] = {
        "table": np.array([setting.tables[number % len(setting.tables)].name for number in numbers]),
        "ran": np.array([one is not None for one in found]),
    }
    whole = [_empty(setting) if one is None else one for one in found]
    predictions = np.stack([one.predictions for one in whole])
    columns["predictions"] = as_codes(predictions) if is_class else predictions.astype(np.float32)
    columns["y"] = np.stack([one.y for one in whole])
    columns["folds"] = np.stack([one.folds for one in whole])
    for metric in METRICS[setting.kind]:
        columns[f"truth_{metric}"] = np.stack([one.truths[metric] for one in whole])
        columns[f"of_folds_{metric}"] = np.stack([one.truths_of_folds[metric] for one in whole])
    return columns


def _searched(setting: SearchSetting, number: int, entropy: int) -> TableSearch | None:
    table = setting.tables[number % len(setting.tables)]
    try:
        return search_on_sample(table, setting.rows, number // len(setting.tables), entropy)
    except InputError:  # no sample holds enough of each class
        return None


def _empty(setting: SearchSetting) -> TableSearch:
    n, c = setting.rows, SEARCHED[setting.kind]
    nothing = {metric: np.full(c, np.nan) for metric in METRICS[setting.kind]}
    return TableSearch(np.full(n, np.nan), np.zeros(n, dtype=np.int32), np.full((n, c), np.nan), nothing, nothing)


def kept_searches(settings: Sequence[SearchSetting], columns: Sequence[Columns]) -> list[KeptSearch]:
    """The searches of a finished run."""
    found = []
    for setting, of in zip(settings, columns, strict=True):
        for number in np.flatnonzero(of["ran"]):
            predictions = of["predictions"][number]
            read = (
                as_probabilities(predictions)
                if setting.kind == "classification"
                else predictions.astype(np.float64)
            )
            truths, of_folds = (
                {metric: of[f"{word}_{metric}"][number] for metric in METRICS[setting.kind]}
                for word in ("truth", "of_folds")
            )
            search = TableSearch(of["y"][number], of["folds"][number], read, truths, of_folds)
            found.append(KeptSearch(setting.kind, setting.rows, int(number), str(of["table"][number]), search))
    return found


@dataclass(frozen=True)
class SearchTables:
    """The tables of a folder that can be searched, and why others cannot."""

    tables: tuple[SearchTable, ...]
    left_out: Mapping[str, str]


def search_tables(folder: str | os.PathLike[str], names: Sequence[str] | None = None) -> SearchTables:
    """Read the tables of a folder.

    ``names``: only these. Raises InputError when there is no such folder, or not one of ``names``.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InputError(f"{place} is no folder; give one that holds tables, CSV or Parquet.", argument="tables")
    paths = {path.stem: path.absolute() for path in sorted(place.iterdir()) if path.suffix.lower() in SUFFIXES}
    stranger = next((name for name in names or () if name not in paths), None)
    if stranger is not None:
        shown = ", ".join(list(paths)[:12]) or "none"
        raise InputError(f"{place} holds no table {stranger!r}; it holds {shown}.", argument="names")
    found: list[SearchTable] = []
    left_out: dict[str, str] = {}
    for name in names or paths:
        table = search_table(paths[name])
        if isinstance(table, str):
            left_out[name] = table
        else:
            found.append(table)
    return SearchTables(tuple(found), left_out)


def search_plan(
    folder: str | os.PathLike[str], names: Sequence[str] | None, rows: Any, repetitions: int, entropy: int
) -> tuple[StudyPlan[SearchSetting], Mapping[str, str]]:
    """What is to be searched, and which tables are left out."""
    sizes = checked_sizes("rows", ROWS if rows is None else rows, 10)
    known = search_tables(folder, names)
    settings = tuple(
        SearchSetting(kind, n, tables)
        for kind in KINDS
        for n in sizes
        if (tables := tuple(table for table in known.tables if table.kind == kind and table.fits(n)))
    )
    if not settings:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(known.left_out.items())[:3])
        raise InputError(
            f"{folder} holds no table with two classes or numbers in a column 'target' that is large enough for "
            f"samples of {min(sizes)} rows" + (f"; left out were {why}." if why else "."),
            argument="tables",
        )
    used = {table.name for setting in settings for table in setting.tables}
    few = {table.name: f"it has {table.rows} rows" for table in known.tables if table.name not in used}
    plan = StudyPlan("corrections searches", settings, repetitions, entropy, do_batch)
    return plan, {**known.left_out, **few}

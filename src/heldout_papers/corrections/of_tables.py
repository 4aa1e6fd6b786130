"""Matrices of real searches: for each metric, of one configuration, of ten that are alike, and of all."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.corrections.space import ALIKE, NAMED
from heldout_papers.corrections.table_search import METRICS, Kind, TableSearch, reading_of

Candidates: TypeAlias = Literal["one", "alike", "varied"]
CANDIDATES: tuple[Candidates, ...] = ("one", "alike", "varied")
LEAST = 2
"""Candidates of a choice."""


def columns_of(search: TableSearch, metric: str, candidates: Candidates, number: int) -> NDArray[np.intp]:
    """The configurations of a choice that have predictions and a true score; in turn the one that was named."""
    usable = ~np.isnan(search.predictions).any(axis=0) & np.isfinite(search.truths[metric])
    if candidates == "one":
        turn = [NAMED[(number + k) % len(NAMED)] for k in range(len(NAMED))]
        return np.array([column for column in turn if usable[column : column + 1].any()][:1], dtype=np.intp)
    chosen = usable.copy()
    if candidates == "alike":
        chosen[ALIKE:] = False
    return np.flatnonzero(chosen)


def matrix_of(
    search: TableSearch, kind: Kind, metric: str, candidates: Candidates, number: int, seed: int
) -> KnownMatrix | None:
    """The matrix of a search's candidates for a metric; None where too few of them could be fitted.

    ``number``: of the repetition, by which named configurations take turns.
    """
    columns = columns_of(search, metric, candidates, number)
    if len(columns) < (1 if candidates == "one" else LEAST):
        return None
    truths = search.truths[metric][columns]
    scale = deviation(search) if metric == "root_mean_squared_error" else 1.0
    return KnownMatrix(
        y=search.y,
        predictions=search.predictions[:, columns],
        truths=truths,
        metric=metric,
        folds=search.folds,
        seed=seed,
        reading=reading_of(kind),
        scale=scale,
        truths_of_folds=search.truths_of_folds[metric][columns],
    )


def deviation(search: TableSearch) -> float:
    """The standard deviation of the target on the rest of the table.

    R² is 1 less the squared ratio of the error to it, so that both true scores of any configuration tell it.
    """
    with np.errstate(invalid="ignore"):
        found = search.truths["root_mean_squared_error"] / np.sqrt(1 - search.truths["r2"])
    return float(np.nanmedian(found))


def cells_of(kind: Kind, rows: int) -> tuple[BedCell, ...]:
    """The cells of searches on so many rows."""
    sizes = {"one": 1, "alike": ALIKE, "varied": SEARCHED[kind]}
    return tuple(
        BedCell("tables", candidates, metric, rows, sizes[candidates])
        for metric in METRICS[kind]
        for candidates in CANDIDATES
    )


SEARCHED: dict[Kind, int] = {"classification": 57, "regression": 58}
"""Configurations of the two spaces."""

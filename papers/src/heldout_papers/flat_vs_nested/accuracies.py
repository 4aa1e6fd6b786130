"""Three accuracies of every algorithm on every table and repetition, as arrays.

They may be any other score, of which greater is better. An algorithm without all three (it failed) is no candidate
in that repetition: it is never chosen, and in rankings it is behind all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout.errors import InputError
from heldout_papers.engine.results import check_columns

Floats: TypeAlias = NDArray[np.float64]
Estimated: TypeAlias = Literal["flat", "nested"]
Ties: TypeAlias = Literal["average", "best"]

DECIMALS = 7
"""Accuracies that agree so far are ties: the order of a sum makes them differ, or being kept as float32."""
COLUMNS = ("table", "rows", "repetition", "algorithm", "flat", "nested", "future")


@dataclass(frozen=True, eq=False)
class Accuracies:
    """Accuracies of A algorithms on T tables in R repetitions; NaN where an algorithm failed."""

    tables: tuple[str, ...]
    rows: NDArray[np.intp]  # (T,): of the whole table, of which each repetition trained on half at most
    algorithms: tuple[str, ...]  # Sorted: of algorithms that tie, the first is chosen
    # (T, R, A): the cross-validated estimates from the training half
    flat: Floats
    nested: Floats
    # (T, R, A): on the other half, trained with the hyper-parameters that flat cross-validation chose
    future: Floats

    @classmethod
    def from_frame(cls, frame: Any) -> Accuracies:
        """From one row per table, repetition and algorithm (a DataFrame, or a mapping of columns).

        Raises InputError when a column is missing, or a table, repetition and algorithm is there twice.
        """
        check_columns(frame, COLUMNS, "accuracies")
        columns = {name: np.asarray(frame[name]) for name in COLUMNS}
        tables, t = np.unique(columns["table"].astype(str), return_inverse=True)
        repetitions, r = np.unique(columns["repetition"], return_inverse=True)
        algorithms, a = np.unique(columns["algorithm"].astype(str), return_inverse=True)
        shape = len(tables), len(repetitions), len(algorithms)
        places = np.ravel_multi_index((t, r, a), shape)
        if len(np.unique(places)) < len(places):
            first = int(places[np.flatnonzero(np.bincount(places)[places] > 1)[0]])
            at = np.unravel_index(first, shape)
            raise InputError(
                f"each table, repetition and algorithm must be there once; {tables[at[0]]}, "
                f"{repetitions[at[1]]} and {algorithms[at[2]]} is there more often."
            )
        rows = np.zeros(len(tables), dtype=np.intp)
        rows[t] = columns["rows"]
        measured = {}
        for name in ("flat", "nested", "future"):
            values = np.full(shape, np.nan)
            values[t, r, a] = columns[name]
            measured[name] = values
        return cls(tuple(str(name) for name in tables), rows, tuple(str(name) for name in algorithms), **measured)

    @property
    def n_repetitions(self) -> int:
        return self.flat.shape[1]

    @property
    def candidates(self) -> NDArray[np.bool_]:
        """(T, R, A): whether all three accuracies are there."""
        return np.isfinite(self.flat) & np.isfinite(self.nested) & np.isfinite(self.future)

    def only(self, algorithms: Sequence[str]) -> Accuracies:
        """The same of some algorithms."""
        stranger = next((name for name in algorithms if name not in self.algorithms), None)
        if stranger is not None:
            raise InputError(f"{stranger!r} was not measured; {', '.join(self.algorithms)} were.")
        chosen = [place for place, name in enumerate(self.algorithms) if name in algorithms]
        return replace(
            self,
            algorithms=tuple(self.algorithms[place] for place in chosen),
            **{name: getattr(self, name)[..., chosen] for name in ("flat", "nested", "future")},
        )

    def where(self, kept: NDArray[np.bool_]) -> Accuracies:
        """The same of some tables; ``kept`` has shape (T,)."""
        return Accuracies(
            tuple(name for name, keep in zip(self.tables, kept, strict=True) if keep), self.rows[kept],
            self.algorithms, self.flat[kept], self.nested[kept], self.future[kept],
        )  # fmt: skip

    def of_chosen(self, values: Floats, chosen: NDArray[np.intp]) -> Floats:
        """(T, R): the values of the algorithm that ``chosen`` (T, R) names by its place."""
        return np.take_along_axis(values, chosen[..., None], axis=-1)[..., 0]


def best(values: Floats, candidates: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The place of the highest along the last axis, the first of those that tie; 0 where there is no candidate.

    Examples
    --------
    >>> best(np.array([[0.7, 0.9, 0.9], [0.7, np.nan, 0.6]]), np.array([[True] * 3, [True, False, True]]))
    array([1, 0])
    """
    return np.where(candidates, np.round(values, DECIMALS), -np.inf).argmax(axis=-1)


def tied_for_best(values: Floats, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether two candidates or more share the highest value."""
    masked = np.where(candidates, np.round(values, DECIMALS), -np.inf)
    return np.asarray((masked == masked.max(axis=-1, keepdims=True)).sum(axis=-1) > 1)


def table_ranks(accuracies: Accuracies, by: Estimated, ties: Ties = "average") -> Floats:
    """(T, A): ranks of the algorithms, 1 for the most accurate, averaged over the repetitions of a table.

    ``by``: the estimate that they are ranked by; ``ties``: what algorithms that tie get: the mean of their
    ranks, so that the mean of all is (A + 1) / 2, or the best of their ranks. The means of the article's tables
    1 and 4 are 5.65 and 5.48, where 12 algorithms have 6.5: it must have given ties the best. Returns (T, A):
    NaN for a table on which nothing was measured.
    """
    candidates = accuracies.candidates
    values = getattr(accuracies, by)
    # Algorithms that failed are behind all others, and tie with each other.
    orderly = np.where(candidates, -np.round(values, DECIMALS), np.inf)
    ranks = np.asarray(rankdata(orderly, method="average" if ties == "average" else "min", axis=-1), dtype=float)
    counts = candidates.any(axis=-1)
    ranks[~counts] = 0.0
    with np.errstate(invalid="ignore"):
        return np.asarray(ranks.sum(axis=1) / counts.sum(axis=1)[:, None])


def mean_ranks(accuracies: Accuracies, by: Estimated, ties: Ties = "average") -> dict[str, float]:
    """Each algorithm's mean rank, the best first (Wainer & Cawley, tables 1 and 4).

    A mean over tables of their means over repetitions, so that a table whose repetitions are not all there counts
    as much as another.

    Examples
    --------
    >>> frame = {
    ...     "table": ["t", "t", "t"], "rows": [9, 9, 9], "repetition": [0, 0, 0], "algorithm": ["knn", "nb", "rf"],
    ...     "flat": [0.7, 0.9, 0.9], "nested": [0.7, 0.8, 0.9], "future": [0.7, 0.7, 0.7],
    ... }
    >>> mean_ranks(Accuracies.from_frame(frame), "nested")
    {'rf': 1.0, 'nb': 2.0, 'knn': 3.0}
    >>> mean_ranks(Accuracies.from_frame(frame), "flat")
    {'nb': 1.5, 'rf': 1.5, 'knn': 3.0}
    """
    ranks = table_ranks(accuracies, by, ties)
    ranks = ranks[np.isfinite(ranks).all(axis=1)]
    if not len(ranks):
        return dict.fromkeys(accuracies.algorithms, float("nan"))
    means = ranks.mean(axis=0)
    order = np.argsort(np.round(means, DECIMALS), kind="stable")
    return {accuracies.algorithms[place]: float(means[place]) for place in order}

"""Sub-samples of a table, and the rows that none of them sees, on which winners show what they are worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from heldout._sklearn import rows_at
from heldout._streams import numpy_seed, stream
from heldout.data.task import Task, TaskKind
from heldout.errors import InputError
from heldout_papers.tables import TableCharacteristics, TableFile, Target, arrays_of, characteristics_of

Rows = NDArray[np.intp]

POOL_SHARE = 0.3
LEAST_OF_CLASS = 3
"""Rows of each class in a sub-sample: without two folds at least one is left to train on."""
LEAST_EXPECTED = 4
"""Rows of the rarer class on average, so that a sub-sample of ``LEAST_OF_CLASS`` is no rare event."""
MOST_DRAWS = 1000


@dataclass(frozen=True, eq=False)
class DividedTable:
    """A table with its pool and its hold-out."""

    table: TableFile
    X: Any  # (n, p)
    y: Target  # (n,)
    # 30 % and 70 % of the rows, with classes or events in proportion
    pool: Rows
    rest: Rows

    @classmethod
    def of(cls, table: TableFile, entropy: int) -> DividedTable:
        """The division of a table under a seed."""
        X, y = arrays_of(table)
        seed = numpy_seed(entropy, "study search pool", table.digest)
        pool, rest = train_test_split(
            np.arange(len(y)), train_size=POOL_SHARE, stratify=strata_of(y), random_state=seed
        )
        return cls(table, X, y, np.sort(pool), np.sort(rest))

    def drawn(self, n_rows: int, *place: int | str, entropy: int) -> Rows:
        """Rows of the pool, drawn without replacement until each class, or the events, are ``LEAST_OF_CLASS``."""
        key = stream(entropy, "study search rows", n_rows, *place)
        rng = np.random.Generator(np.random.Philox(key=key))
        for _ in range(MOST_DRAWS):
            rows = rng.choice(self.pool, n_rows, replace=False)
            if self._rarest(rows) >= LEAST_OF_CLASS:
                return np.asarray(rows, dtype=np.intp)
        raise InputError(
            f"no {n_rows} rows of {len(self.pool)} could be drawn with {LEAST_OF_CLASS} of each class, in "
            f"{MOST_DRAWS} attempts; use more rows."
        )

    def task(self, rows: Rows) -> Task:
        """Some rows as a task."""
        return Task(rows_at(self.X, rows), self.table.truth(self.y[rows]))

    def _rarest(self, rows: Rows) -> int:
        """The fewest rows of any class, or the events, among some rows; of numbers all."""
        strata = strata_of(self.y)
        if strata is None:
            return len(rows)
        if self.table.kind is TaskKind.SURVIVAL:
            return int(strata[rows].sum())
        return int(np.bincount(strata[rows], minlength=self.table.n_classes).min())


def strata_of(y: Target) -> NDArray[np.intp] | None:
    """What is kept in proportion: classes, or whether there was an event; nothing of numbers."""
    if y.dtype.names:
        return np.asarray(y["event"], dtype=np.intp)
    return None if y.dtype.kind == "f" else np.asarray(y, dtype=np.intp)


def characteristics(table: TableFile) -> TableCharacteristics:
    """A table as the article's table 1 has it."""
    pool = int(POOL_SHARE * table.rows)
    return characteristics_of(table, ("pool", pool), ("hold-out", table.rows - pool))


def unfit(table: TableFile, n_rows: int) -> str | None:
    """Why no such sub-samples can be drawn, as half a sentence; None where they can."""
    pool = int(POOL_SHARE * table.rows)
    if n_rows > pool:
        return f"its pool has {pool} rows"
    if n_rows * table.minority < LEAST_EXPECTED:
        of_what = "with an event" if table.kind is TaskKind.SURVIVAL else "of the rarer class"
        return f"a sub-sample would have {n_rows * table.minority:.1f} rows {of_what} on average"
    return None

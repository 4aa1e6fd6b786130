"""The plan of a run: which configurations run on which splits, in which order, and whether it fits in memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from heldout._streams import numpy_seed
from heldout.data.limits import check_fits, refuse_beyond_memory
from heldout.data.row_part import RowPart
from heldout.data.task import Truth
from heldout.dropping.base import DropRule
from heldout.execution.cells import outputs_of
from heldout.execution.fit import Scoring
from heldout.folds.splits import Folds, Split
from heldout.metrics.base import Response


@dataclass(frozen=True)
class Race:
    """Configurations on splits, one split after another."""

    splits: tuple[Split, ...]
    """In the order in which they run."""
    barriers: bool = False
    """Whether the configurations wait for each other after every split, where some may be dropped."""
    configurations: tuple[int, ...] | None = None
    """Those that take part; all by default."""

    @property
    def n_folds(self) -> int:
        """The greatest number of splits in one repeat."""
        return max(Counter(split.repeat for split in self.splits).values())

    def entrants(self, n_configurations: int) -> tuple[int, ...]:
        """The configurations that it begins with, of a run of so many."""
        return tuple(range(n_configurations)) if self.configurations is None else self.configurations

    def without(self, configurations: Collection[int], n_configurations: int) -> Race:
        """The race of the others, of a run of so many."""
        others = tuple(j for j in self.entrants(n_configurations) if j not in configurations)
        return replace(self, configurations=others)


def race_of_search(folds: Folds, rule: DropRule | None = None, entropy: int = 0, *, stops: bool = False) -> Race:
    """All splits in their order; with a drop rule, with barriers, and shuffled if the rule shuffles.

    ``stops``: whether the search may end at a barrier, so that it has them without a drop rule too.

    Examples
    --------
    >>> rows = np.arange(4)
    >>> folds = Folds((Split(0, 0, rows[:2], rows[2:]), Split(0, 1, rows[2:], rows[:2])), 4)
    >>> [split.place for split in race_of_search(folds).splits]
    [(0, 0), (0, 1)]
    """
    if rule is None:
        return Race(folds.splits, barriers=stops)
    return Race(in_racing_order(folds, rule, entropy), barriers=True)


def in_racing_order(folds: Folds, rule: DropRule, entropy: int) -> tuple[Split, ...]:
    """The splits in the order in which they run: repeat by repeat, within one in order or shuffled."""
    if not rule.shuffle_folds:
        return folds.splits
    ordered: list[Split] = []
    for repeat in dict.fromkeys(split.repeat for split in folds.splits):
        mine = [split for split in folds.splits if split.repeat == repeat]
        order = np.random.default_rng(numpy_seed(entropy, "fold order", repeat)).permutation(len(mine))
        ordered += [mine[number] for number in order]
    return tuple(ordered)


BYTES_A_CELL = 1000
"""Bytes of a result and its place in the plan, without its predictions."""


def bytes_needed(
    truth: Truth, n_configurations: int, folds: Folds, scoring: Scoring, part: RowPart | None = None
) -> int:
    """Bytes of the held-out predictions, once as results and once as arrays; of a part as arrays alone."""
    tested = sum(len(split.test) for split in folds.splits)
    gathered = (truth.n_rows if part is None else len(part.with_first)) * folds.n_repeats
    return (gathered + (tested if part is None else 0)) * n_configurations * bytes_a_row(truth, scoring)


def bytes_a_row(truth: Truth, scoring: Scoring) -> int:
    """Bytes of the responses of one model for one row."""
    recorded = dict.fromkeys(group[0] for group in scoring.wanted)
    shapes = {response: outputs_of(response, truth, len(scoring.times)) for response in recorded}
    return sum((4 if response is Response.LABELS else 8) * math.prod(shape) for response, shape in shapes.items())


def check_memory(
    truth: Truth,
    n_configurations: int,
    folds: Folds,
    scoring: Scoring,
    *,
    keeps_predictions: bool = True,
    part: RowPart | None = None,
) -> None:
    """Refuse a search that is too large: in fits, or for half of the memory.

    - ``keeps_predictions``: whether predictions stay in memory, as without a store.
    - ``part``: the rows whose predictions are kept, where these are not all.
    """
    check_fits(n_configurations, folds.n_splits)
    n_cells = n_configurations * folds.n_splits
    kept = bytes_needed(truth, n_configurations, folds, scoring, part) if keeps_predictions else 0
    of_what = f"the held-out predictions and the {n_cells:,} results" if kept else f"the {n_cells:,} results"
    store = "a store (store='run.db'), " if kept else ""
    refuse_beyond_memory(
        kept + BYTES_A_CELL * n_cells,
        f"{of_what} of {n_configurations} configurations on {truth.n_rows} rows",
        f"{store}fewer configurations or repeats, or fewer metrics",
    )

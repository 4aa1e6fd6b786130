"""The plan of a run: which configurations meet which splits, in which order, and where some may leave. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._seeding import numpy_seed
from heldout.cells import CellKey
from heldout.folds import Folds, Split


@dataclass(frozen=True)
class Race:
    """Configurations that meet splits one after another.

    Attributes
    ----------
    splits : tuple of Split
        In the order in which they are met.
    barriers : bool
        Whether the configurations wait for each other after every split, so that some may be dropped.
    """

    splits: tuple[Split, ...]
    barriers: bool = False


@dataclass(frozen=True)
class Plan:
    """Races that are run side by side, each over all configurations.

    A search is one race. Nested cross-validation is one race for each outer fold, and one over all the rows.
    """

    n_configurations: int
    races: tuple[Race, ...]

    @property
    def n_cells(self) -> int:
        """Fits, were nobody ever to leave."""
        return self.n_configurations * self.n_splits

    @property
    def n_splits(self) -> int:
        return sum(len(race.splits) for race in self.races)


def plan_of_search(n_configurations: int, folds: Folds, rule: Any = None, entropy: int = 0) -> Plan:
    """One race over the splits in their order, or in a random one within each repeat where the rule wants it.

    Examples
    --------
    >>> rows = np.arange(4)
    >>> folds = Folds((Split(0, 0, rows[:2], rows[2:]), Split(0, 1, rows[2:], rows[:2])), 4)
    >>> plan_of_search(3, folds).n_cells
    6
    """
    splits = in_racing_order(folds, rule, entropy) if rule is not None else folds.splits
    return Plan(n_configurations, (Race(splits, barriers=rule is not None),))


def in_racing_order(folds: Folds, rule: Any, entropy: int) -> tuple[Split, ...]:
    """The splits as they are met: repeat by repeat, within one in order or shuffled."""
    if not rule.shuffle_folds:
        return folds.splits
    met: list[Split] = []
    for repeat in dict.fromkeys(split.repeat for split in folds.splits):
        mine = [split for split in folds.splits if split.repeat == repeat]
        order = np.random.default_rng(numpy_seed(entropy, "fold order", repeat)).permutation(len(mine))
        met += [mine[number] for number in order]
    return tuple(met)


def all_cells(n_configurations: int, folds: Folds) -> list[CellKey]:
    """Every cell, configuration by configuration and split by split: the order of ``Evaluation.cells``."""
    return [
        CellKey(configuration, split.repeat, split.fold)
        for configuration in range(n_configurations)
        for split in folds.splits
    ]


def cells_left(
    n_configurations: int, folds: Folds, acknowledged: frozenset[CellKey] | set[CellKey] = frozenset()
) -> list[CellKey]:
    """The cells that are not acknowledged yet, fold by fold."""
    planned = (
        CellKey(configuration, split.repeat, split.fold)
        for split in folds.splits
        for configuration in range(n_configurations)
    )
    return [cell for cell in planned if cell not in acknowledged]

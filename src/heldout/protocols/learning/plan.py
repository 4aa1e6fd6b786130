"""The training rows of each size: a repetition has one order of the rows, and every size takes the first of them.

So a smaller training set lies within the larger ones of its repetition, and two sizes differ by the added rows, not
by the luck of another draw. All other rows test.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout.data.task import Task, labels_text
from heldout.errors import InputError
from heldout.folds.splits import Folds, Rows, Split, check_splits

SIZES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
GROUP_DRAWS = 50
"""The number of orders of whole groups that are drawn; the one that fits sizes and classes best is used."""


def training_counts(sizes: Any, n_rows: int) -> tuple[int, ...]:
    """Training sizes as numbers of rows, ascending.

    ``sizes``: shares of all rows between 0 and 1, or numbers of rows.

    Examples
    --------
    >>> training_counts((0.25, 0.5, 60), 80)
    (20, 40, 60)
    """
    if isinstance(sizes, str) or not isinstance(sizes, Sequence | np.ndarray) or len(sizes) < 2:
        raise InputError(
            f"training_sizes must list at least 2 shares of the rows, or numbers of rows, got {sizes!r}; "
            "(.2, .4, .6, .8) for instance.",
            argument="training_sizes",
        )
    counts = tuple(_count(size, n_rows) for size in sizes)
    if any(after <= before for before, after in pairwise(counts)):
        raise InputError(
            f"training_sizes must ascend, got {tuple(sizes)!r}, which are {counts} of {n_rows} rows; list each "
            "size once, the smallest first.",
            argument="training_sizes",
        )
    return counts


def _count(size: Any, n_rows: int) -> int:
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    share = isinstance(size, float | np.floating) and 0 < size < 1
    count = int(size) if whole else round(size * n_rows) if share else 0
    if not 2 <= count < n_rows:
        raise InputError(
            f"each of training_sizes must be a share between 0 and 1, or from 2 to {n_rows - 1} rows, got {size!r}."
        )
    return count


def subsampled_folds(task: Task, counts: Sequence[int], n_subsamples: int, entropy: int) -> Folds:
    """A split for each size and repetition, size by size; every split is a repeat.

    Classes are kept in proportion at every size, and groups whole; with groups a size is as near as they allow.

    Raises InputError when a class has no row to train on, or none to test.
    """
    check_splits(n_subsamples * len(counts), task.n_rows, "fewer n_subsamples or training_sizes")
    trains: list[list[Rows]] = [[] for _ in counts]
    for repetition in range(n_subsamples):
        rng = np.random.default_rng(stream(entropy, "subsamples", repetition))
        for number, rows in enumerate(_nested(task, counts, rng)):
            trains[number].append(rows)
    splits = []
    for number, subsamples in enumerate(trains):
        for repetition, train in enumerate(subsamples):
            test = np.setdiff1d(np.arange(task.n_rows), train)
            _check_classes(task, train, test)
            splits.append(Split(number * n_subsamples + repetition, 0, train, test))
    return Folds(tuple(splits), task.n_rows, grouped=task.groups is not None)


def _nested(task: Task, counts: Sequence[int], rng: np.random.Generator) -> list[Rows]:
    """The training rows of one repetition at each size, ascending."""
    if task.groups is not None:
        return _nested_groups(task, task.groups, counts, rng)
    order = _order(task, rng)
    return [np.sort(order[:count]) for count in counts]


def _order(task: Task, rng: np.random.Generator) -> Rows:
    """All rows shuffled, such that the first n hold each class in proportion, for any n."""
    shuffled = rng.permutation(task.n_rows)
    if not task.truth.kind.is_classification:
        return shuffled
    classes = task.truth.values[shuffled]
    place = np.empty(task.n_rows)
    for code in range(task.truth.n_classes):
        mine = np.flatnonzero(classes == code)
        place[mine] = (np.arange(len(mine)) + 0.5) / max(len(mine), 1)
    # Classes of one size tie at every place; the shuffle breaks these ties.
    return np.asarray(shuffled[np.argsort(place, kind="stable")])


def _nested_groups(task: Task, groups: NDArray[Any], counts: Sequence[int], rng: np.random.Generator) -> list[Rows]:
    """Of some orders of the groups, the one whose first groups come nearest to the sizes, class by class."""
    group = np.unique(groups, return_inverse=True)[1].reshape(-1)
    classes = task.truth.values if task.truth.kind.is_classification else np.zeros(task.n_rows, dtype=np.intp)
    table = np.zeros((int(group.max()) + 1, int(classes.max()) + 1))
    np.add.at(table, (group, classes), 1)
    shares = table.sum(axis=0) / task.n_rows
    best: tuple[float, list[Rows]] | None = None
    for _ in range(GROUP_DRAWS):
        order = rng.permutation(len(table))
        held = table[order].cumsum(axis=0)
        rows = held.sum(axis=1)
        last = [int(np.abs(rows[:-1] - count).argmin()) for count in counts]
        off = sum(float(np.abs(held[i] - count * shares).sum()) for i, count in zip(last, counts, strict=True))
        if best is None or off < best[0]:
            best = off, [np.flatnonzero(np.isin(group, order[: i + 1])) for i in last]
    assert best is not None, "some orders are drawn"
    if len({len(rows) for rows in best[1]}) < len(counts):
        raise InputError(
            f"{len(table)} groups cannot be divided so that they give {len(counts)} training sizes; use fewer "
            "training_sizes, further apart."
        )
    return best[1]


def _check_classes(task: Task, train: Rows, test: Rows) -> None:
    if task.truth.classes is None:
        return
    for rows, of in ((train, "train on"), (test, "test")):
        counts = task.truth.rows(rows).class_counts()
        if not counts.all():
            absent = int(np.flatnonzero(counts == 0)[0])
            label = labels_text(task.truth.classes[absent : absent + 1])
            raise InputError(
                f"class {label} has {task.truth.class_counts()[absent]} of {task.n_rows} rows, none of them among "
                f"the {len(rows)} to {of} with {len(train)} training rows; use training_sizes that leave some, or "
                "gather more of it."
            )

"""Splits that train on more and more of the rows, and test on all other rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout.data.task import Task, labels_text
from heldout.errors import InputError
from heldout.folds.splits import Folds, Split

ATTEMPTS = 100


def growing_splits(task: Task, n_steps: int, entropy: int) -> Folds:
    """S splits of a random order of N rows: step s trains on the first s·N/(S+1), and tests on the rest.

    A row is tested several times, so every split is a repeat. In a classification the order spreads every class
    evenly, so that the first step trains on each class too: a model without a class in its training rows would be
    judged by that. Groups stay whole, in a random order of groups in which the first step has every class.

    Raises InputError when the rows, those of a class, or the groups are too few to be cut into S + 1 parts.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> task = Task(np.zeros((12, 1)), truth_of([0, 1] * 6))
    >>> [len(split.train) for split in growing_splits(task, 3, entropy=0).splits]
    [3, 6, 9]
    """
    part = _parts(task, n_steps, entropy)
    splits = tuple(
        Split(step - 1, 0, np.flatnonzero(part < step), np.flatnonzero(part >= step))
        for step in range(1, n_steps + 1)
    )
    return Folds(splits, task.n_rows, grouped=task.groups is not None)


def _parts(task: Task, n_steps: int, entropy: int) -> NDArray[np.intp]:
    """(N,): the first step that does not test a row, less one; from 0 to S, where the last is always tested."""
    n_parts, classes = n_steps + 1, task.truth.kind.is_classification
    if task.groups is None:
        if task.n_rows < n_parts:
            raise InputError(_too_few(f"{task.n_rows} rows", n_parts))
        rng = np.random.default_rng(stream(entropy, "growing splits", 0))
        order = _evenly_spread(task, n_parts, rng) if classes else rng.permutation(task.n_rows)
        part = np.empty(task.n_rows, dtype=np.intp)
        part[order] = _cut(np.ones(task.n_rows, dtype=np.intp), n_parts)
        return part
    codes = np.unique(task.groups, return_inverse=True)[1]
    sizes = np.bincount(codes)
    for attempt in range(ATTEMPTS):
        order = np.random.default_rng(stream(entropy, "growing splits", attempt)).permutation(len(sizes))
        of_group = np.empty(len(sizes), dtype=np.intp)
        of_group[order] = _cut(sizes[order], n_parts)
        part = of_group[codes]
        whole = len(np.unique(part)) == n_parts
        if whole and (not classes or len(np.unique(task.truth.values[part == 0])) == task.truth.n_classes):
            return part
    lacking = " with every class in the first" if classes else ""
    raise InputError(_too_few(f"{len(sizes)} groups (the largest of {sizes.max()} rows)", n_parts, lacking))


def _cut(sizes: NDArray[np.intp], n_parts: int) -> NDArray[np.intp]:
    """The part that contains the middle of each unit, of parts as equal as possible; in whole numbers."""
    before = np.cumsum(sizes) - sizes
    part: NDArray[np.intp] = ((2 * before + sizes) * n_parts) // (2 * sizes.sum())
    return part


def _evenly_spread(task: Task, n_parts: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The rows in an order in which every section has each class in about its share."""
    counts = task.truth.class_counts()
    least = int(counts.argmin())
    if counts[least] < n_parts:
        assert task.truth.classes is not None, "a classification has classes"
        label = labels_text(task.truth.classes[least : least + 1])
        raise InputError(_too_few(f"{counts[least]} rows of class {label}", n_parts))
    order = rng.permutation(task.n_rows)
    place = np.empty(task.n_rows)
    for code, count in enumerate(counts):
        mine = order[task.truth.values[order] == code]
        place[mine] = (np.arange(count) + 0.5) / count
    return order[np.argsort(place[order], kind="stable")]


def _too_few(have: str, n_parts: int, lacking: str = "") -> str:
    return (
        f"`drop='sequential'` cuts the rows into steps + 1 = {n_parts} parts{lacking}, and {have} are too few for "
        "it; use fewer steps (Sequential(steps=7) is the least), more rows, or `drop='bootstrap'`."
    )

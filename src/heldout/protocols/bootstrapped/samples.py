"""The samples of a bootstrap of the whole search: rows drawn with replacement, and the folds inside each. Pure.

A sample trains on the rows that it drew, as often as it drew them, and tests on the rows that it did not. Folds
inside it divide its *distinct* rows, and the copies of a row go where the row goes: never on both sides of a fold.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit

from heldout._seeding import stream
from heldout.errors import InputError
from heldout.estimates.evidence.race import check_drawable
from heldout.folds import Folds, Split
from heldout.kernels.draws import Counts, Draws, UndefinedDrawsError, out_of_bag
from heldout.metrics.base import Metric, counted, positive_of
from heldout.protocols.base import RepeatNumbers, Rows, folds_of_part
from heldout.task import Task, labels_text

DRAWN_AT_ONCE = 64
"""Samples drawn in one block; no result depends on it."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One bootstrap sample of the rows, as a branch of the run.

    Attributes
    ----------
    number : int
        b, from 0.
    counts : ndarray of uint8, shape (N,)
        How often each row was drawn.
    inner : tuple of Split
        The folds of the search on the sample; empty where all configurations are fitted on the whole sample.
    refit : Split
        Trains on the sample with its copies, tests the rows left out.
    """

    number: int
    counts: Counts
    inner: tuple[Split, ...]
    refit: Split


@dataclass(frozen=True, eq=False)
class Drawn:
    """The rows of every bootstrap.

    Attributes
    ----------
    counts : ndarray of uint8, shape (B, N)
    redraws : int
        Draws that lacked something the metric or the search needs.
    """

    counts: Counts
    redraws: int


def drawn_rows(counts: Counts) -> Rows:
    """The numbers of the drawn rows in order, each as often as it was drawn.

    Examples
    --------
    >>> drawn_rows(np.array([0, 2, 1], dtype=np.uint8)).tolist()
    [1, 1, 2]
    """
    return np.repeat(np.arange(len(counts)), counts)


def draw(task: Task, metrics: Sequence[Metric], n_bootstraps: int, entropy: int, *, copies_apart: int) -> Drawn:
    """Draw rows, or whole groups, with replacement; bootstrap b is the same whatever B.

    Parameters
    ----------
    metrics : sequence of Metric
        What chooses, and what is reported: each must be defined on the rows that are left out.
    copies_apart : int
        Of each class, so many different rows (or groups) must be drawn: 2 where the search inside has folds, one to
        train and one to test, else 1.

    Raises
    ------
    InputError
        Naming the class that is too small to be drawn and left out.
    """
    units = np.arange(task.n_rows)
    if task.groups is not None:
        units = np.unique(task.groups, return_inverse=True)[1].reshape(-1)
    check_drawable(task.truth, units, metrics, task.groups is not None)

    def met(counts: Counts) -> NDArray[np.bool_]:
        weights = counts if task.sample_weight is None else counts * (task.sample_weight > 0)
        usable = np.ones(len(counts), dtype=bool)
        for metric in metrics:
            usable &= metric.needs.met(counted(metric, task.truth), positive_of(metric, task.truth), weights)
        return usable

    draws = Draws(
        seed=stream(entropy, "draws"),
        n_bootstraps=n_bootstraps,
        unit_of_row=units,
        defined_in_bag=lambda counts: met(counts) & _holds_classes(task, units, counts, copies_apart),
        defined_out_of_bag=met,
    )
    try:
        blocks = [
            draws.block(first, min(first + DRAWN_AT_ONCE, n_bootstraps))
            for first in range(0, n_bootstraps, DRAWN_AT_ONCE)
        ]
    except UndefinedDrawsError as error:
        raise InputError(_undrawable(task, metrics, copies_apart, error)) from error
    return Drawn(np.concatenate([counts for counts, _ in blocks]), sum(redraws for _, redraws in blocks))


def _holds_classes(task: Task, units: Rows, counts: Counts, least: int) -> NDArray[np.bool_]:
    """(L,): whether so many different units of each class were drawn; always without classes."""
    held = np.ones(len(counts), dtype=bool)
    for code in range(task.truth.n_classes):
        rows = np.flatnonzero(task.truth.values == code)
        if rows.size:
            first = np.unique(units[rows], return_index=True)[1]
            held &= np.count_nonzero(counts[:, rows[first]], axis=1) >= least
    return held


def _undrawable(task: Task, metrics: Sequence[Metric], least: int, error: UndefinedDrawsError) -> str:
    needs = dict.fromkeys(str(metric.needs) for metric in metrics)
    unit = "row" if task.groups is None else "group"
    said = (
        f"each bootstrap must draw {least} {unit}{'s' if least > 1 else ''} of every class"
        if task.truth.n_classes
        else "each bootstrap must draw rows"
    ) + f" and leave out {' and '.join(needs) or 'a row'}, but {error}"
    if task.truth.classes is None:
        return f"{said}; gather more {unit}s."
    sizes = task.truth.class_counts()
    rare = int(sizes.argmin())
    label = labels_text(task.truth.classes[rare : rare + 1])
    return f"{said}: class {label} has {sizes[rare]} rows; gather more of it, or use ho.nested_cv."


def samples_of_search(
    task: Task, folds: Folds, drawn: Drawn, cv: Any, entropy: int, *, repeats: int = 1, classifier: bool = False
) -> tuple[Sample, ...]:
    """Every sample with the folds of the search on it.

    Parameters
    ----------
    folds : Folds
        Of the search on all rows, whose repeat numbers are taken.
    cv : int, plan, splitter, iterable of (train, test), or None
        As the search on all rows has it. A list of splits (or ``PredefinedSplit``) is cut down to the drawn rows;
        anything else divides the distinct drawn rows anew.
    """
    numbers = RepeatNumbers(1 + max(folds.columns))
    samples = []
    for number, counts in enumerate(drawn.counts):
        distinct = np.flatnonzero(counts)
        if divides_anew(cv):
            seed = stream(entropy, "inner folds", number)
            inner = numbers.renumbered(
                _divided(task, distinct, cv, seed, number, repeats, classifier).splits, distinct
            )
        else:
            inner = numbers.renumbered(_cut_down(folds, counts, number))
        with_copies = tuple(
            replace(split, train=_copied(split.train, counts), test=_copied(split.test, counts)) for split in inner
        )
        refit = Split(next(numbers), 0, drawn_rows(counts), np.flatnonzero(out_of_bag(counts)))
        samples.append(Sample(number, counts, with_copies, refit))
    return tuple(samples)


def divides_anew(cv: Any) -> bool:
    """Whether ``cv`` can divide any rows; a list of splits, or ``PredefinedSplit``, knows one set of rows only."""
    if cv is None or isinstance(cv, int | np.integer):
        return True
    return hasattr(cv, "split") and not isinstance(cv, PredefinedSplit)


def _divided(task: Task, distinct: Rows, cv: Any, seed: int, number: int, repeats: int, classifier: bool) -> Folds:
    try:
        with warnings.catch_warnings():
            # scikit-learn says of every sample whose rarest class has fewer rows than folds that it has.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return folds_of_part(task, distinct, cv, seed, repeats=repeats, classifier=classifier)
    except InputError as error:
        raise InputError(
            f"bootstrap {number} drew {len(distinct)} of {task.n_rows} rows, which cannot be searched: "
            f"{str(error).rstrip('.')}; use fewer folds."
        ) from error


def _cut_down(folds: Folds, counts: Counts, number: int) -> list[Split]:
    """The splits of the search on all rows, on the drawn rows only; those without rows on a side are left out."""
    drawn = counts > 0
    cut = (
        replace(split, train=split.train[drawn[split.train]], test=split.test[drawn[split.test]])
        for split in folds.splits
    )
    kept = [split for split in cut if len(split.train) and len(split.test)]
    if not kept:
        raise InputError(f"bootstrap {number} drew no row that a split of cv tests; use a cv that tests more rows.")
    return kept


def _copied(rows: Rows, counts: Counts) -> Rows:
    return np.repeat(rows, counts[rows])


def folds_of_models(task: Task, drawn: Drawn) -> Folds:
    """A split a bootstrap, each a repeat of its own: trained on the sample, tested on what it left out."""
    splits = [
        Split(number, 0, drawn_rows(counts), np.flatnonzero(out_of_bag(counts)))
        for number, counts in enumerate(drawn.counts)
    ]
    return Folds(tuple(splits), task.n_rows, grouped=task.groups is not None)

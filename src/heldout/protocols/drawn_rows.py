"""Draw rows with replacement to fit models on: the rows in each sample, and those outside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from heldout._types import Booleans, Counts, Indices
from heldout.data.task import Task, labels_text
from heldout.errors import InputError
from heldout.estimates.candidates import undrawable
from heldout.metrics.base import Metric, positive_of
from heldout.selection.bootstrap_draws import Draws, UndefinedDrawsError, always

DRAWN_AT_ONCE = 64
"""Samples drawn in one block; no result depends on this number."""


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """The rows of every bootstrap."""

    counts: Counts
    """Of shape (B, N)."""
    redraws: int
    """Draws that lacked something the metric or the search needs."""


def drawn_rows(counts: Counts) -> Indices:
    """The numbers of the drawn rows in order, each as often as it was drawn.

    Examples
    --------
    >>> drawn_rows(np.array([0, 2, 1], dtype=np.uint8)).tolist()
    [1, 1, 2]
    """
    return np.repeat(np.arange(len(counts)), counts)


@dataclass(frozen=True, eq=False)
class Demands:
    """The requirements on the rows drawn and on those left out."""

    task: Task
    metrics: Sequence[Metric]
    """Each must be defined on the rows."""
    copies_apart: int = 1
    """So many different rows (or groups) of each class must be drawn: 2 if a search inside has folds, one to train
    and one to test, else 1."""

    @cached_property
    def units(self) -> Indices:
        """The row, or its group, as codes from 0."""
        if self.task.groups is None:
            return np.arange(self.task.n_rows)
        return np.unique(self.task.groups, return_inverse=True)[1].reshape(-1)

    def of_drawn(self, counts: Counts) -> Booleans:
        """(L,): whether the drawn rows meet the requirements."""
        return self.of_left_out(counts) & _holds_classes(self.task, self.units, counts, self.copies_apart)

    def of_left_out(self, counts: Counts) -> Booleans:
        """(L,): whether the metrics are defined on the rows of positive count."""
        truth = self.task.truth
        weights = counts if self.task.sample_weight is None else counts * (self.task.sample_weight > 0)
        usable = np.ones(len(counts), dtype=bool)
        for metric in self.metrics:
            usable &= metric.needs.met(metric.truth_for_needs(truth), positive_of(metric, truth), weights)
        return usable


def draw(demands: Demands, n_bootstraps: int, seed: int, *, scores_left_out: bool = True) -> DrawnRows:
    """Draw rows, or whole groups, with replacement; bootstrap b does not depend on B.

    - ``seed``: 64 bits.
    - ``scores_left_out``: whether the metrics must also be defined on the rows left out.

    Raises InputError naming the class that is too small to be drawn and left out.
    """
    reason = undrawable(demands.task.truth, demands.units, demands.metrics, demands.task.groups is not None)
    if reason:
        raise InputError(f"{reason}.")
    draws = Draws(
        seed=seed,
        n_bootstraps=n_bootstraps,
        unit_of_row=demands.units,
        defined_in_bag=demands.of_drawn,
        defined_out_of_bag=demands.of_left_out if scores_left_out else always,
    )
    try:
        blocks = [
            draws.block(first, min(first + DRAWN_AT_ONCE, n_bootstraps))
            for first in range(0, n_bootstraps, DRAWN_AT_ONCE)
        ]
    except UndefinedDrawsError as error:
        raise InputError(_undrawable(demands, error)) from error
    return DrawnRows(np.concatenate([counts for counts, _ in blocks]), sum(redraws for _, redraws in blocks))


def _holds_classes(task: Task, units: Indices, counts: Counts, least: int) -> Booleans:
    """(L,): whether so many different units of each class were drawn; always without classes."""
    held = np.ones(len(counts), dtype=bool)
    for code in range(task.truth.n_classes):
        rows = np.flatnonzero(task.truth.values == code)
        if rows.size:
            first = np.unique(units[rows], return_index=True)[1]
            held &= np.count_nonzero(counts[:, rows[first]], axis=1) >= least
    return held


def _undrawable(demands: Demands, error: UndefinedDrawsError) -> str:
    task, least = demands.task, demands.copies_apart
    needs = dict.fromkeys(str(metric.needs) for metric in demands.metrics)
    unit = "row" if task.groups is None else "group"
    need = (
        f"each bootstrap must draw {least} {unit}{'s' if least > 1 else ''} of every class"
        if task.truth.n_classes
        else "each bootstrap must draw rows"
    ) + f" and leave out {' and '.join(needs) or 'a row'}, but {error}"
    if task.truth.classes is None:
        return f"{need}; gather more {unit}s."
    sizes = task.truth.class_counts()
    rare = int(sizes.argmin())
    label = labels_text(task.truth.classes[rare : rare + 1])
    return f"{need}: class {label} has {sizes[rare]} rows; gather more of it, or use ho.nested_cv."

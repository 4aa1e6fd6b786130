"""The samples of a bootstrap of the whole search: rows drawn with replacement, and the folds inside each.

A sample trains on the rows that it drew, as often as it drew them, and tests on the rows that it did not. Folds
inside it divide its *distinct* rows, and the copies of a row go where the row goes: never on both sides of a fold.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import PredefinedSplit

from heldout._streams import stream
from heldout.data.task import Task
from heldout.errors import InputError, reason_of
from heldout.folds.auto import plan_of_cv
from heldout.folds.splits import Folds, Rows, Split
from heldout.protocols.branches import RepeatNumbers, folds_of_part
from heldout.protocols.draws import DrawnRows, drawn_rows
from heldout.selection.draws import Counts, out_of_bag


@dataclass(frozen=True, eq=False)
class Sample:
    """One bootstrap sample of the rows, as a branch of the run."""

    number: int
    """b, from 0."""
    counts: Counts
    """(N,): how often each row was drawn."""
    inner: tuple[Split, ...]
    """The folds of the search on the sample; empty where there is one configuration."""
    refit: Split
    """Trains on the sample with its copies, tests the rows left out."""


def samples_of_search(
    task: Task,
    folds: Folds,
    drawn: DrawnRows,
    cv: Any,
    entropy: int,
    *,
    repeats: int = 1,
    classifier: bool = False,
    selects: bool = True,
) -> tuple[Sample, ...]:
    """Every sample with the folds of the search on it.

    - ``folds``: of the search on all rows; samples get other repeat numbers.
    - ``cv``: of the search on all rows. A list of splits (or ``PredefinedSplit``) is cut down to the drawn rows;
      anything else splits the distinct drawn rows.
    - ``selects``: whether there are configurations to select from, which takes folds.
    """
    numbers = RepeatNumbers(1 + max(folds.columns))
    samples = []
    for number, counts in enumerate(drawn.counts):
        distinct = np.flatnonzero(counts)
        inner: tuple[Split, ...] = ()
        if selects and divides_anew(cv):
            seed = stream(entropy, "inner folds", number)
            inner = numbers.renumbered(
                _divided(task, distinct, cv, seed, number, repeats, classifier).splits, distinct
            )
        elif selects:
            inner = numbers.renumbered(_cut_down(folds, counts, number))
        with_copies = tuple(
            replace(split, train=_copied(split.train, counts), test=_copied(split.test, counts)) for split in inner
        )
        refit = Split(next(numbers), 0, drawn_rows(counts), np.flatnonzero(out_of_bag(counts)))
        samples.append(Sample(number, counts, with_copies, refit))
    return tuple(samples)


def divides_anew(cv: Any) -> bool:
    """Whether ``cv`` can divide any rows; a list of splits, or ``PredefinedSplit``, knows one set of rows only."""
    cv = plan_of_cv(cv)
    if cv is None or isinstance(cv, int | np.integer):
        return True
    return hasattr(cv, "split") and not isinstance(cv, PredefinedSplit)


def _divided(task: Task, distinct: Rows, cv: Any, seed: int, number: int, repeats: int, classifier: bool) -> Folds:
    try:
        with warnings.catch_warnings():
            # scikit-learn warns of every sample whose rarest class has fewer rows than there are folds.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return folds_of_part(task, distinct, cv, seed, repeats=repeats, classifier=classifier)
    except InputError as error:
        raise InputError(
            f"bootstrap {number} drew {len(distinct)} of {task.n_rows} rows, which cannot be searched: "
            f"{reason_of(error)}; use fewer folds."
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


def folds_of_models(task: Task, drawn: DrawnRows) -> Folds:
    """A split a bootstrap, each a repeat: it trains on the sample and tests the rows left out."""
    splits = [
        Split(number, 0, drawn_rows(counts), np.flatnonzero(out_of_bag(counts)))
        for number, counts in enumerate(drawn.counts)
    ]
    return Folds(tuple(splits), task.n_rows, grouped=task.groups is not None)

"""The sentences on folds: how rows were divided, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heldout.data.task import Truth
from heldout.folds.splits import Folds
from heldout.protocols.nested.words import INNER_WORDS
from heldout.report.paper.data import counted_of, listed


def resampling_sentence(folds: Folds, truth: Truth, planned: int, n_configurations: int) -> str:
    """How the held-out predictions were made; ``planned``: the splits there would have been without stopping."""
    subject, whose = ("It was", "its") if n_configurations == 1 else ("Configurations were", "their")
    sizes = [split.n_training_rows for split in folds.splits]
    low, high = min(sizes), max(sizes)
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    rows = "distinct rows" if any(split.has_copies for split in folds.splits) else "rows"
    early = (
        f" The search stopped after {folds.n_splits:,} of {planned:,} splits." if folds.n_splits < planned else ""
    )
    notes = [
        "each test fold has its share of every class" if _has_shares(folds, truth) else "",
        "groups of rows are held out whole" if folds.grouped else "",
        "" if folds.exchangeable else "test rows come after their training rows",
        _tested(folds),
    ]
    told = listed([note for note in notes if note])
    return (
        f"{subject} evaluated by {scheme_words(folds)}{f' ({told})' if told else ''}: {whose} models "
        f"were trained on {size} {rows} and predicted rows that they had not seen.{early}"
    )


def scheme_words(folds: Folds) -> str:
    """The plan of the splits, in a sentence.

    Examples
    --------
    >>> from heldout.data.task import Task, truth_of
    >>> from heldout.folds.splits import make_folds
    >>> scheme_words(make_folds(Task([[0.0]] * 12, truth_of([0, 1] * 6)), 3))
    '3-fold cross-validation'
    """
    n = folds.n_splits
    if folds.leaves_one_out:
        return "leave-one-out cross-validation"
    if any(split.has_copies for split in folds.splits):
        return f"{counted_of(n, 'bootstrap sample')}, tested on the rows that a sample leaves out"
    if n == 1:
        return f"one hold-out of {counted_of(len(folds.splits[0].test), 'row')}"
    if (share := folds.test_share) is not None:
        return f"{n:,} random splits, each of which tests {100 * share:.3g} % of the rows"
    each, rest = divmod(n, folds.n_repeats)
    if rest or not folds.is_partition:
        return f"{n:,} splits"
    return f"{each}-fold cross-validation" + (
        "" if folds.n_repeats == 1 else f", repeated {folds.n_repeats:,} times"
    )


def _tested(folds: Folds) -> str:
    """How many rows any split tests, if not all; a hold-out says that by itself."""
    tested = len(np.unique(np.concatenate([split.test for split in folds.splits])))
    return (
        "" if tested == folds.n_rows or folds.n_splits == 1 else f"{tested:,} of {folds.n_rows:,} rows are tested"
    )


def _has_shares(folds: Folds, truth: Truth) -> bool:
    """Whether the test folds of a repeat have equally many rows of each class, to a row."""
    if truth.classes is None or not folds.is_partition or folds.leaves_one_out or folds.n_splits == 1:
        return False
    counts: dict[int, list[Any]] = {}
    for split in folds.splits:
        of_fold = np.bincount(truth.values[split.test], minlength=truth.n_classes)
        counts.setdefault(split.repeat, []).append(of_fold)
    return all(bool((np.ptp(each, axis=0) <= 1).all()) for each in counts.values())


def nested_words(provenance: Mapping[str, Any]) -> str:
    """The outer and inner folds of nested cross-validation, as a sentence; empty for another protocol."""
    outer = provenance.get("n_outer_folds")
    if outer is None:
        return ""
    repeats = int(provenance.get("n_repeats", 1))
    inner = str(provenance.get("inner"))
    of_inner = INNER_WORDS.get(inner, f"{inner} new ones" if inner.isdigit() else inner)
    if outer == 1:
        return f"The whole search was repeated without one part of the rows (inner folds: {of_inner})."
    times = "" if repeats == 1 else f", repeated {repeats:,} times"
    folds = f"{int(outer) // repeats:,} outer folds{times}"
    return f"The search was nested: it was repeated inside each of {folds} (inner folds: {of_inner})."

"""The splits of a validation: a bootstrap sample trains, and all rows are predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from heldout.folds.splits import Place, Rows, Split
from heldout.protocols.draws import drawn_rows
from heldout.selection.draws import Counts

ALL_ROWS = 0
"""The repeat of the split that trains on all rows, each once."""
FIRST, SECOND, INNER = 0, 1, 2
"""Fold numbers within the repeat of a sample: first stage, second stage, and the first of its inner samples."""


@dataclass(frozen=True, eq=False)
class SampleSplit:
    """A ``Split`` that keeps the count of each row, which needs an eighth of the memory of row numbers."""

    repeat: int
    counts: Counts
    """Of shape (N,)."""
    test: Rows
    """(N,): all rows; the same array in all splits."""
    fold: int = 0

    @property
    def place(self) -> Place:
        """The (repeat, fold) by which cells name it."""
        return self.repeat, self.fold

    @property
    def train(self) -> Rows:
        """The drawn rows, each as often as it was drawn."""
        return drawn_rows(self.counts)


def sample_splits(counts: Sequence[Counts] | Counts, fold: int = 0) -> tuple[Split, ...]:
    """A split a sample, each a repeat, numbered from 1.

    - ``counts`` (N,).
    - ``fold``: one number for each stage, so that the place of a sample gives its seed.

    Examples
    --------
    >>> (split,) = sample_splits(np.array([[2, 0, 1]], dtype=np.uint8))
    >>> split.place, split.train.tolist(), split.test.tolist()
    ((1, 0), [0, 0, 2], [0, 1, 2])
    """
    every_row = np.arange(len(counts[0])) if len(counts) else np.empty(0, dtype=np.intp)
    splits = (SampleSplit(ALL_ROWS + 1 + b, mine, every_row, fold) for b, mine in enumerate(counts))
    return tuple(cast("Split", split) for split in splits)


def inner_splits(counts: Sequence[Counts] | Counts, repeat: int, first_fold: int) -> tuple[Split, ...]:
    """A split for each sample of one sample: its repeat, and folds from ``first_fold`` on."""
    every_row = np.arange(len(counts[0])) if len(counts) else np.empty(0, dtype=np.intp)
    splits = (SampleSplit(repeat, mine, every_row, first_fold + i) for i, mine in enumerate(counts))
    return tuple(cast("Split", split) for split in splits)


def split_of_all_rows(n_rows: int) -> Split:
    """Trains on all rows and predicts them."""
    return cast("Split", SampleSplit(ALL_ROWS, np.ones(n_rows, dtype=np.uint8), np.arange(n_rows)))

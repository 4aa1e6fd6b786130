"""What a selection rule is: scores of all configurations in, the chosen one out, a row at a time.

A rule is replayed on every bootstrap, so it is a function of a table with a row a bootstrap; the winner is what
the same rule chooses on the one row of observed scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

NONE_CHOSEN = -1


class SelectionFailedError(RuntimeError):
    """A rule could not choose, with its own words why."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of C configurations on M metrics in B resamples, greater = better.

    Attributes
    ----------
    values : ndarray of shape (B, C, M)
        The first metric is the one that the search refits for. NaN for configurations that are no candidates.
    metrics : sequence of str
    params : sequence of mapping
        Parameters of each configuration.
    fold_scores : ndarray of shape (B, splits, C, M) or None
        Held only for rules that ask for them.
    """

    values: Floats
    metrics: Sequence[str]
    params: Sequence[Mapping[str, Any]] = ()
    fold_scores: Floats | None = None

    @property
    def n_resamples(self) -> int:
        return self.values.shape[0]


class SelectionRule(Protocol):
    """From scores to the chosen configuration.

    Attributes
    ----------
    name : str
        As provenance and report print it.
    reads_fold_scores : bool
        Whether the table must hold the scores of each split.
    reads_all_metrics : bool
        Whether the table must hold every metric of the search, or just the one that it refits for.
    """

    @property
    def name(self) -> str: ...
    @property
    def reads_fold_scores(self) -> bool: ...
    @property
    def reads_all_metrics(self) -> bool: ...

    def __call__(self, table: ScoreTable) -> NDArray[np.intp]:
        """(B,): the configuration chosen in each resample, ``NONE_CHOSEN`` where none can be.

        Raises
        ------
        SelectionFailedError
            When the rule itself failed.
        """

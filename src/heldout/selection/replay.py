"""The selection, replayed: which configuration would have been chosen had the rows had other weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Weightings
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import oriented
from heldout.selection.base import NONE_CHOSEN, Floats, ScoreTable, SelectionRule
from heldout.selection.best import Best


@dataclass(frozen=True, eq=False)
class SelectionReplay:
    """The rule with the scores that it reads.

    Attributes
    ----------
    rule : SelectionRule
    scores : tuple of AggregateScore
        One a metric, the refit metric first, on the candidates only, in the search's aggregate.
    by_fold : tuple of AggregateScore
        The same metrics with a segment a split, for rules that read fold scores; else empty.
    candidates : ndarray of int
        The configuration behind each candidate column.
    params : sequence of mapping
        Of all C configurations.
    """

    rule: SelectionRule
    scores: tuple[AggregateScore, ...]
    by_fold: tuple[AggregateScore, ...]
    candidates: NDArray[np.intp]
    params: Sequence[Mapping[str, Any]]
    metric_names: Sequence[str]

    @property
    def is_plain_best(self) -> bool:
        """Whether the choice is the best score of one metric, for which kernels have a fused path."""
        return isinstance(self.rule, Best)

    def choose(self, counts: Weightings) -> NDArray[np.intp]:
        """(L,): the candidate column chosen under each weighting, ``NONE_CHOSEN`` where none can be."""
        values = np.stack([oriented(score.metric, score.all(counts)) for score in self.scores], axis=2)
        folds = None
        if self.rule.reads_fold_scores and self.by_fold:
            folds = np.stack([oriented(score.metric, score.by_segment(counts)) for score in self.by_fold], axis=3)
        table = ScoreTable(
            self._all_configurations(tie_exactly(values) if self._averages else values, axis=1),
            self.metric_names,
            self.params,
            None if folds is None else self._all_configurations(folds, axis=2),
        )
        return self._columns(self.rule(table))

    def defined(self, counts: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """(L,): whether every score that the rule reads is defined."""
        defined = [score.defined(counts) for score in self.scores]
        return np.asarray(np.logical_and.reduce(defined))

    @property
    def _averages(self) -> bool:
        """Whether scores are means over several segments, whose last bits are noise."""
        return any(len(score.segments) > 1 for score in self.scores)

    def _all_configurations(self, values: Floats, axis: int) -> Floats:
        if len(self.candidates) == len(self.params):
            return values
        shape = list(values.shape)
        shape[axis] = len(self.params)
        spread = np.full(shape, np.nan)
        place: list[Any] = [slice(None)] * values.ndim
        place[axis] = self.candidates
        spread[tuple(place)] = values
        return spread

    def _columns(self, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        column = np.full(len(self.params) + 1, NONE_CHOSEN)  # the last entry serves NONE_CHOSEN itself
        column[self.candidates] = np.arange(len(self.candidates))
        return column[chosen]


def tie_exactly(values: Floats) -> Floats:
    """Scores with the noise of their last bits cut off, so that equal means of folds tie as they should.

    The mean of (.8, .9) and of (.9, .8) can differ by a rounding error, and a rule that breaks ties by position
    must not see that. 44 of 53 bits are kept: a relative 6e-14.

    Examples
    --------
    >>> bool(0.1 + 0.2 == 0.3), np.unique(tie_exactly(np.array([0.1 + 0.2, 0.3]))).size
    (False, 1)
    """
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, 44)), exponent - 44)

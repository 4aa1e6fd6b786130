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
from heldout.selection.base import SelectionRule, WeightRule
from heldout.selection.best import Best
from heldout.selection.candidates import chosen_columns
from heldout.selection.choice import Choice
from heldout.selection.ensembles import Averages, weigh


@dataclass(frozen=True, eq=False)
class SelectionReplay:
    """The rule with the scores that it reads.

    Attributes
    ----------
    rule : SelectionRule or WeightRule
    scores : tuple of AggregateScore
        One a metric, the refit metric first, on the candidates only, in the search's aggregate.
    by_fold : tuple of AggregateScore
        The same metrics with a segment a split, for rules that read fold scores; else empty.
    candidates : ndarray of int
        The configuration behind each candidate column.
    params : sequence of mapping
        Of all C configurations.
    averages : Averages or None
        What a rule of weights averages; None for a rule that chooses one column.
    """

    rule: SelectionRule | WeightRule
    scores: tuple[AggregateScore, ...]
    by_fold: tuple[AggregateScore, ...]
    candidates: NDArray[np.intp]
    params: Sequence[Mapping[str, Any]]
    metric_names: Sequence[str]
    averages: Averages | None = None

    @property
    def is_plain_best(self) -> bool:
        """Whether the choice is the best score of one metric, for which kernels have a fused path."""
        return isinstance(self.rule, Best) and not self.rule.reads_repeats

    def choice(self, counts: Weightings) -> Choice:
        """What the rule chooses under each weighting: a column, or an ensemble."""
        if isinstance(self.rule, WeightRule):
            assert self.averages is not None, "a rule of weights averages something"
            return weigh(self.rule, self.scores[0], self.averages, counts)
        return Choice(self.choose(counts))

    def choose(self, counts: Weightings, among: NDArray[np.bool_] | None = None) -> NDArray[np.intp]:
        """(L,): the candidate column chosen under each weighting, ``NONE_CHOSEN`` where none can be.

        ``among`` (L, columns) says which columns may be chosen under which weighting; all by default.
        """
        assert not isinstance(self.rule, WeightRule), "an ensemble is no column"
        values = np.stack([oriented(score.metric, score.all(counts)) for score in self.scores], axis=2)
        folds = repeats = None
        if self.rule.reads_fold_scores and self.by_fold:
            folds = np.stack([oriented(score.metric, score.by_segment(counts)) for score in self.by_fold], axis=3)
        if self.rule.reads_repeats:
            repeats = np.stack([oriented(score.metric, score.by_repeat(counts)) for score in self.scores], axis=3)
        if among is not None:  # no score, no candidate
            values = np.where(among[:, :, None], values, np.nan)
            folds = None if folds is None else np.where(among[:, None, :, None], folds, np.nan)
            repeats = None if repeats is None else np.where(among[:, None, :, None], repeats, np.nan)
        return chosen_columns(self.rule, values, self.candidates, self.params, self.metric_names, folds, repeats)

    def defined(self, counts: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """(L,): whether every score that the rule reads is defined."""
        defined = [score.defined(counts) for score in self.scores]
        return np.asarray(np.logical_and.reduce(defined))

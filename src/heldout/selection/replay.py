"""The selection, replayed: which configuration would have been chosen had the rows had other weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import oriented
from heldout.selection.base import ScoreTable, SelectionRule, WeightRule
from heldout.selection.best import Best
from heldout.selection.candidates import candidate_columns, over_all_configurations
from heldout.selection.choice import Choice
from heldout.selection.ensembles import Averages, weigh
from heldout.selection.ties import tie_exactly


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
        if getattr(self.rule, "reads_repeats", False):
            repeats = np.stack([oriented(score.metric, score.by_repeat(counts)) for score in self.scores], axis=3)
        if among is not None:  # no score, no candidate
            values = np.where(among[:, :, None], values, np.nan)
            folds = None if folds is None else np.where(among[:, None, :, None], folds, np.nan)
            repeats = None if repeats is None else np.where(among[:, None, :, None], repeats, np.nan)
        table = ScoreTable(
            self._all_configurations(tie_exactly(values) if self._are_rounded else values, axis=1),
            self.metric_names,
            self.params,
            None if folds is None else self._all_configurations(folds, axis=2),
            None if repeats is None else self._all_configurations(repeats, axis=2),
        )
        return candidate_columns(self.rule(table), self.candidates, len(self.params))

    def defined(self, counts: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """(L,): whether every score that the rule reads is defined."""
        defined = [score.defined(counts) for score in self.scores]
        return np.asarray(np.logical_and.reduce(defined))

    @property
    def _are_rounded(self) -> bool:
        """Whether the last bits of scores are noise: of means over segments or classes, and of real weights.

        Those with a fused path are ratios of exact sums, which tie as they are.
        """
        return not all(score.has_fused_path for score in self.scores)

    def _all_configurations(self, values: Floats, axis: int) -> Floats:
        return over_all_configurations(values, self.candidates, len(self.params), axis)

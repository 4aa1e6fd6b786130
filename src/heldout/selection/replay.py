"""The selection, replayed: which configuration would be selected if rows, or folds, had other weights.

``SelectionReplay`` weighs rows of held-out predictions, ``FoldReplay`` the scores of folds. A search, an estimate
and a bootstrap all select by ``chosen_columns``, so that all of them break ties alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from heldout._types import Booleans, Counts, Floats, Indices, Weightings
from heldout.kernels.dispatch import LossSums
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import oriented
from heldout.selection.base import (
    NONE_CHOSEN,
    Choice,
    ScoreTable,
    SelectionRule,
    WeightRule,
    checked_choice,
    choices,
)
from heldout.selection.best import first_greatest_of_tied, is_best_score, of_all_tied, tie_exactly
from heldout.selection.ensembles import Averages, weigh


@dataclass(frozen=True, eq=False)
class SelectionReplay:
    """The rule with the scores that it reads."""

    rule: SelectionRule | WeightRule
    # one a metric, the refit metric first, on the candidates only, in the search's aggregate
    scores: tuple[AggregateScore, ...]
    # the same metrics with one segment per split, for rules that read fold scores; else empty
    by_fold: tuple[AggregateScore, ...]
    candidates: Indices  # the configuration behind each candidate column
    params: Sequence[Mapping[str, Any]]  # of all C configurations
    metric_names: Sequence[str]
    averages: Averages | None = None  # what a rule of weights averages; None for a rule that chooses one column

    @property
    def is_plain_best(self) -> bool:
        """Whether the rule chooses the best score among all candidates, for which kernels have a fused path."""
        return is_best_score(self.rule)

    def choice(self, counts: Weightings) -> Choice:
        """What the rule chooses under each weighting: a column, or an ensemble."""
        if isinstance(self.rule, WeightRule):
            assert self.averages is not None, "a rule of weights averages something"
            return weigh(self.rule, self.scores[0], self.averages, counts)
        return Choice(self.choose(counts))

    def all_tied(self, counts: Weightings) -> Choice:
        """All columns of the best score under each weighting, for a rule that has no other criterion."""
        assert is_best_score(self.rule), "other rules break ties by more than the score"
        values = oriented(self.scores[0].metric, self.scores[0].all(counts))
        among = self.candidates_of(counts)
        return of_all_tied(values if among is None else np.where(among, values, np.nan))

    def choose(self, counts: Weightings, among: Booleans | None = None) -> Indices:
        """(L,): the candidate column chosen under each weighting, ``NONE_CHOSEN`` where none can be.

        ``among`` (L, columns) says which columns may be chosen under which weighting; all by default.
        """
        assert not isinstance(self.rule, WeightRule), "an ensemble is no column"
        values = np.stack([oriented(score.metric, score.all(counts)) for score in self.scores], axis=2)
        candidates = self.candidates_of(counts)
        if candidates is not None:
            among = candidates if among is None else candidates & among
        return self.select(values, *self.parts(counts), among)

    def candidates_of(self, counts: Weightings) -> Booleans | None:
        """(L, columns): which columns are candidates under each weighting; None where all always are."""
        return None

    @property
    def reads_rows(self) -> bool:
        """Whether the choice depends on more of the weighted rows than the scores of the columns."""
        assert not isinstance(self.rule, WeightRule), "an ensemble is no column"
        return self.rule.reads_repeats or (self.rule.reads_fold_scores and bool(self.by_fold))

    def parts(self, counts: Weightings) -> tuple[Floats | None, Floats | None]:
        """Scores of folds (L, splits, columns, M) and repeats (L, repeats, columns, M), if the rule reads them."""
        assert not isinstance(self.rule, WeightRule), "an ensemble is no column"
        folds = repeats = None
        if self.rule.reads_fold_scores and self.by_fold:
            folds = np.stack([oriented(score.metric, score.by_segment(counts)) for score in self.by_fold], axis=3)
        if self.rule.reads_repeats:
            repeats = np.stack([oriented(score.metric, score.by_repeat(counts)) for score in self.scores], axis=3)
        return folds, repeats

    def select(
        self,
        values: Floats,
        folds: Floats | None = None,
        repeats: Floats | None = None,
        among: Booleans | None = None,
    ) -> Indices:
        """(L,): the candidate column that the rule selects from scores (L, columns, M), greater = better."""
        assert not isinstance(self.rule, WeightRule), "an ensemble is no column"
        if among is not None:  # no score, no candidate
            values = np.where(among[:, :, None], values, np.nan)
            folds = None if folds is None else np.where(among[:, None, :, None], folds, np.nan)
            repeats = None if repeats is None else np.where(among[:, None, :, None], repeats, np.nan)
        elif self.is_plain_best:
            return first_greatest_of_tied(values[:, :, 0])  # as below, in fewer passes over all scores
        return chosen_columns(self.rule, values, self.candidates, self.params, self.metric_names, folds, repeats)

    def defined(self, counts: Counts) -> Booleans:
        """(L,): whether every score that the rule reads is defined."""
        defined = [score.defined(counts) for score in self.scores]
        return np.asarray(np.logical_and.reduce(defined))


@dataclass(frozen=True, eq=False)
class FoldReplay:
    """The rule with the fold scores that it reads."""

    rule: SelectionRule
    # (splits, candidates, M): greater = better, the refit metric first; NaN where a metric is undefined
    scores: Floats
    candidates: Indices  # the configuration behind each candidate column
    params: Sequence[Mapping[str, Any]]  # of all C configurations
    metric_names: Sequence[str]  # of the M metrics
    repeat_of_split: Indices  # (splits,)

    def of(self, splits: Indices) -> FoldReplay:
        """The same rule on some of the splits: those of one repeat."""
        return replace(self, scores=self.scores[splits], repeat_of_split=self.repeat_of_split[splits])

    @property
    def n_splits(self) -> int:
        return self.scores.shape[0]

    def choose(self, counts: Counts) -> Indices:
        """(L,): the candidate column chosen when each split counts as often as it was drawn, counts (L, splits).

        A configuration's score is the mean over the drawn splits in which it has one, as it is in the mean over
        folds. ``NONE_CHOSEN`` where none can be.
        """
        folds = self.scores[drawn(counts)] if self.rule.reads_fold_scores else None
        repeats = self._by_repeat(counts) if self._reads_repeats else None
        means = self._means(counts)
        return chosen_columns(self.rule, means, self.candidates, self.params, self.metric_names, folds, repeats)

    def defined(self, counts: Counts) -> Booleans:
        """(L,): whether each metric has a score in some drawn split."""
        scored = np.asarray(~np.isnan(self.scores).all(axis=1))
        held = np.asarray(((counts > 0)[:, :, None] & scored).any(axis=1))
        return np.asarray(held.all(axis=1))

    @property
    def _reads_repeats(self) -> bool:
        several = len(np.unique(self.repeat_of_split)) > 1
        return several and self.rule.reads_repeats

    def _means(self, counts: Counts) -> Floats:
        """(L, candidates, M)."""
        by_metric = [_mean(self.scores[:, :, m], sums, counts) for m, sums in enumerate(self._sums)]
        return np.stack(by_metric, axis=2)

    def _by_repeat(self, counts: Counts) -> Floats:
        """(L, repeats, candidates, M)."""
        repeats = [np.flatnonzero(self.repeat_of_split == repeat) for repeat in np.unique(self.repeat_of_split)]
        return np.stack([self.of(splits)._means(counts[:, splits]) for splits in repeats], axis=1)

    @cached_property
    def _sums(self) -> list[tuple[LossSums, LossSums]]:
        """Of each metric: sums of the finite scores, and how many scores there are. Both exact in any blocking."""
        prepared = []
        for m in range(self.scores.shape[2]):
            scores = self.scores[:, :, m]
            finite = np.where(np.isfinite(scores), scores, 0.0) * _room(scores)
            has_score = (~np.isnan(scores)).astype(np.float64)
            prepared.append((LossSums(finite, self.n_splits), LossSums(has_score, self.n_splits)))
        return prepared


def drawn(counts: Counts) -> Indices:
    """(L, K): the numbers of the K units drawn, in ascending order, from counts (L, K) that sum to K.

    Examples
    --------
    >>> drawn(np.array([[0, 2, 1], [1, 1, 1]], dtype=np.uint8)).tolist()
    [[1, 1, 2], [0, 1, 2]]
    """
    lanes, n = counts.shape
    return np.repeat(np.tile(np.arange(n), lanes), counts.ravel()).reshape(lanes, n)


def _room(scores: Floats) -> float:
    """A power of two by which the greatest finite scores are made small enough to be summed."""
    return 2.0**-64 if np.abs(scores, where=np.isfinite(scores), out=np.zeros_like(scores)).max() > 1e280 else 1.0


def _mean(scores: Floats, sums: tuple[LossSums, LossSums], counts: Counts) -> Floats:
    """(L, C): means over the drawn splits that have a score; one infinitely bad split makes the mean that."""
    total, present = (part.all(counts) for part in sums)
    with np.errstate(invalid="ignore"):
        mean: Floats = total / present / _room(scores)
    for infinite in (np.inf, -np.inf):
        at = scores == infinite
        if at.any():
            mean = np.where(counts.astype(np.float64) @ at > 0, infinite, mean)
    return mean


def chosen_columns(
    rule: SelectionRule,
    values: Floats,
    columns: Indices,
    params: Sequence[Mapping[str, Any]],
    metric_names: Sequence[str],
    folds: Floats | None = None,
    repeats: Floats | None = None,
) -> Indices:
    """(L,): the candidate column that a rule selects in each resample, ``NONE_CHOSEN`` where none can be.

    Of ``values`` (L, candidates, M), ``folds`` (L, splits, candidates, M) and ``repeats`` (L, repeats, candidates,
    M) greater is better, and the refit metric comes first. The noise of the last bits of ``values`` is cut off, so
    that equal scores tie. ``columns`` are the configurations behind the candidate columns, ``params`` those of all
    configurations.

    Examples
    --------
    >>> from heldout.selection.best import Best
    >>> scores = np.array([[[0.3], [0.1 + 0.2]], [[0.3], [0.4]]])
    >>> chosen_columns(Best(), scores, np.array([0, 2]), [{}, {}, {}], ["accuracy"]).tolist()
    [0, 1]
    """
    n = len(params)
    table = ScoreTable(
        over_all_configurations(tie_exactly(values), columns, n, axis=1),
        metric_names,
        params,
        None if folds is None else over_all_configurations(folds, columns, n, axis=2),
        None if repeats is None else over_all_configurations(repeats, columns, n, axis=2),
    )
    chosen = choices(rule(table), len(values), lambda b: rule(table.resample(b)))
    return candidate_columns(checked_choice(chosen, len(values), n), columns, n)


def over_all_configurations(values: Floats, candidates: Indices, n_configurations: int, axis: int) -> Floats:
    """Values with a place for every configuration along ``axis``, NaN for those that are no candidates.

    Examples
    --------
    >>> over_all_configurations(np.array([[0.5, 0.7]]), np.array([0, 2]), 3, axis=1).tolist()
    [[0.5, nan, 0.7]]
    """
    if len(candidates) == n_configurations:
        return values
    shape = list(values.shape)
    shape[axis] = n_configurations
    spread = np.full(shape, np.nan)
    place: list[Any] = [slice(None)] * values.ndim
    place[axis] = candidates
    spread[tuple(place)] = values
    return spread


def candidate_columns(chosen: Indices, candidates: Indices, n_configurations: int) -> Indices:
    """The candidate column of each chosen configuration; ``NONE_CHOSEN`` where none was, or one that is none.

    Examples
    --------
    >>> candidate_columns(np.array([2, 1, NONE_CHOSEN]), np.array([0, 2]), 3).tolist()
    [1, -1, -1]
    """
    column = np.full(n_configurations + 1, NONE_CHOSEN)  # the last entry serves NONE_CHOSEN itself
    column[candidates] = np.arange(len(candidates))
    return column[chosen]

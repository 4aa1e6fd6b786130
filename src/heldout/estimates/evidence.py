"""Evidence: what methods read. Which rows and configurations count, and which configuration won."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from heldout._types import Array, Booleans, Codes, Floats, Indices, Weightings
from heldout._version import versions
from heldout.data.task import Truth
from heldout.estimates.candidates import Matrix
from heldout.estimates.intervals import effective_units
from heldout.estimates.question import Aggregate, Scales, Settings
from heldout.flags import Flag
from heldout.kernels.dispatch import KERNELS
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric, needed_codes, oriented, quiet_if_foreign
from heldout.metrics.constant_model import constant_score
from heldout.selection import Rule
from heldout.selection.base import NONE_CHOSEN, Choice
from heldout.selection.best import is_best_score
from heldout.selection.bootstrap_draws import RowBlocks
from heldout.selection.replay import FoldReplay, SelectionReplay

TIES = "the lowest index wins"
TIES_SHARED = "the scores of all that tie are averaged"


@dataclass(frozen=True, eq=False)
class FoldTable:
    """The evidence that every method can read: fold scores of the candidates, and how one was chosen.

    Attributes
    ----------
    metric : Metric
        The metric that is reported.
    names : sequence of str
        Names of all C configurations.
    candidates : ndarray of int
        The configuration of each column: those that did not fail, each once, or once per threshold if thresholds
        are tuned.
    winner : int
        The selected configuration; in an ensemble the one with the greatest weight.
    settings : Settings
        How many bootstraps, which level and sides, and the seed.
    selection : str
        The name of the selection rule.
    aggregate : "folds", "pooled" or "within"
        How a configuration is scored.
    n_rows_used : int
        How many rows every candidate predicted.
    fold_scores : ndarray of shape (splits, candidates) or None
        In the metric's own direction and units; None where the folds are not known.
    repeat_of_split : ndarray of int, shape (splits,), or None
        The repeat that each split belongs to; None with ``fold_scores``.
    fold_replay : FoldReplay or None
        The selection on fold scores; None if a score that the rule reads is not known.
    test_share : float or None
        The share of rows that each split tests, where the splits are those of repeated subsampling.
    halves : ndarray of shape (halvings, 2, splits) or None
        The winner's scores on splits of both halves of the rows, in the metric's own direction and units; None
        where it was not fitted there.
    flags : mapping
        Flags from the preparation of the evidence, with their sentences.
    details : mapping
        Provenance that only this evidence has.
    baseline : float or None
        The best constant model's score, where there are no predictions to compute it from.
    """

    metric: Metric
    names: Sequence[str]
    candidates: Indices
    winner: int
    settings: Settings
    _: KW_ONLY
    selection: str
    aggregate: Aggregate
    n_rows_used: int
    fold_scores: Floats | None = None
    repeat_of_split: Indices | None = None
    fold_replay: FoldReplay | None = None
    test_share: float | None = None
    halves: Floats | None = None
    flags: Mapping[Flag, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    baseline: float | None = None

    @property
    def provenance(self) -> dict[str, Any]:
        """How the evidence was gathered, from which versions and seed."""
        return {
            **settings_provenance(self.settings.entropy),
            "aggregate": self.aggregate,
            "selection": self.selection,
            "ties": TIES,
            "n_configurations": len(self.names),
            "n_candidates": self.n_candidates,
            **self.details,
        }

    @property
    def winner_column(self) -> int:
        """The winner's place among the columns."""
        return int(np.flatnonzero(self.candidates == self.winner)[0])

    @property
    def winners_mean(self) -> float:
        """The winner's mean fold score."""
        assert self.fold_scores is not None, "the method reads fold scores"
        return defined_mean(self.fold_scores[:, self.winner_column])

    @property
    def uncorrected(self) -> float:
        """The winner's score in the search's aggregate."""
        return self.winners_mean

    @property
    def constant(self) -> float | None:
        """The best constant model's score beside ``uncorrected``; None where there is none."""
        return self.baseline

    @property
    def n_splits(self) -> int | None:
        """How many splits made the predictions, one in a hold-out; None where the folds are not known."""
        return None if self.repeat_of_split is None else len(self.repeat_of_split)

    @property
    def is_hold_out(self) -> bool:
        """Whether no row was in the training part of another's model, as in a hold-out or a test set."""
        return self.n_splits == 1

    @property
    def n_candidates(self) -> int:
        """How many configurations are in the race; with thresholds one has a column for each."""
        return len(np.unique(self.candidates))

    @property
    def was_selected(self) -> bool:
        """Whether there was a choice."""
        return len(self.candidates) > 1

    @property
    def chosen_from(self) -> str:
        """Among what there was a choice, for sentences."""
        return f"{self.n_candidates} configuration{'' if self.n_candidates == 1 else 's'}"

    @property
    def chooses_ensemble(self) -> bool:
        """Whether the rule chooses weights over the configurations."""
        return False

    @property
    def winner_name(self) -> str:
        """The chosen configuration's name, with its threshold where that was tuned; what an ensemble is of."""
        return self.names[self.winner]

    @property
    def choice_provenance(self) -> dict[str, Any]:
        """The weights of an ensemble, or the threshold that was tuned."""
        return {}

    def of_configurations(self, shares: Floats) -> Floats:
        """(C,): shares of the columns summed by configuration, 0 for those that failed."""
        spread = np.zeros(len(self.names))
        np.add.at(spread, self.candidates, shares)
        return spread


Evidence: TypeAlias = FoldTable
"""What a method reads: scores by fold, and of ``Candidates`` their predictions too."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RowTable(FoldTable):
    """The rows that splits test, and what is asked of them: all that decides whether a method fits them.

    It is known before any model is fitted. Its fold scores are then 0 where the metric has a value.
    """

    truth: Truth  # of n rows
    unit_of_row: Indices  # (n,): what a bootstrap draws whole: the row, or its group
    grouped: bool  # whether those units are groups
    in_play: Booleans  # (n, R): the cells that every candidate predicted
    folds: Codes | None  # (n, R): codes that do not recur; -1 where a row is not in play
    sample_weight: Floats | None  # (n,): importance weights of mean 1; None where all weigh the same
    read: tuple[Metric, ...]  # the metrics that the rule reads
    rule: Rule  # that chooses among the columns
    thresholds: Floats | None = None  # of each column, where thresholds are tuned
    row_blocks: RowBlocks | None = None  # what bootstraps draw of rows in the order of time

    @property
    def chooses_best_score(self) -> bool:
        """Whether the rule chooses the best score of one metric."""
        return is_best_score(self.rule)

    @property
    def rows_of_weight(self) -> Indices:
        """Rows that count; those of weight zero are as good as absent."""
        if self.sample_weight is None:
            return np.arange(self.truth.n_rows)
        return np.flatnonzero(self.sample_weight > 0)

    @property
    def cells_of_weight(self) -> Booleans:
        """(n, R): the predictions that count."""
        weights = self.sample_weight
        return self.in_play if weights is None else self.in_play & (weights > 0)[:, None]

    @property
    def is_hold_out(self) -> bool:
        # Several runs of one test set are several repeats, each with all rows in one fold.
        folds = self.folds
        return super().is_hold_out or (folds is not None and bool((folds >= 0).all() and (folds == folds[0]).all()))


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidates(RowTable):
    """The evidence of methods that read predictions: those of the candidates on the rows that all predicted.

    A column is a candidate; where a threshold is tuned, a candidate at a threshold.
    """

    matrix: Matrix  # that it was selected from
    scales: Scales
    scores: AggregateScore  # the reported metric, in the search's aggregate
    # the same, as rows left out of a bootstrap are scored (pooled where folds are too small)
    out_of_bag: AggregateScore
    by_fold: AggregateScore | None  # the same with one segment per split; None if the folds are not known
    # what the rule reads, as its noise in a bootstrap is measured (see ``out_of_bag``), one a metric
    noise: tuple[AggregateScore, ...]
    replay: SelectionReplay
    chosen: Choice  # what the rule chose on the observed rows
    # what methods found of the same draws, by what they asked: levels and sides of an interval ask again
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def used(self) -> Indices:
        """(n,): the numbers of these rows among all."""
        return self.matrix.used

    @cached_property
    def predictions(self) -> Array:
        """(n, columns, R) or (n, columns, R, outputs): the response that the reported metric reads."""
        return self.matrix.as_metric_reads(self.matrix.question.metric)

    @property
    def table(self) -> FoldTable:
        """Without the predictions."""
        return FoldTable(**{member.name: getattr(self, member.name) for member in fields(FoldTable)})

    @property
    def winner_column(self) -> int:
        """The winner's place among the columns, at its threshold where that was tuned."""
        return int(self.chosen.columns[0])

    @property
    def best_columns(self) -> Indices:
        """A column for each candidate: where thresholds are tuned, the one at its best of them on all rows."""
        if self.thresholds is None:
            return np.arange(len(self.candidates))
        scores = oriented(self.metric, self.scores.observed())
        # Sorted by configuration, then by score: the first column of each configuration is its best one.
        order = np.lexsort((-scores, self.candidates))  # the candidates are ascending, and stay so
        return order[np.unique(self.candidates, return_index=True)[1]]

    @property
    def chosen_from(self) -> str:
        return super().chosen_from + ("" if self.thresholds is None else " at several thresholds")

    @property
    def chooses_ensemble(self) -> bool:
        return self.chosen.weights is not None

    @property
    def winner_name(self) -> str:
        name = self.names[self.winner]
        if self.thresholds is not None:
            return f"{name} at threshold {self.thresholds[self.winner_column]:.4g}"
        members = 1 if self.chosen.weights is None else int(np.count_nonzero(self.chosen.weights[0]))
        return name if members == 1 else f"ensemble of {members} configurations"

    @property
    def choice_provenance(self) -> dict[str, Any]:
        if self.chosen.weights is not None:
            return {"weights": self.of_configurations(self.chosen.weights[0]).tolist()}
        return {} if self.thresholds is None else {"threshold": float(self.thresholds[self.winner_column])}

    @property
    def uncorrected(self) -> float:
        # A function of the user's may warn for a configuration that predicts one class only.
        with quiet_if_foreign([self.metric]):
            if self.chooses_ensemble:
                return float(self.scores_of_winner(np.ones((1, self.truth.n_rows), dtype=np.uint8))[0])
            return float(self.scores.observed()[self.winner_column])

    @cached_property
    def constant(self) -> float | None:
        if self.baseline is not None:
            return self.baseline
        return constant_score(self.scores, self.truth, self.predictions.shape[2])

    def scores_of_winner(self, counts: Weightings, score: AggregateScore | None = None) -> Floats:
        """(L,): what was chosen on the observed rows, scored under weightings (L, n).

        In the search's aggregate, or as ``score`` has it.
        """
        return self.score(score or self.scores, self.chosen.repeated(len(counts)), counts)

    def score(self, score: AggregateScore, choice: Choice, counts: Weightings) -> Floats:
        """(L,): what was chosen under each weighting, scored under ``counts`` by ``scores`` or ``out_of_bag``.

        NaN where nothing was chosen.
        """
        if choice.tied is not None:
            # A score of no weight may be NaN, and 0 times NaN is NaN.
            values = np.where(choice.tied > 0, score.all(counts), 0.0)
            return np.where(choice.columns == NONE_CHOSEN, np.nan, (values * choice.tied).sum(axis=1))
        if choice.weights is None:
            # -1 stands for "nothing was chosen" and would index the last column, so 0 is scored there and thrown
            # away.
            values = score.selected(counts, np.maximum(choice.columns, 0))
            return np.where(choice.columns == NONE_CHOSEN, np.nan, values)
        assert self.replay.averages is not None, "a rule of weights averages something"
        return self.replay.averages.score(score, choice, counts)

    @property
    def predictions_of_winner(self) -> Array:
        """(n, 1, R[, outputs]): of what was chosen on the observed rows, or the average of it."""
        averages, weights = self.replay.averages, self.chosen.weights
        if averages is None or weights is None:
            return self.predictions[:, self.chosen.columns[:1]]
        return averages.of_weights(weights[:1])

    @property
    def independent_units(self) -> Indices:
        """(n,): what counts as independent: rows, groups, or stretches of rows as long as the blocks drawn."""
        if self.row_blocks is None:
            return self.unit_of_row
        # Rows of one stretch depend on each other, those of different stretches hardly.
        return np.arange(self.truth.n_rows, dtype=np.intp) // self.row_blocks.length

    @property
    def units(self) -> tuple[int, float]:
        """How many units of any weight are independent, and as how many of equal weight they count."""
        rows, weights = self.rows_of_weight, self.sample_weight
        return effective_units(self.independent_units[rows], None if weights is None else weights[rows])

    def count_of(self, rows: Booleans) -> float:
        """The effective number of units of some rows (a mask)."""
        weights = self.sample_weight
        return effective_units(self.independent_units[rows], None if weights is None else weights[rows])[1]

    @property
    def units_of_classes(self) -> dict[int, float]:
        """The effective number of units of each class that the metric needs, by its code."""
        codes = needed_codes(self.metric, self.truth)
        return {code: self.count_of(self.truth.values == code) for code in codes}


def settings_provenance(entropy: int) -> dict[str, Any]:
    """Seed, kernels and versions behind a number."""
    return {"entropy": entropy, "kernels": KERNELS, "versions": versions()}


def defined_mean(values: Floats) -> float:
    """Mean of the values that are not NaN, NaN where there is none."""
    present = values[~np.isnan(values)]
    with np.errstate(over="ignore"):  # losses near the end of float64: infinite, and flagged
        return float(present.mean()) if present.size else float("nan")


def needs_folds(evidence: Evidence) -> str | None:
    """Half a sentence where no fold scores are known; None where they are."""
    if evidence.fold_scores is not None:
        return None
    return "it compares scores fold by fold; give `folds=`, one label per row"


def needs_columns(evidence: Evidence) -> str | None:
    """Half a sentence where the selection rule chooses an ensemble; None where it chooses one column."""
    if not evidence.chooses_ensemble:
        return None
    return f"the selection rule '{evidence.selection}' chooses an ensemble, which has no fold scores"


def needs_independent_rows(evidence: RowTable) -> str | None:
    """Half a sentence where rows are grouped or weighted, for which a closed form does not hold; None otherwise."""
    if evidence.grouped:
        return "it treats rows as independent, but here they come in groups"
    return None if evidence.sample_weight is None else "its formula does not allow sample_weight"


def needs_one_configuration(evidence: RowTable) -> str | None:
    """Half a sentence where the selection rule chooses an ensemble or tunes a threshold; None otherwise."""
    if evidence.thresholds is None and not evidence.chooses_ensemble:
        return None
    what = "an ensemble" if evidence.chooses_ensemble else "a decision threshold"
    return f"it is for one configuration, but the rule '{evidence.selection}' chooses {what}"

"""Evidence whose selection begins with dropping: every bootstrap repeats the dropping of the search."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from heldout._types import Array, Booleans, Floats, Indices
from heldout.data.task import Truth
from heldout.dropping.base import judged_after
from heldout.dropping.loss_course import LossCourse, SplitLosses, centred
from heldout.dropping.replay import (
    BarrierRows,
    CountedCourse,
    DroppingHistory,
    RacedSelection,
    SimulatedCourse,
    SimulatedRace,
)
from heldout.errors import InputError
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import gather
from heldout.estimates.question import Aggregate, Question
from heldout.flags import Flag
from heldout.metrics.base import Signed
from heldout.metrics.row_losses import Finish, OfRowLosses
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.selection import Best
from heldout.selection.replay import SelectionReplay

N_WITHIN = 200
"""Bootstraps within each bootstrap, if the metric is not a mean of one loss per row."""


def with_dropping_replayed(
    evidence: Candidates,
    truth: Truth,
    predictions: HeldOutPredictions,
    question: Question,
    history: DroppingHistory,
) -> Candidates:
    """The evidence of the configurations that remained, with a selection that first repeats the dropping.

    ``predictions`` hold those of dropped configurations until they were dropped.
    """
    field = _Field(truth, predictions, question, history, evidence)
    replay, closed = field.raced()
    flags: dict[Flag, str] = {
        flag: text for flag, text in evidence.flags.items() if flag is not Flag.DROPPED_CONFIGURATIONS
    }
    if field.n_left:
        flags |= Flag.DROPPING_REPLAYED.of(dropped=field.n_left, total=predictions.n_configurations)
    how = "shares of bootstraps in closed form" if closed else f"{N_WITHIN} bootstraps within each bootstrap"
    return replace(
        evidence,
        replay=replay,
        flags=flags,
        details={**evidence.details, "dropping_replayed": how},
    )


@dataclass(frozen=True, eq=False)
class _Field:
    """The configurations of a race, and the splits that they met."""

    truth: Truth
    predictions: HeldOutPredictions
    question: Question
    history: DroppingHistory
    evidence: Candidates

    def raced(self) -> tuple[RacedSelection, bool]:
        """The selection, and whether nothing need be drawn for it."""
        losses = self._of_rows
        plain = self.question.rule == Best()
        rule = self.history.rule
        threshold = float(getattr(rule, "threshold"))  # noqa: B009 - the bootstrap rule has one
        course: SimulatedCourse
        # Without a loss for each row there is no closed form: the search's rule is asked again on what had been
        # predicted.
        if losses is None:
            course = CountedCourse(self._rows_at_barriers(), N_WITHIN, self.question.settings.entropy)
        else:
            # By the first row of each unit: units are drawn, and not rows.
            first_row = np.unique(self.evidence.unit_of_row, return_index=True)[1]
            splits = tuple(self._losses(losses, number) for number in range(self.n_splits - 1))
            course = LossCourse(splits, first_row, None if plain else self._rows_at_barriers(), threshold)
        race = SimulatedRace(
            course,
            # The race that was run judged nobody before ``min_predictions`` rows, and a replay must not either.
            judged=(self._n_seen[:-1] >= rule.min_predictions)
            & judged_after([column for column, _ in self.history.splits]),
            left_after=self.left_after,
            n_splits=self.n_splits,
            threshold=threshold,
            resolve_ties_after=rule.resolve_ties_after,
        )
        base = self.evidence.replay
        members = {member.name: getattr(base, member.name) for member in fields(SelectionReplay)}
        place = np.searchsorted(self.configurations, self.evidence.candidates)
        return RacedSelection(**members, race=race, place=place), losses is not None

    @property
    def n_splits(self) -> int:
        return len(self.history.splits)

    @property
    def n_left(self) -> int:
        """How many configurations were dropped."""
        return len(self.configurations) - len(self.evidence.candidates)

    @cached_property
    def configurations(self) -> Indices:
        """All configurations that did not fail: the remaining ones and the dropped ones."""
        failed = self.predictions.failed
        # Configurations that failed never competed, so that a bootstrap cannot keep them either.
        left = [j for j in self.predictions.dropped if j in self.history.left_after and j not in failed]
        return np.union1d(self.evidence.candidates, np.array(left, dtype=np.intp))

    @cached_property
    def left_after(self) -> Indices:
        """Of each of them, the number of splits that it met."""
        stays = set(self.evidence.candidates.tolist())
        met = [self.n_splits if j in stays else self.history.left_after[j] for j in self.configurations.tolist()]
        return np.array(met, dtype=np.intp)

    def _tested(self, number: int) -> Booleans:
        """(N,): the rows of a split."""
        assert self.predictions.folds is not None, "a race has splits"
        column, fold = self.history.splits[number]
        tested = self.predictions.folds[:, column] == fold
        if not tested.any():
            raise InputError(f"fold {fold} of repeat {column} was part of the race, but no row is in that fold.")
        return tested

    @cached_property
    def _n_seen(self) -> Indices:
        """(K,): rows predicted after each split."""
        seen = np.zeros(self.truth.n_rows, dtype=bool)
        counts = []
        for number in range(self.n_splits):
            seen |= self._tested(number)
            counts.append(int(seen.sum()))
        return np.array(counts)

    @cached_property
    def _of_rows(self) -> OfRowLosses | None:
        """The metric that decides, if it is a mean of one loss per row; otherwise None."""
        metric = next(iter(self.question.selected_on.values())).for_truth(self.truth)
        # A scorer of the right sign and its metric choose the same; only the bare metric has losses of rows.
        if isinstance(metric, Signed) and metric.metric.greater_is_better == (metric.sign > 0):
            metric = metric.metric
        if not isinstance(metric, OfRowLosses):
            return None
        repeats = {column for column, _ in self.history.splits}
        # The mean over repeats of roots is no function of a mean.
        return None if metric.finish is Finish.ROOT and len(repeats) > 1 else metric

    @cached_property
    def _array(self) -> Array:
        """The predictions that the deciding metric reads, for the rows used and the configurations in the race."""
        array = self.predictions.for_metric(next(iter(self.question.selected_on.values())))
        return array[self.evidence.used][:, self.configurations]

    @cached_property
    def _predicted(self) -> Booleans:
        metric = next(iter(self.question.selected_on.values()))
        return self.predictions.predicted(metric)[self.evidence.used][:, self.configurations]

    def _losses(self, metric: OfRowLosses, number: int) -> SplitLosses:
        """The losses of the configurations that met a split, on its rows."""
        column = self.history.splits[number][0]
        present = self.left_after > number
        tested = self._tested(number)[self.evidence.used]
        rows = np.flatnonzero(tested & self._predicted[:, present, column].all(axis=1))
        given = self._array[rows][:, present, column]
        present_losses = np.asarray(metric.losses(self.truth.rows(self.evidence.used[rows]), given))
        whole = np.zeros((len(rows), len(present)), dtype=present_losses.dtype)
        whole[:, present] = present_losses
        if present_losses.dtype != bool:
            # Differences between configurations alone count in a race; centred losses keep digits in their sums.
            whole = centred(whole.astype(np.float64), present)
        weights = self.evidence.sample_weight
        if weights is None and not self.evidence.grouped:
            return SplitLosses(column, self.evidence.unit_of_row[rows], whole)
        # Sums by group, because a bootstrap draws whole groups.
        return _by_unit(
            column, self.evidence.unit_of_row[rows], whole, np.ones(len(rows)) if weights is None else weights[rows]
        )

    def _rows_at_barriers(self) -> tuple[BarrierRows, ...]:
        return tuple(self._rows_at_barrier(number) for number in range(self.n_splits - 1))

    def _rows_at_barrier(self, number: int) -> BarrierRows:
        """The search's rule on what had been predicted when a split was met, as the race that was run asked it."""
        nothing = BarrierRows(
            np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), None, np.empty(0, dtype=np.intp)
        )
        # As in the search: too few predictions for a judgement.
        if self._n_seen[number] < self.history.rule.min_predictions:
            return nothing
        racing = self.left_after > number
        partial = _until(self.predictions, self.history.splits[: number + 1], self.configurations[racing])
        # A mean over folds is not known before all folds are; a race scores the rows that there are together.
        so_far: Aggregate = "within" if self.question.aggregate == "within" else "pooled"
        # The winner is forgotten: it is known at the end of the race only, and here the rule is asked in the
        # middle.
        question = replace(self.question, aggregate=so_far, winner=None)
        try:
            evidence = gather(self.truth, partial, question)
        except InputError:  # a class or an event that no row has so far: no configuration was judged
            return nothing
        return BarrierRows(
            np.searchsorted(self.evidence.used, evidence.used),
            np.searchsorted(self.configurations, evidence.candidates),
            evidence.replay,
            evidence.unit_of_row,
        )


def _by_unit(repeat: int, unit_of_row: Indices, losses: Array, weights: Floats) -> SplitLosses:
    """Weighted sums over the rows of each unit."""
    units, place = np.unique(unit_of_row, return_inverse=True)
    summed = np.zeros((len(units), losses.shape[1]))
    np.add.at(summed, place, losses * weights[:, None])
    return SplitLosses(repeat, units, summed, np.bincount(place, weights, len(units)).astype(np.float64))


def _until(
    predictions: HeldOutPredictions, splits: Sequence[tuple[int, int]], racing: Indices
) -> HeldOutPredictions:
    """The predictions after some splits, of the configurations that remained."""
    folds = predictions.folds
    assert folds is not None, "a race has splits"
    met = np.zeros(folds.shape, dtype=bool)
    for column, fold in splits:
        met[:, column] |= folds[:, column] == fold
    responses = {}
    for response, array in predictions.responses.items():
        mask = np.expand_dims(met[:, None, :], tuple(range(3, array.ndim)))
        responses[response] = np.where(mask, array, UNPREDICTED_LABEL if array.dtype.kind in "iu" else np.nan)
    # Failed ones stay failed: a configuration is one of the two.
    out = set(range(predictions.n_configurations)) - set(racing.tolist()) - set(predictions.failed)
    return replace(
        predictions,
        responses=responses,
        folds=np.where(met, folds, -1).astype(np.int32),
        dropped=dict.fromkeys(sorted(out), "it was dropped"),
    )

"""The plan of a validation: its models, samples and splits, and a check of the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from heldout._streams import stream
from heldout.configurations import Configurations
from heldout.data.limits import MOST_FITS, refuse_beyond_memory, refuse_more_than
from heldout.data.task import Task
from heldout.execution.executors.base import Work
from heldout.execution.fit import CellContext
from heldout.execution.plan import BYTES_A_CELL, bytes_a_row
from heldout.execution.sharing.groups import Share
from heldout.folds.splits import Folds, Split
from heldout.metrics.base import Metric
from heldout.protocols.draws import Demands, draw
from heldout.protocols.validation.corrections.base import Correction
from heldout.protocols.validation.replicate import ReplicateFit
from heldout.protocols.validation.samples import (
    FIRST,
    INNER,
    SECOND,
    inner_splits,
    sample_splits,
    split_of_all_rows,
)
from heldout.selection.draws import Counts, UndefinedDrawsError, always, inner_counts


@dataclass(frozen=True, eq=False)
class Stage:
    """Bootstrap samples that are fitted together."""

    counts: Counts
    """(B, N): how often each sample drew each row."""
    splits: tuple[Split, ...]
    """One a sample."""
    redraws: int = 0
    """Draws that lacked something the metrics or the model need."""


@dataclass(frozen=True, eq=False)
class ValidationPlan:
    """Models, rows, and the settings of their validation."""

    task: Task
    models: Configurations
    context: CellContext
    """Of the cells; its scoring holds the metrics."""
    do: ReplicateFit
    """Makes the fits on a split."""
    correction: Correction
    n_bootstraps: int
    """Samples of the first stage."""
    n_second: int = 0
    """New samples on which the selected model is bootstrapped once more; 0 for no second stage."""
    n_inner: int = 0
    """Bootstraps of each bootstrap of the last stage, for the double bootstrap; 0 for none."""
    adjusts: bool = False
    """Whether the optimism is adjusted by the double bootstrap."""
    entropy: int = 0
    share: Share = "exact"
    """Whether equal steps are fitted once, and one fit serves several models."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """By name, in the given order."""
        return {name: metric for name, metric in self.context.scoring.metrics.items() if metric is not None}

    @property
    def two_stages(self) -> bool:
        return self.n_second > 0

    @property
    def n_last(self) -> int:
        """Samples of the last stage."""
        return self.n_second or self.n_bootstraps

    @cached_property
    def demands(self) -> Demands:
        """The requirements on every sample."""
        return Demands(self.task, list(self.metrics.values()))

    @cached_property
    def all_rows(self) -> Split:
        """The split of the apparent scores."""
        return split_of_all_rows(self.task.n_rows)

    @cached_property
    def first(self) -> Stage:
        """The samples that all models share."""
        return self._stage("draws", FIRST, self.n_bootstraps)

    @cached_property
    def last(self) -> Stage:
        """The samples of the estimates: those of the first stage, unless there is a second."""
        if not self.two_stages:
            return self.first
        return self._stage("draws of the second stage", SECOND, self.n_second)

    @cached_property
    def inner(self) -> tuple[Stage, ...]:
        """For each sample of the last stage the samples drawn from it."""
        found = []
        left_out = self.demands.of_left_out if self.correction.reads_left_out else always
        for b, outer in enumerate(self.last.splits if self.n_inner else ()):
            counts = self.last.counts[b]
            try:
                drawn = inner_counts(
                    counts, self.n_inner, stream(self.entropy, "inner draws", b), unit_of_row=self.demands.units,
                    in_bag=self.demands.of_drawn, left_out=left_out,
                )  # fmt: skip
            except UndefinedDrawsError:  # the sample holds too little, so it has no corrected score
                drawn = counts[None, :][:0]
            found.append(Stage(drawn, inner_splits(drawn, outer.repeat, first_fold=INNER)))
        return tuple(found)

    @cached_property
    def work(self) -> Work:
        """The parts that its cells share."""
        splits = [self.all_rows, *self.first.splits]
        if self.two_stages:
            splits += self.last.splits
        for stage in self.inner:
            splits += stage.splits
        folds = Folds(tuple(splits), self.task.n_rows, grouped=self.task.groups is not None)
        sharing = self.do.sharing(self.context, self.models, self.share)
        return Work(self.context, self.models, folds, self.do, self.do.identity, sharing)

    @property
    def n_cells(self) -> int:
        """The number of cells if every model can be fitted on all rows."""
        return self._n_outer_cells + sum(len(stage.splits) for stage in self.inner)

    @property
    def most_cells(self) -> int:
        """An upper bound of ``n_cells`` without drawing: some samples may hold too little for inner samples."""
        return self._n_outer_cells + self.n_last * self.n_inner

    @property
    def n_fits(self) -> int:
        """The cells, and the last fit of the selected model on all rows."""
        return self.n_cells + 1

    @property
    def most_fits(self) -> int:
        """An upper bound of ``n_fits``."""
        return self.most_cells + 1

    @property
    def _n_outer_cells(self) -> int:
        return len(self.models) * (1 + self.n_bootstraps) + self.n_second

    def _stage(self, domain: str, fold: int, n_bootstraps: int) -> Stage:
        seed, reads = stream(self.entropy, domain), self.correction.reads_left_out
        drawn = draw(self.demands, n_bootstraps, seed, scores_left_out=reads)
        return Stage(drawn.counts, sample_splits(drawn.counts, fold), drawn.redraws)


WHILE_SCORING = 8
"""A metric of all replicates together needs up to so many numbers a row and replicate, as measured."""


def bytes_recorded(plan: ValidationPlan) -> int:
    """Bytes of all predictions, as a run file holds them."""
    return plan.most_cells * _bytes_of_fit(plan)


def check_memory(plan: ValidationPlan, *, keeps_fits: bool) -> None:
    """Refuse a plan whose samples and predictions would take more than half of the machine's memory.

    ``keeps_fits``: whether the predictions of every fit stay in memory until the end, as without a store.
    """
    n_rows, n_bootstraps = plan.task.n_rows, max(plan.n_bootstraps, plan.n_last)
    what = f"fits ({n_bootstraps:,} bootstraps)"
    refuse_more_than(MOST_FITS, plan.most_fits, what, "fewer bootstraps: 200 are usual")
    drawn = plan.most_cells * (n_rows + BYTES_A_CELL)
    kept = bytes_recorded(plan) if keeps_fits else n_bootstraps * _bytes_of_fit(plan)
    arrays = n_bootstraps * max(2 * n_rows * _bytes_a_row(plan), _bytes_of_fit(plan))
    scored = WHILE_SCORING * 8 * n_bootstraps * n_rows
    refuse_beyond_memory(
        drawn + kept + arrays + scored,
        f"the samples and predictions of {plan.most_fits:,} fits on {n_rows:,} rows",
        f"{'a store, ' if keeps_fits else ''}fewer bootstraps or fewer metrics",
    )


def _bytes_of_fit(plan: ValidationPlan) -> int:
    return plan.task.n_rows * plan.do.n_completions * _bytes_a_row(plan)


def _bytes_a_row(plan: ValidationPlan) -> int:
    return bytes_a_row(plan.task.truth, plan.context.scoring)

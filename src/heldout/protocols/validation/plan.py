"""The plan of a validation: its models, samples and splits, and a check of the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from heldout import _defaults
from heldout._streams import stream
from heldout._types import Array, Counts, Floats
from heldout.configurations import Configurations
from heldout.data.checks import MOST_FITS, refuse_beyond_memory, refuse_more_than
from heldout.data.task import Task
from heldout.execution.cells import CellResult, CellState, check_predictions
from heldout.execution.fit import Work
from heldout.execution.plan import BYTES_A_CELL, Race, bytes_a_row
from heldout.execution.run import OpenRun
from heldout.execution.sharing.groups import Share
from heldout.folds.splits import Folds, Split
from heldout.metrics.base import Metric, Response
from heldout.protocols.drawn_rows import Demands, draw
from heldout.protocols.validation import replicate
from heldout.protocols.validation.corrections.base import Correction
from heldout.protocols.validation.replicates import Replicates
from heldout.selection.bootstrap_draws import UndefinedDrawsError, always, inner_counts


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

    fits: Work
    """What all fits share, without their splits; its scoring holds the metrics."""
    do: replicate.ReplicateFit
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
    share: Share = _defaults.SHARE
    """Whether equal steps are fitted once, and one fit serves several models."""

    @property
    def task(self) -> Task:
        return self.fits.task

    @property
    def models(self) -> Configurations:
        return self.fits.configurations

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """By name, in the given order."""
        return {name: metric for name, metric in self.fits.scoring.metrics.items() if metric is not None}

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
        return replicate.split_of_all_rows(self.task.n_rows)

    @cached_property
    def first(self) -> Stage:
        """The samples that all models share."""
        return self._stage("draws", replicate.FIRST, self.n_bootstraps)

    @cached_property
    def last(self) -> Stage:
        """The samples of the estimates: those of the first stage, unless there is a second."""
        if not self.two_stages:
            return self.first
        return self._stage("draws of the second stage", replicate.SECOND, self.n_second)

    @cached_property
    def inner(self) -> tuple[Stage, ...]:
        """For each sample of the last stage the samples drawn from it."""
        found = []
        left_out = self.demands.of_left_out if self.correction.reads_left_out else always
        for b, outer in enumerate(self.last.splits if self.n_inner else ()):
            counts = self.last.counts[b]
            try:
                drawn = inner_counts(
                    counts, self.n_inner, stream(self.fits.entropy, "inner draws", b),
                    unit_of_row=self.demands.units, in_bag=self.demands.of_drawn, left_out=left_out,
                )  # fmt: skip
            except UndefinedDrawsError:  # the sample holds too little, so it has no corrected score
                drawn = counts[None, :][:0]
            found.append(Stage(drawn, replicate.inner_splits(drawn, outer.repeat, first_fold=replicate.INNER)))
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
        return replace(self.fits, folds=folds, do=self.do, sharing=self.do.sharing(self.fits, self.share))

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
        seed, reads = stream(self.fits.entropy, domain), self.correction.reads_left_out
        drawn = draw(self.demands, n_bootstraps, seed, scores_left_out=reads)
        return Stage(drawn.counts, replicate.sample_splits(drawn.counts, fold), drawn.redraws)


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
    return bytes_a_row(plan.task.truth, plan.fits.scoring)


class NoModelError(ValueError):
    """A model could not be fitted on all rows; the message says why."""


@dataclass(frozen=True, eq=False)
class Fits:
    """The cells of a plan, run stage by stage."""

    plan: ValidationPlan
    run: OpenRun

    def first(self) -> None:
        """Do the cells of the first stage, those of all models side by side.

        All rows come first: a model that cannot be fitted on them is not fitted on the samples.
        """
        self.run.run_races([Race((self.plan.all_rows,))])
        if fitted := self._fitted:
            self.run.run_races([Race((self.plan.all_rows, *self.plan.first.splits), configurations=fitted)])

    @property
    def _fitted(self) -> tuple[int, ...]:
        """The models that could be fitted on all rows."""
        cells = self.run.cell_results(Race((self.plan.all_rows,)))
        return tuple(j for j, cell in enumerate(cells) if cell.state is not CellState.FAILED)

    def of_first(self, model: int) -> Replicates:
        """The replicates of a model in the first stage."""
        return self._replicates(model, self.plan.first.splits, self.plan.first.counts)

    def of_last(self, model: int) -> Replicates:
        """The replicates of the selected model in the second stage, which this runs."""
        last = self.plan.last
        self.run.run_races([Race(last.splits, configurations=(model,))])
        return self._replicates(model, last.splits, last.counts)

    def doubles(self, model: int, outer: Replicates) -> Iterator[tuple[int, Replicates]]:
        """For each sample of the last stage that has a model, the replicates drawn from it."""
        every_split = tuple(split for inner in self.plan.inner for split in inner.splits)
        self.run.run_races([Race(every_split, configurations=(model,))])
        for b in outer.kept.tolist():
            inner = self.plan.inner[b]
            if not inner.splits:
                continue
            predictions, own, failed = self._side_by_side(self._results(model, inner.splits))
            if predictions:
                yield b, outer.of_samples_of(b, inner.counts, predictions, failed, own)

    def _results(self, model: int, splits: Sequence[Split]) -> list[CellResult]:
        results = self.run.cell_results(Race(tuple(splits), configurations=(model,)))
        task, n_times = self.plan.task, len(self.plan.fits.scoring.times)
        completions = next((array.shape[1:2] for each in results for array in each.predictions.values()), ())
        for result, split in zip(results, splits, strict=True):
            # All rows, and those of the sample if they were imputed again.
            rows = [task.n_rows, task.n_rows + len(split.train)]
            check_predictions(str(result.key), result.predictions, task.truth, n_times, rows, completions)
        return results

    def _replicates(self, model: int, splits: Sequence[Split], counts: Counts) -> Replicates:
        (whole,) = self._results(model, (self.plan.all_rows,))
        if whole.state is CellState.FAILED:
            raise NoModelError(whole.message)
        results = self._results(model, splits)
        predictions, own, failed = self._side_by_side(results)
        n = self.plan.task.n_rows
        apparent = {response: values[-n:] for response, values in whole.predictions.items()}
        return Replicates(
            truth=self.plan.task.truth,
            counts=counts,
            apparent=apparent,
            on_original=predictions
            or {response: values[:, :, None][:, :, :0] for response, values in apparent.items()},
            in_sample=own,
            terms=_shares_kept(each for each in results if each.state is CellState.DONE),
            weights=self.plan.task.sample_weight,
            times=self.plan.fits.scoring.times,
            failed=failed,
        )

    def _side_by_side(
        self, results: Sequence[CellResult]
    ) -> tuple[dict[Response, Floats], dict[Response, list[Array]] | None, dict[int, str]]:
        """The predictions of the replicates for all rows, those for their own samples if these were imputed again,
        and the messages of those that failed."""
        n = self.plan.task.n_rows
        of_rows, of_own = zip(*(_divided(each, n) for each in results), strict=True)
        predictions, failed = _side_by_side(of_rows)
        own = {response: [each.predictions.get(response, _NOTHING) for each in of_own] for response in predictions}
        completed_anew = any(array.size for arrays in own.values() for array in arrays)
        return predictions, own if completed_anew else None, failed


_NOTHING = np.empty((0, 0))


def _shares_kept(results: Iterable[CellResult]) -> dict[str, float]:
    """The share of the models that kept each term; empty where none selected any."""
    selected = [each.complexity for each in results if each.complexity]
    terms = dict.fromkeys(term for kept in selected for term in kept)
    return {term: sum(kept.get(term, 0.0) for kept in selected) / len(selected) for term in terms}


def _divided(result: CellResult, n: int) -> tuple[CellResult, CellResult]:
    """The predictions of a replicate for all rows, and for those of its own sample."""
    of_rows = {response: values[:n] for response, values in result.predictions.items()}
    of_own = {response: values[n:] for response, values in result.predictions.items()}
    return replace(result, predictions=of_rows), replace(result, predictions=of_own)


def _side_by_side(results: Sequence[CellResult]) -> tuple[dict[Response, Floats], dict[int, str]]:
    """Predictions (N, H, B[, outputs]) of B replicates, and the messages of those that failed."""
    failed = {b: each.message for b, each in enumerate(results) if each.state is CellState.FAILED}
    arrays: dict[Response, Floats] = {}
    for b, result in enumerate(results):
        for response, values in result.predictions.items():
            if b in failed:
                continue
            if response not in arrays:
                shape = (*values.shape[:2], len(results), *values.shape[2:])
                arrays[response] = np.zeros(shape, dtype=values.dtype)
            arrays[response][:, :, b] = values
    return arrays, failed

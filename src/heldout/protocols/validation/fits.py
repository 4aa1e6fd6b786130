"""From the cells of a validation to its replicates, stage by stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.execution.cells import CellResult, CellState, check_predictions
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun
from heldout.folds.splits import Split
from heldout.metrics.base import Response
from heldout.protocols.validation.plan import ValidationPlan
from heldout.protocols.validation.replicates import Replicates
from heldout.selection.draws import Counts


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
        task, n_times = self.plan.task, len(self.plan.context.scoring.times)
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
            times=self.plan.context.scoring.times,
            failed=failed,
        )

    def _side_by_side(
        self, results: Sequence[CellResult]
    ) -> tuple[dict[Response, NDArray[np.float64]], dict[Response, list[NDArray[Any]]] | None, dict[int, str]]:
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


def _side_by_side(results: Sequence[CellResult]) -> tuple[dict[Response, NDArray[np.float64]], dict[int, str]]:
    """Predictions (N, H, B[, outputs]) of B replicates, and the messages of those that failed."""
    failed = {b: each.message for b, each in enumerate(results) if each.state is CellState.FAILED}
    arrays: dict[Response, NDArray[np.float64]] = {}
    for b, result in enumerate(results):
        for response, values in result.predictions.items():
            if b in failed:
                continue
            if response not in arrays:
                shape = (*values.shape[:2], len(results), *values.shape[2:])
                arrays[response] = np.zeros(shape, dtype=values.dtype)
            arrays[response][:, :, b] = values
    return arrays, failed

"""The scores of one algorithm, from the fits of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout._types import Floats
from heldout.dropping.replay import DroppingHistory
from heldout.estimates.intervals import interval_around
from heldout.estimates.methods.corrected_t import nadeau_bengio
from heldout.estimates.of_search import estimates_of_search
from heldout.estimates.question import Scale, Scales
from heldout.estimates.types import Estimate
from heldout.execution.collect import mean_over_splits
from heldout.execution.conclusion import pooled_scores
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.metrics.base import Metric
from heldout.predictions import is_predicted
from heldout.protocols.algorithms.comparison import ComparedAlgorithm, FitCosts
from heldout.protocols.algorithms.run import AlgorithmRun, choice_of, fits_and_seconds, part_of_results
from heldout.protocols.nested.conclusion import is_defined, pooled_score
from heldout.protocols.nested.plan import NestedFolds


@dataclass(frozen=True, eq=False)
class AlgorithmScorer:
    """Scores each algorithm from the results of all fits."""

    search: Search
    nested: NestedFolds
    run: AlgorithmRun
    metric: Metric
    running: RunSettings

    @property
    def scale(self) -> Scale:
        """The scale of all scores that are reported."""
        return Scales.of(self.search.estimation.aggregate, self.metric).value

    def algorithm(self, name: str, columns: list[int]) -> ComparedAlgorithm:
        """The scores of one algorithm, which has these configurations."""
        found = self.run.flat
        winner, reason = choice_of(self.search, part_of_results(found, columns), columns)
        flat = float("nan") if winner is None else self._flat(columns, winner)
        configuration = None if winner is None else self.search.configurations[winner]
        outer, chosen, no_score = self._outer(columns)
        value, no_score = (float("nan"), no_score) if no_score else self._nested(outer, chosen)
        # Around the score of all rows where that is the value; the spread is that of folds in any case.
        spread = nadeau_bengio(outer, self.nested.test_share, None if np.isnan(value) else value)
        estimation = self.search.estimation
        interval = None
        if not np.isnan(value):
            interval = interval_around(spread, self.metric, estimation.confidence_level, estimation.alternative)
        inner = self.run.inner_fits if len(columns) > 1 else ()
        refits = [cell for (_, j), cell in self.run.refits.items() if j in columns]
        nested_fits, nested_seconds = fits_and_seconds(inner, columns)
        nested_seconds += sum(cell.fit_seconds + cell.score_seconds for cell in refits)
        return ComparedAlgorithm(
            name=name,
            n_configurations=len(columns),
            flat=flat,
            flat_name="" if configuration is None else configuration.name,
            flat_params={}
            if configuration is None
            else {key: each for key, each in configuration.params.items() if key != "model"},
            corrected=None if winner is None else self.corrected(columns, winner),
            nested=value,
            nested_interval=interval,
            outer_scores=tuple(outer.tolist()),
            outer_names=tuple("" if each is None else self.search.configurations[each].name for each in chosen),
            costs=FitCosts(*fits_and_seconds([found], columns), nested_fits + len(refits), nested_seconds),
            reason=reason or no_score,
        )

    def _flat(self, columns: list[int], winner: int) -> float:
        """The score of the winner over all folds, on the scale of the value."""
        found, task = self.run.flat, self.search.task
        if self.scale == "folds":
            return float(mean_over_splits(found.fold_scores[found.refit_metric].values)[winner])
        predictions = part_of_results(found, columns).predictions
        whole = pooled_scores(task, predictions, {found.refit_metric: self.metric}, self.scale)
        return float(whole[found.refit_metric][columns.index(winner)])

    def _nested(self, outer: Floats, chosen: list[int | None]) -> tuple[float, str]:
        """The score of the winners of all outer folds, on that scale; or NaN and why there is none."""
        if self.scale == "folds":
            return nadeau_bengio(outer, self.nested.test_share).center, ""
        held, column_of = self.run.flat.predictions.responses, self.run.flat.folds.columns
        predictions = []
        for number, (branch, winner) in enumerate(zip(self.nested.outer, chosen, strict=True)):
            assert winner is not None, "there would be a reason"
            if (refit := self.run.refits.get((number, winner))) is not None:
                predictions.append(refit.predictions)
                continue
            rows, column = branch.refit.test, column_of[branch.repeat]
            of_winner = {response: array[rows, winner, column] for response, array in held.items()}
            predictions.append({response: each for response, each in of_winner.items() if is_predicted(each)})
        return pooled_score(self.search, self.metric, self.nested.outer, predictions)

    def _outer(self, columns: list[int]) -> tuple[Floats, list[int | None], str]:
        """The score of the winner of every outer fold, the winners, and why there is no mean of them."""
        found = self.run.flat
        values = found.fold_scores[found.refit_metric].values
        row_of = {split.place: row for row, split in enumerate(found.splits)}
        scores, chosen, reason = np.full(len(self.nested.outer), np.nan), list[int | None](), ""
        for number, branch in enumerate(self.nested.outer):
            place = branch.repeat, branch.left_out[0]
            winner, why = self.run.choice(number, columns)
            chosen.append(winner)
            if winner is not None:
                scores[number], why = self._outer_score(number, winner, values[row_of[place]])
            # A fold in which the metric means nothing leaves the mean of the others as it is; any other gap does
            # not.
            if np.isnan(scores[number]) and (
                winner is None or is_defined(self.search, self.metric, branch.refit.test)
            ):
                reason = reason or f"outer fold {place[1]} of repeat {place[0]} has no score ({why.rstrip('.')})"
        return scores, chosen, reason

    def _outer_score(self, number: int, winner: int, flat: Floats) -> tuple[float, str]:
        """The score of a winner on its outer fold, by the flat fit or its own, and the reason if it is NaN."""
        refit = self.run.refits.get((number, winner))
        if refit is None:
            return float(flat[winner]), self.run.flat.failures.get(winner, "its score is NaN")
        score = refit.test_scores.get(self.run.flat.refit_metric, float("nan"))
        return score if self.metric.greater_is_better else -score, refit.message or "its score is NaN"

    def overall(self, winner: int) -> Estimate:
        """The score of the deployed configuration, corrected for the choice among those of all algorithms.

        Where they are dropped, the choice is among those that are left: each algorithm has a race of its own.
        """
        return self.corrected(list(range(len(self.search.configurations))), winner, races=False)

    def corrected(self, columns: list[int], winner: int, *, races: bool = True) -> Estimate:
        """The score of one of some configurations, corrected for the choice among them."""
        search, part = self.search, part_of_results(self.run.flat, columns)
        estimates = estimates_of_search(
            search.task.truth, part.predictions, search.estimation, metrics=part.metrics,
            fold_scores=part.fold_scores, refit_metric=part.refit_metric, winner=columns.index(winner),
            groups=search.task.groups, sample_weight=search.task.sample_weight, entropy=search.entropy,
            n_jobs=self.running.n_jobs, params=[search.configurations[j].params for j in columns],
            flags=search.flags,
            dropping=self._history(columns) if races else None,
        )  # fmt: skip
        return estimates[part.refit_metric]

    def _history(self, columns: list[int]) -> DroppingHistory | None:
        """The race of an algorithm, which an estimate repeats; None without dropping."""
        found, drop = self.run.flat, self.search.drop
        if drop is None:
            return None
        met = tuple((found.folds.columns[split.repeat], split.fold) for split in found.splits)
        left = {columns.index(j): left.after for j, left in found.dropped.items() if j in columns}
        return DroppingHistory(drop, met, left)

"""The scores of one algorithm, from the fits of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.estimates.of_search import estimates_of_search
from heldout.estimates.spread import interval_around, nadeau_bengio
from heldout.estimates.types import Estimate
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.table import mean_over_splits
from heldout.kernels.reference import Floats
from heldout.metrics.base import Metric
from heldout.protocols.algorithms.comparison import ComparedAlgorithm, FitCosts
from heldout.protocols.algorithms.run import AlgorithmRun, choice_of, fits_and_seconds, part_of_results
from heldout.protocols.nested.conclusion import is_defined
from heldout.protocols.nested.plan import NestedFolds


@dataclass(frozen=True, eq=False)
class AlgorithmScorer:
    """Scores each algorithm from the results of all fits."""

    search: Search
    nested: NestedFolds
    run: AlgorithmRun
    metric: Metric
    running: RunSettings

    def algorithm(self, name: str, columns: list[int]) -> ComparedAlgorithm:
        """The scores of one algorithm, which has these configurations."""
        found = self.run.flat
        scores = found.fold_scores[found.refit_metric]
        winner, reason = choice_of(self.search, found, columns)
        flat = float("nan") if winner is None else float(mean_over_splits(scores.values)[winner])
        configuration = None if winner is None else self.search.configurations[winner]
        outer, names, no_score = self._outer(columns)
        spread = nadeau_bengio(outer, self.nested.test_share)
        value = float("nan") if no_score else spread.center
        estimation = self.search.estimation
        interval = None
        if not np.isnan(value):
            interval = interval_around(spread, self.metric, estimation.confidence_level, estimation.alternative)
        inner = self.run.inner_fits if len(columns) > 1 else ()
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
            outer_names=tuple(names),
            costs=FitCosts(*fits_and_seconds([found], columns), *fits_and_seconds(inner, columns)),
            reason=reason or no_score,
        )

    def _outer(self, columns: list[int]) -> tuple[Floats, list[str], str]:
        """The score of the winner of every outer fold, the winners, and why there is no mean of them."""
        found = self.run.flat
        values = found.fold_scores[found.refit_metric].values
        row_of = {split.place: row for row, split in enumerate(found.outcome.splits)}
        scores, names, reason = np.full(len(self.nested.outer), np.nan), [], ""
        for number, branch in enumerate(self.nested.outer):
            place = branch.repeat, branch.left_out[0]
            there_is_choice = len(columns) > 1
            winner, why = (
                choice_of(self.search, self.run.inner[number], columns) if there_is_choice else (columns[0], "")
            )
            names.append("" if winner is None else self.search.configurations[winner].name)
            if winner is not None:
                scores[number] = values[row_of[place], winner]
                why = found.failures.get(winner, "its score is NaN")
            if np.isnan(scores[number]) and (
                winner is None or is_defined(self.search, self.metric, branch.refit.test)
            ):
                reason = reason or f"outer fold {place[1]} of repeat {place[0]} has no score ({why.rstrip('.')})"
        return scores, names, reason

    def corrected(self, columns: list[int], winner: int) -> Estimate:
        """The score of the winner among some configurations, corrected for that choice."""
        search, part = self.search, part_of_results(self.run.flat, columns)
        metrics = {name: search.scoring.metrics.get(name) for name in part.fold_scores}
        estimates = estimates_of_search(
            search.task.truth, part.predictions, search.estimation, metrics=metrics, fold_scores=part.fold_scores,
            refit_metric=part.refit_metric, winner=columns.index(winner), groups=search.task.groups,
            sample_weight=search.task.sample_weight, entropy=search.entropy, n_jobs=self.running.n_jobs,
            params=[search.configurations[j].params for j in columns], flags=search.flags,
        )  # fmt: skip
        return estimates[part.refit_metric]

"""The fits of a comparison of algorithms, in one run over all configurations; the choices and scores of each.

The flat folds are the outer folds. Equal fits are made once:

- The winner of an algorithm in an outer fold was fitted on that fold's training rows by the flat search already.
- Where the inner folds are the remaining outer ones, the models that are trained without folds a and b are inner
  models of fold a, tested on b, and of fold b, tested on a. One fit predicts both.
- All algorithms are in one run, so that steps that their pipelines have in common are fitted once.

Where configurations may be dropped, each algorithm races by itself, on the same folds: a configuration is
compared with the best of its own algorithm only, so that every algorithm keeps its scores. Each race has copies
of the splits, with repeat numbers of their own. The winner of an outer fold may have left the flat race before
that fold; it is then fitted there once more.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, compress
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.configurations import Configurations
from heldout.dropping.replay import DroppingHistory
from heldout.errors import InputError
from heldout.estimates.intervals import interval_around
from heldout.estimates.methods.corrected_t import nadeau_bengio
from heldout.estimates.of_search import estimates_of_search
from heldout.estimates.question import Scale, Scales
from heldout.estimates.types import Estimate
from heldout.execution.cells import NO_SCORE, CellResult, CellState, CellTable
from heldout.execution.collect import RaceResults, mean_over_splits
from heldout.execution.conclusion import pooled_scores, winner_of
from heldout.execution.plan import Race, in_racing_order
from heldout.execution.responses import fold_scores, is_computable
from heldout.execution.run import OpenRun, RunSettings, open_run
from heldout.execution.search import Search
from heldout.folds.splits import Place, Rows, Split
from heldout.metrics.base import Metric
from heldout.predictions import UNPREDICTED_LABEL, FoldScores, is_predicted
from heldout.protocols.algorithms.comparison import ComparedAlgorithm, FitCosts
from heldout.protocols.branches import RepeatNumbers
from heldout.protocols.nested.conclusion import is_defined, pooled_score
from heldout.protocols.nested.plan import REMAINING, NestedBranch, NestedFolds, nested_folds


@dataclass(frozen=True, eq=False)
class AlgorithmPlan:
    """The races of a comparison: those on the outer folds, and those inside them."""

    nested: NestedFolds
    flat: tuple[Race, ...]
    """One of all configurations; where they may be dropped, one of each algorithm on copies of the splits."""
    order: tuple[Split, ...]
    """The splits of the search, in the order in which the flat races run them."""
    inner: tuple[Race, ...]
    """One an outer fold, or one for all; where configurations may be dropped, one an algorithm and outer fold. None
    of algorithms with one configuration."""
    pairs: tuple[tuple[Split, Split], ...] = ()
    """The two outer folds that each split of the one inner race leaves out; empty where each outer fold has a race.
    """

    def n_fits(self, n_configurations: int) -> int:
        """The fits inside the outer folds, of so many configurations, if none is dropped."""
        return fits_of(self.inner, n_configurations)


def fits_of(races: Sequence[Race], n_configurations: int) -> int:
    """The fits of all races, of so many configurations, if none is dropped."""
    return sum(len(race.entrants(n_configurations)) * len(race.splits) for race in races)


def algorithm_plan(search: Search, inner: Any, columns: Mapping[str, Sequence[int]]) -> AlgorithmPlan:
    """The races of algorithms, whose configurations are ``columns``; the outer folds are those of the search.

    ``inner``: the splits inside an outer fold, as of nested cross-validation.
    """
    # The configurations among which there is a choice.
    choosing = tuple(sorted(j for mine in columns.values() if len(mine) > 1 for j in mine))
    nested = nested_folds(search.task, search.folds, inner, selects=bool(choosing), entropy=search.entropy)
    if search.drop is not None:
        return _dropping_plan(search, nested, columns)
    plan = AlgorithmPlan(nested, (search.race,), search.folds.splits, ())
    if not choosing:
        return plan
    if not _may_pair(search, nested, inner):
        return replace(plan, inner=tuple(Race(branch.inner, configurations=choosing) for branch in nested.outer))
    # Above the repeats in use, as cells are known by repeat and fold.
    numbers = RepeatNumbers(1 + max(search.folds.columns))
    splits, pairs = [], []
    for repeat in search.folds.columns:
        mine = [split for split in search.folds.splits if split.repeat == repeat]
        # Pairs with the same sum modulo K have no fold in common, so that they can be one repeat.
        own = [next(numbers) for _ in mine]
        for (a, first), (b, second) in combinations(enumerate(mine), 2):
            # One fit without two folds serves as inner fit of both: its rows of one are outside the other.
            train = np.sort(np.intersect1d(first.train, second.train))
            tested = np.concatenate([first.test, second.test])
            splits.append(Split(own[(a + b) % len(mine)], a, train, tested))
            pairs.append((first, second))
    return replace(plan, inner=(Race(tuple(splits), configurations=choosing),), pairs=tuple(pairs))


def _may_pair(search: Search, nested: NestedFolds, inner: Any) -> bool:
    """Whether one fit can be scored on two folds apart: by our kernels, defined on each."""
    if not isinstance(inner, str) or inner != REMAINING or nested.n_folds is None or not search.share:
        return False
    metrics = search.scoring.metrics.values()
    return all(
        is_computable(metrics, search.task.truth.rows(split.test), _weights(search, split.test))
        for split in search.folds.splits
    )


def _weights(search: Search, rows: Rows) -> Floats | None:
    return None if search.task.sample_weight is None else search.task.sample_weight[rows]


def _dropping_plan(search: Search, nested: NestedFolds, columns: Mapping[str, Sequence[int]]) -> AlgorithmPlan:
    """Races of each algorithm by itself."""
    assert search.drop is not None, "planned for a search that drops"
    known = [split for branch in nested.outer for split in (*branch.inner, branch.refit)]
    # Above all numbers in use, so that no race has the cells of another.
    numbers = RepeatNumbers(1 + max(split.repeat for split in (*search.folds.splits, *known)))
    order = in_racing_order(search.folds, search.drop, search.entropy)
    of_inner = [
        in_racing_order(replace(search.folds, splits=branch.inner), search.drop, search.entropy)
        for branch in nested.outer
    ]
    flat, inner = [], []
    for mine in map(tuple, columns.values()):
        choosing = len(mine) > 1
        flat.append(Race(numbers.renumbered(order), barriers=choosing, configurations=mine))
        inner += [
            Race(numbers.renumbered(each), barriers=True, configurations=mine) for each in of_inner if choosing
        ]
    return AlgorithmPlan(nested, tuple(flat), order, tuple(inner))


@dataclass(frozen=True, eq=False)
class AlgorithmRun:
    """The results of all fits."""

    search: Search
    plan: AlgorithmPlan
    n_jobs: int | None
    flat: RaceResults
    """On the outer folds."""
    inner_fits: tuple[RaceResults, ...]
    """The fits inside the outer folds, each once; of algorithms with several configurations only."""
    seconds: float
    refits: Mapping[tuple[int, int], CellResult] = field(default_factory=dict)
    """By outer fold and configuration the winners that had left the flat race there, fitted once more."""
    _choices: dict[tuple[int, ...], tuple[int | None, str]] = field(default_factory=dict, repr=False)

    def choice(self, number: int, columns: Sequence[int]) -> tuple[int | None, str]:
        """The winner of the search of an algorithm inside an outer fold, and the reason if there is none."""
        if len(columns) == 1:
            return columns[0], ""
        key = (number, *columns)
        if key not in self._choices:
            self._choices[key] = choice_of(self.search, self.inner(number, columns), columns)
        return self._choices[key]

    def inner(self, number: int, columns: Sequence[int]) -> RaceResults:
        """What the choice among the configurations of an algorithm reads in an outer fold."""
        if self.search.drop is not None:  # each algorithm has its own races, one an outer fold
            own = [race.configurations == tuple(columns) for race in self.plan.inner]
            return part_of_results([*compress(self.inner_fits, own)][number], columns)
        if not self.plan.pairs:
            return part_of_results(self.inner_fits[number], columns)
        part = part_of_results(self._without_pairs[number], columns)
        if self.search.estimation.scale_of_selection == "folds":
            return part
        return _with_predictions(self, self.plan.nested.outer[number], part, columns)

    @cached_property
    def _without_pairs(self) -> tuple[RaceResults, ...]:
        """The scores inside each outer fold, from the models that were trained without two of them."""
        return _of_outer_folds(self.search, self.plan, self.inner_fits[0])

    @cached_property
    def metric(self) -> Metric:
        """Which decides and is reported."""
        return self.search.scoring.metric(self.flat.refit_metric)

    @property
    def scale(self) -> Scale:
        """The scale of all scores that are reported."""
        return Scales.of(self.search.estimation.aggregate, self.metric).value

    def algorithm(self, name: str, columns: list[int]) -> ComparedAlgorithm:
        """The scores of one algorithm, which has these configurations."""
        found = self.flat
        winner, reason = choice_of(self.search, part_of_results(found, columns), columns)
        flat = float("nan") if winner is None else self._flat(columns, winner)
        configuration = None if winner is None else self.search.configurations[winner]
        outer, chosen, no_score = self._outer(columns)
        value, no_score = (float("nan"), no_score) if no_score else self._nested(outer, chosen)
        # Around the score of all rows where that is the value; the spread is that of folds in any case.
        spread = nadeau_bengio(outer, self.plan.nested.test_share, None if np.isnan(value) else value)
        estimation = self.search.estimation
        interval = None
        if not np.isnan(value):
            interval = interval_around(spread, self.metric, estimation.confidence_level, estimation.alternative)
        inner = self.inner_fits if len(columns) > 1 else ()
        refits = [cell for (_, j), cell in self.refits.items() if j in columns]
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
        found, task = self.flat, self.search.task
        if self.scale == "folds":
            return float(mean_over_splits(found.fold_scores[found.refit_metric].values)[winner])
        predictions = part_of_results(found, columns).predictions
        whole = pooled_scores(task, predictions, {found.refit_metric: self.metric}, self.scale)
        return float(whole[found.refit_metric][columns.index(winner)])

    def _nested(self, outer: Floats, chosen: list[int | None]) -> tuple[float, str]:
        """The score of the winners of all outer folds, on that scale; or NaN and why there is none."""
        if self.scale == "folds":
            return nadeau_bengio(outer, self.plan.nested.test_share).center, ""
        held, column_of = self.flat.predictions.responses, self.flat.folds.columns
        predictions = []
        for number, (branch, winner) in enumerate(zip(self.plan.nested.outer, chosen, strict=True)):
            assert winner is not None, "there would be a reason"
            if (refit := self.refits.get((number, winner))) is not None:
                predictions.append(refit.predictions)
                continue
            rows, column = branch.refit.test, column_of[branch.repeat]
            of_winner = {response: array[rows, winner, column] for response, array in held.items()}
            predictions.append({response: each for response, each in of_winner.items() if is_predicted(each)})
        return pooled_score(self.search, self.metric, self.plan.nested.outer, predictions)

    def _outer(self, columns: list[int]) -> tuple[Floats, list[int | None], str]:
        """The score of the winner of every outer fold, the winners, and why there is no mean of them."""
        found = self.flat
        values = found.fold_scores[found.refit_metric].values
        row_of = {split.place: row for row, split in enumerate(found.splits)}
        scores, chosen, reason = np.full(len(self.plan.nested.outer), np.nan), list[int | None](), ""
        for number, branch in enumerate(self.plan.nested.outer):
            place = branch.repeat, branch.left_out[0]
            winner, why = self.choice(number, columns)
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
        refit = self.refits.get((number, winner))
        if refit is None:
            return float(flat[winner]), self.flat.failures.get(winner, "its score is NaN")
        score = refit.test_scores.get(self.flat.refit_metric, float("nan"))
        return score if self.metric.greater_is_better else -score, refit.message or "its score is NaN"

    def overall(self, winner: int) -> Estimate:
        """The score of the deployed configuration, corrected for the choice among those of all algorithms.

        Where they are dropped, the choice is among those that are left: each algorithm has a race of its own.
        """
        return self.corrected(list(range(len(self.search.configurations))), winner, races=False)

    def corrected(self, columns: list[int], winner: int, *, races: bool = True) -> Estimate:
        """The score of one of some configurations, corrected for the choice among them."""
        search, part = self.search, part_of_results(self.flat, columns)
        estimates = estimates_of_search(
            search.task.truth, part.predictions, search.estimation, metrics=part.metrics,
            fold_scores=part.fold_scores, refit_metric=part.refit_metric, winner=columns.index(winner),
            groups=search.task.groups, sample_weight=search.task.sample_weight, entropy=search.entropy,
            n_jobs=self.n_jobs, params=[search.configurations[j].params for j in columns],
            flags=search.flags, titles=search.scoring.titles,
            dropping=self._history(columns) if races else None,
        )  # fmt: skip
        return estimates[part.refit_metric]

    def _history(self, columns: list[int]) -> DroppingHistory | None:
        """The race of an algorithm, which an estimate repeats; None without dropping."""
        found, drop = self.flat, self.search.drop
        if drop is None:
            return None
        met = tuple((found.folds.columns[split.repeat], split.fold) for split in found.splits)
        left = {columns.index(j): left.after for j, left in found.dropped.items() if j in columns}
        return DroppingHistory(drop, met, left)


def run_algorithms(search: Search, plan: AlgorithmPlan, running: RunSettings) -> AlgorithmRun:
    """Fit every configuration on the outer folds, and where there is a choice inside each.

    Where configurations may be dropped, winners that had left the flat race are fitted there too.
    """
    started = time.perf_counter()
    races, may_drop = (*plan.flat, *plan.inner), search.drop is not None
    refits = (branch.refit for branch in plan.nested.outer if may_drop)
    # Every split of every race must be known to the workers from the start.
    splits = (*chain.from_iterable(race.splits for race in races), *refits)
    work = replace(search.work, folds=replace(search.folds, splits=splits))
    n_cells = fits_of(races, len(search.configurations))
    with open_run(work, running, n_cells=n_cells, n_races=len(races), may_drop=may_drop) as run:
        barriers = run.run_races(races, search=search)
        found = [run.race_results(race, passed) for race, passed in zip(races, barriers, strict=True)]
        flat, fits = found[: len(plan.flat)], tuple(found[len(plan.flat) :])
        made = AlgorithmRun(search, plan, running.n_jobs, flat[0], fits, 0.0)
        if may_drop:
            made = replace(made, flat=_merged(search, plan, flat))
            made = replace(made, refits=_refits(run, made))
    return replace(made, seconds=time.perf_counter() - started)


def _of_outer_folds(search: Search, plan: AlgorithmPlan, found: RaceResults) -> tuple[RaceResults, ...]:
    """The inner results of each outer fold, from the models that were trained without two of them."""
    names = tuple(search.scoring.metrics)
    inside: dict[Place, list[dict[str, Floats]]] = {branch.refit.place: [] for branch in plan.nested.outer}
    place_of = {(branch.repeat, branch.left_out[0]): branch.refit.place for branch in plan.nested.outer}
    for split, (first, second) in zip(plan.inner[0].splits, plan.pairs, strict=True):
        of_first, of_second = _scores_of_pair(search, found, split, first, second)
        # The scores on the second fold are inner scores of the search without the first, and the other way round.
        inside[place_of[first.place]].append(of_second)
        inside[place_of[second.place]].append(of_first)
    made = []
    for branch in plan.nested.outer:
        scores = inside[branch.refit.place]
        fold_scores = {}
        for name in names:
            metric = search.scoring.metrics[name]
            greater = metric is None or metric.greater_is_better
            values = np.stack([each[name] for each in scores])
            repeat = np.zeros(len(scores), dtype=np.intp)
            fold_scores[name] = FoldScores(values if greater else -values, greater, repeat)
        failed = {
            int(j): found.failures.get(int(j), "its score is NaN")
            for j in np.flatnonzero(np.isnan(fold_scores[found.refit_metric].values).any(axis=0))
        }
        # Predictions are made only where a choice reads them, as they take much memory.
        predictions = replace(found.predictions, responses={}, failed=failed)
        made.append(replace(found, fold_scores=fold_scores, predictions=predictions, failures=failed))
    return tuple(made)


def _with_predictions(
    run: AlgorithmRun, branch: NestedBranch, part: RaceResults, columns: Sequence[int]
) -> RaceResults:
    """The results with the predictions of the rows outside an outer fold, each by a model that saw neither."""
    found, place = run.inner_fits[0], (branch.repeat, branch.left_out[0])
    n_rows, held = found.predictions.n_rows, found.predictions.responses
    responses = {
        response: np.full(
            (n_rows, len(columns), 1, *array.shape[3:]),
            UNPREDICTED_LABEL if array.dtype.kind in "iu" else np.nan,
            dtype=array.dtype,
        )
        for response, array in held.items()
    }
    folds = np.full((n_rows, 1), -1, dtype=np.int32)
    for split, two in zip(run.plan.inner[0].splits, run.plan.pairs, strict=True):
        if place not in (two[0].place, two[1].place):
            continue
        other = two[1] if place == two[0].place else two[0]
        for response, array in held.items():
            mine = array[np.ix_(other.test, np.asarray(columns))][:, :, found.folds.columns[split.repeat]]
            responses[response][other.test, :, 0] = mine
        folds[other.test, 0] = other.fold
    return replace(part, predictions=replace(part.predictions, responses=responses, folds=folds))


def _scores_of_pair(
    search: Search, found: RaceResults, split: Split, first: Split, second: Split
) -> list[dict[str, Floats]]:
    """The scores (C,) on each of two folds by scorer, greater = better; NaN for configurations that failed."""
    number = [each.place for each in found.splits].index(split.place)
    scored = ~np.isnan(found.fold_scores[found.refit_metric].values[number])
    # A configuration that failed has no predictions, which a kernel must not read.
    fitted = np.flatnonzero(found.cells.is_in(CellState.DONE)[:, number] & scored)
    column = found.folds.columns[split.repeat]
    scoring, made = search.scoring, []
    for part in (first, second):
        predictions = {
            response: array[np.ix_(part.test, fitted)][:, :, column]
            for response, array in found.predictions.responses.items()
        }
        one_fold = np.zeros(len(part.test), dtype=np.int32)
        truth, weights = search.task.truth.rows(part.test), _weights(search, part.test)
        scores = {name: np.full(len(search.configurations), np.nan) for name in scoring.metrics}
        if len(fitted):
            of_fold = fold_scores(scoring.metrics, truth, predictions, one_fold, weights, scoring.times)
            for name, values in of_fold.items():
                scores[name][fitted] = values[:, 0]
        made.append(scores)
    return made


def part_of_results(found: RaceResults, columns: Sequence[int]) -> RaceResults:
    """The results with the predictions and scores of some configurations only."""
    places = list(columns)
    predictions = found.predictions.of(places)
    fold_scores: dict[str, FoldScores] = {
        name: replace(scores, values=scores.values[:, places]) for name, scores in found.fold_scores.items()
    }
    return replace(found, predictions=predictions, fold_scores=fold_scores, failures=predictions.failed)


def choice_of(search: Search, part: RaceResults, columns: Sequence[int]) -> tuple[int | None, str]:
    """The winner among some configurations, from their part of the results; and the reason if there is none."""
    members = Configurations(search.configurations[j] for j in columns)
    try:
        return columns[winner_of(part, search.task, search.estimation, members)], ""
    except InputError as error:
        return None, next(iter(part.failures.values()), str(error)).rstrip(".")


def fits_and_seconds(results: Sequence[RaceResults], columns: Sequence[int]) -> tuple[int, float]:
    """How many fits of some configurations were made, and the seconds of fitting and scoring."""
    n_fits, seconds = 0, 0.0
    for found in results:
        made = (found.cells.is_in(CellState.DONE) | found.cells.is_in(CellState.FAILED))[list(columns)]
        cells = found.cells.columns[list(columns)][made]
        n_fits += int(made.sum())
        seconds += float(np.nansum(cells["fit_seconds"]) + np.nansum(cells["score_seconds"]))
    return n_fits, seconds


def n_dropped(found: RaceResults) -> int:
    """The fits that were not made because their configuration was dropped."""
    return int(found.cells.is_in(CellState.DROPPED).sum())


def _refits(run: OpenRun, made: AlgorithmRun) -> dict[tuple[int, int], CellResult]:
    """The winners of outer folds that had left the flat race, fitted there: by outer fold and configuration."""
    flat, races = made.flat, {}
    row_of = {split.place: row for row, split in enumerate(made.plan.order)}
    gone = flat.cells.is_in(CellState.DROPPED)
    for number, branch in enumerate(made.plan.nested.outer):
        # The split of the flat race that tests the rows of this outer fold.
        row = row_of[branch.repeat, branch.left_out[0]]
        winners = {made.choice(number, race.configurations or ())[0] for race in made.plan.flat}
        left = tuple(sorted(winner for winner in winners if winner is not None and gone[winner, row]))
        if left:
            races[number] = Race((branch.refit,), configurations=left)
    run.run_races(list(races.values()))
    return {
        (number, cell.key.configuration): cell for number, race in races.items() for cell in run.cell_results(race)
    }


def _merged(search: Search, plan: AlgorithmPlan, found: Sequence[RaceResults]) -> RaceResults:
    """The flat results of all algorithms as those of one search, each configuration's from the race of its own."""
    first, shape = found[0], found[0].cells.columns.shape
    cells = CellTable.empty(first.cells.configurations, (split.place for split in plan.order))
    scores = {name: replace(each, values=each.values.copy()) for name, each in first.fold_scores.items()}
    responses = {
        response: array.copy() for part in reversed(found) for response, array in part.predictions.responses.items()
    }
    failures: dict[int, str] = {}
    dropped: dict[int, str] = {}
    for race, part in zip(plan.flat, found, strict=True):
        mine = list(race.entrants(shape[0]))
        cells.columns[mine] = part.cells.columns[mine]
        for own, its in (
            (cells.test_scores, part.cells.test_scores),
            (cells.train_scores, part.cells.train_scores),
        ):
            for name, column in its.items():
                own.setdefault(name, np.full(shape, NO_SCORE))[mine] = column[mine]
        for name, score in part.fold_scores.items():
            scores[name].values[:, mine] = score.values[:, mine]
        for response, array in part.predictions.responses.items():
            responses[response][:, mine] = array[:, mine]
        failures |= {j: part.failures[j] for j in mine if j in part.failures}
        dropped |= {j: part.predictions.dropped[j] for j in mine if j in part.predictions.dropped}
    predictions = replace(first.predictions, responses=responses, failed=failures, dropped=dropped)
    barriers = tuple(barrier for part in found for barrier in part.barriers)
    return replace(
        first,
        cells=cells,
        predictions=predictions,
        fold_scores=scores,
        failures=failures,
        folds=replace(search.folds, splits=plan.order),
        splits=plan.order,
        barriers=barriers,
        n_fits_saved=int(cells.is_in(CellState.DROPPED).sum()),
    )

"""Dropping in a comparison of algorithms: each algorithm races by itself, on the same folds.

A configuration is compared with the best of its own algorithm only, so that every algorithm keeps its scores. Each
race has copies of the splits, with repeat numbers of their own. The winner of an outer fold may have left the flat
race before that fold; it is then fitted there once more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from heldout.execution.cells import CellResult, CellState, CellTable, ScoreColumn
from heldout.execution.collect import RaceResults
from heldout.execution.plan import Race, in_racing_order
from heldout.execution.run import OpenRun, RunSettings, open_run
from heldout.execution.search import Search
from heldout.folds.splits import Split
from heldout.protocols.algorithms.run import AlgorithmRun, InnerPlan
from heldout.protocols.branches import RepeatNumbers
from heldout.protocols.nested.plan import NestedFolds


@dataclass(frozen=True, eq=False)
class AlgorithmRaces:
    """The races of one algorithm, on copies of the splits."""

    columns: tuple[int, ...]
    flat: Race
    inner: tuple[Race, ...]
    """One an outer fold; none of an algorithm with one configuration."""


@dataclass(frozen=True, eq=False)
class DroppingPlan:
    """The races of all algorithms."""

    order: tuple[Split, ...]
    """The splits of the search, in the order in which they run."""
    of_algorithm: tuple[AlgorithmRaces, ...]

    @property
    def races(self) -> tuple[Race, ...]:
        """Every race, those on the outer folds first."""
        mine = self.of_algorithm
        return (*(each.flat for each in mine), *chain.from_iterable(each.inner for each in mine))

    @property
    def inner_plan(self) -> InnerPlan:
        """What is fitted inside the outer folds."""
        return InnerPlan(tuple(chain.from_iterable(each.inner for each in self.of_algorithm)))


def dropping_plan(search: Search, nested: NestedFolds, columns: Mapping[str, Sequence[int]]) -> DroppingPlan:
    """The races of each algorithm, whose configurations are ``columns``."""
    assert search.drop is not None, "planned for a search that drops"
    known = [split for branch in nested.outer for split in (*branch.inner, branch.refit)]
    # Above all numbers in use, so that no race has the cells of another.
    numbers = RepeatNumbers(1 + max(split.repeat for split in (*search.folds.splits, *known)))
    order = in_racing_order(search.folds, search.drop, search.entropy)
    of_inner = [
        in_racing_order(replace(search.folds, splits=branch.inner), search.drop, search.entropy)
        for branch in nested.outer
    ]
    made = []
    for mine in map(tuple, columns.values()):
        choosing = len(mine) > 1
        flat = Race(numbers.renumbered(order), barriers=choosing, configurations=mine)
        inner = [
            Race(numbers.renumbered(each), barriers=True, configurations=mine) for each in of_inner if choosing
        ]
        made.append(AlgorithmRaces(mine, flat, tuple(inner)))
    return DroppingPlan(order, tuple(made))


def run_with_dropping(
    search: Search, nested: NestedFolds, plan: DroppingPlan, running: RunSettings
) -> AlgorithmRun:
    """Race every algorithm on the outer folds and inside each, and fit winners that had left the flat race."""
    started = time.perf_counter()
    races, n_configurations = plan.races, len(search.configurations)
    refits = tuple(branch.refit for branch in nested.outer)
    splits = (*chain.from_iterable(race.splits for race in races), *refits)
    # Every split of every race must be known to the workers from the start.
    work = replace(search.work, folds=replace(search.folds, splits=splits))
    n_cells = sum(len(race.entrants(n_configurations)) * len(race.splits) for race in races)
    with open_run(work, running, n_cells=n_cells, n_races=len(races), may_drop=True) as run:
        barriers = run.run_races(races, search=search)
        found = [run.race_results(race, passed) for race, passed in zip(races, barriers, strict=True)]
        n_algorithms = len(plan.of_algorithm)
        fits = tuple(found[n_algorithms:])
        inside = iter(fits)
        raced = {each.columns: tuple(next(inside) for _ in each.inner) for each in plan.of_algorithm}
        flat = _merged(search, plan, found[:n_algorithms])
        made = AlgorithmRun(search, nested, plan.inner_plan, flat, fits, 0.0, raced=raced)
        made = replace(made, refits=_refits(run, made, plan))
    return replace(made, seconds=time.perf_counter() - started)


def _refits(run: OpenRun, made: AlgorithmRun, plan: DroppingPlan) -> dict[tuple[int, int], CellResult]:
    """The winners of outer folds that had left the flat race, fitted there: by outer fold and configuration."""
    flat, races = made.flat, {}
    row_of = {split.place: row for row, split in enumerate(plan.order)}
    gone = flat.cells.is_in(CellState.DROPPED)
    for number, branch in enumerate(made.nested.outer):
        # The split of the flat race that tests the rows of this outer fold.
        row = row_of[branch.repeat, branch.left_out[0]]
        winners = {made.choice(number, each.columns)[0] for each in plan.of_algorithm}
        left = tuple(sorted(winner for winner in winners if winner is not None and gone[winner, row]))
        if left:
            races[number] = Race((branch.refit,), configurations=left)
    run.run_races(list(races.values()))
    return {
        (number, cell.key.configuration): cell for number, race in races.items() for cell in run.cell_results(race)
    }


def _merged(search: Search, plan: DroppingPlan, found: Sequence[RaceResults]) -> RaceResults:
    """The flat results of all algorithms as those of one search, each configuration's from the race of its own."""
    first, shape = found[0], found[0].cells.columns.shape
    cells = CellTable.empty(first.cells.configurations, (split.place for split in plan.order))
    scores = {name: replace(each, values=each.values.copy()) for name, each in first.fold_scores.items()}
    responses = {
        response: array.copy() for part in reversed(found) for response, array in part.predictions.responses.items()
    }
    failures: dict[int, str] = {}
    dropped: dict[int, str] = {}
    for each, part in zip(plan.of_algorithm, found, strict=True):
        mine = list(each.columns)
        cells.columns[mine] = part.cells.columns[mine]
        for own, its in (
            (cells.test_scores, part.cells.test_scores),
            (cells.train_scores, part.cells.train_scores),
        ):
            for name, column in its.items():
                kept = own.setdefault(name, ScoreColumn.empty(shape))
                kept.put(mine, ScoreColumn(column.values[mine], column.given[mine]))
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

"""An open run: it runs races and collects their results until it is closed.

A search runs one race; a protocol runs several side by side, and then single cells for the winners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from heldout import _defaults
from heldout.data.checks import check_jobs, effective_threads, memory_there
from heldout.data.row_part import RowPart
from heldout.data.task import Task
from heldout.dropping.base import Barrier
from heldout.execution.barriers import BarrierJudge, unjudged_barrier
from heldout.execution.cells import CellKey, CellResult, CellTable, each_cell
from heldout.execution.collect import KeptModels, RaceResults, ResultCollector
from heldout.execution.events import Event, Listener, RunClosed, SearchStarted
from heldout.execution.executors.base import Executor
from heldout.execution.fit import Work
from heldout.execution.fold_models import FittedModel
from heldout.execution.identity import AdaptivePlan, run_identity
from heldout.execution.left_out import left_out_blocks
from heldout.execution.loop import ResultKeeper, run_races, tell
from heldout.execution.plan import Race, RunPlan, check_memory
from heldout.execution.scheduler import Scheduler
from heldout.execution.search import Search
from heldout.execution.store.base import MemoryRun, MemoryStore, PlanNote, Run, RunIdentity, SearchNote, Store

Stop: TypeAlias = Callable[[Barrier, RaceResults], Barrier]
"""From the record of a barrier and the results so far to the record that says whether the race ends there."""

SHARED_PART = 0.25
"""Of the memory of this machine, for the output of shared steps."""


@dataclass(frozen=True, eq=False)
class RunSettings:
    """Where cells run and are kept, and the listeners; none of it changes a result."""

    store: Store = field(default_factory=MemoryStore)
    """Where results are kept; in memory by default."""
    resume: bool = False
    """Whether to continue a run that the store already holds."""
    n_jobs: int | None = None
    pre_dispatch: int | str = _defaults.PRE_DISPATCH
    """As scikit-learn has them."""
    fit_timeout: float | None = None
    """Seconds after which a cell is stopped and fails."""
    executor: Executor | None = None
    """In place of joblib's."""
    keep_predictions: bool | Literal["auto"] = True
    """Whether the predictions of all rows stay in memory; "auto" while they are not too many."""
    listeners: Sequence[Listener] = ()

    def __post_init__(self) -> None:
        check_jobs(self.n_jobs)


@dataclass(eq=False)
class OpenRun:
    """An open run; made by ``open_run``."""

    work: Work
    run: Run
    executor: Executor
    settings: RunSettings
    models: KeptModels = field(default_factory=KeptModels)
    """Those that its fits made, where they hand them over."""
    positions: Sequence[int] | None = None
    """Of its configurations in the search, where it runs a part of them."""
    given: Mapping[CellKey, CellResult] = field(default_factory=dict)
    """Results that need no fit."""
    _collected: ResultCollector | None = None

    def collect(self, race: Race, part: RowPart | None) -> None:
        """Collect the results of the only race as they come, so that predictions are in memory once.

        With ``part`` only those of its rows.
        """
        if isinstance(self.run, MemoryRun):
            self._collected = self._collector(race, part)
            self.run.keeps_predictions = False

    def tell(self, event: Event) -> None:
        """Call every listener."""
        tell(self.settings.listeners, event)

    def run_races(
        self,
        races: Sequence[Race],
        *,
        search: Search | None = None,
        tasks: Sequence[Task] | None = None,
        stop: Stop | None = None,
    ) -> list[tuple[Barrier, ...]]:
        """Run races side by side to their end; returns the barriers of each.

        - ``races``: of splits that the run was opened for.
        - ``search``: of which they are; its drop rule judges at barriers.
        - ``tasks``: one a race, where its rows have other weights at barriers than in the run.
        - ``stop``: whether a race ends at a barrier. Races with barriers have this or a rule.
        """
        collectors = {number: self._collector(race) for number, race in enumerate(races) if race.barriers}
        collector_of = {
            split.place: collector for number, collector in collectors.items() for split in races[number].splits
        }

        def take(result: CellResult | CellTable) -> None:
            if self._collected is not None:
                self._collected.put(result)
            place = result.places[0] if isinstance(result, CellTable) else result.key.place
            collector = collector_of.get(place)
            if collector is not None:
                collector.put(result)

        def judge(number: int, passed: tuple[Barrier, ...], remaining: Sequence[int]) -> Barrier:
            collector, race = collectors[number], races[number]
            splits = race.splits[: len(passed) + 1]
            found = collector.results(splits, passed)
            barrier = unjudged_barrier(found, remaining)
            if search is not None and search.drop is not None:
                task, params = self.work.task if tasks is None else tasks[number], self.work.configurations.params
                threads = effective_threads(self.settings.n_jobs)
                judged = BarrierJudge(search, search.drop, race, task, params, self.run.entropy, threads)
                barrier = judged(found, remaining)
            return barrier if stop is None else stop(barrier, collector.results(splits, (*passed, barrier)))

        keeping = ResultKeeper(self.run, self.settings.listeners, take, self._keep_model, self.given)
        if collectors:
            for result in self.run.results():
                take(result)
        n_configurations, done = len(self.work.configurations), self.run.acknowledged()
        to_fit = []
        for race in races:
            for block in left_out_blocks(self.work, race, done):
                keeping.keep(block)
                if race.barriers:  # there the others are judged beside them
                    done |= frozenset(block.keys)
                else:
                    race = race.without(block.configurations, n_configurations)
            to_fit.append(race)
        scheduler = Scheduler(RunPlan(n_configurations, tuple(to_fit)), done)
        return run_races(scheduler, self.work, self.executor, keeping, judge)

    def race_results(self, race: Race, barriers: Sequence[Barrier] = ()) -> RaceResults:
        collector = self._collected
        if collector is None:
            collector = self._collector(race)
            for result in self.run.results({split.repeat for split in race.splits}):
                collector.put(result)
        # A rule may have ended it before its last splits.
        n_splits = barriers[-1].after if barriers and barriers[-1].stopped else len(race.splits)
        return replace(collector.results(race.splits[:n_splits], barriers), models=self.models)

    def cell_results(self, race: Race) -> list[CellResult]:
        """The cells of a race that has run, with their predictions, split by split."""
        kept = {cell.key: cell for cell in each_cell(self.run.results({split.repeat for split in race.splits}))}
        entrants = race.entrants(len(self.work.configurations))
        cells = (CellKey(j, *split.place) for split in race.splits for j in entrants)
        return [kept[cell] for cell in cells]

    def _keep_model(self, cell: CellKey, model: FittedModel) -> None:
        j = cell.configuration
        self.models.put(cell._replace(configuration=j if self.positions is None else self.positions[j]), model)

    def _collector(self, race: Race, part: RowPart | None = None) -> ResultCollector:
        folds = self.work.folds.part(race.splits)
        in_file = not isinstance(self.run, MemoryRun)
        return ResultCollector(
            self.work.task, self.work.configurations, folds, self.work.scoring, part, in_file=in_file
        )


@contextmanager
def open_run(
    work: Work,
    run_settings: RunSettings,
    *,
    n_cells: int | None = None,
    n_races: int = 1,
    may_drop: bool = False,
    is_validation: bool = False,
    adaptive: AdaptivePlan | None = None,
    note: Callable[[], SearchNote] | None = None,
    more: Mapping[str, Any] = MappingProxyType({}),
    part: RowPart | None = None,
) -> Iterator[OpenRun]:
    """An open run of work whose folds hold every split of its races.

    - ``n_cells``: fits that are planned; every configuration on every split by default.
    - ``n_races``: how many races will run side by side.
    - ``may_drop``: whether configurations may be dropped.
    - ``is_validation``: whether cells are scored when all are done, not one by one.
    - ``adaptive``: of a search whose configurations are added while the run is open.
    - ``note``: what the estimate of a search reads besides the cells, for an estimate from the run alone.

    - ``more``: further settings that decide which cells are done, for the identity of the run.
    - ``part``: the rows whose predictions are kept; all by default.

    Raises InputError or StoreError when the predictions would not fit in memory, or the store cannot be used.
    """
    work = with_means(work, run_settings)
    task, configurations, folds, scoring = work.task, work.configurations, work.folds, work.scoring
    n_configurations = len(configurations) if adaptive is None else adaptive.n_planned
    in_memory = isinstance(run_settings.store, MemoryStore)
    if not is_validation:  # there not every model runs on every split
        check_memory(task.truth, n_configurations, folds, scoring, keeps_predictions=in_memory, part=part)
    if in_memory:
        identity, ids = RunIdentity("", "", "", "", work.entropy), list[tuple[str, str]]()
    else:
        identity, ids = run_identity(work, adaptive, more)
    planned = n_configurations * folds.n_splits + len(folds.halves) if n_cells is None else n_cells
    with run_settings.store.open(identity, ids, resume=run_settings.resume) as run:
        metric = scoring.metrics.get(scoring.refit_metric)
        # A validation has no score before the end, so that no scorer decides.
        decides = ("", "") if is_validation else (scoring.refit_metric, "" if metric is None else metric.name)
        n_rows, names = task.n_rows, configurations.names
        if note is not None and not in_memory:
            run.note_search(note())
        run.note_plan(PlanNote(n_configurations, folds.n_splits, planned, *decides, n_rows, names))
        units = () if work.sharing is None else work.sharing.units(range(len(configurations)))
        places = {split.place for split in (*folds.splits, *folds.halves)}
        resumed = Counter(cell.configuration for cell in run.acknowledged() if cell.place in places)
        started = SearchStarted(
            planned, resumed.total(), n_configurations, folds.n_splits, names,
            scoring.refit_metric, decides[1], n_races, may_drop, is_validation, resumed, units, len(folds.halves),
        )  # fmt: skip
        try:
            tell(run_settings.listeners, started)
            with run_settings.executor or executor_of(run_settings) as executor:
                yield OpenRun(work, run, executor, run_settings)
        finally:
            tell(run_settings.listeners, RunClosed())


def with_means(work: Work, run_settings: RunSettings) -> Work:
    """The work with the memory of each worker; without sharing where each fit has a time of its own."""
    if work.sharing is None:
        return work
    if run_settings.fit_timeout is not None:
        return replace(work, sharing=None)
    there = memory_there()
    most = work.share_memory
    if most is None and there is not None:
        most = int(SHARED_PART * there.n_bytes)
    return replace(work, share_memory=most and max(most // effective_threads(run_settings.n_jobs), 1))


def executor_of(run_settings: RunSettings) -> Executor:
    """The executor on joblib's active backend."""
    from heldout.execution.executors.local import JoblibExecutor

    return JoblibExecutor(run_settings.n_jobs, run_settings.pre_dispatch, run_settings.fit_timeout)

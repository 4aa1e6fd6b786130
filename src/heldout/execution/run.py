"""An open run: it runs races and collects their results until it is closed.

A search runs one race; a protocol runs several side by side, and then single cells for the winners.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from heldout import _defaults
from heldout.data.limits import check_jobs, effective_threads, memory_there
from heldout.data.row_part import RowPart
from heldout.data.task import Task
from heldout.dropping.base import Barrier
from heldout.execution import events
from heldout.execution.barriers import BarrierJudge, unjudged_barrier
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable, each_cell
from heldout.execution.collect import KeptModels, RaceResults, ResultCollector
from heldout.execution.executors import Executor, WorkersLostError
from heldout.execution.fit import Work
from heldout.execution.identity import AdaptivePlan, run_identity
from heldout.execution.plan import Race, check_memory
from heldout.execution.scheduler import MOST_LOSSES, Scheduler
from heldout.execution.search import Search
from heldout.execution.split_fits import left_out_blocks
from heldout.execution.store import MemoryRun, MemoryStore, PlanNote, Run, RunIdentity, SearchNote, Store
from heldout.execution.threads import single_threaded
from heldout.folds.splits import Place

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
    listeners: Sequence[events.Listener] = ()

    def __post_init__(self) -> None:
        check_jobs(self.n_jobs)

    def tell(self, event: events.Event) -> None:
        """Call every listener."""
        for listener in self.listeners:
            listener(event)


COMMIT_AFTER_SECONDS = 0.05

Judge: TypeAlias = Callable[[int, tuple[Barrier, ...], Sequence[int]], Barrier]
"""From the number of a race, its barriers so far and its remaining configurations to the record of the barrier."""


@dataclass(eq=False)
class OpenRun:
    """An open run; made by ``open_run``.

    It sends cells to an executor, records their results and judges at barriers. Results are acknowledged in groups,
    after each 50 ms of work, and all at the end, after an error or an interruption too.
    """

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
    _collectors: Mapping[Place, ResultCollector] = field(default_factory=dict)
    """Of the races with barriers, by the places of their splits."""
    _results: Iterator[CellResult] = field(default_factory=lambda: iter(()))
    """Of the round that runs."""
    _unacknowledged_seconds: float = 0.0
    _committed: float = 0.0

    def collect(self, race: Race, part: RowPart | None) -> None:
        """Collect the results of the only race as they come, so that predictions are in memory once.

        With ``part`` only those of its rows.
        """
        if isinstance(self.run, MemoryRun):
            self._collected = self._collector(race, part)
            self.run.keeps_predictions = False

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
        self._collectors = {
            split.place: collector for number, collector in collectors.items() for split in races[number].splits
        }

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

        if collectors:
            for result in self.run.results():
                self._take(result)
        n_configurations, done = len(self.work.configurations), self.run.acknowledged()
        to_fit = []
        for race in races:
            for block in left_out_blocks(self.work, race.splits, race.entrants(n_configurations), done):
                self._keep(block)
                if race.barriers:  # there the others are judged beside them
                    done |= frozenset(block.keys)
                else:
                    race = race.without(block.configurations, n_configurations)
            to_fit.append(race)
        return self.finish(Scheduler(n_configurations, to_fit, done), judge)

    def finish(self, scheduler: Scheduler, judge: Judge | None = None) -> list[tuple[Barrier, ...]]:
        """Do the open cells of a scheduler; returns the barriers of each race."""
        barriers: list[list[Barrier]] = [[] for _ in scheduler.races]
        self._unacknowledged_seconds, self._committed = 0.0, time.perf_counter()
        try:
            # Each cell limits itself to one thread; when cells are threads of one process, one that ends must not
            # lift the limit of the others.
            with single_threaded():
                while True:
                    if cells := scheduler.next_cells():
                        self._do(cells, scheduler)
                        continue
                    waiting = scheduler.waiting()
                    if not waiting:
                        break
                    for race in waiting:
                        assert judge is not None, "only races with barriers wait"
                        barrier = judge(race, tuple(barriers[race]), scheduler.remaining(race))
                        if barrier.stopped:
                            scheduler.stop(race)
                        else:
                            scheduler.drop(race, [left.configuration for left in barrier.dropped])
                        barriers[race].append(barrier)
                        self.run.note_barrier([split.place for split in scheduler.races[race].splits], barrier)
                        n_remaining = len(scheduler.remaining(race))
                        self.settings.tell(events.BarrierPassed(race, barrier, n_remaining, scheduler.n_saved))
        finally:
            try:
                self.run.commit()
            finally:  # of an executor that was interrupted while a result was handled
                getattr(self._results, "close", lambda: None)()
        return [tuple(passed) for passed in barriers]

    def _do(self, cells: Sequence[CellKey], scheduler: Scheduler) -> None:
        """One round: the ready cells, until workers die."""
        work, n_done = self.work, 0
        if len(cells) == 1 and work.sharing is not None and scheduler.attempts(cells[0]) == MOST_LOSSES:
            work = replace(work, sharing=None)  # what it shares may be what kills workers

        def keep(result: CellResult) -> None:
            attempts = scheduler.attempts(result.key)
            self._keep(result if attempts == 1 else replace(result, attempts=attempts))
            scheduler.record(result.key)

        for cell in cells:
            if cell in self.given:
                keep(self.given[cell])
        to_fit = [cell for cell in cells if cell not in self.given]
        try:
            self._results = self.executor.run(work, to_fit) if to_fit else iter(())
            for result in self._results:
                keep(result)
                n_done += 1
        except WorkersLostError as lost:
            # If it is unknown what was running and no result came, each of the cells may be to blame.
            suspects = lost.running or (() if n_done else tuple(to_fit))
            self.settings.tell(events.WorkersLost(suspects, lost.reason))
            for cell in scheduler.lose(suspects, lost.times):
                reason = f"its worker was lost {scheduler.attempts(cell)} times ({lost.reason})"
                if work.error_score == "raise":
                    name = work.configurations[cell.configuration].name
                    raise WorkersLostError([cell], f"{name}: {reason}", scheduler.attempts(cell)) from lost
                keep(CellResult(cell, CellState.FAILED, reason))

    def _keep(self, result: CellResult | CellTable) -> None:
        """Record a result, and notify the listeners; a block is acknowledged at once."""
        if isinstance(result, CellTable):
            self._unacknowledged_seconds = COMMIT_AFTER_SECONDS
        else:
            self._unacknowledged_seconds += result.fit_seconds + result.score_seconds
            if result.model is not None:
                j = result.key.configuration
                position = j if self.positions is None else self.positions[j]
                self.models.put(result.key._replace(configuration=position), result.model)
                result = replace(result, model=None)
        self.run.record(result)
        if max(self._unacknowledged_seconds, time.perf_counter() - self._committed) >= COMMIT_AFTER_SECONDS:
            self.run.commit()
            self._unacknowledged_seconds, self._committed = 0.0, time.perf_counter()
        self._take(result)
        self.settings.tell(events.CellFinished(result))

    def _take(self, result: CellResult | CellTable) -> None:
        """Give a recorded result, or a block, to what collects it."""
        if self._collected is not None:
            self._collected.put(result)
        place = result.places[0] if isinstance(result, CellTable) else result.key.place
        if (collector := self._collectors.get(place)) is not None:
            collector.put(result)

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

    def _collector(self, race: Race, part: RowPart | None = None) -> ResultCollector:
        folds = self.work.folds.part(race.splits)
        is_stored = type(self.run) is not MemoryRun  # of another one the results may be from anywhere
        return ResultCollector(
            self.work.task, self.work.configurations, folds, self.work.scoring, part, is_stored=is_stored
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
        of_search = None if note is None or in_memory else note()
        run.note_plan(PlanNote(n_configurations, folds.n_splits, planned, *decides, n_rows, names), of_search)
        units = () if work.sharing is None else work.sharing.units(range(len(configurations)))
        places = {split.place for split in (*folds.splits, *folds.halves)}
        resumed = Counter(cell.configuration for cell in run.acknowledged() if cell.place in places)
        started = events.SearchStarted(
            planned, resumed.total(), n_configurations, folds.n_splits, names,
            scoring.refit_metric, decides[1], n_races, may_drop, is_validation, resumed, units, len(folds.halves),
        )  # fmt: skip
        try:
            run_settings.tell(started)
            with run_settings.executor or executor_of(run_settings) as executor:
                yield OpenRun(work, run, executor, run_settings)
        finally:
            run_settings.tell(events.RunClosed())


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
    from heldout.execution.executors.local import joblib_executor

    return joblib_executor(run_settings.n_jobs, run_settings.pre_dispatch, run_settings.fit_timeout)

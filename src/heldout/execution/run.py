"""An open run: it runs races and collects their results until it is closed.

A search runs one race; a protocol runs several side by side, and then single cells for the winners.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from heldout import _defaults
from heldout._streams import stream
from heldout._types import Booleans, Floats, Indices
from heldout.data.checks import check_jobs, effective_threads, memory_there
from heldout.data.row_part import RowPart, row_part
from heldout.data.task import Task, TaskKind
from heldout.dropping.base import Barrier, Dropped, DropRule, Standing, Verdict, judged_after
from heldout.errors import HeldoutError, InputError
from heldout.estimates.data_flags import too_small_out_of_bag
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods import method_of
from heldout.estimates.question import Question, Scales, Settings
from heldout.execution import events
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable, each_cell
from heldout.execution.collect import KeptModels, RaceResults, ResultCollector
from heldout.execution.executors import Executor, WorkersLostError
from heldout.execution.fit import Work
from heldout.execution.identity import AdaptivePlan, run_identity
from heldout.execution.plan import MOST_LOSSES, Race, Scheduler, bytes_needed, check_memory
from heldout.execution.search import Search
from heldout.execution.split_fits import left_out_blocks
from heldout.execution.store import MemoryRun, MemoryStore, PlanNote, Run, RunIdentity, SearchNote, Store
from heldout.execution.threads import single_threaded
from heldout.folds.splits import Place
from heldout.metrics.base import quiet_if_foreign
from heldout.metrics.row_losses import LossOutsideRangeError
from heldout.selection.base import metrics_read
from heldout.selection.bootstrap_draws import Draws, UndefinedDrawsError, always

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


MOST_KEPT = 500_000_000
"""Bytes of the predictions of all rows, as results and as arrays."""
PART_KEPT = 0.25
"""Of the memory of this machine, if that is less."""


def kept_part(search: Search, running: RunSettings) -> RowPart | None:
    """The part of the rows whose predictions are kept; None for those of all rows.

    Of very many rows bootstraps draw from a part, and the means over folds, which choose the winner and are its
    value, were computed where the models were. The rows of the part, and the first rows of the file, by which an
    order of time shows, are then all that anything reads.
    """
    if running.keep_predictions not in (False, "auto") or not isinstance(running.store, MemoryStore):
        return None
    needed = bytes_needed(search.task.truth, len(search.configurations), search.folds, search.scoring)
    there = memory_there()
    most = MOST_KEPT if there is None else min(MOST_KEPT, PART_KEPT * there.n_bytes)
    return None if running.keep_predictions == "auto" and needed <= most else _part_read(search)


def _part_read(search: Search) -> RowPart | None:
    """The rows whose predictions are read; None for all."""
    task, folds, estimation = search.task, search.folds, search.estimation
    if search.scoring.weights:  # scorers weigh rows otherwise than each other
        return None
    reads_all = (search.drop, search.stop_when_width, search.imputation, search.blocks)
    if any(each is not None for each in reads_all) or search.training_size_correction:
        return None
    if search.keep_models != "none":  # their predictions are compared
        return None
    if not folds.exchangeable or folds.halves or not (folds.labels >= 0).all() or task.truth.kind is TaskKind.OTHER:
        return None
    method = None if estimation.method is None else method_of(estimation.method)
    metrics = [metric for metric in search.scoring.metrics.values() if metric is not None]
    scored = "as asked" if method is None else method.scored
    by_folds = all(
        Scales.of(search.aggregate, metric, scored) == ("folds", "folds") and not metric.calls_foreign_code
        for metric in metrics
    )
    if not by_folds or not (method is None or method.draws_rows):
        return None
    part = row_part(
        task.truth, np.arange(task.n_rows), estimation.n_rows_of_bootstrap, search.entropy, groups=task.groups
    )
    if part is None or not part.stands_for_all(metrics, task.sample_weight, folds.labels, part.rows):
        return None
    truth, labels = task.truth.rows(part.rows), folds.labels[part.rows]
    return None if any(too_small_out_of_bag(metric, truth, labels) for metric in metrics) else part


N_BOOTSTRAPS = 1000


@dataclass(frozen=True, eq=False)
class BarrierJudge:
    """Judges a race at its barriers."""

    search: Search
    rule: DropRule
    """Of the search."""
    race: Race
    task: Task
    """Whose rows may have other weights than in the search."""
    params: Sequence[dict[str, object]]
    entropy: int
    n_threads: int = 1

    @cached_property
    def judged(self) -> Booleans:
        """(splits - 1,): the barriers of the race at which the rule applies."""
        return judged_after([split.repeat for split in self.race.splits])

    def __call__(self, found: RaceResults, remaining: Sequence[int]) -> Barrier:
        """The record of a barrier that all remaining configurations have reached."""
        splits = found.splits
        nothing = unjudged_barrier(found, remaining)
        failed = {j: found.failures[j] for j in remaining if j in found.failures}
        if len(failed) == len(remaining):
            return nothing
        place = splits[-1].place
        failures = [Dropped(j, len(splits), float("nan"), f"it failed: {why}", place) for j, why in failed.items()]
        racing = [j for j in remaining if j not in failed]
        barrier = replace(nothing, leader=racing[0], dropped=tuple(failures))
        if len(racing) == 1 or nothing.n_rows < self.rule.min_predictions or not self.judged[len(splits) - 1]:
            return barrier
        try:
            return self._judged_barrier(barrier, found)
        except LossOutsideRangeError:
            raise  # more rows do not change that
        except (InputError, UndefinedDrawsError):
            # Too few rows so far: they lack a class or an event.
            return barrier

    def _judged_barrier(self, barrier: Barrier, found: RaceResults) -> Barrier:
        standing, columns = self._standing(found)
        with quiet_if_foreign([score.metric for score in standing.replay.scores]):
            verdict = _checked(self.rule.judge(standing), standing.n_configurations, self.rule)
            keep = verdict.keep.copy()
            keep[standing.leader] = True
            name, statistic = self.rule.statistic_name, verdict.statistic
            reasons = {int(c): f"{name} was {statistic[c]:.3g}" for c in np.flatnonzero(~keep)}
            behind = self._behind_of_two(standing, found.barriers)
            if behind is not None and keep[behind]:
                reasons[behind] = (
                    f"only two remained, and it was behind for {self.rule.resolve_ties_after} more splits"
                )
            risk = _risk(standing, list(reasons))
        dropped = [
            Dropped(int(columns[c]), barrier.after, float(verdict.statistic[c]), why, found.splits[-1].place)
            for c, why in sorted(reasons.items())
        ]
        needed: dict[int, float] = {}
        if verdict.folds_needed is not None:
            others = [c for c in range(len(columns)) if c not in reasons and c != standing.leader]
            needed = {int(columns[c]): float(verdict.folds_needed[c]) for c in others}
        return replace(
            barrier,
            judged=True,
            leader=int(columns[standing.leader]),
            dropped=(*barrier.dropped, *dropped),
            risk=risk,
            folds_needed=needed,
            stopped=verdict.stop,
            noted={} if verdict.noted is None else dict(zip(columns.tolist(), verdict.noted.tolist(), strict=True)),
        )

    def _standing(self, found: RaceResults) -> tuple[Standing, np.ndarray]:
        """The standing of the race, and the configuration behind each column."""
        metrics, rule = self.search.scoring.metrics, self.search.rule
        read = metrics_read(rule, metrics, found.refit_metric)
        opened = {name: metric for name in read if (metric := metrics.get(name)) is not None}
        reported = opened[found.refit_metric]
        task = self.task
        question = Question(
            reported,
            opened,
            rule,
            self.search.aggregate_so_far,
            Settings(),
            task.groups,
            task.sample_weight,
            self.params,
        )
        evidence = gather(task.truth, found.predictions, question)
        place = {split.place: row for row, split in enumerate(found.folds.splits)}
        rows = [place[split.place] for split in found.splits]
        scores = found.fold_scores[found.refit_metric].oriented()[rows][:, evidence.candidates]
        draws = Draws(
            seed=stream(self.entropy, "dropping", found.splits[-1].repeat, len(rows)),
            n_bootstraps=N_BOOTSTRAPS,
            unit_of_row=evidence.unit_of_row,
            defined_in_bag=evidence.replay.defined,
            defined_out_of_bag=always,
        )
        standing = Standing(
            truth=evidence.truth,
            replay=evidence.replay,
            fold_scores=scores,
            leader=evidence.winner_column,
            draws=draws,
            unit_of_row=evidence.unit_of_row,
            n_started=len(self.params),
            n_barriers=int(self.judged.sum()),
            n_folds=self.race.n_folds,
            n_threads=self.n_threads,
            predictions=evidence.predictions,
            noted=_notes(found.barriers, evidence.candidates),
        )
        return standing, evidence.candidates

    def _behind_of_two(self, standing: Standing, passed: Sequence[Barrier]) -> int | None:
        """The worse of the last two columns, if only they remain since ``resolve_ties_after`` barriers."""
        if self.rule.resolve_ties_after is None or standing.n_configurations != 2:
            return None
        alone = 0
        for earlier in reversed(passed):
            if earlier.n_before - len(earlier.dropped) != 2:
                break
            alone += 1
        return 1 - standing.leader if alone >= self.rule.resolve_ties_after else None


def _checked(verdict: Any, n_configurations: int, rule: DropRule) -> Verdict:
    """What a rule returned, refused where it is no verdict on each configuration."""
    found = [np.asarray(each) for each in verdict[:2]] if isinstance(verdict, Verdict) else []
    if not found or found[0].dtype != bool or {each.shape for each in found} != {(n_configurations,)}:
        got = " and ".join(f"{each.dtype} of shape {each.shape}" for each in found) or repr(verdict)
        raise HeldoutError(  # no InputError, which says here that rows are too few
            f"judge of `drop={rule.name!r}` must return a Verdict with a bool and a number for each of the "
            f"{n_configurations} remaining configurations, got {got}."
        )
    return cast("Verdict", verdict)


def unjudged_barrier(found: RaceResults, remaining: Sequence[int]) -> Barrier:
    """The record of a barrier at which no rule applies; the first is the leader, as one always remains."""
    splits = found.splits
    rows = np.unique(np.concatenate([split.test for split in splits]))
    return Barrier(len(splits), len(rows), len(remaining), leader=remaining[0], judged=False)


def _notes(barriers: Sequence[Barrier], columns: Indices) -> Floats:
    """(barriers so far, A): the notes of the rule on the remaining configurations."""
    rows = [[barrier.noted.get(int(each), np.nan) for each in columns] for barrier in barriers]
    return np.array(rows, dtype=np.float64).reshape(-1, len(columns))


def _risk(standing: Standing, dropped: Sequence[int]) -> float:
    """The share of bootstraps of the rows so far in which the selection rule chooses a dropped one."""
    if not dropped:
        return 0.0
    chosen = np.concatenate(
        [
            standing.replay.choose(standing.draws.block(first, min(first + 256, standing.draws.n_bootstraps))[0])
            for first in range(0, standing.draws.n_bootstraps, 256)
        ]
    )
    return float(np.isin(chosen, dropped).mean())

"""Adaptive searches: configurations are proposed in batches, each after the scores of those before it.

Every batch runs as a small run of its own, whose cells go into the one run of the search. With a drop rule it races
against the current best. A resumed search asks for the same proposals again, and finds their cells in the store. A
proposal that equals an earlier one is a configuration of its own with copies of the cells of that one: nothing is
fitted again.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from heldout.configurations import Configuration, Configurations, canonical_form
from heldout.dropping.base import Barrier, Dropped
from heldout.errors import InputError
from heldout.execution import events
from heldout.execution.cells import CellKey, CellResult, CellTable, Saving, each_cell
from heldout.execution.collect import RaceResults, columns_of_scores
from heldout.execution.conclusion import pooled_scores, scores_of_selection
from heldout.execution.identity import AdaptivePlan, sources_of, storable
from heldout.execution.run import OpenRun, RunSettings, open_run, with_means
from heldout.execution.search import Search, imputed
from heldout.execution.store import AddedConfiguration, MemoryRun, MemoryStore, Run
from heldout.execution.store.unfinished_search import note_of

EQUAL = "equal configurations"
"""What copies of cells share with their source."""


@dataclass(frozen=True, eq=False)
class ProposalScore:
    """The result of a proposal.

    Attributes
    ----------
    position : int
        Of the configuration in the search.
    value : float
        The score by which the search chooses, greater is better; NaN if it failed or was dropped.
    fold_scores : tuple of float
        Of the scorer that decides, greater is better, in the order in which the splits ran.
    failure : str
        Why it failed; empty if it did not.
    dropped : str
        Why it was dropped; empty if it was not.
    columns : mapping of str to float
        Of its row of ``cv_results_``: scores of splits, means, standard deviations and times.
    """

    position: int
    value: float
    fold_scores: tuple[float, ...]
    failure: str = ""
    dropped: str = ""
    columns: Mapping[str, float] = field(default_factory=dict)


class Proposals(Protocol):
    """Where the configurations of an adaptive search come from."""

    @property
    def identity(self) -> Any:
        """What decides the proposals, for the identity of the run."""

    @property
    def shortage(self) -> str:
        """Why they ended before there was a search; empty if there was one."""

    def resume(self, notes: Sequence[str]) -> None:
        """Called once, before the first batch: the notes of an earlier run, in the order of its proposals."""

    def next_batch(self) -> Sequence[Configuration]:
        """What to try next, before any of its scores is known; nothing at the end of the search.

        The search gives each its position. A template must not change afterwards: of an object of the user it is a
        clone.
        """

    def take(self, scores: Sequence[ProposalScore]) -> None:
        """The results of the batch, in its order."""


class RunPart(MemoryRun):
    """The part of a run that holds a batch of configurations.

    ``positions``: of each in the run. What is recorded goes into the run under these.
    """

    def __init__(self, run: Run, positions: Sequence[int]) -> None:
        super().__init__(run.entropy)
        self.positions = list(positions)
        self._run = run

    def recall(self) -> None:
        """Take over the cells of the batch that an earlier process left in the run."""
        local = {position: number for number, position in enumerate(self.positions)}
        for cell in each_cell(self._run.results(configurations=local)):
            if cell.key.configuration in local:
                super().record(cell.at(local[cell.key.configuration]))

    def join(self, position: int, cells: Iterable[CellResult]) -> None:
        """Add a configuration of the run with its cells, behind the batch."""
        self.positions.append(position)
        for cell in cells:
            super().record(cell.at(len(self.positions) - 1))

    def copies(self, source: int, position: int) -> Iterator[CellResult]:
        """The cells of a configuration of the run as those of one of the batch."""
        for cell in each_cell(self._run.results(configurations=[source])):
            if cell.key.configuration == source:
                shared = {EQUAL: Saving(cell.fit_seconds + cell.score_seconds)}
                yield replace(cell.at(self.positions.index(position)), shared=shared)

    def cells(self, configuration: int) -> list[CellResult]:
        """The cells of a configuration, by its number in the batch."""
        return [cell for cell in each_cell(self.results()) if cell.key.configuration == configuration]

    def listener(self, listeners: Sequence[events.Listener]) -> events.Listener:
        """Passes events of the batch on, with positions in the run; barriers are those of the batch alone."""

        def pass_on(event: events.Event) -> None:
            match event:
                case events.BarrierPassed():
                    return
                case events.CellFinished(result):
                    event = events.CellFinished(self._in_run(result))
                case events.WorkersLost(running):
                    lost = (key._replace(configuration=self.positions[key.configuration]) for key in running)
                    event = replace(event, running=tuple(lost))
            for listener in listeners:
                listener(event)

        return pass_on

    def record(self, result: CellResult | CellTable) -> None:
        super().record(result)
        self._run.record(self._in_run(result))

    def commit(self) -> None:
        self._run.commit()

    def _in_run(self, result: CellResult | CellTable) -> CellResult | CellTable:
        if isinstance(result, CellTable):
            return result.at(self.positions)
        return result.at(self.positions[result.key.configuration])


class AdaptiveRun:
    """An open run of an adaptive search; made by ``open_adaptive``."""

    def __init__(self, search: Search, run: OpenRun, n_planned: int) -> None:
        self._search = search
        self._open = run
        self._n_planned = n_planned
        self._members: list[Configuration] = []
        self._equal: Counter[str] = Counter()
        self._first: dict[str, int] = {}
        """By what tells configurations apart, the position of the first."""
        self._course = _Course(len(search.race.splits))
        self._best: _CurrentBest | None = None

    @property
    def notes(self) -> list[str]:
        """Of the proposals of an earlier process, in their order."""
        return self._open.run.notes()

    def evaluate(self, batch: Sequence[Configuration]) -> list[ProposalScore]:
        """Fit proposals on the splits of the search, and score them."""
        added = self._added(batch)
        positions = [member.position for member in added]
        # Into the store before anything is fitted, so that a process that dies has its proposals noted.
        n_resumed = self._open.run.add(self._stored(added))
        names = [member.name for member in added]
        self._open.settings.tell(events.ConfigurationsAdded(names, dict(zip(positions, n_resumed, strict=True))))
        # The first of equal proposals has the cells; a later one gets copies of them.
        source = {member.position: self._first.setdefault(_form(member), member.position) for member in added}
        scores = dict[int, ProposalScore]()

        def group_of(member: Configuration) -> tuple[bool, int]:
            """Cells come before their copies; an exception ends the fits of its group."""
            # Copies last, as their originals may be in the same batch. Where an exception is caught, each
            # configuration is a group of its own; otherwise it ends the search anyway.
            return source[member.position] != member.position, member.position if self._search.catch else 0

        for _, group in groupby(sorted(added, key=group_of), group_of):
            scores |= self._scores_of(list(group), source, recall=any(n_resumed))
        return [scores[position] for position in positions]

    def _scores_of(
        self, added: Sequence[Configuration], source: Mapping[int, int], *, recall: bool
    ) -> dict[int, ProposalScore]:
        """The scores of configurations by position; ``source``: of which they have the cells."""
        part = RunPart(self._open.run, [member.position for member in added])
        # Asked of the store only where it has some of these, because that reads its rows.
        if recall:
            part.recall()
        members = list(added)
        # The best so far runs along behind the batch with the cells that it has, so it costs no fit.
        if self._search.drop is not None and self._best is not None:
            part.join(self._best.configuration.position, self._best.cells)
            members.append(self._best.configuration)
        # A part of a run counts its configurations from 0.
        local = Configurations(replace(each, position=number) for number, each in enumerate(members))
        # Without the current best, which is fitted already.
        own = Configurations(local[: len(added)])
        sharing = self._search.sharing(replace(self._open.work, configurations=own))
        copies = dict[CellKey, CellResult]()
        for member in added:
            if source[member.position] != member.position:
                copies |= {cell.key: cell for cell in part.copies(source[member.position], member.position)}
                self._open.models.copy(source[member.position], member.position)
        settings = replace(self._open.settings, listeners=[part.listener(self._open.settings.listeners)])
        work = replace(self._open.work, configurations=local, sharing=sharing, base=self._open.work)
        # The workers are those of the search.
        small = replace(
            self._open, work=with_means(work, settings), run=part, settings=settings, positions=part.positions,
            given=copies,
        )  # fmt: skip
        try:
            raced = self._raced(small, part, len(added))
        # With failures as results: one configuration that cannot be fitted must not end a search of hours.
        except self._search.catch:
            work = replace(small.work, error_score=float("nan"), base=None)
            raced = self._raced(replace(small, work=work), part, len(added))
        return {score.position: score for score in raced}

    def finish(self) -> tuple[Search, RaceResults]:
        """The search with all its configurations, and their results.

        Raises InputError when nothing was proposed.
        """
        if not self._members:
            raise InputError("the search was over before it tried a configuration, so there is no winner.")
        # A run of an unknown length is over only when somebody says so.
        self._open.run.note_end(len(self._members))
        search = replace(self._search, configurations=Configurations(self._members))
        race = search.race
        whole = replace(self._open, work=replace(self._open.work, configurations=search.configurations))
        race_results = whole.race_results(race, self._course.barriers)
        # Adaptive: every estimate of these predictions must know that candidates were chosen because of scores.
        return search, replace(race_results, predictions=replace(race_results.predictions, adaptive=True))

    def _added(self, batch: Sequence[Configuration]) -> list[Configuration]:
        first = len(self._members)
        added = [replace(each, position=position) for position, each in enumerate(batch, start=first)]
        if self._search.imputation is not None:
            added = [imputed(one, self._search.imputation) for one in added]
        if not first and self._n_planned:
            # Refuse at once what the selection rule cannot choose from, as far as one of them tells.
            params = [dict(added[0].params)] * self._n_planned
            self._search.estimation.rule.check(self._n_planned, params, self._search.metrics_read)
        self._members += added
        return added

    def _stored(self, added: Sequence[Configuration]) -> list[AddedConfiguration]:
        """The configurations as a store knows them; a store in memory recognises nothing."""
        if isinstance(self._open.settings.store, MemoryStore):
            return [AddedConfiguration("", "", member.name) for member in added]
        stored = []
        for member in added:
            with storable():
                # The code of own classes is part of the id, because the run begins before they are known.
                text = member.canonical + json.dumps(sources_of([member]), sort_keys=True)
            # Equal proposals are told apart by a number, in their order, so that a resumed search finds each again.
            key = hashlib.sha256(f"{text}#{self._equal[text]}".encode()).hexdigest()
            self._equal[text] += 1
            stored.append(AddedConfiguration(key, member.canonical, member.name, member.note))
        return stored

    def _raced(self, small: OpenRun, part: RunPart, n_batch: int) -> list[ProposalScore]:
        search = self._search
        race = search.race
        (barriers,) = small.run_races([race], search=search)
        found = small.race_results(race, barriers)
        # Without a rule no barrier was met, and there is nothing to merge.
        if race.barriers:
            dropped = self._course.add(found, part.positions, n_batch)
            self._note_barriers(barriers, dropped)
        scores = _scores(search, found, part.positions[:n_batch], self._course.dropped)
        for local, score in enumerate(scores):
            # Strictly better: of equal configurations the first stays, as everywhere.
            if np.isfinite(score.value) and (self._best is None or score.value > self._best.value):
                # Cells are needed only where batches race against it.
                cells = part.cells(local) if race.barriers else []
                self._best = _CurrentBest(score.value, self._members[score.position], cells)
        return scores

    def _note_barriers(self, passed: Sequence[Barrier], dropped: Sequence[Dropped]) -> None:
        places = [split.place for split in self._search.race.splits]
        # Drops come sorted by their barrier, as ``groupby`` needs them.
        left_at = {after: tuple(drops) for after, drops in groupby(dropped, key=lambda drop: drop.after)}
        for barrier in self._course.barriers:
            self._open.run.note_barrier(places, barrier)
        n_remaining = len(self._members) - len(self._course.dropped)
        for barrier in passed:
            here = left_at.get(barrier.after, ())
            if here:
                # A batch that was stopped is no end of the search.
                of_search = replace(barrier, dropped=here, stopped=False)
                self._open.settings.tell(events.BarrierPassed(0, of_search, n_remaining, self._course.n_saved))


@dataclass(frozen=True, eq=False)
class _CurrentBest:
    """The best configuration so far, against which batches race."""

    value: float
    configuration: Configuration
    cells: Sequence[CellResult]


@dataclass
class _Course:
    """The barriers of all batches as those of one race."""

    n_splits: int
    dropped: dict[int, Dropped] = field(default_factory=dict)
    """By position in the search."""
    _barriers: dict[int, Barrier] = field(default_factory=dict)

    @property
    def barriers(self) -> tuple[Barrier, ...]:
        """In the order of the splits."""
        return tuple(self._barriers[after] for after in sorted(self._barriers))

    @property
    def n_saved(self) -> int:
        """Fits that were not made."""
        return sum(self.n_splits - drop.after for drop in self.dropped.values())

    def add(self, found: RaceResults, positions: Sequence[int], n_batch: int) -> list[Dropped]:
        """Add the barriers of a batch; returns which of it were dropped.

        What happens to the current best in that race, behind the batch, changes nothing.
        """
        here: dict[int, Dropped] = {}
        for barrier in found.barriers:
            drops = list(barrier.dropped)
            if barrier.stopped:  # other configurations of the search have all splits
                reason, place = "the drop rule ended its race", found.splits[-1].place
                drops += [Dropped(j, barrier.after, float("nan"), reason, place) for j in range(n_batch)]
            new = dict[int, Dropped]()
            # The current best races behind the batch; its drop there is no drop from the search.
            for drop in drops:
                if drop.configuration < n_batch and positions[drop.configuration] not in here:
                    position = positions[drop.configuration]
                    new.setdefault(position, replace(drop, configuration=position))
            # As many of the batch as had not left before this barrier.
            self._merge(barrier, tuple(new.values()), positions[barrier.leader], n_batch - len(here))
            here |= new
        self.dropped |= here
        return list(here.values())

    def _merge(self, barrier: Barrier, dropped: tuple[Dropped, ...], leader: int, n_before: int) -> None:
        earlier = self._barriers.get(barrier.after)
        all_dropped = (*(earlier.dropped if earlier else ()), *dropped)
        self._barriers[barrier.after] = Barrier(
            barrier.after,
            barrier.n_rows,
            n_before + (earlier.n_before if earlier else 0),
            leader,
            all_dropped,
            risk=float("nan") if all_dropped else 0.0,  # of several races there is no common one
            judged=barrier.judged or (earlier is not None and earlier.judged),
        )


def _form(member: Configuration) -> str:
    """What tells a configuration from the others of its search; of one without a canonical form its position."""
    with suppress(Exception):  # of parameters that cannot be read
        form = canonical_form(member.template if member.has_params else member.params)
        return json.dumps([member.model, member.has_params, form, sources_of([member])], sort_keys=True)
    return str(member.position)


def _scores(
    search: Search, found: RaceResults, positions: Sequence[int], dropped: Mapping[int, Dropped]
) -> list[ProposalScore]:
    name = found.refit_metric
    of_folds = found.fold_scores[name]
    # Splits run in the order of the race, while scores are stored in the order of the folds.
    row = {split.place: number for number, split in enumerate(found.folds.splits)}
    in_order = of_folds.oriented()[[row[split.place] for split in found.splits]]
    # On the scale by which the search chooses at its end: a sampler would otherwise be led elsewhere.
    scale = search.scale_of_selection
    whole = (
        {}
        if scale == "folds"
        else pooled_scores(search.task, found.predictions, {name: found.metrics[name]}, scale)
    )
    values = scores_of_selection(found, name, scale, whole)
    columns = columns_of_scores(found.cells, found.fold_scores)
    scores = []
    for local, position in enumerate(positions):
        failure, drop = found.failures.get(local, ""), dropped.get(position)
        # A dropped configuration has scores up to its last split only.
        n_splits = len(in_order) if drop is None else drop.after
        scores.append(
            ProposalScore(
                position,
                # A dropped one has a mean of fewer folds, which compares with no other.
                float("nan") if failure or drop is not None else float(values[local]),
                tuple(in_order[:n_splits, local].tolist()),
                failure,
                "" if failure or drop is None else drop.reason,
                {name: float(column[local]) for name, column in columns.items() if np.isfinite(column[local])},
            )
        )
    return scores


@contextmanager
def open_adaptive(
    search: Search, running: RunSettings, identity: Any, n_planned: int, *, is_whole: bool = True
) -> Iterator[AdaptiveRun]:
    """An open run of an adaptive search, whose configurations are added.

    Parameters
    ----------
    search : Search
        Without configurations.
    running : RunSettings
    identity : object
        What decides the proposals.
    n_planned : int
        How many there will be at most; 0 if that is unknown.
    is_whole : bool
        Whether it has an estimate of its own, which the store then can give at any time; a search beside another
        has none.
    """
    plan = AdaptivePlan(n_planned, identity, search.share)
    with open_run(
        search.work,
        running,
        may_drop=search.drop is not None,
        adaptive=plan,
        note=partial(note_of, search, adaptive=True) if is_whole else None,
    ) as run:
        yield AdaptiveRun(search, run, n_planned)


def proposed_results(
    search: Search, proposals: Proposals, running: RunSettings, n_planned: int, *, is_whole: bool = True
) -> tuple[Search, RaceResults]:
    """A search with all configurations that were proposed, at most ``n_planned``, and their results.

    ``is_whole``: as in ``open_adaptive``.
    """
    with open_adaptive(search, running, proposals.identity, n_planned, is_whole=is_whole) as run:
        proposals.resume(run.notes)
        # Every result is given back before the next question, which makes the proposals depend on it.
        while batch := proposals.next_batch():
            proposals.take(run.evaluate(batch))
        return run.finish()

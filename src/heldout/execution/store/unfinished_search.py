"""A search as its run file has it at one moment: what is complete, and what can be said of it.

The article names the incomplete cross-validation (Tsamardinos et al. 2018, section 4): the predictions of the folds
that are complete are a matrix as any other. A fold counts once all remaining configurations have a result there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from heldout._text import counted
from heldout.dropping.base import Barrier
from heldout.errors import StoreError
from heldout.estimates.methods import method_of
from heldout.estimates.types import Estimate
from heldout.execution.cells import CellResult
from heldout.execution.collect import RaceResults, ResultCollector
from heldout.execution.conclusion import chosen_in, estimates_of
from heldout.execution.search import Search
from heldout.execution.store.file_status import one_moment
from heldout.execution.store.opening import check_sound, has_tables, read_as_written
from heldout.execution.store.runs import StoredRun, read_search
from heldout.execution.store.schema import rows_of
from heldout.execution.store.search_note import SearchText, StoredConfiguration, search_of
from heldout.execution.training_size import corrected_for_size, smaller_training_in
from heldout.flags import Flag
from heldout.folds.splits import Place


@dataclass(frozen=True, eq=False)
class SearchSoFar:
    """A stored search, finished or not.

    - ``search``: without columns and estimators; with several metrics, those that can be found by name.
    - ``found``: the results on the splits that are complete.
    - ``flags``: what to know of it.
    - ``fingerprints``: of rows and folds, as the run has them.
    - ``further``: fits without two folds, for a correction for training size.
    """

    path: Path
    search: Search
    found: RaceResults
    flags: Mapping[Flag, str]
    fingerprints: Mapping[str, str]
    further: Sequence[CellResult] = ()

    def estimates(self, n_jobs: int | None = None) -> dict[str, Estimate]:
        """One estimate a scorer, each of the configuration that the search would choose now."""
        # The winner is chosen anew: with the folds so far it may be another one than at the end.
        chosen = chosen_in(self.search, self.found)
        estimates = estimates_of(chosen, n_jobs=n_jobs, flags=self.flags)
        if not self.search.training_size_correction:
            return estimates
        smaller = smaller_training_in(chosen, self.further)
        return corrected_for_size(self.search, self.found, estimates, smaller)

    def estimate(self, n_jobs: int | None = None) -> Estimate:
        """That of the scorer that decides.

        Raises StoreError when the search has no estimate.
        """
        if self.search.estimation.method is None:
            raise StoreError(
                f"the search in {self.path} has `method=None`, so it has no estimate; name a method there."
            )
        return self.estimates(n_jobs)[self.found.refit_metric]


def search_so_far(path: Path) -> SearchSoFar:
    """The search of a run file that a process may be writing; of several searches the one that was opened last.

    The short searches beside an adaptive one have no estimate of their own, and are none of these.

    Raises StoreError when the file cannot be read, its run is no search with an estimate of its own, or no split is
    complete yet.
    """
    # One read transaction: the search goes on writing, and results of two moments do not fit together.
    with one_moment(path) as connection, read_as_written(path):
        rows = []
        if has_tables(connection):
            check_sound(connection, path)
            # A run with a search before one without, as those of protocols; then the last that was opened.
            last = "TRUE ORDER BY number IN (SELECT run FROM search) DESC, opened DESC, number DESC LIMIT 1"
            rows = rows_of(connection, "run", last)
        if not rows:
            raise StoreError(f"the run file {path} holds no run yet; try again once its search has begun.")
        run = StoredRun(connection, rows[0])
        note = read_search(connection, run.number)
        if note is None:
            raise StoreError(
                f"the run in {path} is of a protocol with fits of its own, such as nested cross-validation, whose "
                "estimate needs all of them; continue it to its end."
            )
        members = [
            StoredConfiguration.of(position, name, member.json)
            for position, (name, member) in enumerate(zip(run.names, run.members, strict=True))
        ]
        search, text = search_of(note, members, run.entropy, path)
        method = search.estimation.method
        if method is not None and method_of(method).needs_halves:
            raise StoreError(
                f"the search in {path} has no estimate from its run file: method '{method_of(method).name}' reads "
                "fits of the winner that follow the search; fit the search to its end."
            )
        barriers = _barriers(run, search)
        # Keys are read before results: what is complete decides which results are worth reading.
        course = _course(path, search, text, run, barriers)
        # Of an adaptive search the proposals under way are left out, and the others close ranks.
        kept = [j for j in range(len(members)) if j not in course.left_out]
        local = {j: place for place, j in enumerate(kept)}
        search = replace(
            search, configurations=type(search.configurations)(tuple(
                replace(members[j], position=place) for j, place in local.items()
            ))
        )  # fmt: skip
        # In the order of the race, which is the order that barriers speak of.
        splits = [split for split in search.race.splits if split.place in course.complete]
        folds = search.folds.part(splits)
        collector = ResultCollector(search.task, search.configurations, folds, search.scoring, is_stored=True)
        places, further = {split.place for split in search.folds.without_two}, list[CellResult]()
        for cell in run.results(local):
            collector.put(cell)
            if cell.key.place in places:
                further.append(cell)
        # Barriers speak of positions in the whole search, results of positions among those that are kept.
        kept_barriers = tuple(_renumbered(barrier, local) for barrier in barriers)
        race_results = collector.results(splits, kept_barriers)
    # The collector does not know how the configurations were chosen, and the estimate must be flagged for it.
    if text.adaptive:
        race_results = replace(race_results, predictions=replace(race_results.predictions, adaptive=True))
    flags = {**text.flags} | _unfinished(search, race_results, course)
    race_results = replace(race_results, n_fits_saved=_n_saved(search, race_results, course))
    fingerprints = {f"fingerprint_of_{part}": run.row[part] for part in ("rows", "folds")}
    return SearchSoFar(path, search, race_results, flags, fingerprints, further)


def _barriers(run: StoredRun, search: Search) -> list[Barrier]:
    """The barriers of the search so far, in their order."""
    least = 0 if search.drop is None else search.drop.min_predictions
    barriers = run.barriers.get(tuple(split.place for split in search.race.splits), [])
    # Whether a rule applied is not stored, because it follows from the rows and the rule.
    return [replace(barrier, judged=barrier.n_rows >= least) for barrier in barriers]


class _ProgressSoFar(NamedTuple):
    """How far a search is."""

    complete: frozenset[Place]
    remaining: frozenset[int]
    left_out: frozenset[int]
    """Of an adaptive search the proposals that have not run on all splits yet."""
    is_over: bool


def _course(
    path: Path,
    search: Search,
    text: SearchText,
    run: StoredRun,
    barriers: Sequence[Barrier],
) -> _ProgressSoFar:
    places = [split.place for split in search.race.splits]
    done: dict[Place, set[int]] = defaultdict(set)
    for block in run.blocks.values():
        for place in block.places:
            done[place].update(block.configurations)
    dropped = {each.configuration for barrier in barriers for each in barrier.dropped}
    remaining = frozenset(range(len(search.configurations))) - dropped
    left_out: frozenset[int] = frozenset()
    if text.adaptive:
        # An adaptive search adds configurations all the time, so a fold is never complete for all; instead a
        # configuration counts once it has all folds.
        whole = frozenset.intersection(*(frozenset(done.get(place, ())) for place in places))
        left_out = remaining - whole
        remaining &= whole
    # Dropped configurations are waited for no longer.
    complete = frozenset(place for place in places if remaining <= done.get(place, set()))
    if not remaining or not complete:
        what = f"a fold that is complete for all {counted(len(remaining), 'remaining configuration')}"
        raise StoreError(
            f"the search in {path} does not have {'a configuration with all folds' if text.adaptive else what} "
            "yet, so there is no estimate; try again when more fits are done (heldout status shows how many are)."
        )
    # A race that the rule ended has folds that nobody will run.
    stopped = any(barrier.stopped for barrier in barriers)
    is_planned = run.plan is not None and run.plan.n_configurations == len(search.configurations)
    is_over = stopped or (len(complete) == len(places) and is_planned and not left_out)
    # Successive halving, for instance, compares on more rows with each step: the middle says nothing of its winner.
    if search.strategy is not None and not is_over:
        raise StoreError(
            f"the search in {path} has no estimate before its end: the rule '{search.strategy.name}' chooses by "
            "its last steps; continue the search to its end."
        )
    return _ProgressSoFar(complete, remaining, left_out, is_over)


def _unfinished(search: Search, found: RaceResults, course: _ProgressSoFar) -> dict[Flag, str]:
    if course.is_over:
        return {}
    n_splits = search.folds.n_splits
    splits = counted(n_splits, "fold" if search.folds.n_repeats == 1 else "split")
    if found.predictions.adaptive:
        which = f"{counted(len(course.remaining), 'configuration')} with results on all {splits} so far"
        rest = "What else will be proposed is not known."
    else:
        n_tested = int((found.folds.labels >= 0).any(axis=1).sum())
        which = (
            f"{len(course.complete)} of {splits} ({n_tested:,} of {search.task.n_rows:,} rows), those that are "
            f"complete for all {counted(len(course.remaining), 'remaining configuration')}"
        )
        rest = "Results on other folds are left out."
    return {Flag.UNFINISHED_SEARCH: Flag.UNFINISHED_SEARCH.filled(which=which, rest=rest)}


def _n_saved(search: Search, found: RaceResults, course: _ProgressSoFar) -> int:
    """Fits that dropping has saved for certain."""
    if course.is_over:
        return len(search.configurations) * search.folds.n_splits - found.n_fits
    # Before the end only what cannot be fitted any more counts as saved.
    return sum(search.folds.n_splits - each.after for each in found.dropped.values())


def _renumbered(barrier: Barrier, local: Mapping[int, int]) -> Barrier:
    """The barrier with the positions of the configurations that count."""
    dropped = [replace(each, configuration=local[each.configuration]) for each in barrier.dropped]
    # The leader may be among those left out; then any place will do, as no estimate reads it.
    return replace(barrier, leader=local.get(barrier.leader, 0), dropped=tuple(dropped))

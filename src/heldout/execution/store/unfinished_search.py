"""A search as its run file has it at one moment: what is complete, and what can be said of it.

The article names the incomplete cross-validation (Tsamardinos et al. 2018, section 4): the predictions of the folds
that are complete are a matrix as any other. A fold counts once all remaining configurations have a result there.

What an estimate reads besides the cells is noted when the run begins (``note_of``), and made a search again here.
Nothing is unpickled, so rules, methods and metrics are noted by name, and functions of the user cannot be noted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import sklearn.metrics
from sklearn.base import BaseEstimator

from heldout._record import json_safe
from heldout._text import counted
from heldout._types import Array
from heldout.configurations import Configuration, Configurations, are_same
from heldout.data.checks import call_text
from heldout.data.declared import from_json
from heldout.data.task import Task, TaskKind, Truth
from heldout.dropping import drop_rule_of
from heldout.dropping.base import Barrier
from heldout.errors import HeldoutError, InputError, StoreError
from heldout.estimates.methods import label_of, method_of
from heldout.estimates.of_search import Estimation
from heldout.estimates.types import Estimate
from heldout.execution.cells import CellResult
from heldout.execution.collect import RaceResults, ResultCollector
from heldout.execution.conclusion import chosen_in, estimates_of
from heldout.execution.fit import Scoring
from heldout.execution.search import Search
from heldout.execution.store import SearchNote
from heldout.execution.store.file_status import one_moment
from heldout.execution.store.opening import check_sound, has_tables, read_as_written
from heldout.execution.store.runs import StoredRun, read_search, rows_of
from heldout.execution.training_size import corrected_for_size, smaller_training_in
from heldout.flags import Flag
from heldout.folds.splits import Folds, Place, Split
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric, Signed, full_name
from heldout.metrics.from_scorer import metric_from_scorer
from heldout.selection import configuration_rule_of
from heldout.selection.base import metrics_read


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


Thing = TypeVar("Thing")


@dataclass(frozen=True)
class SearchText:
    """The note without its arrays."""

    kind: TaskKind
    exchangeable: bool
    grouped: bool
    refit_metric: str
    metrics: Mapping[str, str | None]
    """By scorer; None for a scorer that cannot be opened."""
    unnoted: tuple[str, ...]
    """What is a function or an object of the user, in words: there is no estimate without it."""
    settings: Mapping[str, bool | int | float | str | None]
    """The fields of the specification that the estimate reads, by name."""
    adaptive: bool = False
    classes: tuple[bool, ...] | tuple[int | float, ...] | tuple[str, ...] | None = None
    positive: int | None = None
    more_times: tuple[float, ...] = ()
    flags: Mapping[Flag, str] = field(default_factory=dict)
    weights_reached: Mapping[str, str] = field(default_factory=dict)
    unweighted: tuple[str, ...] = ()
    """Scorers without the weights of the one that chooses."""
    titles: Mapping[str, str] = field(default_factory=dict)


NOTED = (*(one.name for one in fields(Estimation)), "drop", "stop_when_width", "training_size_correction")


@dataclass(frozen=True, eq=False)
class StoredConfiguration(Configuration):
    """A configuration as a run file has it: its name and its canonical JSON, without an estimator."""

    json: str = ""

    @classmethod
    def of(cls, position: int, name: str, json: str) -> StoredConfiguration:
        return cls(position, {}, BaseEstimator(), name, has_params=True, json=json)

    @cached_property
    def canonical(self) -> str:
        return self.json


def note_of(search: Search, *, adaptive: bool = False) -> SearchNote:
    """The note on a search whose run begins."""
    task, folds, scoring, estimation = search.task, search.folds, search.scoring, search.estimation
    unnoted: list[str] = []

    def text_of(what: str, thing: Thing, text: str, again: Any) -> str:
        """The text, if the thing can be made from it again."""
        try:
            if are_same(again(text), thing):
                return text
        except (HeldoutError, TypeError, ValueError):
            pass
        unnoted.append(what)
        return text

    metrics = {
        name: None
        if metric is None
        else text_of(
            f"the metric of the scorer '{name}'", metric, _metric_text(metric, task.truth), _metric_for(task.truth)
        )
        for name, metric in scoring.metrics.items()
    }
    rule, selection = estimation.rule, "best"
    if search.strategy is None:  # else the drop rule chooses, and its search has no other selection
        read = metrics_read(rule, scoring.metrics, scoring.refit_metric)
        selection = text_of("the selection rule", rule, _text(rule), configuration_rule_of)
        try:
            rule.check(2, [{}, {}], read)
        except InputError:
            unnoted.append("the selection rule")
    method = None
    if estimation.method is not None:
        text = estimation.method if isinstance(estimation.method, str) else label_of(estimation.method)
        wanted = method_of(text) if isinstance(estimation.method, str) else estimation.method
        method = text_of("the method", wanted, text, method_of)
    drop = None if search.drop is None else text_of("the drop rule", search.drop, _text(search.drop), drop_rule_of)
    blocks = None if search.blocks is None else str(search.blocks)
    texts = {"method": method, "selection": selection, "drop": drop, "block_length": blocks}
    unnoted += [f"the weights of the scorer '{name}'" for name, own in scoring.weights.items() if own is not None]
    truth = task.truth
    noted = SearchText(
        kind=truth.kind,
        exchangeable=folds.exchangeable,
        grouped=folds.grouped,
        refit_metric=scoring.refit_metric,
        metrics=metrics,
        unnoted=tuple(dict.fromkeys(unnoted)),
        settings=json_safe({name: texts.get(name, getattr(search, name)) for name in NOTED}),
        adaptive=adaptive,
        classes=None if truth.classes is None else _plain_labels(truth.classes),
        positive=truth.positive,
        more_times=tuple(map(float, scoring.more_times)),
        flags=search.flags,
        weights_reached={name: search.reach_of_weights(name) for name in metrics},
        unweighted=tuple(name for name, weights in scoring.weights.items() if weights is None),
        titles=scoring.titles,
    )
    return SearchNote(json.dumps(asdict(noted)), _arrays(task, folds))


def search_of(
    note: SearchNote, configurations: Sequence[StoredConfiguration], entropy: int, path: Path
) -> tuple[Search, SearchText]:
    """The search of a note in a run file, without columns and estimators: for its estimate, not for its fits.

    Raises ValueError when the note is damaged, and StoreError when it lacks an object of the user.
    """
    text: SearchText = from_json(SearchText, note.text)
    if text.unnoted:
        raise StoreError(
            f"the search in {path} has no estimate from its run file: {' and '.join(text.unnoted)} is an object of "
            "your own, which the file does not hold; fit the search to its end."
        )
    arrays = note.arrays
    values: Array = arrays["target"]
    if text.kind is TaskKind.SURVIVAL:
        timed = np.zeros(len(values), dtype=[("event", bool), ("time", np.float64)])
        timed["event"], timed["time"] = arrays["event"], values
        values = timed
    classes = None if text.classes is None else np.asarray(text.classes)
    truth = Truth(text.kind, values, classes, text.positive)
    task = Task(None, truth, arrays.get("groups"), arrays.get("weights"))
    folds = Folds(_splits(arrays, task.n_rows), task.n_rows, text.exchangeable, text.grouped)
    metric = _metric_for(truth)
    noted = {name: None if each is None else metric(each) for name, each in text.metrics.items()}
    weights = dict.fromkeys(text.unweighted)
    scoring = Scoring(
        _no_scorer, noted, text.refit_metric, more_times=text.more_times, weights=weights, titles=text.titles
    )
    if text.settings.keys() != set(NOTED):
        raise ValueError("the note on the search has other settings than a search")
    settings: Mapping[str, Any] = text.settings
    search = Search(
        task, Configurations(configurations), folds, scoring, entropy=entropy, refit=False, share=False,
        weights_reached=text.weights_reached, **settings,
    )  # fmt: skip
    search.estimation.check()
    return search, text


def _no_scorer(*_: Any, **__: Any) -> float:
    raise InputError("a search that was read from a run file cannot score a model; fit the search itself.")


_SCORER, _OF_CLASS = "scorer:", " of class "


def _metric_for(truth: Truth) -> Any:
    def metric(text: str) -> Metric:
        name, _, label = text.partition(_OF_CLASS)
        scorer = name.removeprefix(_SCORER)
        found = metric_named(name) if scorer == name else metric_from_scorer(sklearn.metrics.get_scorer(scorer))
        assert found is not None, "scikit-learn's own scorers can be opened"
        return check_fits(_of_class(found, json.loads(label)) if label else found, truth)

    return metric


def _metric_text(metric: Metric, truth: Truth) -> str:
    """The text of which ``_metric_for`` makes it again: a name of ours or a scorer's of scikit-learn, and a class.

    Its own name where there is none.
    """
    label = json_safe(getattr(metric.metric if isinstance(metric, Signed) else metric, "pos_label", None))
    of_class = "" if label is None else f"{_OF_CLASS}{json.dumps(label)}"
    again, own_name = _metric_for(truth), full_name(metric)
    for name in (own_name, *(f"{_SCORER}{scorer}" for scorer in sklearn.metrics.get_scorer_names())):
        for text in dict.fromkeys((name, f"{name}{of_class}")):
            with suppress(HeldoutError, TypeError, ValueError):
                found = again(text)
                if found.name == metric.name and are_same(found, metric):
                    return text
    return own_name


def _of_class(metric: Metric, label: Any) -> Metric:
    if isinstance(metric, Signed):
        return replace(metric, metric=_of_class(metric.metric, label))
    return replace(metric, pos_label=label)  # type: ignore[type-var]  # a metric of classes has one


def _text(rule: Any) -> str:
    try:
        return call_text(rule)
    except TypeError:  # no dataclass: a class of the user
        return str(rule.name)


def _plain_labels(classes: Array) -> tuple[Any, ...]:
    """Labels as JSON holds them: text in place of other types, such as dates."""
    labels = classes.tolist()
    plain = len({type(label) for label in labels} - {int, float}) <= 1
    plain = plain and all(isinstance(label, bool | int | float | str) for label in labels)
    return tuple(labels if plain else map(str, labels))


def _arrays(task: Task, folds: Folds) -> dict[str, Array]:
    values = task.truth.values
    is_survival = task.truth.kind is TaskKind.SURVIVAL
    arrays: dict[str, Array] = {"target": values["time"] if is_survival else values}
    if is_survival:
        arrays["event"] = values["event"]
    if task.groups is not None:
        arrays["groups"] = np.unique(task.groups, return_inverse=True)[1].reshape(-1)
    if task.sample_weight is not None:
        arrays["weights"] = task.sample_weight
    sizes, trains = [], [np.empty(0, dtype=np.intp)]
    for split in folds.splits:
        whole = len(split.train) + len(split.test) == task.n_rows and not split.has_copies
        whole = whole and not np.intersect1d(split.train, split.test).size
        sizes.append((split.repeat, split.fold, len(split.test), _ALL_OTHERS if whole else len(split.train)))
        trains += [] if whole else [split.train]
    arrays["splits"] = np.array(sizes, dtype=np.int64)
    arrays["test"] = np.concatenate([split.test for split in folds.splits])
    arrays["train"] = np.concatenate(trains)
    return arrays


_ALL_OTHERS = -1
"""In place of the number of training rows, where all rows train that are not tested, once each."""


def _splits(arrays: Mapping[str, Array], n_rows: int) -> tuple[Split, ...]:
    sizes = arrays["splits"]
    tests = np.split(arrays["test"], np.cumsum(sizes[:, 2])[:-1])
    trains = np.split(arrays["train"], np.cumsum(np.maximum(sizes[:, 3], 0))[:-1])
    every = np.arange(n_rows)
    splits = []
    for (repeat, fold, _, n_train), test, train in zip(sizes.tolist(), tests, trains, strict=True):
        rows = np.setdiff1d(every, test, assume_unique=True) if n_train == _ALL_OTHERS else train
        splits.append(Split(repeat, fold, rows, test))
    return tuple(splits)

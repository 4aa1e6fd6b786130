"""What the estimate of a search reads besides its cells: noted when the run begins, and made a search again.

Nothing is unpickled, so rules, methods and metrics are noted by name, and functions of the user cannot be noted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import sklearn.metrics
from sklearn.base import BaseEstimator

from heldout._record import json_safe
from heldout._types import Array
from heldout.configurations import Configuration, Configurations, are_same
from heldout.data.checks import call_text
from heldout.data.declared import from_json
from heldout.data.task import Task, TaskKind, Truth
from heldout.dropping import drop_rule_of
from heldout.errors import HeldoutError, InputError, StoreError
from heldout.estimates.methods import label_of, method_of
from heldout.estimates.of_search import Estimation
from heldout.execution.fit import Scoring
from heldout.execution.search import Search
from heldout.execution.store import SearchNote
from heldout.flags import Flag
from heldout.folds.splits import Folds, Split
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric, Signed, full_name
from heldout.metrics.from_scorer import metric_from_scorer
from heldout.selection import configuration_rule_of
from heldout.selection.base import metrics_read

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
    scoring = Scoring(_no_scorer, noted, text.refit_metric, more_times=text.more_times, weights=weights)
    if text.settings.keys() != set(NOTED):
        raise ValueError("the note on the search has other settings than a search")
    settings: Mapping[str, Any] = text.settings
    search = Search(
        task, Configurations(tuple(configurations)), folds, scoring, entropy=entropy, refit=False, share=False,
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

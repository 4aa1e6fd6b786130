"""The search that the advice is about, with its families and its folds for nested cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from heldout import _defaults
from heldout.arguments.search import SearchArguments
from heldout.configurations import Configuration
from heldout.data.checks import call_in
from heldout.errors import InputError
from heldout.execution.search import Search
from heldout.folds.auto import events_of, number_of_folds
from heldout.metrics.base import Metric
from heldout.protocols.nested.plan import NestedFolds, nested_folds
from heldout.spaces.presets import PRESETS, kind_of_target, preset
from heldout.spaces.published import preset_names, published_space, published_spaces


@dataclass(frozen=True)
class Family:
    """The configurations of one estimator."""

    name: str
    units: tuple[tuple[int, ...], ...]
    """Their positions in the search; one fit serves those of a unit."""
    tuned: tuple[str, ...]
    """The hyper-parameters that differ among them."""

    @property
    def size(self) -> int:
        return sum(map(len, self.units))


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """One user's search, on all rows and with the outer folds."""

    search: Search
    families: tuple[Family, ...]
    nested: NestedFolds | None
    """The splits of nested cross-validation; None where the outer folds allow none."""
    refusal: str
    """Why there are none; empty otherwise."""

    @property
    def n_configurations(self) -> int:
        return len(self.search.configurations)

    @cached_property
    def n_units(self) -> int:
        """The number of independent units: groups where there are any, else rows."""
        task = self.search.task
        return task.n_rows if task.groups is None else len(np.unique(task.groups))

    @property
    def n_folds(self) -> int:
        """Splits per repeat."""
        return self.search.race.n_folds

    @property
    def auto_folds(self) -> int | None:
        """The number of folds that ``cv="auto"`` makes of these rows; None where it can make none."""
        task = self.search.task
        classes = np.asarray(task.target) if task.truth.kind.is_classification else None
        try:
            return number_of_folds(task.n_rows, classes, task.groups, events=events_of(task.target))
        except InputError:
            return None

    @property
    def metric(self) -> Metric | None:
        """The metric of the selection; None where it cannot be computed on any rows, as a bootstrap needs."""
        return self.search.scoring.metrics.get(self.search.scoring.refit_metric)

    @property
    def rarest_class(self) -> tuple[str, int] | None:
        """The rarest class and its number of rows; None for a target without classes."""
        truth = self.search.task.truth
        if truth.classes is None or not truth.kind.is_classification:
            return None
        counts = truth.class_counts()
        return str(truth.classes[int(counts.argmin())]), int(counts.min())


def problem_of(search: Search, inner: Any = None) -> SearchProblem:
    """A search with its families and the folds of nested cross-validation; nothing is fitted.

    Raises InputError for a grid that does not fit its estimator, and for an ``inner`` that allows no nesting.
    """
    # Names of parameters are checked also where nothing of a grid is fitted here.
    for one in {(id(one.template), *sorted(one.params)): one for one in search.configurations}.values():
        one.fresh()
    try:
        nested = nested_folds(
            search.task,
            search.folds,
            _defaults.INNER if inner is None else inner,
            selects=len(search.configurations) > 1,
            entropy=search.entropy,
        )
    except InputError as error:
        if inner is not None:
            raise
        return SearchProblem(search, _families(search), None, str(error))
    return SearchProblem(search, _families(search), nested, "")


def _families(search: Search) -> tuple[Family, ...]:
    """The configurations grouped by their estimator."""
    members: dict[str, list[Configuration]] = {}
    for one in search.configurations:
        members.setdefault(one.model or type(one.template).__name__, []).append(one)
    sharing = search.work.sharing
    families = []
    for name, configurations in members.items():
        places = [one.position for one in configurations]
        units = sorted(sharing.units(places)) if sharing is not None else [(place,) for place in places]
        families.append(Family(name, tuple(units), _tuned(configurations)))
    return tuple(families)


def _tuned(configurations: Sequence[Configuration]) -> tuple[str, ...]:
    # By their text: values may be estimators, arrays or functions, which neither hash nor compare.
    texts = [{name: repr(value) for name, value in one.params.items() if name != "model"} for one in configurations]
    names = dict.fromkeys(name for text in texts for name in text)
    return tuple(name for name in names if len({text.get(name) for text in texts}) > 1)


def estimator_and_grid(configurations: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """The first two arguments of ``HeldOutSearchCV``."""
    if isinstance(configurations, str):
        table = X if hasattr(X, "shape") else np.asarray(X)
        if configurations in PRESETS:
            return preset(configurations, table, kind_of_target(y)), None
        if (call_in(configurations) or (configurations,))[0] in published_spaces():
            return published_space(configurations, table, y, kind_of_target(y)), None
    elif isinstance(configurations, tuple) and len(configurations) == 2 and hasattr(configurations[0], "fit"):
        return configurations
    elif isinstance(configurations, list | tuple):
        return list(configurations), None
    elif hasattr(configurations, "fit") and not SearchArguments(configurations).is_fixed_search:
        return configurations, None
    value = type(configurations).__name__ if hasattr(configurations, "fit") else repr(configurations)
    raise InputError(
        f"configurations must be (estimator, grid), a list of (name, estimator, grid), an estimator that is no "
        f"search, or a preset ({preset_names()}), got {value}.",
        argument="configurations",
    )

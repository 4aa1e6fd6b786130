"""The search that the advice is about: checked, with its families and its folds for nested cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from heldout.arguments.search import SearchArguments
from heldout.configurations import Configuration
from heldout.data.checks import call_in
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.execution.search import Search
from heldout.folds.auto import events_of, number_of_folds
from heldout.protocols.nested.plan import REMAINING, NestedFolds, nested_folds
from heldout.spaces.presets import PRESETS, kind_of_target, preset
from heldout.spaces.published import preset_names, published_space, published_spaces

NOTHING = object()
"""The value of a parameter that a configuration does not set."""


@dataclass(frozen=True)
class Family:
    """The configurations of one estimator."""

    name: str
    members: tuple[int, ...]
    """Positions of its configurations in the search."""
    tuned: tuple[str, ...]
    """The hyper-parameters that differ among them."""
    shared: tuple[tuple[int, ...], ...] = field(default=(), repr=False)
    """Its members as they are fitted: those that one fit serves together; empty where each is fitted alone."""

    @property
    def units(self) -> tuple[tuple[int, ...], ...]:
        """What is fitted together, in the order of the members."""
        return self.shared or tuple((member,) for member in self.members)


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """One user's search."""

    search: Search
    """The search on all rows, with the outer folds."""
    families: tuple[Family, ...]
    nested: NestedFolds | None
    """The splits of nested cross-validation; None where the outer folds allow none."""
    refusal: str = ""
    """Why there are none; empty otherwise."""

    @property
    def n_rows(self) -> int:
        return self.search.task.n_rows

    @property
    def n_configurations(self) -> int:
        return len(self.search.configurations)

    @property
    def n_units(self) -> int:
        """The number of independent units: groups where there are any, else rows."""
        groups = self.search.task.groups
        return self.n_rows if groups is None else len(np.unique(groups))

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
    def is_opened(self) -> bool:
        """Whether the metric of the selection can be computed on any rows, as a bootstrap needs."""
        return self.search.scoring.metrics.get(self.search.scoring.refit_metric) is not None

    @property
    def metric(self) -> str:
        """The name of the metric of the selection."""
        name = self.search.scoring.refit_metric
        metric = self.search.scoring.metrics.get(name)
        return name if metric is None else metric.name

    @property
    def matches_evidence(self) -> bool:
        """Whether metric and target are those of the evidence: accuracy of two classes."""
        return self.search.task.truth.kind is TaskKind.BINARY and self.metric == "accuracy"

    @property
    def rarest_class(self) -> tuple[str, int] | None:
        """The rarest class and its number of rows; None for a target without classes."""
        truth = self.search.task.truth
        if truth.classes is None or not truth.kind.is_classification:
            return None
        counts = truth.class_counts()
        return str(truth.classes[int(counts.argmin())]), int(counts.min())


def problem_of(
    X: Any,
    y: Any,
    configurations: Any,
    *,
    scoring: Any,
    pos_label: Any = None,
    cv: Any,
    inner: Any,
    groups: Any,
    n_jobs: int | None,
    random_state: Any,
) -> SearchProblem:
    """The search of these arguments, checked as ``nested_cv`` checks it; nothing is fitted."""
    estimator, grid = _estimator_and_grid(configurations, X, y)
    arguments = SearchArguments(
        estimator, grid, scoring=scoring, pos_label=pos_label, cv=cv, n_jobs=n_jobs, random_state=random_state
    ).with_search()
    search = arguments.search_on(X, y, groups)
    _check_names(search.configurations)
    families = families_of(search.configurations)
    sharing = search.work.sharing
    if sharing is not None:
        families = tuple(replace(each, shared=tuple(sorted(sharing.units(each.members)))) for each in families)
    try:
        nested = nested_folds(
            search.task,
            search.folds,
            REMAINING if inner is None else inner,
            selects=len(search.configurations) > 1,
            entropy=search.entropy,
        )
    except InputError as error:
        if inner is not None:
            raise
        return SearchProblem(search, families, None, str(error))
    return SearchProblem(search, families, nested)


def _check_names(configurations: Sequence[Configuration]) -> None:
    """Check that every grid sets parameters of its estimator, also where nothing of it is fitted here."""
    known: set[tuple[int, tuple[str, ...]]] = set()
    for one in configurations:
        names = id(one.template), tuple(sorted(one.params))
        if names in known:
            continue
        known.add(names)
        one.fresh()


def _estimator_and_grid(configurations: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """The first two arguments of ``HeldOutSearchCV``."""
    if isinstance(configurations, str):
        table = X if hasattr(X, "shape") else np.asarray(X)
        if configurations in PRESETS:
            return preset(configurations, table, kind_of_target(y)), None
        if (call_in(configurations) or (configurations,))[0] in published_spaces():
            return published_space(configurations, table, y, kind_of_target(y)), None
    elif SearchArguments(configurations).is_fixed_search:
        kind = type(configurations).__name__
        raise InputError(
            f"configurations must be what is searched and not a search, got {kind}; give its estimator and its "
            "grid, (estimator, grid).",
            argument="configurations",
        )
    elif hasattr(configurations, "fit"):
        return configurations, None
    elif isinstance(configurations, tuple) and len(configurations) == 2 and hasattr(configurations[0], "fit"):
        return configurations
    elif isinstance(configurations, list | tuple):
        return list(configurations), None
    raise InputError(
        f"configurations must be (estimator, grid), a list of (name, estimator, grid), an estimator or a preset "
        f"({preset_names()}), got {configurations!r}.",
        argument="configurations",
    )


def families_of(configurations: Sequence[Configuration]) -> tuple[Family, ...]:
    """The configurations grouped by their estimator.

    Examples
    --------
    >>> from heldout.configurations import make_configurations
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> grid = {"n_neighbors": [1, 3], "weights": ["uniform"]}
    >>> families_of(make_configurations(KNeighborsClassifier(), grid))
    (Family(name='KNeighborsClassifier', members=(0, 1), tuned=('n_neighbors',)),)
    """
    members: dict[str, list[Configuration]] = {}
    for one in configurations:
        members.setdefault(one.model or type(one.template).__name__, []).append(one)
    return tuple(
        Family(name, tuple(one.position for one in mine), _tuned([one.params for one in mine]))
        for name, mine in members.items()
    )


def _tuned(params: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = dict.fromkeys(name for mine in params for name in mine if name != "model")
    # By their text: values may be estimators, arrays or functions, which neither hash nor compare.
    return tuple(name for name in names if len({repr(mine.get(name, NOTHING)) for mine in params}) > 1)

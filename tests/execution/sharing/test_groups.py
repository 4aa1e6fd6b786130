"""What configurations share is known before a fit, and every cell is in one task."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from heldout.configurations import Configuration, NotHashableError, is_cloned, make_configurations
from heldout.execution.sharing import groups
from heldout.execution.sharing.groups import Sharing, sharing_of
from heldout.execution.sharing.steps import StepChain, chain_of, form_of
from heldout.spaces.submodels import register_submodels, registry


def sharing(estimator: Any, grid: Any = None, share: Any = "exact") -> Sharing | None:
    configurations = make_configurations(estimator, grid)
    return sharing_of(configurations, Configuration.fresh, share, {})


def test_models_that_differ_in_the_parameters_of_one_fit_are_a_group() -> None:
    found = sharing(RandomForestClassifier(random_state=0), {"max_features": [2, 3], "n_estimators": [10, 20, 30]})
    assert found is not None
    groups = {group.members: [value["n_estimators"] for value in group.values] for group in found.models.values()}
    assert groups == {(0, 1, 2): [10, 20, 30], (3, 4, 5): [10, 20, 30]}
    assert found.units([5, 0, 2, 1]) == [(0, 2, 1), (5,)]


class NoShare:
    """A parameter that cannot be compared."""

    __slots__ = ()


class OwnSetter(Ridge):  # type: ignore[misc]
    """An estimator that sets one parameter with another."""

    def set_params(self, **params: Any) -> Any:
        super().set_params(**params)
        self.tol = self.alpha
        return self


class OwnAttribute(Ridge):  # type: ignore[misc]
    """The same by an attribute."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "alpha" and "tol" in vars(self):
            self.tol = value


def in_pipeline(*steps: Any) -> Pipeline:
    return Pipeline([(f"step{number}", step) for number, step in enumerate(steps)])


GRIDS: list[tuple[Any, Any]] = [
    (Ridge(), {"alpha": [1, 2.0, np.float64(3), 1], "tol": [1e-3, 1e-4]}),
    (Ridge(), {"alpha": [1.0, 2.0], "solver": ["auto", "lsqr", "svd"], "positive": [False, True]}),
    (Ridge(), [{"alpha": [1.0, 2.0]}, {"alpha": [3.0], "max_iter": [None, 5]}, {"alpha": [np.ones(1), 2.0]}]),
    (RandomForestClassifier(), {"n_estimators": [5, 9], "random_state": [None, 1], "max_features": [2, 3]}),
    (KNeighborsClassifier(), {"n_neighbors": [1, 2], "weights": ["uniform", "distance", np.exp], "p": [1, 2]}),
    (in_pipeline(StandardScaler(), Ridge()), {"step0__with_mean": [True, False], "step1__alpha": [1.0, 2.0, 3.0]}),
    (in_pipeline(StandardScaler(), Ridge()), {"step0": ["passthrough", StandardScaler()], "step1__alpha": [1, 2]}),
    (in_pipeline(StandardScaler(), Ridge()), {"step1": [Ridge(), SVC()], "step0__copy": [True, False]}),
    (in_pipeline(SelectKBest(NoShare()), Ridge()), {"step1__alpha": [1.0, 2.0, 3.0], "step0__k": [1, 2]}),
    (
        in_pipeline(SelectKBest(), SVC()),
        {"step0__k": [1, 2, "all"], "step1__C": [1, 2], "step1__gamma": [0.1, "scale"]},
    ),
    (in_pipeline(SelectKBest(), in_pipeline(StandardScaler(), Ridge())), {"step1__step1__alpha": [1.0, 2.0]}),
    (TransformedTargetRegressor(Ridge()), {"regressor__alpha": [1.0, 2.0], "regressor__tol": [0.1, 0.2]}),
    ([("a", Ridge(), {"alpha": [1.0, 2.0]}), ("b", Ridge(), {"alpha": [1.0, 2.0]})], None),
]


@pytest.mark.parametrize("share", ["exact", "tolerance"])
@pytest.mark.parametrize("number", range(len(GRIDS)))
def test_neighbours_in_a_grid_share_what_they_would_share_if_each_was_looked_at_in_full(
    number: int, share: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator, grid = GRIDS[number]
    quick = sharing(estimator, grid, share)
    monkeypatch.setattr(groups._Precedent, "with_values_of", lambda *_: None)
    full = sharing(estimator, grid, share)
    assert (quick is None) == (full is None)
    if quick is not None and full is not None:
        assert quick.chains == full.chains
        for ours, theirs in ((quick.models, full.models), (quick.steps, full.steps)):
            assert {key: _described(group) for key, group in ours.items()} == {
                key: _described(group) for key, group in theirs.items()
            }


def _described(group: groups.FitGroup) -> tuple[Any, ...]:
    return group.family.name, group.members, [(type(v), repr(v)) for value in group.values for v in value.items()]


def test_numbers_that_a_provider_does_not_serve_are_not_in_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})
    register_submodels(ElasticNet, ("alpha",), max, applies=lambda model: model.alpha < 3)
    found = sharing(ElasticNet(), {"alpha": [1.0, 2.0, 3.0, 4.0, 2.5]})
    assert found is not None
    assert {position: group.members for position, group in found.models.items()} == dict.fromkeys(
        (0, 1, 4), (0, 1, 4)
    )


@pytest.mark.parametrize("kind", [OwnSetter, OwnAttribute])
def test_estimators_that_set_parameters_in_their_own_way_are_looked_at_in_full(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", {})
    register_submodels(kind, ("alpha",), max)
    assert sharing(kind(), {"alpha": [1.0, 2.0, 3.0]}) is None


def test_few_configurations_of_a_grid_are_looked_at_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    monkeypatch.setattr(groups, "chain_of", lambda *args: looked_at.append(args[1]) or chain_of(*args))
    grid = {"step0__with_mean": [True, False], "step1__alpha": [1.0, 2.0, 3.0, 4.0]}
    assert sharing(in_pipeline(StandardScaler(), Ridge()), grid) is not None
    assert [position for position in looked_at if position >= 0] == [0, 4]


def test_a_group_that_is_exact_to_rounding_is_computed_whole() -> None:
    forests = sharing(RandomForestClassifier(random_state=0), {"n_estimators": [10, 20, 30]})
    neighbours = sharing(KNeighborsClassifier(), {"n_neighbors": [1, 2, 3]})
    assert forests is not None and neighbours is not None
    assert forests.models[0].part([1]).members == (1,)
    assert neighbours.models[0].part([1]).members == (0, 1, 2)


@pytest.mark.parametrize("share", [False, "exact"])
def test_nothing_is_shared_if_nothing_is_alike_or_share_is_false(share: Any) -> None:
    grid = {"C": [1.0, 2.0]} if share else {"n_estimators": [1, 2]}
    assert sharing(LinearSVC() if share else RandomForestClassifier(random_state=0), grid, share) is None


def test_regressors_of_a_transformed_target_are_a_group_if_only_their_size_differs() -> None:
    forests = [RandomForestRegressor(random_state=0), ExtraTreesRegressor(bootstrap=True, random_state=0)]
    grid = {"regressor": forests, "regressor__max_depth": [2, 3], "regressor__n_estimators": [10, 20]}
    found = sharing(TransformedTargetRegressor(), grid)
    assert found is not None
    assert {group.members for group in found.models.values()} == {(0, 1), (2, 3), (4, 5), (6, 7)}


def test_regressors_with_other_requests_of_metadata_are_no_group() -> None:
    with config_context(enable_metadata_routing=True):
        weighted = RandomForestRegressor(random_state=0).set_fit_request(sample_weight=True)
        grid = {"regressor": [RandomForestRegressor(random_state=0), weighted], "regressor__n_estimators": [10, 20]}
        found = sharing(TransformedTargetRegressor(), grid)
    assert found is not None
    assert {group.members for group in found.models.values()} == {(0, 1), (2, 3)}


def test_equal_steps_of_several_estimators_are_shared() -> None:
    scaled = [
        ("svc", Pipeline([("scale", StandardScaler()), ("model", SVC())]), {}),
        ("knn", Pipeline([("scale", StandardScaler()), ("model", KNeighborsClassifier())]), {}),
    ]
    found = sharing(scaled)
    assert found is not None
    assert found.chains[0].keys == found.chains[1].keys


@settings(max_examples=50, deadline=None)
@given(
    keys=st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=1, max_size=20),
    n_parts=st.integers(1, 6),
    data=st.data(),
)
def test_tasks_hold_every_position_once(keys: Sequence[Sequence[int]], n_parts: int, data: Any) -> None:
    class Steps(StepChain):
        @property
        def keys(self) -> tuple[str, ...]:
            return tuple(self.before.split(".")) if self.before else ()

    chains = tuple(Steps((), ".".join(map(str, np.cumsum([1, *each]))), ()) for each in keys)
    found = Sharing(chains, {}, {})
    positions = data.draw(st.lists(st.sampled_from(range(len(keys))), unique=True, min_size=1))
    tasks = found.tasks(positions, n_parts)
    assert sorted(position for task in tasks for position in task) == sorted(positions)
    assert len(tasks) <= n_parts
    lengths = [max(len(chains[position].keys) for position in task) for task in tasks]
    assert lengths == sorted(lengths, reverse=True)


# Work is shared only where parameters are the same in every respect.


def in_a_notebook(source: str) -> Any:
    """A function whose source cannot be read."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(source, names)
    return names["f"]


def two_classes() -> list[Any]:
    def make(shift: float) -> Any:
        class Own(TransformerMixin, BaseEstimator):
            def fit(self, X: Any, y: Any = None) -> Own:
                return self

            def transform(self, X: Any) -> Any:
                return X + shift

        return Own()

    return [make(0.0), make(1.0)]


def clipped(limit: float) -> Any:
    return lambda X, *, limit=limit: np.clip(X, -limit, limit)


DIFFERENT = {
    "a list and a tuple": [MinMaxScaler(feature_range=(0, 1)), MinMaxScaler(feature_range=[0, 1])],
    "keyword defaults": [clipped(0.1), clipped(5.0)],
    "ufuncs": [np.log, np.log1p],
    "classes of one name": two_classes(),
    "containers of the output": [StandardScaler(), StandardScaler().set_output(transform="pandas")],
    "arrays in another order": [np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))],
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_what_may_give_other_numbers_has_another_form(pair: list[Any]) -> None:
    assert form_of(pair[0]) != form_of(pair[1])


def scaled(X: Any, factor: float = 1.0) -> Any:
    return X * factor


@pytest.mark.parametrize(
    "make",
    [
        lambda: FunctionTransformer(scaled, kw_args={"factor": 2.0}),
        lambda: FunctionTransformer(functools.partial(scaled, factor=2.0)),
        lambda: FunctionTransformer(np.log1p),
        lambda: StandardScaler().set_output(transform="pandas"),
        lambda: [1, "a", None, np.float64(0.5), {"key": (1, 2)}],
    ],
)
def test_copies_have_the_same_form(make: Any) -> None:
    assert form_of(make()) == form_of(make())


class Slots:
    __slots__ = ("limit",)

    def __init__(self, limit: float) -> None:
        self.limit = limit


class Clipping(Slots):
    def __call__(self, X: Any) -> Any:
        return np.clip(X, -self.limit, self.limit)


class Partial(functools.partial):  # type: ignore[type-arg]
    """May hold anything."""


@pytest.mark.parametrize(
    "value",
    [
        FrozenEstimator(StandardScaler()),
        Clipping(0.1),
        Partial(abs),
        np.random.RandomState(0),
        in_a_notebook("def f(X): return X"),
        np.frompyfunc(in_a_notebook("def f(X): return X"), 1, 1),
    ],
)
def test_what_cannot_be_compared_is_refused(value: Any) -> None:
    with pytest.raises(NotHashableError):
        form_of(FunctionTransformer(value))


def test_a_frozen_estimator_is_not_cloned() -> None:
    assert is_cloned(StandardScaler()) and is_cloned(object()) and not is_cloned(FrozenEstimator(StandardScaler()))

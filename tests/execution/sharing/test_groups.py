"""What configurations share is known before a fit, and every cell is in one task."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from heldout.configurations import Configuration, make_configurations
from heldout.execution.sharing import groups
from heldout.execution.sharing.groups import Sharing, sharing_of
from heldout.execution.sharing.steps import StepChain, chain_of
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


def test_models_behind_different_steps_are_no_group() -> None:
    steps = Pipeline([("scale", StandardScaler()), ("knn", KNeighborsClassifier())])
    found = sharing(steps, {"scale__with_mean": [True, False], "knn__n_neighbors": [1, 2]})
    assert found is not None
    assert {group.members for group in found.models.values()} == {(0, 2), (1, 3)}


def test_equal_steps_of_several_estimators_are_shared() -> None:
    scaled = [
        ("svc", Pipeline([("scale", StandardScaler()), ("model", SVC())]), {}),
        ("knn", Pipeline([("scale", StandardScaler()), ("model", KNeighborsClassifier())]), {}),
    ]
    found = sharing(scaled)
    assert found is not None
    assert found.chains[0].keys == found.chains[1].keys


def test_steps_that_differ_in_the_parameters_of_one_fit_are_a_group() -> None:
    steps = Pipeline([("best", SelectKBest()), ("svc", LinearSVC())])
    found = sharing(steps, {"best__k": [1, 2], "svc__C": [1.0, 2.0]})
    assert found is not None
    assert len(found.steps) == 2 and not found.models


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

"""Many configurations by few fits: each predicts what it does when it is fitted by itself."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from heldout.execution.fit import seeded_model
from heldout.execution.threads import single_threaded
from heldout.spaces import BoostedLinear, RandomSubspaceKNN, wainer_cawley2021
from heldout_papers.flat_vs_nested.paths import PATHS, Rows, predictions_of

X, Y = make_classification(90, 8, n_informative=3, flip_y=0.2, random_state=3)
ROWS = Rows(X[:60], Y[:60], X[60:])
ALGORITHMS = {name: (model, grid) for name, model, grid in wainer_cawley2021(X[:60], Y[:60], small=True)}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As in a study; threads that wait for each other would take most of the time."""
    with single_threaded():
        yield


def alone(model: Any, configuration: dict[str, Any], rows: Rows) -> list[Any]:
    return clone(model).set_params(**configuration).fit(rows.X, rows.y).predict(rows.test).tolist()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_configuration_predicts_what_it_does_alone(name: str) -> None:
    pipeline, grid = ALGORITHMS[name]
    model = seeded_model(clone(pipeline[-1]), 7, "here")
    configurations = [
        {key.removeprefix("fit__"): value for key, value in one.items()} for one in ParameterGrid(grid)
    ]
    scale = Rows(X[:60] / X[:60].std(axis=0), Y[:60], X[60:] / X[:60].std(axis=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a neural network that has not converged
        together = predictions_of(model, configurations, scale)
        expected = [alone(model, configuration, scale) for configuration in configurations]
    assert [one.values.tolist() for one in together if one.values is not None] == expected
    # That they all agree would be no wonder if all were the same.
    assert len({tuple(labels) for labels in expected}) > 1


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_a_kernel_is_what_the_machine_makes_of_its_gamma(gamma: Any) -> None:
    configurations = [{"C": value} for value in (0.1, 1.0, 30.0)]
    for model in (SVC(gamma=gamma), SVC(kernel="poly", gamma=gamma, degree=2, coef0=0.5, class_weight="balanced")):
        found = predictions_of(model, configurations, ROWS)
        assert [one.values.tolist() for one in found if one.values is not None] == [
            alone(model, configuration, ROWS) for configuration in configurations
        ]


def test_labels_are_those_of_training() -> None:
    rows = Rows(ROWS.X, np.where(ROWS.y == 1, "yes", "no"), ROWS.test)
    for name, (pipeline, grid) in ALGORITHMS.items():
        if type(pipeline[-1]) in PATHS:
            configuration = {key.removeprefix("fit__"): values[0] for key, values in grid.items()}
            model = seeded_model(clone(pipeline[-1]), 7)
            (found,) = predictions_of(model, [configuration], rows)
            assert found.values is not None and found.values.tolist() == alone(model, configuration, rows), name


@pytest.mark.parametrize(
    ("model", "configurations"),
    [
        (RandomForestClassifier(random_state=0, max_depth=2), [{"max_features": 2}, {"max_features": 3}]),
        (
            GradientBoostingClassifier(random_state=0, n_iter_no_change=2),
            [{"n_estimators": 3}, {"n_estimators": 9}],
        ),
        (KNeighborsClassifier(), [{"n_neighbors": 1}, {"n_neighbors": 4, "weights": "distance"}]),
        (SVC(kernel="sigmoid"), [{"C": 1.0}, {"C": 2.0}]),
    ],
    ids=["no trees asked", "boosting that stops by itself", "neighbours by any search", "another kernel"],
)
def test_what_cannot_be_shared_is_fitted_one_by_one(model: Any, configurations: list[dict[str, Any]]) -> None:
    found = predictions_of(model, configurations, ROWS)
    assert [one.values.tolist() for one in found if one.values is not None] == [
        alone(model, configuration, ROWS) for configuration in configurations
    ]


def test_one_that_fails_takes_no_other_with_it() -> None:
    model = KNeighborsClassifier(algorithm="brute")
    found = predictions_of(model, [{"n_neighbors": 3}, {"n_neighbors": 61}, {"n_neighbors": 5}], ROWS)
    assert found[1].values is None
    assert "n_samples_fit = 60" in found[1].reason
    assert [one.values.tolist() for one in (found[0], found[2]) if one.values is not None] == [
        alone(model, {"n_neighbors": k}, ROWS) for k in (3, 5)
    ]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RandomForestClassifier(random_state=0), "n_estimators"),
        (GradientBoostingClassifier(random_state=0), "n_estimators"),
        (BoostedLinear(), "n_iterations"),
        (RandomSubspaceKNN(n_estimators=5, random_state=0), "n_neighbors"),
    ],
    ids=["forest", "boosting", "boosted linear", "subspaces"],
)
@pytest.mark.parametrize("too_few", [0, -2])
def test_a_count_below_one_fails_beside_others_as_it_does_alone(model: Any, name: str, too_few: int) -> None:
    """Its place in a path would be counted from the end."""
    failed, works = predictions_of(model, [{name: too_few}, {name: 4}], ROWS)
    assert failed.values is None
    assert name in failed.reason
    assert works.values is not None and works.values.tolist() == alone(model, {name: 4}, ROWS)


def test_arrays_in_a_grid_are_compared_without_a_word() -> None:
    model = RandomForestClassifier(random_state=0)
    columns = ROWS.X.shape[1]
    grid = [
        {"n_estimators": n, "monotonic_cst": np.eye(1, columns, place, dtype=int)[0]}
        for n in (2, 5)
        for place in (0, 1)
    ]
    found = predictions_of(model, grid, ROWS)
    assert [one.values.tolist() for one in found if one.values is not None] == [
        alone(model, configuration, ROWS) for configuration in grid
    ]

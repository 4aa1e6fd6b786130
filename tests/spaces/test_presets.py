"""Presets: every configuration fits, predicts, clones, pickles, and is recognised again."""

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import ParameterGrid

from heldout.configurations import make_configurations
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.execution.fit import seeded_model
from heldout.execution.sharing.groups import sharing_of
from heldout.search import HeldOutSearchCV
from heldout.spaces import preset, quick, standard
from heldout.spaces.presets import MOST_KERNEL_ROWS

KINDS = [TaskKind.BINARY, TaskKind.MULTICLASS, TaskKind.REGRESSION]
ENSEMBLES = ("forest", "extra trees", "boosting")
FORESTS = {"fit__n_estimators": 3, "fit__max_iter": 3}


def untidy(kind: TaskKind, n_rows: int = 48) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers with gaps, text with gaps, booleans."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "number": np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
            "whole": rng.integers(0, 9, n_rows),
            "text": np.where(rng.random(n_rows) < 0.2, None, rng.choice(["u", "v", "w"], n_rows)),
            "flag": rng.random(n_rows) < 0.5,
        }
    )
    classes = np.array(["a", "b"] if kind is TaskKind.BINARY else ["a", "b", "c"])
    y = rng.normal(size=n_rows) if kind is TaskKind.REGRESSION else rng.choice(classes, n_rows)
    return X, y


def few(estimator: Any) -> dict[str, int]:
    """Settings that make the ensembles quick."""
    known = estimator.get_params()
    return {name: value for name, value in FORESTS.items() if name in known and "Ensemble" not in name}


@pytest.mark.parametrize(("name", "kind"), [("quick", TaskKind.BINARY), *(("standard", kind) for kind in KINDS)])
def test_every_family_fits_an_untidy_table_at_both_ends_of_its_grid(name: str, kind: TaskKind) -> None:
    X, y = untidy(kind)
    train, test = X.iloc[:36], X.iloc[36:]

    for family, estimator, grid in preset(name, X, kind):
        candidates = list(ParameterGrid(grid))
        for params in (candidates[0], candidates[-1]):
            model = clone(estimator).set_params(**params)
            model = model.set_params(**few(model)) if family in ENSEMBLES else model
            predicted = model.fit(train, y[:36]).predict(test)
            assert len(predicted) == 12, family
            if kind is TaskKind.REGRESSION:
                assert np.isfinite(predicted).all(), family


@pytest.mark.parametrize("kind", [TaskKind.BINARY, TaskKind.REGRESSION])
def test_sizes_are_some_seventy_and_a_few_hundred_and_all_differ(kind: TaskKind) -> None:
    X, _ = untidy(kind)

    for name, least, most in (("quick", 60, 90), ("standard", 300, 400)):
        configurations = make_configurations(preset(name, X, kind))
        assert least <= len(configurations) <= most
        assert len({key for key, _ in configurations.identities()}) == len(configurations)
        assert len(set(configurations.names)) == len(configurations)


@pytest.mark.parametrize("kind", [TaskKind.BINARY, TaskKind.REGRESSION])
def test_one_fit_serves_a_path_of_sizes_or_penalties(kind: TaskKind) -> None:
    X, _ = untidy(kind, n_rows=300)
    configurations = make_configurations(preset("standard", X, kind))

    sharing = sharing_of(configurations, lambda each: seeded_model(each.fresh(), 1), "exact", {})

    assert sharing is not None
    units = sharing.units(range(len(configurations)))
    fits = Counter(configurations[unit[0]].model for unit in units)
    served = Counter(each.model for each in configurations)
    assert {name: fits[name] for name in ("tree", *ENSEMBLES, "neighbours")} == {
        "tree": 1,
        "forest": 6,
        "extra trees": 4,
        "boosting": 12,
        "neighbours": 2,  # metrics
    }
    assert fits["ridge"] == (kind is TaskKind.REGRESSION)
    assert all(served[name] >= 8 * fits[name] for name in ENSEMBLES)


@pytest.mark.parametrize("name", ["quick", "standard"])
@pytest.mark.parametrize("kind", KINDS)
def test_values_go_from_simple_to_complex(name: str, kind: TaskKind) -> None:
    """Rules that choose the simplest configuration take the first."""
    falling = {"alpha", "n_neighbors", "min_samples_leaf", "ccp_alpha", "l1_ratio", "p"}

    for _, _, grid in preset(name, untidy(kind)[0], kind):
        for parameter, values in grid.items():
            numbers = [value for value in values if not isinstance(value, str)]
            assert numbers == sorted(numbers, reverse=parameter.rpartition("__")[2] in falling), parameter


def test_results_are_those_of_separate_fits() -> None:
    kind = TaskKind.REGRESSION
    X, y = untidy(kind, n_rows=60)
    entries = [(name, estimator, thinned(grid)) for name, estimator, grid in preset("standard", X, kind)]
    shared, separate = (
        HeldOutSearchCV(entries, cv=2, refit=False, method=None, random_state=0, share=share).fit(X, y)
        for share in ("exact", False)
    )

    assert shared.n_fits_shared_ > separate.n_fits_shared_ == 0
    assert shared.best_index_ == separate.best_index_
    np.testing.assert_allclose(
        shared.cv_results_["mean_test_score"], separate.cv_results_["mean_test_score"], rtol=1e-12
    )


def thinned(grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Two values of what one fit serves, and one of the other parameters."""
    paths = {"n_estimators": [2, 4], "max_iter": [2, 4]}
    ends = {"alpha", "ccp_alpha", "n_neighbors", "weights"}
    few = {}
    for name, values in grid.items():
        parameter = name.rpartition("__")[2]
        few[name] = paths.get(parameter, [values[0], values[-1]] if parameter in ends else values[:1])
    return few


def test_large_tables_do_not_stop_boosting_early() -> None:
    """Early stopping would hold out rows, and make each number of rounds a fit of its own."""
    for kind in KINDS:
        (boosting,) = [
            model for name, model, _ in preset("quick", np.zeros((20_000, 2)), kind) if name == "boosting"
        ]
        assert boosting.get_params()["fit__early_stopping"] is False


def test_entries_pickle_and_leave_their_seeds_to_the_search() -> None:
    X, _ = untidy(TaskKind.BINARY)

    for _, estimator, _ in preset("standard", X, TaskKind.BINARY):
        assert repr(pickle.loads(pickle.dumps(estimator))) == repr(estimator)
        seeds = {key: value for key, value in estimator.get_params().items() if key.endswith("random_state")}
        assert set(seeds.values()) <= {None}


def test_small_tables_get_no_more_neighbours_than_rows() -> None:
    X, y = untidy(TaskKind.BINARY, n_rows=12)

    (grid,) = [grid for name, _, grid in quick(X, y) if name == "neighbours"]

    assert max(grid["fit__n_neighbors"]) <= 4


def test_large_tables_do_without_kernel_machines() -> None:
    large = np.zeros((MOST_KERNEL_ROWS + 1, 2))

    assert "rbf svm" not in [name for name, _, _ in preset("quick", large, TaskKind.BINARY)]
    assert "rbf svm" in [name for name, _, _ in preset("quick", large[:-1], TaskKind.BINARY)]


def test_whole_numbers_of_many_values_are_a_regression() -> None:
    X, y = load_diabetes(return_X_y=True)  # whole numbers as floats, 214 of them

    assert "ridge" in [name for name, _, _ in quick(X, y)]
    assert "logistic" in [name for name, _, _ in standard(X, y > 100)]


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InputError, match="preset must be one of quick, standard, boosted, got 'huge'"):
        preset("huge", np.zeros((5, 2)), TaskKind.BINARY)


def test_survival_has_cox_regressions() -> None:
    target = np.array([(True, 1.0), (False, 2.0), (True, 3.0)], dtype=[("event", bool), ("time", float)])
    table = np.array([[1.0, 4.0], [np.nan, 4.0], [3.0, 4.0]])
    for entries, size in ((quick(table, target), 7), (standard(table, target), 19)):
        ((name, model, grid),) = entries
        assert name == "cox" and len(grid["fit__alpha"]) == size and min(grid["fit__alpha"]) > 0
        assert model.set_params(fit__alpha=0.01).fit(table, target).predict(table).shape == (3,)

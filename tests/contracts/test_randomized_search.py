"""A random search is a fixed search: it has everything of the search over a grid of what was drawn."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    GridSearchCV,
    ParameterSampler,
    RandomizedSearchCV,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]
TREE = DecisionTreeClassifier(random_state=0)
SPACE = {"max_depth": randint(1, 5), "ccp_alpha": loguniform(1e-4, 0.1)}
DRAWN = [{name: [value] for name, value in one.items()} for one in ParameterSampler(SPACE, 4, random_state=0)]
SETTINGS: dict[str, Any] = {"cv": 3, "n_bootstraps": 20, "random_state": 0}
MODELS = [("tree", TREE, SPACE), ("neighbors", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})]


def both(**more: Any) -> tuple[Any, Any]:
    """The search of draws, and that of a grid of the same."""
    settings = {**SETTINGS, **more}
    drawn = ho.HeldOutRandomizedSearchCV(TREE, SPACE, n_iter=4, **settings).fit(X, Y)
    return drawn, ho.HeldOutSearchCV(TREE, DRAWN, **settings).fit(X, Y)


@pytest.mark.parametrize(
    "more",
    [{"repeats": 2, "share": False}, {"drop": "bootstrap", "cv": 5, "aggregate": "pooled"}],
    ids=["repeats", "drop"],
)
def test_everything_is_as_with_a_grid_of_the_draws(more: dict[str, Any]) -> None:
    drawn, of_grid = both(**more)
    assert drawn.cv_results_["params"] == of_grid.cv_results_["params"]
    assert str(drawn.estimate_) == str(of_grid.estimate_)
    assert drawn.estimate_.value == of_grid.estimate_.value
    assert (drawn.n_fits_, drawn.n_fits_saved_) == (of_grid.n_fits_, of_grid.n_fits_saved_)


def test_several_models_are_searched_together() -> None:
    search = ho.HeldOutRandomizedSearchCV(MODELS, n_iter={"tree": 2, "neighbors": 3}, **SETTINGS).fit(X, Y)
    assert [one["model"] for one in search.cv_results_["params"]] == ["tree"] * 2 + ["neighbors"] * 3
    in_all = ho.HeldOutRandomizedSearchCV(MODELS, n_iter=6, **SETTINGS).fit(X, Y)
    assert {one["model"] for one in in_all.cv_results_["params"]} == {"tree", "neighbors"}
    assert in_all.n_fits_ == 18
    kind = {"tree": DecisionTreeClassifier, "neighbors": KNeighborsClassifier}[in_all.best_params_["model"]]
    assert isinstance(in_all.best_estimator_, kind)


def test_without_a_seed_draws_differ_but_for_those_of_a_run_file(tmp_path: Path) -> None:
    search = ho.HeldOutRandomizedSearchCV(TREE, SPACE, n_iter=2, cv=3, method=None)
    first, second = (clone(search).fit(X, Y).cv_results_["params"] for _ in range(2))
    assert first != second
    search.set_params(store=tmp_path / "run.db")
    first, second = (clone(search).fit(X, Y).cv_results_["params"] for _ in range(2))
    assert first == second


def test_it_is_pickled_and_cloned_and_nested() -> None:
    search = ho.HeldOutRandomizedSearchCV(TREE, SPACE, n_iter=2, **SETTINGS)
    fitted = clone(search).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.estimate_.value == fitted.estimate_.value
    outer = GridSearchCV(search.set_params(method=None), {"n_iter": [1, 2]}, cv=3).fit(X, Y)
    assert np.isfinite(outer.cv_results_["mean_test_score"]).all()
    assert np.isfinite(cross_val_score(search, X, Y, cv=3)).all()


SCORED: dict[str, Any] = {"scoring": "neg_log_loss", "cv": 3, "random_state": 0}
THEIRS = RandomizedSearchCV(TREE, SPACE, n_iter=3, **SCORED)
OURS = ho.HeldOutRandomizedSearchCV(TREE, SPACE, n_iter=3, **SCORED)
FIXED = ho.HeldOutSearchCV(TREE, DRAWN[:3], **SCORED)


@pytest.mark.parametrize(
    ("search", "protocol"),
    [
        (THEIRS, lambda search: ho.nested_cv(search, X, Y)),
        (OURS, lambda search: ho.nested_cv(search, X, Y)),
        (THEIRS, lambda search: ho.bootstrap_search(search, X, Y, n_bootstraps=3)),
        (
            OURS,
            lambda search: (
                ho.protocols.learning_curve(search, X, Y, training_sizes=(0.4, 0.6, 0.8), n_subsamples=2).estimate
            ),
        ),
    ],
    ids=["nested, scikit-learn's", "nested", "bootstrap", "learning curve"],
)
def test_protocols_repeat_it_as_they_repeat_a_grid_of_the_draws(search: Any, protocol: Any) -> None:
    # A search of scikit-learn leaves estimators without seeds; this tree has its own.
    found, of_grid = protocol(search), protocol(FIXED)
    assert found.value == of_grid.value
    assert found.selected_name == of_grid.selected_name


def test_a_validation_repeats_the_whole_search(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"metric": "accuracy", "n_bootstraps": 3, "random_state": 0, "interval": None}
    found = ho.bootstrap_validate(OURS, X, Y, store=tmp_path / "run.db", **settings)
    of_grid = GridSearchCV(TREE, DRAWN[:3], cv=3)
    assert found.value == ho.bootstrap_validate(of_grid, X, Y, **settings).value
    again = ho.bootstrap_validate(THEIRS, X, Y, store=tmp_path / "other.db", **settings)
    stored = ho.bootstrap_validate(OURS, X, Y, store=tmp_path / "run.db", **settings)
    assert again.value == found.value == stored.value


def test_another_seed_or_grid_beside_the_search_is_refused() -> None:
    with pytest.raises(ho.InputError, match="has `random_state=0`, and `random_state=1` is passed beside it"):
        ho.nested_cv(THEIRS, X, Y, random_state=1)
    with pytest.raises(ho.InputError, match="RandomizedSearchCV has its own distributions; leave param_grid out"):
        ho.nested_cv(THEIRS, X, Y, {"max_depth": [1]})


def test_a_finite_space_is_searched_as_a_whole_with_a_warning() -> None:
    with pytest.warns(ho.HeldoutWarning, match="the space has only 2 configurations, fewer than `n_iter=10`"):
        search = ho.HeldOutRandomizedSearchCV(TREE, {"max_depth": [1, 2]}, **SETTINGS).fit(X, Y)
    assert len(search.cv_results_["params"]) == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"param_distributions": None}, "param_distributions must be a dict or a list of dicts, got None"),
        ({"param_distributions": {"depth": uniform()}}, "Invalid parameter 'depth'"),
        ({"n_iter": 0}, "n_iter"),
    ],
    ids=["none", "no such parameter", "no draws"],
)
def test_bad_input_is_refused(more: dict[str, Any], said: str) -> None:
    search = clone(OURS).set_params(**more)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=said):
            search.fit(X, Y)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("space", "`space=` is named `param_distributions=` here"),
        ("n_trials", "`n_trials=` is named `n_iter=` here"),
    ],
)
def test_names_of_other_searches_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        ho.HeldOutRandomizedSearchCV(TREE, **{name: 3})

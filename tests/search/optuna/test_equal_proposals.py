"""What equals an earlier proposal is not fitted again."""

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, Y = load_iris(return_X_y=True)
X, Y = X[::2], Y[::2]
LOCK = threading.Lock()
FITS: list[tuple[int, ...]] = []
"""The depth and the rows of every fit."""


class CountedTree(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that notes its fits."""

    def fit(self, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        with LOCK:
            FITS.append((self.max_depth, hash(np.asarray(X).tobytes())))
        return super().fit(X, y, *args, **kwargs)


def search_of(**more: Any) -> Any:
    """A search of 12 trials among three depths, whose fits are in ``FITS``."""
    FITS.clear()
    settings: dict[str, Any] = {"n_trials": 12, "cv": 3, "n_bootstraps": 20, "random_state": 0, "refit": False}
    space = more.pop("space", {"max_depth": [1, 2, 3]})
    return ho.HeldOutOptunaSearchCV(CountedTree(random_state=0), space, **settings | more).fit(X, Y)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"batch_size": 5},
        {"space": lambda trial: {"max_depth": trial.suggest_int("depth", 1, 3)}},
        {"space": lambda trial: CountedTree(max_depth=trial.suggest_int("depth", 1, 3), random_state=0)},
    ],
)
def test_each_configuration_is_fitted_once_a_fold(more: dict[str, Any]) -> None:
    search = search_of(**more)
    assert len(FITS) == len(set(FITS)) == 9
    assert len(search.study_.trials) == len(search.cv_results_["params"]) == 12
    assert (search.n_fits_, search.n_fits_shared_) == (36, 27)
    depths = [params.get("max_depth", params.get("depth")) for params in search.cv_results_["params"]]
    scores = dict(zip(depths, search.cv_results_["mean_test_score"], strict=True))
    assert [scores[depth] for depth in depths] == search.cv_results_["mean_test_score"].tolist()


def test_fits_that_failed_are_not_repeated() -> None:
    with pytest.warns(UserWarning, match="non-finite|configurations failed"):
        search = search_of(space={"max_depth": [1, -1]}, n_trials=6)
    assert len(FITS) == 6
    assert {trial.state.name for trial in search.study_.trials} == {"COMPLETE", "FAIL"}


def test_cross_fitted_searches_fit_each_configuration_once() -> None:
    search = search_of(feedback=ho.optuna.CrossFitting(n_trials=6), cv=4)
    # The rows outside two folds are those of two searches, and those outside one fold those of its winner.
    assert max(Counter(FITS).values()) <= 2
    assert len(FITS) <= 3 * 4 + 4 * 3 * 3 + 4 < search.n_fits_
    assert search.evaluation_.cross_fit.n_trials == (6, 6, 6, 6)


def test_a_search_that_continues_copies_no_cell_twice(tmp_path: Path) -> None:
    search_of(store=tmp_path / "run.db", n_trials=7)
    first = len(FITS)
    more = search_of(store=tmp_path / "run.db")
    assert first + len(FITS) == 9
    whole = search_of()
    np.testing.assert_array_equal(more.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    assert more.estimate_.value == whole.estimate_.value


def test_models_that_are_kept_are_those_of_the_first() -> None:
    search = search_of(keep_models="all")
    assert len(FITS) == 9
    assert search.fold_models_.n_fits == 0
    first, last = (search.cv_results_["params"].index({"max_depth": depth}) for depth in (1, 2))
    assert {tree.max_depth for tree in search.fold_models_.of(first).values()} == {1}
    assert {tree.max_depth for tree in search.fold_models_.of(last).values()} == {2}
    assert all(None not in search.fold_models_.of(row).values() for row in range(12))


def test_dropped_trials_go_on_where_they_were() -> None:
    search = search_of(space={"max_depth": [1, 2]}, drop="bootstrap", cv=5, n_trials=8)
    assert len(FITS) == len(set(FITS)) <= 10
    assert search.study_.trials[-1].state.name in ("COMPLETE", "PRUNED")


def test_an_open_search_scores_an_equal_model_again_without_a_fit() -> None:
    FITS.clear()
    with ho.open_search(X, Y, cv=3, random_state=0) as run:
        scores = [run.evaluate(CountedTree(max_depth=depth, random_state=0)) for depth in (1, 2, 1)]
        other = run.evaluate(LogisticRegression())
    assert scores[0] == scores[2] != scores[1]
    assert np.isfinite(other)
    assert len(FITS) == 6

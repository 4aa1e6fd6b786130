"""Flat, nested and future accuracy, against scikit-learn's searches and by hand."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from heldout.data.task import truth_of
from heldout.execution.threads import single_threaded
from heldout.metrics.named import metric_named
from heldout_papers.flat_vs_nested import algorithm_results as module
from heldout_papers.flat_vs_nested.algorithm_results import (
    AlgorithmResult,
    CrossValidation,
    algorithm_results,
    halves,
)
from heldout_papers.flat_vs_nested.algorithms import Algorithm
from heldout_papers.flat_vs_nested.scoring import RowScoring

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target.to_numpy().astype(np.intp)
GRID = {"kneighborsclassifier__n_neighbors": [1, 7, 15]}
KNN = make_pipeline(StandardScaler(), KNeighborsClassifier())


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As in a study; threads that wait for each other would take most of the time."""
    with single_threaded():
        yield


def accuracy_of(y: Any) -> RowScoring:
    return RowScoring(metric_named("accuracy"), truth_of(y, "binary"))


def one(algorithm: Algorithm, split: tuple[Any, Any], **how: Any) -> AlgorithmResult:
    (found,) = algorithm_results([algorithm], X, accuracy_of(Y), split, CrossValidation(5, **how), 3, ("table", 0))
    return found


def test_halves_are_stratified_and_apart() -> None:
    train, test = halves(Y, None, 0)
    assert sorted([*train, *test]) == list(range(len(Y)))
    assert abs(len(train) - len(test)) <= 1
    assert Y[train].mean() == pytest.approx(Y.mean(), abs=0.004)
    train, test = halves(Y, 100, 0)
    assert (len(train), len(test), len({*train, *test})) == (50, 50, 100)
    assert Y[train].sum() == pytest.approx(50 * Y.mean(), abs=1)


@pytest.mark.parametrize("pipeline", [True, False], ids=["the last step's grid", "a grid of more than it"])
def test_as_searches_of_scikit_learn(monkeypatch: pytest.MonkeyPatch, pipeline: bool) -> None:
    seeds: list[int] = []

    def folds(places: Any, y: Any, n_folds: int, seed: int) -> Any:
        seeds.append(seed)
        found = StratifiedKFold(n_folds).split(places, y[places])
        return [(places[rest], places[fold]) for rest, fold in found]

    monkeypatch.setattr(module, "_folds", folds)  # in order, so that a search can be given the same
    train, test = halves(Y, 200, 1)
    grid = GRID if pipeline else GRID | {"standardscaler__with_mean": [True]}
    found = one(Algorithm.of("knn", KNN, grid), (train, test))
    search = GridSearchCV(KNN, GRID, cv=StratifiedKFold(5), scoring="accuracy").fit(X.iloc[train], Y[train])
    assert found.flat == pytest.approx(search.best_score_)
    assert found.nested == pytest.approx(cross_val_score(search, X.iloc[train], Y[train], cv=5).mean())
    assert found.future == pytest.approx(search.score(X.iloc[test], Y[test]))
    assert found.n_configurations == 3
    assert found.reason == ""
    assert 0 < found.flat_seconds < found.nested_seconds
    assert len(set(seeds)) == 6


def test_a_constant_answer_has_no_gain_by_its_choice() -> None:
    grid = {"strategy": ["most_frequent"]}
    found = one(Algorithm.of("dummy", DummyClassifier(), grid), halves(Y, 120, 0))
    assert found.flat == found.nested == pytest.approx(Y.mean(), abs=0.02)


def test_of_those_that_tie_the_first_is_chosen_and_none_that_failed() -> None:
    best = module._best
    assert best(np.array([0.8, 0.9, 0.9])) == 1
    assert best(np.array([np.nan, 0.1 + 0.2, 0.3])) == 1
    assert best(np.array([np.nan, np.nan])) is None


def test_an_algorithm_that_fails_has_a_reason_and_no_accuracies() -> None:
    grid = {"kneighborsclassifier__n_neighbors": [1000]}
    found = one(Algorithm.of("knn", KNN, grid), halves(Y, 120, 0))
    assert np.isnan([found.flat, found.nested, found.future]).all()
    assert "n_neighbors = 1000" in found.reason


def test_a_step_that_fails_is_the_algorithm_s_own_failure() -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 20, "b": np.arange(40.0)})
    y = np.arange(40) // 2 % 2
    split = np.arange(0, 20), np.arange(20, 40)
    knn, constant = Algorithm.of("knn", KNN, GRID), Algorithm.of("constant", DummyClassifier(), {})
    failed, fine = algorithm_results([knn, constant], frame, accuracy_of(y), split, CrossValidation(5), 0, ())
    assert "could not convert string to float" in failed.reason
    assert fine.flat == fine.nested == 0.5


def test_another_metric_and_three_classes_as_searches_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    def folds(places: Any, y: Any, n_folds: int, seed: int) -> Any:
        found = StratifiedKFold(n_folds).split(places, y[places])
        return [(places[rest], places[fold]) for rest, fold in found]

    monkeypatch.setattr(module, "_folds", folds)
    three = np.random.default_rng(0).permutation(np.arange(len(Y)) % 3)
    three[Y == 1] = 2
    train, test = halves(three, 240, 1)
    grid = {"max_depth": [1, 3], "n_estimators": [2, 7]}
    forest = RandomForestClassifier(random_state=5, max_features=None)
    scoring = RowScoring(metric_named("log_loss"), truth_of(three, "multiclass"))
    (found,) = algorithm_results(
        [Algorithm.of("rf", forest, grid)], X, scoring, (train, test), CrossValidation(3), 3, ()
    )
    search = GridSearchCV(forest, grid, cv=StratifiedKFold(3), scoring="neg_log_loss")
    search.fit(X.iloc[train], three[train])
    nested = cross_val_score(search, X.iloc[train], three[train], cv=3, scoring="neg_log_loss")
    assert found.flat == pytest.approx(-search.best_score_)
    assert found.nested == pytest.approx(-nested.mean())
    assert found.future == pytest.approx(-search.score(X.iloc[test], three[test]))


def test_folds_of_flat_may_be_its_own() -> None:
    split, algorithm = halves(Y, 120, 0), Algorithm.of("knn", KNN, GRID)
    shared, own = one(algorithm, split), one(algorithm, split, has_own_folds=True)
    assert own.nested == shared.nested
    assert own.flat != shared.flat
    flat, nested, future = (getattr(own, name) for name in ("flat", "nested", "future"))
    assert 0.5 < min(flat, nested, future) <= max(flat, nested, future) <= 1
    # With one configuration nested cross-validation chooses nothing: both differ by their folds alone.
    fixed = Algorithm.of("knn", KNN, {"kneighborsclassifier__n_neighbors": [3]})
    shared, own = one(fixed, split), one(fixed, split, has_own_folds=True)
    assert shared.flat == shared.nested
    assert own.flat != own.nested


def test_a_metric_that_no_model_can_be_read_for_is_a_failure_with_a_reason() -> None:
    scoring = RowScoring(metric_named("log_loss"), truth_of(Y, "binary"))
    split = halves(Y, 120, 0)
    machine = Algorithm.of("svm", make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]})
    (found,) = algorithm_results([machine], X, scoring, split, CrossValidation(3), 3, ())
    assert np.isnan(found.flat)
    assert found.reason == "it has no predict_proba, which log_loss reads"

"""Bounds on real tables: what is drawn and scored, and that what is found depends on nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout._streams import numpy_seed, stream
from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.folds.plans import KFolds
from heldout.folds.splits import make_folds
from heldout.spaces import CoxRegression
from heldout_papers.censored import censored_times
from heldout_papers.intervals.methods import METHODS, NoBound
from heldout_papers.intervals.on_tables import (
    intervals_on_tables,
    small_tables,
    unfit,
    usual_train_rows,
)
from heldout_papers.intervals.tables_result import WHAT, IntervalsOnTables
from heldout_papers.tables import TableFile, tables_in

GRID = {"n_neighbors": [1, 3, 5, 9], "weights": ["uniform", "distance"]}
SPACE = [("knn", KNeighborsClassifier(), GRID)]
SMALL: dict[str, Any] = {"space": SPACE, "n_bootstraps": 40, "random_state": 3, "n_jobs": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables: one of two clouds, one of 250 rows of which 15 are of the rarer class."""
    place = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for name, n, rare in (("clouds", 300, 120), ("rare", 250, 15)):
        y = np.arange(n) < rare
        X = rng.normal(size=(n, 3)) + 0.9 * y[:, None]
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(target=np.where(y, "yes", "no"))
        frame.to_csv(place / f"{name}.csv", index=False)
    pd.DataFrame({"a": range(9), "target": range(9)}).to_csv(place / "numbers.csv", index=False)
    return place


@pytest.fixture(scope="module")
def study(folder: Path) -> IntervalsOnTables:
    return intervals_on_tables(folder, repetitions=3, **SMALL)


def test_a_repetition_is_a_search_and_what_its_winners_are_worth_elsewhere(folder: Path, study: Any) -> None:
    """All of it again, with scikit-learn's own fits and ``heldout.estimate``."""
    (table,) = tables_in(folder, names=["clouds"]).tables
    X, y = table.read()
    X = X.to_numpy()
    place = (table.digest, 50, 1)
    seed = numpy_seed(3, "study intervals on tables rows", *place)
    train, rest = train_test_split(np.arange(300), train_size=50, stratify=y, random_state=seed)
    own = stream(3, "study intervals on tables cells", *place)
    folds = make_folds(Task(X[train], truth_of(y[train])), KFolds(10), entropy=own)
    models = [KNeighborsClassifier(**params) for params in ParameterGrid(GRID)]
    scores = np.empty((50, len(models)))
    for split in folds.splits:
        for j, model in enumerate(models):
            fitted = clone(model).fit(X[train][split.train], y[train][split.train])
            scores[split.test, j] = fitted.predict_proba(X[train][split.test])[:, 1]

    for name in ("bbc", "bbc_f", "delong"):
        found = ho.estimate(
            y[train], scores, metric="roc_auc", method=METHODS[name], folds=folds.labels[:, 0], n_bootstraps=40,
            alternative="greater", response="decision", random_state=own,
        )  # fmt: skip
        assert found.interval is not None
        fitted = clone(models[found.selected]).fit(X[train], y[train])
        worth = roc_auc_score(y[rest], fitted.predict_proba(X[rest])[:, 1])
        mine = {what: study.columns[0][what][1, study.methods.index(name)] for what in WHAT}
        assert mine["selected"] == found.selected, name
        assert mine["low"] == pytest.approx(found.interval.low, abs=1e-12), name
        assert mine["truth"] == pytest.approx(worth, abs=1e-12), name
        assert mine["failure"] == ""


def test_a_rare_class_has_fewer_folds_and_no_two_parts(study: IntervalsOnTables) -> None:
    """Three rows of 50 are of the rarer class of ``rare``: three folds, for which 75 % of three are too few."""
    rows = {row["method"]: row for row in study.rows() if row["table"] == "rare"}

    assert rows["delong"]["failures"] == f"{NoBound.TOO_FEW_ROWS}: 100%"
    assert np.isnan(rows["delong"]["inclusion"]) and rows["delong"]["failed"] == 1
    assert rows["bbc"]["failed"] == 0
    assert np.isnan(rows["bbc"]["rank"])  # a table on which a method has no result has no ranks


def test_tables_that_do_not_fit_are_named(study: IntervalsOnTables) -> None:
    assert [place.table for place in study.places] == ["clouds", "rare"]
    assert set(study.left_out) == {"numbers"}


def test_more_repetitions_begin_with_fewer_and_are_kept(folder: Path, study: Any, tmp_path: Path) -> None:
    first = intervals_on_tables(folder, repetitions=2, folder=tmp_path, **SMALL)
    done: list[int] = []
    again = intervals_on_tables(
        folder, repetitions=3, folder=tmp_path, told=lambda n, total, seconds: done.append(n), **SMALL
    )

    assert done == [5, 6]  # two of the six were left to do
    for one, other, whole in zip(first.columns, again.columns, study.columns, strict=True):
        assert np.array_equal(one["low"], whole["low"][:2], equal_nan=True)
        assert np.array_equal(other["low"], whole["low"], equal_nan=True)


def test_processes_and_methods_change_nothing(folder: Path, study: IntervalsOnTables) -> None:
    asked = {**SMALL, "n_jobs": 2}
    fewer = intervals_on_tables(folder, repetitions=3, names=["clouds"], methods=["bbc_f", "bbc"], **asked)

    assert fewer.methods == ("bbc", "bbc_f")
    for what in ("low", "truth", "selected"):
        assert np.array_equal(fewer.columns[0][what], study.columns[0][what][:, :2])


class Refusing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Cannot be fitted."""

    def fit(self, X: Any, y: Any) -> Refusing:
        raise ValueError("no")


def test_a_configuration_that_fails_is_never_chosen(folder: Path) -> None:
    space = [("refusing", Refusing(), {}), ("knn", KNeighborsClassifier(), {"n_neighbors": [3, 5]})]
    found = intervals_on_tables(folder, names=["clouds"], repetitions=1, **{**SMALL, "space": space})

    assert set(found.columns[0]["selected"].ravel().tolist()) <= {1, 2}
    assert np.isfinite(found.columns[0]["low"][0, :2]).all()


class RefusingMany(KNeighborsClassifier):
    """Cannot be fitted on a whole training set."""

    def fit(self, X: Any, y: Any) -> RefusingMany:
        if len(X) >= 50:
            raise ValueError("no")
        return super().fit(X, y)


def test_a_choice_that_cannot_be_fitted_on_all_rows_is_a_failure_and_no_miss(folder: Path) -> None:
    space = [("knn", RefusingMany(), {"n_neighbors": [3, 5]})]
    found = intervals_on_tables(
        folder, names=["clouds"], repetitions=1, methods=["bbc", "naive_bootstrap"], **{**SMALL, "space": space}
    )

    assert {each.failures.get(NoBound.NOT_REFITTED) for each in found.of_place(0).values()} == {1.0}
    assert np.isnan(found.columns[0]["low"]).all() and (found.columns[0]["selected"] == -1).all()


def test_small_tables_are_those_that_can_be_studied(folder: Path) -> None:
    assert small_tables(folder, 1) == ["rare"]
    assert small_tables(folder, 5) == ["rare", "clouds"]
    assert small_tables(folder, 5, train_rows=140) == ["clouds"]


def test_a_study_is_made_again_from_its_table(study: IntervalsOnTables, tmp_path: Path) -> None:
    path = tmp_path / "each.parquet"
    study.to_frame(each=True).to_parquet(path, index=False)
    again = IntervalsOnTables.from_frame(pd.read_parquet(path), n_bootstraps=40, space=study.space, entropy=3)

    assert again.parameters() | {"left_out": {}} == study.parameters() | {"left_out": {}}
    pd.testing.assert_frame_equal(again.to_frame(), study.to_frame(), rtol=1e-5, atol=1e-6)


def test_a_table_of_something_else_is_refused(study: IntervalsOnTables) -> None:
    frame = study.to_frame(each=True)

    with pytest.raises(InputError, match="needs a column 'low'"):
        IntervalsOnTables.from_frame(frame.drop(columns="low"))
    with pytest.raises(InputError, match="table clouds lacks a method"):
        IntervalsOnTables.from_frame(frame.iloc[1:])
    with pytest.raises(InputError, match="studied equally often"):
        IntervalsOnTables.from_frame(frame.iloc[len(METHODS) :])


def test_the_articles_tables_get_the_articles_training_sets() -> None:
    small = (1000, 4601, 6598, 5404, 11055)
    large = (45312, 15545, 34465, 48842, 45211, 14980)

    assert {usual_train_rows(n) for n in small} == {50}
    assert {usual_train_rows(n) for n in large} == {500}


def test_what_leaves_too_few_rows_is_unfit() -> None:
    assert unfit(TableFile("t", "d", 99, 3, 0.5, "p"), 50) == (
        "it has 99 rows, and a training set of 50 would leave too few to score on"
    )
    assert unfit(TableFile("t", "d", 1000, 3, 0.03, "p"), 50) == (
        "a training set of 50 would have 1.5 rows of the rarer class"
    )
    assert unfit(TableFile("t", "d", 100, 3, 0.04, "p"), 50) is None


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"train_rows": 3}, "train_rows must be a whole number from 4 on, got 3."),
        ({"train_rows": 200}, "no table is fit for the study; left out were"),
        ({"names": ["clouds"], "train_rows": 200}, "table clouds cannot be used: it has 300 rows"),
        ({"methods": "tt"}, "methods of a binary task must be some of bbc, bbc_f"),
        ({"space": "heavy"}, "space must be one of light, tsamardinos2018, quick, standard, got"),
        ({"configurations": 1}, "configurations must be"),
        ({"confidence_level": 1.0}, "confidence_level must be above .5 and below 1, got 1.0."),
        ({"repetitions": 0}, "repetitions must be a whole number from 1 on, got 0."),
    ],
    ids=["few rows", "many rows", "a table", "methods", "space", "configurations", "level", "repetitions"],
)
def test_bad_input_is_one_sentence(folder: Path, asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.replace("(", r"\(")):
        intervals_on_tables.job(folder, **asked)


KNN: list[Any] = [("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})]
BRIEFLY: dict[str, Any] = {
    "repetitions": 2, "n_bootstraps": 30, "methods": ["bbc", "bbc_f"], "random_state": 0, "n_jobs": 1,
}  # fmt: skip


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(("metric", "by_hand"), [("accuracy", accuracy_score), ("f1", f1_score)])
def test_the_truth_of_labels(tmp_path: Path, metric: str, by_hand: Any) -> None:
    """The winner again, fitted on the training rows and scored on all others; the rarer class is positive."""
    load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 30]].to_parquet(tmp_path / "cancer.parquet")
    study = intervals_on_tables(tmp_path, metric=metric, space=KNN, train_rows=60, **BRIEFLY)
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:, :2], (y == 0).astype(int)
    digest = intervals_on_tables.job(tmp_path, space=KNN, train_rows=60).plan.settings[0].table.digest
    for repetition in range(2):
        seed = numpy_seed(study.entropy, "study intervals on tables rows", digest, 60, repetition)
        train, rest = train_test_split(np.arange(len(y)), train_size=60, stratify=y, random_state=seed)
        selected = int(study.columns[0]["selected"][repetition, 0])
        model = KNeighborsClassifier([1, 5, 9][selected]).fit(X[train], y[train])
        assert study.columns[0]["truth"][repetition, 0] == pytest.approx(by_hand(y[rest], model.predict(X[rest])))
        assert study.columns[0]["low"][repetition, 0] < study.columns[0]["value"][repetition, 0]
    assert study.parameters()["metric"] == metric
    assert study.page().claims == ()


@pytest.mark.usefixtures("without_pictures")
def test_censored_times_on_tables(tmp_path: Path) -> None:
    target, risk = censored_times(np.random.default_rng(0), 300, 0.6)
    columns = {
        "target": target["time"],
        "a": risk + np.random.default_rng(1).normal(size=300),
        "b": np.arange(300) % 7,
    }
    frame = pd.DataFrame(columns).assign(died=target["event"].astype(int))
    frame.to_parquet(tmp_path / "times.parquet")
    cox: list[Any] = [("cox", CoxRegression(), {"alpha": [0.0, 10.0]})]
    study = intervals_on_tables(tmp_path, event="died", space=cox, **BRIEFLY)

    assert study.metric == "concordance_index"
    assert ((study.columns[0]["truth"] > 0.55) & (study.columns[0]["truth"] < 0.85)).all()
    assert (study.columns[0]["low"] < study.columns[0]["value"]).all()
    assert "concordances" in str(study.page().settings["performances"])
    with pytest.raises(InputError, match="the space light is of classes, got `event='died'`; take another"):
        intervals_on_tables.job(tmp_path, event="died")
    with pytest.raises(InputError, match="metric must be concordance_index for a survival task, got 'f1'"):
        intervals_on_tables.job(tmp_path, event="died", metric="f1", space=cox)

"""``--space FILE.py:NAME``: own models, lists, search objects and functions, and files that define none."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forked import Forked

from heldout.cli.python_file import OwnSpace

Command = Callable[..., Any]
Write = Callable[..., Path]

SPACE = """
import numpy as np
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.experimental import enable_halving_search_cv
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline

import heldout as ho


class Prior(ClassifierMixin, BaseEstimator):
    def __init__(self, add=1.0):
        self.add = add

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.shares_ = (counts + self.add) / (counts + self.add).sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class KeepsColumns(Prior):
    def fit(self, X, y):
        self.means_ = X.select_dtypes("number").mean()
        return super().fit(X, y)


prior = Prior(add=2.0)
keeps_columns = KeepsColumns()
models = [("prior", Prior(), {"add": [1.0, 2.0]}), ("alone", Prior())]
grid_search = GridSearchCV(Prior(), {"add": [1.0, 2.0, 3.0]})
random_search = RandomizedSearchCV(Prior(), {"add": loguniform(0.1, 10)}, n_iter=4)
of_models = ho.HeldOutSearchCV(models[:1])
halving = HalvingGridSearchCV(Prior(), {"add": [1.0, 2.0]})


def of_data(X, y):
    model = make_pipeline(ho.spaces.default_preprocessing(X), LogisticRegression())
    return [("logistic", model, {"logisticregression__C": [0.1, 1.0 + len(set(y))]})]


def suggest(trial):
    return Prior(trial.suggest_float("add", 0.1, 10))


def suggest_params(trial):
    return {"add": trial.suggest_float("add", 0.1, 10)}


def suggest_of_data(X, y):
    prepare = ho.spaces.default_preprocessing(X)

    def proposed(trial):
        return make_pipeline(prepare, LogisticRegression(C=trial.suggest_float("C", 0.01, 10, log=True)))

    return proposed


optuna_search = ho.HeldOutOptunaSearchCV(Prior(), suggest_params, n_trials=3)
"""


TALKS = """
from sklearn.dummy import DummyClassifier


class Talks(DummyClassifier):
    def fit(self, X, y):
        print("a fit prints", flush=True)
        return super().fit(X, y)


print("the file prints")
talks = Talks()
"""
COMMAND = """
import os, sys
from heldout.cli import main
from joblib.externals.loky import get_reusable_executor

os.chdir(sys.argv[1])
try:
    main(sys.argv[2:])
finally:
    get_reusable_executor().shutdown()  # a forked process ends without the functions of atexit, which do this
"""


@pytest.fixture(autouse=True)
def modules_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("own_space_of_rows", None)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file, in the current folder."""
    (tmp_path / "own_space_of_rows.py").write_text(SPACE)
    monkeypatch.chdir(tmp_path)
    return "own_space_of_rows.py"


X, Y = np.zeros((6, 1)), np.array(["a", "b"] * 3)


@pytest.mark.parametrize(
    ("name", "names", "search", "size"),
    [
        ("prior", ["Prior"], None, None),
        ("models", ["prior", "alone"], None, None),
        ("grid_search", ["Prior"], "grid", None),
        ("random_search", ["Prior"], "random", 4),
        ("of_models", ["prior"], "grid", None),
        ("halving", ["HalvingGridSearchCV"], None, None),
        ("of_data", ["logistic"], None, None),
    ],
)
def test_every_form_of_a_space(own: str, name: str, names: list[str], search: str | None, size: int | None) -> None:
    space = OwnSpace.of(f"{own}:{name}").space(X, Y)
    assert (space.names, space.search, space.size) == (names, search, size)


def test_the_values_of_a_space(own: str) -> None:
    def values(name: str) -> Any:
        return OwnSpace.of(f"{own}:{name}").space(X, Y)

    assert values("prior").values == {} and values("grid_search").values == {"add": [1.0, 2.0, 3.0]}
    assert [entry[2] for entry in values("models").estimator] == [{"add": [1.0, 2.0]}, {}]
    assert values("of_data").estimator[0][2] == {"logisticregression__C": [0.1, 3.0]}


QUICK = ["--target", "outcome", "--n-bootstraps", "20", "--metric", "accuracy", "--cv", "3"]


def test_workers_know_its_classes_and_a_resumed_run_knows_their_source(
    command: Command, table: Write, own: str, tmp_path: Path
) -> None:
    path, run = table(), ["--space", f"{own}:models", "--n-jobs", "2", "--json"]
    ended = command("tune", path, *QUICK, *run)
    assert ended.code == 0, ended
    document = json.loads(ended.out)
    assert document["n_configurations"] == 3 and not document["failures"]
    assert "not reviewed: own_space_of_rows.Prior" in ended.err

    again = command("tune", path, *QUICK, *run, "--resume")
    assert json.loads(again.out)["n_fits_resumed"] == 9 and json.loads(again.out)["value"] == document["value"]

    (tmp_path / own).write_text(
        SPACE.replace("len(set(y))", "len({*y})")
    )  # the class is as before, its file is not
    sys.modules.pop("own_space_of_rows")
    changed = command("tune", path, *QUICK, *run, "--resume")
    assert changed.code == 2 and "started by other code (source of own_space_of_rows.Prior" in changed.last


def test_the_search_object_decides_the_kind_and_number(command: Command, table: Write, own: str) -> None:
    path = table()
    ended = command("tune", path, *QUICK, "--n-jobs", "1", "--space", f"{own}:random_search")
    assert ended.code == 0 and "Plan: 4 configurations drawn at random (Prior) x 3 folds" in ended.out

    ended = command(
        "tune", path, *QUICK, "--n-jobs", "1", "--space", f"{own}:random_search", "--n-iter", "2", "--out", "b"
    )
    assert ended.code == 0 and "Plan: 2 configurations drawn at random (Prior) x 3 folds" in ended.out


def test_a_function_of_a_trial_needs_no_data(own: str) -> None:
    space = OwnSpace.of(f"{own}:suggest").space(X, Y)
    assert (space.estimator, space.names, space.search) == (None, [], "optuna")
    made = OwnSpace.of(f"{own}:suggest_of_data").space(X, Y)
    assert made.estimator is None and made.search == "optuna"


def test_a_search_object_by_optuna(own: str) -> None:
    pytest.importorskip("optuna")
    space = OwnSpace.of(f"{own}:optuna_search").space(X, Y)
    assert (space.names, space.search, space.size) == (["Prior"], "optuna", 3)


def test_trials_of_a_function_are_estimated(command: Command, table: Write, own: str) -> None:
    pytest.importorskip("optuna")
    options = ["--n-jobs", "1", "--space", f"{own}:suggest_of_data", "--n-trials", "4"]
    ended = command("tune", table(), *QUICK, *options)
    assert ended.code == 0, ended
    assert "Plan: 4 configurations proposed by Optuna x 3 folds = 12 fits, seed 0." in ended.out
    assert "The search was adaptive" in ended.out
    (winner,) = [line for line in ended.out.splitlines() if line.startswith("winner")]
    assert winner.startswith("winner          Pipeline (C=")


def test_a_model_that_skops_cannot_save_costs_no_other_file(
    command: Command, table: Write, own: str, tmp_path: Path
) -> None:
    """skops cannot save a fitted model that holds a column of pandas."""
    options = ["--target", "outcome", "--n-jobs", "1", "--n-bootstraps", "20", "--cv", "3", "--out", tmp_path / "o"]
    ended = command("tune", table(), *options, "--space", f"{own}:keeps_columns", "--json")
    assert ended.code == 0, ended
    assert "The model could not be saved as model.skops (TypeError: " in ended.err
    assert sorted(json.loads(ended.out)["files"]) == ["card", "estimate", "methods", "predictions", "report", "run"]
    assert not (tmp_path / "o" / "model.skops").exists() and (tmp_path / "o" / "report.html").exists()


def test_what_own_code_prints_does_not_enter_the_document(table: Write, tmp_path: Path) -> None:
    """A process of its own, because workers write to the number of the stream."""
    (tmp_path / "talks.py").write_text(TALKS)
    options = ["--target", "outcome", "--n-jobs", "2", "--method", "none", "--cv", "2", "--json", "--space"]
    process = Forked(COMMAND, tmp_path, "tune", table(), *options, "talks.py:talks")
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert json.loads(printed)["winner"]["name"] == "Talks"
    assert "the file prints" in errors and "a fit prints" in errors

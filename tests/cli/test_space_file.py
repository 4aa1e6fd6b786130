"""``--space FILE.py:NAME``: own models, lists, search objects and functions, and files that define none."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forked import Forked

from heldout.cli.python_file import OwnSpace

Run = Callable[..., Any]

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


X, Y = np.zeros((6, 1)), np.array(["a", "b"] * 3)
TUNE = "tune data.csv --target outcome --n-bootstraps 20 --metric accuracy --cv 3 --n-jobs 1 --space own_space.py"

pytestmark = pytest.mark.usefixtures("files")


def own(name: str) -> Any:
    """A space of ``own_space.py``, which ``refused_files.py`` holds."""
    return OwnSpace.of(f"own_space.py:{name}").space(X, Y)


@pytest.mark.parametrize(
    ("name", "names", "search", "size"),
    [
        ("prior", ["Prior"], None, None),
        ("models", ["near", "tree"], None, None),
        ("grid_search", ["Prior"], "grid", None),
        ("random_search", ["Prior"], "random", 4),
        ("of_models", ["prior"], "grid", None),
        ("halving", ["HalvingGridSearchCV"], None, None),
        ("of_data", ["logistic"], None, None),
        ("suggest", [], "optuna", None),
        ("suggest_of_data", [], "optuna", None),
        ("optuna_search", ["KNeighborsClassifier"], "optuna", 3),
    ],
)
def test_every_form_of_a_space(name: str, names: list[str], search: str | None, size: int | None) -> None:
    space = own(name)
    assert (space.names, space.search, space.size) == (names, search, size)
    assert (space.estimator is None) == name.startswith("suggest")


def test_the_values_of_a_space() -> None:
    assert own("prior").values == {} and own("grid_search").values == {"add": [1.0, 2.0, 3.0]}
    assert [entry[2] for entry in own("models").estimator] == [{"n_neighbors": [1, 3]}, {}]
    assert own("of_data").estimator[0][2] == {"logisticregression__C": [0.1, 3.0]}


def test_workers_know_its_classes_and_a_resumed_run_knows_their_source(run: Run, refused: Run) -> None:
    asked = f"{TUNE}:priors --n-jobs 2 --json"
    ended = run(asked)
    found = json.loads(ended.out)
    assert found["n_configurations"] == 3 and not found["failures"]
    assert "not reviewed: own_space.Prior" in ended.err
    again = json.loads(run(f"{asked} --resume").out)
    assert again["n_fits_resumed"] == 9 and again["value"] == found["value"]
    file = Path("own_space.py")
    file.write_text(file.read_text().replace("len(set(y))", "len({*y})"))  # the class is as before, its file is not
    sys.modules.pop("own_space")
    assert "started by other code (source of own_space.Prior" in refused(f"{asked} --resume")


def test_the_search_object_decides_the_kind_and_number(run: Run) -> None:
    ended = run(f"{TUNE}:random_search")
    assert "Plan: 4 configurations drawn at random (Prior) x 3 folds" in ended.out
    ended = run(f"{TUNE}:random_search --n-iter 2 --out b")
    assert "Plan: 2 configurations drawn at random (Prior) x 3 folds" in ended.out


def test_trials_of_a_function_are_estimated(run: Run) -> None:
    pytest.importorskip("optuna")
    ended = run(f"{TUNE}:suggest_of_data --n-trials 4")
    assert "Plan: 4 configurations proposed by Optuna x 3 folds = 12 fits, seed 0." in ended.out
    assert "The search was adaptive" in ended.out
    (winner,) = [line for line in ended.out.splitlines() if line.startswith("winner")]
    assert winner.startswith("winner          Pipeline (C=")


def test_a_model_that_skops_cannot_save_costs_no_other_file(run: Run) -> None:
    """skops cannot save a fitted model that holds a column of pandas."""
    ended = run(f"{TUNE}:keeps_columns --out o --json")
    assert "The model could not be saved as model.skops (TypeError: " in ended.err
    assert sorted(json.loads(ended.out)["files"]) == ["card", "estimate", "methods", "predictions", "report", "run"]
    assert not Path("o/model.skops").exists() and Path("o/report.html").exists()


def test_what_own_code_prints_does_not_enter_the_document(tmp_path: Path) -> None:
    """A process of its own, because workers write to the number of the stream."""
    Path("talks.py").write_text(TALKS)
    options = "--target outcome --n-jobs 2 --method none --cv 2 --json --space talks.py:talks"
    process = Forked(COMMAND, tmp_path, "tune", "data.csv", *options.split())
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert json.loads(printed)["winner"]["name"] == "Talks"
    assert "the file prints" in errors and "a fit prints" in errors

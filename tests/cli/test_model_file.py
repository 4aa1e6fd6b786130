"""Models from files of the user's."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LinearRegression, LogisticRegression

import heldout as ho
from heldout.cli.python_file import models_of_file
from heldout.cli.validate import check_model
from heldout.errors import InputError
from heldout.imputation.pooled import PooledModel

Run = Callable[..., Any]

CLASS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

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

model = Prior(add=2.0)
"""


@pytest.fixture(autouse=True)
def modules_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("heldout_models_", "prior_of_rows", "beside")):
            del sys.modules[name]


def written(tmp_path: Path, text: str, name: str = "prior_of_rows.py") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_class_of_the_file_can_be_sent_to_workers_and_saved(tmp_path: Path) -> None:
    model = models_of_file(written(tmp_path, CLASS))

    X, y = np.zeros((6, 1)), np.array([0, 0, 0, 0, 1, 1])
    (fitted,) = joblib.Parallel(n_jobs=2)([joblib.delayed(type(model).fit)(model, X, y)])
    assert fitted.predict_proba(X)[0].tolist() == [0.6, 0.4]
    # By the name that "import" in the file's folder finds, so that the saved model can be loaded there.
    assert type(model).__module__ == "prior_of_rows"
    skops.io.dump(fitted, tmp_path / "m.skops")
    assert skops.io.load(tmp_path / "m.skops", trusted=["prior_of_rows.Prior"]).add == 2.0


def test_a_name_that_is_taken_hides_no_module(tmp_path: Path) -> None:
    import statistics

    model = models_of_file(written(tmp_path, CLASS, "statistics.py"))
    assert type(model).__module__ == "heldout_models_statistics"
    assert sys.modules["statistics"] is statistics


def test_a_file_may_import_one_beside_it(tmp_path: Path) -> None:
    written(tmp_path, "SHRINKAGE = 0.25\n", "beside.py")
    text = "from beside import SHRINKAGE\nfrom sklearn.linear_model import Ridge\nmodel = Ridge(SHRINKAGE)\n"
    assert models_of_file(written(tmp_path, text)).alpha == 0.25


def test_a_list_of_models(tmp_path: Path) -> None:
    text = "from sklearn.linear_model import Ridge\nmodel = [('weak', Ridge(1.0)), ('strong', Ridge(9.0))]\n"
    assert [name for name, _ in models_of_file(written(tmp_path, text))] == ["weak", "strong"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_like_it", "could not be run (ModuleNotFoundError: No module named 'nothing_like_it')."),
        ("raise SystemExit('no')", "could not be run (SystemExit: no)."),
        ("model = (", "could not be run (SyntaxError: '(' was never closed"),
        ("models = 3", "must define a variable model: an estimator, or a list of (name, estimator)."),
        ("model = 3", "must be a scikit-learn estimator or a list of (name, estimator), got 3."),
        ("model = [3]", "must be a scikit-learn estimator or a list of (name, estimator), got [3]."),
        ("model = []", "is an empty list; give at least one (name, estimator)."),
        ("from sklearn.svm import SVC as model", "must be a scikit-learn estimator or a list of (name, estimator)"),
    ],
    ids=["import", "exit", "syntax", "absent", "number", "list", "empty", "class"],
)
def test_files_that_define_no_model(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        models_of_file(written(tmp_path, text))
    assert said in str(caught.value)


def test_a_saved_model_is_taken_unfitted(tmp_path: Path) -> None:
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    skops.io.dump(LogisticRegression(C=3.0).fit(X, y), tmp_path / "m.skops")
    found = models_of_file(tmp_path / "m.skops")
    assert found.C == 3.0 and not hasattr(found, "coef_")


def test_of_a_pooled_model_its_members_are_what_is_fitted(tmp_path: Path) -> None:
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    skops.io.dump(PooledModel((LinearRegression().fit(X, y), LinearRegression().fit(X, -y))), tmp_path / "m.skops")
    assert isinstance(models_of_file(tmp_path / "m.skops"), LinearRegression)
    X[1] = np.nan
    imputed = ho.bootstrap_validate(LinearRegression(), X, y, metric="r2", imputation=2, n_bootstraps=2)
    ho.save_model(imputed.model, tmp_path / "imputed.skops")
    assert isinstance(models_of_file(tmp_path / "imputed.skops"), LinearRegression)


@pytest.mark.parametrize("name", ["none.py", "none.skops", "logit"])
def test_files_that_are_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        check_model((str(tmp_path / name),))


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read as a model: File is not a zip file \(BadZipFile\)"):
        models_of_file(written(tmp_path, "no", "m.skops"))
    with pytest.raises(InputError, match=r"must be a Python file \(\.py\)"):
        check_model((str(written(tmp_path, "no", "m.txt")),))
    skops.io.dump({"a": 1}, tmp_path / "d.skops")
    with pytest.raises(InputError, match="holds a dict, which cannot be fitted again"):
        models_of_file(tmp_path / "d.skops")


VALIDATE = "validate data.csv --target outcome --n-bootstraps 3 --metric roc_auc --model"


def test_the_command_takes_one_in_two_processes(run: Run, table: Callable[..., Path], tmp_path: Path) -> None:
    table()
    written(tmp_path, CLASS)
    ended = run(f"{VALIDATE} prior_of_rows.py --n-jobs 2 --json")
    found = json.loads(ended.out)
    assert found["selected_name"] == "prior_of_rows" and found["rows"]["roc_auc"]["apparent"] == 0.5
    assert "not reviewed: prior_of_rows.Prior; to load it, review each and call ho.load_model" in ended.err


def test_the_command_takes_a_saved_class_that_is_trusted(
    run: Run, refused: Run, table: Callable[..., Path], tmp_path: Path
) -> None:
    table()
    skops.io.dump(models_of_file(written(tmp_path, CLASS)), tmp_path / "m.skops")
    assert refused(f"{VALIDATE} m.skops") == (
        "Error: --model m.skops holds types that are not reviewed: prior_of_rows.Prior; review them, and if you "
        "trust each, load it with ho.load_model(path, trust=['prior_of_rows.Prior']), or with --trust "
        "prior_of_rows.Prior."
    )
    run(f"{VALIDATE} m.skops --trust prior_of_rows.Prior --n-jobs 1")
    said = "Error: --trust is for --model FILE.skops; use both, or leave it out."
    assert refused(f"{VALIDATE} logistic --trust a.B") == said

"""Saved models: what was reviewed loads without a question, and nothing else does unless it is trusted by name."""

import functools
import importlib
import json
import operator
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler
from sklearn.svm import SVC

import heldout as ho
from heldout.errors import InputError, MissingExtraError
from heldout.imputation.chained import ChainedImputer
from heldout.readers.saved_model import _FUNCTIONS, _TYPES, REVIEWED_TYPES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


def saved(model: Any, folder: Path) -> Path:
    skops.io.dump(model, folder / "model.skops")
    return folder / "model.skops"


@pytest.fixture
def attack(tmp_path: Path) -> tuple[Path, Path]:
    """A model that runs a shell command when it is fitted, and a list beside it that allows that; what it makes."""
    made = tmp_path / "made-by-the-model"
    texts = FunctionTransformer(np.full_like, kw_args={"fill_value": f"touch '{made}'", "dtype": object})
    path = saved(make_pipeline(texts, FunctionTransformer(np.vectorize(os.system)), SVC()), tmp_path)
    names = skops.io.get_untrusted_types(file=path)
    (tmp_path / "model.trusted.json").write_text(json.dumps(names))
    return path, made


@pytest.mark.skipif(os.name != "posix", reason="a shell command of POSIX")
def test_a_list_beside_the_model_decides_nothing(attack: tuple[Path, Path]) -> None:
    path, made = attack
    listed = json.loads(path.with_name("model.trusted.json").read_text())
    skops.io.load(path, trusted=listed)[:-1].fit_transform(X, Y)
    assert made.exists()  # so it would be, if the list decided
    made.unlink()

    with pytest.raises(InputError) as refused:
        ho.load_model(path)

    assert str(refused.value) == (
        f"{path} holds types that are not reviewed: numpy.full_like, numpy.vectorize, posix.system; review them, "
        "and if you trust each, load it with ho.load_model(path, trust=['numpy.full_like', 'numpy.vectorize', "
        "'posix.system']), or with --trust numpy.full_like --trust numpy.vectorize --trust posix.system."
    )
    assert not made.exists()


class Mine(BaseEstimator):  # type: ignore[misc]
    """A type that heldout has never seen."""

    def run(self, X: Any) -> Any:
        return X


CALLS = {
    "function": (os.getcwd, "posix.getcwd"),
    "built-in": (eval, "builtins.eval"),
    "partial": (functools.partial(np.log1p), "functools.partial"),
    "method-caller": (operator.methodcaller("tofile", "x"), "operator.methodcaller"),
    "method": (StandardScaler().fit, "sklearn.preprocessing._data.StandardScaler.fit"),
    "numpy": (np.save, "numpy.save"),
    "numpy-loader": (np.load, "numpy.load"),
    "scikit-learn": (importlib.import_module("sklearn.datasets").load_files, "sklearn.datasets._base.load_files"),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_calls_other_code_is_refused(name: str, tmp_path: Path) -> None:
    called, listed = CALLS[name]
    path = saved(FunctionTransformer(called), tmp_path)

    with pytest.raises(InputError, match="holds types that are not reviewed: ") as refused:
        ho.load_model(path)

    assert listed in str(refused.value)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), SVC(), memory="folder"),
        GridSearchCV(make_pipeline(SVC(), memory=None), {"memory": ["folder"]}),
        make_pipeline(GridSearchCV(make_pipeline(SVC()), [{"pipe__memory": np.array(["folder"])}])),
    ],
    ids=["memory", "grid", "nested"],
)
def test_a_cache_folder_is_refused_as_its_files_are_unpickled(model: Any, tmp_path: Path) -> None:
    path = saved(model, tmp_path)
    with pytest.raises(InputError, match=r"not reviewed: joblib\.memory\.Memory;"):
        ho.load_model(path)
    assert type(ho.load_model(path, trust=["joblib.memory.Memory"])) is type(model)


def test_types_that_a_user_trusts_are_loaded(tmp_path: Path) -> None:
    path = saved(Mine(), tmp_path)
    name = f"{Mine.__module__}.Mine"
    with pytest.raises(InputError, match=f"not reviewed: {name};"):
        ho.load_model(path, trust=["somebody.Else"])
    sys.modules.setdefault(Mine.__module__, sys.modules[__name__])
    assert isinstance(ho.load_model(path, trust=[name, "somebody.Else"]), Mine)


def classifiers() -> dict[str, Any]:
    searched = GridSearchCV(
        LogisticRegression(),
        {"C": [1.0, 2.0]},
        cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0),
        scoring="roc_auc",
    )
    return {
        "forest": RandomForestClassifier(3, random_state=0),
        "boosting": HistGradientBoostingClassifier(max_iter=3),
        "neighbours": KNeighborsClassifier(algorithm="ball_tree", metric="chebyshev"),
        "network": MLPClassifier((3,), max_iter=3, random_state=0),
        "process": GaussianProcessClassifier(RBF() + WhiteKernel()),
        "calibrated": CalibratedClassifierCV(LogisticRegression(), cv=2),
        "stack": StackingClassifier([("svc", SVC()), ("logistic", LogisticRegression())], cv=2),
        "threshold": TunedThresholdClassifierCV(LogisticRegression(), cv=2),
        "search": searched,
        "selected": make_pipeline(SelectKBest(k=2), SplineTransformer(), LogisticRegression()),
        "imputed": make_pipeline(ChainedImputer(), LogisticRegression()),
    }


@pytest.mark.parametrize("name", list(classifiers()))
def test_estimators_of_scikit_learn_and_heldout_load_without_a_question(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three steps are few for a network
        model = classifiers()[name].fit(X, Y)
    loaded = ho.load_model(str(saved(model, tmp_path)))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_every_reviewed_name_exists_and_is_of_its_kind() -> None:
    def objects(listed: Any) -> list[Any]:
        found = []
        for module, names in listed.items():
            try:
                home = importlib.import_module(module)
            except ImportError:
                continue  # of another version, or without its extra
            found += [getattr(home, name) for name in names.split() if hasattr(home, name)]
        return found

    types, functions = objects(_TYPES), objects(_FUNCTIONS)
    assert len(types) > 80 and len(functions) > 40
    assert all(isinstance(each, type) for each in types)
    assert not any(isinstance(each, type) for each in functions) and all(map(callable, functions))
    # A module that nobody has installed could be a file in the folder where the command is run.
    packages = {name.partition(".")[0] for name in REVIEWED_TYPES}
    assert packages == {"builtins", "heldout", "numpy", "scipy", "sklearn"}
    assert not any("PyFunc" in name for name in REVIEWED_TYPES)


@pytest.mark.parametrize("trust", ["sklearn.svm.SVC", [SVC], [3]], ids=["text", "type", "number"])
def test_trust_is_a_list_of_names(trust: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trust must be a list of full names of types"):
        ho.load_model(saved(SVC(), tmp_path), trust=trust)


def test_files_that_hold_no_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*none\.skops; give"):
        ho.load_model(tmp_path / "none.skops")
    with pytest.raises(InputError, match=r"cannot be read as a model"):
        ho.load_model(tmp_path)
    (tmp_path / "text.skops").write_text("no")
    with pytest.raises(InputError, match=r"cannot be read as a model: File is not a zip file \(BadZipFile\)"):
        ho.load_model(tmp_path / "text.skops")


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(SVC(), tmp_path)
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(MissingExtraError, match=r"heldout\[app\]"):
        ho.load_model(path)


@pytest.mark.skipif(os.name != "posix", reason="a shell command of POSIX")
def test_the_command_refuses_it_too(attack: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from heldout.cli.python_file import models_of_file

    path, made = attack
    loading: Callable[..., Any] = models_of_file
    with pytest.raises(InputError, match=r"^--model .*model\.skops holds types that are not reviewed: numpy\.full"):
        loading(path)
    assert not made.exists()
    names = ("numpy.full_like", "numpy.vectorize", "posix.system")
    assert loading(path, names).steps[-1][0] == "svc"


def test_the_winner_of_a_search_is_saved_and_loaded(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    search = ho.HeldOutSearchCV(LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}, method=None).fit(X, y)
    assert ho.save_model(search, tmp_path / "model.skops") == []
    again = ho.load_model(tmp_path / "model.skops")
    assert type(again) is LogisticRegression and again.C == search.best_params_["C"]
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))


class Stranger(LogisticRegression):
    """Of this file, so that nobody has reviewed it."""


def test_types_to_review_are_named_and_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    strangers = ho.save_model(Stranger(), str(tmp_path / "own.skops"))
    assert len(strangers) == 1 and strangers[0].endswith("Stranger")
    with pytest.raises(InputError, match="review them"):
        ho.load_model(tmp_path / "own.skops")
    with pytest.raises(InputError, match=r"path must be the path of a \.skops file, got 7"):
        ho.save_model(Stranger(), 7)
    with pytest.raises(InputError, match="cannot be saved in a skops file"):
        ho.save_model(Ridge(alpha=(number for number in range(3))), tmp_path / "none.skops")
    assert not (tmp_path / "none.skops").exists()

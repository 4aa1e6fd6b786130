"""Every scorer that scikit-learn names has an estimate from the run file, as the finished search has."""

import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    fbeta_score,
    get_scorer_names,
    make_scorer,
)

import heldout as ho
from heldout.errors import StoreError
from heldout.execution.store.unfinished_search import search_so_far

X, Y = make_classification(60, random_state=0)
LABELS = np.where(Y == 1, "a", "b")
XR, YR = make_regression(60, 3, noise=5.0, random_state=0)
OF_CLASSES = ["average_precision", "f1_macro", "neg_brier_score", "rand_score", "top_k_accuracy"]
OF_NUMBERS = ["r2", "neg_max_error"]


def check(path: Path, data: tuple[Any, Any], scoring: Any) -> None:
    model = Ridge() if data[1].dtype.kind == "f" else LogisticRegression()
    grid = {"alpha": [0.1, 1.0]} if isinstance(model, Ridge) else {"C": [0.1, 1.0]}
    settings: dict[str, Any] = {"cv": 3, "n_bootstraps": 5, "random_state": 0, "store": path, "refit": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = ho.HeldOutSearchCV(model, grid, scoring=scoring, **settings).fit(*data)
        found = search_so_far(path).estimate()
    assert found.value == search.estimate_.value or np.isnan(search.estimate_.value)
    assert found.metric == search.estimate_.metric


def test_some_of_each_kind(tmp_path: Path) -> None:
    for names, data in ((OF_CLASSES, (X, Y)), (OF_NUMBERS, (XR, np.abs(YR)))):
        for name in names:
            check(tmp_path / f"{name}.db", data, name)


@pytest.mark.parametrize(
    "function",
    [f1_score, lambda *a, **k: fbeta_score(*a, beta=2, **k), average_precision_score],
    ids=["f1", "own", "average_precision"],
)
def test_scorers_with_a_positive_class(tmp_path: Path, function: Any) -> None:
    """A function of the user's own is in no file, and refused."""
    ranks = ("decision_function", "predict_proba")
    method = ranks if function is average_precision_score else "predict"
    scorer = make_scorer(function, pos_label="a", response_method=method)
    own = function.__name__ == "<lambda>"
    with pytest.raises(StoreError, match="is an object of your own") if own else nullcontext():
        check(tmp_path / "run.db", (X, LABELS), scorer)


@pytest.mark.slow
@pytest.mark.parametrize("name", get_scorer_names())
def test_every_scorer(tmp_path: Path, name: str) -> None:
    for number, data in enumerate([(X, Y), (X, LABELS), (XR, np.abs(YR))]):
        try:
            check(tmp_path / f"{number}.db", data, name)
        except ho.InputError as error:  # of another kind of target
            assert not isinstance(error, StoreError)

"""Leave-one-out by formula gives the search that fits every row's model."""

import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.dropping import Bootstrap
from heldout.search import HeldOutSearchCV

RNG = np.random.default_rng(5)
N = 14
X = RNG.normal(size=(N, 4))
NUMBERS = X @ [1.0, -2.0, 0.5, 0.0] + RNG.normal(size=N)
CLASSES = (NUMBERS > 0).astype(int)
ALPHAS = {"alpha": [0.1, 1.0, 10.0]}

CASES: dict[str, tuple[Any, Any, Any, str]] = {
    "ridge": (Ridge(), ALPHAS, NUMBERS, "neg_mean_squared_error"),
    "one configuration": (Ridge(), {"alpha": [1.0]}, NUMBERS, "neg_mean_squared_error"),
    "ridge classifier": (RidgeClassifier(), ALPHAS, CLASSES, "accuracy"),
    "discriminant analysis": (
        LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": [0.1, 0.5]}, CLASSES, "accuracy"
    ),
    "kernel ridge": (KernelRidge(kernel="rbf"), ALPHAS, NUMBERS, "neg_mean_absolute_error"),
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]}, CLASSES, "accuracy"),
}  # fmt: skip


def search(
    estimator: Any, grid: Any, y: Any, scoring: Any, *, fit_params: Any = None, cv: Any = None, **settings: Any
) -> HeldOutSearchCV:
    settings = {"random_state": 0, "n_bootstraps": 10, "refit": False} | settings
    made = HeldOutSearchCV(estimator, grid, scoring=scoring, cv=LeaveOneOut() if cv is None else cv, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn, of scores of a single row
        return made.fit(X, y, **(fit_params or {}))


def check_same(one: HeldOutSearchCV, other: HeldOutSearchCV) -> None:
    assert one.best_index_ == other.best_index_
    assert one.cv_results_.keys() == other.cv_results_.keys()
    for name, column in other.cv_results_.items():
        if "test" in name:
            assert np.allclose(one.cv_results_[name], column, rtol=1e-11, atol=1e-11, equal_nan=True), name
    for response, values in other.predictions_.responses.items():
        assert np.allclose(
            one.predictions_.responses[response],
            values,
            rtol=0,
            atol=1e-12 * np.nanmax(np.abs(values)),
            equal_nan=True,
        )
    if other.estimate_ is None:
        assert one.estimate_ is None
    else:
        assert one.estimate_.value == pytest.approx(other.estimate_.value, rel=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_a_formula_gives_the_search_of_separate_fits(name: str) -> None:
    ours, alone = search(*CASES[name]), search(*CASES[name], share=False)
    check_same(ours, alone)
    assert ours.n_fits_ == alone.n_fits_ == ours.n_fits_shared_
    assert alone.n_fits_shared_ == 0
    assert {what.split()[-1] for what in ours.evaluation_.shared_fits} == {"formula"}


@pytest.mark.parametrize("name", ["ridge", "kernel ridge"])
def test_weights_belong_to_the_formula(name: str) -> None:
    weights = {"sample_weight": np.linspace(0.5, 2.0, len(X))}
    ours, alone = (search(*CASES[name], fit_params=weights, share=share) for share in ("exact", False))
    check_same(ours, alone)
    assert ours.n_fits_shared_ == 3 * N
    plain = search(*CASES[name])
    assert not np.allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def others(row: int) -> Any:
    return np.delete(np.arange(N), row)


FITTED: dict[str, Callable[[], dict[str, Any]]] = {
    "a step is fitted in the fold": lambda: {
        "estimator": make_pipeline(StandardScaler(), Ridge()), "grid": {"ridge__alpha": [0.1, 1.0]}
    },
    "a metric that one row does not define": lambda: {
        "scoring": ["neg_mean_squared_error", "r2"], "refit": "neg_mean_squared_error"
    },
    "a function of the user's": lambda: {
        "scoring": lambda model, X, y: -float(np.abs(model.predict(X) - y)[0]), "method": None
    },
    "scores on training rows": lambda: {"return_train_score": True},
    "folds of several rows": lambda: {"cv": 5},
    "a row too few": lambda: {"cv": [(others(i)[1:], [i]) for i in range(N)]},
    "a row that trains twice": lambda: {"cv": [(np.r_[others(i)[1:], others(i)[-1]], [i]) for i in range(N)]},
    "nothing shared": lambda: {"share": False},
}  # fmt: skip


@pytest.mark.parametrize("name", FITTED)
def test_these_are_fitted(name: str) -> None:
    settings = {"estimator": Ridge(), "grid": ALPHAS, "scoring": "neg_mean_squared_error"} | FITTED[name]()
    made = search(settings.pop("estimator"), settings.pop("grid"), NUMBERS, settings.pop("scoring"), **settings)
    assert not any("formula" in what for what in made.evaluation_.shared_fits)
    assert made.n_fits_ == len(made.cv_results_["params"]) * made.n_splits_


def test_log_loss_of_a_single_row_is_what_scikit_learn_makes_of_it() -> None:
    model = LinearDiscriminantAnalysis(solver="lsqr")
    ours, alone = (
        search(
            model, {"shrinkage": [0.1, 0.5]}, CLASSES, ["accuracy", "neg_log_loss"], refit="accuracy", share=share
        )
        for share in ("exact", False)
    )
    assert np.array_equal(
        ours.cv_results_["mean_test_neg_log_loss"], alone.cv_results_["mean_test_neg_log_loss"], equal_nan=True
    )


def test_a_value_that_the_formula_does_not_serve_is_fitted_beside_the_others() -> None:
    grid = {"alpha": [0.0, 1.0]}
    ours = search(Ridge(), grid, NUMBERS, "neg_mean_squared_error")
    check_same(ours, search(Ridge(), grid, NUMBERS, "neg_mean_squared_error", share=False))
    assert ours.n_fits_shared_ == N


def test_data_that_the_formula_does_not_serve_are_fitted() -> None:
    y = np.zeros(N, dtype=int)
    y[[3, 7]] = 1
    y[7] = 2
    ours, alone = (search(RidgeClassifier(), ALPHAS, y, "accuracy", share=share) for share in ("exact", False))
    assert np.array_equal(ours.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert not any("formula" in what for what in ours.evaluation_.shared_fits)


def test_a_run_file_holds_one_block_and_is_resumed_without_a_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = search(*CASES["ridge"], store=tmp_path / "run.db")
    with closing(sqlite3.connect(tmp_path / "run.db")) as file:
        assert file.execute("SELECT n_cells FROM block").fetchall() == [(3 * N,)]

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a model was fitted")

    monkeypatch.setattr(Ridge, "fit", never)
    monkeypatch.setattr("heldout.spaces.submodels.left_out._ridge_left_out", never)
    resumed = search(*CASES["ridge"], store=tmp_path / "run.db")
    assert resumed.estimate_.value == whole.estimate_.value
    assert np.array_equal(resumed.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"])
    assert resumed.n_fits_shared_ == 3 * N


def test_a_search_that_drops_configurations_judges_those_of_a_formula() -> None:
    grid = {"alpha": [0.1, 1e4, 1e5]}
    ours, alone = (
        search(Ridge(), grid, NUMBERS, "neg_mean_squared_error", drop=Bootstrap(min_predictions=6), share=share)
        for share in ("exact", False)
    )
    assert ours.evaluation_.dropped_at_split == alone.evaluation_.dropped_at_split != {}
    check_same(ours, alone)

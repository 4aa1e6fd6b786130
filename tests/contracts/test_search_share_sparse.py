"""Linear models on sparse rows and in single precision: shared, or fitted alone with the same results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier

from heldout.search import HeldOutSearchCV

N = 150
RANDOM = np.random.default_rng(0)
ROWS = np.where(RANDOM.random((N, 8)) < 0.4, RANDOM.normal(size=(N, 8)), 0.0)
SIGNAL = ROWS[:, 0] - ROWS[:, 1] + 0.3 * RANDOM.normal(size=N)


def searched(estimator: Any, grid: dict[str, list[float]], X: Any, share: Any) -> HeldOutSearchCV:
    y = SIGNAL > 0 if hasattr(estimator, "decision_function") else SIGNAL
    scoring = "roc_auc" if hasattr(estimator, "decision_function") else "r2"
    settings: Any = {"scoring": scoring, "cv": 3, "n_bootstraps": 10, "random_state": 0}
    return HeldOutSearchCV(estimator, grid, share=share, **settings).fit(X, y)


@pytest.mark.parametrize("convert", [sp.csr_array, np.float32], ids=["sparse", "single precision"])
@pytest.mark.parametrize("share", ["exact", "tolerance"])
@pytest.mark.parametrize("estimator", [Ridge(), RidgeClassifier()], ids=lambda estimator: type(estimator).__name__)
def test_ridge_is_fitted_alone(estimator: Any, share: str, convert: Callable[[Any], Any]) -> None:
    shared, alone = (searched(estimator, {"alpha": [0.1, 1.0]}, convert(ROWS), mode) for mode in (share, False))
    assert shared.n_fits_shared_ == 0
    for response, values in alone.predictions_.responses.items():
        np.testing.assert_array_equal(shared.predictions_.responses[response], values)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (LogisticRegression(tol=1e-10), {"C": [0.1, 1.0, 10.0]}),
        (Lasso(tol=1e-14), {"alpha": [0.001, 0.01, 0.1]}),
    ],
    ids=["logistic", "lasso"],
)
def test_penalties_share_fits_on_sparse_rows_but_not_in_single_precision(
    estimator: Any, grid: dict[str, list[float]]
) -> None:
    X = sp.csr_array(ROWS)
    alone, shared = (searched(estimator, grid, X, share) for share in (False, "tolerance"))
    assert shared.n_fits_shared_ == shared.n_fits_
    for response, values in alone.predictions_.responses.items():
        np.testing.assert_allclose(
            shared.predictions_.responses[response], values, atol=1e-5 * np.abs(values).max()
        )
    loose = clone(estimator).set_params(tol=1e-3)
    assert searched(loose, grid, ROWS.astype(np.float32), "tolerance").n_fits_shared_ == 0

"""scikit-survival's models and numbers, where it is installed."""

from typing import Any

import numpy as np
import pytest
from hazard import survival_data
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.metrics.base import Response
from heldout.metrics.survival_model import survival
from heldout.search import HeldOutSearchCV

pytest.importorskip("sksurv")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

X, Y = survival_data(150)
BRIER = "integrated_brier_score(times=[0.2, 0.5, 0.8])"


def models() -> dict[str, Any]:
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxPHSurvivalAnalysis, IPCRidge
    from sksurv.svm import FastSurvivalSVM, NaiveSurvivalSVM

    return {
        "cox": (CoxPHSurvivalAnalysis(), {"alpha": [0.1, 10.0, 1000.0]}),
        "pipeline": (
            make_pipeline(StandardScaler(), CoxPHSurvivalAnalysis()),
            {"coxphsurvivalanalysis__alpha": [1, 9]},
        ),
        "forest": (RandomSurvivalForest(20, random_state=0), {"min_samples_leaf": [5, 20]}),
        "boosting": (GradientBoostingSurvivalAnalysis(n_estimators=10, random_state=0), {"max_depth": [1, 2]}),
        "weighted ridge": (IPCRidge(), {"alpha": [0.1, 10.0]}),
        "machine": (FastSurvivalSVM(random_state=0), {"alpha": [0.1, 1.0]}),
        "machine of times": (
            FastSurvivalSVM(rank_ratio=0.0, fit_intercept=True, random_state=0),
            {"alpha": [0.1, 1]},
        ),
        "naive machine": (NaiveSurvivalSVM(random_state=0), {"alpha": [0.1, 1.0]}),
    }


@pytest.mark.parametrize(
    "name", ["cox", "pipeline", "forest", "boosting", "weighted ridge", "machine", "machine of times"]
)
def test_its_own_score_is_opened_and_the_search_is_that_of_scikit_learn(name: str) -> None:
    model, grid = models()[name]
    ours = HeldOutSearchCV(model, grid, cv=3, n_bootstraps=50, random_state=0).fit(X, Y)
    theirs = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert ours.best_params_ == theirs.best_params_ and ours.best_score_ == theirs.best_score_
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    named = HeldOutSearchCV(model, grid, cv=3, n_bootstraps=50, random_state=0, scoring="concordance_index").fit(
        X, Y
    )
    assert named.best_score_ == pytest.approx(ours.best_score_, abs=1e-12)
    assert named.estimate_.value == ours.estimate_.value
    assert ours.estimate_.metric == "concordance_index" and 0.5 < ours.estimate_.value < 1


def test_a_model_that_calls_itself_a_classifier_is_searched_without_strata() -> None:
    model, grid = models()["naive machine"]
    ours = HeldOutSearchCV(model, grid, cv=3, n_bootstraps=20, random_state=0).fit(X, Y)
    assert (ours.predictions_.folds.ravel() == np.repeat(range(3), 50)).all() and ours.best_score_ > 0.6


@pytest.mark.parametrize("name", ["cox", "pipeline", "forest", "boosting"])
def test_its_step_functions_are_read_at_any_time(name: str) -> None:
    model = models()[name][0].fit(X, Y)
    times = np.r_[np.unique(Y["days"])[[3, 50]], 0.123, 0.777]
    expected = np.stack([curve(times) for curve in model.predict_survival_function(X[:20])])
    np.testing.assert_allclose(survival(model, X[:20], times), expected, rtol=0, atol=1e-12)


def test_brier_scores_are_its_own() -> None:
    from sksurv.metrics import integrated_brier_score

    model, grid = models()["cox"]
    ours = HeldOutSearchCV(model, grid, cv=3, n_bootstraps=20, random_state=0, scoring=BRIER, aggregate="pooled")
    ours.fit(X, Y)
    held = ours.predictions_.responses[Response.SURVIVAL][:, ours.best_index_, 0]
    assert -ours.best_score_ == pytest.approx(integrated_brier_score(Y, Y, held, (0.2, 0.5, 0.8)), abs=1e-12)
    for train, test in KFold(3).split(X):
        fitted = model.set_params(**ours.best_params_).fit(X[train], Y[train])
        np.testing.assert_array_equal(held[test], survival(fitted, X[test], (0.2, 0.5, 0.8)))


def test_ipcw_bound_to_all_rows_is_its_own() -> None:
    from sksurv.metrics import concordance_index_ipcw

    model, grid = models()["cox"]
    ours = HeldOutSearchCV(
        model,
        grid,
        cv=3,
        n_bootstraps=20,
        random_state=0,
        scoring="concordance_index_ipcw(tau=1.5)",
        aggregate="pooled",
    ).fit(X, Y)
    held = ours.predictions_.responses[Response.RISK][:, ours.best_index_, 0]
    assert ours.best_score_ == pytest.approx(concordance_index_ipcw(Y, Y, held, tau=1.5, tied_tol=0)[0], abs=1e-12)


def test_its_wrappers_of_scores_cannot_be_opened() -> None:
    from sksurv.metrics import as_concordance_index_ipcw_scorer

    model = as_concordance_index_ipcw_scorer(models()["cox"][0], tau=1.5)
    grid = {"estimator__alpha": [0.1, 1000.0]}
    by_folds = HeldOutSearchCV(model, grid, cv=3, n_bootstraps=50, random_state=0).fit(X, Y)
    assert by_folds.estimate_.method == "bbc_f"
    theirs = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert by_folds.best_score_ == theirs.best_score_ and np.isfinite(by_folds.estimate_.value)
    assert np.isfinite(ho.correct(theirs, n_bootstraps=50, random_state=0).value)


def test_nested() -> None:
    model, grid = models()["cox"]
    nested = ho.nested_cv(model, X, Y, param_grid=grid, cv=3, random_state=0)
    assert nested.metric == "concordance_index" and 0.6 < nested.value < 1

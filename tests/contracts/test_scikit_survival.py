"""Models and numbers of scikit-survival and statsmodels, where these are installed."""

from typing import Any

import numpy as np
import pytest
from hazard import survival_data
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.imputation.settings import Imputation
from heldout.metrics.base import Response
from heldout.metrics.survival_model import survival
from heldout.protocols.drawn_rows import drawn_rows
from heldout.search import HeldOutSearchCV
from heldout.spaces import CoxRegression, StatsmodelsCox

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

X, Y = survival_data(150)
BRIER = "integrated_brier_score(times=[0.2, 0.5, 0.8])"


def models() -> dict[str, Any]:
    pytest.importorskip("sksurv")
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxPHSurvivalAnalysis, IPCRidge
    from sksurv.svm import FastSurvivalSVM, NaiveSurvivalSVM

    return {
        "cox": (CoxPHSurvivalAnalysis(), {"alpha": [0.1, 10.0, 1000.0]}),
        "pipeline": (
            make_pipeline(StandardScaler(), CoxPHSurvivalAnalysis()),
            {"coxphsurvivalanalysis__alpha": [1, 9]},
        ),
        "forest": (RandomSurvivalForest(10, random_state=0), {"min_samples_leaf": [5, 20]}),
        "boosting": (GradientBoostingSurvivalAnalysis(n_estimators=10, random_state=0), {"max_depth": [1, 2]}),
        "weighted ridge": (IPCRidge(), {"alpha": [0.1, 10.0]}),
        "machine of times": (
            FastSurvivalSVM(rank_ratio=0.0, fit_intercept=True, random_state=0),
            {"alpha": [0.1, 1]},
        ),
        "naive machine": (NaiveSurvivalSVM(random_state=0), {"alpha": [0.1, 1.0]}),
    }


@pytest.mark.parametrize("name", ["cox", "pipeline", "forest", "boosting", "weighted ridge", "machine of times"])
def test_its_own_score_is_opened_and_the_search_is_that_of_scikit_learn(name: str) -> None:
    model, grid = models()[name]
    ours = HeldOutSearchCV(model, grid, cv=3, n_bootstraps=20, random_state=0).fit(X, Y)
    theirs = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert ours.best_params_ == theirs.best_params_ and ours.best_score_ == theirs.best_score_
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    if name in ("cox", "machine of times"):
        asked = {"cv": 3, "n_bootstraps": 20, "random_state": 0, "scoring": "concordance_index"}
        named = HeldOutSearchCV(model, grid, **asked).fit(X, Y)
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
    pytest.importorskip("sksurv")
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
    pytest.importorskip("sksurv")
    from sksurv.metrics import concordance_index_ipcw

    model, grid = models()["cox"]
    asked = {"cv": 3, "n_bootstraps": 20, "random_state": 0, "aggregate": "pooled"}
    ours = HeldOutSearchCV(model, grid, scoring="concordance_index_ipcw(tau=1.5)", **asked).fit(X, Y)
    held = ours.predictions_.responses[Response.RISK][:, ours.best_index_, 0]
    assert ours.best_score_ == pytest.approx(concordance_index_ipcw(Y, Y, held, tau=1.5, tied_tol=0)[0], abs=1e-12)


def test_its_wrappers_of_scores_cannot_be_opened() -> None:
    pytest.importorskip("sksurv")
    from sksurv.metrics import as_concordance_index_ipcw_scorer

    model = as_concordance_index_ipcw_scorer(models()["cox"][0], tau=1.5)
    grid = {"estimator__alpha": [0.1, 1000.0]}
    by_folds = HeldOutSearchCV(model, grid, cv=3, n_bootstraps=20, random_state=0).fit(X, Y)
    assert by_folds.estimate_.method == "bbc_f"
    theirs = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert by_folds.best_score_ == theirs.best_score_ and np.isfinite(by_folds.estimate_.value)
    assert np.isfinite(ho.correct(theirs, n_bootstraps=50, random_state=0).value)


def test_nested() -> None:
    model, grid = models()["cox"]
    nested = ho.nested_cv(model, X, Y, param_grid=grid, cv=3, random_state=0)
    assert nested.metric == "concordance_index" and 0.6 < nested.value < 1


# Validated by bootstrap and nested.

TIMES = (0.2, 0.5, 0.8)
METRICS = ["concordance_index", BRIER, "calibration_slope"]


FEW, FEW_Y = survival_data(90)


def of_scikit_survival(name: str) -> Any:
    pytest.importorskip("sksurv")
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    cox = CoxPHSurvivalAnalysis(ties="efron", tol=1e-12)
    return {"cox": cox, "pipeline": make_pipeline(StandardScaler(), cox)}[name]


def cox_of(package: str) -> Any:
    if package == "statsmodels":
        pytest.importorskip("statsmodels")
        return StatsmodelsCox()
    return of_scikit_survival(package)


def validated(model: Any, x: Any = FEW, **settings: Any) -> Any:
    return ho.bootstrap_validate(
        model, x, FEW_Y, **{"n_bootstraps": 6, "random_state": 0, "interval": None, **settings}
    )


@pytest.mark.parametrize(
    ("package", "method"), [("cox", "optimism"), ("pipeline", "632+"), ("statsmodels", "optimism")]
)
def test_each_cox_regression_is_validated_as_our_own(package: str, method: Any) -> None:
    metrics = METRICS if method == "optimism" else METRICS[:1]
    theirs, ours = (validated(m, metric=metrics, method=method) for m in (cox_of(package), CoxRegression()))
    assert list(theirs.rows) == list(ours.rows) and len(ours.rows) == len(metrics)
    for name, row in ours.rows.items():
        other = theirs.rows[name]
        assert other.n_successful == row.n_successful == 6
        for part in ("apparent", "in_bootstrap", "on_original", "out_of_bag", "corrected"):
            assert getattr(other, part) == pytest.approx(getattr(row, part), abs=1e-6), (name, part)


def test_a_plain_loop_over_bootstraps_gives_the_same() -> None:
    model = of_scikit_survival("pipeline")
    from sksurv.metrics import brier_score, concordance_index_censored

    def index(fitted: Any, rows: Any) -> float:
        y, risks = FEW_Y[rows], fitted.predict(FEW[rows])
        return float(concordance_index_censored(y["died"], y["days"], risks, 0)[0])

    def brier(fitted: Any) -> float:
        return float(brier_score(FEW_Y, FEW_Y, survival(fitted, FEW, (0.5,)), 0.5)[1][0])

    found = validated(model, metric=["concordance_index", "brier_score_at(time=0.5)"], n_bootstraps=5)
    everybody, rows = np.arange(len(FEW)), []
    for counts in found.replicates.counts:
        drawn = drawn_rows(counts)
        fitted = clone(model).fit(FEW[drawn], FEW_Y[drawn])
        rows.append([index(fitted, drawn), index(fitted, everybody), index(fitted, counts == 0), brier(fitted)])
    inside, original, left, brier_there = np.mean(rows, axis=0)
    whole = clone(model).fit(FEW, FEW_Y)
    c, b = found.rows.values()
    assert [c.apparent, c.in_bootstrap, c.on_original, c.out_of_bag] == pytest.approx(
        [index(whole, everybody), inside, original, left], abs=1e-12
    )
    assert [b.apparent, b.on_original] == pytest.approx([brier(whole), brier_there], abs=1e-9)


def test_coefficients_are_pooled_over_imputations() -> None:
    pytest.importorskip("statsmodels")
    holes = np.where(np.random.default_rng(1).random(FEW.shape) < 0.1, np.nan, FEW)
    settings = {"x": holes, "metric": METRICS[:2], "imputation": Imputation(3), "n_bootstraps": 3}
    theirs, ours = (validated(model, **settings) for model in (StatsmodelsCox(), CoxRegression()))
    found, expected = theirs.coefficients.to_dict(), ours.coefficients.to_dict()
    assert found["names"] == ["x0", "x1", "x2", "x3"]
    for part, values in expected.items():
        is_text = isinstance(values, str) or part == "names"
        assert found[part] == (values if is_text else pytest.approx(values, rel=1e-6)), part
    for name, row in ours.rows.items():
        assert theirs.rows[name].corrected == pytest.approx(row.corrected, abs=1e-6)


@pytest.mark.parametrize("package", ["cox", "statsmodels"])
def test_nested_folds_read_survival_at_the_times(package: str) -> None:
    grid = {"ties": ["breslow", "efron"]}
    settings: dict[str, Any] = {"param_grid": grid, "scoring": BRIER, "cv": 3, "random_state": 0, "interval": None}
    theirs, ours = (ho.nested_cv(model, FEW, FEW_Y, **settings) for model in (cox_of(package), CoxRegression()))
    assert theirs.value == pytest.approx(ours.value, abs=1e-6)
    np.testing.assert_allclose(survival(theirs.model, FEW, TIMES), survival(ours.model, FEW, TIMES), atol=1e-6)

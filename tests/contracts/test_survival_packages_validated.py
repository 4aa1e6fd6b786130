"""Models of scikit-survival and statsmodels, validated by bootstrap and nested, where these are installed."""

from typing import Any

import numpy as np
import pytest
from hazard import survival_data
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.imputation.settings import Imputation
from heldout.metrics.survival_model import survival
from heldout.protocols.drawn_rows import drawn_rows
from heldout.spaces import CoxRegression, StatsmodelsCox

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

X, Y = survival_data(90)
TIMES = (0.2, 0.5, 0.8)
BRIER = "integrated_brier_score(times=[0.2, 0.5, 0.8])"
METRICS = ["concordance_index", BRIER, "calibration_slope"]


def of_scikit_survival(name: str) -> Any:
    pytest.importorskip("sksurv")
    from sksurv.ensemble import RandomSurvivalForest
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    cox = CoxPHSurvivalAnalysis(ties="efron", tol=1e-12)
    return {
        "cox": cox,
        "pipeline": make_pipeline(StandardScaler(), cox),
        "forest": RandomSurvivalForest(10, min_samples_leaf=10, random_state=0),
    }[name]


def cox_of(package: str) -> Any:
    if package == "statsmodels":
        pytest.importorskip("statsmodels")
        return StatsmodelsCox()
    return of_scikit_survival(package)


def validated(model: Any, x: Any = X, **settings: Any) -> Any:
    return ho.bootstrap_validate(
        model, x, Y, **{"n_bootstraps": 12, "random_state": 0, "interval": None, **settings}
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
        assert other.n_successful == row.n_successful == 12
        for part in ("apparent", "in_bootstrap", "on_original", "out_of_bag", "corrected"):
            assert getattr(other, part) == pytest.approx(getattr(row, part), abs=1e-6), (name, part)


@pytest.mark.parametrize("name", ["pipeline", "forest"])
def test_a_plain_loop_over_bootstraps_gives_the_same(name: str) -> None:
    model = of_scikit_survival(name)
    from sksurv.metrics import brier_score, concordance_index_censored

    def index(fitted: Any, rows: Any) -> float:
        return float(concordance_index_censored(Y["died"][rows], Y["days"][rows], fitted.predict(X[rows]), 0)[0])

    def brier(fitted: Any) -> float:
        return float(brier_score(Y, Y, survival(fitted, X, (0.5,)), 0.5)[1][0])

    found = validated(model, metric=["concordance_index", "brier_score_at(time=0.5)"], n_bootstraps=5)
    everybody, rows = np.arange(len(X)), []
    for counts in found.replicates.counts:
        drawn = drawn_rows(counts)
        fitted = clone(model).fit(X[drawn], Y[drawn])
        rows.append([index(fitted, drawn), index(fitted, everybody), index(fitted, counts == 0), brier(fitted)])
    inside, original, left, brier_there = np.mean(rows, axis=0)
    whole = clone(model).fit(X, Y)
    c, b = found.rows.values()
    assert [c.apparent, c.in_bootstrap, c.on_original, c.out_of_bag] == pytest.approx(
        [index(whole, everybody), inside, original, left], abs=1e-12
    )
    assert [b.apparent, b.on_original] == pytest.approx([brier(whole), brier_there], abs=1e-9)


def test_coefficients_are_pooled_over_imputations() -> None:
    pytest.importorskip("statsmodels")
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
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
    theirs, ours = (ho.nested_cv(model, X, Y, **settings) for model in (cox_of(package), CoxRegression()))
    assert theirs.value == pytest.approx(ours.value, abs=1e-6)
    np.testing.assert_allclose(survival(theirs.model, X, TIMES), survival(ours.model, X, TIMES), atol=1e-6)

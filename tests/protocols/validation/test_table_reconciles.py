"""The columns of a validation's table make its corrected score: by every correction, of every metric."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

import heldout as ho
from heldout.data.task import truth_of
from heldout.metrics.base import Response
from heldout.metrics.named import DECLARED
from heldout.spaces import CoxRegression

CANCER, IRIS, NUMBERS = load_breast_cancer(), load_iris(), load_diabetes()
RNG = np.random.default_rng(0)
TIMES = np.array(
    [(seen, time) for seen, time in zip(RNG.random(60) < 0.8, RNG.exponential(size=60), strict=True)],
    dtype=[("event", bool), ("time", float)],
)
HOLES = np.where(RNG.random((60, 3)) < 0.2, np.nan, CANCER.data[:60, [1, 4, 8]])
TASKS = {
    "binary": (LogisticRegression(), CANCER.data[:60, [1, 4, 8]], CANCER.target[:60]),
    "imputed": (LogisticRegression(), HOLES, CANCER.target[:60]),
    "multiclass": (LogisticRegression(max_iter=500), IRIS.data[::3], IRIS.target[::3]),
    "regression": (LinearRegression(), NUMBERS.data[:60, :4], NUMBERS.target[:60]),
    "survival": (CoxRegression(), RNG.normal(size=(60, 2)), TIMES),
}


def metrics_of(kind: str) -> list[Any]:
    """Those that need no time; one that can choose among models comes first."""
    truth = truth_of(TASKS[kind][2], None if kind in ("binary", "imputed") else kind)
    readable = {Response.LABELS, Response.PROBABILITIES, Response.DECISION, Response.VALUES, Response.RISK}
    declared = [metric for metric in DECLARED if truth.kind in metric.tasks and metric.reads_truth]
    fit = [metric for metric in declared if {*metric.responses} & readable]
    at_times = {"roc_auc_at", "brier_score_at", "integrated_brier_score"}
    timeless = [metric for metric in fit if metric.name not in at_times]
    assert len(timeless) >= 3
    return sorted(timeless, key=lambda metric: metric.ideal is not None)


@pytest.mark.filterwarnings("ignore")  # of metrics that few rows leave undefined
@pytest.mark.parametrize("kind", list(TASKS))
@pytest.mark.parametrize("method", ["optimism", "632", "632+", "oob"])
def test_by_every_correction_of_every_metric(kind: str, method: str) -> None:
    model, X, y = TASKS[kind]
    found = ho.bootstrap_validate(
        model, X, y, metric=metrics_of(kind), method=method, n_bootstraps=4, random_state=0, interval=None,
        imputation=2 if kind == "imputed" else None,
    )  # fmt: skip
    table = found.to_frame().set_index("metric")
    assert table["corrected"].to_dict() == pytest.approx(
        {name: row.corrected for name, row in found.rows.items()}, abs=0, rel=0, nan_ok=True
    )
    assert ("weight" in table) == method.startswith("632") and ("no_information" in table) == (method == "632+")
    for name, row in found.rows.items():
        assert found.estimates[name].provenance.get("out_of_bag", row.out_of_bag) == pytest.approx(
            row.out_of_bag, nan_ok=True
        )
        assert row.to_dict().get("weight", np.nan) == pytest.approx(row.weight, nan_ok=True)
    sign = np.array([1 if found.metrics[name].greater_is_better else -1 for name in table.index])
    np.testing.assert_allclose(table["optimism"], sign * (table["apparent"] - table["corrected"]), atol=1e-12)
    if method == "optimism":
        made = table["apparent"] - (table["in_bootstrap"] - table["on_original"])
    else:
        weight = table.get("weight", 1.0 if method == "oob" else np.nan)
        left_out = table["out_of_bag"]
        if method == "632+":
            worse = np.where(sign > 0, left_out < table["no_information"], left_out > table["no_information"])
            left_out = left_out.where(~worse, table["no_information"])
        made = (0.0 if method == "oob" else (1 - weight) * table["apparent"]) + weight * left_out
    made = made.drop("calibration_emax", errors="ignore")  # made of the corrected intercept and slope
    table = table.loc[made.index]
    defined = table["corrected"].notna()
    # Of log-likelihoods and mean differences there are no best values, which .632+ needs.
    assert defined.mean() > (0.3 if method == "632+" else 0.5)
    np.testing.assert_allclose(table["corrected"][defined], made[defined], rtol=1e-12, atol=1e-12)

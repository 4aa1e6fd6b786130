"""Metrics with parameters other than their defaults equal scikit-learn's functions, or their definitions."""

import warnings
from typing import Any

import definitions
import numpy as np
import pytest
import sklearn.metrics as skm
from numpy.typing import NDArray

from heldout.data.task import TaskKind, truth_of
from heldout.metrics import (
    E90,
    ECI,
    ICI,
    CalibrationIntercept,
    CalibrationInterceptError,
    CohenKappa,
    Emax,
    ExpectedCalibrationError,
    FScore,
    NagelkerkeR2,
    PartialRocAuc,
    PinballLoss,
    SensitivityAtSpecificity,
)
from heldout.metrics.base import Metric

N, C = 60, 3


def weightings(kind: str) -> NDArray[Any]:
    rng = np.random.default_rng(100)
    counts = rng.multinomial(N, np.full(N, 1 / N), size=6).astype(np.uint8)
    return counts if kind == "counts" else counts * rng.gamma(1.0, size=N)


def assert_values(metric: Metric, truth: Any, predictions: NDArray[Any], kind: str, expected: Any) -> None:
    """``expected(column, weights)`` for each."""
    weights = weightings(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [[expected(predictions[:, j], w.astype(float)) for j in range(C)] for w in weights]
    found = metric.statistic(truth, predictions).all(weights)
    np.testing.assert_allclose(found, theirs, rtol=1e-12, atol=1e-12)


def binary(decimals: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(decimals)
    y = (rng.random(N) < 0.4).astype(int)
    raw = rng.normal(size=(N, C)) * np.array([0.3, 1.0, 3.0]) + y[:, None]
    return y, (1 / (1 + np.exp(-raw))).round(decimals)


BOTH = pytest.mark.parametrize("kind", ["counts", "weights"])
DECIMALS = pytest.mark.parametrize("decimals", [1, 12])


@BOTH
@DECIMALS
@pytest.mark.parametrize("specificity", [0, 0.5, 0.8, 0.9, 0.95, 1])
def test_sensitivity_at_specificity(specificity: float, decimals: int, kind: str) -> None:
    y, p = binary(decimals)
    metric = SensitivityAtSpecificity(specificity)
    assert_values(metric, truth_of(y), p, kind, lambda s, w: definitions.sensitivity_at(specificity, y, s, w))


@BOTH
@DECIMALS
@pytest.mark.parametrize("max_fpr", [0.02, 0.3, 0.999])
def test_partial_area(max_fpr: float, decimals: int, kind: str) -> None:
    y, p = binary(decimals)
    truth = truth_of(y)
    assert_values(
        PartialRocAuc(max_fpr), truth, p, kind,
        lambda s, w: skm.roc_auc_score(y, s, sample_weight=w, max_fpr=max_fpr),
    )  # fmt: skip


def test_the_whole_area_is_the_area() -> None:
    y, p = binary(2)
    assert_values(PartialRocAuc(1), truth_of(y), p, "counts", lambda s, w: skm.roc_auc_score(y, s, sample_weight=w))


@BOTH
@DECIMALS
@pytest.mark.parametrize("n_bins", [1, 3, 15])
def test_calibration_error_of_equal_widths(n_bins: int, decimals: int, kind: str) -> None:
    y, p = binary(decimals)
    edges = np.linspace(0, 1, n_bins + 1)[1:-1]
    metric = ExpectedCalibrationError(n_bins)
    assert_values(metric, truth_of(y), p, kind, lambda s, w: definitions.calibration_error(y, s, w, edges))


@BOTH
@DECIMALS
def test_calibration_error_between_quantiles(decimals: int, kind: str) -> None:
    y, p = binary(decimals)

    def expected(s: Any, w: Any) -> float:
        return definitions.calibration_error(y, s, w, np.percentile(s, [25, 50, 75]))

    assert_values(ExpectedCalibrationError(4, strategy="quantile"), truth_of(y), p, kind, expected)


@pytest.mark.parametrize("rows", [7, 16, 40])
@pytest.mark.parametrize("n_bins", [3, 10, 15])
def test_rows_on_an_edge_between_quantiles_are_in_the_bins_of_scikit_learn(rows: int, n_bins: int) -> None:
    rng = np.random.default_rng(rows)
    y, p = np.arange(rows) % 2, rng.random((rows, C))
    found = ExpectedCalibrationError(n_bins, "quantile").statistic(truth_of(y), p)
    for j in range(C):
        edges = np.percentile(p[:, j], np.linspace(0, 1, n_bins + 1) * 100)[1:-1]
        expected = definitions.calibration_error(y, p[:, j], np.ones(rows), edges)
        assert found.all(np.ones((1, rows), dtype=np.uint8))[0, j] == pytest.approx(expected, abs=1e-12)


@BOTH
@DECIMALS
@pytest.mark.parametrize("how", [{"smoother": "logistic"}, {"smoother": "lowess"}], ids=str)
@pytest.mark.parametrize("metric", [Emax, E90, ICI, ECI], ids=lambda metric: metric.__name__)
def test_distances_from_the_curve(metric: type[Any], how: dict[str, Any], decimals: int, kind: str) -> None:
    y, p = binary(decimals)
    name, farthest = metric().name, metric().range[1]  # a curve may leave [0, 1], its distance ends there

    def expected(s: Any, w: Any) -> Any:
        return min(definitions.curve_distance(name, y, s, w, **how), farthest)

    assert_values(metric(**how), truth_of(y), p, kind, expected)


@BOTH
@DECIMALS
def test_the_gain_in_likelihood_of_the_predictions_themselves(decimals: int, kind: str) -> None:
    y, p = binary(decimals)

    def expected(s: Any, w: Any) -> float:
        return definitions.nagelkerke(y, s, w, recalibrated=False)

    assert_values(NagelkerkeR2(recalibrated=False), truth_of(y), p, kind, expected)


@BOTH
def test_the_joint_intercept_of_numbers(kind: str) -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(1e3, 2, N)
    given = y[:, None] + rng.normal(size=(N, C)) * np.array([0.5, 2.0, 5.0])
    metric = CalibrationIntercept(given_slope=False)
    weights = weightings(kind)
    found = metric.statistic(truth_of(y), given).all(weights)
    expected = [[definitions.line(y, given[:, j], w.astype(float))[0] for j in range(C)] for w in weights]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@BOTH
@DECIMALS
def test_calibration_intercept_of_the_joint_fit(decimals: int, kind: str) -> None:
    y, p = binary(decimals)
    truth = truth_of(y)
    intercept = CalibrationIntercept(given_slope=False)
    assert_values(intercept, truth, p, kind, lambda s, w: definitions.logistic_fit(y, s, w)[0])
    error = CalibrationInterceptError(given_slope=False)
    assert_values(error, truth, p, kind, lambda s, w: abs(definitions.logistic_fit(y, s, w)[0]))


@BOTH
@pytest.mark.parametrize("alpha", [0, 0.1, 0.75, 1])
def test_pinball_loss(alpha: float, kind: str) -> None:
    rng = np.random.default_rng(2)
    y, p = rng.normal(size=N).round(1), rng.normal(size=(N, C)).round(1)
    truth = truth_of(y, TaskKind.REGRESSION)
    assert_values(
        PinballLoss(alpha), truth, p, kind, lambda s, w: skm.mean_pinball_loss(y, s, sample_weight=w, alpha=alpha)
    )


@BOTH
@pytest.mark.parametrize("average", ["binary", "macro", "micro", "weighted"])
@pytest.mark.parametrize("beta", [0, 0.5, 2])
def test_f_beta(beta: float, average: Any, kind: str) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2 if average == "binary" else 4, N)
    p = np.where(rng.random((N, C)) < 0.5, y[:, None], rng.integers(0, y.max() + 1, (N, C)))
    assert_values(
        FScore(average, beta=beta), truth_of(y, TaskKind.MULTICLASS), p, kind,
        lambda s, w: skm.fbeta_score(y, s, beta=beta, average=average, sample_weight=w),
    )  # fmt: skip


@BOTH
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("labels", [[0, 1, 2, 3, 4], ["e", "a", "d", "b", "c"]], ids=["numbers", "letters"])
def test_kappa_of_an_ordered_scale(weights: Any, labels: list[Any], kind: str) -> None:
    rng = np.random.default_rng(4)
    codes = rng.choice([0, 1, 3], N)  # 2 is predicted at most, 4 neither occurs nor is predicted
    p = np.where(rng.random((N, C)) < 0.5, codes[:, None], rng.integers(0, 3, (N, C)))
    names = np.array(labels)
    truth = truth_of(names[codes], TaskKind.MULTICLASS, classes=names)
    assert_values(
        CohenKappa(weights), truth, p, kind,
        lambda s, w: skm.cohen_kappa_score(codes, s, labels=np.arange(5), weights=weights, sample_weight=w),
    )  # fmt: skip
    p[:, 0] = codes  # 2 is a place of some columns' scales only
    assert_values(
        CohenKappa(weights, "skip"), truth, p, kind,
        lambda s, w: skm.cohen_kappa_score(codes, s, weights=weights, sample_weight=w),
    )  # fmt: skip

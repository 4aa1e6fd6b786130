"""Metrics of several kinds of task: which one a target means, and what they do where it is told elsewhere."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

import heldout as ho
from heldout.data.task import TaskKind, truth_of
from heldout.metrics import CalibrationIntercept, CalibrationSlope, Response, SomersD, check_fits, metric_named
from heldout.metrics.base import Needs

SURVIVAL = truth_of(([True, False, True], [1.0, 2.0, 3.0]), "survival")


def test_a_target_determines_the_response() -> None:
    metric = CalibrationSlope()
    assert metric.tasks == {TaskKind.BINARY, TaskKind.REGRESSION, TaskKind.SURVIVAL}
    assert metric.responses == (Response.PROBABILITIES, Response.VALUES, Response.RISK)
    read = [check_fits(metric, truth) for truth in (truth_of([0, 1]), truth_of([0.5, 1.5]), SURVIVAL)]
    assert [one.responses for one in read] == [(Response.PROBABILITIES,), (Response.VALUES,), (Response.RISK,)]
    assert [one.needs for one in read] == [Needs.EVERY_CLASS, Needs.TWO_ROWS, Needs.PAIR]
    assert all(one == metric and repr(one) == repr(metric) for one in read)
    assert check_fits(SomersD(), SURVIVAL).responses == (Response.RISK,)


def test_kinds_that_a_metric_has_not_are_refused() -> None:
    with pytest.raises(ho.InputError, match="'somers_d' does not fit a regression target"):
        check_fits(SomersD(), truth_of([0.5, 1.5]))
    with pytest.raises(ho.InputError, match="'calibration_intercept' does not fit a survival target"):
        check_fits(CalibrationIntercept(), SURVIVAL)


def test_the_kind_is_no_parameter() -> None:
    with pytest.raises(ho.InputError, match="kind"):
        metric_named("calibration_slope(kind='binary')")
    assert metric_named("calibration_intercept(given_slope=False)").given_slope is False


@pytest.mark.parametrize("digits", [0, 2], ids=["whole numbers", "fractions"])
def test_an_estimate_of_numbers(digits: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(50, 10, 80).round(digits)
    given = (0.5 * y + rng.normal(25, 1, 80))[:, None]
    found = ho.estimate(y, given, metric="calibration_slope", n_bootstraps=100, random_state=0)
    assert found.uncorrected == pytest.approx(np.polyfit(given[:, 0], y, 1)[0], abs=1e-10)


def test_scorers_of_both_kinds_of_model() -> None:
    slope = ho.metrics.scorer("calibration_slope")
    X, y = make_regression(60, 3, noise=30, random_state=0)
    for target in (y, y.round()):
        model = LinearRegression().fit(X, target)
        assert slope(model, X, target) == pytest.approx(1.0, abs=1e-10)
    X, y = make_classification(80, 3, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    given = LogisticRegression(C=1e8, tol=1e-10).fit(X, y)
    assert slope(given, X, y) == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(ho.InputError, match="needs probabilities of two classes"):
        slope(LinearSVC().fit(X, y), X, y)


def test_a_search_over_models_of_numbers() -> None:
    X, y = make_regression(60, 3, noise=30, random_state=0)
    search = ho.HeldOutSearchCV(
        LinearRegression(), {"fit_intercept": [True, False]}, cv=3, n_bootstraps=50, random_state=0,
        scoring=ho.metrics.scorer("calibration_slope_error"), aggregate="pooled",
    ).fit(X, y)  # fmt: skip
    given = cross_val_predict(search.best_estimator_, X, y, cv=3)
    assert abs(search.estimate_.uncorrected) == pytest.approx(abs(np.polyfit(given, y, 1)[0] - 1), abs=1e-8)

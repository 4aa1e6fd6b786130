"""The bias study against the numbers of the article (Tsamardinos et al. 2018, section 6.1.1) and of others.

Published: nested cross-validation less bbc .013 on average, less bced .005, and cv up to .17. Mean biases over C,
for Beta(9, 6), were reached by a simulation that shares no code with this (500 repetitions of each setting).

A mean is refused that is more than four standard errors of the difference from what is expected, beside half a unit
of the expected number's last digit: with 20 numbers of the short version a false alarm in less than 1 of 700 seeds,
and the seed is fixed.
"""

import numpy as np
import pytest

from heldout_papers import BiasStudy, bias
from heldout_papers.bias.setting import CONFIGURATIONS, ROWS

REPETITIONS_ELSEWHERE = 500
EXPECTED = {
    20: {"cv": 0.156, "tt": 0.125, "nested_cv": -0.006, "bbc": -0.032, "bced": -0.017},
    100: {"cv": 0.040, "tt": -0.045, "nested_cv": -0.003, "bbc": -0.015, "bced": -0.008},
    500: {"cv": 0.009, "tt": -0.024, "nested_cv": 0.000, "bbc": -0.003, "bced": -0.002},
}


def errors(study: BiasStudy, protocol: str, less: str | None = None) -> dict[int, np.ndarray]:
    """Estimate less truth by the number of rows, of shape (C, repetitions); or the difference of two protocols."""
    found: dict[int, list[np.ndarray]] = {}
    for setting, columns in zip(study.settings, study.columns, strict=True):
        error = columns[f"{protocol}.estimate"] - columns[f"{protocol}.truth"]
        if less is not None:
            error = error - (columns[f"{less}.estimate"] - columns[f"{less}.truth"])
        found.setdefault(setting.rows, []).append(error)
    return {n: np.array(values) for n, values in found.items()}


def assert_mean(values: np.ndarray, expected: float) -> None:
    """Of values of shape (settings, repetitions)."""
    one = np.sqrt((values.var(axis=1, ddof=1)).mean() / len(values))
    standard_error = one * np.sqrt(1 / values.shape[1] + 1 / REPETITIONS_ELSEWHERE)
    distance = abs(values.mean() - expected)
    assert distance < 4 * standard_error + 0.0005, (values.mean(), expected, standard_error)


def compare(study: BiasStudy) -> None:
    for protocol in ("cv", "tt", "nested_cv", "bbc", "bced"):
        for n, values in errors(study, protocol).items():
            if n in EXPECTED:
                assert_mean(values, EXPECTED[n][protocol])


def test_mean_biases_in_short():
    compare(bias([20, 100, 500], CONFIGURATIONS, [(9, 6)], repetitions=25, n_bootstraps=60, random_state=0))


@pytest.mark.slow
def test_mean_biases_and_the_numbers_of_the_article():
    study = bias(ROWS, CONFIGURATIONS, [(9, 6)], repetitions=500, random_state=1)

    compare(study)
    assert_mean(np.concatenate(list(errors(study, "nested_cv", "bbc").values())), 0.013)
    assert_mean(np.concatenate(list(errors(study, "nested_cv", "bced").values())), 0.005)
    worst = max(values.mean(axis=1).max() for values in errors(study, "cv").values())
    assert worst == pytest.approx(0.17, abs=0.005 + 0.01)


@pytest.mark.parametrize("metric", ["roc_auc", "mean_squared_error"])
def test_of_other_metrics_the_uncorrected_flatters_and_bbc_does_not(metric):
    """Over 120 matrices cv is some 12 standard errors above 0 or more, and bbc some 9 below half of cv.

    Four are asked for, and of nested cross-validation no more than four beyond .02: chance denies any of it in less
    than 1 of 10^4 seeds.
    """
    study = bias([20, 40], [100, 300], [(9, 6)], metric=metric, repetitions=30, n_bootstraps=60, random_state=2)
    rows = {name: [row for row in study.rows() if row["protocol"] == name] for name in ("cv", "nested_cv", "bbc")}
    mean = {name: np.mean([row["bias"] for row in mine]) for name, mine in rows.items()}
    error = {name: np.sqrt(sum(row["standard_error"] ** 2 for row in mine)) / 4 for name, mine in rows.items()}

    assert mean["cv"] > 4 * error["cv"]
    assert mean["bbc"] < mean["cv"] / 2 - 4 * error["bbc"]
    assert abs(mean["nested_cv"]) < 0.02 + 4 * error["nested_cv"]

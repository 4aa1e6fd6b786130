"""Validation by the bootstrap against R: rms 6.5.0 (``validate``) and ipred 0.9-13 (``errorest``).

R's numbers are means over 20 runs of 500 bootstrap samples, and beside each stands the standard deviation of one
run. Ours are one run of 150, and of 500 in the slow version, whose standard error comes from the spread of its own
replicates. What is computed
from the data alone must be equal; what the draws move must lie within four standard errors of the difference,
which chance exceeds in 1 of 16 000 such comparisons. There are about 60, and the seed is fixed.

R prints ``index.orig  training  test  optimism  index.corrected``: here ``apparent``, ``in_bootstrap``,
``on_original``, ``optimism`` and ``corrected``. Its optimism has the other sign where smaller is better.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.metrics import metric_named
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.validation.replicates import ReplicateScores
from heldout.spaces.cox import CoxRegression
from heldout.spaces.regressions import NO_PENALTY

RUNS, SAMPLES, SEED = 20, 500, 20261120
"""Runs in R, bootstrap samples of each, and our seed."""
LOGISTIC = LogisticRegression(C=NO_PENALTY, solver="newton-cholesky", tol=1e-10)
Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Row:
    """A row of R's table; each pair is the mean of the runs and the standard deviation of one."""

    apparent: float
    training: tuple[float, float]
    test: tuple[float, float]
    corrected: tuple[float, float]


def breast() -> Data:
    """Four columns that leave the classes mixed; standardized, which changes no prediction."""
    table = load_breast_cancer(as_frame=True)
    columns = ["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]
    return StandardScaler().fit_transform(table.data[columns].to_numpy()), table.target.to_numpy()


def diabetes() -> Data:
    """150 rows for ten columns, so that a model is mildly overfitted."""
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


def high_diabetes() -> Data:
    X, y = diabetes()
    return X, (y > 140).astype(int)


def survival() -> Data:
    """250 rows, six columns, 169 events, 127 different times; in R: ``s <- read.csv("survival_250.csv")``.

    Made of exponential times with log hazards .6, -.4, .3, 0, 0, .3 and uniform censoring.
    """
    table = np.genfromtxt(Path(__file__).parent / "data" / "survival_250.csv", delimiter=",", names=True)
    y = np.empty(len(table), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = table["event"] == 1, table["time"]
    return np.stack([table[f"x{j}"] for j in range(1, 7)], axis=1), y


@pytest.fixture(params=[150, pytest.param(SAMPLES, marks=pytest.mark.slow)])
def samples(request: pytest.FixtureRequest) -> int:
    """The bootstrap samples of our run."""
    return int(request.param)


def validated(model: BaseEstimator, data: Data, metrics: list[Any], method: str, samples: int) -> Validation:
    return ho.bootstrap_validate(
        model, *data, metric=metrics, method=method, n_bootstraps=samples, interval=None, random_state=SEED
    )


def scores_of(found: Validation, metric: Any) -> ReplicateScores:
    return found.replicates.scores(metric_named(metric) if isinstance(metric, str) else metric)


def allowed(scores: np.ndarray, sd: float) -> float:
    """Four standard errors of our mean less R's mean of its runs."""
    return 4 * sqrt(scores.var(ddof=1) / len(scores) + sd**2 / RUNS)


def assert_within(scores: np.ndarray, r: tuple[float, float], name: str) -> None:
    mean, sd = r
    assert scores.mean() == pytest.approx(mean, abs=allowed(scores, sd) + 1e-6), name


def logistic_rows(dxy: Row, r2: Row, intercept: Row, slope: Row, brier: Row) -> dict[Any, Row]:
    """By our metrics, in R's order: Dxy, R2, Intercept, Slope, B."""
    joint = ho.metrics.CalibrationIntercept(given_slope=False)
    return {
        "somers_d": dxy,
        "nagelkerke_r2": r2,
        joint: intercept,
        "calibration_slope": slope,
        "brier_score": brier,
    }


# b <- load_breast_cancer, the four columns named below
# f <- lrm(y ~ texture + smoothness + symmetry + fractal, data=b, x=TRUE, y=TRUE, eps=1e-7, maxit=50)
# for (k in 1:20) { set.seed(k); validate(f, B=500) }
BREAST = logistic_rows(
    Row(0.776227472121, (0.7800954, 0.0012), (0.7731729, 0.00013), (0.7693049, 0.0013)),
    Row(0.546515229411, (0.5524012, 0.0017), (0.5415938, 0.00019), (0.5357079, 0.0017)),
    Row(0, (0, 0), (0.007678664, 0.0037), (0.007678664, 0.0037)),
    Row(1, (1, 0), (0.9720355, 0.004), (0.9720355, 0.004)),
    Row(0.132065430137, (0.1304048, 0.00042), (0.1336367, 5.6e-05), (0.1352973, 0.00045)),
)
# d <- load_diabetes, the first 150 rows; y <- target > 140
# f <- lrm(y ~ x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9, data=d, x=TRUE, y=TRUE, eps=1e-7, maxit=50)
# for (k in 1:20) { set.seed(k); validate(f, B=500) }
DIABETES = logistic_rows(
    Row(0.785968660969, (0.8197241, 0.0017), (0.7547105, 0.00074), (0.720955, 0.0018)),
    Row(0.568140721014, (0.6189344, 0.0024), (0.5199303, 0.001), (0.4691367, 0.0026)),
    Row(0, (0, 0), (-0.02716717, 0.0095), (-0.02716717, 0.0095)),
    Row(1, (1, 0), (0.7760368, 0.0052), (0.7760368, 0.0052)),
    Row(0.12955459439, (0.1164074, 0.00065), (0.1417427, 0.00025), (0.1548899, 0.00069)),
)
# for (k in 1:20) { set.seed(k); validate(f, B=500, method=".632") }
# Its ``test`` is of the rows left out. R weighs a replicate's score by the rows that it left out, each row shared
# by all that did; ours is by row for the Brier score and a plain mean over replicates for the others. The
# difference is of the order of 1/B.
DIABETES_632 = logistic_rows(
    Row(0.785968660969, (0.8197241, 0.0017), (0.6804757, 0.0037), (0.7192971, 0.0023)),
    Row(0.568140721014, (0.6189344, 0.0024), (0.4313025, 0.004), (0.481659, 0.0025)),
    Row(0, (0, 0), (-0.03817765, 0.023), (-0.02412828, 0.014)),
    Row(1, (1, 0), (0.6748093, 0.009), (0.7944794, 0.0057)),
    Row(0.12955459439, (0.1164074, 0.00065), (0.1707382, 0.0013), (0.1555827, 0.0008)),
)
# f <- ols(target ~ x0 + ... + x9, data=d, x=TRUE, y=TRUE); for (k in 1:20) { set.seed(k); validate(f, B=500) }
LINEAR = {
    "r2": Row(0.529859660159, (0.5598593, 0.002), (0.4863724, 0.0013), (0.4563728, 0.0026)),
    "mean_squared_error": Row(2662.07587613, (2462.819, 14), (2908.314, 7.5), (3107.571, 19)),
    ho.metrics.CalibrationIntercept(given_slope=False): Row(0, (0, 0), (9.350274, 0.59), (9.350274, 0.59)),
    "calibration_slope": Row(1, (1, 0), (0.9378141, 0.004), (0.9378141, 0.004)),
}
# f <- cph(Surv(time, event) ~ x1 + x2 + x3 + x4 + x5 + x6, data=s, x=TRUE, y=TRUE, surv=TRUE)
# for (k in 1:20) { set.seed(k); validate(f, B=500) }
COX = {
    "somers_d": Row(0.390444677589, (0.4025262, 0.0022), (0.380401, 0.00041), (0.3683196, 0.0022)),
    "nagelkerke_r2": Row(0.298354890279, (0.3126112, 0.0021), (0.2843606, 0.00049), (0.2701043, 0.0021)),
    "calibration_slope": Row(1, (1, 0), (0.9297977, 0.005), (0.9297977, 0.005)),
}


@pytest.mark.parametrize(
    ("data", "model", "rows"),
    [
        pytest.param(breast, LOGISTIC, BREAST, id="breast"),
        pytest.param(high_diabetes, LOGISTIC, DIABETES, id="diabetes"),
        pytest.param(diabetes, LinearRegression(), LINEAR, id="linear"),
        pytest.param(survival, CoxRegression(), COX, id="cox"),
    ],
)
def test_optimism_is_that_of_rms(
    data: Callable[[], Data], model: BaseEstimator, rows: dict[Any, Row], samples: int
) -> None:
    found = validated(model, data(), list(rows), "optimism", samples)
    for name, r in zip(found.rows, rows.values(), strict=True):
        ours, scores = found.rows[name], scores_of(found, name)
        assert ours.n_successful == samples
        assert ours.apparent == pytest.approx(r.apparent, rel=1e-6, abs=1e-6), name
        assert_within(scores.in_bootstrap, r.training, name)
        assert_within(scores.on_original, r.test, name)
        assert ours.in_bootstrap == pytest.approx(scores.in_bootstrap.mean())
        assert ours.on_original == pytest.approx(scores.on_original.mean())
        assert_within(ours.apparent - (scores.in_bootstrap - scores.on_original), r.corrected, name)
        assert ours.corrected == pytest.approx(ours.apparent - (ours.in_bootstrap - ours.on_original))


def test_632_is_that_of_rms(samples: int) -> None:
    found = validated(LOGISTIC, high_diabetes(), list(DIABETES_632), "632", samples)
    for name, r in zip(found.rows, DIABETES_632.values(), strict=True):
        ours, scores = found.rows[name], scores_of(found, name)
        assert_within(scores.out_of_bag, r.test, name)
        assert ours.corrected == pytest.approx(r.corrected[0], abs=0.632 * allowed(scores.out_of_bag, r.test[1]))


# d$y <- factor(d$y); p <- function(object, newdata) predict(object, newdata)$class
# for (k in 1:20) { set.seed(k); errorest(y ~ ., data=d, model=MASS::lda, predict=p, estimator="632plus",
#     est.para=control.errorest(nboot=500))$error }
# The rows left out: estimator="boot". Nearest neighbour: model=ipredknn, k=1, and
# p <- function(object, newdata) predict(object, newdata, type="class")
@pytest.mark.parametrize(
    ("model", "apparent", "no_information", "left_out", "corrected"),
    [
        pytest.param(
            LinearDiscriminantAnalysis(), 25 / 150, 0.498933333333,
            (0.2314135, 0.00137), (0.2107493, 0.001005), id="lda",
        ),
        pytest.param(
            KNeighborsClassifier(1), 0.0, 0.4992,
            (0.3330717, 0.001645), (0.2790097, 0.00183), id="1-nn",
        ),
    ],
)  # fmt: skip
def test_632_plus_is_that_of_ipred(
    model: BaseEstimator,
    apparent: float,
    no_information: float,
    left_out: tuple[float, float],
    corrected: tuple[float, float],
    samples: int,
) -> None:
    """The standard error of 500 samples is R's on both sides: means of rows have no spread over replicates."""
    found = validated(model, high_diabetes(), ["accuracy"], "632+", samples)
    (estimate,) = found.estimates.values()
    assert estimate.uncorrected == pytest.approx(1 - apparent)
    assert estimate.provenance["no_information"] == pytest.approx(1 - no_information)
    for ours, (mean, sd) in ((estimate.provenance["out_of_bag"], left_out), (estimate.value, corrected)):
        assert ours == pytest.approx(1 - mean, abs=4 * sd * sqrt(SAMPLES / samples + 1 / RUNS))

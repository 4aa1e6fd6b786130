"""The .632 rules against R, on other draws than R's: rms 6.5.0 (``validate``) and ipred 0.9-13 (``errorest``).

R's numbers are means over 20 runs of 500 bootstrap samples, and beside each stands the standard deviation of one
run. Ours are one run of 100, and of 500 in the slow version, whose standard error comes from the spread of its own
replicates. What is computed from the data alone must be equal; what the draws move must lie within four standard
errors of the difference, which chance exceeds in 1 of 16 000 such comparisons. There are about 15, and the seed is
fixed. The optimism is compared with that of R on R's own samples (``test_rms_validate.py``).
"""

from math import sqrt
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.metrics import metric_named
from heldout.protocols.validation.estimate import Validation
from heldout.spaces.regressions import NO_PENALTY

RUNS, SAMPLES, SEED = 20, 500, 20261120
"""Runs in R, bootstrap samples of each, and our seed."""
LOGISTIC = LogisticRegression(C=NO_PENALTY, solver="newton-cholesky", tol=1e-10)
Data = tuple[np.ndarray, np.ndarray]


def high_diabetes() -> Data:
    """150 rows for ten columns, so that a model is mildly overfitted."""
    X, y = load_diabetes(return_X_y=True)
    return X[:150], (y[:150] > 140).astype(int)


@pytest.fixture(params=[100, pytest.param(SAMPLES, marks=pytest.mark.slow)])
def samples(request: pytest.FixtureRequest) -> int:
    """The bootstrap samples of our run."""
    return int(request.param)


def validated(model: BaseEstimator, data: Data, metrics: list[Any], method: str, samples: int) -> Validation:
    return ho.bootstrap_validate(
        model, *data, metric=metrics, method=method, n_bootstraps=samples, interval=None, random_state=SEED
    )


# d <- load_diabetes, the first 150 rows; y <- target > 140
# f <- lrm(y ~ x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9, data=d, x=TRUE, y=TRUE, eps=1e-7, maxit=50)
# for (k in 1:20) { set.seed(k); validate(f, B=500, method=".632") }
# Its ``test`` is of the rows left out. R weighs a replicate's score by the rows that it left out, each row shared
# by all that did; ours is by row for the Brier score and a plain mean over replicates for the others. The
# difference is of the order of 1/B. Here are ``test`` with its standard deviation, and ``index.corrected``.
OF_RMS: dict[Any, tuple[float, float, float]] = {
    "somers_d": (0.6804757, 0.0037, 0.7192971),
    "nagelkerke_r2": (0.4313025, 0.004, 0.481659),
    ho.metrics.CalibrationIntercept(given_slope=False): (-0.03817765, 0.023, -0.02412828),
    "calibration_slope": (0.6748093, 0.009, 0.7944794),
    "brier_score": (0.1707382, 0.0013, 0.1555827),
}


def test_632_is_that_of_rms(samples: int) -> None:
    found = validated(LOGISTIC, high_diabetes(), list(OF_RMS), "632", samples)
    for name, (mean, sd, corrected) in zip(found.rows, OF_RMS.values(), strict=True):
        metric = metric_named(name) if isinstance(name, str) else name
        scores = found.replicates.scores(metric).out_of_bag
        allowed = 4 * sqrt(scores.var(ddof=1) / len(scores) + sd**2 / RUNS)
        assert scores.mean() == pytest.approx(mean, abs=allowed + 1e-6), name
        assert found.rows[name].corrected == pytest.approx(corrected, abs=0.632 * allowed), name


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

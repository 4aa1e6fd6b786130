"""The leave-one-out and the .632+ bootstrap of R's ipred, on its own samples.

The numbers are of ipred 0.9-13 under R 4.2:

    library(ipred)
    samples <- list()
    nearest <- function(formula, data) {
      samples[[length(samples) + 1]] <<- data$row
      function(newdata) data$y[sapply(newdata$x, function(each) which.min(abs(data$x - each)))]
    }
    x <- c(0.21, 1.13, 0.74, 1.96, 1.45, 0.38, 1.30, 2.27, 1.02, 1.61, 0.87, 2.59)
    y <- factor(c("a", "b", "a", "b", "a", "a", "a", "b", "a", "b", "b", "b"))
    set.seed(4)
    found <- ipred:::bootest.factor(y, y ~ x, data.frame(y, x, row = 1:12), nearest, NULL, nboot = 6,
                                    bc632plus = TRUE, both.boot = TRUE)
    print(c(found$boot$error, found[["632plus"]]$error), digits = 16)
"""

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.protocols.validation.corrections import correction_named
from heldout.protocols.validation.replicates import Replicates

X = np.array([0.21, 1.13, 0.74, 1.96, 1.45, 0.38, 1.30, 2.27, 1.02, 1.61, 0.87, 2.59])
Y = np.array(list("ababaaabab" + "bb"))
SAMPLES = np.array(
    [
        [8, 11, 3, 3, 7, 12, 3, 6, 5, 10, 3, 8],
        [6, 2, 8, 1, 4, 11, 3, 11, 5, 2, 12, 5],
        [6, 5, 1, 6, 11, 5, 4, 1, 8, 12, 6, 11],
        [4, 12, 12, 5, 9, 2, 10, 4, 8, 10, 2, 10],
        [11, 6, 11, 11, 10, 6, 1, 4, 2, 4, 3, 1],
        [7, 7, 5, 8, 5, 8, 4, 10, 1, 8, 1, 4],
    ]
)
LEFT_OUT, PLUS = 0.4208333333333333, 0.3853100251110682


def said_by_the_nearest(rows: np.ndarray) -> np.ndarray:
    return (Y[rows][np.abs(X[rows] - X[:, None]).argmin(axis=1)] == "b").astype(np.int32)


def test_nearest_neighbours_on_the_samples_of_ipred():
    counts = np.stack([np.bincount(each - 1, minlength=12) for each in SAMPLES]).astype(np.uint8)
    replicates = Replicates(
        truth_of(Y),
        counts,
        {Response.LABELS: said_by_the_nearest(np.arange(12))[:, None]},
        {Response.LABELS: np.stack([said_by_the_nearest(each - 1) for each in SAMPLES], axis=1)[:, None]},
    )
    scores = replicates.scores(metric_named("zero_one_loss"))
    found = {name: correction_named(name).corrected(replicates, scores) for name in ("oob", "632+")}
    assert found["oob"].value == pytest.approx(LEFT_OUT, rel=1e-14)
    assert found["632+"].value == pytest.approx(PLUS, rel=1e-14)
    assert 0 < found["632+"].provenance["relative_overfitting"] < 1  # where ipred does as the article

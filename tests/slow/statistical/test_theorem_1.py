"""Cross-validation estimates the risk of training sets of the size of a fold's training part (theorem 1 of the
lecture notes on nested cross-validation: for leave-one-out, and its extension to K folds).

For any algorithm A, E[risk of A(S)] over samples S of m rows equals the expected K-fold estimate over samples of
m + m/(K - 1) rows. It is an identity: where the distribution has a few atoms both sides are sums over all samples,
and agree to rounding. Where they are simulated, a mean over repetitions is compared with the known risk; a test
fails when it is 4.5 of its own standard errors away, which happens by chance in fewer than 1 of 100 000 runs.

The theorem is about one algorithm. The score of the best of several lies on the flattering side, and a
configuration is no longer an algorithm fixed beforehand: that is what the rest of this library is about.
"""

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import heldout as ho

Row = tuple[int, int]
Algorithm = Callable[[Sequence[Row], int], int]
"""From the training rows (x, y) and an x to a label."""

ATOMS: dict[Row, float] = {(0, 0): 0.3, (0, 1): 0.15, (1, 0): 0.05, (1, 1): 0.5}
"""The whole distribution."""


def majority(rows: Sequence[Row], x: int) -> int:
    """The label that most rows have; 0 if as many have the other."""
    return int(2 * sum(y for _, y in rows) > len(rows))


def nearest(rows: Sequence[Row], x: int) -> int:
    """The label of the last row that has this x, or of the last row."""
    return next((y for at, y in reversed(rows) if at == x), rows[-1][1])


def contrary(rows: Sequence[Row], x: int) -> int:
    """An algorithm that learns the wrong way round, and from the order of the rows: any will do."""
    return 1 - nearest(rows, x) if len(rows) % 2 else int(rows[0][0] == x)


ALGORITHMS: tuple[Algorithm, ...] = (majority, nearest, contrary)


def expected(statistic: Callable[[Sequence[Row]], float], n: int) -> float:
    """The expectation of a statistic over all samples of n rows."""
    samples = itertools.product(ATOMS, repeat=n)
    return sum(np.prod([ATOMS[row] for row in sample]) * statistic(sample) for sample in samples)


def risk(algorithm: Algorithm, rows: Sequence[Row]) -> float:
    """The probability that the trained algorithm errs on a new row."""
    return sum(share for (x, y), share in ATOMS.items() if algorithm(rows, x) != y)


def held_out(algorithms: Sequence[Algorithm], rows: Sequence[Row], folds: np.ndarray) -> np.ndarray:
    """(rows, algorithms): the label by each algorithm without the row's fold."""
    labels = np.empty((len(rows), len(algorithms)), dtype=int)
    for i, (x, _) in enumerate(rows):
        training = [row for row, fold in zip(rows, folds, strict=True) if fold != folds[i]]
        labels[i] = [algorithm(training, x) for algorithm in algorithms]
    return labels


def cross_validated(algorithms: Sequence[Algorithm], rows: Sequence[Row], folds: np.ndarray) -> ho.Estimate:
    return ho.estimate(
        [y for _, y in rows],
        held_out(algorithms, rows, folds),
        metric="zero_one_loss",
        method="cv",
        folds=folds,
        classes=[0, 1],
        response="labels",
        random_state=0,
    )


@pytest.mark.parametrize(
    ("algorithm", "m", "folds"),
    [
        *((algorithm, 2, [0, 1, 2]) for algorithm in ALGORITHMS),
        (contrary, 3, [0, 1, 2, 3]),
        (nearest, 2, [0, 0, 1, 1]),
    ],
)
def test_the_expected_estimate_is_the_expected_risk_exactly(algorithm, m, folds):
    labels = np.array(folds)
    estimated = expected(lambda rows: cross_validated([algorithm], rows, labels).value, len(folds))
    assert estimated == pytest.approx(expected(lambda rows: risk(algorithm, rows), m), abs=1e-12)


def test_the_training_size_is_that_of_the_theorem():
    rows = ((0, 0), (0, 1), (1, 1), (1, 1))
    assert cross_validated([majority], rows, np.arange(4)).provenance["training_rows"] == 3
    assert cross_validated([majority], rows, np.array([0, 0, 1, 1])).provenance["training_rows"] == 2


def test_the_best_score_of_several_is_no_such_estimate():
    """Over all samples: the winner's score flatters, by more than the winner's risk at any training size allows."""
    samples = itertools.product(ATOMS, repeat=4)
    estimates = {rows: cross_validated(ALGORITHMS, rows, np.arange(4)) for rows in samples}
    best = expected(lambda rows: estimates[rows].value, 4)
    least = min(expected(lambda rows, one=algorithm: risk(one, rows), 3) for algorithm in ALGORITHMS)
    of_winner = expected(lambda rows: risk(ALGORITHMS[estimates[rows].selected], rows[:3]), 4)
    assert best < least - 0.02
    assert best < of_winner - 0.02


def left_out_predictions(X: np.ndarray, y: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """(rows, 1): predictions of least squares without each row's fold."""
    predictions = np.empty((len(y), 1))
    for fold in np.unique(folds):
        test = folds == fold
        predictions[test, 0] = X[test] @ np.linalg.lstsq(X[~test], y[~test], rcond=None)[0]
    return predictions


def least_squares_estimates(n: int, n_folds: int, repetitions: int, method: str = "cv") -> np.ndarray:
    rng = np.random.default_rng([n, n_folds])
    folds = np.arange(n) % n_folds
    found = []
    for seed in range(repetitions):
        X, noise = rng.normal(size=(n, COLUMNS)), rng.normal(size=n)
        y = X @ np.ones(COLUMNS) + noise
        predictions = left_out_predictions(X, y, folds)
        settings = {"metric": "mean_squared_error", "folds": folds, "n_bootstraps": 100, "random_state": seed}
        found.append(ho.estimate(y, predictions, method=method, **settings).value)
    return np.array(found)


COLUMNS = 5


def least_squares_risk(m: int) -> float:
    """1 + p/(m - p - 1): of least squares without intercept on m normal rows, noise of variance 1."""
    return 1 + COLUMNS / (m - COLUMNS - 1)


def standard_errors_off(values: np.ndarray, expectation: float) -> float:
    return abs(values.mean() - expectation) / (values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize("method", ["cv", "bbc"])
@pytest.mark.parametrize("n, n_folds", [(13, 13), (15, 5), (24, 2), (18, 3)])
def test_least_squares_has_the_risk_of_twelve_rows_and_of_no_other(n, n_folds, method):
    """``bbc`` of one algorithm has the expectation of ``cv``: the mean of the rows left out is one of all rows."""
    values = least_squares_estimates(n, n_folds, 4000, method)
    assert standard_errors_off(values, least_squares_risk(12)) < 4.5
    if n >= 15:  # of the size of the whole sample it is told apart; one row more or less is too little for that
        assert standard_errors_off(values, least_squares_risk(n)) > 4.5

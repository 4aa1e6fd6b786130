"""The bias of cv, tt and bbc where the truth is known (Tsamardinos et al. 2018, section 6.1).

C configurations have true accuracies P_j ~ Beta(9, 6); predictions are right with probability P_j, independently.
The bias of a protocol is its estimate less the true accuracy of its winner, so that cv must be flattered and bbc
must not. Each expectation below was reached by an independent simulation (200 settings' means, 500 repetitions);
a test fails when a mean leaves it by more than four of its own standard errors plus the allowance for reading it
from a mean over C, that is by chance in less than 1 of 10 000 runs.
"""

import numpy as np
import pytest

import heldout as ho

PROTOCOLS = {"cv": "pooled", "tt": "folds", "bbc": "pooled"}


def biases(rows: int, configurations: int, repetitions: int, n_bootstraps: int = 200) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([rows, configurations])
    folds = np.arange(rows) % 10
    found: dict[str, list[float]] = {name: [] for name in PROTOCOLS}
    for seed in range(repetitions):
        truth = rng.beta(9, 6, configurations)
        right = (rng.random((rows, configurations)) < truth).astype(int)
        for name, aggregate in PROTOCOLS.items():
            estimate = ho.estimate(
                np.resize([1, 0], rows),
                np.where(np.resize([True, False], rows)[:, None], right, 1 - right),
                metric="accuracy",
                method=name,
                folds=folds,
                aggregate=aggregate,
                n_bootstraps=n_bootstraps,
                random_state=seed,
            )
            found[name].append(estimate.value - truth[estimate.selected])
    return {name: np.array(values) for name, values in found.items()}


def assert_mean(values: np.ndarray, expected: float, allowance: float) -> None:
    standard_error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - expected) < 4 * standard_error + allowance, (values.mean(), expected, standard_error)


# Mean biases over C = 50 .. 2000 for Beta(9, 6). At one C they differ from the mean over C: hence the allowance.
EXPECTED = {
    20: {"cv": 0.156, "tt": 0.125, "bbc": -0.032},
    100: {"cv": 0.040, "tt": -0.045, "bbc": -0.015},
    500: {"cv": 0.009, "tt": -0.024, "bbc": -0.003},
}


@pytest.mark.parametrize("rows", [20, 100, 500])
def test_biases_are_those_of_the_article(rows):
    of_all = [biases(rows, configurations, 60, n_bootstraps=1000) for configurations in (50, 300, 1000)]
    for name in PROTOCOLS:
        assert_mean(np.concatenate([found[name] for found in of_all]), EXPECTED[rows][name], 0.006)

"""The bias of bbc_f where the truth is known: the accuracies of section 6.1 of Tsamardinos et al. (2018), by folds.

C = 300 configurations have true accuracies P_j ~ Beta(9, 6), predictions are right with probability P_j,
independently, and K = 10 folds. The bias is the estimate less the true accuracy of the winner. The expected biases
were reached by an independent program: plain loops over algorithm 1 of Paraschakis et al. (2024) with
``numpy.random.default_rng(20261120)`` and B = 200. A test fails when a mean leaves the expected one by more than
four standard errors of the difference, that is by chance in less than 1 of 10 000 runs.
"""

import numpy as np
import pytest

import heldout as ho

# rows: (bias, its standard error, share of intervals [the 10th of 200, 1] that hold the truth)
EXPECTED = {20: (-0.0289, 0.0026, 0.958), 100: (-0.0148, 0.0010, 0.988), 500: (-0.0032, 0.0007, 0.980)}
CONFIGURATIONS = 300


def repetitions(rows: int, n: int, method: object = "bbc_f") -> tuple[np.ndarray, np.ndarray]:
    """Biases, and whether the one-sided interval holds the truth."""
    rng = np.random.default_rng([rows, n])
    biases, held = [], []
    for seed in range(n):
        truth = rng.beta(9, 6, CONFIGURATIONS)
        right = rng.random((rows, CONFIGURATIONS)) < truth
        found = ho.estimate_from_scores(
            [right[k::10].mean(axis=0) for k in range(10)],
            greater_is_better=True,
            method=method,
            range=(0, 1),
            n_bootstraps=200,
            alternative="greater",
            random_state=seed,
        )
        biases.append(found.value - truth[found.selected])
        held.append(truth[found.selected] in found.interval)
    return np.array(biases), np.array(held)


def assert_as_expected(rows: int, n: int) -> None:
    biases, held = repetitions(rows, n)
    expected, error, coverage = EXPECTED[rows]
    assert abs(biases.mean() - expected) < 4 * np.hypot(biases.std(ddof=1) / np.sqrt(n), error)
    spread = np.sqrt(coverage * (1 - coverage) * (1 / n + 1 / 600))
    assert abs(held.mean() - coverage) < 4 * spread + 1 / n
    assert held.mean() > 0.9


def test_the_naive_bootstrap_is_flattered_and_covers_too_seldom():
    biases, held = repetitions(100, 120, ho.estimates.NaiveBootstrap(unit="folds"))
    # The optimism of cross-validation there is .040 on average (Tsamardinos et al., reached independently).
    assert biases.mean() == pytest.approx(0.040, abs=4 * biases.std(ddof=1) / np.sqrt(120) + 0.012)
    assert held.mean() < 0.9


@pytest.mark.parametrize("rows", [20, 100, 500])
def test_bbc_f_has_the_bias_and_coverage_of_its_article(rows):
    assert_as_expected(rows, 800)

"""What the corrections of a validation get right, where the truth is known.

Two simulations. On noise, with one nearest neighbour, some expectations are known exactly: labels are fair coins
that nothing predicts, so that a model is right on half of the rows that it has not seen and on all that it has. And
on data with an effect (``validation_simulation``) the truth is how the fitted model does on 20 000 new rows.

Everything is compared with a multiple of its own standard error over the repetitions: 4.5 of them, which chance
exceeds in 1 of 6 700 comparisons with 25 repetitions (Student's t), and the seeds are fixed. Where a method is not
exactly unbiased the allowance beside it was set beforehand.
"""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from validation_simulation import CORRECTIONS, METHODS, METRICS, MODELS, errors, mean_and_error

import heldout as ho
from heldout.metrics import metric_named

Z = 4.5
FLATTERING = np.array([1.0, -1.0, 1.0])  # of the METRICS: area, Brier score, accuracy
REMEMBERING = ("tree", "1-NN")


def errors_on_noise(n: int, n_bootstraps: int, repetitions: int) -> dict[str, np.ndarray]:
    """Error rates of one nearest neighbour by each correction, (repetitions,)."""
    found: dict[str, list[float]] = {correction.name: [] for correction in CORRECTIONS}
    metric = metric_named("zero_one_loss")
    for repetition in range(repetitions):
        rng = np.random.default_rng([n, repetition])
        X, y = rng.normal(size=(n, 5)), rng.integers(0, 2, n)
        replicates = ho.bootstrap_validate(
            KNeighborsClassifier(1), X, y, metric=metric, n_bootstraps=n_bootstraps, interval=None,
            random_state=repetition,
        ).replicates  # fmt: skip
        scores = replicates.scores(metric)
        assert scores.apparent == 0.0
        for correction in CORRECTIONS:
            found[correction.name].append(correction.corrected(replicates, scores).value)
    return {name: np.array(values) for name, values in found.items()}


def assert_as_expected_on_noise(n: int, n_bootstraps: int, repetitions: int) -> None:
    found = errors_on_noise(n, n_bootstraps, repetitions)
    left_out = (1 - 1 / n) ** n  # expected share of the rows that a sample does not hold
    for method, expected in {"oob": 0.5, "632": 0.316, "optimism": 0.5 * left_out}.items():
        mean, error = mean_and_error(found[method])
        assert abs(mean - expected) < Z * error, method
    # No exact expectation: it is bounded by the no-information rate, so that it cannot err upward.
    mean, error = mean_and_error(found["632+"])
    assert 0.42 - Z * error < mean < 0.5 + Z * error


@pytest.mark.parametrize("n", [30, 60])
def test_on_noise_that_is_remembered_at_length(n: int) -> None:
    assert_as_expected_on_noise(n, 60, repetitions=120)


def flattery(
    name: str, n: int, repetitions: int, n_bootstraps: int, methods: tuple[str, ...] = METHODS
) -> dict[str, np.ndarray]:
    """(repetitions, metrics) of each method: estimate less truth, positive where it flatters."""
    found = errors(MODELS[name], n, range(repetitions), n_bootstraps, methods) * FLATTERING
    return {method: found[:, place] for place, method in enumerate(methods)}


def assert_corrected_is_less_flattered_than_apparent(found: dict[str, np.ndarray], by: float) -> None:
    for method in ("optimism", "632", "632+"):
        gain, error = mean_and_error(found["apparent"] - found[method])
        assert (gain - by > Z * error).all(), method


def assert_unbiased(found: dict[str, np.ndarray], methods: tuple[str, ...], allowance: float) -> None:
    for method in methods:
        bias, error = mean_and_error(found[method])
        assert (np.abs(bias) < allowance + Z * error).all(), method


def assert_632_plus_flatters_least(found: dict[str, np.ndarray], by: float) -> None:
    """Of models that remember their rows: less than .632, and that less than the optimism bootstrap."""
    for worse, better in (("optimism", "632"), ("632", "632+")):
        gain, error = mean_and_error(found[worse] - found[better])
        assert (gain - by > Z * error).all(), (worse, better)


@pytest.mark.parametrize("n", [100, 200])
def test_a_well_specified_model_at_length(n: int) -> None:
    found = flattery("logistic", n, repetitions=100, n_bootstraps=100)
    assert_corrected_is_less_flattered_than_apparent(found, by=0.01)
    assert_unbiased(found, ("optimism", "632", "632+", "cv"), allowance=0.015 * 100 / n)


@pytest.mark.parametrize("name", REMEMBERING)
@pytest.mark.parametrize("n", [50, 200])
def test_a_model_that_remembers_its_rows_at_length(name: str, n: int) -> None:
    found = flattery(name, n, repetitions=60, n_bootstraps=100)
    assert_corrected_is_less_flattered_than_apparent(found, by=0.1)
    assert_632_plus_flatters_least(found, by=0.05)
    assert_unbiased(found, ("632+", "oob"), allowance=0.05)


def test_five_rows_a_column() -> None:
    """Samples are often separable, and no bootstrap correction is exact; each is far better than none."""
    found = flattery("logistic", 50, repetitions=100, n_bootstraps=100)
    assert_corrected_is_less_flattered_than_apparent(found, by=0.04)
    assert len(METRICS) == found["apparent"].shape[1]

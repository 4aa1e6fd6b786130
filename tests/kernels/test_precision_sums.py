from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

Y = np.array([0, 0, 1, 1], dtype=bool)


def test_by_hand(kernels: ModuleType) -> None:
    scores = np.array([[0.1], [0.4], [0.35], [0.8]])
    averages = kernels.PrecisionSums(scores, Y).all(np.array([[1, 1, 1, 1], [1, 3, 1, 1]], dtype=np.uint8))
    # Positives come first (precision 1) and third (2 of 3 rows; with a tripled negative 2 of 5).
    np.testing.assert_allclose(averages, [[0.5 * 1 + 0.5 * 2 / 3], [0.5 * 1 + 0.5 * 2 / 5]], rtol=1e-15)


def test_tied_rows_enter_together(kernels: ModuleType) -> None:
    averages = kernels.PrecisionSums(np.full((4, 1), 0.7), Y).all(np.array([[1, 2, 1, 0]], dtype=np.uint8))
    assert averages.tolist() == [[0.25]]


def test_without_positive_weight_there_is_no_average(kernels: ModuleType) -> None:
    sums = kernels.PrecisionSums(np.arange(4.0)[:, None], Y)
    counts = np.array([[2, 2, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(sums.all(counts), [[np.nan], [np.nan], [1.0]])
    np.testing.assert_array_equal(sums.selected(counts, np.zeros(3, dtype=np.intp)), [np.nan, np.nan, 1.0])


@pytest.mark.parametrize("kind", ["counts", "large counts", "weights"])
@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_equals_scikit_learn(kernels: ModuleType, decimals: int, kind: str) -> None:
    rng = np.random.default_rng(decimals)
    y = rng.random(60) < 0.3
    scores = np.round(rng.normal(size=(60, 3)) + y[:, None], decimals)
    counts = rng.integers(0, 256 if kind == "large counts" else 4, size=(12, 60), dtype=np.uint8)
    weightings = counts * rng.random(60) if kind == "weights" else counts
    averages = kernels.PrecisionSums(scores, y).all(weightings)
    expected = [[average_precision_score(y, column, sample_weight=w) for column in scores.T] for w in weightings]
    np.testing.assert_allclose(averages, expected, rtol=0, atol=1e-12)

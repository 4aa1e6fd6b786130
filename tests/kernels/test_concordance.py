from types import ModuleType

import numpy as np
import pytest

from heldout.kernels import reference
from heldout.kernels.reference import places_in_time

EVENT = np.array([True, False, True, True, False])
TIME = np.array([1.0, 2.0, 2.0, 2.0, 5.0])
# Pairs (event, later): 0 with 1 2 3 4; 2 with 1 and 4; 3 with 1 and 4. 2 and 3 are events at one time.


@pytest.fixture
def sums(kernels: ModuleType) -> type:
    return getattr(kernels, "ConcordanceSums", reference.ConcordanceSums)


def doubled_pairs(risks: np.ndarray, event: np.ndarray, time: np.ndarray, rows: np.ndarray) -> int:
    """Pair by pair on repeated rows, in Python's integers; the words of the definition."""
    total = 0
    for i in rows:
        for j in rows:
            outlasts = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if event[i] and outlasts:
                total += 2 * int(risks[i] > risks[j]) + int(risks[i] == risks[j])
    return total


def test_by_hand(sums: type) -> None:
    risks = np.array([[3.0, 0.0, 1.0], [1.0, 0.0, 2.0], [2.0, 0.0, 3.0], [1.0, 0.0, 4.0], [2.0, 0.0, 5.0]])
    counts = np.array([[1, 1, 1, 1, 1], [2, 0, 0, 3, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]], dtype=np.uint8)
    # Column 0: row 0 wins all 4; row 2 beats 1 and ties with 4; row 3 ties with 1 and loses to 4.
    found = sums(risks, EVENT, TIME).all(counts)
    assert found.dtype == np.int64
    assert found[:, 0].tolist() == [8 + 3 + 1, 2 * (2 * 3) + 2 * (2 * 1) + 0, 0, 2]
    # Equal risks: the number of pairs. In the third draw two events at one time, and no pair.
    assert found[:, 1].tolist() == [8, 2 * 3 + 2 * 1 + 3 * 1, 0, 1]
    assert sums(risks, EVENT, TIME).selected(counts, np.array([1, 0, 2, 0])).tolist() == [8, 16, 0, 2]


def test_places(kernels: ModuleType) -> None:
    assert places_in_time(EVENT, TIME).tolist() == [1, 4, 3, 3, 4]
    assert places_in_time(np.array([False, False]), np.array([1.0, 2.0])).tolist() == [0, 0]


@pytest.mark.parametrize("n", [2, 7, 9, 40, 90])
@pytest.mark.parametrize("times", [2, 8, 10_000])
def test_equals_all_pairs_of_repeated_rows(sums: type, n: int, times: int) -> None:
    rng = np.random.default_rng(n)
    risks = np.round(rng.normal(size=(n, 3)), 1)
    event, time = rng.random(n) < 0.6, rng.integers(0, times, size=n).astype(float)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=4).astype(np.uint8)
    expected = [[doubled_pairs(r, event, time, np.repeat(np.arange(n), w)) for r in risks.T] for w in counts]
    assert sums(risks, event, time).all(counts).tolist() == expected


def test_a_factor_weighs_the_event_of_a_pair(sums: type) -> None:
    factors = np.array([0.5, 7.0, 3.0, 0.25, 9.0])  # those of censored rows are in no pair
    risks = np.array([[3.0], [1.0], [2.0], [1.0], [2.0]])
    counts = np.array([[1, 1, 1, 1, 1], [2, 0, 0, 3, 1]], dtype=np.uint8)
    found = sums(risks, EVENT, TIME, factors).all(counts)
    assert found.dtype == np.float64
    assert found.tolist() == [[0.5 * 8 + 3.0 * 3 + 0.25 * 1], [0.5 * 16]]
    assert sums(risks, EVENT, TIME, factors).selected(counts / 2, np.array([0, 0])).tolist() == [13.25 / 4, 2.0]


def test_times_and_risks_may_be_huge_or_equal_zeros(sums: type) -> None:
    risks = np.array([[0.0], [-0.0], [1e308], [-1e308]])
    event, time = np.array([True, True, False, True]), np.array([0.0, 1e-300, 1e300, 1e308])
    # Row 0 ties with 1, loses to 2, beats 3; row 1 loses to 2 and beats 3.
    assert sums(risks, event, time).all(np.ones((1, 4), dtype=np.uint8)).tolist() == [[1 + 2 + 2]]


def test_more_rows_than_a_16_bit_sum_can_hold(sums: type) -> None:
    rng = np.random.default_rng(2)
    n = 500
    risks, event, time = rng.normal(size=(n, 1)), np.ones(n, dtype=bool), np.arange(n, dtype=float)
    for largest in (31, 200):
        counts = rng.integers(largest - 1, largest + 1, size=(2, n), dtype=np.uint8)
        order = np.arange(n)
        won = 2 * (risks[:, 0][:, None] > risks[:, 0]) * (order[:, None] < order)
        expected = [[int(w.astype(np.int64) @ won @ w.astype(np.int64))] for w in counts]
        assert sums(risks, event, time).all(counts).tolist() == expected
    assert (counts.sum(axis=1, dtype=int) > 65_535).all()


@pytest.mark.parametrize("wrong", ["nan", "length"])
def test_what_it_refuses(sums: type, wrong: str) -> None:
    risks = np.array([[0.0], [np.nan if wrong == "nan" else 1.0]])
    event, time = np.array([True, False]), np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="NaN" if wrong == "nan" else "one value per row"):
        sums(risks, event if wrong == "nan" else event[:1], time)


@pytest.mark.parametrize("with_factors", [False, True])
def test_pairs_within_folds_are_those_of_each_fold(sums: type, with_factors: bool) -> None:
    rng = np.random.default_rng(4)
    risks, event = np.round(rng.normal(size=(80, 3)), 1), rng.random(80) < 0.6
    time, folds = rng.integers(0, 30, size=80).astype(float), rng.integers(0, 4, size=80)
    factors = rng.gamma(1.0, size=80) if with_factors else None
    counts = rng.integers(0, 5, size=(9, 80), dtype=np.uint8)
    expected = 0
    for fold in range(4):
        rows = np.flatnonzero(folds == fold)
        mine = sums(risks[rows], event[rows], time[rows], None if factors is None else factors[rows])
        expected = expected + mine.all(np.ascontiguousarray(counts[:, rows]))
    found = sums(risks, event, time, factors, folds).all(counts)
    np.testing.assert_allclose(found, expected, rtol=1e-12 if with_factors else 0)

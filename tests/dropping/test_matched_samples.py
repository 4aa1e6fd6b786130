from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, friedmanchisquare

from heldout.dropping.sequential import (
    FEW_ENTRIES,
    BlockTest,
    cochran_q,
    cochran_q_of_each,
    friedman_of_each,
)


def friedman(table: np.ndarray) -> BlockTest:
    return list(friedman_of_each(table))[-1]


def test_q_worked_by_hand():
    # T = (3, 3, 0), L = (2, 1, 2, 1): Q = 2 (3·18 - 36) / (3·6 - 10) = 36/8. Of the 81 arrangements (three for each
    # row) 18 give column sums of (3, 3, 0) in some order: two rows hold a pair, two a single one of that pair.
    found = cochran_q(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    assert found.statistic == pytest.approx(4.5)
    assert found.p_value == pytest.approx(18 / 81)


def test_exact_p_is_the_share_of_all_arrangements():
    rng = np.random.default_rng(4)
    for n, k in ((2, 3), (3, 3), (2, 4), (4, 2)):
        table = (rng.random((n, k)) < 0.5).astype(int)
        table[:, 0], table[:, 1] = 1, 0  # so that every row differs
        own = float((table.sum(axis=0) ** 2).sum())
        arranged = [list(permutations(row)) for row in table.tolist()]
        reached = [float((np.array(each).sum(axis=0) ** 2).sum()) >= own for each in product(*arranged)]
        assert cochran_q(table).p_value == pytest.approx(np.mean(reached))


def test_two_columns_are_the_exact_sign_test():
    table = np.array([[1, 0]] * 5 + [[0, 1]] + [[1, 1]] * 3)
    assert cochran_q(table).p_value == pytest.approx(2 * (1 + 6) / 2**6)


def test_from_the_25th_entry_on_p_is_of_chi_squared():
    rows = FEW_ENTRIES // 2
    few = np.array([[1, 0]] * (rows - 2) + [[0, 1]] * 2)
    many = np.vstack([few, [[1, 0]]])
    assert cochran_q(few).p_value == pytest.approx(2 * (1 + 12 + 66) / 2**12)
    assert cochran_q(many).p_value == pytest.approx(chi2.sf((11 - 2) ** 2 / 13, 1))
    both_right = np.ones((50, 2), dtype=int)  # rows in which nobody differs do not count
    assert cochran_q(np.vstack([few, both_right])) == cochran_q(few)


def test_where_nobody_differs_p_is_one():
    assert cochran_q(np.ones((5, 3))) == cochran_q(np.zeros((5, 3))) == (0.0, 1.0)
    assert friedman(np.ones((5, 3))) == (0.0, 1.0)
    assert cochran_q(np.eye(4)[:, :1]) == friedman(np.arange(4.0)[:, None]) == (0.0, 1.0)


def test_friedman_worked_by_hand():
    # Ranks (1, 2, 3), (1, 2, 3), (2, 1, 3), (1, 3, 2) sum to 5, 8, 11: 12/(4·3·4) · (9 + 0 + 9) = 4.5.
    found = friedman(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]]))
    assert found.statistic == pytest.approx(4.5)
    assert found.p_value == pytest.approx(np.exp(-2.25))


@given(st.integers(2, 7), st.integers(3, 30), st.integers(1, 40), st.integers(0, 10**6))
def test_friedman_is_scipy_s(k, n, values, seed):
    table = np.random.default_rng(seed).integers(0, values, (n, k)).astype(float)
    table[0] = np.arange(k)
    for number, found in enumerate(friedman_of_each(table), start=1):
        if number >= 3:  # as SciPy demands
            expected = friedmanchisquare(*table[:, :number].T)
            assert found.statistic == pytest.approx(expected.statistic)
            assert found.p_value == pytest.approx(expected.pvalue)


@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 10**6))
def test_each_of_the_growing_tables_is_tested_as_it_is(k, n, seed):
    table = np.random.default_rng(seed).integers(0, 2, (n, k))
    assert list(cochran_q_of_each(table)) == [cochran_q(table[:, :number]) for number in range(1, k + 1)]
    assert [found.statistic for found in friedman_of_each(table)] == pytest.approx(
        [friedman(table[:, :number]).statistic for number in range(1, k + 1)]
    )


@given(st.integers(2, 5), st.integers(1, 12), st.integers(0, 10**6))
def test_order_does_not_matter_and_right_is_as_good_as_wrong(k, n, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (n, k))
    found = cochran_q(table)
    assert cochran_q(table[rng.permutation(n)][:, rng.permutation(k)]) == pytest.approx(found)
    assert cochran_q(1 - table) == pytest.approx(found)
    assert friedman(-table) == pytest.approx(friedman(table))

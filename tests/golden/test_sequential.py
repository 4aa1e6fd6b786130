"""Cochran's Q and Friedman's test against statsmodels 0.14 and SciPy 1.17, whose results stand as constants."""

import numpy as np
import pytest

from heldout.dropping.sequential import BlockTest, cochran_q, friedman_of_each


def friedman(table: np.ndarray) -> BlockTest:
    return list(friedman_of_each(table))[-1]


HITS = """
0001 1111 1001 0000 0101 0101 0010 0101 0111 0111 0011 0001 1010 0010 0101
0111 1001 0111 0000 0001 0011 0011 1100 0101 0111 0011 1101 0111 1110 0111
"""

LOSSES = [
    [2, -1, 1, 1],
    [-1, -1, 0, 1],
    [-1, 0, 1, 1],
    [1, 1, 1, 3],
    [1, 0, 1, 0],
    [0, 1, 1, 3],
    [0, -1, 2, 2],
    [-1, 2, 0, -1],
    [0, 0, 2, 0],
    [0, 0, 0, 0],
    [0, 1, 1, 0],
    [-1, 0, 0, 0],
]


def test_cochran_q_is_that_of_statsmodels():
    # statsmodels.stats.contingency_tables.cochrans_q
    found = cochran_q(np.array([[int(hit) for hit in row] for row in HITS.split()]))
    assert found.statistic == pytest.approx(16.46808510638298, rel=1e-13)
    assert found.p_value == pytest.approx(0.000909008575678914, rel=1e-11)


def test_friedman_is_that_of_scipy():
    # scipy.stats.friedmanchisquare, with ties
    found = friedman(np.array(LOSSES, dtype=float))
    assert found.statistic == pytest.approx(7.431818181818205, rel=1e-13)
    assert found.p_value == pytest.approx(0.05933645891262989, rel=1e-12)

"""Tests of whether several treatments are alike on the same blocks: Cochran's Q and Friedman's.

Here treatments are configurations, and blocks are the rows that all of them predicted, or the steps that all of
them ran. Columns are added one after another, with a test after each: all tests of a growing set together cost as
much as the last one alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from heldout._types import Floats

FEW_ENTRIES = 24
"""With at most so many entries in rows that differ, Q is too far from chi-squared (Tate & Brown 1970)."""


class BlockTest(NamedTuple):
    """A statistic, and the probability of one at least as large were all columns alike."""

    statistic: float
    p_value: float


def cochran_q(table: NDArray[Any]) -> BlockTest:
    """Cochran's Q of a table (n, k) of 0 and 1, a row a block.

    With T_j the sum of column j and L_i that of row i, Q = (k-1)(k ΣT² - (ΣT)²) / (k ΣL - ΣL²), about chi-squared
    with k - 1 degrees of freedom (Cochran 1950). Where the rows that differ have no more than 24 entries, p is the
    exact share of the arrangements, each row's entries in any order, with a Q at least as large. Where no row
    differs, or there is one column, Q is 0 and p is 1.

    Examples
    --------
    >>> cochran_q(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    BlockTest(statistic=4.5, p_value=0.2222222222222222)
    """
    *_, last = cochran_q_of_each(table)
    return last


def cochran_q_of_each(table: NDArray[Any]) -> Iterator[BlockTest]:
    """Cochran's Q of the first 1, 2, ..., k columns."""
    of_row = np.zeros(len(table), dtype=np.int64)
    total = squares = 0
    for k in range(1, table.shape[1] + 1):
        column = table[:, k - 1].astype(np.int64)
        of_row += column
        total += int(column.sum())
        squares += int(column.sum()) ** 2
        differ = of_row[(of_row > 0) & (of_row < k)]
        if not len(differ):
            yield BlockTest(0.0, 1.0)
            continue
        spread = k * squares - total**2
        statistic = (k - 1) * spread / float(k * int(differ.sum()) - int((differ**2).sum()))
        exact = len(differ) * k <= FEW_ENTRIES
        yield BlockTest(
            statistic, _exact_p(differ.tolist(), k, spread) if exact else float(chdtrc(k - 1, statistic))
        )


def friedman_of_each(table: NDArray[Any]) -> Iterator[BlockTest]:
    """Friedman's statistic of the first 1, 2, ..., k columns of a table (n, k) of numbers, a row a block.

    With R_j the sum of column j's ranks within rows (ties share theirs), it is
    12/(nk(k+1)) Σ(R_j - n(k+1)/2)² / (1 - Σ(t³-t)/(nk(k²-1))), t the size of each tie, about chi-squared with k - 1
    degrees of freedom (Friedman 1937). Where every row is one tie, or there is one column, it is 0 and p is 1.

    Examples
    --------
    >>> *_, of_all = friedman_of_each(np.array([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 3, 2]]))
    >>> of_all.statistic, round(of_all.p_value, 4)
    (4.5, 0.1054)
    """
    n = len(table)
    rank_sums: Floats = np.zeros(table.shape[1])
    ties = 0.0
    for k in range(1, table.shape[1] + 1):
        before, new = table[:, : k - 1], table[:, k - 1, None]
        above, equal = before > new, before == new
        # A new entry moves the greater ones of its row up by one, and shares its rank with its equals.
        rank_sums[: k - 1] += above.sum(axis=0) + equal.sum(axis=0) / 2
        tied = equal.sum(axis=1).astype(np.float64)
        rank_sums[k - 1] = float((k - above.sum(axis=1) - tied / 2).sum())
        ties += float((3 * tied * (tied + 1)).sum())  # (t+1)³ - (t+1) - (t³ - t)
        untied = 1 - ties / (n * k * (k**2 - 1)) if k > 1 else 0.0
        if untied <= 0:
            yield BlockTest(0.0, 1.0)
            continue
        spread = float(((rank_sums[:k] - n * (k + 1) / 2) ** 2).sum())
        statistic = 12 * spread / (n * k * (k + 1)) / untied
        yield BlockTest(statistic, float(chdtrc(k - 1, statistic)))


def _exact_p(row_sums: Sequence[int], k: int, spread: int) -> float:
    """The share of arrangements of rows with these sums in which k Σ T² - (Σ T)² is at least ``spread``."""
    ways: Counter[tuple[int, ...]] = Counter({(0,) * k: 1})
    for size in row_sums:
        grown: Counter[tuple[int, ...]] = Counter()
        for sums, n in ways.items():
            for ones in combinations(range(k), size):
                moved = list(sums)
                for column in ones:
                    moved[column] += 1
                grown[tuple(sorted(moved))] += n
        ways = grown
    total = sum(row_sums)
    reached = sum(n for sums, n in ways.items() if k * sum(each**2 for each in sums) - total**2 >= spread)
    return reached / prod(comb(k, size) for size in row_sums)

"""The race of BCED-CV on a complete matrix of right and wrong predictions, with the shares of all bootstraps.

Where the article draws 1000 bootstraps of the rows seen so far and counts in what share of them a configuration is
worse than the leader, this is the share that they tend to. For two columns of 0 and 1 it depends on three counts
only: rows, rows on which the one errs alone, and rows on which the other does.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from heldout.dropping.shares import share_of_more_errors

MOST_EXACT = 50
"""Rows up to which shares are exact; with more, an expansion is within .003 of them near .99."""


def survivors(wrong: NDArray[np.bool_], starts: NDArray[np.intp], threshold: float) -> NDArray[np.intp]:
    """Who is never dropped, from the first fold on.

    Parameters
    ----------
    wrong : ndarray of bool, shape (N, C)
    starts : ndarray of int, shape (K,)
        The first row of each fold, in the order in which they are met.
    threshold : float
        The article's α: whose share is above it leaves.

    Returns
    -------
    ndarray of int
        Columns, in order.

    Examples
    --------
    >>> wrong = np.array([[0, 0, 1]] * 10, dtype=bool)  # the third is always wrong
    >>> survivors(wrong, np.array([0, 5]), 0.99).tolist()
    [0, 1]
    """
    errors = np.cumsum(np.add.reduceat(wrong, starts, axis=0, dtype=np.int64), axis=0)
    alive = np.arange(wrong.shape[1])
    for fold, end in enumerate(starts[1:]):
        own = errors[fold, alive]
        leader = int(own.argmin())
        where_leader_errs = np.flatnonzero(wrong[:end, alive[leader]])
        both = np.count_nonzero(wrong[np.ix_(where_leader_errs, alive)], axis=0)
        share = share_worse(int(end), own - both, own[leader] - both)
        alive = alive[share <= threshold]
    return alive


def share_worse(n: int, more: NDArray[np.int64], fewer: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of bootstraps of n rows in which more of the ``more`` rows are drawn than of the ``fewer``.

    Examples
    --------
    >>> float(share_worse(2, np.array([1]), np.array([0]))[0])  # drawn at least once in 2 draws of 2 rows
    0.75
    """
    if n <= MOST_EXACT:
        return exact_shares(n)[more, fewer]
    return share_of_more_errors(np.array(float(n)), more.astype(np.float64), fewer.astype(np.float64))


@cache
def exact_shares(n: int) -> NDArray[np.float64]:
    """(n + 1, n + 1): by the two counts, from the trinomial distribution; NaN where they exceed n together."""
    drawn, against = np.nonzero(np.tri(n + 1, k=-1, dtype=bool))
    possible = drawn + against <= n
    drawn, against = drawn[possible], against[possible]
    neither = n - drawn - against
    ways = gammaln(n + 1) - gammaln(drawn + 1) - gammaln(against + 1) - gammaln(neither + 1) - n * np.log(n)
    shares = np.full((n + 1, n + 1), np.nan)
    for more in range(n + 1):
        fewer = np.arange(n + 1 - more)[:, None]
        each = ways + xlogy(drawn, more) + xlogy(against, fewer) + xlogy(neither, n - more - fewer)
        shares[more, : n + 1 - more] = np.exp(each).sum(axis=1)
    return np.minimum(shares, 1.0)

"""Dropping by BCED-CV on a complete matrix of right and wrong predictions, with the shares of all bootstraps.

The article draws 1000 bootstraps of the rows so far and counts the share in which a configuration is worse than the
current best; this is the limit of that share. For two columns of 0 and 1 it depends on three counts
only: rows, rows on which the one errs alone, and rows on which the other does.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from heldout.dropping.loss_course import share_of_more_errors

MOST_EXACT = 50
"""Rows up to which shares are exact; with more, an expansion is within .003 of them near .99."""


def survivors(wrong: NDArray[np.bool_], starts: NDArray[np.intp], threshold: float) -> NDArray[np.intp]:
    """The configurations that are never dropped, from the first fold on.

    ``wrong`` (N, C); ``starts`` (K,): the first row of each fold, in their order; ``threshold``: the article's
    α: a configuration with a greater share is dropped. Returns columns, in order.

    Examples
    --------
    >>> wrong = np.array([[0, 0, 1]] * 10, dtype=bool)  # the third is always wrong
    >>> survivors(wrong, np.array([0, 5]), 0.99).tolist()
    [0, 1]
    """
    errors = np.cumsum(np.add.reduceat(wrong, starts, axis=0, dtype=np.int64), axis=0)
    kept = np.arange(wrong.shape[1])
    for fold, end in enumerate(starts[1:]):
        own = errors[fold, kept]
        best = int(own.argmin())
        where_best_errs = np.flatnonzero(wrong[:end, kept[best]])
        both = np.count_nonzero(wrong[np.ix_(where_best_errs, kept)], axis=0)
        share = share_worse(int(end), own - both, own[best] - both)
        kept = kept[share <= threshold]
    return kept


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

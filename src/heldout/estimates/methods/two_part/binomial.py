"""Wilson and Clopper-Pearson: intervals of an accuracy from the count of rows predicted right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, ndtri

from heldout.estimates.base import MethodWords
from heldout.estimates.methods.two_part.parts import Bound, SecondPart, Tails
from heldout.estimates.methods.two_part.template import TwoPart
from heldout.metrics.ranking import Share


def wilson_interval(right: int, n: int, tails: Tails) -> Bound:
    """Shares whose score test does not reject the count (Wilson 1927).

    Ends (p + z²/2n ∓ z √(p(1-p)/n + z²/4n²)) / (1 + z²/n) with p = right/n, each with the z of its own tail.

    Examples
    --------
    >>> low, high = wilson_interval(9, 10, Tails(0.025, 0.025))[:2]
    >>> round(low, 4), round(high, 4)
    (0.5958, 0.9821)
    """
    share = right / n

    def end(tail: float, side: int) -> float:
        z = -float(ndtri(tail))
        middle = share + z**2 / (2 * n)
        half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
        return (middle + side * half) / (1 + z**2 / n)

    # At the ends of the range the formula gives them, but for rounding.
    low = 0.0 if tails.below is None or right == 0 else end(tails.below, -1)
    high = 1.0 if tails.above is None or right == n else end(tails.above, 1)
    return Bound(low, high)


def clopper_pearson_interval(right: int, n: int, tails: Tails) -> Bound:
    """Shares under which a count at least (at most) as large has more than its tail's chance (Clopper & Pearson
    1934), by quantiles of Beta distributions.

    Examples
    --------
    >>> low, high = clopper_pearson_interval(9, 10, Tails(0.025, 0.025))[:2]
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    """
    low = 0.0 if tails.below is None or right == 0 else float(betaincinv(right, n - right + 1, tails.below))
    high = 1.0 if tails.above is None or right == n else float(betaincinv(right + 1, n - right, 1 - tails.above))
    return Bound(low, high)


def mid_p_bound(right: int, n: int, tail: float) -> float:
    """The share under which a greater count, and half of the equal one, has the tail's chance.

    The equal count whole would be Clopper and Pearson's bound, which is lower; not at all, ``strict_bound``.

    Examples
    --------
    >>> round(mid_p_bound(9, 10, 0.05), 4)
    0.6505
    """
    if right == 0:
        return 0.0

    def excess(share: float) -> float:
        above = betainc(right + 1, n - right, share) if right < n else 0.0
        return float(above + betainc(right, n - right + 1, share)) / 2 - tail

    most = strict_bound(right, n, tail) if right < n else 1.0
    return float(brentq(excess, betaincinv(right, n - right + 1, tail), most, xtol=1e-15))


def strict_bound(right: int, n: int, tail: float) -> float:
    """The share under which a greater count has the tail's chance; there must be one, right < n.

    Examples
    --------
    >>> round(strict_bound(9, 10, 0.05), 4), round(0.05 ** (1 / 10), 4)
    (0.7411, 0.7411)
    """
    return float(betaincinv(right + 1, n - right, tail))


@dataclass(frozen=True)
class Wilson(TwoPart):
    """Wilson's score interval for accuracy (Wilson 1927), of one class or several.

    For independent rows, those of a hold-out, it holds its level on average over accuracies, and also if all rows
    are predicted right. Rows predicted by the models of several folds are not independent: flagged.
    ``evaluation_share=1.0`` bounds one configuration, named beforehand, on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> import heldout as ho
    >>> y = np.resize([0, 1], 100)
    >>> labels = np.where(np.arange(100) < 90, y, 1 - y)[:, None]
    >>> method = Wilson(evaluation_share=1.0)
    >>> print(ho.estimate(y, labels, metric="accuracy", method=method, random_state=0).interval)
    [0.8256, 0.9448] (95%)
    """

    name = "wilson"
    sources = ("wilson1927", "paraschakis2024", "sidak1967")
    words = MethodWords(
        "Two parts, Wilson",
        "sample splitting with Wilson's interval",
        "The interval was Wilson's score interval for a proportion.",
    )

    shares = frozenset({Share.ACCURACY})
    takes_repeats = False

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        return wilson_interval(second.n_right, second.n_rows, tails)


@dataclass(frozen=True)
class ClopperPearson(TwoPart):
    """The exact interval for accuracy (Clopper & Pearson 1934): never below its level, and wider for it.

    That holds for independent rows, those of a hold-out or test set. Rows predicted by the models of several folds
    are not independent, as these models share training rows: the interval then covers less than its level, and is
    flagged. ``evaluation_share=1.0`` bounds one configuration, named beforehand, on all rows.

    Examples
    --------
    >>> import numpy as np
    >>> import heldout as ho
    >>> y = np.resize([0, 1], 100)
    >>> labels = np.where(np.arange(100) < 90, y, 1 - y)[:, None]
    >>> method = ClopperPearson(evaluation_share=1.0)
    >>> print(ho.estimate(y, labels, metric="accuracy", method=method, random_state=0).interval)
    [0.8238, 0.951] (95%)
    """

    name = "clopper_pearson"
    sources = ("clopper1934", "paraschakis2024", "sidak1967")
    words = MethodWords(
        "Two parts, Clopper and Pearson",
        "sample splitting with the interval of Clopper and Pearson",
        "The interval was the exact binomial interval of Clopper and Pearson.",
    )

    shares = frozenset({Share.ACCURACY})
    takes_repeats = False

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        return clopper_pearson_interval(second.n_right, second.n_rows, tails)

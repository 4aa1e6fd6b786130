"""Intervals that are a formula of the second part.

Of an area under the ROC curve: DeLong's from placements of rows, Hanley and McNeil's from counts. Of an accuracy:
Wilson's, and Clopper and Pearson's, from the count of rows predicted right.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, ndtri
from scipy.stats import rankdata

from heldout._types import Booleans, Floats
from heldout.estimates.base import MethodWords
from heldout.estimates.intervals import standard_error_of_area
from heldout.estimates.methods.two_part.template import Bound, SecondPart, Tails, TwoPart, no_bound, normal_bound
from heldout.metrics.ranking import Share

NO_SPREAD = 1e-12
"""Placements that differ by less are the same but for rounding."""


class Placements(NamedTuple):
    """Of each row, the share of the other class that it is ordered right against, ties half."""

    positives: Floats  # (n1,): V10: the share of negative rows below each positive row
    negatives: Floats  # (n0,): V01: the share of positive rows above each negative row


def placements(scores: Floats, positive: Booleans) -> Placements:
    """Placements from ranks, in O(n log n) (Sun & Xu 2014, section III).

    A positive row's rank among all rows less its rank among the positives counts the negatives below it, with
    average ranks for ties.

    Parameters
    ----------
    scores : ndarray of shape (n,) or (n, R)
        Greater = more positive. Of several repeats the placements of a row are averaged.
    positive : ndarray of bool, shape (n,)

    Examples
    --------
    >>> found = placements(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    >>> found.positives.tolist(), found.negatives.tolist()
    ([0.75, 1.0], [1.0, 0.75])
    """
    columns = scores[:, None] if scores.ndim == 1 else scores
    ranks = rankdata(columns, axis=0)
    n1 = np.count_nonzero(positive)
    n0 = len(positive) - n1
    below = ranks[positive] - rankdata(columns[positive], axis=0)
    above = n1 - (ranks[~positive] - rankdata(columns[~positive], axis=0))
    return Placements((below / n0).mean(axis=1), (above / n1).mean(axis=1))


@dataclass(frozen=True)
class DeLong(TwoPart):
    """DeLong's normal interval for the ROC AUC (DeLong, DeLong and Clarke-Pearson 1988; Sun & Xu 2014).

    SE² = var(V10)/n1 + var(V01)/n0 with the sample variances of the placements of the n1 positive and n0 negative
    rows, and the interval is A ∓ z · SE within [0, 1]. With several repeats, the placements of a row are averaged,
    so that each row counts once. If the area is 1 (or the predictor constant), placements have no variance and the
    interval is NaN. ``evaluation_share=1.0`` bounds one configuration, named beforehand, on all rows.

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> scores = rng.normal(y, 1.0)[:, None]
    >>> found = ho.estimate(y, scores, metric="roc_auc", method=DeLong(evaluation_share=1.0), random_state=0)
    >>> print(found.interval, round(found.standard_error, 4))
    [0.7437, 0.8328] (95%) 0.0227
    """

    name = "delong"
    sources = ("delong1988", "sun2014", "paraschakis2024", "sidak1967")
    words = MethodWords(
        "Two parts, DeLong",
        "sample splitting with DeLong's interval",
        "The interval was a normal approximation with DeLong's standard error.",
    )

    shares = frozenset({Share.AUC})

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        placed = placements(second.predictions[:, second.final].astype(np.float64), second.positive)
        if max(np.ptp(placed.positives), np.ptp(placed.negatives)) < NO_SPREAD:
            return no_bound(
                f"all rows of a class are placed alike (an AUC of {second.value:.4g}), so that DeLong's variance "
                "is 0; more rows, or method 'bbc', may say more"
            )
        variance = placed.positives.var(ddof=1) / len(placed.positives)
        variance += placed.negatives.var(ddof=1) / len(placed.negatives)
        return normal_bound(second, float(np.sqrt(variance)), tails)


@dataclass(frozen=True)
class HanleyMcNeil(TwoPart):
    """A normal interval for the ROC AUC from a formula of the area and the classes' sizes (Hanley & McNeil 1982).

    n1 and n0 are the positive and negative rows of the second part. With several repeats it uses the mean area,
    whose error is at most that of one: somewhat conservative. If the area is 0 or 1, it has no variance and the
    interval is NaN. ``evaluation_share=1.0`` bounds one configuration, named beforehand, on all rows.

    The R code published with Paraschakis et al. (2024) counts rows predicted right and wrong in place of positives
    and negatives, uses all N rows, has a wrong sign in the variance, and does not correct for the choice among
    finalists: its numbers (table 2 there: inclusion down to 0.06) are not those of this formula.

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> scores = rng.normal(y, 1.0)[:, None]
    >>> method = HanleyMcNeil(evaluation_share=1.0)
    >>> print(ho.estimate(y, scores, metric="roc_auc", method=method, random_state=0).interval)
    [0.7446, 0.832] (95%)
    """

    name = "hanley_mcneil"
    sources = ("hanley1982", "paraschakis2024", "sidak1967")
    words = MethodWords(
        "Two parts, Hanley and McNeil",
        "sample splitting with the interval of Hanley and McNeil",
        "The interval was a normal approximation with the standard error of Hanley and McNeil.",
    )

    shares = frozenset({Share.AUC})

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        n_positive = int(np.count_nonzero(second.positive))
        error = standard_error_of_area(second.value, n_positive, second.n_rows - n_positive)
        if error == 0:
            return no_bound(
                f"an AUC of {second.value:.4g} has no variance by Hanley and McNeil's formula; more rows, or "
                "method 'bbc', may say more"
            )
        return normal_bound(second, error, tails)


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

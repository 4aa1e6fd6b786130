"""Intervals of an area under the ROC curve: DeLong's from placements of rows, Hanley and McNeil's from counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from heldout._types import Booleans, Floats
from heldout.estimates.base import MethodWords
from heldout.estimates.intervals import standard_error_of_area
from heldout.estimates.methods.two_part.parts import Bound, SecondPart, Tails, no_bound, normal_bound
from heldout.estimates.methods.two_part.template import TwoPart
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

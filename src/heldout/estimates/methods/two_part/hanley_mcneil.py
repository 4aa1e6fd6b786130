"""Hanley and McNeil: the interval of an area under the ROC curve from the area itself and two counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heldout.estimates.methods.two_part.second_part import SecondPart, Share
from heldout.estimates.methods.two_part.template import Bound, Tails, TwoPart, TwoPartWords, no_bound, normal_bound
from heldout.estimates.words import MethodWords


def standard_error_of_area(area: float, n_positive: float, n_negative: float) -> float:
    """Standard error of an AUC under exponential scores (Hanley & McNeil 1982, equation 1).

    SE² = [A(1 - A) + (n1 - 1)(Q1 - A²) + (n0 - 1)(Q2 - A²)] / (n1 n0), where Q1 = A/(2 - A) is the chance that two
    positive rows both score above a negative one, and Q2 = 2A²/(1 + A) that one scores above two negatives.

    Examples
    --------
    >>> round(standard_error_of_area(0.893, 51, 58), 4)
    0.0325
    """
    square = area**2
    q1, q2 = area / (2 - area), 2 * square / (1 + area)
    variance = area * (1 - area) + (n_positive - 1) * (q1 - square) + (n_negative - 1) * (q2 - square)
    return math.sqrt(max(variance, 0.0) / (n_positive * n_negative))


@dataclass(frozen=True)
class HanleyMcNeil(TwoPart):
    """A normal interval for the ROC AUC from a formula of the area and the classes' sizes (Hanley & McNeil 1982).

    n1 and n0 are the positive and negative rows of the second part. Of several repeats the mean area is taken,
    whose error is at most that of one: somewhat conservative. An area of 0 or 1 has no variance: NaN.

    The R code published with Paraschakis et al. (2024) counts rows predicted right and wrong in the place of
    positives and negatives, takes the whole N, has a wrong sign within the variance, and pays nothing for the best
    of several finalists: its numbers (table 2 there: inclusion down to 0.06) are not those of this formula.

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

    name: str = "hanley_mcneil"
    sources: tuple[str, ...] = ("hanley1982", "paraschakis2024", "sidak1967")
    words: ClassVar[MethodWords] = TwoPartWords(
        "Two parts, Hanley and McNeil",
        "selecting on one part of the rows and scoring on the other (Hanley and McNeil)",
        (
            "The interval is a normal one, its standard error from the area itself and the sizes of the "
            "classes (Hanley and McNeil)."
        ),
    )

    shares: ClassVar[frozenset[Share]] = frozenset({Share.AUC})

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        n_positive = int(np.count_nonzero(second.positive))
        error = standard_error_of_area(second.value, n_positive, second.n_rows - n_positive)
        if error == 0:
            return no_bound(
                f"an AUC of {second.value:.4g} has no variance by Hanley and McNeil's formula; more rows, or "
                "method 'bbc', may say more"
            )
        return normal_bound(second.value, error, tails)._replace(flags=second.few_of_a_class())

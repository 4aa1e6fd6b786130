"""Hanley and McNeil: the interval of an area under the ROC curve from the area itself and two counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heldout.estimates.base import MethodWords
from heldout.estimates.intervals import standard_error_of_area
from heldout.estimates.methods.two_part.parts import Bound, SecondPart, Tails, no_bound, normal_bound
from heldout.estimates.methods.two_part.template import TwoPart, TwoPartWords
from heldout.metrics.signed import Share


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

"""Conservative z: a normal interval whose variance comes from halves of the rows, which share none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout._types import Floats
from heldout.estimates.base import FOLD_SCORES, Method, MethodWords, estimate_around
from heldout.estimates.evidence import Evidence, needs_columns
from heldout.estimates.intervals import Spread
from heldout.estimates.types import Estimate


@dataclass(frozen=True)
class ConservativeZ(Method):
    """The conservative z interval (Nadeau and Bengio 2003, section 4; Schulz-Kümpel et al. 2024).

    The value m is the mean of the winner's scores on J hold-outs. The rows are divided in halves M times, and J
    hold-outs with the same number of test rows are drawn in each half. With the means μ1 and μ2 of the two halves

        σ² = Σ (μ1 - μ2)² / (2M),    m ∓ z σ.

    Halves have no row in common, so that σ² is an unbiased estimate of the variance of such a mean from half of the
    rows. That variance is greater than with all rows, so the interval is conservative. It applies to any metric.

    It needs fits in halves: by default 15 · (1 + 2 · 10) = 315 for one configuration. A search with
    ``cv=ho.protocols.paired_hold_out()`` makes them in the same run, those in halves for the winner alone: 15 C +
    300 with C configurations. ``ho.estimate_from_scores(..., halvings=10)`` takes scores of another tool.

    It treats the winner as named beforehand: for the best of several, value and interval are flagged as
    uncorrected.

    References
    ----------
    Nadeau and Bengio (2003); Schulz-Kümpel et al. (2024), who recommend 15 and 10.

    Examples
    --------
    >>> import heldout as ho
    >>> losses = [[0.2], [0.3], [0.1], [0.3], [0.2], [0.4]]  # J = 2 of all rows, then 2 in each half: .2 and .3
    >>> found = ho.estimate_from_scores(losses, greater_is_better=False, method="conservative_z", halvings=1)
    >>> found.value, round(found.standard_error**2, 6)  # .1² / 2
    (0.25, 0.005)
    """

    name = "conservative_z"
    reads = FOLD_SCORES
    scored = "folds"
    sources = ("nadeau2003", "schulz2024")
    words = MethodWords(
        "Conservative z interval",
        "the conservative z interval of Nadeau and Bengio",
        (
            "The standard error of the normal interval came from the winner's scores in both halves of repeatedly "
            "divided data, which is conservative, and the selection was not corrected."
        ),
    )
    needs_halves = True

    def unfit(self, evidence: Evidence) -> str | None:
        """It needs the winner's scores in halves of the rows."""
        reason = needs_columns(evidence)
        if reason or (evidence.halves is not None and evidence.fold_scores is not None):
            return reason
        return (
            "it reads the winner's scores of fits in halves of the rows: search with heldout tune --cv "
            "paired_holdout (in Python cv=ho.protocols.paired_hold_out(), or ho.estimate_from_scores with halvings)"
        )

    def estimate(self, evidence: Evidence) -> Estimate:
        """The mean of the winner's scores of all rows, and its interval; undefined splits are left out."""
        assert evidence.halves is not None, "unfit says so"
        differences = differences_of_halves(evidence.halves)
        return estimate_around(
            evidence,
            self,
            spread_of_halves(differences, evidence.winners_mean),
            provenance={
                "aggregate": "folds",
                "winner_chosen_on": evidence.aggregate,
                "n_halvings": len(evidence.halves),
                "n_halvings_used": len(differences),
            },
        )


def differences_of_halves(halves: Floats) -> Floats:
    """The difference of the means of both halves in each halving (M, 2, J) where both have a score."""
    defined = ~np.isnan(halves)
    n = defined.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(defined, halves, 0.0).sum(axis=2) / n
    differences = means[:, 0] - means[:, 1]
    return np.asarray(differences[~np.isnan(differences)])


def spread_of_halves(differences: Floats, center: float) -> Spread:
    """√(Σ d² / (2M)) around a centre.

    Examples
    --------
    >>> round(spread_of_halves(np.array([0.1, -0.1]), 0.5).standard_error ** 2, 12)  # .02 / 4
    0.005
    """
    if not len(differences):
        return Spread(center, float("nan"), reason="no halving has a score in both halves")
    if not differences.any():
        return Spread(center, float("nan"), reason="both halves have the same score in every halving")
    return Spread(center, float(np.sqrt((differences**2).sum() / (2 * len(differences)))))

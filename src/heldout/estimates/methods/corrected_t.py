"""The two intervals of Nadeau and Bengio, from the winner's scores on splits.

*Corrected t*: Student's, with a variance for splits that share training rows. *Conservative z*: a normal interval
whose variance comes from halves of the rows, which share none.
"""

import math
from dataclasses import dataclass

import numpy as np

from heldout._text import counted
from heldout._types import Floats
from heldout.estimates.base import FOLD_SCORES, Method, MethodWords, estimate_around
from heldout.estimates.evidence import Candidates, Evidence, needs_columns, needs_folds
from heldout.estimates.intervals import Spread
from heldout.estimates.types import Estimate


@dataclass(frozen=True)
class CorrectedT(Method):
    """The corrected resampled t interval of the winner's scores on splits (Nadeau and Bengio 2003, section 3).

    With the scores of J splits, their mean m and standard deviation s, and n1 training rows and n2 test rows to a
    split, the interval is

        m ∓ t · s · √(1/J + n2/n1),

    t of J - 1 degrees of freedom. The term n2/n1 accounts for the correlation of splits that share training rows:
    it is 1/(K - 1) for K folds, and ρ/(1 - ρ) where each split tests a share ρ of the rows. For K folds in R
    repeats J = K R. It is a rule of thumb for any metric. It reads fold scores only, and ``test_share`` if they
    come from repeated subsampling.

    It treats the winner as named beforehand: for the best of several, value and interval are flagged as
    uncorrected.

    References
    ----------
    Nadeau and Bengio (2003).

    Examples
    --------
    >>> import heldout as ho
    >>> losses = [[0.2], [0.4]]  # two folds: s² = .02, 1/2 + 1 = 1.5, t of one degree of freedom 12.706
    >>> found = ho.estimate_from_scores(losses, greater_is_better=False, method="corrected_t")
    >>> round(found.standard_error**2, 6), round(found.interval.high - 0.3, 4)
    (0.03, 2.2008)
    """

    name = "corrected_t"
    reads = FOLD_SCORES
    scored = "folds"
    sources = ("nadeau2003",)
    words = MethodWords(
        "Corrected t interval",
        "the corrected t interval of Nadeau and Bengio",
        (
            "The interval was Student's t from the winner's scores on the splits, with a variance that was "
            "inflated because splits share training data, and the selection was not corrected."
        ),
    )
    takes_test_share = True

    def unfit(self, evidence: Evidence) -> str | None:
        """It needs scores of two splits, and how many rows a split tests and trains on."""
        reason = needs_columns(evidence) or needs_folds(evidence)
        if reason:
            return reason
        assert evidence.fold_scores is not None, "needs_folds says so"
        n_scored = int((~np.isnan(evidence.fold_scores[:, evidence.winner_column])).sum())
        if n_scored < 2:
            return (
                f"it needs two splits with a score, which show a spread, and here {'is 1' if n_scored else 'are 0'}"
            )
        if rows_ratio(evidence) is None:
            return (
                "it needs the number of test rows of a split for each training row, which splits in repeats of one "
                "split, or of unequal numbers, do not tell; use the predictions of whole folds, or tell "
                "ho.estimate_from_scores the `test_share=`"
            )
        return None

    def estimate(self, evidence: Evidence) -> Estimate:
        """The mean of the winner's scores of splits, and its interval; undefined splits are left out."""
        assert evidence.fold_scores is not None, "unfit says so"
        ratio = rows_ratio(evidence)
        assert ratio is not None, "unfit says so"
        scores = evidence.fold_scores[:, evidence.winner_column]
        spread = nadeau_bengio(scores, ratio, evidence.winners_mean, split="split")
        return estimate_around(
            evidence,
            self,
            spread,
            provenance={
                "aggregate": "folds",
                "winner_chosen_on": evidence.aggregate,
                "test_to_training_rows": ratio,
                "n_splits_used": int((~np.isnan(scores)).sum()),
            },
        )


def rows_ratio(evidence: Evidence) -> float | None:
    """Test rows of a split over its training rows; None where that is not known.

    From the share that subsampling tests, from the training rows that a search knows, or else of K folds in every
    repeat 1/(K - 1).
    """
    if evidence.test_share is not None:
        return evidence.test_share / (1 - evidence.test_share)
    assert evidence.repeat_of_split is not None, "fold scores have splits"
    in_repeat = np.unique(evidence.repeat_of_split, return_counts=True)[1]
    training = evidence.details.get("training_rows")
    if training and isinstance(evidence, Candidates):
        return float(evidence.in_play.sum() / len(evidence.repeat_of_split) / training)
    n_folds = int(in_repeat[0])
    return 1 / (n_folds - 1) if n_folds > 1 and (in_repeat == n_folds).all() else None


def nadeau_bengio(
    scores: Floats, test_to_training: float, center: float | None = None, *, split: str = "outer fold"
) -> Spread:
    """s²(1/n + test rows / training rows), with n - 1 degrees of freedom (Nadeau & Bengio 2003, section 3).

    - ``scores`` (n,): of all splits of all repeats, n = K·R for K folds; NaN is left out.
    - ``test_to_training``: 1/(K - 1) in a partition.
    - ``center``: their mean by default.
    - ``split``: what a split is called.

    Examples
    --------
    >>> spread = nadeau_bengio(np.array([0.5, 0.7]), test_to_training=1.0)  # s² = .02, and 1/2 + 1 = 1.5
    >>> round(spread.center, 12), round(spread.standard_error**2, 12), spread.degrees_of_freedom
    (0.6, 0.03, 1)
    """
    defined = np.asarray(scores, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    n = len(defined)
    middle = center if center is not None else (float(defined.mean()) if n else math.nan)
    if n < 2:
        shows = "show" if n != 1 else "shows"
        return Spread(middle, math.nan, reason=f"{counted(n, split)} with a score {shows} no spread")
    if (defined == defined[0]).all():
        return Spread(middle, math.nan, n - 1, reason=f"all {split}s have the same score, which shows no spread")
    variance = float(defined.var(ddof=1))
    return Spread(middle, math.sqrt(variance * (1 / n + test_to_training)), n - 1)


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

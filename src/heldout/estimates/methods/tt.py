"""TT: the correction by what the winner loses to the best of each fold."""

from dataclasses import dataclass

import numpy as np

from heldout.errors import InputError
from heldout.estimates.base import FOLD_SCORES, OVER_TRAINING_SETS, Method, MethodWords, conclude, no_value
from heldout.estimates.evidence import Evidence, defined_mean, needs_columns, needs_folds
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.metrics.base import oriented

QUANTITY = f"{OVER_TRAINING_SETS} of the winner of the search"


@dataclass(frozen=True)
class TT(Method):
    """Bias correction of Tibshirani and Tibshirani (2009; Tsamardinos et al. 2018, algorithm 4).

    bias = mean over folds of (best score in the fold - winner's score in the fold), and the estimate is the
    winner's mean fold score minus that bias (for a loss: plus it). It reads fold scores only. With a 0-1 loss and
    tiny folds the estimate can reach twice the loss, above 1: it is flagged then and not clipped. It has no
    interval.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> labels = np.where(rng.random((200, 50)) < 0.7, y[:, None], 1 - y[:, None])  # 50 configurations, all 70 %
    >>> found = ho.estimate(y, labels, metric="accuracy", method="tt", folds=np.arange(200) % 10)
    >>> found.uncorrected > 0.75, found.value < found.uncorrected
    (True, True)
    """

    name = "tt"
    reads = FOLD_SCORES
    has_interval = False
    scored = "folds"
    sources = ("tibshirani2009", "tsamardinos2018")
    words = MethodWords(
        "Tibshirani and Tibshirani",
        "the method of Tibshirani and Tibshirani",
        (
            "The optimism was estimated as the mean difference, over the folds, between the best score of any "
            "configuration and the winner's, and subtracted from the winner's cross-validated score."
        ),
    )

    def unfit(self, evidence: Evidence) -> str | None:
        """It needs only fold scores."""
        reason = needs_columns(evidence) or needs_folds(evidence)
        if reason is None and evidence.fold_scores is not None and len(evidence.fold_scores) == 1:
            return "it compares the best of each fold with the winner, and in a single fold they are the same"
        return reason

    def estimate(self, evidence: Evidence) -> Estimate:
        """Correct the winner's mean fold score; folds in which the metric is undefined are left out.

        Raises
        ------
        InputError
            When the folds are not known, or the metric is undefined in all of them.
        """
        assert evidence.fold_scores is not None, "unfit says so"
        in_folds = oriented(evidence.metric, evidence.fold_scores)
        in_folds = in_folds[~np.isnan(in_folds).all(axis=1)]
        if not len(in_folds):
            raise InputError(
                f"{evidence.metric.name} is undefined in every fold, so 'tt' has nothing to compare; use larger "
                "folds or method 'bbc' with `aggregate='pooled'`."
            )
        winners = in_folds[:, evidence.winner_column]
        with np.errstate(invalid="ignore"):  # losses beyond float64 in both, which leaves nothing to compare
            bias = defined_mean(np.nanmax(in_folds, axis=1) - winners)
        sign = 1.0 if evidence.metric.greater_is_better else -1.0
        uncorrected = sign * defined_mean(winners)
        value = uncorrected - sign * bias
        if np.isnan(value):
            reason = f"the {evidence.metric.name} of a fold is beyond what float64 holds"
            return no_value(evidence, self, reason, uncorrected=uncorrected)
        flags = Flag.NO_INTERVAL.of(method=self.name)
        assert evidence.repeat_of_split is not None, "fold scores have splits"
        folds = np.unique(evidence.repeat_of_split, return_counts=True)[1]
        # Leave-one-out: a repeat has as many folds as there are rows.
        if evidence.n_candidates > 1 and (folds == evidence.n_rows_used).all():
            flags |= Flag.SINGLE_ROW_FOLDS.of(candidates=evidence.n_candidates)
        low, high = evidence.metric.range
        if not low <= value <= high:
            flags |= Flag.TT_BEYOND_RANGE.of(metric=evidence.metric.name, low=low, high=high)
        return conclude(
            evidence,
            self,
            value,
            uncorrected=uncorrected,
            flags=flags,
            provenance={
                "quantity": QUANTITY,
                "aggregate": "folds",
                "winner_chosen_on": evidence.aggregate,
                "n_folds_used": len(in_folds),
            },
        )

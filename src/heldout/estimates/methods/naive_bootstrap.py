"""NB: bootstrap the winner alone, as if it had not been selected: a baseline for the other methods."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from heldout._types import Floats
from heldout.data.checks import check_choice
from heldout.errors import InputError
from heldout.estimates import bootstrap
from heldout.estimates.base import FOLD_SCORES, QUANTITY_ALONE, MethodWords, conclude, flags_of_winner_alone
from heldout.estimates.evidence import Candidates, Evidence, needs_columns, needs_folds
from heldout.estimates.intervals import bootstrap_interval
from heldout.estimates.least_width import with_least_width
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.selection.base import Choice
from heldout.selection.bootstrap_draws import always

UNITS = ("rows", "folds")


@dataclass(frozen=True)
class NaiveBootstrap(bootstrap.RowBootstrap):
    """The percentile bootstrap (Efron 1979) of the winner's score, ignoring that it was selected.

    The value is the winner's uncorrected score, and the interval lies between the percentiles of its B bootstrapped
    scores. ``standard_error`` is their standard deviation. All three treat the winner as named beforehand, so they
    are flagged as uncorrected; the method is the baseline NB of Paraschakis et al. (2024).

    Attributes
    ----------
    unit : "rows" or "folds"
        "rows": draw rows (whole groups, if there are any; the same draws as bbc) and score the drawn ones. "folds":
        draw the winner's K fold scores and average them, in each repeat separately, as the article does with B =
        500.
    stratify : bool
        Whether to draw rows within classes; flagged, because the interval then ignores the sampling of the class
        shares.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> labels = np.where(rng.random((200, 50)) < 0.7, y[:, None], 1 - y[:, None])  # 50 configurations, all 70 %
    >>> found = ho.estimate(y, labels, metric="accuracy", method="naive_bootstrap", random_state=0)
    >>> found.value > 0.75, found.interval.low > 0.7  # it ignores the selection, and misses
    (True, False)
    """

    unit: Literal["rows", "folds"] = "rows"
    stratify: bool = False
    name = "naive_bootstrap"
    sources = ("efron1979", "paraschakis2024", "salmon2011")
    words = MethodWords(
        "Bootstrap of the winner alone",
        "the bootstrap of the winner alone",
        (
            "The confidence limits were percentiles of the winner's score in {bootstraps} bootstrap samples of "
            "its held-out predictions, and the selection was not corrected."
        ),
    )

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, UNITS)
        super().__post_init__()
        if self.stratify and self.unit == "folds":
            raise InputError("`stratify=True` draws rows within classes, so it is for `unit='rows'`; leave it out.")
        if self.unit == "folds":  # which are drawn as if they had no order, and averaged in any aggregate
            for name, value in {"reads": FOLD_SCORES, "draws_rows": False, "scored": "folds"}.items():
                object.__setattr__(self, name, value)

    def unfit(self, evidence: Any) -> str | None:
        """It needs what it draws."""
        if self.unit == "folds":
            return needs_columns(evidence) or needs_folds(evidence) or bootstrap.needs_two_folds(evidence)
        return super().unfit(evidence)

    def estimate(self, evidence: Any) -> Estimate:
        """Bootstrap the winner.

        Raises
        ------
        InputError
            When a bootstrap cannot be drawn on which the metric is defined.
        """
        of_rows = self.unit == "rows"
        drawn = bootstrap.together_of(
            self._rows(evidence) if of_rows else bootstrap.fold_bootstraps(evidence, replays=False)
        )
        scores = drawn.scores
        defined = scores[~np.isnan(scores)]
        settings = evidence.settings
        uncorrected = evidence.uncorrected if self.unit == "rows" else evidence.winners_mean
        reached = with_least_width(
            bootstrap_interval(scores, evidence.metric, settings),
            evidence,
            pays=False,
        )
        return conclude(
            evidence,
            self,
            uncorrected,
            uncorrected=uncorrected,
            interval=reached.interval,
            standard_error=_spread(defined),
            distribution=scores,
            flags=self._flags(evidence, drawn, len(scores) - len(defined)) | reached.flags,
            provenance={
                "quantity": QUANTITY_ALONE,
                "unit": self.unit,
                "value": "the winner's uncorrected score, not the mean of its bootstrapped scores",
                "n_bootstraps": settings.n_bootstraps,
                "stratified": self.stratify,
                "redrawn": drawn.redraws,
            },
        )

    def _rows(self, evidence: Candidates) -> list[bootstrap.Resamples]:
        # The draws of bbc, except that nothing is scored out of the bag, so that nothing need be defined there.
        draws = replace(
            bootstrap.draws_of(evidence, stratify=self.stratify),
            defined_in_bag=evidence.scores.defined,
            defined_out_of_bag=always,
        )

        def block(first: int, last: int) -> bootstrap.Resamples:
            counts, redraws = draws.block(first, last)
            chosen = Choice(np.full(len(counts), evidence.winner_column))
            share = bootstrap.share_defined(evidence.scores, counts)
            return bootstrap.Resamples(chosen, evidence.scores_of_winner(counts), redraws, share)

        return bootstrap.map_draws(block, evidence)

    def _flags(self, evidence: Evidence, drawn: bootstrap.Resamples, undefined: int) -> dict[Flag, str]:
        flags = flags_of_winner_alone(evidence)
        if self.stratify:
            flags |= Flag.STRATIFIED.of()
        if self.unit == "folds":
            flags |= bootstrap.flags_of_folds(evidence)
        needs = "a fold with a score" if self.unit == "folds" else None
        total, redraws, defined = len(drawn.scores), drawn.redraws, drawn.defined_share
        flags |= bootstrap.flags_of_draws(evidence, total=total, undefined=undefined, redraws=redraws, needs=needs)
        if defined < 0.5:
            flags |= Flag.MOSTLY_UNDEFINED_FOLDS.of(metric=evidence.metric.name, share=1 - defined)
        return flags


def _spread(scores: Floats) -> float | None:
    """The standard deviation, where there are two scores and float64 holds it."""
    if scores.size < 2 or not np.isfinite(scores).all():
        return None
    with np.errstate(over="ignore"):
        spread = float(scores.std(ddof=1))
    return spread if np.isfinite(spread) else None

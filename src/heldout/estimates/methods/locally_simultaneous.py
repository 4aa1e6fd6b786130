"""Locally simultaneous: an interval that holds for every configuration that could have won, and for no others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heldout.data.checks import check_choice
from heldout.errors import InputError
from heldout.estimates import score_noise
from heldout.estimates.base import MethodWords, no_value
from heldout.estimates.bootstrap import RowBootstrap
from heldout.estimates.evidence import Candidates, RowTable
from heldout.estimates.intervals import order_statistic
from heldout.estimates.types import Estimate

PLAUSIBLE = ("differences", "scores")


@dataclass(frozen=True)
class LocallySimultaneous(RowBootstrap):
    """The locally simultaneous interval of the winner's own score (Zrnic and Fithian 2024).

    A simultaneous interval holds for all C configurations at once, and so for the winner, whichever it is. This one
    holds only for those that could have won. At level 1 - α, with ν < α:

    1. Γ are the candidates that could have won if the noise is no greater than it is in a share 1 - ν of the
       bootstraps. It contains the winner with probability 1 - ν, and so do the sets of other samples.
    2. q is the 1 - (α - ν) quantile of the greatest ``|D_c|/s_c`` over Γ, where s_c is the standard deviation of
       the noise D_c. The interval is M_w ∓ q s_w.

    If one configuration is far better than the rest, it is alone in Γ, and only ν is lost. For a single
    configuration nothing is lost: its interval is M_w ∓ the quantile of ``|D_w|``.

    ``value`` is the winner's own, uncorrected score (flagged), and the interval says how far from it the truth may
    be. The selection rule must be "best". Rows are treated as independent (flag ``folds_dependent``).

    The winner's s_w is its own, and too small where scores vary less the better they are, as accuracies do. So
    one-sided intervals are the two-sided one with one end open: with the quantile of noise in one direction, lower
    bounds for the best of 20 equal ones on 150 rows covered .82 instead of .95.

    Symbols: noise is no greater than in step 1 on the article's event A_ν, and Γ is its Γ̂⁺.

    Attributes
    ----------
    share : float
        ν/α, between 0 and 1; .1 in the article's examples.
    plausible : "differences" or "scores"
        How Γ is found. "scores", as in the article's examples: all scores are within q_ν s_c of their expectations,
        and Γ = {c: M_c + 2 q_ν s_c ≥ M_k - 2 q_ν s_k for all k}. "differences": that at ν/2; then the noise of any
        two of those left differs by at most d, in a share 1 - ν/2 of the bootstraps, and Γ = {c: M_c ≥ M_w - 2d}.
        Configurations are wrong about the same rows, so that their differences vary less than their scores.
    stratify : bool
        Whether to draw rows within classes; flagged, because the interval then ignores the sampling of the class
        shares.

    References
    ----------
    Zrnic and Fithian (2024), "Locally simultaneous inference", theorem 1.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> labels = np.where(rng.random((200, 50)) < 0.7, y[:, None], 1 - y[:, None])  # 50 configurations, all 70 %
    >>> found = ho.estimate(y, labels, metric="accuracy", method="locally_simultaneous", random_state=0)
    >>> found.value > 0.75, found.interval.low < 0.7 < found.interval.high, found.provenance["n_plausible"]
    (True, True, 50)
    """

    share: float = 0.1
    plausible: Literal["differences", "scores"] = "differences"
    stratify: bool = False
    name = "locally_simultaneous"
    scored = "as chosen"
    sources = ("zrnic2024", "efron1979")
    words = MethodWords(
        "Locally simultaneous",
        "the locally simultaneous interval",
        (
            "The interval, from {bootstraps} bootstrap samples of the held-out predictions, holds simultaneously "
            "for all configurations that could plausibly have been selected, and the point estimate was the "
            "winner's own score, which was not corrected."
        ),
    )

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share < 1:
            raise InputError(f"share must lie between 0 and 1, got {self.share!r}; .1 is usual.", argument="share")
        check_choice("plausible", self.plausible, PLAUSIBLE)
        super().__post_init__()

    def unfit(self, evidence: RowTable) -> str | None:
        """It needs predictions, and a winner that has the best score."""
        return score_noise.needs_best_score(evidence) or super().unfit(evidence)

    def estimate(self, evidence: Candidates) -> Estimate:
        """The winner's score and its interval.

        Raises
        ------
        InputError
            When a bootstrap cannot be drawn on which the metric is defined.
        """
        noise = score_noise.noise_of_scores(evidence, stratify=self.stratify)
        if noise is None:
            return no_value(evidence, self, "the winner has no finite score in every bootstrap")
        alpha = 1 - evidence.settings.level
        nu = self.share * alpha if len(noise.observed) > 1 else 0.0
        plausible = self._plausible(noise, nu)
        quantile = order_statistic(np.sort(np.abs(plausible.standard).max(axis=1)), 1 - (alpha - nu))
        reach = quantile * float(noise.deviations[noise.winner])
        return score_noise.estimate_of_best(
            evidence,
            self,
            noise,
            score_noise.interval_of_reach(evidence, reach, reach),
            stratify=self.stratify,
            provenance={
                "n_plausible": len(plausible.observed),
                "quantile": quantile,
                "share": self.share,
                "plausible": self.plausible,
            },
        )

    def _plausible(self, noise: score_noise.ScoreNoise, nu: float) -> score_noise.ScoreNoise:
        """Of the candidates that could have won."""
        if nu == 0:
            return noise
        if self.plausible == "scores":
            return noise.plausible_by_scores(nu)
        return noise.plausible_by_scores(nu / 2).plausible_by_differences(nu / 2)

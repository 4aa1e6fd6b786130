"""Zoom: an interval of the winner's own score that looks only as far as the runners-up are near."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout._types import Floats
from heldout.errors import InputError
from heldout.estimates.base import MethodWords, no_value
from heldout.estimates.bootstrap import RowBootstrap
from heldout.estimates.evidence import Candidates, RowTable
from heldout.estimates.intervals import order_statistic
from heldout.estimates.score_noise import estimate_of_best, interval_of_reach, needs_best_score, noise_of_scores
from heldout.estimates.types import Estimate


@dataclass(frozen=True)
class Zoom(RowBootstrap):
    """The zoom correction of the winner's own score (Zrnic and Fithian 2024).

    Let θ_c be the expected scores, θ* the best of them, and Δ_c = θ* - θ_c. Noise D_c below Δ_c/2 does not make
    candidate c the winner unless the best one has noise of Δ_c/2 too. So only greater noise counts. The radius r(θ)
    is the 1 - α quantile of the greatest ``|D_c|`` with ``|D_c| > Δ_c/2``; the winner's score is within r(θ) of its
    expectation with probability 1 - α. The interval contains every t for which, with θ_w = t and all other θ_c as
    near to t as the observed scores M_c allow, θ_c = min((2 M_c + t)/3, t), the radius is at least ``|M_w - t|``.

    The noise is that of bootstraps, which keep the dependence between candidates. With g_c = M_w - M_c the ends
    are, exactly and without a grid::

        M_w + the 1 - α quantile of max_c min(|D_c|, 3 |D_c| - g_c),
        M_w - ρ, with ρ the greatest number that is at most the 1 - α quantile of the greatest |D_c| with
              3 |D_c| + ρ ≥ g_c.

    The interval is longer on the worse side, where more distant runners-up count. If one configuration is far
    better than the rest, it is the interval of one configuration; if many are alike, the simultaneous one.
    One-sided intervals are the two-sided one with one end open, and conservative.

    Noise is not divided by standard deviations. Bad configurations often have losses that vary much, and so would
    seem able to win from far away. So only candidates count that could have won by the first step of
    ``LocallySimultaneous(plausible="scores")``, which uses ν of α; ``share=0`` is the published form.

    ``value`` is the winner's own, uncorrected score (flagged). The selection rule must be "best". Rows are treated
    as independent (flag ``folds_dependent``).

    Attributes
    ----------
    share : float
        ν/α, from 0 to 1.
    stratify : bool
        Whether to draw rows within classes; flagged, because the interval then ignores the sampling of the class
        shares.

    References
    ----------
    Zrnic and Fithian (2024), "A flexible defense against the winner's curse".

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> labels = np.where(rng.random((200, 50)) < 0.7, y[:, None], 1 - y[:, None])  # 50 configurations, all 70 %
    >>> found = ho.estimate(y, labels, metric="accuracy", method="zoom", random_state=0)
    >>> found.value > 0.75, found.interval.low < 0.7 < found.interval.high
    (True, True)
    """

    share: float = 0.1
    stratify: bool = False
    name = "zoom"
    scored = "as chosen"
    sources = ("zrnic2024zoom", "efron1979")
    words = MethodWords(
        "Zoom",
        "the zoom correction",
        (
            "The interval, from {bootstraps} bootstrap samples of the held-out predictions, allows for all "
            "configurations that noise could have put in the winner's place, and the point estimate was the "
            "winner's own score, which was not corrected."
        ),
    )

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 <= self.share < 1:
            raise InputError(
                f"share must be 0 or lie between 0 and 1, got {self.share!r}; .1 is usual.", argument="share"
            )
        super().__post_init__()

    def unfit(self, evidence: RowTable) -> str | None:
        """It needs predictions, and a winner that has the best score."""
        return needs_best_score(evidence) or super().unfit(evidence)

    def estimate(self, evidence: Candidates) -> Estimate:
        """The winner's score and its interval.

        Raises
        ------
        InputError
            When a bootstrap cannot be drawn on which the metric is defined.
        """
        noise = noise_of_scores(evidence, stratify=self.stratify)
        if noise is None:
            return no_value(evidence, self, "the winner has no finite score in every bootstrap")
        alpha = 1 - evidence.settings.level
        nu = self.share * alpha if len(noise.observed) > 1 else 0.0
        plausible = noise.plausible_by_scores(nu) if nu else noise
        size, gaps, level = np.abs(plausible.noise), plausible.gaps, 1 - (alpha - nu)
        worse, better = reach_below(size, gaps, level), reach_above(size, gaps, level)
        return estimate_of_best(
            evidence,
            self,
            noise,
            interval_of_reach(evidence, worse, better),
            stratify=self.stratify,
            provenance={
                "n_plausible": len(plausible.observed),
                "reach_worse": worse,
                "reach_better": better,
                "share": self.share,
            },
        )


def reach_above(size: Floats, gaps: Floats, level: float) -> float:
    """How far above the winner's score the interval reaches, from the size of noise (B, C) and gaps (C,).

    Examples
    --------
    >>> size = np.array([[0.1, 0.3], [0.2, 0.1]])  # the second, .5 worse, counts .3 · 3 - .5 = .4, at most .3
    >>> reach_above(size, np.array([0.0, 0.5]), level=0.9)
    0.3
    """
    return order_statistic(np.sort(np.minimum(size, 3 * size - gaps).max(axis=1)), level)


def reach_below(size: Floats, gaps: Floats, level: float) -> float:
    """How far below the winner's score the interval reaches.

    A reach beyond the quantile of all noise with 4 |D_c| ≥ g_c is never accepted. A reach that is greater than its
    radius is not accepted either, and no number between the two is, as radii grow with the reach: so the radius is
    tried next, until one is accepted.

    Examples
    --------
    >>> size = np.array([[0.1, 0.1], [0.05, 0.26]])  # the second, 1 worse: 4 · .26 would do, 3 · .26 + .1 does not
    >>> reach_below(size, np.array([0.0, 1.0]), level=0.5)
    0.05
    """
    reach = _radius(size, gaps, 4.0, 0.0, level)
    while (radius := _radius(size, gaps, 3.0, reach, level)) < reach:
        reach = radius
    return reach


def _radius(size: Floats, gaps: Floats, times: float, shift: float, level: float) -> float:
    """The quantile of the greatest noise that counts: ``times`` of it and ``shift`` make up for the gap."""
    counts = times * size + shift >= gaps
    return order_statistic(np.sort(np.where(counts, size, 0.0).max(axis=1)), level)

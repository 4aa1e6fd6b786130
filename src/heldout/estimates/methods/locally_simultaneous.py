"""The noise of all scores, from bootstraps of the rows; and an estimate of the best whose interval pays for it.

In bootstrap b candidate c has the score M*_bc on the drawn rows. D_bc = M*_bc - mean over b of M*_bc is how far its
observed score M_c may be from its expectation, with the dependence between candidates that share rows.

*Locally simultaneous*: an interval that holds for every configuration that could have won, and for no others.
*Zoom*: one that looks only as far as the runners-up are near.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from heldout._types import Booleans, Floats
from heldout.data.checks import check_choice, check_number
from heldout.estimates.base import OVER_TRAINING_SETS, MethodWords, conclude, no_value
from heldout.estimates.bootstrap import RowBootstrap, draws_of, flags_of_draws, map_draws
from heldout.estimates.data_flags import flags_of_choice, flags_of_dependence
from heldout.estimates.evidence import Candidates, RowTable, needs_columns
from heldout.estimates.intervals import open_sided, order_statistic, within_range
from heldout.estimates.least_width import with_least_width
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.metrics.base import oriented

QUANTITY = (
    f"{OVER_TRAINING_SETS} of the configuration that was selected; the interval pays for the selection, the value "
    "does not"
)
SLACK = 1e-9
"""How far below the best score, relative to it, a score may lie that differs by rounding errors only."""


@dataclass(frozen=True, eq=False)
class ScoreNoise:
    """The scores of the candidates and their noise, greater = better; without candidates of infinite scores."""

    observed: Floats  # (C,)
    noise: Floats  # (B, C): of mean 0 for each candidate
    winner: int  # its place among these candidates
    redraws: int

    @property
    def gaps(self) -> Floats:
        """(C,): by how much each is worse than the winner."""
        gaps: Floats = np.maximum(self.observed[self.winner] - self.observed, 0.0)
        return gaps

    @cached_property
    def deviations(self) -> Floats:
        """(C,): the standard deviation of each candidate's noise."""
        return np.asarray(np.sqrt((self.noise**2).mean(axis=0)))

    @property
    def standard(self) -> Floats:
        """(B, C): noise in standard deviations of each candidate; 0 where a score does not vary."""
        deviations = self.deviations
        return self.noise * np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)

    def of(self, candidates: Booleans) -> ScoreNoise:
        """That of some candidates (C,), the winner among them."""
        if candidates.all():
            return self
        winner = int(np.count_nonzero(candidates[: self.winner]))
        return ScoreNoise(self.observed[candidates], self.noise[:, candidates], winner, self.redraws)

    def plausible_by_scores(self, nu: float) -> ScoreNoise:
        """Of the candidates that could have won if no noise |D_c| is greater than q standard deviations s_c.

        q is the 1 - ν quantile of the greatest |D_c|/s_c. Then expectations are within q s_c of the observed
        scores, and the scores of a sample within q s_c of these: c could have won if M_c + 2 q s_c ≥ M_k - 2 q s_k
        for all k.
        """
        # Standard deviations, so that a candidate that varies much does not alone decide which others are
        # plausible.
        q = order_statistic(np.sort(np.abs(self.standard).max(axis=1)), 1 - nu)
        reach = 2 * q * self.deviations
        return self.of(self.observed + reach >= (self.observed - reach).max())

    def plausible_by_differences(self, nu: float) -> ScoreNoise:
        """Of the candidates that could have won if no two differ in noise by more than d.

        d is the 1 - ν quantile of the greatest difference. Then differences of expectations are within d of those
        observed, and those of a sample within d of these: c could have won if M_c ≥ M_w - 2d.
        """
        # The range of noise within a bootstrap bounds the difference of any two candidates at once.
        d = order_statistic(np.sort(self.noise.max(axis=1) - self.noise.min(axis=1)), 1 - nu)
        return self.of(self.gaps <= 2 * d)


def noise_of_scores(evidence: Candidates, *, stratify: bool = False) -> ScoreNoise | None:
    """The noise of all candidates' scores; None if the winner has no finite score in every bootstrap.

    Scores are in the search's aggregate. Their noise is that of rows as they are scored out of the bag, because a
    bootstrap leaves few rows of a small fold.

    Raises InputError when a bootstrap cannot be drawn on which the metric is defined.
    """
    metric = evidence.metric
    draws = draws_of(evidence, stratify=stratify)

    def block(first: int, last: int) -> tuple[Floats, int]:
        counts, redraws = draws.block(first, last)
        return oriented(metric, evidence.out_of_bag.all(counts)), redraws

    blocks = map_draws(block, evidence)
    drawn = np.concatenate([values for values, _ in blocks])
    observed = oriented(metric, evidence.scores.observed())
    # A candidate without a score in one bootstrap has no distribution of noise over all of them.
    usable = np.isfinite(observed) & np.isfinite(drawn).all(axis=0)
    column = evidence.winner_column
    # The method is of the winner's score: without its noise nothing can be said.
    if not usable[column]:
        return None
    if not usable.all():
        drawn, observed = drawn[:, usable], observed[usable]
    # At least 2: one unit has no spread, and the factor below would divide by 0.
    units = max(len(np.unique(evidence.independent_units[evidence.scores.rows_of_weight])), 2)
    # In place, here and below: bootstraps times candidates may be most of the memory.
    drawn -= drawn.mean(axis=0)
    # The variance of a bootstrapped mean has divisor n, that of new samples n - 1.
    drawn *= math.sqrt(units / (units - 1))
    # The winner's place moves up by the candidates before it that are left out.
    winner = int(np.count_nonzero(usable[:column]))
    return ScoreNoise(observed, drawn, winner, sum(redraws for _, redraws in blocks))


def needs_best_score(evidence: RowTable) -> str | None:
    """Half a sentence where the winner was not selected for its score alone."""
    reason = needs_columns(evidence)
    if reason or not evidence.was_selected:
        return reason
    name = evidence.metric.name
    if not evidence.chooses_best_score:
        return f"it assumes that the winner has the best {name}, but here it was selected by '{evidence.selection}'"
    if not isinstance(evidence, Candidates):
        return None  # which score is best is known after the fits
    if evidence.replay.scores[0] is not evidence.scores:
        by = evidence.read[0].name
        return f"it assumes that the winner has the best {name}, but it was selected by {by}"
    scores = oriented(evidence.metric, evidence.scores.observed())
    best, winner = np.nanmax(scores), scores[evidence.winner_column]
    # A search may have chosen by fold means what is not best on these rows.
    if winner < best - SLACK * abs(best):
        return f"it assumes that the winner has the best {name}, and another configuration has a better one"
    return None


class AroundWinner(RowBootstrap):
    """Template of intervals of the winner's own score that pay for its selection.

    Of α, the share of the level that may miss, ν finds the candidates that could have won (``_plausible``), and the
    rest bounds the noise of these (``_reach``).
    """

    share: float
    scored = "as chosen"

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
        metric, settings, center = evidence.metric, evidence.settings, evidence.uncorrected
        alpha = 1 - settings.level
        nu = self.share * alpha if len(noise.observed) > 1 else 0.0
        plausible = self._plausible(noise, nu) if nu else noise
        worse, better, provenance = self._reach(noise, plausible, 1 - (alpha - nu))
        below, above = (worse, better) if metric.greater_is_better else (better, worse)
        interval = within_range(open_sided(center - below, center + above, metric, settings), metric)
        reached = with_least_width(interval, evidence)
        flags = flags_of_choice(evidence) | flags_of_dependence(evidence)
        if evidence.was_selected:
            flags |= Flag.UNCORRECTED.of(chosen_from=evidence.chosen_from)
        if self.stratify:
            flags |= Flag.STRATIFIED.of()
        flags |= flags_of_draws(evidence, total=len(noise.noise), undefined=0, redraws=noise.redraws)
        return conclude(
            evidence,
            self,
            center,
            interval=reached.interval,
            standard_error=float(noise.deviations[noise.winner]),
            flags=flags | reached.flags,
            provenance={
                "quantity": QUANTITY,
                "n_bootstraps": settings.n_bootstraps,
                "stratified": self.stratify,
                "value": "the winner's own score, around which the interval need not be symmetric",
                "n_plausible": len(plausible.observed),
                **provenance,
                "redrawn": noise.redraws,
            },
        )

    def _plausible(self, noise: ScoreNoise, nu: float) -> ScoreNoise:
        """Of the candidates that could have won."""
        return noise.plausible_by_scores(nu)

    def _reach(self, noise: ScoreNoise, plausible: ScoreNoise, level: float) -> tuple[float, float, dict[str, Any]]:
        """How far the interval goes on the worse side of the score and on its better side; and the provenance."""
        raise NotImplementedError


PLAUSIBLE = ("differences", "scores")


@dataclass(frozen=True)
class LocallySimultaneous(AroundWinner):
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
        check_number("share", self.share, above=0, below=1, usual=".1 is usual")
        check_choice("plausible", self.plausible, PLAUSIBLE)
        super().__post_init__()

    def _plausible(self, noise: ScoreNoise, nu: float) -> ScoreNoise:
        if self.plausible == "scores":
            return noise.plausible_by_scores(nu)
        return noise.plausible_by_scores(nu / 2).plausible_by_differences(nu / 2)

    def _reach(self, noise: ScoreNoise, plausible: ScoreNoise, level: float) -> tuple[float, float, dict[str, Any]]:
        quantile = order_statistic(np.sort(np.abs(plausible.standard).max(axis=1)), level)
        reach = quantile * float(noise.deviations[noise.winner])
        return reach, reach, {"quantile": quantile, "share": self.share, "plausible": self.plausible}


@dataclass(frozen=True)
class Zoom(AroundWinner):
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
        check_number("share", self.share, least=0, below=1, usual=".1 is usual")
        super().__post_init__()

    def _reach(self, noise: ScoreNoise, plausible: ScoreNoise, level: float) -> tuple[float, float, dict[str, Any]]:
        size, gaps = np.abs(plausible.noise), plausible.gaps
        worse, better = reach_below(size, gaps, level), reach_above(size, gaps, level)
        return worse, better, {"reach_worse": worse, "reach_better": better, "share": self.share}


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

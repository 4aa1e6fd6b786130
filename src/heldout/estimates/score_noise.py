"""The noise of all scores, from bootstraps of the rows; and an estimate of the best whose interval pays for it.

In bootstrap b candidate c has the score M*_bc on the drawn rows. D_bc = M*_bc - mean over b of M*_bc is how far its
observed score M_c may be from its expectation, with the dependence between candidates that share rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from heldout._types import Booleans, Floats
from heldout.estimates.base import Method, conclude
from heldout.estimates.bootstrap import draws_of, flags_of_draws, map_draws
from heldout.estimates.data_flags import flags_of_choice, flags_of_dependence
from heldout.estimates.evidence import Candidates, RowTable, needs_columns
from heldout.estimates.intervals import open_sided, order_statistic, within_range
from heldout.estimates.least_width import with_least_width
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.metrics.base import oriented

QUANTITY = (
    "the expected performance, over training sets of the size of a fold's training part, of the configuration that "
    "was selected; the interval pays for the selection, the value does not"
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
    best, own = np.nanmax(scores), scores[evidence.winner_column]
    # A search may have chosen by fold means what is not best on these rows.
    if own < best - SLACK * abs(best):
        return f"it assumes that the winner has the best {name}, and another configuration has a better one"
    return None


def interval_of_reach(evidence: Candidates, worse: float, better: float) -> Interval:
    """From so far on the worse side of the winner's score to so far on its better side, in the metric's units."""
    metric, center = evidence.metric, evidence.uncorrected
    below, above = (worse, better) if metric.greater_is_better else (better, worse)
    return within_range(open_sided(center - below, center + above, metric, evidence.settings), metric)


def estimate_of_best(
    evidence: Candidates,
    method: Method,
    noise: ScoreNoise,
    interval: Interval,
    *,
    stratify: bool,
    provenance: Mapping[str, Any],
) -> Estimate:
    """The estimate of the best score: the score itself, and an interval that pays for the selection."""
    reached = with_least_width(interval, evidence)
    flags = flags_of_choice(evidence) | flags_of_dependence(evidence)
    if evidence.was_selected:
        flags |= Flag.UNCORRECTED.of(chosen_from=evidence.chosen_from)
    if stratify:
        flags |= Flag.STRATIFIED.of()
    total: Floats = noise.noise[:, noise.winner]
    flags |= flags_of_draws(evidence, total=len(total), undefined=0, redraws=noise.redraws)
    return conclude(
        evidence,
        method,
        evidence.uncorrected,
        interval=reached.interval,
        standard_error=float(noise.deviations[noise.winner]),
        flags=flags | reached.flags,
        provenance={
            "quantity": QUANTITY,
            "n_bootstraps": evidence.settings.n_bootstraps,
            "stratified": stratify,
            "value": "the winner's own score, around which the interval need not be symmetric",
            **provenance,
            "redrawn": noise.redraws,
        },
    )

"""Tilting: the share under which the observed one would be too good, by reweighting the rows towards worse.

*MABT* is tilting that corrects for selecting among several finalists, as far as their bootstraps differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import bdtr, logsumexp

from heldout._streams import stream
from heldout._types import Floats, Indices
from heldout.estimates.base import MethodWords
from heldout.estimates.intervals import order_statistic
from heldout.estimates.methods.two_part.closed_forms import NO_SPREAD, mid_p_bound, placements, strict_bound
from heldout.estimates.methods.two_part.template import Bound, SecondPart, Tails, TwoPart, no_bound
from heldout.flags import Flag
from heldout.kernels.dispatch import LossSums, draw_units
from heldout.metrics.ranking import Share
from heldout.metrics.row_losses import most_drawn
from heldout.selection.best import tie_exactly
from heldout.selection.bootstrap_draws import map_blocks

STRONGEST = 48.0
"""The strongest tilt that is tried, in standard deviations of the bootstrapped sums of influences."""
GRID = -np.geomspace(STRONGEST, 1 / 16, 60)
HALVINGS = 60
FEW_EFFECTIVE = 10


class Bootstraps(NamedTuple):
    """What tilting reads of B bootstraps of the second part."""

    shares: Floats  # (B, m): of every finalist
    # (B,): sum of the drawn rows' influence values on the final's share, as often as they were drawn
    influence: Floats


class Tilted(NamedTuple):
    """The tilt, and the effective number of bootstraps above the observed share that it rests on."""

    tau: float
    effective: float


def influences(second: SecondPart) -> Floats:
    """(n,): the influence of each row on the final's share.

    Accuracy: whether the row is predicted right. AUC: (n / n_s)(placement - A), with n_s the rows of its class.
    """
    if second.reading.share is Share.ACCURACY:
        return second.correct
    placed = placements(second.predictions[:, second.final].astype(np.float64), second.positive)
    values = np.empty(second.n_rows)
    for of_class, placement in ((second.positive, placed.positives), (~second.positive, placed.negatives)):
        values[of_class] = second.n_rows / len(placement) * (placement - second.value)
    return values


def strata(second: SecondPart) -> list[Indices]:
    """The rows that are drawn, and normalised, among each other: all for accuracy, each class for an area."""
    if second.reading.share is Share.ACCURACY:
        return [np.arange(second.n_rows)]
    return [np.flatnonzero(~second.positive), np.flatnonzero(second.positive)]


def influences_by_stratum(second: SecondPart) -> list[Floats]:
    values = influences(second)
    return [values[rows] for rows in strata(second)]


def bootstraps(second: SecondPart) -> Bootstraps:
    """Draw the second part, within strata, and score the finalists on each draw."""
    settings, parts = second.settings, strata(second)
    seeds = [stream(settings.entropy, "tilting", number) for number in range(len(parts))]
    of_rows = LossSums(influences(second)[:, None], most_drawn(second.n_rows))

    def block(first: int, last: int) -> Bootstraps:
        numbers = np.arange(first, last, dtype=np.uint64)
        counts = np.empty((last - first, second.n_rows), dtype=np.uint8)
        for seed, rows in zip(seeds, parts, strict=True):
            counts[:, rows] = draw_units(seed, numbers, 0, len(rows))
        return Bootstraps(second.shares(counts), of_rows.all(counts)[:, 0])

    blocks = map_blocks(block, settings.n_bootstraps, n_threads=settings.n_threads)
    return Bootstraps(*(np.concatenate(columns) for columns in zip(*blocks, strict=True)))


def tilt(drawn: Floats, exceeds: Floats, tail: float, of_rows: Sequence[Floats]) -> Tilted | None:
    """The tilt τ < 0 under which the tilted chance of ``exceeds`` is ``tail``; None where there is none.

    A bootstrap's weight is ∏ (n p_i)^count with p_i ∝ exp(τ U_i). Its mean is 1 for every τ, so the chance is the
    sum of weights over B. Dividing by the sum of the weights instead is ten times as noisy, because a few large
    weights dominate it.

    Apart from noise the chance grows with τ. The search starts at the strongest tilt, so that it finds the most
    conservative of several solutions, and returns the end of the last bracket that is within the tail.

    ``drawn`` (B,) holds the sum of the drawn rows' influences U, and ``exceeds`` (B,) 1 for bootstraps above the
    observed share, ½ for ties where they count half, else 0. ``of_rows`` are the influences of the rows that are
    drawn among each other, a stratum each.
    """
    spread = float(drawn.std())
    if spread <= 1e-12 * max(1.0, float(np.abs(drawn).max())):
        return None
    above = np.flatnonzero(exceeds)

    def weights(theta: float) -> Floats:
        """Of the bootstraps above, times ½ for a tie."""
        tau = theta / spread
        product: Floats = exceeds[above] * np.exp(tau * drawn[above] - log_mean_weight(tau, of_rows))
        return product

    def chance(theta: float) -> float:
        return float(weights(theta).sum() / len(drawn))

    bracket = _bracket(chance, tail)
    if bracket is None:
        return None
    strong, weak = bracket
    for _ in range(HALVINGS):
        middle = (strong + weak) / 2
        if chance(middle) > tail:
            weak = middle
        else:
            strong = middle
    weight = weights(strong)
    return Tilted(strong / spread, float(weight.sum() ** 2 / (weight @ weight)) if weight.any() else 0.0)


def log_mean_weight(tau: float, of_rows: Sequence[Floats]) -> float:
    """The logarithm of E[exp(τ · sum of the drawn influences)]: of n_s draws from each stratum."""
    return float(sum(len(rows) * (logsumexp(tau * rows) - np.log(len(rows))) for rows in of_rows))


def _bracket(chance: Callable[[float], float], tail: float) -> tuple[float, float] | None:
    """Two neighbouring tilts: the stronger one's chance is within the tail, the weaker one's first above it."""
    strong = GRID[0]
    if chance(strong) > tail:
        return None
    for theta in (*GRID[1:], 0.0):
        if chance(theta) > tail:
            return strong, theta
        strong = theta
    return None  # the observed share is too good even untilted: nothing was drawn above it


def tilted_share(second: SecondPart, tau: float) -> float:
    """The final's share with rows weighed by p_i ∝ exp(τ U_i), normalised within strata: a plug-in value."""
    influence = influences(second)
    weights = np.empty(second.n_rows)
    for rows in strata(second):
        exponent = tau * influence[rows]
        weights[rows] = np.exp(exponent - exponent.max())
        weights[rows] /= weights[rows].sum()
    return float(second.shares(weights[None, :])[0, second.final])


def concluded(second: SecondPart, tilted: Tilted) -> Bound:
    """The lower bound at a tilt, flagged where it rests on few bootstraps."""
    flags: dict[Flag, str] = {}
    if tilted.effective < FEW_EFFECTIVE:
        flags |= Flag.FEW_EFFECTIVE_BOOTSTRAPS.of(effective=tilted.effective, total=second.settings.n_bootstraps)
    return Bound(tilted_share(second, tilted.tau), 1.0, flags=flags)


@dataclass(frozen=True)
class Tilting(TwoPart):
    """A lower bound by bootstrap tilting (Efron 1981, section 11; Rink & Brannath 2022), for AUC and accuracy.

    The *share* is the accuracy, or for the AUC the share of pairs ordered right. The rows of the second part get
    probabilities p_i ∝ exp(τ U_i), τ < 0, with U_i their influence on the share; p(τ) is the probability of a share
    above the observed one (ties count half), and the bound is the share under the τ with p(τ) = α.

    For an accuracy, a bootstrap of the tilted rows is a binomial, and the bound is the exact one of its mid-p
    value: nothing is drawn. Otherwise p(τ) is estimated from B bootstraps of the untilted rows, by importance
    weights divided by B. For an AUC rows are drawn, and probabilities normalised, within the classes.
    ``evaluation_share=1.0`` bounds one configuration, named beforehand, on all rows.

    Symbols: ``influence`` is U, ``tau`` τ, ``tail`` α (after Šidák, α').

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> scores = rng.normal(y, 1.0)[:, None]
    >>> found = ho.estimate(y, scores, metric="roc_auc", method=Tilting(evaluation_share=1.0),
    ...                     alternative="greater", random_state=0)
    >>> 0.7 < found.interval.low < found.value < found.interval.high == 1
    True
    """

    name = "tilting"
    draws = True
    sources = ("efron1981", "rink2022", "paraschakis2024", "sidak1967")
    words = MethodWords(
        "Two parts, bootstrap tilting",
        "sample splitting with bootstrap tilting",
        "The confidence bound was the worst true score that bootstrap tilting did not reject.",
    )

    alternatives = ("greater",)

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        assert tails.below is not None, "unfit says so"
        if float(np.ptp(influences(second))) < NO_SPREAD:
            return no_bound(infeasible(second))
        if second.counted:
            return Bound(mid_p_bound(second.n_right, second.n_rows, tails.below), 1.0)
        drawn = bootstraps(second)
        shares, observed = tie_exactly(drawn.shares[:, second.final]), tie_exactly(second.observed)[second.final]
        exceeds = np.where(shares > observed, 1.0, np.where(shares == observed, 0.5, 0.0))
        tilted = tilt(drawn.influence, exceeds, tails.below, influences_by_stratum(second))
        return concluded(second, tilted) if tilted else no_bound(infeasible(second))


def infeasible(second: SecondPart) -> str:
    """Why no tilt reaches the level, and which method may give a bound."""
    of_pairs = second.reading.share is Share.AUC
    name = "an AUC" if of_pairs else "an accuracy"
    if float(np.ptp(influences(second))) < NO_SPREAD:  # no number of bootstraps would help
        closed_form = instead_of(second)
        outlook = "has a bound there" if closed_form == "wilson" else "has no bound there either, more rows may"
        return (
            f"no tilting changes {name} of {second.value:.4g} that all rows share; method '{closed_form}' {outlook}"
        )
    return (
        f"no tilting of {second.settings.n_bootstraps} bootstraps reaches the level from {name} of "
        f"{second.value:.4g} (too near to 1, or too few of them); method '{instead_of(second)}' may, or more "
        "bootstraps"
    )


def instead_of(second: SecondPart) -> str:
    """A method with a closed form for the same share; "bbc" for accuracy over several repeats, which has none."""
    if second.reading.share is Share.AUC:
        return "delong"
    return "wilson" if second.n_repeats == 1 else "bbc"


def highest_ranks(shares: Floats) -> Floats:
    """(B,): the greatest of the m ranks/(B + 1) of each bootstrap, ranked by columns (B, m), ties as the last.

    Examples
    --------
    >>> highest_ranks(np.array([[0.5, 0.9], [0.7, 0.9], [0.6, 0.8]])).tolist()
    [0.75, 0.75, 0.5]
    """
    ranks = [np.searchsorted(np.sort(column), column, side="right") for column in shares.T]
    return np.max(ranks, axis=0) / (len(shares) + 1)


def highest_of_counts(second: SecondPart, shares: Floats) -> Floats:
    """(B,): the same of shares that are counts of rows, whose ranks among ever more bootstraps are a binomial's."""
    counts = np.rint(shares * second.n_rows)
    ranks = bdtr(counts, second.n_rows, second.observed)
    return np.minimum(ranks.max(axis=1), len(shares) / (len(shares) + 1))


@dataclass(frozen=True)
class MABT(Tilting):
    """Multiplicity-adjusted bootstrap tilting (Rink & Brannath 2022): a lower bound for the best of m finalists.

    All finalists are scored on the same B bootstraps. Each column becomes ranks/(B + 1) (ties get the greatest
    rank), and M is the distribution of the row maxima: how high the highest of m correlated candidates ranks by
    chance. The *final* is the best finalist on the second part. With its rows tilted by τ, p(τ) = 1 - M(F(t₀)),
    where F(t₀) is the tilted share of its bootstraps up to the observed t₀; the bound is the share under the τ with
    p(τ) = α. Finalists that agree cost little; Šidák's correction treats all as independent.

    M is a step function, so that p(τ) may jump over α; the bound is on the conservative side, where F(t₀) reaches
    the (1 - α) quantile of the row maxima. If more than α of the bootstraps tie for the highest rank, as with
    near-perfect finalists whose bootstraps are often perfect, p(τ) jumps over α to 0: the bound is then more
    conservative than its level, and flagged. If no τ solves it (the final is perfect) there is no bound: NaN. A
    single finalist needs no correction, and the bound is that of ``Tilting``.

    For an accuracy, F(t₀) and the ranks are those of binomials, and only the dependence between finalists is drawn.
    By default the finalists are the best tenth of the candidates on the first part of the rows.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> scores = rng.normal(size=(200, 50)) + y[:, None]  # 50 configurations with an area of .76
    >>> found = ho.estimate(y, scores, metric="roc_auc", method="mabt", alternative="greater", random_state=0)
    >>> found.uncorrected > 0.76, 0.6 < found.interval.low < 0.76
    (True, False)
    """

    candidates: Literal["best"] | float = 0.1
    name = "mabt"
    sources = ("rink2022", "efron1981", "paraschakis2024")  # type: ignore[assignment]  # three, not four
    words = MethodWords(
        "Two parts, tilting adjusted for finalists",
        "sample splitting with adjusted bootstrap tilting",
        (
            "The confidence bound was the worst true score that bootstrap tilting, adjusted for the choice among "
            "correlated finalists, did not reject."
        ),
    )

    def _tail(self, tail: float, n_finalists: int) -> float:
        return tail  # M corrects for the choice

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        assert tails.below is not None, "unfit says so"
        if second.n_finalists == 1:
            return super()._bound(second, tails)
        if float(np.ptp(influences(second))) < NO_SPREAD:
            return no_bound(infeasible(second))
        drawn = bootstraps(second)
        shares, total = tie_exactly(drawn.shares), len(drawn.shares)
        highest = np.sort(highest_of_counts(second, shares) if second.counted else highest_ranks(shares))
        needed = order_statistic(highest, 1 - tails.below)
        bound = _with_chance_above(1 - needed, second, drawn)
        if bound is None:
            return no_bound(infeasible(second))
        if needed < total / (total + 1):
            return bound
        tied = Flag.TIED_FINALISTS.filled(share=float(np.mean(highest == needed)), instead=instead_of(second))
        return bound._replace(flags={**bound.flags, Flag.TIED_FINALISTS: tied})


def _with_chance_above(chance: float, second: SecondPart, drawn: Bootstraps) -> Bound | None:
    """The share under the tilt with which a bootstrap's is above the observed one with that chance."""
    if second.counted:
        return Bound(strict_bound(second.n_right, second.n_rows, chance), 1.0)
    shares, observed = tie_exactly(drawn.shares[:, second.final]), tie_exactly(second.observed)[second.final]
    tilted = tilt(drawn.influence, (shares > observed).astype(np.float64), chance, influences_by_stratum(second))
    return concluded(second, tilted) if tilted else None

"""All configurations, each with the score that it would have on new rows, and which of them the rows tell apart."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from heldout import _defaults
from heldout._record import Record, TextTable, rows_table
from heldout._text import counted
from heldout._types import Indices
from heldout.data.checks import check_count
from heldout.errors import InputError
from heldout.estimates.evidence import Candidates
from heldout.estimates.methods import answer, method_of
from heldout.estimates.paired.compare import ConfigurationComparison
from heldout.estimates.paired.confidence_set import p_values
from heldout.estimates.paired.scores import Difference, PairedScores
from heldout.estimates.types import Interval
from heldout.metrics.aggregate import row_scores
from heldout.selection.base import NONE_CHOSEN, Choice, Fixed, ScoreTable, SelectionRule

POWER = 0.8
"""With which so many rows would tell two configurations apart."""
REPLAYED = ("shrinkage", "bbc", "naive_bootstrap")
"""Methods that replay whatever the rule chose, and correct for it."""
MOST_SHOWN = 20
LITTLE = 0.2
"""Up to this share of the variance further repeats are of no use."""


@dataclass(frozen=True)
class AtPlace(SelectionRule):
    """Choose the configuration at one place of the ranking, 0 being the best."""

    place: int
    name = "at_place"

    def __call__(self, table: ScoreTable) -> Indices:
        scores = table.values[:, :, 0]
        chosen = np.argsort(-scores, axis=1, kind="stable")[:, self.place]  # NaN comes last
        return np.where(np.isnan(scores[np.arange(len(scores)), chosen]), NONE_CHOSEN, chosen)


@dataclass(frozen=True, eq=False)
class LeaderboardRow(Record):
    """A configuration on a leaderboard.

    Attributes
    ----------
    name : str
    value, interval
        Its score, less what chance added to that of the configuration at its place; nothing is added to that of a
        baseline, which was named before.
    uncorrected : float
    tier : int
        1 for those that cannot be told from the best; 2 for those of the rest that cannot be told from its best.
    difference : Difference or None
        From the configuration that all are compared with, which has none itself.
    """

    name: str
    value: float
    interval: Interval | None
    uncorrected: float
    tier: int
    difference: Difference | None


@dataclass(frozen=True, eq=False)
class Leaderboard(Record):
    """The configurations from the best to the worst.

    Attributes
    ----------
    metric : str
    reference : str
        The configuration that the differences are from: the baseline, or the winner.
    rows : tuple of LeaderboardRow
    n_configurations, n_rows : int
    n_alike : int
        How many cannot be told from the best.
    rows_needed : int or None
        With so many rows the two best would be told apart with a power of .8, if they differ by as much as they
        seem to; None where they do not.
    rows_needed_for_reference : int or None
        The same for the winner and a baseline; None without one.
    share_of_repeats : float or None
        Of the variance of the winner's score, what would be gone with endless repeats (runs) of the same rows; None
        with one repeat, and of metrics that are no mean over rows.
    """

    metric: str
    reference: str
    rows: tuple[LeaderboardRow, ...]
    n_configurations: int
    n_alike: int
    n_rows: int
    rows_needed: int | None
    rows_needed_for_reference: int | None
    share_of_repeats: float | None

    _columns = (
        "configuration=name corrected=value interval uncorrected tier difference=difference.value"
        " difference_interval=difference.interval"
    )
    _shown = _columns

    @property
    def _rows(self) -> tuple[LeaderboardRow, ...]:
        return self.rows

    @property
    def sentences(self) -> list[str]:
        """What the rows tell apart, and what more rows or repeats would."""
        return list(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield (
            f"{self.n_alike} of {counted(self.n_configurations, 'configuration')} cannot be told from the best"
            f" (tier 1). Differences are from {self.reference}, row by row, and corrected as differences."
        )
        first = self.rows[0]
        if any(row.value > first.value and row.name != self.reference for row in self.rows[1:]):
            yield "Corrected scores of neighbours differ by chance: a higher one further down is no better choice."
        if self.rows_needed is not None:
            second = self.rows[1]
            gap = abs(first.uncorrected - second.uncorrected)
            yield self._needed(f"{second.name} by as much as it seems ({gap:.3g})", self.rows_needed)
        if self.rows_needed_for_reference is not None and first.difference is not None:
            gap = first.difference.value
            yield self._needed(f"{self.reference} by the corrected {gap:.3g}", self.rows_needed_for_reference)
        if (share := self.share_of_repeats) is not None:
            use = "would not help, more rows would" if share <= LITTLE else "would help, and more rows too"
            yield (
                f"{share:.0%} of the variance of {self.rows[0].name}'s score is between repeats of a row, and "
                f"the rest between rows: more repeats {use}."
            )

    def _needed(self, than: str, rows: int) -> str:
        return (
            f"If {self.rows[0].name} is better than {than}, about {rows:,} rows would tell the two apart; there "
            f"are {self.n_rows:,}."
        )

    def tables(self) -> list[TextTable]:
        title, notes = f"{self.metric}, corrected", self.sentences
        shown = first_and_named(self.rows, MOST_SHOWN, self.reference)
        if more := len(self.rows) - len(shown):
            notes = [f"{more} more are not shown here: .to_frame(), JSON and the report have them.", *notes]
        return [rows_table(shown, self._shown, title, notes, main=0)]


def first_and_named(rows: Sequence[Any], most: int, name: str) -> list[Any]:
    """The first rows, and that of a name."""
    return [row for place, row in enumerate(rows) if place < most or row.name == name]


def leaderboard(
    comparison: ConfigurationComparison, *, baseline: str | int | None = None, method: Any = None, most: int = 50
) -> Leaderboard:
    """All configurations from the best to the worst, with corrected scores and what the rows tell apart.

    Parameters
    ----------
    comparison : ConfigurationComparison
        What ``ho.compare_configurations`` returned.
    baseline : str or int, optional
        A configuration that was named before its score was seen, from which the differences are; the winner by
        default, whose choice is replayed.
    method : str or method, optional
        As in ``ho.estimate``. The choice of the configuration at each place is replayed as that of the best is.
    most : int, default=50
        So many of the best are listed, at least 2, and the baseline.

    Returns
    -------
    Leaderboard

    Raises
    ------
    InputError
        When there is no configuration of the baseline's name, or the method fits no score of rows.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> right = np.random.default_rng(0).random((100, 4)) < [0.5, 0.5, 0.5, 0.8]
    >>> compared = ho.compare_configurations(right.astype(float), metric="mean_score", random_state=0)
    >>> board = ho.estimates.leaderboard(compared, baseline=0)
    >>> [(each.name, each.tier) for each in board.rows[:2]]
    [('configuration 3', 1), ('configuration 1', 2)]
    """
    evidence, scores = comparison.evidence, comparison.scores
    check_count("most", most, 2, "50 are usual")
    chosen = method_of(method or comparison.method or _defaults.METHOD)
    if chosen.name not in REPLAYED:
        raise InputError(
            f"`method={chosen.name!r}` does not replay the choice of each place; use one of {', '.join(REPLAYED)}."
        )
    reference = comparison.winner if baseline is None else comparison.name_of(baseline)
    compared_with = comparison.names.index(reference)
    fixed = [] if baseline is None else [compared_with]
    ranked = np.argsort(-scores.observed, kind="stable").tolist()
    order = [scores.winner, *(index for index in ranked if index != scores.winner)]  # first, whatever the rule
    observed, tiers, rows = evidence.scores.observed(), _tiers(scores, evidence.settings.level), []
    for place, column in enumerate(order):
        number = int(evidence.candidates[column])
        name = comparison.names[number]
        if place < most or name == reference:
            if number in fixed:
                asked = _by_rule(evidence, Fixed(column), column)
            else:
                asked = _by_rule(evidence, AtPlace(ranked.index(column)), column) if place else evidence
            estimate = answer(chosen, asked)
            difference = None if name == reference else comparison.difference(number, compared_with, fixed=fixed)
            tier = int(tiers[column])
            rows.append(LeaderboardRow(name, estimate.value, estimate.interval, observed[column], tier, difference))
    needed_for_reference = None
    if (ahead := rows[0].difference) is not None:
        of_it = int(np.flatnonzero(evidence.candidates == compared_with)[0])
        needed_for_reference = _rows_needed(evidence, scores, order[0], of_it, ahead.value)
    return Leaderboard(
        metric=evidence.metric.name,
        reference=reference,
        rows=tuple(rows),
        n_configurations=len(order),
        n_alike=int((tiers == 1).sum()),
        n_rows=evidence.n_rows_used,
        rows_needed=_rows_needed(evidence, scores, *order[:2]) if len(order) > 1 else None,
        rows_needed_for_reference=needed_for_reference,
        share_of_repeats=_share_of_repeats(evidence),
    )


def _by_rule(evidence: Candidates, rule: SelectionRule, column: int) -> Candidates:
    """The same rows and draws, from which a rule chooses the configuration of a column."""
    return replace(
        evidence,
        replay=replace(evidence.replay, rule=rule),
        chosen=Choice(np.array([column])),
        winner=int(evidence.candidates[column]),
        selection=rule.name,
        rule=rule,
    )


def _tiers(scores: PairedScores, level: float) -> Indices:
    """(C,): the sets of configurations that cannot be told from the best one that is left, from 1 on."""
    tiers, left, tier = np.zeros(scores.n_candidates, dtype=np.intp), np.arange(scores.n_candidates), 0
    while left.size:
        tier += 1
        p = p_values(replace(scores, observed=scores.observed[left], in_bag=scores.in_bag[:, left]))
        members = p >= 1 - level if (p > 0).any() else np.ones(len(left), dtype=bool)
        tiers[left[members]], left = tier, left[~members]
    return tiers


def _rows_needed(
    evidence: Candidates, scores: PairedScores, first: int, second: int, gap: float | None = None
) -> int | None:
    """From the spread of their difference on the rows drawn, which falls with the root of the number of rows.

    ``gap`` is that of their scores by default.
    """
    gap = float(scores.observed[first] - scores.observed[second]) if gap is None else gap
    spread = float(np.nanstd(scores.spread[:, first] - scores.spread[:, second]))
    if not gap > 0 or not math.isfinite(spread):
        return None
    reach = ndtri(0.5 + evidence.settings.level / 2) + ndtri(POWER)
    return math.ceil(evidence.n_rows_used * (reach * spread / gap) ** 2)


def _share_of_repeats(evidence: Candidates) -> float | None:
    predictions, repeats = evidence.predictions_of_winner, evidence.in_play.shape[1]
    if repeats < 2 or not evidence.metric.row_wise or not evidence.in_play.all():
        return None
    of_each = [row_scores(evidence.metric, evidence.truth, predictions[:, :, repeat]) for repeat in range(repeats)]
    rows = np.concatenate([one for one in of_each if one is not None], axis=1)  # (n, R)
    within, total = rows.var(axis=1, ddof=1).mean() / repeats, rows.mean(axis=1).var(ddof=1)
    return float(min(within / total, 1.0)) if total > 0 else None

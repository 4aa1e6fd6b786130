"""The protocol of drop rules: from the standing of a race at a barrier to the configurations that continue.

Configurations run on the splits of a search one split after another. At the barrier after each split a rule reads
the held-out predictions so far and decides which configurations continue. It runs and stores nothing, and its
verdict depends on the predictions alone, so that a search gives the same result however it runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from heldout._types import Array, Booleans, Floats, Indices
from heldout.data.checks import check_count, checked_flag
from heldout.data.task import Task, Truth
from heldout.folds.splits import Folds, Place
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric
from heldout.selection.base import SelectionRule
from heldout.selection.bootstrap_draws import Draws
from heldout.selection.replay import SelectionReplay


@dataclass(frozen=True, eq=False)
class Standing:
    """What a drop rule reads at a barrier, between two splits: one column per remaining configuration, A in all.

    Attributes
    ----------
    truth : Truth of n rows
        The rows predicted so far.
    replay : SelectionReplay
        The search's selection rule, on the pooled predictions of these rows.
    fold_scores : ndarray of shape (splits so far, A)
        Scores by the metric that selects, greater is better, in the order of the splits; NaN if it is undefined.
    leader : int
        The column of the current best, which the selection rule would choose now.
    draws : Draws
        Bootstraps of the n rows, or of their groups; the same for any number of threads.
    unit_of_row : ndarray of int, shape (n,)
        The row, or its group.
    n_started : int
        The number of configurations at the start.
    n_barriers : int
        How often the rule is applied if none is dropped.
    n_folds : int
        Splits of one repeat.
    n_threads : int
        It changes the time only.
    predictions : ndarray of shape (n, A, R) or (n, A, R, n_classes), or None
        The predictions that the selecting metric reads, for rules that use single rows.
    noted : ndarray of shape (barriers so far, A), or None
        The notes of the rule on each configuration at earlier barriers; NaN where it made none.
    """

    truth: Truth
    replay: SelectionReplay
    fold_scores: Floats
    leader: int
    draws: Draws
    unit_of_row: Indices
    n_started: int
    n_barriers: int
    n_folds: int
    n_threads: int = 1
    predictions: Array | None = None
    noted: Floats | None = None

    @property
    def n_configurations(self) -> int:
        """The number of remaining configurations."""
        return self.fold_scores.shape[1]

    @property
    def n_splits(self) -> int:
        """The number of splits so far."""
        return self.fold_scores.shape[0]

    @property
    def score(self) -> AggregateScore:
        """The metric that selects, on the pooled predictions so far."""
        return self.replay.scores[0]


class Verdict(NamedTuple):
    """Which configurations continue, and why: one element for each of the A columns of the standing.

    Attributes
    ----------
    keep : bool array of shape (A,)
        Which configurations continue.
    statistic : array of shape (A,)
        The number that the rule compared with its threshold, NaN if it compared none.
    folds_needed : array of shape (A,), optional
        How many more folds it would take to separate a configuration from the leader, if the rule computes it.
    stop : bool, default=False
        Whether the race ends here for all configurations.
    noted : array of shape (A,), optional
        Numbers that the rule reads again at later barriers.
    """

    keep: Booleans
    statistic: Floats
    folds_needed: Floats | None = None
    stop: bool = False
    noted: Floats | None = None


def verdict(standing: Standing, leaves: Booleans, statistic: Floats, folds_needed: Floats | None = None) -> Verdict:
    """Make a verdict from the columns to drop; the leader always continues, and has no statistic.

    Parameters
    ----------
    standing : Standing
        What the rule was given.
    leaves : bool array of shape (A,)
        Which columns to drop.
    statistic : array of shape (A,)
        What the rule compares with its threshold, for the record; NaN if there is none.
    folds_needed : array of shape (A,), optional
        How many more folds it would take to separate each from the leader.

    Returns
    -------
    Verdict
    """
    keep, own = ~leaves, statistic.copy()
    # Whatever a rule says: a race without its leader has nothing to compare with.
    keep[standing.leader], own[standing.leader] = True, np.nan
    if folds_needed is not None:
        folds_needed = folds_needed.copy()
        folds_needed[standing.leader] = np.nan
    return Verdict(keep, own, folds_needed)


_BITS = 44
"""Bits kept of the 53 of a score: a relative difference below 6e-14 is a rounding error."""


def behind_leader(fold_scores: Floats, leader: int) -> Floats:
    """The leader's score minus each configuration's, fold by fold, in whole multiples of the precision of scores.

    In floating point .9 - .8 and .8 - .7 differ, and neither ranks of differences nor their variance must depend on
    that. The unit of a configuration is 2⁻⁴⁴ of the power of two above its and the leader's scores; tests do not
    depend on it.

    ``fold_scores`` (k, A): greater = better.

    Returns (k, A): whole numbers, positive where the leader is better; NaN where either score is not a finite
    number.

    Examples
    --------
    >>> behind = behind_leader(np.array([[0.9, 0.8], [0.8, 0.7]]), 0)[:, 1]
    >>> bool(0.9 - 0.8 == 0.8 - 0.7), behind.tolist() == [round(0.1 * 2**44)] * 2
    (False, True)
    """
    # An infinite score has no difference; the fold then counts as missing.
    scores = np.where(np.isfinite(fold_scores), fold_scores, np.nan)
    size = np.fmax.reduce(np.abs(scores), axis=0, initial=0.0)
    # The greater of both sizes, so that leader and configuration are rounded on one grid.
    _, exponent = np.frexp(np.maximum(size, size[leader]))
    behind = np.ldexp(scores[:, leader, None], -exponent) - np.ldexp(scores, -exponent)
    return np.asarray(np.rint(np.ldexp(behind, _BITS)))


@dataclass(frozen=True)
class Dropped:
    """A configuration that was dropped from a race, when and why.

    Attributes
    ----------
    configuration : int
    after : int
        The number of splits that it ran on.
    statistic : float
        The number that the rule compared with its threshold; NaN if it was dropped for another reason.
    reason : str
        As half a sentence.
    place : (int, int) or None
        Repeat and fold of its last split.
    """

    configuration: int
    after: int
    statistic: float
    reason: str
    place: Place | None = None


@dataclass(frozen=True)
class Barrier:
    """The record of a barrier, at which a drop rule was applied between two splits.

    Attributes
    ----------
    after : int
        The number of splits that all remaining configurations had completed.
    n_rows : int
        Rows predicted so far.
    n_before : int
        Configurations that remained before the barrier.
    leader : int
        The configuration that the selection rule would have chosen then.
    dropped : tuple of Dropped
    risk : float
        The share of bootstraps of the rows so far in which the selection rule chooses one of those dropped here: an
        estimate of the probability that the best was among them. 0 if none was dropped, NaN if unknown.
    folds_needed : mapping of int to float
        How many more folds it would take to separate a remaining configuration from the leader, if the rule
        computes it.
    stopped : bool
        Whether the race ended here for all.
    width : float or None
        How wide the interval of the estimate so far is, if the search stops when that is tight; None if unknown.
    noted : mapping of int to float
        The notes of the rule on each configuration, if it makes any; it reads them at later barriers.
    judged : bool
        Whether the rule was applied. It is not before ``min_predictions`` rows, inside a later repeat, or where the
        metric is undefined.
    """

    after: int
    n_rows: int
    n_before: int
    leader: int
    dropped: tuple[Dropped, ...] = ()
    risk: float = 0.0
    folds_needed: Mapping[int, float] = field(default_factory=dict)
    stopped: bool = False
    noted: Mapping[int, float] = field(default_factory=dict)
    judged: bool = True
    width: float | None = None


def dropped_at(barriers: Iterable[Barrier]) -> dict[int, Dropped]:
    """All dropped configurations of these barriers, by their number."""
    return {drop.configuration: drop for barrier in barriers for drop in barrier.dropped}


class Course(NamedTuple):
    """The size of a race, as known before it begins.

    - ``n_splits``, ``n_folds``: in all, and of one repeat.
    - ``grouped``, ``weighted``: whether rows have groups, and weights.
    """

    n_splits: int
    n_folds: int
    grouped: bool = False
    weighted: bool = False


class DropRule(Protocol):
    """Base class of drop rules, which say which configurations continue; derive a frozen dataclass from ``Racing``.

    Attributes
    ----------
    name : str
    statistic_name : str
        The meaning of ``Verdict.statistic``, as half a sentence.
    sources : tuple of str
        Keys of ``heldout.references``.
    """

    name: ClassVar[str]
    statistic_name: ClassVar[str]
    sources: ClassVar[tuple[str, ...]]

    @property
    def min_predictions(self) -> int: ...
    @property
    def shuffle_folds(self) -> bool: ...
    @property
    def resolve_ties_after(self) -> int | None: ...

    def unfit(self, metric: Metric, course: Course) -> str | None:
        """Why the rule does not apply to such a search, as half a sentence; None if it does."""

    def judge(self, standing: Standing) -> Verdict:
        """Which configurations continue. The leader always does."""


@runtime_checkable
class SearchStrategy(DropRule, Protocol):
    """Base class of drop rules that also plan the splits and choose the winner.

    Attributes
    ----------
    window : int
        The number of last splits that the choice and the estimate read.
    selection : SelectionRule
        How the winner is chosen, in place of the search's rule.
    """

    @property
    def window(self) -> int: ...
    @property
    def selection(self) -> SelectionRule: ...

    def folds(self, task: Task, entropy: int) -> Folds:
        """The splits, in place of those of the search; each is a repeat."""


OWN_MEMBERS = ("window", "selection", "folds")
"""What a strategy has besides the members of a rule."""


def judged_after(repeats: Sequence[int]) -> Booleans:
    """The barriers at which a race is judged: after every split of the first repeat, and at the end of later ones.

    A score over repeats is their mean, in which the first few rows of a new repeat would have the weight of all
    rows of an earlier one.

    ``repeats``: the repeat of each split, in the order in which they run.

    Returns (splits - 1,), true where the race is judged.

    Examples
    --------
    >>> judged_after([0, 0, 0, 1, 1, 1, 2, 2, 2]).tolist()
    [True, True, True, False, False, True, False, False]
    """
    of_split = np.asarray(repeats)
    return np.asarray((of_split[:-1] == of_split[0]) | (of_split[:-1] != of_split[1:]))


@dataclass(frozen=True, kw_only=True)
class Racing:
    """The parameters that all drop rules share.

    Attributes
    ----------
    min_predictions : int
        No configuration is dropped before this many rows are predicted (Tsamardinos et al. 2018, section 6.2.2).
    shuffle_folds : bool
        Whether the splits of each repeat run in a random order.
    resolve_ties_after : int or None
        When only two remain, the worse one is dropped after this many further barriers in any case; None lets both
        run to the end.
    """

    min_predictions: int = 50
    shuffle_folds: bool = False
    resolve_ties_after: int | None = None

    def __post_init__(self) -> None:
        check_count("min_predictions", self.min_predictions)
        checked_flag("shuffle_folds", self.shuffle_folds)
        if self.resolve_ties_after is not None:
            check_count("resolve_ties_after", self.resolve_ties_after)


RULE_TITLES = {
    "bootstrap": "the bootstrap rule (BCED-CV)",
    "hoeffding_race": "a Hoeffding race",
    "paired": "a paired t test of fold scores",
    "sequential": "sequential tests on more and more training rows (CVST)",
    "wilcoxon": "Wilcoxon’s signed-rank test",
    "forgiving": "its mean against the worst fold of the current best",
    "aggressive": "its mean against the mean of the current best",
}
_REASONS = {
    "hoeffding_race": "{} times as far behind the leader as chance explains",
    "paired": "no worse than the leader with p = {}",
    "sequential": "among the best of the split too seldom: {} times",
    "wilcoxon": "no worse than the leader with p = {}",
    "forgiving": "its mean is {} below the worst fold of the leader",
    "aggressive": "its mean is {} below that of the leader",
}


def drop_reason(rule: str, statistic: float, reason: str, statistic_name: str) -> str:
    """Why a configuration was dropped, short enough for a table.

    ``reason``: as the race recorded it; replaced by the statistic if that was the reason.

    Examples
    --------
    >>> drop_reason("bootstrap", 0.998, "the share 0.998", "the share")
    'worse in 0.998 of the bootstraps'
    """
    if not isfinite(statistic) or not statistic_name or not reason.startswith(statistic_name):
        return reason
    if rule == "bootstrap":
        return "worse in every bootstrap" if statistic >= 1 else f"worse in {statistic:.3f} of the bootstraps"
    return _REASONS.get(rule, f"{statistic_name} {{}}").format(f"{statistic:.3g}")

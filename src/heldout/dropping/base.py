"""What a rule of dropping is: how the race stands at a barrier in, who goes on out.

Configurations meet the splits of a search one after another. At the barrier after each split a rule looks at the
held-out predictions so far and says who goes on. It is pure: it neither runs nor stores anything, and its verdict
depends on the predictions alone, so that a search gives the same answer however it was run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Task, Truth
from heldout.errors import InputError
from heldout.folds.splits import Folds, Place
from heldout.kernels.draws import Draws
from heldout.kernels.reference import Floats
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric
from heldout.selection.base import SelectionRule
from heldout.selection.replay import SelectionReplay


@dataclass(frozen=True, eq=False)
class Standing:
    """How the race stands at a barrier: a column for each configuration still in it (A of them).

    Attributes
    ----------
    truth : Truth of n rows
        The rows predicted so far.
    replay : SelectionReplay
        The search's rule on their pooled predictions.
    fold_scores : ndarray of shape (splits so far, A)
        Of the metric that decides, greater = better, in the order in which the splits were met; NaN where the
        metric is undefined.
    leader : int
        The column that the rule chooses now.
    draws : Draws
        Bootstraps of the n rows, or of their groups; the same for any number of threads.
    unit_of_row : ndarray of int, shape (n,)
        The row, or its group.
    n_started : int
        Configurations that the race began with.
    n_barriers : int
        How often the race is judged, were nobody ever to leave.
    n_folds : int
        Splits of one repeat.
    n_threads : int
        Changes the time and nothing else.
    predictions : ndarray of shape (n, A, R) or (n, A, R, n_classes), or None
        What the metric that decides reads of them, for rules that look at single rows.
    noted : ndarray of shape (barriers so far, A), or None
        What the rule noted of each at the barriers before; NaN where it noted nothing.
    """

    truth: Truth
    replay: SelectionReplay
    fold_scores: Floats
    leader: int
    draws: Draws
    unit_of_row: NDArray[np.intp]
    n_started: int
    n_barriers: int
    n_folds: int
    n_threads: int = 1
    predictions: NDArray[Any] | None = None
    noted: Floats | None = None

    @property
    def n_configurations(self) -> int:
        """How many are still in the race."""
        return self.fold_scores.shape[1]

    @property
    def n_splits(self) -> int:
        """How many splits were met."""
        return self.fold_scores.shape[0]

    @property
    def score(self) -> AggregateScore:
        """The metric that decides, on the pooled predictions so far."""
        return self.replay.scores[0]


class Verdict(NamedTuple):
    """Who goes on, and on what evidence; an element a column of the standing.

    ``statistic`` is what the rule compared with its threshold, NaN where it compared nothing. ``folds_needed`` is
    how many more folds it would take to tell a configuration from the leader, where the rule can say. ``stop`` ends
    the race for everybody: the rule has seen enough. ``noted`` is what the rule wants to read at later barriers.
    """

    keep: NDArray[np.bool_]
    statistic: Floats
    folds_needed: Floats | None = None
    stop: bool = False
    noted: Floats | None = None


def verdict(
    standing: Standing, leaves: NDArray[np.bool_], statistic: Floats, folds_needed: Floats | None = None
) -> Verdict:
    """Of who is told to leave, everybody but the leader, of whom a rule says nothing."""
    keep, told = ~leaves, statistic.copy()
    keep[standing.leader], told[standing.leader] = True, np.nan
    if folds_needed is not None:
        folds_needed = folds_needed.copy()
        folds_needed[standing.leader] = np.nan
    return Verdict(keep, told, folds_needed)


@dataclass(frozen=True)
class Dropped:
    """A configuration that left a race, when and why.

    Attributes
    ----------
    configuration : int
    after : int
        How many splits it had met.
    statistic : float
        What the rule compared with its threshold; NaN where it left for another reason.
    reason : str
        As half a sentence.
    place : (int, int) or None
        Repeat and fold of the last split that it met.
    """

    configuration: int
    after: int
    statistic: float
    reason: str
    place: Place | None = None


@dataclass(frozen=True)
class Barrier:
    """What happened at a barrier.

    Attributes
    ----------
    after : int
        How many splits everybody in the race had met.
    n_rows : int
        Rows predicted so far.
    n_before : int
        Configurations in the race when it came here.
    leader : int
        The configuration that the search's rule would have chosen then.
    dropped : tuple of Dropped
    risk : float
        Share of bootstraps of the rows so far in which the search's rule chooses one of those who left here: an
        estimate of the probability that the best was among them. 0 where nobody left, NaN where it cannot be told.
    folds_needed : mapping of int to float
        How many more folds it would take to tell a configuration that goes on from the leader, where the rule
        says so.
    stopped : bool
        Whether the race ended here for everybody.
    noted : mapping of int to float
        What the rule noted of each configuration, where it notes something: it reads that at later barriers.
    judged : bool
        Whether the rule was asked; not before ``min_predictions`` rows, inside a later repeat, or where the metric
        is undefined.
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


def who_left(barriers: Iterable[Barrier]) -> dict[int, Dropped]:
    """Everybody who left at these, by configuration."""
    return {left.configuration: left for barrier in barriers for left in barrier.dropped}


class Course(NamedTuple):
    """What a race will be, as far as it is known before it begins.

    Attributes
    ----------
    n_splits, n_folds : int
        In all, and of one repeat.
    grouped, weighted : bool
        Whether rows have groups, and weights.
    """

    n_splits: int
    n_folds: int
    grouped: bool = False
    weighted: bool = False


class DropRule(Protocol):
    """From a standing to a verdict: a frozen dataclass that derives from ``Racing``.

    Attributes
    ----------
    name : str
    statistic_name : str
        What ``Verdict.statistic`` is, as half a sentence.
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
        """Why the rule is not for such a search, as half a sentence; None where it is."""

    def judge(self, standing: Standing) -> Verdict:
        """Who goes on. The leader always does."""


@runtime_checkable
class SearchStrategy(DropRule, Protocol):
    """A rule that also plans the splits and chooses the winner.

    Attributes
    ----------
    window : int
        How many of the last splits the choice and the estimate read.
    selection : SelectionRule
        How the winner is chosen, in place of the search's rule.
    """

    @property
    def window(self) -> int: ...
    @property
    def selection(self) -> SelectionRule: ...

    def folds(self, task: Task, entropy: int) -> Folds:
        """The splits, in place of the search's, each a repeat of its own."""


def judged_after(repeats: Sequence[int]) -> NDArray[np.bool_]:
    """At which barriers a race is judged: after every split of its first repeat, and where a later one ends.

    A score over repeats is their mean, in which the first few rows of a repeat that has just begun would weigh as
    much as all rows of one before.

    Parameters
    ----------
    repeats : sequence of int
        The repeat of each split, in the order in which they are met.

    Returns
    -------
    ndarray of bool, shape (splits - 1,)

    Examples
    --------
    >>> judged_after([0, 0, 0, 1, 1, 1, 2, 2, 2]).tolist()
    [True, True, True, False, False, True, False, False]
    """
    met = np.asarray(repeats)
    return np.asarray((met[:-1] == met[0]) | (met[:-1] != met[1:]))


@dataclass(frozen=True, kw_only=True)
class Racing:
    """What all rules of dropping have in common.

    Attributes
    ----------
    min_predictions : int
        Nobody is dropped before so many rows were predicted (Tsamardinos et al. 2018, section 6.2.2).
    shuffle_folds : bool
        Whether the splits are met in a random order, within each repeat.
    resolve_ties_after : int or None
        When only two are left, after how many further barriers the one behind leaves whatever the rule says; None
        lets both run to the end.
    """

    min_predictions: int = 50
    shuffle_folds: bool = False
    resolve_ties_after: int | None = None

    def __post_init__(self) -> None:
        check_count(self.min_predictions, "min_predictions")
        if not isinstance(self.shuffle_folds, bool | np.bool_):
            raise InputError(
                f"shuffle_folds must be True or False, got {self.shuffle_folds!r}.", argument="shuffle_folds"
            )
        if self.resolve_ties_after is not None:
            check_count(self.resolve_ties_after, "resolve_ties_after")


def check_count(value: object, name: str, least: int = 1) -> None:
    """Refuse what is no whole number of at least ``least``.

    Raises
    ------
    InputError
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}.", argument=name)


def check_share(value: object, name: str) -> None:
    """Refuse what is no number between 0 and 1.

    Raises
    ------
    InputError
    """
    if not isinstance(value, float | np.floating) or not 0 < value < 1:
        raise InputError(f"{name} must be a number between 0 and 1, got {value!r}.", argument=name)

"""Plans of folds by name: K folds, hold-out, leave-one-out, and repeats of these.

A plan says how to divide rows; it becomes definite when it receives them. Classes are kept in proportion if the
task has classes, groups stay whole if there are groups, and rows are shuffled by the seed of the run. Every plan is
also a splitter for scikit-learn's ``cv=``.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils.multiclass import type_of_target

from heldout._streams import entropy_of, numpy_seed
from heldout._text import counted
from heldout.data.limits import MOST_SPLITS, refuse_more_than
from heldout.errors import InputError

Pair = tuple[NDArray[np.intp], NDArray[np.intp]]
GROUP_DRAWS = 50
"""The number of hold-outs of whole groups that are drawn; the one that keeps the classes best is used."""


class Splitter(Protocol):
    """A splitter of scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]: ...


class FoldPlan(BaseCrossValidator):  # type: ignore[misc]
    """How the rows of any task are divided.

    A plan is a frozen dataclass with a ``random_state``: an integer, or None for the seed of the run.
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012 - scikit-learn reads it
    random_state: int | None = None

    @property
    def words(self) -> str:
        """The plan in words, for a sentence: "5 folds"."""
        raise NotImplementedError

    @property
    def n_rounds(self) -> int:
        """The number of repeats, each with another seed."""
        return 1

    @property
    def n_halvings(self) -> int:
        """How often the rows are divided in halves, in which only the winner is fitted; 0 where they are not."""
        return 0

    @property
    def is_shuffled(self) -> bool:
        """Whether another seed gives other folds."""
        return True

    @property
    def draws_test_rows(self) -> bool:
        """Whether each split draws its test rows from all rows, so that those of several splits overlap."""
        return False

    @property
    def own_seed(self) -> int | None:
        """The seed of the plan itself; None to use that of the run."""
        return None if self.random_state is None else entropy_of(self.random_state)

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        """The splitter of one round, by a seed below 2**32: with classes in proportion, with groups whole."""
        raise NotImplementedError

    def in_halves(self, n_rows: int, y: Any, groups: Any, entropy: int, *, stratified: bool) -> Iterator[Pair]:
        """Training and test rows of the splits of halves: halving by halving, first half, second half."""
        return iter(())

    def most_folds(self) -> int | None:
        """The number of folds into which a class is divided; None if it is not divided."""
        return None

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Training and test rows of every split, like scikit-learn's splitters.

        Integers, labels and booleans count as classes if each occurs at least twice.
        """
        entropy = entropy_of(self.own_seed)
        for number in range(self.n_rounds):
            splitter = self.of_round(
                numpy_seed(entropy, "folds", number), stratified=has_classes(y), grouped=groups is not None
            )
            yield from splitter.split(X, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are; of leave-one-out only with the rows."""
        splitter: Any = self.of_round(0, stratified=has_classes(y), grouped=groups is not None)
        return self.n_rounds * int(splitter.get_n_splits(X, y, groups))


def has_classes(y: Any) -> bool:
    """Whether a target has classes that each occur at least twice."""
    if y is None or type_of_target(y) not in ("binary", "multiclass"):
        return False
    return int(np.unique(np.asarray(y), return_counts=True)[1].min()) > 1


@dataclass(frozen=True)
class KFolds(FoldPlan):
    """K folds, shuffled; each row is tested once.

    Examples
    --------
    >>> plan = KFolds(3, random_state=0)
    >>> [len(test) for _, test in plan.split(np.zeros((12, 1)), [0, 1] * 6)]
    [4, 4, 4]
    """

    n_folds: int = 5
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_count("folds", self.n_folds, 2, "5 or 10 are usual")

    @property
    def words(self) -> str:
        return f"{self.n_folds} folds"

    def most_folds(self) -> int | None:
        return self.n_folds

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        if grouped:
            kind = StratifiedGroupKFold if stratified else GroupKFold
        else:
            kind = StratifiedKFold if stratified else KFold
        return kind(self.n_folds, shuffle=True, random_state=seed)


@dataclass(frozen=True)
class HoldOut(FoldPlan):
    """One split: a share of the rows tests, and the others train; or so many rows, drawn without regard to classes.

    Examples
    --------
    >>> [(len(train), len(test)) for train, test in HoldOut(0.25, random_state=0).split(np.zeros((12, 1)))]
    [(9, 3)]
    >>> [(len(train), len(test)) for train, test in HoldOut(1, random_state=0).split(np.zeros((12, 1)), [0, 1] * 6)]
    [(11, 1)]
    """

    test_share: float | int = 0.25
    random_state: int | None = None

    def __post_init__(self) -> None:
        share = self.test_share
        is_share = isinstance(share, float | np.floating) and 0 < share < 1
        if isinstance(share, bool) or not (is_share or (self._counts_rows and share >= 1)):
            raise InputError(
                f"test_share must lie between 0 and 1, or be a whole number of rows, got {share!r}; .25 is usual.",
                argument="test_share",
            )

    @property
    def _counts_rows(self) -> bool:
        return isinstance(self.test_share, int | np.integer)

    @property
    def words(self) -> str:
        if self._counts_rows:
            return f"one hold-out of {counted(int(self.test_share), 'row')}"
        return f"one hold-out of {self.test_share:.0%} of the rows"

    @property
    def draws_test_rows(self) -> bool:
        return True

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        stratified = stratified and not self._counts_rows
        if grouped and self._counts_rows:
            return GroupShuffleSplit(1, test_size=self.test_share, random_state=seed)
        if grouped:
            return GroupsHeldOut(self.test_share, seed, stratified)
        kind = StratifiedShuffleSplit if stratified else ShuffleSplit
        return kind(1, test_size=self.test_share, random_state=seed)


@dataclass(frozen=True)
class GroupsHeldOut:
    """One split of whole groups that tests about the share of each class, the best of some draws."""

    test_share: float
    random_state: int
    stratified: bool

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """The training and test rows of the draw closest to the share."""
        draws = GroupShuffleSplit(GROUP_DRAWS, test_size=self.test_share, random_state=self.random_state)
        classes = np.zeros(len(groups), dtype=np.intp)
        if self.stratified:
            classes = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
        wanted = self.test_share * np.bincount(classes)
        pairs = list(draws.split(X, y, groups))
        off = [np.abs(np.bincount(classes[test], minlength=len(wanted)) - wanted).sum() for _, test in pairs]
        yield pairs[int(np.argmin(off))]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1


@dataclass(frozen=True)
class Repeated(FoldPlan):
    """Repeats of a plan, each with a new shuffle.

    Examples
    --------
    >>> Repeated(KFolds(5), 10).get_n_splits(), Repeated(HoldOut(0.2), 20).words
    (50, '20 repeats of one hold-out of 20% of the rows')
    """

    plan: FoldPlan
    times: int
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_count("times", self.times, 1, "10 repeats are usual")
        if not isinstance(self.plan, FoldPlan):
            raise InputError(f"repeated needs a number of folds or a plan, got {self.plan!r}.")
        if self.plan.n_rounds > 1:
            raise InputError(f"{self.plan!r} is repeated already; give the product as times.")
        if not self.plan.is_shuffled:
            raise InputError(f"{self.plan.words} is the same however often it is repeated; leave the repeats out.")

    @property
    def words(self) -> str:
        return f"{self.times} repeats of {self.plan.words}"

    @property
    def n_rounds(self) -> int:
        return self.times

    @property
    def draws_test_rows(self) -> bool:
        return self.plan.draws_test_rows

    @property
    def own_seed(self) -> int | None:
        return self.plan.own_seed if self.random_state is None else entropy_of(self.random_state)

    def most_folds(self) -> int | None:
        return self.plan.most_folds()

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return self.plan.of_round(seed, stratified=stratified, grouped=grouped)


def check_count(name: str, value: object, least: int, advice: str) -> None:
    """Refuse what is no integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be an integer of at least {least}, got {value!r}; {advice}.", argument=name)


def rounds_of(plan: FoldPlan, repeats: int, entropy: int, *, stratified: bool, grouped: bool) -> Sequence[Splitter]:
    """The splitters of a plan, one a repeat; seeded by the run if the plan has no seed.

    Raises InputError when ``repeats`` are given for a plan that has its own or cannot be shuffled, or there are too
    many splits.
    """
    if repeats > 1:
        if plan.n_rounds > 1:
            raise InputError(
                f"`repeats={repeats!r}` with {plan.words} repeats twice; use `repeats=1`.",
                argument="repeats",
            )
        if not plan.is_shuffled:
            raise InputError(f"{plan.words} is the same however often it is repeated; use `repeats=1`.")
    number = plan.n_rounds * repeats * (plan.most_folds() or 1)
    refuse_more_than(MOST_SPLITS, number, "splits", "fewer folds or repeats: 5 folds and 10 repeats are many")
    entropy = entropy if plan.own_seed is None else plan.own_seed
    return [
        plan.of_round(numpy_seed(entropy, "folds", number), stratified=stratified, grouped=grouped)
        for number in range(plan.n_rounds * repeats)
    ]


def seeded(cv: Any, seed: int) -> Any:
    """A splitter that shuffles without a seed, with one; anything else, such as a plan, unchanged.

    Examples
    --------
    >>> seeded(KFold(3, shuffle=True), 7), seeded(KFold(3), 7)
    (KFold(n_splits=3, random_state=7, shuffle=True), KFold(n_splits=3, random_state=None, shuffle=False))
    """
    shuffles = hasattr(cv, "split") and bool(getattr(cv, "shuffle", True))
    if isinstance(cv, FoldPlan) or not shuffles or getattr(cv, "random_state", 0) is not None:
        return cv
    own = copy.copy(cv)
    own.random_state = seed
    return own


def k_folds(n_folds: int = 5, *, random_state: int | None = None) -> FoldPlan:
    """K shuffled folds: an integer ``cv`` that keeps groups whole.

    Parameters
    ----------
    n_folds : int, default=5
    random_state : int, optional
        By default the seed of the run.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``n_folds`` is not an integer of at least 2.

    Examples
    --------
    >>> k_folds(10)
    KFolds(n_folds=10, random_state=None)
    """
    return KFolds(n_folds, random_state)


def repeated(folds: Any, times: int, *, random_state: int | None = None) -> FoldPlan:
    """Repeats of K folds or of a plan, each with a new shuffle.

    Parameters
    ----------
    folds : int or plan
    times : int
    random_state : int, optional
        Seeds the shuffle; by default the seed of the run does.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``folds`` or ``times`` is no such number, or the plan is repeated already.

    Examples
    --------
    >>> repeated(5, 10).words
    '10 repeats of 5 folds'
    """
    plan = folds if isinstance(folds, FoldPlan) else KFolds(folds)
    return Repeated(plan, times, random_state)


def hold_out(test_share: float | int = 0.25, *, random_state: int | None = None) -> FoldPlan:
    """One split: a share of the rows (or of the groups) tests, the others train.

    Parameters
    ----------
    test_share : float or int, default=.25
        Of the rows; of the groups where there are groups. An integer is a number of rows, or groups, drawn without
        regard to classes: ``hold_out(1)`` is the estimate from m + 1 rows, of which m train.
    random_state : int, optional
        Seeds the shuffle; by default the seed of the run does.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``test_share`` is neither a share between 0 and 1 nor a number of rows of at least 1.

    Examples
    --------
    >>> hold_out(0.3).words
    'one hold-out of 30% of the rows'
    """
    return HoldOut(test_share, random_state)


def repeated_hold_out(times: int, test_share: float | int = 0.25, *, random_state: int | None = None) -> FoldPlan:
    """A hold-out drawn several times, each time from all rows: subsampling, or Monte Carlo cross-validation.

    Parameters
    ----------
    times : int
    test_share : float or int, default=.25
        As in ``hold_out``.
    random_state : int, optional
        Seeds the shuffle; by default the seed of the run does.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``times`` or ``test_share`` is out of range.

    Examples
    --------
    >>> repeated_hold_out(20).get_n_splits()
    20
    """
    return Repeated(HoldOut(test_share), times, random_state)

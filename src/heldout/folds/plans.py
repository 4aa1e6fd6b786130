"""Plans of folds by name: K folds, hold-out, leave-one-out, and repeats of these.

A plan says how to divide rows; it becomes definite when it receives them. Classes are kept in proportion if the
task has classes, groups stay whole if there are groups, and rows are shuffled by the seed of the run. Every plan
is also a splitter for scikit-learn's ``cv=``.

*As many folds as the rows allow.* More folds train on more rows, so that the score is closer to that of the model
to deploy; but every fold must test each class, or the score of a fold is undefined. So K is as large as the
smallest class allows, up to a limit (Tsamardinos, Greasidou & Borboudakis 2018, section 2.1, stratify for the same
reason).

*Paired subsampling.* By how much the mean of J hold-outs varies cannot be seen in hold-outs of the same rows,
which overlap. Two halves of the rows do not overlap: so the rows are divided in halves M times, and J hold-outs
are drawn in each half, with as many test rows as those of all rows (Nadeau & Bengio 2003, section 4).

``ho.split_items``: two halves of the rows, to propose configurations on one and select on the other.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn import model_selection
from sklearn.utils.multiclass import type_of_target

from heldout._streams import RandomState, entropy_of, numpy_seed
from heldout._text import counted
from heldout._types import Array, Booleans, Indices
from heldout.data.checks import check_count
from heldout.data.limits import MOST_SPLITS, refuse_more_than
from heldout.data.task import Task, checked_groups, distinct, has_fields, labels_text
from heldout.errors import InputError

Pair = tuple[Indices, Indices]
GROUP_DRAWS = 50
"""The number of hold-outs of whole groups that are drawn; the one that keeps the classes best is used."""


class Splitter(Protocol):
    """A splitter of scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]: ...


class FoldPlan(model_selection.BaseCrossValidator):  # type: ignore[misc]
    """Base class of plans of folds, which divide the rows of any task; pass one as ``cv=``.

    A plan is a frozen dataclass with a ``random_state``: an integer, or None for the seed of the run.
    """

    # scikit-learn passes groups to a splitter only where this says so.
    __metadata_request__split = {"groups": True}  # noqa: RUF012 - scikit-learn reads it
    random_state: int | None = None

    @property
    def words(self) -> str:
        """The plan in words, such as "5 folds"."""
        raise NotImplementedError

    @property
    def n_rounds(self) -> int:
        """The number of repeats, each with another seed."""
        return 1

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

    def most_folds(self) -> int | None:
        """The greatest number of folds, which every class must have rows for; None if classes are not divided."""
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
        """The number of splits; for leave-one-out it needs ``X``."""
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
            kind = model_selection.StratifiedGroupKFold if stratified else model_selection.GroupKFold
        else:
            kind = model_selection.StratifiedKFold if stratified else model_selection.KFold
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
    draws_test_rows = True

    def __post_init__(self) -> None:
        share = self.test_share
        is_share = isinstance(share, float | np.floating) and 0 < share < 1
        if isinstance(share, bool) or not (is_share or (self._counts_rows and share >= 1)):
            raise InputError(
                f"test_share must lie between 0 and 1, or be a whole number of rows, got {share!r}; .25 is usual."
            )

    @property
    def _counts_rows(self) -> bool:
        return isinstance(self.test_share, int | np.integer)

    @property
    def words(self) -> str:
        if self._counts_rows:
            return f"one hold-out of {counted(int(self.test_share), 'row')}"
        return f"one hold-out of {self.test_share:.0%} of the rows"

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        stratified = stratified and not self._counts_rows
        if grouped and self._counts_rows:
            return model_selection.GroupShuffleSplit(1, test_size=self.test_share, random_state=seed)
        if grouped:
            return GroupsHeldOut(self.test_share, seed, stratified)
        kind = model_selection.StratifiedShuffleSplit if stratified else model_selection.ShuffleSplit
        return kind(1, test_size=self.test_share, random_state=seed)


@dataclass(frozen=True)
class GroupsHeldOut:
    """One split of whole groups that tests about the share of each class, the best of some draws."""

    test_share: float
    random_state: int
    stratified: bool

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """The training and test rows of the draw closest to the share."""
        draws = model_selection.GroupShuffleSplit(
            GROUP_DRAWS, test_size=self.test_share, random_state=self.random_state
        )
        classes = np.zeros(len(groups), dtype=np.intp)
        if self.stratified:
            classes = np.unique(np.asarray(y), return_inverse=True)[1].reshape(-1)
        # Without classes all rows are one class, and the draw nearest to the share wins.
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


def rounds_of(plan: FoldPlan, repeats: int, entropy: int, *, stratified: bool, grouped: bool) -> Sequence[Splitter]:
    """The splitters of a plan, one a repeat; seeded by the run if the plan has no seed.

    Raises InputError when ``repeats`` are given for a plan that has its own or cannot be shuffled, or there are too
    many splits.
    """
    if repeats > 1:
        if plan.n_rounds > 1:
            raise InputError(f"`repeats={repeats!r}` with {plan.words} repeats twice; use `repeats=1`.")
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
    >>> from sklearn.model_selection import KFold
    >>> seeded(KFold(3, shuffle=True), 7), seeded(KFold(3), 7)
    (KFold(n_splits=3, random_state=7, shuffle=True), KFold(n_splits=3, random_state=None, shuffle=False))
    """
    shuffles = hasattr(cv, "split") and bool(getattr(cv, "shuffle", True))
    if isinstance(cv, FoldPlan) or not shuffles or getattr(cv, "random_state", 0) is not None:
        return cv
    # A copy, as the user's splitter must not be changed.
    splitter = copy.copy(cv)
    splitter.random_state = seed
    return splitter


def k_folds(n_folds: int = KFolds.n_folds, *, random_state: int | None = None) -> FoldPlan:
    """K shuffled folds, with classes in proportion and groups whole.

    Parameters
    ----------
    n_folds : int, default=5
        K.
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
    """Repeat K folds or a plan several times, each with a new shuffle.

    Parameters
    ----------
    folds : int or plan
        K, or the plan to repeat.
    times : int
        The number of repeats.
    random_state : int, optional
        Seeds the shuffle; by default the seed of the run does.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``folds`` or ``times`` is not allowed, or the plan is already repeated.

    Examples
    --------
    >>> repeated(5, 10).words
    '10 repeats of 5 folds'
    """
    plan = folds if isinstance(folds, FoldPlan) else KFolds(folds)
    return Repeated(plan, times, random_state)


def hold_out(test_share: float | int = HoldOut.test_share, *, random_state: int | None = None) -> FoldPlan:
    """One split: a share of the rows (or of the groups) tests, the others train.

    Parameters
    ----------
    test_share : float or int, default=.25
        The share of the rows, or of the groups if there are groups. An integer is a number of rows or groups, drawn
        without regard to classes: ``hold_out(1)`` tests a single row.
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


def repeated_hold_out(
    times: int, test_share: float | int = HoldOut.test_share, *, random_state: int | None = None
) -> FoldPlan:
    """A hold-out drawn several times, each time from all rows: subsampling, or Monte Carlo cross-validation.

    Parameters
    ----------
    times : int
        The number of hold-outs.
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


MOST_ATTEMPTS = 1000
"""Draws of one sample until every class is on both sides."""


@dataclass(frozen=True)
class BootstrapSamples(FoldPlan):
    """Samples of N rows drawn with replacement, whole groups where there are groups; each tests what it left out.

    A row trains as often as it was drawn. Searches inside a sample keep the copies of a row on one side.

    Examples
    --------
    >>> plan = BootstrapSamples(2, random_state=0)
    >>> [(len(train), len(set(train) | set(test))) for train, test in plan.split(np.zeros((8, 1)))]
    [(8, 8), (8, 8)]
    """

    times: int = 50
    random_state: int | None = None
    draws_test_rows = True

    def __post_init__(self) -> None:
        check_count("times", self.times, 1, "50 to 200 samples are usual")

    @property
    def words(self) -> str:
        return f"{self.times} bootstrap samples"

    @property
    def n_rounds(self) -> int:
        return self.times

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return OneSample(seed, stratified, grouped)


@dataclass(frozen=True)
class OneSample:
    """One sample: drawn again until each class is drawn, and left out too unless a single unit holds all of it."""

    random_state: int
    stratified: bool
    grouped: bool

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """The drawn rows in ascending order, each as often as it was drawn, and the rows left out.

        Raises InputError for one row or group, or where no draw has every class on both sides.
        """
        n_rows = len(X)
        units = np.arange(n_rows)
        if self.grouped:
            units = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
        n_units = int(units.max()) + 1
        if n_units < 2:
            raise InputError(
                f"a bootstrap sample draws some {self._unit}s and leaves out others, so it needs at least 2, got "
                f"{n_units}.",
                argument="groups" if self.grouped else "cv",
            )
        # One column per class: whether a unit holds a row of it.
        labels = np.unique(np.asarray(y)) if self.stratified else np.zeros(0)
        held = np.zeros((n_units, len(labels)), dtype=bool)
        for column, label in enumerate(labels):
            held[units[np.asarray(y) == label], column] = True
        generator = np.random.Generator(np.random.Philox(self.random_state))
        for _ in range(MOST_ATTEMPTS):
            counts = np.bincount(generator.integers(n_units, size=n_units), minlength=n_units)
            if self._is_usable(counts, held):
                yield np.repeat(np.arange(n_rows), counts[units]), np.flatnonzero(counts[units] == 0)
                return
        rare = int(held.sum(axis=0).argmin())
        raise InputError(
            f"no bootstrap sample of {MOST_ATTEMPTS} had every class among the {self._unit}s drawn and among those "
            f"left out: class {labels_text(labels[rare : rare + 1])} is in {held[:, rare].sum()} "
            f"{self._unit}s; gather more of it, or use folds.",
            argument="cv",
        )

    @property
    def _unit(self) -> str:
        return "group" if self.grouped else "row"

    @staticmethod
    def _is_usable(counts: Indices, held: Booleans) -> bool:
        drawn, left_out = counts > 0, counts == 0
        can_be_apart = held.sum(axis=0) > 1
        return bool(
            left_out.any() and held[drawn].any(axis=0).all() and held[left_out].any(axis=0)[can_be_apart].all()
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1


def bootstrap(times: int = BootstrapSamples.times, *, random_state: int | None = None) -> FoldPlan:
    """The bootstrap as a plan of folds: every sample trains, and the rows that it left out test.

    N rows are drawn with replacement (whole groups where there are groups), so that a sample holds about 63 % of
    the rows and leaves out 37 %. A sample that lacks a class is drawn again. The score is that of models trained on
    63 % of the rows, so it is pessimistic for the model to deploy. Nested cross-validation with this plan needs new
    inner folds (``inner=5``), which keep the copies of a row on one side.

    Parameters
    ----------
    times : int, default=50
        B, the number of samples.
    random_state : int, optional
        By default the seed of the run.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``times`` is not an integer of at least 1.

    Examples
    --------
    >>> bootstrap(200).words
    '200 bootstrap samples'
    """
    return BootstrapSamples(times, random_state)


@dataclass(frozen=True)
class LeaveOut(FoldPlan):
    """Leave-one-out: every row is tested by itself; with groups, every group.

    Examples
    --------
    >>> LeaveOut().get_n_splits([[0]] * 12), LeaveOut().get_n_splits([[0]] * 4, groups=[0, 0, 1, 1])
    (12, 2)
    """

    words = "leave-one-out"
    is_shuffled = False

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return model_selection.LeaveOneGroupOut() if grouped else model_selection.LeaveOneOut()


def leave_one_out() -> FoldPlan:
    """Leave-one-out: every row is tested alone; with groups, every group.

    Metrics that need several rows (AUC, R²) are undefined in such a fold: use ``aggregate="pooled"``.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Examples
    --------
    >>> leave_one_out().words
    'leave-one-out'
    """
    return LeaveOut()


AUTO = "auto"
"""What ``cv`` says for this plan."""
MOST_FOLDS = 10


@dataclass(frozen=True)
class AutoFolds(FoldPlan):
    """K shuffled folds, K as large as the smallest class allows, at most ``most``.

    Examples
    --------
    >>> plan = AutoFolds(random_state=0)
    >>> plan.get_n_splits(np.zeros((40, 1)), [0] * 36 + [1] * 4), plan.get_n_splits(np.zeros((40, 1)))
    (4, 10)
    """

    most: int = MOST_FOLDS
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_count("most", self.most, 2, "10 is usual")

    @property
    def words(self) -> str:
        return f"as many folds as the smallest class allows, at most {self.most}"

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return _AutoSplitter(self.most, seed, stratified, grouped)


@dataclass(frozen=True)
class _AutoSplitter:
    """Counts rows, and then divides them."""

    most: int
    random_state: int
    stratified: bool
    grouped: bool

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Training and test rows of every split."""
        plan = KFolds(self.get_n_splits(X, y, groups))
        yield from plan.of_round(self.random_state, stratified=self.stratified, grouped=self.grouped).split(
            X, y, groups
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """K.

        Raises InputError without rows, and where not even two folds can be made.
        """
        # Splitters of scikit-learn may be asked without a target; the first that has rows is counted.
        counted = next((one for one in (y, groups, X) if one is not None), None)
        if counted is None:
            raise InputError("the number of folds depends on the rows; pass X, or the target.", argument="cv")
        classes = np.asarray(y) if self.stratified else None
        return number_of_folds(len(counted), classes, groups if self.grouped else None, self.most, events_of(y))


def number_of_folds(
    n_rows: int,
    classes: Array | None = None,
    groups: Any = None,
    most: int = MOST_FOLDS,
    events: Booleans | None = None,
) -> int:
    """The largest K up to ``most`` for which every fold can test a row, or a group, of every class.

    - ``classes`` (N,): the label of each row; None where there are none.
    - ``groups`` (N,): the group of each row; a class then counts the groups that hold it.
    - ``events`` (N,): whether the event of a row was seen. There are no more folds than events; as nothing keeps
      events in proportion, a fold may still lack one.

    Raises InputError where K would be below 2.

    Examples
    --------
    >>> number_of_folds(100), number_of_folds(7), number_of_folds(6, np.array([0, 0, 0, 1, 1, 1]))
    (10, 7, 3)
    """
    unit = "row" if groups is None else "group"
    unit_of_row = np.arange(n_rows) if groups is None else np.asarray(groups)
    sizes = {"": len(np.unique(unit_of_row))}
    # The size of a class alone counts then: it is never more than all rows.
    if classes is not None:
        sizes = {
            f"class {labels_text(np.array([label]))}": len(np.unique(unit_of_row[classes == label]))
            for label in np.unique(classes)
        }
    # Each fold needs an event, or its concordance is undefined.
    if events is not None:
        sizes["the event"] = len(np.unique(unit_of_row[events]))
    least = min(sizes, key=sizes.__getitem__)
    if sizes[least] < 2:
        what = f"{least} has" if least else "the data have"
        raise InputError(
            f"{what} {sizes[least]} {unit}, which cannot both train and test; gather more"
            f"{' of it, or leave it out' if least else f' {unit}s'}.",
            argument="cv",
        )
    return min(most, sizes[least])


def events_of(y: Any) -> Booleans | None:
    """(N,): whether the event was seen, of a target of events and times; None of any other.

    Examples
    --------
    >>> events_of(np.array([(True, 1.0), (False, 2.0)], dtype=[("event", bool), ("time", float)])).tolist()
    [True, False]
    """
    if not has_fields(y):
        return None
    name = next(name for name in y.dtype.names if y.dtype[name].kind == "b")
    return np.asarray(y[name], dtype=np.bool_)


def check_class_sizes(task: Task, n_folds: int) -> None:
    """Refuse more folds than the smallest class has rows."""
    counts = task.truth.class_counts()
    least = int(counts.argmin())
    if counts[least] < n_folds:
        assert task.truth.classes is not None
        label = labels_text(task.truth.classes[least : least + 1])
        if counts[least] < 2:
            lonely = int((counts == counts[least]).sum())
            rows = counted(int(counts[least]), "row")
            what = f"class {label} has {rows}"
            if lonely > 1:
                what = f"{lonely} of {len(counts)} classes have {rows} each, {label} for instance"
            raise InputError(
                f"{what}, and a class needs 2, one to train and one to test; correct misspelt labels, gather more "
                "rows, or leave these out.",
                argument="cv",
            )
        raise InputError(
            f"class {label} has {counts[least]} rows, fewer than the {n_folds} folds; use at most "
            f"`cv={int(counts[least])!r}` or `cv={AUTO!r}`, or gather more rows of it.",
            argument="cv",
        )


def auto_folds(most: int = MOST_FOLDS, *, random_state: int | None = None) -> FoldPlan:
    """As many shuffled folds as the smallest class allows: ``cv="auto"`` with your own limit and seed.

    Parameters
    ----------
    most : int, default=10
        The greatest number of folds. K is the number of rows of the smallest class (of its groups, if there are
        groups; of all rows, if there are no classes), and at most this.
    random_state : int, optional
        By default the seed of the run.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``most`` is not an integer of at least 2.

    Examples
    --------
    >>> auto_folds(5).get_n_splits([[0]] * 8, ["a", "b"] * 4)
    4
    """
    return AutoFolds(most, random_state)


def plan_of_cv(cv: Any) -> Any:
    """The plan that ``cv="auto"`` names; anything else unchanged.

    Examples
    --------
    >>> plan_of_cv("auto").words, plan_of_cv(5)
    ('as many folds as the smallest class allows, at most 10', 5)
    """
    return AutoFolds() if isinstance(cv, str) and cv == AUTO else cv


@dataclass(frozen=True)
class PairedHoldOut(FoldPlan):
    """A hold-out drawn several times from all rows, and as often in both halves of several halvings of the rows.

    As a splitter of scikit-learn it gives the J splits of all rows first, then those of the halves: halving by
    halving, first half, second half.

    Examples
    --------
    >>> plan = PairedHoldOut(3, 0.1, halvings=2, random_state=0)
    >>> plan.get_n_splits()  # 3 (1 + 2 · 2)
    15
    >>> [(len(train), len(test)) for train, test in plan.split(np.zeros((40, 1)))][2:5]
    [(36, 4), (16, 4), (16, 4)]
    """

    times: int = 15
    test_share: float = 0.1
    halvings: int = 10
    random_state: int | None = None
    draws_test_rows = True

    def __post_init__(self) -> None:
        check_count("times", self.times, 2, "15 repeats are usual")
        check_count("halvings", self.halvings, 1, "10 halvings are usual")
        HoldOut(self.test_share)
        if self.test_share >= 0.5:
            raise InputError(
                f"test_share must be below .5, got {self.test_share!r}, because each half of the rows tests as "
                "many rows as all rows do; .1 is usual."
            )

    @property
    def words(self) -> str:
        return (
            f"{self.times} repeats of {HoldOut(self.test_share).words}, and as many in both halves of "
            f"{self.halvings} halvings"
        )

    @property
    def n_rounds(self) -> int:
        return self.times

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return HoldOut(self.test_share).of_round(seed, stratified=stratified, grouped=grouped)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Training and test rows of every split, those of all rows first."""
        yield from super().split(X, y, groups)
        entropy = entropy_of(self.own_seed)
        yield from self.in_halves(len(X), y, groups, entropy, stratified=has_classes(y))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are, with those of the halves."""
        return self.times * (1 + 2 * self.halvings)

    def in_halves(self, n_rows: int, y: Any, groups: Any, entropy: int, *, stratified: bool) -> Iterator[Pair]:
        """Training and test rows of the splits of halves: halving by halving, first half, second half."""
        for number in range(self.halvings):
            of_half = HoldOut(0.5).of_round(
                numpy_seed(entropy, "halves", number), stratified=stratified, grouped=groups is not None
            )
            for half, rows in enumerate(next(iter(of_half.split(np.zeros(n_rows), y, groups)))):
                yield from self._in_half(np.sort(rows), n_rows, y, groups, (entropy, number, half), stratified)

    def _in_half(
        self, rows: Indices, n_rows: int, y: Any, groups: Any, half: tuple[int, int, int], stratified: bool
    ) -> Iterator[Pair]:
        entropy, halving, number = half
        own_y = None if y is None else np.asarray(y)[rows]
        own_groups = None if groups is None else np.asarray(groups)[rows]
        n_test = np.ceil(self.test_share * n_rows)  # as many as a hold-out of all rows tests
        # Half a row less, so that scikit-learn, which rounds up, arrives at exactly so many; and at least one row
        # trains.
        share = min(2 * self.test_share if groups is not None else (n_test - 0.5) / len(rows), 1 - 1 / len(rows))
        for draw in range(self.times):
            splitter = HoldOut(share).of_round(
                numpy_seed(entropy, "in halves", halving, number, draw),
                stratified=stratified,
                grouped=groups is not None,
            )
            for train, test in splitter.split(np.zeros(len(rows)), own_y, own_groups):
                yield rows[train], rows[test]


def pairs_in_halves(
    plan: PairedHoldOut, n_rows: int, labels: Array | None, groups: Any, entropy: int
) -> list[Pair]:
    """Training and test rows of the splits of halves that a plan has; seeded by the run if the plan has no seed.

    ``labels`` are those of the classes that stay in proportion; None where there are none.

    Raises InputError where a half is too small to be split.
    """
    seed = entropy if plan.own_seed is None else plan.own_seed
    try:
        return list(plan.in_halves(n_rows, labels, groups, seed, stratified=labels is not None))
    except ValueError as error:
        raise InputError(
            f"halves of the {n_rows} rows cannot be split ({error}); use `cv=ho.protocols.repeated_hold_out(50, "
            "0.2)` without halves, or more rows.",
            argument="cv",
        ) from error


def paired_hold_out(
    times: int = PairedHoldOut.times,
    test_share: float = PairedHoldOut.test_share,
    halvings: int = PairedHoldOut.halvings,
    *,
    random_state: int | None = None,
) -> FoldPlan:
    """A hold-out drawn several times, from all rows and in both halves of the rows: for method "conservative_z".

    A search scores and selects by the splits of all rows. Then it fits its winner on those of the halves: 2 ·
    ``times`` · ``halvings`` more fits, which only that method uses.

    Parameters
    ----------
    times : int, default=15
        Hold-outs of all rows, and of each half.
    test_share : float, default=.1
        The share of all rows, below .5. A split of a half tests the same number of rows.
    halvings : int, default=10
        How often the rows are divided in halves.
    random_state : int, optional
        Seeds the shuffle; by default the seed of the run does.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``times`` or ``halvings`` is too small, or ``test_share`` is not below .5.

    Examples
    --------
    >>> paired_hold_out().get_n_splits()  # 15 · (1 + 2 · 10)
    315
    """
    return PairedHoldOut(times, test_share, halvings, random_state)


def split_items(n: int, groups: Any = None, *, random_state: RandomState = None) -> tuple[Indices, Indices]:
    """Divide n items into two random halves that keep groups whole: one to propose on, one to select on.

    Prompts that an optimiser or a person changes because of scores are fitted to the items that gave these scores.
    Propose on the first half, and select and estimate on the second, which no proposal has seen.

    Parameters
    ----------
    n : int
        The number of items, at least 2.
    groups : array-like of shape (n,), optional
        The group of each item, such as its document. The halves are as equal as whole groups allow.
    random_state : int, RandomState or Generator, optional
        Seeds the draw.

    Returns
    -------
    (propose, select) : two arrays of int
        Numbers of items, from 0, ascending.

    Raises
    ------
    InputError
        When there are fewer than two items or groups.

    Examples
    --------
    >>> propose, select = split_items(6, groups=["a", "a", "b", "b", "c", "c"], random_state=0)
    >>> sorted([*propose.tolist(), *select.tolist()]), len({*propose} & {*select})
    ([0, 1, 2, 3, 4, 5], 0)
    """
    check_count("n", n, least=2)
    labels = checked_groups(np.arange(n) if groups is None else groups, n)
    assert labels is not None, "None was replaced"
    codes = distinct(labels, "groups")[1]
    sizes = np.bincount(codes)
    if len(sizes) < 2:
        raise InputError("groups must be at least 2, to make two halves of them, got 1.")
    order = np.random.default_rng(entropy_of(random_state)).permutation(len(sizes))
    filled, half = [0, 0], np.zeros(len(sizes), dtype=np.intp)
    for group in order[np.argsort(-sizes[order], kind="stable")]:  # the largest first, each into the smaller half
        half[group] = filled[1] < filled[0]
        filled[half[group]] += int(sizes[group])
    first = half[codes] == 0
    return np.flatnonzero(first), np.flatnonzero(~first)

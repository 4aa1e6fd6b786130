"""Folds: (repeat, fold) and the rows of each split, from any splitter of scikit-learn.

A partition repeated R times is R columns of fold labels. With a splitter that makes no partition (shuffle splits,
hold-out) a new repeat starts whenever a test row would recur, so that every row is predicted at most once a repeat.
Where the folds follow time, each test window stands in the first repeat that does not test its rows yet: the
predictions of a row from several origins are kept apart, in as few repeats as there are such predictions.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit, check_cv

from heldout._streams import numpy_seed
from heldout._text import counted
from heldout._types import Array, Booleans, Codes, Indices
from heldout.data.checks import check_count
from heldout.data.limits import MOST_SPLITS, check_fits, refuse_beyond_memory, refuse_more_than
from heldout.data.task import Task, TaskKind, labels_text, shortened
from heldout.errors import InputError
from heldout.folds.plans import FoldPlan, PairedHoldOut, check_class_sizes, pairs_in_halves, plan_of_cv, rounds_of

Rows = Indices
Place: TypeAlias = tuple[int, int]
"""A split's repeat and fold."""

_WHAT_CV_IS = (
    "cv must be an integer of at least 2, 'auto', a splitter with a split method, or an iterable of (train, test), "
    "got {cv}."
)


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of one split: training rows (a repeated row counts as often as it occurs) and test rows."""

    repeat: int
    fold: int
    train: Rows
    test: Rows

    @property
    def n_training_rows(self) -> int:
        """The number of distinct training rows: a copy of a row adds no information."""
        return len(self.train) if not self.has_copies else len(np.unique(self.train))

    @property
    def has_copies(self) -> bool:
        """Whether a row trains several times."""
        return bool(np.bincount(self.train).max(initial=0) > 1)

    @property
    def place(self) -> Place:
        """The (repeat, fold) by which cells name it."""
        return self.repeat, self.fold


@dataclass(frozen=True, eq=False)
class Folds:
    """All splits of a search, in the order of the splitter, with facts about them."""

    splits: tuple[Split, ...]
    n_rows: int
    exchangeable: bool = True
    """False where the test rows come after the training rows in time."""
    grouped: bool = False
    """Whether groups of rows are held out whole."""
    halves: tuple[Split, ...] = ()
    """Splits of halves of the rows, in which only the winner is fitted, after it was selected: halving by halving,
    first half, second half."""
    n_halvings: int = 0
    without_two: tuple[Split, ...] = ()
    """Splits that leave two folds out, for the correction for training size; no part of the fingerprint, because
    the folds decide them."""

    @property
    def n_splits(self) -> int:
        return len(self.splits)

    @property
    def n_repeats(self) -> int:
        return len(self.columns)

    @cached_property
    def columns(self) -> dict[int, int]:
        """The column of each repeat, in the order of their numbers: a part of a plan need not begin at 0."""
        return {repeat: column for column, repeat in enumerate(sorted({split.repeat for split in self.splits}))}

    @cached_property
    def labels(self) -> Codes:
        """Fold of each row in each repeat (N, R), -1 where the repeat does not test it."""
        labels = np.full((self.n_rows, self.n_repeats), -1, dtype=np.int32)
        for split in self.splits:
            labels[split.test, self.columns[split.repeat]] = split.fold
        return labels

    @property
    def of_first_repeat(self) -> tuple[Split, ...]:
        """The splits of the first repeat."""
        first = min(self.columns)
        return tuple(split for split in self.splits if split.repeat == first)

    def part(self, splits: Iterable[Split]) -> Folds:
        """Some of the splits, in the order of these, as folds of the same rows.

        Examples
        --------
        >>> rows = np.arange(4)
        >>> folds = Folds((Split(0, 0, rows[:2], rows[2:]), Split(1, 0, rows[2:], rows[:2])), 4)
        >>> folds.part(split for split in folds.splits if split.repeat == 1).labels.ravel().tolist()
        [0, 0, -1, -1]
        """
        wanted = {split.place for split in splits}
        kept = tuple(split for split in self.splits if split.place in wanted)
        return replace(self, splits=kept, halves=(), n_halvings=0, without_two=())

    @property
    def is_partition(self) -> bool:
        """Whether every repeat tests every row once."""
        return bool((self.labels >= 0).all())

    @cached_property
    def leaves_one_out(self) -> bool:
        """Whether each split tests one row and trains once on every other, and every row is tested once."""
        n = self.n_rows
        sizes = self.n_splits == n and all(len(s.test) == 1 and len(s.train) == n - 1 for s in self.splits)
        return sizes and self.is_partition and not any(split.has_copies for split in self.splits)

    @property
    def test_share(self) -> float | None:
        """The mean share of rows that a split of repeated subsampling tests; None for other splits.

        Subsampling draws the tested rows of each split from all rows: rows recur, so that there are repeats, and
        repeats leave rows out. (Two splits that share no tested row by chance stand in one repeat.)

        Examples
        --------
        >>> rows = np.arange(4)
        >>> Folds((Split(0, 0, rows[:3], rows[3:]), Split(1, 0, rows[1:], rows[:1])), 4).test_share
        0.25
        """
        tested = self.labels[(self.labels >= 0).any(axis=1)]  # a search may use a sample of the rows
        if self.n_repeats < 2 or not self.exchangeable or (tested >= 0).all():
            return None
        return float(
            np.mean([len(split.test) / (len(split.test) + split.n_training_rows) for split in self.splits])
        )

    @property
    def n_training_rows(self) -> float:
        """The mean number of distinct training rows."""
        return float(np.mean([split.n_training_rows for split in self.splits]))

    def fingerprint(self) -> str:
        """sha256 of the splits, training rows included."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        for split in (*self.splits, *self.halves):
            digest.update(f"{split.repeat},{split.fold},{len(split.train)},{len(split.test)};".encode())
            digest.update(np.ascontiguousarray(split.train, dtype=np.int64).tobytes())
            digest.update(np.ascontiguousarray(split.test, dtype=np.int64).tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        kind = "partition" if self.is_partition else "incomplete"
        repeats = counted(self.n_repeats, "repeat")
        return f"Folds({counted(self.n_splits, 'split')}, {repeats} of {counted(self.n_rows, 'row')}, {kind})"


def make_folds(
    task: Task,
    cv: Any = None,
    *,
    repeats: int = 1,
    entropy: int = 0,
    classifier: bool | None = None,
    split_params: Mapping[str, Any] | None = None,
    small_classes: Literal["refuse", "allow"] = "refuse",
    n_configurations: int = 1,
) -> Folds:
    """The splits of ``cv`` on a task.

    - ``cv``: as scikit-learn's ``check_cv`` reads it: 5 folds by default, stratified for classifiers, unshuffled. A
      plan (``heldout.folds.plans``) is stratified, grouped and seeded as the task is; ``"auto"`` is a plan.
    - ``repeats``: more than one shuffles an integer ``cv``, and reseeds a splitter that shuffles, once a repeat.
    - ``entropy``: seeds the shuffles of repeats.
    - ``classifier``: whether to stratify; by default from the task's kind.
    - ``split_params``: what is passed to ``cv.split`` besides X and y; ``groups`` by default where the task has
      them.
    - ``small_classes``: whether stratified folds may have more folds than a class has rows, as scikit-learn allows
      with a warning.
    - ``n_configurations``: how many will be fitted on each split, where that is known: too many fits are refused
      before folds are made.

    Raises InputError for fewer than 2 folds, classes smaller than the folds, empty folds, a row twice in one test
    set, groups on both sides of a split, or repeats of a splitter that cannot be reseeded.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout.data.task import Task, truth_of
    >>> task = Task(np.zeros((6, 1)), truth_of([0, 1, 0, 1, 0, 1]))
    >>> make_folds(task, 3).labels.ravel().tolist()
    [0, 0, 1, 1, 2, 2]
    """
    cv = plan_of_cv(_listed(cv))
    is_listed = isinstance(cv, Iterable) and not hasattr(cv, "split")
    if isinstance(cv, bytes) or (is_listed and not all(map(_is_pair, cv))):  # bytes have a split too
        raise InputError(_WHAT_CV_IS.format(cv=shortened(cv)))
    _check_count(task, cv, repeats)
    stratify = task.truth.kind.is_classification if classifier is None else classifier
    # Some survival models call themselves classifiers; neither a structured array nor several columns have classes.
    stratify = stratify and task.truth.kind not in (TaskKind.SURVIVAL, TaskKind.OTHER)
    labels = None if task.target is None else np.asarray(task.target)
    n_folds = _folds_of_classes(cv)
    if small_classes == "refuse" and stratify and n_folds is not None:
        check_class_sizes(task, n_folds)
    default = {} if task.groups is None else {"groups": task.groups}
    params = default if split_params is None else dict(split_params)
    splits: list[Split] = []
    grouped = params.get("groups") is not None
    number = _number_of_splits(cv, repeats, task, labels, params)
    check_splits(number, task.n_rows)
    check_fits(n_configurations, number)
    for splitter in _splitters(cv, repeats, entropy, labels, stratify, grouped):
        try:
            pairs = list(islice(splitter.split(task.X, labels, **params), MOST_SPLITS + 1 - len(splits)))
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the splitter {splitter} refused the data: {error}") from error
        if (
            pairs
            and hasattr(cv, "get_n_splits")
            and not isinstance(cv, FoldPlan)
            and number not in (0, repeats * len(pairs))
        ):
            raise InputError(
                f"get_n_splits of {cv} says {number // repeats}, and its split gives {len(pairs)}; correct one of "
                "them.",
                argument="cv",
            )
        check_splits(len(splits) + len(pairs), task.n_rows)
        splits += _numbered(pairs, task.n_rows, splits[-1].repeat + 1 if splits else 0)
    _check_groups(splits, task.groups)
    in_time_order = _in_time_order(cv, splits)
    if in_time_order:
        splits = _of_origins(splits, task.n_rows)
    folds = Folds(tuple(splits), task.n_rows, not in_time_order, grouped=task.groups is not None)
    if not isinstance(cv, PairedHoldOut):
        return folds
    pairs = pairs_in_halves(cv, task.n_rows, labels if stratify else None, params.get("groups"), entropy)
    first = 1 + splits[-1].repeat
    halves = tuple(Split(first + number, 0, train, test) for number, (train, test) in enumerate(pairs))
    return replace(folds, halves=halves, n_halvings=cv.halvings)


def check_splits(
    number: int, n_rows: int, remedy: str = "fewer folds or repeats: 5 folds and 10 repeats are many"
) -> None:
    """Refuse too many splits before they are made: more than any run has, or than fit in half of the memory."""
    refuse_more_than(MOST_SPLITS, number, "splits", remedy)
    refuse_beyond_memory(number * n_rows * 8, f"the row numbers of {number:,} splits of {n_rows:,} rows", remedy)


def listed_splits(cv: Any) -> list[Any]:
    """An iterable of (train, test) as a list, up to the greatest number of splits.

    Raises InputError for what cannot be iterated over.
    """
    if not isinstance(cv, Iterable):
        raise InputError(_WHAT_CV_IS.format(cv=shortened(cv)))
    return list(islice(cv, MOST_SPLITS + 1))


def _listed(cv: Any) -> Any:
    """An iterator of splits as a list, up to the greatest number: scikit-learn would exhaust it."""
    return listed_splits(cv) if isinstance(cv, Iterator) else cv


def _is_pair(split: Any) -> bool:
    """Whether something may be the (train, test) of an iterable of splits."""
    return (
        not isinstance(split, str | bytes)
        and np.iterable(split)
        and len(list(split)) == 2
        and all(np.ndim(rows) == 1 for rows in split)
    )


def _number_of_splits(cv: Any, repeats: int, task: Task, labels: Array | None, params: Mapping[str, Any]) -> int:
    """The number of splits, if known without making them; else 0."""
    if cv is None or isinstance(cv, int | np.integer):
        return int(repeats) * (5 if cv is None else int(cv))
    if isinstance(cv, FoldPlan):
        return int(repeats) * int(cv.n_rounds) * (cv.most_folds() or 1)
    try:
        return int(repeats) * int(cv.get_n_splits(task.X, labels, params.get("groups")))
    except Exception:  # an error here recurs when it splits, or does not matter
        return 0


def _check_count(task: Task, cv: Any, repeats: int) -> None:
    if task.n_rows < 2:  # scikit-learn's checks look for the word sample
        raise InputError(
            "cross-validation trains on some rows and tests on others, so it needs at least 2, got 1 sample."
        )
    if isinstance(cv, int | np.integer) and not 2 <= cv <= task.n_rows:
        raise InputError(
            f"cv must be at least 2, got {cv}; use an integer from 2 to {task.n_rows} (the number of rows)."
            if cv < 2
            else f"cv must be at most the number of rows, {task.n_rows}, got {cv}; use fewer folds.",
            argument="cv",
        )
    check_count("repeats", repeats)


def _folds_of_classes(cv: Any) -> int | None:
    """The number of folds of each class; None for a splitter of the user."""
    if isinstance(cv, FoldPlan):
        return cv.most_folds()
    if cv is None:
        return 5
    return int(cv) if isinstance(cv, int | np.integer) else None


def _splitters(
    cv: Any, repeats: int, entropy: int, labels: Array | None, stratify: bool, grouped: bool
) -> Sequence[Any]:
    if isinstance(cv, FoldPlan):
        return rounds_of(cv, repeats, entropy, stratified=stratify, grouped=grouped)
    return [_splitter_of_repeat(cv, repeat, repeats, entropy, labels, stratify) for repeat in range(repeats)]


def _splitter_of_repeat(
    cv: Any, repeat: int, repeats: int, entropy: int, labels: Array | None, stratify: bool
) -> Any:
    if repeats == 1:
        try:
            return check_cv(cv, labels if stratify else None, classifier=stratify)
        except ValueError:
            raise InputError(_WHAT_CV_IS.format(cv=shortened(cv))) from None
    seed = numpy_seed(entropy, "folds", repeat)
    if cv is None or isinstance(cv, int | np.integer):
        kind = StratifiedKFold if stratify else KFold
        return kind(5 if cv is None else int(cv), shuffle=True, random_state=seed)
    if not hasattr(cv, "random_state") or not getattr(cv, "shuffle", True):
        raise InputError(
            f"`repeats={repeats!r}` needs a splitter that shuffles with a random_state, got {shortened(cv)}; use "
            "an integer, a splitter with shuffle=True, or `repeats=1`."
        )
    reseeded = copy.copy(cv)
    reseeded.random_state = seed
    return reseeded


def _numbered(pairs: Iterable[tuple[Any, Any]], n_rows: int, first_repeat: int) -> list[Split]:
    """Splits with their repeat and fold; a test row that recurs starts a new repeat."""
    splits: list[Split] = []
    repeat, fold = first_repeat, 0
    seen, in_training = np.zeros(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
    for train, test in pairs:
        train_rows, test_rows = _row_numbers(train, n_rows), _row_numbers(test, n_rows)
        _check_held_out(len(splits), train_rows, test_rows, in_training)
        if seen[test_rows].any():
            repeat, fold = repeat + 1, 0
            seen[:] = False
        seen[test_rows] = True
        splits.append(Split(repeat, fold, train_rows, test_rows))
        fold += 1
    if not splits:
        raise InputError("the splitter gave no splits; use at least one.")
    return splits


def _check_held_out(number: int, train: Rows, test: Rows, in_training: Booleans) -> None:
    """Refuse a split whose test rows are none, or not held out. ``in_training`` (N,) is overwritten."""
    if not len(test) or not len(train):
        empty = "test" if not len(test) else "training"
        raise InputError(f"split {number} has no {empty} rows; use fewer folds, or folds of larger groups.")
    if len(test) > 1 and len(np.unique(test)) < len(test):
        raise InputError(f"split {number} tests a row twice; every row can be tested once per split.")
    in_training[:] = False
    in_training[train] = True
    if in_training[test].any():
        raise InputError(
            f"split {number} trains on rows that it tests, so that its predictions are not held out; "
            "training and test rows must be disjoint."
        )


def checked_folds(folds: Any, task: Task, of: str) -> Folds:
    """Folds that ``of`` planned by itself, checked as those of a splitter are.

    Raises InputError for what are no folds of this task, and for splits whose test rows are not held out.
    """
    if not isinstance(folds, Folds) or folds.n_rows != task.n_rows or not folds.splits:
        raise InputError(f"{of} must plan Folds of {task.n_rows} rows, got {shortened(folds)}.")
    in_training, places = np.zeros(task.n_rows, dtype=bool), set[Place]()
    for number, split in enumerate(folds.splits):
        train, test = _row_numbers(split.train, task.n_rows), _row_numbers(split.test, task.n_rows)
        _check_held_out(number, train, test, in_training)
        if split.place in places:
            raise InputError(
                f"{of} plans two splits of repeat {split.repeat} and fold {split.fold}; number them anew."
            )
        places.add(split.place)
    _check_groups(folds.splits, task.groups)
    return folds


def _of_origins(splits: Sequence[Split], n_rows: int) -> list[Split]:
    """The splits of a forecast from several origins, each in the first repeat that tests none of its rows yet.

    Test windows of h rows with an origin at every row then make h repeats, and not one for each origin.
    """
    tested: list[Rows] = []  # by repeat: how often it tests each row
    n_folds: list[int] = []
    placed = []
    for split in splits:
        repeat = next((place for place, rows in enumerate(tested) if not rows[split.test].any()), len(tested))
        if repeat == len(tested):
            tested.append(np.zeros(n_rows, dtype=np.intp))
            n_folds.append(0)
        tested[repeat][split.test] += 1
        placed.append(replace(split, repeat=repeat, fold=n_folds[repeat]))
        n_folds[repeat] += 1
    return placed


def _row_numbers(rows: Any, n_rows: int) -> Rows:
    index = np.asarray(rows)
    if index.dtype == bool:
        return np.flatnonzero(index)
    strangers = index[(index < 0) | (index >= n_rows)]
    if strangers.size:
        raise InputError(f"a split names row {strangers[0]}, but rows are numbered 0 to {n_rows - 1}.")
    return index.astype(np.intp)


def _check_groups(splits: Sequence[Split], groups: Array | None) -> None:
    if groups is None:
        return
    for number, split in enumerate(splits):
        shared = np.intersect1d(groups[split.train], groups[split.test])
        if shared.size:
            raise InputError(
                f"split {number} has rows of group {labels_text(shared[:1])} on both sides; use a splitter that "
                "keeps groups whole, such as GroupKFold or StratifiedGroupKFold."
            )


def _in_time_order(cv: Any, splits: Sequence[Split]) -> bool:
    return isinstance(cv, TimeSeriesSplit) or (
        len(splits) > 1 and all(split.train.max() < split.test.min() for split in splits)
    )


FEWEST, MOST = 3, 10
"""Folds of a plan that has such splits: K (K - 1) / 2 of them."""


def with_splits_without_two(folds: Folds) -> Folds:
    """The folds, with a split for every two folds of the first repeat; with none where that is no K-fold plan.

    Their training rows are those outside both folds, and their test rows those of the first fold, then those of the
    second. Each is a repeat of its own, behind the repeats of the plan.

    Examples
    --------
    >>> rows = np.arange(6)
    >>> splits = [Split(0, k, np.delete(rows, [2 * k, 2 * k + 1]), rows[2 * k : 2 * k + 2]) for k in range(3)]
    >>> for split in with_splits_without_two(Folds(tuple(splits), 6)).without_two:
    ...     print(split.place, split.train, split.test)
    (1, 0) [4 5] [0 1 2 3]
    (2, 0) [2 3] [0 1 4 5]
    (3, 0) [0 1] [2 3 4 5]
    """
    splits = folds.of_first_repeat
    if not FEWEST <= len(splits) <= MOST or not folds.exchangeable or not all(_is_fold(s, folds) for s in splits):
        return replace(folds, without_two=())
    if (folds.labels[:, 0] < 0).any():
        return replace(folds, without_two=())
    number = 1 + max(folds.columns)
    pairs: list[Split] = []
    for one, other in combinations(splits, 2):
        train = one.train[np.isin(one.train, other.test, invert=True)]
        pairs.append(Split(number + len(pairs), 0, train, np.concatenate([one.test, other.test])))
    return replace(folds, without_two=tuple(pairs))


def _is_fold(split: Split, folds: Folds) -> bool:
    """Whether every row that a split does not test trains once."""
    n_rows = len(split.train) + len(split.test)
    return n_rows == folds.n_rows == len(np.union1d(split.train, split.test))

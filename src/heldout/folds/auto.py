"""As many folds as the rows allow: K chosen for the data.

More folds train on more rows, so that the score is closer to that of the model to deploy; but every fold must test
each class, or the score of a fold is undefined. So K is as large as the smallest class allows, up to a limit
(Tsamardinos, Greasidou & Borboudakis 2018, section 2.1, stratify for the same reason).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.checks import check_count
from heldout.data.task import Task, has_fields, labels_text
from heldout.errors import InputError
from heldout.folds.plans import FoldPlan, KFolds, Pair, Splitter

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
    classes: NDArray[Any] | None = None,
    groups: Any = None,
    most: int = MOST_FOLDS,
    events: NDArray[np.bool_] | None = None,
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


def events_of(y: Any) -> NDArray[np.bool_] | None:
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
        raise InputError(
            f"class {label} has {counts[least]} rows, fewer than the {n_folds} folds; use at most "
            f"`cv={int(max(counts[least], 2))!r}` or `cv={AUTO!r}`, or gather more rows of it.",
            argument="cv",
        )


def auto_folds(most: int = MOST_FOLDS, *, random_state: int | None = None) -> FoldPlan:
    """As many shuffled folds as the smallest class allows: ``cv="auto"`` with a limit and a seed of one's own.

    Parameters
    ----------
    most : int, default=10
        K is the number of rows of the smallest class (of groups that hold it, where there are groups; of all rows,
        where there are no classes), and at most this.
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

"""The task: rows, their target, and what kind of prediction it asks for.

``Truth`` is the target as the kernels want it (class codes or numbers) with the labels kept beside it;
``Task`` adds the columns, groups and weights that fitting needs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted, is_one_of
from heldout.data.arrays import (
    array_of,
    check_labels_or_numbers,
    column_of,
    distinct,
    has_fields,
    in_one_order,
    missing,
    numbers_of,
    shortened,
)
from heldout.errors import InputError

SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])
"""``event``: whether it was seen at ``time``; else the row was censored then, and its event is later, if ever."""

FORMS = (
    "scikit-survival's structured array, a table of two columns, a list of (event, time), or a tuple of two "
    "columns, the event (true or false) first and the time second"
)


def has_two_columns(y: Any) -> bool:
    """Whether ``y`` is a tuple of two columns, or a table or list of two columns: perhaps events and times."""
    if isinstance(y, tuple) and len(y) == 2:
        return all(np.ndim(column) == 1 for column in y)
    shape = getattr(y, "shape", None)
    if shape is not None:
        return len(shape) == 2 and shape[1] == 2
    return isinstance(y, list) and bool(y) and all(isinstance(row, tuple | list) and len(row) == 2 for row in y)


def with_fields(values: NDArray[Any], names: tuple[str, ...]) -> NDArray[Any]:
    """A survival target with its two fields under other names."""
    return values.view(np.dtype([(name, SURVIVAL[place]) for place, name in enumerate(names)]))


def survival_target(y: Any, *, may_lack_events: bool = False) -> NDArray[Any]:
    """A survival target, checked, as an array (N,) with fields ``event`` (bool) and ``time`` (float64).

    ``y`` is a structured array (N,), a table of two columns, a list of N pairs, or a tuple of two columns: the
    event (true or false, or 1 and 0) and the time, in that order. ``may_lack_events`` accepts rows that are all
    censored, as for a score of a few rows.

    Examples
    --------
    >>> survival_target([(True, 3), (False, 5)]).tolist()
    [(True, 3.0), (False, 5.0)]
    >>> survival_target((["1", "0"], [3, 5]))
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: the event of a survival target must be true or false (or 1 and 0), got '1'; ...
    """
    event, time = _two_columns(y)
    if event.shape != time.shape or event.ndim != 1:
        raise InputError(
            f"the event and the time of a survival target must be columns of one length, got shapes {event.shape} "
            f"and {time.shape}."
        )
    if not event.size:
        raise InputError("the target has no rows.")
    check_labels_or_numbers(event, "the event of a survival target")
    check_labels_or_numbers(time, "the time of a survival target")
    _refuse_missing(event, "event")
    _refuse_missing(time, "time")
    target = np.empty(len(event), dtype=SURVIVAL)
    target["event"] = _events(event, time)
    target["time"] = _times(time)
    if not may_lack_events and not target["event"].any():
        raise InputError(
            f"the target holds {counted(len(target), 'row')} and no event: all are censored, so no prediction "
            "can be checked; the event must be true for rows in which it happened."
        )
    return target


def _two_columns(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(y, tuple) and len(y) == 2:
        event, time = in_one_order({"event": y[0], "time": y[1]}).values()
        return column_of(event, "the event"), column_of(time, "the time")
    array = array_of(y, "the target")
    if array.dtype.names is not None and array.ndim == 1:
        if len(array.dtype.names) == 2:
            event, time = array.dtype.names
            return array_of(array[event], "the event"), array_of(array[time], "the time")
        raise InputError(
            f"a survival target has two fields, the event and the time, got {len(array.dtype.names)}: "
            f"{', '.join(array.dtype.names)}; pass the two, event first."
        )
    if array.ndim == 2 and array.shape[1] == 2:
        return array_of(array[:, 0], "the event"), array_of(array[:, 1], "the time")
    raise InputError(f"a survival target must be {FORMS}; got an array of {array.dtype} of shape {array.shape}.")


def _refuse_missing(column: NDArray[Any], which: str) -> None:
    absent = missing(column)
    if absent.any():
        raise InputError(
            f"the {which} of the survival target has {counted(int(absent.sum()), 'missing value')} (first in row "
            f"{int(absent.argmax())}, counted from 0); leave these rows out."
        )


def _events(column: NDArray[Any], time: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype.kind == "b":
        return column
    strange = np.array([value not in (0, 1) for value in column.tolist()])
    if strange.any():
        swapped = time.dtype.kind == "b" or (time.dtype.kind in "iuf" and bool(np.isin(time, (0, 1)).all()))
        advice = "swap the two, the event comes first" if swapped else "the event comes first, then the time"
        if set(column.tolist()) == {1, 2}:
            advice = "it holds 1 and 2: in R's survival package 2 is the event; if so here, pass event == 2"
        raise InputError(
            "the event of a survival target must be true or false (or 1 and 0), got "
            f"{column[strange].tolist()[0]!r}; {advice}."
        )
    return column.astype(np.float64) == 1


def _times(column: NDArray[Any]) -> NDArray[np.float64]:
    times = numbers_of(column, "the time of a survival target")
    if column.dtype.kind in "iuO" and len(np.unique(times)) < len(np.unique(column)):
        raise InputError(
            "the time of a survival target must be numbers that differ as floats, got whole numbers up to "
            f"{max(column.tolist())}, several of which would become one time; use a larger unit, or an earlier "
            "start."
        )
    wrong = ~np.isfinite(times) | (times < 0)
    if wrong.any():
        raise InputError(
            f"the time of a survival target must be finite and at least 0, got {times[wrong][0]} in row "
            f"{int(wrong.argmax())}, counted from 0; leave such rows out, or fix them."
        )
    return times + 0.0  # -0.0 becomes 0.0


class TaskKind(StrEnum):
    """What a prediction is."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"
    SURVIVAL = "survival"
    OTHER = "other"
    """Several columns, or no target at all: scorers score a fold, and nothing else is known of a prediction."""

    @property
    def is_classification(self) -> bool:
        return self in (TaskKind.BINARY, TaskKind.MULTICLASS)


@dataclass(frozen=True, eq=False)
class Truth:
    """The target of N rows."""

    kind: TaskKind
    # (N,): float64 numbers for a regression; for survival a structured array with fields ``event`` (bool) and
    # ``time`` (float64); of an OTHER (N, K) numbers, or one a row; class codes 0 .. n_classes - 1 (int32) otherwise
    values: NDArray[Any]
    # (n_classes,): the labels behind the codes, sorted unless given in another order
    classes: NDArray[Any] | None = None
    # code of the positive class of a binary task: probabilities and decisions of shape (N, C) point to it
    positive: int | None = None
    fields: tuple[str, ...] | None = None  # what the user calls the event and the time of a survival target

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    @property
    def pos_label(self) -> Any:
        """The label of the positive class, or None."""
        return self.label_of(self.positive)

    def label_of(self, code: int | None) -> Any:
        """The label of a class as Python writes it; None where there is none."""
        if self.classes is None or code is None:
            return None
        label = self.classes[code]
        return label.item() if isinstance(label, np.generic) else label

    def rows(self, index: NDArray[Any]) -> Truth:
        """The same target on some rows."""
        return replace(self, values=self.values[index])

    def with_positive(self, code: int) -> Truth:
        """The same target with another positive class."""
        return replace(self, positive=code)

    def with_pos_label(self, pos_label: Any) -> Truth:
        """The same target with a class as the positive one; unchanged for None.

        Raises InputError for what is none of two classes.
        """
        if pos_label is None:
            return self
        if self.kind is not TaskKind.BINARY or self.classes is None:
            raise InputError(
                f"`pos_label={pos_label!r}` is for 2 classes, got a {self.kind} target; leave it out.",
                argument="pos_label",
            )
        return self.with_positive(_positive_code(self.classes, pos_label))

    def labels(self) -> NDArray[Any]:
        """The target as the user wrote it; of survival the fields are ``event`` and ``time``."""
        return self.values if self.classes is None else self.classes[self.values]

    def class_counts(self) -> NDArray[np.intp]:
        """Rows of each class."""
        return np.bincount(self.values, minlength=self.n_classes)


def truth_of(y: Any, kind: TaskKind | str | None = None, *, classes: Any = None, pos_label: Any = None) -> Truth:
    """Check a target column and code it.

    Parameters
    ----------
    y : array-like of shape (N,)
        Labels of any one type, or numbers; for survival the event and the time (``survival_target`` says how).
    kind : TaskKind or str, optional
        Guessed when None: numbers with a fractional part are a regression, two distinct values are binary,
        more are multiclass; a structured array is survival.
    classes : array-like, optional
        The labels and their order; sorted unique ``y`` by default.
    pos_label : label, optional
        The positive class of a binary task; the last of ``classes`` by default.

    Examples
    --------
    >>> truth = truth_of(["no", "yes", "no"])
    >>> truth.kind, truth.values.tolist(), truth.pos_label
    (<TaskKind.BINARY: 'binary'>, [0, 1, 0], 'yes')
    """
    if kind == TaskKind.SURVIVAL or (kind is None and has_fields(y)):
        _refuse_without_labels("events and times", classes=classes, pos_label=pos_label)
        return Truth(TaskKind.SURVIVAL, survival_target(y), fields=y.dtype.names if has_fields(y) else None)
    column = target_column(y)
    listed = None if classes is None else _listed(classes)
    wanted = TaskKind(kind) if kind is not None else guess_kind(column, listed)
    if wanted is TaskKind.REGRESSION:
        _refuse_without_labels("numbers", classes=classes, pos_label=pos_label)
        return Truth(wanted, _numbers(column))
    codes, labels = _coded(column, listed)
    if wanted is TaskKind.BINARY and len(labels) > 2:
        raise InputError(f"a binary task needs 2 classes, got {len(labels)}: {labels_text(labels)}.")
    if len(labels) < 2:
        raise InputError(
            f"the target needs at least 2 classes, got 1: {labels_text(labels)}; "
            "with one class there is nothing to predict."
        )
    if len(labels) == 2:
        return Truth(TaskKind.BINARY, codes, labels, positive=_positive_code(labels, pos_label))
    if pos_label is not None:
        raise InputError(
            f"`pos_label={pos_label!r}` is for 2 classes, but there are {len(labels)}: {labels_text(labels)}; "
            "leave it out.",
            argument="pos_label",
        )
    return Truth(wanted, codes, labels)


def target_column(y: Any) -> NDArray[Any]:
    """``y`` as a 1-D array without missing values."""
    column = column_of(y, "the target")
    if column.ndim != 1:
        raise InputError(f"the target must be one column of shape (N,), got shape {column.shape}.")
    if not column.size:
        raise InputError("the target has no rows.")
    check_labels_or_numbers(column, "the target")
    absent = missing(column)
    if absent.any():
        raise InputError(
            f"the target has {counted(int(absent.sum()), 'missing value')} (first in row {int(absent.argmax())}, "
            "counted from 0); every row needs its true value: leave these rows out."
        )
    return column


def guess_kind(column: NDArray[Any], classes: Any = None) -> TaskKind:
    """Binary, multiclass or regression, from the values alone."""
    if classes is not None:
        return TaskKind.BINARY if len(classes) <= 2 else TaskKind.MULTICLASS
    if no_labels(column).any():
        return TaskKind.REGRESSION
    return TaskKind.BINARY if len(distinct(column, "labels")[0]) <= 2 else TaskKind.MULTICLASS


def no_labels(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are numbers with fractions, or infinite, and so hardly labels."""
    if column.dtype.kind != "f":
        return np.zeros(column.shape, dtype=bool)
    return np.asarray((column != np.floor(column)) | np.isinf(column))


def labels_text(labels: Any) -> str:
    """Labels for a sentence: the first five as Python writes them, and how many more."""
    listed = [shortened(label.item() if isinstance(label, np.generic) else label) for label in list(labels)[:5]]
    return ", ".join(listed) + (f" and {len(labels) - 5} more" if len(labels) > 5 else "")


def _refuse_without_labels(what: str, **settings: Any) -> None:
    for name, value in settings.items():
        if value is not None:
            raise InputError(
                f"`{name}={value!r}` is for labels, but the target is read as {what}; leave it out.", argument=name
            )


def _numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    numbers = np.array(numbers_of(column, "a regression target", "for labels use a classification metric"))
    if not np.isfinite(numbers).all():
        raise InputError("a regression target must be finite, got an infinite value.")
    return numbers


def _listed(classes: Any) -> NDArray[Any]:
    labels = column_of(classes, "classes")
    if labels.ndim != 1 or not labels.size or missing(labels).any():
        raise InputError(
            f"classes must be a list of labels, got {classes!r}; for instance classes=['no', 'yes'].",
            argument="classes",
        )
    check_labels_or_numbers(labels, "classes")
    if len(distinct(labels, "classes")[0]) < len(labels):
        raise InputError(f"classes must be distinct, got {labels_text(labels)}.", argument="classes")
    return labels


def _coded(column: NDArray[Any], classes: NDArray[Any] | None) -> tuple[NDArray[np.int32], NDArray[Any]]:
    found, inverse = distinct(column, "labels")
    if classes is None:
        return inverse.astype(np.int32), found
    codes = codes_of(column, classes)
    if (codes < 0).any():
        strangers = [label for label in found if label not in set(classes.tolist())]
        raise InputError(
            f"the target holds {labels_text(strangers)}, which `classes=` lacks, got {labels_text(classes)}."
        )
    return codes, classes


def codes_of(column: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int32]:
    """Code of each label, -1 for one that ``labels`` lacks; any shape."""
    code = {label: i for i, label in enumerate(labels.tolist())}
    if len(code) < len(labels):
        raise InputError(f"classes must be distinct, got {labels_text(labels)}.", argument="classes")
    found, inverse = distinct(column, "labels")
    table = np.array([code.get(label, -1) for label in found.tolist()], dtype=np.int32)
    return table[inverse].reshape(column.shape)


def _positive_code(labels: NDArray[Any], pos_label: Any) -> int:
    if pos_label is None:
        return len(labels) - 1
    matches = [i for i, label in enumerate(labels.tolist()) if is_one_of(pos_label, (label,))]
    if not matches:
        raise InputError(
            f"pos_label must be one of the classes {labels_text(labels)}, got {pos_label!r}.", argument="pos_label"
        )
    return matches[0]


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned."""

    X: Any  # of N rows: anything that scikit-learn indexes by rows
    truth: Truth
    # (N,): rows of one group are never split between training and test, and are drawn together
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None  # (N,): importance weights, never frequencies
    y: Any = None  # (N,): the target as it was given, which estimators are fitted on; ``truth.labels()`` by default

    @property
    def n_rows(self) -> int:
        return self.truth.n_rows

    def with_pos_label(self, pos_label: Any) -> Task:
        """The same task with a class as the positive one; unchanged for None."""
        return replace(self, truth=self.truth.with_pos_label(pos_label))

    @property
    def target(self) -> Any:
        """What estimators are fitted on."""
        return self.truth.labels() if self.y is None and self.truth.kind is not TaskKind.OTHER else self.y

    def fingerprint(self) -> str:
        """sha256 of the rows, target, groups and weights: what a run file is checked against on resume."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        digest = hashlib.sha256()
        for part in (self.X, self.truth.labels(), self.groups, self.sample_weight):
            digest.update(_bytes_of(part))
        return digest.hexdigest()


def _bytes_of(part: Any) -> bytes:
    if part is None:
        return b"none"
    if hasattr(part, "columns") and hasattr(part, "iloc"):  # a pandas table, column by column
        columns = [_bytes_of(np.asarray(part.iloc[:, i])) for i in range(part.shape[1])]
        return repr([str(name) for name in part.columns]).encode() + b"".join(columns)
    if hasattr(part, "tocsr"):
        sparse = part.tocsr()
        return b"".join(_bytes_of(np.asarray(a)) for a in (sparse.data, sparse.indices, sparse.indptr))
    array = np.asarray(part)
    head = f"{array.dtype.str}{array.shape}".encode()
    if array.dtype.kind == "O":
        return head + repr(array.tolist()).encode()
    return head + np.ascontiguousarray(array).tobytes()


def checked_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Importance weights as float64 (N,) with mean 1, or None where all weigh the same.

    Only their ratios mean anything, so a unit of 1e-300 or 1e300 is as good as any; equal weights say nothing,
    and give the bits of no weights.

    Examples
    --------
    >>> checked_weights([1, 2, 3], 3).tolist(), checked_weights([2, 2, 2], 3)
    ([0.5, 1.0, 1.5], None)
    """
    if sample_weight is None:
        return None
    column = column_of(sample_weight, "sample_weight")
    if column.shape != (n_rows,):
        raise InputError(
            f"sample_weight must have shape ({n_rows},), one weight per row, got {column.shape}.",
            argument="sample_weight",
        )
    check_labels_or_numbers(column, "sample_weight")
    weights = (
        numbers_of(column, "sample_weight") + 0.0
    )  # -0.0 becomes 0.0; a copy, as the user's own array may change later
    if not np.isfinite(weights).all() or (weights < 0).any() or not (weights > 0).any():
        raise InputError(
            "sample_weight must be finite numbers of at least 0 with a positive sum, got "
            f"values from {weights.min()} to {weights.max()}.",
            argument="sample_weight",
        )
    greatest = weights.max()
    relative = weights / greatest  # first, as the sum of weights near 1e308 would overflow
    if (relative == 1).all():
        return None
    if ((relative == 0) & (weights > 0)).any():
        raise InputError(
            f"sample_weight reaches from {weights[weights > 0].min():.3g} to {greatest:.3g}, so the smallest "
            "would count as 0 beside the greatest; weights must be within 300 powers of ten, or 0 to leave rows "
            "out.",
            argument="sample_weight",
        )
    if abs(greatest * relative.mean() - 1) < 1e-9:
        return weights  # scaled before: the same bits again
    return relative / relative.mean()


def checked_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """Group labels (N,) of one type without missing values, or None."""
    if groups is None:
        return None
    column = column_of(groups, "groups")
    if column.shape != (n_rows,):
        raise InputError(
            f"groups must have shape ({n_rows},), one group per row, got {column.shape}.", argument="groups"
        )
    absent = int(missing(column).sum())
    if absent:
        raise InputError(
            f"groups has {counted(absent, 'missing value')}; every row needs its group.", argument="groups"
        )
    distinct(column, "groups")
    return column

"""The task: rows, their target, and what kind of prediction it asks for.

``Truth`` is the target as the kernels want it (class codes or numbers) with the labels kept beside it; ``Task``
adds the columns, groups and weights that fitting needs. Array-likes (lists, columns and tables of any library,
masked arrays) become arrays first: masked and missing values stay missing, text never counts as a number, and
values of two types are not sorted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from numbers import Integral, Number, Real
from typing import Any

import numpy as np

from heldout._text import counted, is_one_of
from heldout._types import Array, Booleans, Codes, Floats, Indices
from heldout.data.row_labels import in_one_order
from heldout.errors import InputError
from heldout.errors import shortened as shortened

_NEITHER = {"c": "complex numbers", "m": "time differences", "M": "dates", "V": "records"}
"""Kinds of array that hold neither labels nor numbers."""


def array_of(values: Any, what: str) -> Array:
    """An array of what is array-like, masked, or has ``to_numpy``; the values unchanged, masked ones missing.

    Objects that are all booleans, all whole numbers or all numbers become an array of those. ``what`` names them in
    errors.

    Examples
    --------
    >>> array_of(["a", 1], "groups").tolist()  # NumPy alone would make it ["a", "1"]
    ['a', 1]
    >>> array_of(np.ma.masked_array([1.0, 2.0], mask=[False, True]), "predictions").tolist()
    [1.0, nan]
    """
    if isinstance(values, np.ma.MaskedArray):
        return _typed(_unmasked(values))
    try:
        array = _as_numpy(values)
    except ValueError:
        raise InputError(
            f"{what} must be an array, got rows of different lengths; give each row as many values."
        ) from None
    # NumPy turns [1, "a"] into text and [True, 2] into numbers, after which nobody can tell what was meant.
    if isinstance(values, list | tuple) and _has_lost_types(values, array):
        array = np.asarray(values, dtype=object)
    return _typed(array)


def column_of(values: Any, what: str) -> Array:
    """Like ``array_of``; one column of a table is an array, and numbers that equal the same float stay objects."""
    array = array_of(values, what)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim == 1 and array.dtype.kind == "f":
        # Labels such as 2**60 and 2**60 + 1 are one number as floats; the objects still tell them apart.
        written = _written_objects(values)
        if written is not None and len(set(written)) > len(np.unique(array[~np.isnan(array)])):
            return np.asarray(values, dtype=object)
    return array


def check_labels_or_numbers(array: Array, what: str) -> None:
    """Refuse complex numbers, dates and records."""
    if array.dtype.kind in _NEITHER:
        kind = _NEITHER[array.dtype.kind]
        lead = "Complex data not supported: " if array.dtype.kind == "c" else ""
        raise InputError(
            f"{lead}{what} must be real numbers or labels, got {kind} ({array.dtype}); convert them first."
        )


def missing(column: Array) -> Booleans:
    """Which values are None or NaN (of any type that has such a value)."""
    if column.dtype.kind in "fc":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    return np.array([_is_missing(value) for value in column.ravel()], dtype=bool).reshape(column.shape)


def numbers_listed(values: Any) -> Floats:
    """A list of numbers that a user passed, as float64; an empty array (0, 0) for what is no numbers.

    Examples
    --------
    >>> numbers_listed([1, 2.5]).tolist(), numbers_listed("ab").shape, numbers_listed([10**400]).shape
    ([1.0, 2.5], (0, 0), (0, 0))
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.empty((0, 0))


def numbers_of(array: Array, what: str, otherwise: str = "convert them with astype(float)") -> Floats:
    """The array as float64, NaN where missing; unchanged if it is float64, because a matrix may take most of the
    memory. ``what`` names them in errors, and ``otherwise`` says what to do instead.
    """
    if array.dtype.kind in "biuf":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "c":
        raise InputError(f"{what} must be real numbers, got complex ones; {otherwise}.")
    present = ~missing(array)
    strangers = [
        value for value in array[present].ravel().tolist() if not isinstance(value, Real | Decimal | np.bool_)
    ]
    if strangers:
        raise InputError(f"{what} must be numbers, got values like {shortened(strangers[0])}; {otherwise}.")
    numbers = np.full(array.shape, np.nan)
    try:
        # Decimals and fractions become floats; a whole number of 400 digits cannot.
        numbers[present] = array[present].astype(np.float64)
    except OverflowError:
        raise InputError(f"{what} hold a whole number beyond the greatest float, 1.8e308; scale them.") from None
    return numbers


def distinct(column: Array, what: str) -> tuple[Array, Indices]:
    """The sorted distinct values (k,) and which of them each value is, in the column's shape."""
    check_told_apart(column, what)
    try:
        _refuse_truth_among_numbers(column)
        values, inverse = np.unique(column, return_inverse=True)
    except TypeError:
        types = sorted({type(value).__name__ for value in column.ravel()})
        raise InputError(f"{what} must be of one type, got {' and '.join(types)}; convert them first.") from None
    return values, inverse.reshape(column.shape)


def check_told_apart(
    column: Array, what: str, otherwise: str = "give labels as integers or text, and amounts as a regression"
) -> None:
    """Refuse floats that may each stand for several numbers: infinite ones, and those from 2**53 on (of float64),
    where not every whole number is a float. ``what`` and ``otherwise`` as in ``numbers_of``.

    Examples
    --------
    >>> check_told_apart(np.array([1e19, 3.0]), "labels")
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: labels hold 1e+19 (row 0, counted from 0), but a float64 that is infinite ...
    """
    if column.dtype.kind != "f":
        return
    # From here on not every whole number has a float of its own: 2**53 of float64.
    least = np.ldexp(1.0, np.finfo(column.dtype).nmant + 1)
    wrong = (np.abs(column) >= least).ravel()
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(
            f"{what} hold {column.ravel()[place]!s} (row {place}, counted from 0), but a {column.dtype} that is "
            f"infinite or at least {least:.3g} may stand for several numbers, which would become one label; "
            f"{otherwise}."
        )


def _as_numpy(values: Any) -> Array:
    if not hasattr(values, "to_numpy"):
        return np.asarray(values)
    try:
        return np.asarray(values.to_numpy())
    except (TypeError, ValueError):  # Arrow's arrays say so where it takes a copy
        return np.asarray(values)


def _has_lost_types(values: Sequence[Any], array: Array) -> bool:
    """Whether NumPy made one type of several: the 1 of ["a", 1] is text then, NaN "nan", and True a number."""
    if array.dtype.kind in "US":
        kinds = {type(value) for value in np.asarray(values, dtype=object).ravel()}
        return not (all(issubclass(kind, str) for kind in kinds) or all(issubclass(kind, bytes) for kind in kinds))
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        return False
    return any(isinstance(value, bool | np.bool_) for value in values)


def _written_objects(values: Any) -> list[Any] | None:
    """The values that are not missing, unchanged, if they are not all floats: of lists and object columns."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    is_column = isinstance(array, np.ndarray) and array.dtype.kind == "O" and array.ndim == 1
    if not is_column and not isinstance(values, list | tuple):
        return None
    # What was written as floats lost nothing when it became floats.
    if all(issubclass(kind, float | np.floating) for kind in set(map(type, array))):
        return None
    return [value for value in array if not _is_missing(value)]


def _refuse_truth_among_numbers(column: Array) -> None:
    """True equals 1, and would be one label with it."""
    if column.dtype.kind == "O" and {"boolean"} < {_kind(value) for value in column.ravel()} - {"missing", "other"}:
        raise TypeError("booleans among numbers")


def _is_missing(value: Any) -> bool:
    # pandas.NA answers neither == nor != with a bool, so a type's name has to tell it.
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Number | np.generic) and bool(value != value)


def _unmasked(values: Any) -> Array:
    if values.dtype.kind == "f":
        return np.asarray(values.filled(np.nan))
    masked = np.ma.getmaskarray(values)
    # Whole numbers with a mask need objects, and without one they stay as they are.
    if not masked.any():
        return np.asarray(values.data)
    array = values.data.astype(object)
    array[masked] = None
    return np.asarray(array)


def _typed(array: Array) -> Array:
    """Objects as booleans or numbers if all of them are; whole numbers with gaps stay objects."""
    if array.dtype.kind != "O" or not array.size:
        return array
    kinds = {_kind(value) for value in array.ravel()}
    if kinds == {"boolean"}:
        return array.astype(bool)
    # Objects that are all whole numbers may still be beyond int64; then they stay objects.
    if kinds == {"whole"}:
        try:
            return array.astype(np.int64)
        except OverflowError:
            return array
    if "number" in kinds and kinds <= {"whole", "number", "missing"}:
        return numbers_of(array, "numbers")
    return array


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Integral):
        return "whole"
    if _is_missing(value):
        return "missing"
    return "number" if isinstance(value, Real | Decimal) else "other"


def has_fields(y: Any) -> bool:
    """Whether ``y`` is a structured array, which only survival targets are."""
    return isinstance(y, np.ndarray) and y.dtype.names is not None


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


def with_fields(values: Array, names: tuple[str, ...]) -> Array:
    """A survival target with its two fields under other names."""
    return values.view(np.dtype([(name, SURVIVAL[place]) for place, name in enumerate(names)]))


def survival_target(y: Any, *, may_lack_events: bool = False) -> Array:
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


def _two_columns(y: Any) -> tuple[Array, Array]:
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


def _refuse_missing(column: Array, which: str) -> None:
    absent = missing(column)
    if absent.any():
        raise InputError(
            f"the {which} of the survival target has {counted(int(absent.sum()), 'missing value')} (first in row "
            f"{int(absent.argmax())}, counted from 0); leave these rows out."
        )


def _events(column: Array, time: Array) -> Booleans:
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


def _times(column: Array) -> Floats:
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
    values: Array
    # (n_classes,): the labels behind the codes, sorted unless given in another order
    classes: Array | None = None
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

    def rows(self, index: Array) -> Truth:
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
            raise InputError(f"`pos_label={pos_label!r}` is for 2 classes, got a {self.kind} target; leave it out.")
        return self.with_positive(_positive_code(self.classes, pos_label))

    def labels(self) -> Array:
        """The target as the user wrote it; of survival the fields are ``event`` and ``time``."""
        return self.values if self.classes is None else self.classes[self.values]

    def class_counts(self) -> Indices:
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
            "with one class there is nothing to predict (scores of rows, such as right or wrong, need no target: "
            "`metric='mean_score'`)."
        )
    if len(labels) == 2:
        return Truth(TaskKind.BINARY, codes, labels, positive=_positive_code(labels, pos_label))
    if pos_label is not None:
        raise InputError(
            f"`pos_label={pos_label!r}` is for 2 classes, but there are {len(labels)}: {labels_text(labels)}; "
            "leave it out."
        )
    return Truth(wanted, codes, labels)


def target_column(y: Any) -> Array:
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


def guess_kind(column: Array, classes: Any = None) -> TaskKind:
    """Binary, multiclass or regression, from the values alone."""
    if classes is not None:
        return TaskKind.BINARY if len(classes) <= 2 else TaskKind.MULTICLASS
    if no_labels(column).any():
        return TaskKind.REGRESSION
    return TaskKind.BINARY if len(distinct(column, "the labels")[0]) <= 2 else TaskKind.MULTICLASS


def no_labels(column: Array) -> Booleans:
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
            raise InputError(f"`{name}={value!r}` is for labels, but the target is read as {what}; leave it out.")


def _numbers(column: Array) -> Floats:
    numbers = np.array(numbers_of(column, "a regression target", "for labels use a classification metric"))
    if not np.isfinite(numbers).all():
        raise InputError("a regression target must be finite, got an infinite value.")
    return numbers


def _listed(classes: Any) -> Array:
    labels = column_of(classes, "classes")
    if labels.ndim != 1 or not labels.size or missing(labels).any():
        raise InputError(f"classes must be a list of labels, got {classes!r}; for instance classes=['no', 'yes'].")
    check_labels_or_numbers(labels, "classes")
    if len(distinct(labels, "classes")[0]) < len(labels):
        raise InputError(f"classes must be distinct, got {labels_text(labels)}.")
    return labels


def _coded(column: Array, classes: Array | None) -> tuple[Codes, Array]:
    found, inverse = distinct(column, "the labels")
    if classes is None:
        return inverse.astype(np.int32), found
    codes = codes_of(column, classes)
    if (codes < 0).any():
        strangers = [label for label in found if label not in set(classes.tolist())]
        raise InputError(
            f"the target holds {labels_text(strangers)}, which `classes=` lacks, got {labels_text(classes)}."
        )
    return codes, classes


def codes_of(column: Array, labels: Array) -> Codes:
    """Code of each label, -1 for one that ``labels`` lacks; any shape."""
    code = {label: i for i, label in enumerate(labels.tolist())}
    if len(code) < len(labels):
        raise InputError(f"classes must be distinct, got {labels_text(labels)}.")
    found, inverse = distinct(column, "the labels")
    table = np.array([code.get(label, -1) for label in found.tolist()], dtype=np.int32)
    return table[inverse].reshape(column.shape)


def _positive_code(labels: Array, pos_label: Any) -> int:
    if pos_label is None:
        return len(labels) - 1
    matches = [i for i, label in enumerate(labels.tolist()) if is_one_of(pos_label, (label,))]
    if not matches:
        raise InputError(f"pos_label must be one of the classes {labels_text(labels)}, got {pos_label!r}.")
    return matches[0]


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned."""

    X: Any  # of N rows: anything that scikit-learn indexes by rows
    truth: Truth
    # (N,): rows of one group are never split between training and test, and are drawn together
    groups: Array | None = None
    sample_weight: Floats | None = None  # (N,): importance weights, never frequencies
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


def checked_weights(sample_weight: Any, n_rows: int) -> Floats | None:
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
        raise InputError(f"sample_weight must have shape ({n_rows},), one weight per row, got {column.shape}.")
    check_labels_or_numbers(column, "sample_weight")
    weights = (
        numbers_of(column, "sample_weight") + 0.0
    )  # -0.0 becomes 0.0; a copy, as the user's own array may change later
    if not np.isfinite(weights).all() or (weights < 0).any() or not (weights > 0).any():
        raise InputError(
            "sample_weight must be finite numbers of at least 0 with a positive sum, got "
            f"values from {weights.min()} to {weights.max()}."
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


def checked_groups(groups: Any, n_rows: int) -> Array | None:
    """Group labels (N,) of one type without missing values, or None."""
    if groups is None:
        return None
    column = column_of(groups, "groups")
    if column.shape != (n_rows,):
        raise InputError(f"groups must have shape ({n_rows},), one group per row, got {column.shape}.")
    absent = int(missing(column).sum())
    if absent:
        raise InputError(
            f"groups has {counted(absent, 'missing value')}; every row needs its group.", argument="groups"
        )
    distinct(column, "groups")
    return column

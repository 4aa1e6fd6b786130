"""The task: rows, their target, and what kind of prediction it asks for.

``Truth`` is the target as the kernels want it (class codes or numbers) with the labels kept beside it;
``Task`` adds the columns, groups and weights that fitting needs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from heldout.errors import InputError


class TaskKind(StrEnum):
    """What a prediction is."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"
    SURVIVAL = "survival"

    @property
    def is_classification(self) -> bool:
        return self in (TaskKind.BINARY, TaskKind.MULTICLASS)


@dataclass(frozen=True, eq=False)
class Truth:
    """The target of N rows.

    Attributes
    ----------
    kind : TaskKind
    values : ndarray of shape (N,)
        float64 numbers for a regression, class codes 0 .. n_classes - 1 (int32) otherwise.
    classes : ndarray of shape (n_classes,) or None
        The labels behind the codes, sorted unless given in another order.
    positive : int or None
        Code of the positive class of a binary task: probabilities and decisions of shape (N, C) point to it.
    """

    kind: TaskKind
    values: NDArray[Any]
    classes: NDArray[Any] | None = None
    positive: int | None = None

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    @property
    def pos_label(self) -> Any:
        """The label of the positive class, or None."""
        if self.classes is None or self.positive is None:
            return None
        label = self.classes[self.positive]
        return label.item() if isinstance(label, np.generic) else label

    def rows(self, index: NDArray[Any]) -> Truth:
        """The same target on some rows."""
        return replace(self, values=self.values[index])

    def with_positive(self, code: int) -> Truth:
        """The same target with another positive class."""
        return replace(self, positive=code)

    def labels(self) -> NDArray[Any]:
        """The target as the user wrote it."""
        return self.values if self.classes is None else self.classes[self.values]

    def class_counts(self) -> NDArray[np.intp]:
        """Rows of each class."""
        return np.bincount(self.values, minlength=self.n_classes)


def truth_of(y: Any, kind: TaskKind | str | None = None, *, classes: Any = None, pos_label: Any = None) -> Truth:
    """Check a target column and code it.

    Parameters
    ----------
    y : array-like of shape (N,)
        Labels of any one type, or numbers.
    kind : TaskKind or str, optional
        Guessed when None: numbers with a fractional part are a regression, two distinct values are binary,
        more are multiclass.
    classes : array-like, optional
        The labels and their order; sorted unique ``y`` by default.
    pos_label : label, optional
        The positive class of a binary task; the last of ``classes`` by default.

    Raises
    ------
    InputError
        When ``y`` is empty, has missing values, or does not fit ``kind``.

    Examples
    --------
    >>> truth = truth_of(["no", "yes", "no"])
    >>> truth.kind, truth.values.tolist(), truth.pos_label
    (<TaskKind.BINARY: 'binary'>, [0, 1, 0], 'yes')
    """
    column = target_column(y)
    wanted = TaskKind(kind) if kind is not None else guess_kind(column, classes)
    if wanted is TaskKind.SURVIVAL:
        raise InputError("survival targets are not supported yet; use a classification or regression target.")
    if wanted is TaskKind.REGRESSION:
        return Truth(wanted, _numbers(column))
    codes, labels = _coded(column, classes)
    if wanted is TaskKind.BINARY and len(labels) > 2:
        raise InputError(f"a binary task needs 2 classes, got {len(labels)}: {labels_text(labels)}.")
    if len(labels) < 2:
        raise InputError(
            f"the target needs at least 2 classes, got 1: {labels_text(labels)}; "
            "with one class there is nothing to tell apart."
        )
    if wanted is TaskKind.MULTICLASS and len(labels) == 2:
        wanted = TaskKind.BINARY
    if wanted is TaskKind.MULTICLASS:
        return Truth(wanted, codes, labels)
    return Truth(wanted, codes, labels, positive=_positive_code(labels, pos_label))


def target_column(y: Any) -> NDArray[Any]:
    """``y`` as a 1-D array without missing values."""
    column = np.asarray(y)
    if isinstance(y, list | tuple) and column.dtype.kind == "U" and not all(isinstance(item, str) for item in y):
        column = np.asarray(y, dtype=object)  # NumPy would turn the 1 of ["a", 1] into "1", and None into "None"
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise InputError(f"the target must be one column of shape (N,), got shape {column.shape}.")
    if not column.size:
        raise InputError("the target has no rows.")
    absent = missing(column)
    if absent.any():
        raise InputError(
            f"the target has {int(absent.sum())} missing values (first in row {int(absent.argmax())}, "
            "counted from 0); every row needs its true value: leave these rows out."
        )
    return column


def missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are None or NaN (of any type that has such a value)."""
    if column.dtype.kind in "fc":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    # pandas.NA answers neither == nor != with a bool, so a type's name has to tell it.
    absent = [
        value is None or type(value).__name__ in ("NAType", "NaTType") or value != value for value in column.ravel()
    ]
    return np.array(absent, dtype=bool).reshape(column.shape)


def guess_kind(column: NDArray[Any], classes: Any = None) -> TaskKind:
    """Binary, multiclass or regression, from the values alone."""
    if classes is not None:
        return TaskKind.BINARY if len(classes) <= 2 else TaskKind.MULTICLASS
    found = type_of_target(column.astype(str) if column.dtype.kind == "O" else column)
    kinds = {"binary": TaskKind.BINARY, "multiclass": TaskKind.MULTICLASS, "continuous": TaskKind.REGRESSION}
    if found not in kinds:
        raise InputError(f"the target must be one column of labels or numbers, got a '{found}' target.")
    return kinds[found]


def labels_text(labels: Any) -> str:
    """Labels for a sentence: the first five as Python writes them, and how many more."""
    listed = [repr(label.item() if isinstance(label, np.generic) else label) for label in labels]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")


def _numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"a regression target must be numbers, got values like {labels_text(column[:1])}; for labels use a "
            "classification metric."
        ) from None
    if not np.isfinite(numbers).all():
        raise InputError("a regression target must be finite, got an infinite value.")
    return numbers


def _coded(column: NDArray[Any], classes: Any) -> tuple[NDArray[np.int32], NDArray[Any]]:
    try:
        found = np.unique(column)
    except TypeError:
        types = sorted({type(value).__name__ for value in column})
        raise InputError(f"labels must be of one type, got {' and '.join(types)}; convert them first.") from None
    if classes is None:
        return np.searchsorted(found, column).astype(np.int32), found
    labels = np.asarray(classes)
    codes = codes_of(column, labels)
    if (codes < 0).any():
        strangers = [label for label in found if label not in set(labels.tolist())]
        raise InputError(f"the target holds {labels_text(strangers)}, which classes={labels_text(labels)} lacks.")
    return codes, labels


def codes_of(column: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int32]:
    """Code of each label, -1 for one that ``labels`` lacks; any shape."""
    code = {label: i for i, label in enumerate(labels.tolist())}
    if len(code) < len(labels):
        raise InputError(f"classes must be distinct, got {labels_text(labels)}.")
    found, inverse = np.unique(column, return_inverse=True)
    table = np.array([code.get(label, -1) for label in found.tolist()], dtype=np.int32)
    return table[inverse].reshape(column.shape)


def _positive_code(labels: NDArray[Any], pos_label: Any) -> int:
    if pos_label is None:
        return len(labels) - 1
    matches = np.flatnonzero([label == pos_label for label in labels.tolist()])
    if not matches.size:
        raise InputError(f"pos_label must be one of the classes {labels_text(labels)}, got {pos_label!r}.")
    return int(matches[0])


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned.

    Attributes
    ----------
    X : array-like of N rows
        Anything that scikit-learn indexes by rows.
    truth : Truth
    groups : ndarray of shape (N,) or None
        Rows of one group are never split between training and test, and are drawn together.
    sample_weight : ndarray of shape (N,) or None
        Importance weights, never frequencies.
    y : array-like of shape (N,) or None
        The target as it was given, which estimators are fitted on; ``truth.labels()`` by default.
    """

    X: Any
    truth: Truth
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None
    y: Any = None

    @property
    def n_rows(self) -> int:
        return self.truth.n_rows

    @property
    def target(self) -> Any:
        """What estimators are fitted on."""
        return self.truth.labels() if self.y is None else self.y

    def fingerprint(self) -> str:
        """sha256 of the rows, target, groups and weights: what a run file is checked against on resume."""
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
    """Importance weights as float64 (N,), or None.

    Raises
    ------
    InputError
        When they are not N finite numbers of at least 0 with a positive sum.
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise InputError(f"sample_weight must have shape ({n_rows},), a weight a row, got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.sum() > 0:
        raise InputError(
            "sample_weight must be finite numbers of at least 0 with a positive sum, got "
            f"values from {weights.min()} to {weights.max()}."
        )
    return weights


def checked_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """Group labels (N,) without missing values, or None."""
    if groups is None:
        return None
    column = np.asarray(groups)
    if column.shape != (n_rows,):
        raise InputError(f"groups must have shape ({n_rows},), a group a row, got {column.shape}.")
    if missing(column).any():
        raise InputError(f"groups has {int(missing(column).sum())} missing values; every row needs its group.")
    return column

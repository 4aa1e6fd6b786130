"""Rows, a target, groups and weights as users pass them, as a task."""

import math
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from heldout._sklearn import n_rows_of
from heldout.data.equal_rows import COPIES, row_numbers
from heldout.data.task import (
    Task,
    TaskKind,
    Truth,
    checked_groups,
    checked_weights,
    has_fields,
    has_two_columns,
    survival_target,
    target_column,
    truth_of,
    with_fields,
)
from heldout.errors import InputError, reason_of
from heldout.metrics.base import Metric
from heldout.metrics.survival_model import gives_survival, last_step, scores_concordance


def checked_target(model: Any, y: Any, purpose: str) -> Any:
    """The target as one column, unchanged where it is one; events and times as a structured array.

    Two columns are events and times, unless ``model``, which learns them, is a classifier or a regressor.
    ``purpose`` is what needs the target, for the sentence "This ... requires y": "protocol".

    Raises InputError when there is none, it holds missing, complex or infinite values, or the model cannot learn
    it.
    """
    if y is None:
        raise InputError(
            f"This {purpose} requires y to be passed, but the target y is None; without it there is no score to "
            "estimate."
        )
    of_numbers = is_classifier(model) or is_regressor(model)
    if has_fields(y) or (not of_numbers and has_two_columns(y)):
        kind = type(last_step(model))
        if of_numbers and kind.__module__.startswith("sklearn."):
            raise InputError(
                f"the target holds events and times, which {kind.__name__} cannot learn; give a survival model "
                "(scikit-survival's, or ho.spaces.CoxRegression), or the one column to predict."
            )
        # Survival models want the event as booleans; what the user calls the two is left.
        target = survival_target(y)
        return with_fields(target, y.dtype.names) if has_fields(y) else target
    column = y if getattr(y, "ndim", 0) == 1 else _one_column(y)
    values = target_column(column)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: the target must be real numbers or labels.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64'). Every row needs a finite target."
        )
    if isinstance(y, list):
        return y
    # scikit-learn cannot take rows of pandas' own arrays (``y.values`` of text that Arrow keeps).
    return values if hasattr(column, "_from_sequence") else column


def target_of_search(model: Any, y: Any, name: str) -> Any:
    """``checked_target``, or what only scorers can read: several columns, or no target where none is required."""
    if y is None:
        return checked_target(model, y, name) if get_tags(model).target_tags.required else None
    shape = y.shape if hasattr(y, "shape") else np.asarray(y, dtype=object).shape
    is_events = has_two_columns(y) and not (is_classifier(model) or is_regressor(model)) and _are_events(model, y)
    return y if math.prod(shape[1:]) > 1 and not is_events else checked_target(model, y, name)


def _are_events(model: Any, y: Any) -> bool:
    """Whether the first of two columns holds events, or must, because the model is one of survival."""
    first = y[0] if isinstance(y, tuple) else np.asarray(y, dtype=object)[:, 0]
    return gives_survival(model) or scores_concordance(model) or set(np.asarray(first).tolist()) <= {0, 1}


def _one_column(y: Any) -> Any:
    try:
        return column_or_1d(y, warn=True)
    except (ValueError, TypeError) as error:
        raise InputError(f"the target must be one column of labels or numbers: {error}") from None


def rows_of(X: Any, y: Any) -> tuple[Any, Any]:
    """Data and target that can be indexed by row and have as many rows."""
    try:
        checked, target = indexable(X, y)
    except (ValueError, TypeError) as error:
        raise InputError(f"X and y cannot be used as rows: {error}.") from None
    return checked, target


def truth_for(model: Any, y: Any, metric: Metric | None = None) -> Truth:
    """The target as a model of its kind reads it, or as the metric does where the model has none."""
    if has_fields(y):
        return truth_of(y, TaskKind.SURVIVAL)
    asked = set() if metric is None or is_classifier(model) or is_regressor(model) else metric.tasks
    if is_classifier(model) or (asked and asked <= {TaskKind.BINARY, TaskKind.MULTICLASS}):
        try:
            with np.errstate(invalid="ignore"):  # it casts amounts to whole numbers to see what they are
                check_classification_targets(y)
        except (ValueError, TypeError) as error:
            raise InputError(f"{reason_of(error)}. Give labels, or a regressor.") from None
        return truth_of(y, TaskKind.MULTICLASS)
    return truth_of(y, TaskKind.REGRESSION if is_regressor(model) or asked == {TaskKind.REGRESSION} else None)


def task_of(
    model: Any, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, metric: Metric | None = None
) -> Task:
    """Rows, a target that ``checked_target`` passed, groups and weights as a task for such a model and metric."""
    columns = np.zeros(n_rows_of(X)) if y is None else y.toarray() if hasattr(y, "toarray") else np.asarray(y)
    if y is None or columns.ndim > 1:
        if columns.ndim != 2 or columns.dtype.kind not in "biuf":  # no numbers: which rows are equal
            columns = np.unique(columns.reshape(len(columns), -1).astype(str), axis=0, return_inverse=True)[1]
        truth = Truth(TaskKind.OTHER, columns)
    else:
        truth = truth_for(model, y, metric)
    weights = checked_weights(sample_weight, truth.n_rows)
    return Task(X, truth, checked_groups(groups_of(X, groups), truth.n_rows), weights, y)


def groups_of(X: Any, groups: Any) -> Any:
    """The groups as passed; one a set of rows with equal predictors where they are "copies"."""
    return row_numbers(X) if isinstance(groups, str) and groups == COPIES else groups

"""Signs that a table has a line for each row and configuration, where a wide one was expected.

Read as a wide one it would count every row many times, and take settings and probabilities of classes for the
predictions of configurations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.readers.class_columns import columns_of_classes
from heldout.readers.table_words import plain, quoted

CONFIGURATION_NAMES = (".config", "config", "configuration", "wflow_id", "learner_id", "model_id")
"""What tools call the column that says of which configuration a line is."""
ROW_NAMES = ("row", ".row", "rowindex", "row_id", "row_ids", "row_number")
"""What tools call the number of a row."""
AS_LONG = "if the table has a line for each row and configuration, say --configuration COL --row COL"

_ROUNDED = 0.0101
"""How far from 1 probabilities sum that were rounded to two decimals."""
_FEWEST_CHANGES = 5
_MANY_VALUES = 10
_HEAD = 200


def check_uses(frame: Any, exclude: Sequence[str], repeat: str | None) -> None:
    """Refuse to leave out what says that lines are of the same row, and to take configurations for repeats.

    Raises
    ------
    InputError
    """
    for name in exclude:
        column = frame[name]
        if name.lower() in CONFIGURATION_NAMES and column.nunique() > 1:
            raise InputError(
                f"column {name!r} tells {column.nunique()} configurations apart, and without it their lines would "
                "count "
                f"as different rows; say --configuration {name} --row COL instead of leaving it out."
            )
        if name.lower() in ROW_NAMES and repeat is None and column.duplicated().any():
            again = plain(column[column.duplicated()].iloc[0])
            raise InputError(
                f"column {name!r} holds {again} in several lines, which would count as different rows; name it "
                "with "
                f"--row {name}, and what tells its lines apart with --repeat COL or --configuration COL."
            )
    if repeat is not None:
        _check_repeats(frame[repeat])


def _check_repeats(column: Any) -> None:
    fractions = column.dtype.kind == "f" and bool((column.dropna() != column.dropna().round()).any())
    if fractions or column.name.lower() in CONFIGURATION_NAMES:
        value = column[column != column.round()].iloc[0] if fractions else column.iloc[0]
        raise InputError(
            f"--repeat {column.name}: the column holds {plain(value)}, which numbers no repeat of a "
            "cross-validation; "
            f"predictions of different configurations would be averaged: {AS_LONG}."
        )


def check_no_setting(predictions: Any, target: Any) -> None:
    """Refuse columns by whose values the lines divide into copies of the same rows.

    Parameters
    ----------
    predictions : pandas.DataFrame
        Columns that would be configurations.
    target : pandas.Series
        True values of the same lines.

    Raises
    ------
    InputError
    """
    truth = target.factorize()[0]
    for name in predictions.columns:
        if len(set(predictions[name].head(_HEAD))) <= _HEAD // 2:
            codes, labels = predictions[name].factorize(use_na_sentinel=False)
            if _divides_into_copies(codes, len(labels), truth):
                raise InputError(
                    f"the lines hold the same rows once for each of the {len(labels)} values of column {name!r} "
                    f"({quoted([plain(value) for value in labels])}), which is a setting or a name and no "
                    "prediction; "
                    f"say --configuration {name} --row COL (with --configuration for each setting), or --repeat "
                    f"{name} if its values are repeats."
                )


def _divides_into_copies(codes: NDArray[np.intp], n_values: int, truth: NDArray[np.intp]) -> bool:
    n_rows, rest = divmod(len(codes), max(n_values, 1))
    if n_values < 2 or rest or (np.bincount(codes, minlength=n_values) != n_rows).any():
        return False
    copies = truth[np.argsort(codes, kind="stable")].reshape(n_values, n_rows)
    if len(np.unique(copies[0])) >= _MANY_VALUES:
        copies = np.sort(copies, axis=1)
    changes = int((np.diff(copies[0]) != 0).sum())
    return changes >= _FEWEST_CHANGES and bool((copies == copies[0]).all())


def check_no_probabilities_of_classes(predictions: Any, classes: Sequence[Any]) -> None:
    """Refuse columns side by side, or named after the classes, that sum to 1 in every row.

    Parameters
    ----------
    predictions : pandas.DataFrame
        Columns that would each be a configuration.
    classes : sequence of K labels

    Raises
    ------
    InputError
    """
    named = columns_of_classes(list(predictions.columns), [str(label) for label in classes])
    together = next((list(own) for own in named if _sum_to_one(predictions[list(own)])), None)
    together = together or _neighbours(predictions, len(classes))
    if together:
        raise InputError(
            f"{quoted(together)} sum to 1 in every row, as the probabilities of the target's classes "
            f"({quoted([str(label) for label in classes])}) do, and would be read as {len(together)} "
            "configurations; "
            f"name them name[class], or, {AS_LONG} (or leave out all but one with --exclude)."
        )


def _neighbours(predictions: Any, n_classes: int) -> list[str]:
    numeric = [name for name in predictions.columns if predictions[name].dtype.kind == "f"]
    if not 2 <= n_classes <= len(numeric):
        return []
    values = predictions[numeric].to_numpy(dtype=np.float64)
    n_windows = len(numeric) - n_classes + 1
    near = np.abs(values[:50, :n_windows] + sum(values[:50, j : j + n_windows] for j in range(1, n_classes)) - 1)
    for first in np.flatnonzero((np.nan_to_num(near) <= _ROUNDED).all(axis=0)):
        own = numeric[first : first + n_classes]
        if _sum_to_one(predictions[own]):
            return own
    return []


def _sum_to_one(columns: Any) -> bool:
    if any(dtype.kind != "f" for dtype in columns.dtypes):
        return False
    values: NDArray[np.float64] = columns.to_numpy(dtype=np.float64)
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < _FEWEST_CHANGES or values.min() < 0 or values.max() > 1 or (values == values.round()).all():
        return False
    return bool((np.abs(values.sum(axis=1) - 1) <= _ROUNDED).all())


def check_folds_of_repeats(fold: Any, repeat: Any, folds: NDArray[Any]) -> None:
    """Refuse repeats that all have the same folds: so have the lines of configurations, and they would be averaged.

    Parameters
    ----------
    fold, repeat : pandas.Series
        The columns, for the sentence.
    folds : ndarray of shape (N, R)

    Raises
    ------
    InputError
    """
    if folds.shape[1] > 1 and (folds == folds[:, :1]).all() and len(np.unique(folds)) > 1:
        raise InputError(
            f"the {folds.shape[1]} repeats (column {repeat.name!r}) have the same folds (column {fold.name!r}), "
            "as the "
            f"lines of several configurations have, and their predictions would be averaged; say --configuration "
            f"{repeat.name} --row COL, or, if they repeat the same folds, leave the folds out (--exclude "
            f"{fold.name})."
        )

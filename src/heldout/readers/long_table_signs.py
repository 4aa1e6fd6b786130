"""Signs that a table read as a wide one is a long one, with a line per row and configuration.

Read as a wide table it would count every row many times, and treat settings and probabilities of classes as
predictions of configurations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from heldout._types import Floats, Indices
from heldout.errors import InputError
from heldout.readers.columns import columns_of_classes, plain, quoted

CONFIGURATION_NAMES = (".config", "config", "configuration", "wflow_id", "learner_id", "model_id")
"""Names that tools give to the column of configurations."""
ROW_NAMES = ("row", ".row", "rowindex", "row_id", "row_ids", "row_number")
"""Names that tools give to the column of row numbers."""
AS_LONG = "if the table has a line for each row and configuration, use --configuration COL --row COL"

_ROUNDED = 0.0101
"""The largest distance from 1 of the sum of probabilities that were rounded to two decimals."""
_FEWEST_CHANGES = 5
_MANY_VALUES = 10
_HEAD = 200


def check_uses(frame: Any, exclude: Sequence[str], repeat: str | None) -> None:
    """Refuse to exclude a column that identifies the lines of a row, and to read configurations as repeats."""
    for name in exclude:
        column = frame[name]
        if name.lower() in CONFIGURATION_NAMES and column.nunique() > 1:
            raise InputError(
                f"column {name!r} distinguishes {column.nunique()} configurations, and without it their lines "
                f"would count as different rows; use --configuration {name} --row COL instead of leaving it out."
            )
        if name.lower() in ROW_NAMES and repeat is None and column.duplicated().any():
            again = plain(column[column.duplicated()].iloc[0])
            raise InputError(
                f"column {name!r} holds {again} in several lines, which would count as different rows; name it "
                f"with --row {name}, and the column that distinguishes its lines with --repeat COL or "
                "--configuration COL."
            )
    if repeat is not None:
        _check_repeats(frame[repeat])


def _check_repeats(column: Any) -> None:
    fractions = column.dtype.kind == "f" and bool((column.dropna() != column.dropna().round()).any())
    if fractions or column.name.lower() in CONFIGURATION_NAMES:
        value = column[column != column.round()].iloc[0] if fractions else column.iloc[0]
        raise InputError(
            f"--repeat {column.name}: the column holds {plain(value)}, which is not the number of a repeat "
            f"of cross-validation; predictions of different configurations would be averaged: {AS_LONG}."
        )


def check_no_setting(predictions: Any, target: Any) -> None:
    """Refuse columns of ``predictions`` whose values divide the lines into copies of the same true values."""
    truth = target.factorize()[0]
    for name in predictions.columns:
        if len(set(predictions[name].head(_HEAD))) <= _HEAD // 2:
            codes, labels = predictions[name].factorize(use_na_sentinel=False)
            if _divides_into_copies(codes, len(labels), truth):
                raise InputError(
                    f"the lines hold the same rows once for each of the {len(labels)} values of column {name!r} "
                    f"({quoted([plain(value) for value in labels])}), which is a setting or a name, not a "
                    f"prediction; use --configuration {name} --row COL (with --configuration for each setting), or "
                    f"--repeat {name} if its values are repeats."
                )


def _divides_into_copies(codes: Indices, n_values: int, truth: Indices) -> bool:
    n_rows, rest = divmod(len(codes), max(n_values, 1))
    if n_values < 2 or rest or (np.bincount(codes, minlength=n_values) != n_rows).any():
        return False
    copies = truth[np.argsort(codes, kind="stable")].reshape(n_values, n_rows)
    if len(np.unique(copies[0])) >= _MANY_VALUES:
        copies = np.sort(copies, axis=1)
    changes = int((np.diff(copies[0]) != 0).sum())
    return changes >= _FEWEST_CHANGES and bool((copies == copies[0]).all())


def check_no_probabilities_of_classes(
    predictions: Any, classes: Sequence[Any], stems: Iterable[Iterable[str]] = ()
) -> None:
    """Refuse neighbouring columns, or columns named after the classes or alike, that sum to 1 in every row.

    ``stems``: columns of one name but for the text in brackets.
    """
    named = [*columns_of_classes(list(predictions.columns), [str(label) for label in classes])]
    alike = [[*columns] for columns in stems]
    named += [dict.fromkeys(columns, "") for columns in alike if len(columns) == len(classes)]
    together = next((list(own) for own in named if _sum_to_one(predictions[list(own)])), None)
    together = together or _neighbours(predictions, len(classes))
    if together:
        raise InputError(
            f"{quoted(together)} sum to 1 in every row, as the probabilities of the target's classes "
            f"({quoted([str(label) for label in classes])}) do, and would be read as {len(together)} "
            f"configurations; name them name[class], or, {AS_LONG} (or leave out all but one with --exclude)."
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
    values: Floats = columns.to_numpy(dtype=np.float64)
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < _FEWEST_CHANGES or values.min() < 0 or values.max() > 1 or (values == values.round()).all():
        return False
    return bool((np.abs(values.sum(axis=1) - 1) <= _ROUNDED).all())

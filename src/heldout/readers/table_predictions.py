"""Held-out predictions from a table of anyone's: which column is what, and which rows are the same.

The user names the target and the columns that are no predictions; every remaining column is a configuration's. A
table that heldout wrote says itself what its columns are (``table_predictions_own``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.arrays import shortened
from heldout.data.survival_target import survival_target
from heldout.errors import InputError
from heldout.predictions import HeldOutPredictions
from heldout.readers.long_signs import (
    AS_LONG,
    CONFIGURATION_NAMES,
    ROW_NAMES,
    check_folds_of_repeats,
    check_no_setting,
    check_uses,
)
from heldout.readers.table_predictions_repeats import places_of_repeats
from heldout.readers.table_survival import events_of_column
from heldout.readers.tables import Table, quoted, reads_as_number, text_of

NO_CONFIGURATION = {
    **dict.fromkeys(("fold", "folds", "split", "resample", "id2"), "--fold"),
    **dict.fromkeys(("group", "groups", "patient", "patient_id", "subject", "subject_id"), "--group"),
    **dict.fromkeys(("weight", "weights", "sample_weight"), "--weight"),
    **dict.fromkeys(("repeat", "repeats", "rep"), "--repeat"),
    **dict.fromkeys(("id", "index", "sample_id", *ROW_NAMES), "--row"),
    **dict.fromkeys(("obs", "truth", "actual"), "--target"),
    **dict.fromkeys(CONFIGURATION_NAMES, "--configuration"),
    "unnamed: 0": "--exclude",
}
"""Names that no configuration has, and the option that a column of that name is for."""

MATCHED_BY_ORDER = (
    "The rows of the {repeats} repeats were matched by their order in the file; --row COL matches them by a name."
)


Configurations: TypeAlias = tuple[tuple[str, Mapping[str, str | None]], ...]
"""Names of configurations, each with its columns and the class that a column is of, None for an only column."""


@dataclass(frozen=True, eq=False)
class TablePredictions:
    """What ``heldout.estimate`` needs, as a table holds it.

    Attributes
    ----------
    y_true : ndarray of shape (N,)
        For survival a structured array of ``event`` and ``time``.
    predictions : HeldOutPredictions or pandas.DataFrame
        The latter with a row a line of the file, and a column (or one a class) for each configuration.
    folds : ndarray of shape (N,) or (N, R), or None
    groups, sample_weight : ndarray of shape (N,) or None
    places : ndarray of int, shape (N, R), or None
        The line of the data frame that holds a row in a repeat; None with ``HeldOutPredictions``.
    remarks : tuple of str
        What was assumed, each a sentence.
    configurations : tuple or None
        Which columns are whose, where that is known and need not be read from their names.
    """

    y_true: NDArray[Any]
    predictions: Any
    folds: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[Any] | None = None
    places: NDArray[np.intp] | None = None
    remarks: tuple[str, ...] = ()
    configurations: Configurations | None = None

    @property
    def held(self) -> HeldOutPredictions | None:
        """The predictions where the table was heldout's own."""
        return self.predictions if isinstance(self.predictions, HeldOutPredictions) else None


def predictions_from_table(
    table: Table,
    target: str,
    *,
    event: str | None = None,
    fold: str | None = None,
    repeat: str | None = None,
    row: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    exclude: Sequence[str] = (),
    predictions: Sequence[str] = (),
    configurations: Configurations | None = None,
) -> TablePredictions:
    """Read a foreign table of predictions.

    Parameters
    ----------
    table : Table
        A line for each row, or for each row and repeat.
    target : str
        Column of true values; with ``event``, of the times to the event or to censoring.
    event : str, optional
        Column that says whether the event was seen at that time: 0 and 1, or true and false.
    fold, group, weight : str, optional
        Columns that say in which fold a row was held out, to which group it belongs, and how much it counts.
    repeat, row : str, optional
        Columns that say of which repeat a line is, and of which row; without ``row`` the lines of each repeat are
        the same rows in the same order.
    exclude : sequence of str
        Columns that are nothing of these.
    predictions : sequence of str
        The only columns of predictions, where they are not all the others.
    configurations : tuple, optional
        Which columns of predictions are whose, where they are known.

    Raises
    ------
    InputError
        When a column is unknown or has two uses, no configuration is left or one has no predictions at all, or
        the repeats are not of the same rows.
    """
    roles = {
        "the target": target, "the event": event, "the folds": fold, "the repeats": repeat, "the rows": row,
        "the groups": group, "the weights": weight,
    }  # fmt: skip
    named = {purpose: name for purpose, name in roles.items() if name is not None}
    columns = {purpose: table.column(name, purpose) for purpose, name in named.items()}
    held = _columns_of_predictions(table, [*named.values(), *exclude], exclude, predictions, configurations)
    if configurations is None:
        check_uses(table.frame, exclude, repeat)
        if repeat is None:
            check_no_setting(held, columns["the target"])
            # Left out, a setting still divides the lines; folds and groups may do so by chance.
            others = [name for name in exclude if name.lower() not in NO_CONFIGURATION]
            check_no_setting(table.frame[others], columns["the target"])
    for purpose, column in columns.items():
        if purpose == "the folds":
            _check_held_out(column, held)
        else:
            check_complete(column, purpose)
    weights = columns.get("the weights")
    if weights is not None:
        check_numbers(weights, "the weights")
    once = ("the target", "the event", "the groups", "the weights")
    shared = {what: columns[what] for what in once if what in columns}
    places = places_of_repeats(columns.get("the repeats"), columns.get("the rows"), shared, len(held))
    first = places[:, 0]
    folds = labels_of_column(columns.get("the folds"))
    if folds is not None and repeat is not None:
        check_folds_of_repeats(columns["the folds"], columns["the repeats"], folds[places])
    by_order = places.shape[1] > 1 and row is None
    return TablePredictions(
        y_true=_truth(columns, first),
        predictions=held,
        folds=None if folds is None else folds[places] if places.shape[1] > 1 else folds[first],
        groups=None if group is None else labels_of_column(columns["the groups"])[first],
        sample_weight=None if weights is None else weights.to_numpy()[first],
        places=places,
        remarks=(MATCHED_BY_ORDER.format(repeats=places.shape[1]),) if by_order else (),
        configurations=configurations,
    )


def _columns_of_predictions(
    table: Table,
    used: list[str],
    exclude: Sequence[str],
    named: Sequence[str],
    configurations: Configurations | None,
) -> Any:
    """The columns of predictions: those that are named, else those that have no other use."""
    for name in exclude:
        table.column(name, "one to leave out")
    for name in named:
        table.column(name, "one of predictions")
    twice = [name for name, times in Counter([*used, *named]).items() if times > 1]
    if twice:
        raise InputError(f"column {twice[0]!r} was named for two uses; a column has one.")
    predictions = table.frame[list(named)] if named else table.frame.drop(columns=used)
    if not named and configurations is None:
        _check_left_over(predictions.columns)
    if not predictions.shape[1]:
        raise InputError(
            f"{table.name} has no column of predictions besides {quoted(used)}; it needs a column a configuration."
        )
    empty = list(predictions.columns[predictions.isna().all()])
    if empty:
        raise InputError(
            f"{quoted(empty)} of {table.name} {'has' if len(empty) == 1 else 'have'} no predictions at all, only "
            f"missing values; leave {'it' if len(empty) == 1 else 'them'} out (--exclude), or mend the file."
        )
    return predictions


def _truth(columns: Mapping[str, Any], first: NDArray[np.intp]) -> NDArray[Any]:
    """The target, or times and events as scikit-survival keeps them."""
    target = columns["the target"]
    if "the event" not in columns:
        return np.asarray(labels_of_column(target)[first])
    check_numbers(target, "the target (times)")
    return survival_target((events_of_column(columns["the event"])[first], target.to_numpy()[first]))


def check_numbers(column: Any, purpose: str) -> None:
    """Refuse a column that holds anything else than numbers.

    Raises
    ------
    InputError
    """
    if column.dtype.kind not in "iuf":
        stranger = next((value for value in column if not reads_as_number(value)), column.iloc[0])
        raise InputError(f"{purpose} column {column.name!r} must hold numbers, got {shortened(stranger)}.")


def check_complete(column: Any, purpose: str) -> None:
    """Refuse a column that lacks a value.

    Raises
    ------
    InputError
    """
    absent = column.isna()
    if absent.any():
        lacking, first = counted(int(absent.sum()), "missing value"), int(absent.to_numpy().argmax()) + 1
        raise InputError(
            f"column {column.name!r} ({purpose}) has {lacking} in {counted(len(column), 'row')} (the first in row "
            f"{first}); every row needs one: fill them in, or leave these rows out."
        )


def _check_held_out(folds: Any, predictions: Any) -> None:
    """A row of no fold was never held out, so that nothing can have been predicted of it."""
    wrong = folds.isna().to_numpy() & predictions.notna().any(axis=1).to_numpy()
    if wrong.any():
        raise InputError(
            f"column {folds.name!r} (the folds) has a missing value in {counted(int(wrong.sum()), 'row')} with "
            f"predictions (the first in row {int(wrong.argmax()) + 1}); a row without a fold was not held out: "
            "fill its fold in, or take its predictions out."
        )


def labels_of_column(column: Any) -> Any:
    """A column as an array, text as NumPy's own."""
    if column is None:
        return None
    array = column.to_numpy()
    return text_of(column) if array.dtype == object and not column.isna().any() else array


def _check_left_over(names: Sequence[str]) -> None:
    """A forgotten column of folds would pass for a configuration, and could even win."""
    long = f"; {AS_LONG}" if {name.lower() for name in names} & {".row", "rowindex", ".config"} else ""
    for name in names:
        option = NO_CONFIGURATION.get(name.lower())
        if option is not None:
            use = "" if option == "--exclude" else f"{option} {name}, or "
            if option == "--configuration":
                use = f"{option} {name} --row COL if it tells configurations apart, or "
            raise InputError(
                f"column {name!r} would be read as a configuration, which its name does not suggest; say {use}"
                f"--exclude {name} (or rename it if it is one){long}."
            )

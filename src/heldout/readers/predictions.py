"""Held-out predictions from a table of another tool: which column is what, and which lines are the same row.

The user names the target and the columns that are not predictions; every other column belongs to a configuration. A
table that heldout wrote describes its own columns (``own_table``).
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.task import survival_target
from heldout.errors import InputError
from heldout.readers.columns import check_complete, check_numbers, events_of_column, labels_of_column, quoted
from heldout.readers.lines import flag_of_rows, numbered_rows, places_of_repeats
from heldout.readers.long_table_signs import (
    AS_LONG,
    CONFIGURATION_NAMES,
    ROW_NAMES,
    check_folds_of_repeats,
    check_no_setting,
    check_uses,
)
from heldout.readers.prediction_columns import ColumnPredictions, Configurations
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.predictors import counts_lines, names_an_identifier
from heldout.readers.tables import Table

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
"""Names that no configuration has, with the option for a column of that name."""

MATCHED_BY_ORDER = (
    "The rows of the {repeats} repeats were matched by their order in the file; --row COL matches them by a name."
)


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
) -> PredictionTable:
    """Read a table of predictions of another tool, with a line per row, or per row and repeat.

    All but ``configurations`` are names of columns. With ``event`` the target holds times to that event or to
    censoring. Without ``row`` the lines of each repeat are the same rows in the same order. ``predictions`` are by
    default all columns without another use; ``configurations`` says to which configuration each belongs, where
    that does not follow from their names.
    """
    roles = {
        "the target": target, "the event": event, "the folds": fold, "the repeats": repeat, "the rows": row,
        "the groups": group, "the weights": weight,
    }  # fmt: skip
    named = {purpose: name for purpose, name in roles.items() if name is not None}
    columns = {purpose: table.column(name, purpose) for purpose, name in named.items()}
    kept = _columns_of_predictions(table, [*named.values(), *exclude], exclude, predictions, configurations)
    if configurations is None:
        check_uses(table.frame, exclude, repeat)
        if repeat is None:
            check_no_setting(kept, columns["the target"])
            # An excluded setting still divides the lines into copies; folds and groups may do so by chance.
            others = [name for name in exclude if name.lower() not in NO_CONFIGURATION]
            check_no_setting(table.frame[others], columns["the target"])
    for purpose, column in columns.items():
        if purpose == "the folds":
            _check_held_out(column, kept)
        else:
            check_complete(column, purpose)
    weights = columns.get("the weights")
    if weights is not None:
        check_numbers(weights, "the weights")
    once = ("the target", "the event", "the groups", "the weights")
    shared = {what: columns[what] for what in once if what in columns}
    places = places_of_repeats(columns.get("the repeats"), columns.get("the rows"), shared, len(kept))
    first = places[:, 0]
    folds = labels_of_column(columns.get("the folds"))
    if folds is not None and repeat is not None:
        check_folds_of_repeats(columns["the folds"], columns["the repeats"], folds[places])
    flags = {} if row is None else flag_of_rows(numbered_rows(columns["the rows"].unique()), len(first), table.name)
    by_order = places.shape[1] > 1 and row is None
    return PredictionTable(
        truth=_truth(columns, first),
        predictions=ColumnPredictions(kept, places, configurations, flags),
        folds=None if folds is None else folds[places] if places.shape[1] > 1 else folds[first],
        groups=None if group is None else labels_of_column(columns["the groups"])[first],
        sample_weight=None if weights is None else weights.to_numpy()[first],
        source=Source(table.name),
        remarks=(MATCHED_BY_ORDER.format(repeats=places.shape[1]),) if by_order else (),
    )


def _columns_of_predictions(
    table: Table,
    used: list[str],
    exclude: Sequence[str],
    named: Sequence[str],
    configurations: Configurations | None,
) -> Any:
    """The columns of predictions: the named ones, or else those without another use."""
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
        _check_no_identifier(predictions)
    if not predictions.shape[1]:
        raise InputError(
            f"{table.name} has no column of predictions besides {quoted(used)}; it needs a column per "
            "configuration."
        )
    empty = list(predictions.columns[predictions.isna().all()])
    if empty:
        raise InputError(
            f"{quoted(empty)} of {table.name} {'has' if len(empty) == 1 else 'have'} no predictions at all, only "
            f"missing values; leave {'it' if len(empty) == 1 else 'them'} out (--exclude), or fix the file."
        )
    return predictions


def _truth(columns: Mapping[str, Any], first: NDArray[np.intp]) -> NDArray[Any]:
    """The target; for survival the structured array of events and times."""
    target = columns["the target"]
    if "the event" not in columns:
        return np.asarray(labels_of_column(target)[first])
    check_numbers(target, "the target (times)")
    return survival_target((events_of_column(columns["the event"])[first], target.to_numpy()[first]))


def _check_held_out(folds: Any, predictions: Any) -> None:
    """Refuse predictions of a row without a fold: it was never held out."""
    wrong = folds.isna().to_numpy() & predictions.notna().any(axis=1).to_numpy()
    if wrong.any():
        raise InputError(
            f"column {folds.name!r} (the folds) has a missing value in {counted(int(wrong.sum()), 'row')} with "
            f"predictions (the first in row {int(wrong.argmax()) + 1}); a row without a fold was not held out: "
            "fill in its fold, or remove its predictions."
        )


def _check_no_identifier(frame: Any) -> None:
    """Refuse whole numbers that identify or count lines: they are no predictions, and could win."""
    whole = [name for name in frame.columns if frame[name].dtype.kind in "iu" and frame[name].nunique() > 2]
    beside_scores = any(frame[name].dtype.kind == "f" for name in frame.columns)
    for name in whole:
        if names_an_identifier(str(name)) or (beside_scores and counts_lines(frame[name].to_numpy())):
            typed = shlex.quote(str(name))
            raise InputError(
                f"column {name!r} holds whole numbers that identify or count lines, and no predictions; name its "
                f"use (--row {typed} or --group {typed}), --exclude it, or name the columns of predictions with "
                "--prediction."
            )


def _check_left_over(names: Sequence[str]) -> None:
    """Refuse names that no configuration has: a forgotten column of folds could otherwise win."""
    long = f"; {AS_LONG}" if {name.lower() for name in names} & {".row", "rowindex", ".config"} else ""
    for name in names:
        option = NO_CONFIGURATION.get(name.lower())
        if option is not None:
            typed = shlex.quote(name)
            use = "" if option == "--exclude" else f"{option} {typed}, or "
            if option == "--configuration":
                use = f"{option} {typed} --row COL if it tells configurations apart, or "
            raise InputError(
                f"column {name!r} would be read as a configuration, which its name does not suggest; use {use}"
                f"--exclude {typed} (or rename it if it is one){long}."
            )

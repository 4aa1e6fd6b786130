"""Tables that no tool is known by: a column, or a line, for each configuration, as the user describes them.

The user names the target and the columns that are not predictions. In a wide table every other column belongs to a
configuration. In a long one, as caret and tidymodels save them, lines are placed by their row, configuration and
repeat; each combination must be in exactly one line, so the order of the lines means nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.task import survival_target
from heldout.errors import InputError
from heldout.readers.columns import (
    check_complete,
    check_numbers,
    columns_of_classes,
    events_of_column,
    free_name,
    is_setting,
    labels_of_column,
    plain,
    quoted,
    texts_of_classes,
)
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat
from heldout.readers.formats.given import with_values
from heldout.readers.lines import (
    LineKey,
    check_same,
    configuration_key,
    flag_of_rows,
    line_key,
    lines_of_cells,
    numbered_rows,
    repeats_of_names,
)
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
_IN_ONE_LINE = (
    "a repeat holds each row once: fix the file, name other columns with --row and --repeat COL, or, if the lines "
    "are of several configurations, name the column that identifies them with --configuration COL",
    "each repeat must hold the same rows: leave out the rows that are missing in some repeat, or name the column "
    "of row names with --row COL",
)
_IN_ONE_LONG_LINE = (
    "name every column that distinguishes configurations with --configuration, and the one that numbers the "
    "repeats with --repeat (rows that were held out several times in one repeat, as by bootstrap samples, cannot "
    "be read)",
    "each configuration must have predicted the same rows: leave out those that did not (in racing, those that "
    "were dropped), or add lines with an empty prediction",
)


class LongFormat(PredictionFormat):
    """The user names the columns of configurations and rows."""

    name = "long"
    title = "a table with a line for each row and configuration"
    signs = "configuration and row, which the user names"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return uses.described and export.table is not None and export.table.roles is None

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        if not uses.described:
            raise InputError(
                "a long table needs the column that identifies the configuration of a line and the one of its row; "
                "name them with `configuration=` and `row=`."
            )
        return predictions_from_table(export.table_with(), uses, Source(export.name, self.name, self.title))


class WideFormat(PredictionFormat):
    """What every table is that no other format recognises."""

    name = "wide"
    title = "a table with a column for each configuration"
    signs = "nothing else"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return False

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        return predictions_from_table(export.table_with(), uses, Source(export.name, self.name, self.title))


def predictions_from_table(table: Table, uses: ColumnUses, source: Source) -> PredictionTable:
    """The predictions of a long or a wide table.

    Without ``row`` the lines of each repeat of a wide table are the same rows in the same order.
    """
    is_long = source.format == LongFormat.name
    if uses.configuration and not is_long:
        raise InputError(
            f"`configuration={uses.configuration[0]!r}` needs `row=` too, the column that identifies the row of a "
            f"line; leave it out for {WideFormat.title}.",
            argument="configuration",
        )
    table, uses = with_values(table, uses)
    if uses.target is None:
        raise InputError(
            f"target is needed: which column of {table.name} holds the true values?", argument="target"
        )
    purposes = uses.purposes_in(table)
    left = [name for name in table.frame.columns if name not in purposes]
    if not is_long:
        _check_wide(table, uses, left)
    for name, purpose in purposes.items():
        if purpose not in ("the folds", "the predictions", "one to leave out"):
            check_complete(table.frame[name], purpose)
    if uses.weight is not None:
        check_numbers(table.frame[uses.weight], "the weights")
    if is_long:
        table, uses = _with_repeats_of_folds(table, uses)
    frame = table.frame
    rows, repeats = _row_and_repeat(frame, uses)
    if is_long:
        configurations = configuration_key(frame, uses.configuration, table.name)
        lines = lines_of_cells([rows, repeats, configurations], *_IN_ONE_LONG_LINE)
    else:
        lines = lines_of_cells([rows, repeats], *_IN_ONE_LINE)[..., None]
        if uses.repeat is None:
            lines.sort(axis=0)  # a table of rows keeps their order
    for use in ("target", "event", "group", "weight"):
        if (name := getattr(uses, use)) is not None:
            check_same(purposes[name], frame[name], lines.reshape(len(lines), -1), rows)
    if uses.fold is not None:
        check_same("the folds", frame[uses.fold], lines.reshape(-1, lines.shape[2]), rows)
    if is_long:
        columns, remarks = _prediction_columns(table, uses, left, configurations)
        found = _of_long_lines(frame, lines, configurations, columns)
    else:
        found = ColumnPredictions(frame[list(uses.predictions) or left], lines[..., 0])
        by_order = lines.shape[1] > 1 and uses.row is None
        remarks = (MATCHED_BY_ORDER.format(repeats=lines.shape[1]),) if by_order else ()
    _check_predicted(found.frame, table.name)
    first = lines[:, 0, 0]
    if uses.row is not None:
        n_rows = numbered_rows(frame[uses.row].unique())
        found = replace(found, flags=flag_of_rows(n_rows, len(first), table.name))
    return PredictionTable(
        truth=_truth(frame, uses, first),
        predictions=found,
        folds=_folds(frame, uses, lines[..., 0], found),
        groups=None if uses.group is None else labels_of_column(frame[uses.group])[first],
        sample_weight=None if uses.weight is None else frame[uses.weight].to_numpy()[first],
        source=source,
        remarks=(*table.remarks, *remarks),
    )


def _row_and_repeat(frame: Any, uses: ColumnUses) -> tuple[LineKey, LineKey]:
    """The row and the repeat of each line; rows without names are numbered from 1 in each repeat."""
    repeats = LineKey("repeat", np.zeros(len(frame), dtype=np.intp), [None])
    if uses.repeat is not None:
        repeats = line_key("repeat", frame[uses.repeat])
    if uses.row is not None:
        return line_key("row", frame[uses.row]), repeats
    numbers = frame.groupby(repeats.codes).cumcount().to_numpy()
    return LineKey("row", numbers, range(1, int(numbers.max()) + 2)), repeats


def _truth(frame: Any, uses: ColumnUses, first: NDArray[np.intp]) -> NDArray[Any]:
    """The target; for survival the structured array of events and times."""
    target = frame[uses.target]
    if uses.event is None:
        return np.asarray(labels_of_column(target)[first])
    check_numbers(target, "the target (times)")
    return survival_target((events_of_column(frame[uses.event])[first], target.to_numpy()[first]))


def _folds(
    frame: Any, uses: ColumnUses, lines: NDArray[np.intp], predictions: ColumnPredictions
) -> NDArray[Any] | None:
    """The folds (N,), or (N, R) of several repeats; a row with predictions and no fold was never held out."""
    if uses.fold is None:
        return None
    column = frame[uses.fold]
    predicted = predictions.frame.notna().any(axis=1).to_numpy()[predictions.places]
    wrong = np.sort(lines[column.isna().to_numpy()[lines] & predicted])
    if wrong.size:
        raise InputError(
            f"column {column.name!r} (the folds) has a missing value in {counted(wrong.size, 'row')} with "
            f"predictions (the first in row {wrong[0] + 1}); a row without a fold was not held out: fill in its "
            "fold, or remove its predictions."
        )
    folds = np.asarray(labels_of_column(column)[lines])
    if uses.repeat is not None:
        check_folds_of_repeats(column, frame[uses.repeat], folds)
    return folds if folds.shape[1] > 1 else folds[:, 0]


def _check_predicted(frame: Any, name: str) -> None:
    empty = list(frame.columns[frame.isna().all()])
    if empty:
        raise InputError(
            f"{quoted(empty)} of {name} {'has' if len(empty) == 1 else 'have'} no predictions at all, only missing "
            f"values; leave {'it' if len(empty) == 1 else 'them'} out (--exclude), or fix the file."
        )


def _check_wide(table: Table, uses: ColumnUses, left: Sequence[str]) -> None:
    """Refuse a table without columns of predictions, or with signs of a long one."""
    frame = table.frame
    names = uses.predictions or left
    if not uses.predictions:
        _check_left_over(left)
        _check_no_identifier(frame[left])
    if not names:
        raise InputError(
            f"{table.name} has no column of predictions besides {quoted([*uses.purposes_in(table)])}; it needs a "
            "column per configuration."
        )
    check_uses(frame, uses.exclude, uses.repeat)
    if uses.repeat is None:
        check_no_setting(frame[list(names)], frame[uses.target])
        # An excluded setting still divides the lines into copies; folds and groups may do so by chance.
        others = [name for name in uses.exclude if name.lower() not in NO_CONFIGURATION]
        check_no_setting(frame[others], frame[uses.target])


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


def _with_repeats_of_folds(table: Table, uses: ColumnUses) -> tuple[Table, ColumnUses]:
    """The table with the repeats that caret writes into the names of folds as a column of their own."""
    if uses.repeat is not None or uses.fold is None:
        return table, uses
    numbers = repeats_of_names(table.frame[uses.fold])
    if numbers is None or numbers.nunique() < 2:
        return table, uses
    name = free_name("repeat", table.frame.columns)
    example = min(map(plain, table.frame[uses.fold].unique()))
    found = f"{numbers.nunique()} repeats were found in the names of the folds"
    remark = f"{found} (column {uses.fold!r}: {example!r}, ...)."
    frame = table.frame.assign(**{name: numbers})
    return replace(table, frame=frame, remarks=(*table.remarks, remark)), replace(uses, repeat=name)


def _of_long_lines(
    frame: Any, lines: NDArray[np.intp], configurations: LineKey, columns: Mapping[str, str | None]
) -> ColumnPredictions:
    """The predictions of lines (N, R, C), with a column, or one for each class, for each configuration."""
    import pandas as pd

    wide: dict[str, Any] = {}
    of_each = []
    for place, name in enumerate(configurations.labels):
        own = {}
        for column, label in columns.items():
            head = free_name(name if label is None else f"{name}[{label}]", wide)
            wide[head] = frame[column].to_numpy()[lines[..., place].ravel()]
            own[head] = label
        of_each.append((str(name), own))
    found: Configurations = tuple(of_each)
    return ColumnPredictions(pd.DataFrame(wide), np.arange(lines[..., 0].size).reshape(lines.shape[:2]), found)


def _prediction_columns(
    table: Table, uses: ColumnUses, left: Sequence[str], configurations: LineKey
) -> tuple[Mapping[str, str | None], tuple[str, ...]]:
    """The columns of predictions of a long table with their classes (None for a single column), and remarks."""
    texts = texts_of_classes(table.frame[uses.target]) if uses.event is None else []
    if uses.predictions:
        for name in uses.predictions:
            _check_no_setting(table.frame[name], configurations)
        return _named_predictions(table, uses.predictions, texts), ()
    constant = [name for name in left if is_setting(table.frame[name], configurations.codes)]
    rest = [name for name in left if name not in constant]
    remarks = []
    if constant and not rest:
        _check_no_setting(table.frame[constant[0]], configurations)
    if constant:
        remarks.append(f"Excluded {quoted(constant)}: one value in each configuration (its settings).")
    classes = columns_of_classes(rest, texts)
    labels = [name for name in rest if len(classes) == 1 and name not in classes[0]]
    if len(classes) == 1 and all({*map(plain, table.frame[name].dropna().unique())} <= {*texts} for name in labels):
        if labels:
            remarks.append(
                f"The probabilities {quoted(list(classes[0]))} are the predictions, and the labels "
                f"{quoted(labels)} are not used; to use them: --prediction {labels[0]}."
            )
        return classes[0], tuple(remarks)
    if len(rest) == 1:
        return _named_predictions(table, rest, texts), tuple(remarks)
    raise InputError(
        f"{table.name} has {quoted(rest, 8) if rest else 'no column'} besides those named, instead of one column "
        "of predictions; name it with --prediction COL, or one for each class (the rest is then ignored)."
    )


def _named_predictions(table: Table, named: Sequence[str], texts: Sequence[str]) -> Mapping[str, str | None]:
    """One column for each class, or a single one, with its class if other columns have the other classes' names."""
    if len(named) > 1:
        classes = [found for found in columns_of_classes(named, texts) if len(found) == len(named)]
        if len(classes) != 1:
            raise InputError(
                f"--prediction was given {len(named)} columns, {quoted(named)}, which are not one for each class "
                f"of the target ({quoted(texts) if texts else 'it holds numbers'}), with the class in its name; "
                "name one column of predictions, or one for each class."
            )
        return classes[0]
    (name,) = named
    own = next((found for found in columns_of_classes(list(table.frame.columns), texts) if name in found), None)
    if own is not None and len(own) > 2:
        others = " ".join(f"--prediction {other}" for other in own if other != name)
        raise InputError(
            f"--prediction {name} is the probability of class {own[name]!r}, one of {len(own)}; add {others}."
        )
    return {name: None if own is None else own[name]}


def _check_no_setting(column: Any, configurations: LineKey) -> None:
    if is_setting(column, configurations.codes):
        raise InputError(
            f"column {column.name!r} has one value in each configuration ({plain(column.iloc[0])} in "
            f"{configurations.labels[configurations.codes[0]]}), so it is a setting, not a prediction; name "
            "the column of predictions with --prediction COL."
        )

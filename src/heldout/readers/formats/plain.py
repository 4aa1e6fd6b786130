"""Tables that no tool is known by: a column, or a line, for each configuration, as the user describes them.

The user names the target and the columns that are not predictions. In a wide table every other column belongs to a
configuration. In a long one, as caret and tidymodels save them, each combination of row, configuration and repeat
must be in exactly one line. What the predictions are, the metric decides.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._types import Array, Indices
from heldout.errors import InputError
from heldout.readers.columns import columns_of_classes, free_name, is_setting, plain, quoted, texts_of_classes
from heldout.readers.formats.tool import Export, Tool, check_target, with_values
from heldout.readers.long_table import ColumnUses, Pivot, ResponseColumns, numbered_rows, pivot_of, repeats_of_names
from heldout.readers.prediction_columns import AS_LONG, FEWEST_CHANGES, ColumnPredictions
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.predictors import counts_lines, names_an_identifier
from heldout.readers.tables import Table

CONFIGURATION_NAMES = (".config", "config", "configuration", "wflow_id", "learner_id", "model_id")
"""Names that tools give to the column of configurations."""
ROW_NAMES = ("row", ".row", "rowindex", "row_id", "row_ids", "row_number")
"""Names that tools give to the column of row numbers."""

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
    return changes >= FEWEST_CHANGES and bool((copies == copies[0]).all())


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
_OF_FOLDS = re.compile(r"(?:^|[^a-z])(?:fold|folds|split|splits|resample|falte|pli)(?:$|[^a-z])")

MATCHED_BY_ORDER = (
    "The rows of the {repeats} repeats were matched by their order in the file; --row COL matches them by a name."
)


class WideFormat(Tool):
    """What every table is that no other format recognises."""

    name = "wide"
    title = "a table with a column for each configuration"
    signs = "nothing else"
    free = ("event", "repeat", "configuration", "predictions")

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return False

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        return self.checked(export.table_with(), uses)

    def checked(self, table: Table, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        """The table with what the user gives; signs of a long table are refused."""
        if uses.configuration:
            raise InputError(
                f"`configuration={uses.configuration[0]!r}` needs `row=` too, the column that identifies the row "
                f"of a line; leave it out for {self.title}."
            )
        table, uses = with_values(table, uses)
        left = uses.others(table)
        check_target(uses, table.name)
        _check_wide(table, uses, left)
        if uses.repeat is not None and uses.row is None and (repeats := table.frame[uses.repeat].nunique()) > 1:
            table = replace(table, remarks=(*table.remarks, MATCHED_BY_ORDER.format(repeats=repeats)))
        return {"": table}, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        names = [*uses.predictions] or uses.others(table)
        return uses.with_roles(
            heads={name: ResponseColumns(values=name) for name in names},
            n_rows=numbered_rows(table.frame[uses.row].unique()),
            whole=True,
            in_order=uses.repeat is None,
        )

    def predictions(self, table: Table, roles: ColumnUses) -> PredictionTable:
        pivot = pivot_of(table, roles, self.configuration)
        columns, remarks = self.column_predictions(table, roles, pivot)
        empty = list(columns.frame.columns[columns.frame.isna().all()])
        if empty:
            raise InputError(
                f"{quoted(empty)} of {table.name} {'has' if len(empty) == 1 else 'have'} no predictions at all, "
                "only missing values; fix the file, or leave out what is empty (--exclude)."
            )
        folds = pivot.folds
        if folds is not None:
            _check_folds_of_repeats(roles, folds)
            folds = folds if folds.shape[1] > 1 else folds[:, 0]
        return PredictionTable(
            truth=pivot.truth,
            predictions=columns,
            folds=folds,
            groups=pivot.groups,
            sample_weight=pivot.weights,
            source=Source(table.name, self.name, self.title),
            remarks=(*table.remarks, *roles.remarks, *remarks),
        )

    def column_predictions(
        self, table: Table, roles: ColumnUses, pivot: Pivot
    ) -> tuple[ColumnPredictions, Sequence[str]]:
        """The columns of each configuration, and remarks on them."""
        return ColumnPredictions(table.frame[[*roles.heads]], pivot.lines[..., 0], flags=pivot.flags), ()


class LongFormat(WideFormat):
    """The user names the columns of configurations and rows."""

    name = "long"
    title = "a table with a line for each row and configuration"
    signs = "configuration and row, which the user names"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return uses.described and export.table is not None and export.table.metadata is None

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        if not uses.described:
            raise InputError(
                "a long table needs the column that identifies the configuration of a line and the one of its row; "
                "name them with `configuration=` and `row=`."
            )
        return {"": export.table_with()}, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        repeats, remarks = None, []
        if uses.repeat is None and uses.fold is not None:
            repeats = repeats_of_names(table.frame[uses.fold])
        if repeats is not None and repeats.nunique() > 1:
            example = min(map(plain, table.frame[uses.fold].unique()))
            remarks = [
                f"{repeats.nunique()} repeats were found in the names of the folds (column {uses.fold!r}: "
                f"{example!r}, ...)."
            ]
        return uses.with_roles(whole=True, n_rows=numbered_rows(table.frame[uses.row].unique()), remarks=remarks)

    def column_predictions(
        self, table: Table, roles: ColumnUses, pivot: Pivot
    ) -> tuple[ColumnPredictions, Sequence[str]]:
        import pandas as pd

        columns, remarks = _prediction_columns(table, roles, pivot)
        wide: dict[str, Any] = {}
        of_each: dict[str, dict[str, str | None]] = {}
        for place, name in enumerate(pivot.names):
            of_each[name] = {}
            for column, label in columns.items():
                head = free_name(name if label is None else f"{name}[{label}]", wide)
                wide[head] = table.frame[column].to_numpy()[pivot.lines[..., place].ravel()]
                of_each[name][head] = label
        places = np.arange(pivot.lines[..., 0].size).reshape(pivot.lines.shape[:2])
        return ColumnPredictions(pd.DataFrame(wide), places, of_each, pivot.flags), remarks


def _check_folds_of_repeats(roles: ColumnUses, folds: Array) -> None:
    """Refuse repeats with equal folds: such "repeats" are configurations, whose predictions would be averaged."""
    if roles.repeat is None or folds.shape[1] == 1 or len(np.unique(folds)) == 1 or (folds != folds[:, :1]).any():
        return
    repeat, fold = shlex.quote(roles.repeat), shlex.quote(roles.fold[0])
    raise InputError(
        f"the {folds.shape[1]} repeats (column {roles.repeat!r}) have the same folds (column "
        f"{quoted(roles.fold)}), as the lines of several configurations have; use --configuration {repeat} "
        f"with --row COL, or, if the same folds were repeated, leave the folds out (--exclude {fold})."
    )


def _check_wide(table: Table, uses: ColumnUses, left: Sequence[str]) -> None:
    """Refuse a table without columns of predictions, or with signs of a long one."""
    frame = table.frame
    names = uses.predictions or left
    if not uses.predictions:
        _check_left_over(frame[left])
        _check_no_identifier(frame[left])
    if not names:
        raise InputError(
            f"{table.name} has no column of predictions besides {quoted([*uses.purposes_in(table)])}; it needs a "
            "column per configuration."
        )
    check_uses(frame, uses.exclude, uses.repeat)
    if uses.repeat is None:
        # An excluded setting still divides the lines into copies; folds and groups may do so by chance.
        others = [name for name in uses.exclude if name.lower() not in NO_CONFIGURATION]
        check_no_setting(frame[[*names, *others]], frame[uses.target])


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


def _check_left_over(frame: Any) -> None:
    """Refuse names that no configuration has: a forgotten column of folds could otherwise win."""
    names = list(frame.columns)
    long = f"; {AS_LONG}" if {name.lower() for name in names} & {".row", "rowindex", ".config"} else ""
    for name in names:
        option = NO_CONFIGURATION.get(name.lower())
        if option is None and frame[name].dtype.kind not in "f" and _OF_FOLDS.search(name.lower()):
            option = "--fold"  # Fold_ID, cv fold; scores of a model called so have decimals
        if option is not None:
            typed = shlex.quote(name)
            use = "" if option == "--exclude" else f"{option} {typed}, or "
            if option == "--configuration":
                use = f"{option} {typed} --row COL if it tells configurations apart, or "
            raise InputError(
                f"column {name!r} would be read as a configuration, which its name does not suggest; use {use}"
                f"--exclude {typed} (or rename it if it is one){long}."
            )


def _prediction_columns(
    table: Table, uses: ColumnUses, pivot: Pivot
) -> tuple[Mapping[str, str | None], Sequence[str]]:
    """The columns of predictions of a long table with their classes (None for a single column), and remarks."""
    frame = table.frame
    texts = texts_of_classes(frame[uses.target]) if uses.event is None else []
    of_line = np.empty(len(frame), dtype=np.intp)
    of_line[pivot.lines] = np.arange(len(pivot.names))
    names = [*uses.predictions] or uses.others(table)
    constant = [name for name in names if is_setting(frame[name], of_line)]
    if constant and (uses.predictions or len(constant) == len(names)):
        raise InputError(
            f"column {constant[0]!r} has one value in each configuration ({plain(frame[constant[0]].iloc[0])} in "
            f"{pivot.names[of_line[0]]}), so it is a setting, not a prediction; name the column of predictions "
            "with --prediction COL."
        )
    if uses.predictions:
        return _named_predictions(table, names, texts), ()
    rest = [name for name in names if name not in constant]
    remarks = [f"Excluded {quoted(constant)}: one value in each configuration (its settings)."] * bool(constant)
    classes = columns_of_classes(rest, texts)
    labels = [name for name in rest if len(classes) == 1 and name not in classes[0]]
    if len(classes) == 1 and all({*map(plain, frame[name].dropna().unique())} <= {*texts} for name in labels):
        if labels:
            remarks.append(
                f"The probabilities {quoted(list(classes[0]))} are the predictions, and the labels "
                f"{quoted(labels)} are not used; to use them: --prediction {labels[0]}."
            )
        return classes[0], remarks
    if len(rest) == 1:
        return _named_predictions(table, rest, texts), remarks
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

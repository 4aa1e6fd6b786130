"""Long tables, with a line per row and configuration as caret and tidymodels save them, turned into wide ones.

Lines are placed by their keys: the row, the configuration and, if there are several, the repeat. Each combination
must be in exactly one line, so the order of the lines means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.readers.columns import check_complete, columns_of_classes, free_name, plain, quoted, texts_of_classes
from heldout.readers.lines import (
    LineKey,
    check_same,
    configuration_key,
    line_key,
    lines_of_cells,
    with_repeats_of_names,
)
from heldout.readers.prediction_columns import Configurations
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.predictions import predictions_from_table
from heldout.readers.tables import Table


@dataclass(frozen=True)
class LongColumns:
    """The roles of the columns of a long table."""

    configuration: tuple[str, ...]
    """Columns that together identify the configuration of a line, such as ``("penalty", "mixture")``."""
    row: str
    target: str
    event: str | None = None
    fold: str | None = None
    repeat: str | None = None
    group: str | None = None
    weight: str | None = None
    predictions: tuple[str, ...] = ()
    """The column of predictions, or one per class; by default found among the columns without another role."""
    exclude: tuple[str, ...] = ()

    @property
    def purposes(self) -> dict[str, str]:
        """The role of each named column."""
        single = {
            "the rows": self.row, "the target": self.target, "the event": self.event, "the folds": self.fold,
            "the repeats": self.repeat, "the groups": self.group, "the weights": self.weight,
        }  # fmt: skip
        pairs = [(name, purpose) for purpose, name in single.items() if name is not None]
        pairs += [(name, "the configurations") for name in self.configuration]
        pairs += [(name, "the predictions") for name in self.predictions]
        pairs += [(name, "one to leave out") for name in self.exclude]
        purposes: dict[str, str] = {}
        for name, purpose in pairs:
            if name in purposes:
                raise InputError(f"column {name!r} was named for two uses; a column has one.")
            purposes[name] = purpose
        return purposes


@dataclass(frozen=True, eq=False)
class WideTable:
    """A long table turned into one with a line per row and repeat, and columns for each configuration."""

    table: Table
    """The columns that ``columns`` names, and those of ``configurations``."""
    columns: LongColumns
    """The roles, including repeats that were found in the names of the folds."""
    configurations: Configurations
    """Each configuration's name, and its columns with their classes; the class is None for a single column."""


def wide_table(table: Table, columns: LongColumns) -> WideTable:
    """Turn a long table into a wide one.

    A combination of row, configuration and repeat that is in two lines, or in none, is refused, and so are a row
    with two true values (folds, groups, weights) and columns that may or may not be predictions.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"row": [2, 1, 1, 2], "k": [5, 5, 9, 9], "obs": [0.2, 0.1, 0.1, 0.2],
    ...                       "pred": [0.21, 0.12, 0.13, 0.24]})
    >>> wide = wide_table(Table("t", frame), LongColumns(("k",), "row", "obs"))
    >>> wide.table.frame[["k=5", "k=9"]].to_numpy().tolist()
    [[0.12, 0.13], [0.21, 0.24]]
    """
    for name, purpose in columns.purposes.items():
        column = table.column(name, purpose)
        if purpose not in ("the predictions", "one to leave out", "the folds"):
            check_complete(column, purpose)
    table, columns, remarks = _with_repeats_of_folds(table, columns)
    configurations = configuration_key(table.frame, columns.configuration, table.name)
    lines = _lines(table, columns, configurations)
    _check_agreement(table, columns, lines)
    predictions, more = _prediction_columns(table, columns, configurations)
    wide, found = _wide(table, columns, lines, configurations, predictions)
    return WideTable(replace(table, frame=wide, remarks=(*table.remarks, *remarks, *more)), columns, found)


def predictions_from_long_table(table: Table, columns: LongColumns) -> tuple[Table, PredictionTable]:
    """Read a table with a line per row and configuration; the table returned is wide, with further remarks."""
    wide = wide_table(table, columns)
    named = wide.columns
    predictions = predictions_from_table(
        wide.table,
        named.target,
        event=named.event,
        fold=named.fold,
        repeat=named.repeat,
        row=named.row,
        group=named.group,
        weight=named.weight,
        configurations=wide.configurations,
    )
    return wide.table, predictions


def _with_repeats_of_folds(table: Table, columns: LongColumns) -> tuple[Table, LongColumns, tuple[str, ...]]:
    """The table with the repeats that caret writes into the names of folds as a column of their own."""
    if columns.repeat is not None or columns.fold is None:
        return table, columns, ()
    more, name = with_repeats_of_names(table, columns.fold)
    n_repeats = 0 if name is None else more.frame[name].nunique()
    if n_repeats < 2:
        return table, columns, ()
    example = min(map(plain, table.frame[columns.fold].unique()))
    found = f"{n_repeats} repeats were found in the names of the folds"
    remark = f"{found} (column {columns.fold!r}: {example!r}, ...)."
    return more, replace(columns, repeat=name), (remark,)


def _lines(table: Table, columns: LongColumns, configurations: LineKey) -> NDArray[np.intp]:
    """The line of each row, repeat and configuration: (N, R, C)."""
    frame = table.frame
    repeats = LineKey("repeat", np.zeros(len(frame), dtype=np.intp), [None])
    if columns.repeat is not None:
        repeats = line_key("repeat", frame[columns.repeat])
    return lines_of_cells(
        [line_key("row", frame[columns.row]), repeats, configurations],
        (
            "name every column that distinguishes configurations with --configuration, and the one that numbers "
            "the repeats with --repeat (rows that were held out several times in one repeat, as by bootstrap "
            "samples, cannot be read)",
            "each configuration must have predicted the same rows: leave out those that did not (in racing, those "
            "that were dropped), or add lines with an empty prediction",
        ),
    )


def _check_agreement(table: Table, columns: LongColumns, lines: NDArray[np.intp]) -> None:
    """Refuse rows whose lines contradict each other."""
    n_rows, n_repeats, n_configurations = lines.shape
    once = lines.reshape(n_rows, -1)
    in_repeat = lines.reshape(n_rows * n_repeats, n_configurations)
    for what, name, places in (
        ("the target", columns.target, once),
        ("the event", columns.event, once),
        ("the groups", columns.group, once),
        ("the weights", columns.weight, once),
        ("the folds", columns.fold, in_repeat),
    ):
        if name is not None:
            check_same(what, table.frame[name], places, table.frame[columns.row])


def _prediction_columns(
    table: Table, columns: LongColumns, configurations: LineKey
) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """The columns of predictions with their classes (None for a single column), and remarks."""
    texts = texts_of_classes(table.frame[columns.target]) if columns.event is None else []
    if columns.predictions:
        for name in columns.predictions:
            _check_no_setting(table.frame[name], configurations)
        return _named_predictions(table, columns, texts), ()
    left = [name for name in table.frame.columns if name not in columns.purposes]
    constant = [name for name in left if _is_setting(table.frame[name], configurations)]
    rest = [name for name in left if name not in constant]
    remarks = []
    if constant and not rest:
        _check_no_setting(table.frame[constant[0]], configurations)
    if constant:
        remarks.append(f"Excluded {quoted(constant)}: one value in each configuration (its settings).")
    classes = columns_of_classes(rest, texts)
    labels = [name for name in rest if len(classes) == 1 and name not in classes[0]]
    if len(classes) == 1 and all(_holds_labels(table.frame[name], texts) for name in labels):
        if labels:
            remarks.append(
                f"The probabilities {quoted(list(classes[0]))} are the predictions, and the labels "
                f"{quoted(labels)} are not used; to use them: --prediction {labels[0]}."
            )
        return dict(classes[0]), tuple(remarks)
    if len(rest) == 1:
        return _alone(table, rest[0], texts), tuple(remarks)
    raise InputError(
        f"{table.name} has {quoted(rest, 8) if rest else 'no column'} besides those named, instead of one column "
        "of predictions; name it with --prediction COL, or one for each class (the rest is then ignored)."
    )


def _named_predictions(table: Table, columns: LongColumns, texts: Sequence[str]) -> dict[str, str | None]:
    named = columns.predictions
    if len(named) > 1:
        classes = [found for found in columns_of_classes(named, texts) if len(found) == len(named)]
        if len(classes) != 1:
            raise InputError(
                f"--prediction was given {len(named)} columns, {quoted(named)}, which are not one for each class "
                f"of the target ({quoted(texts) if texts else 'it holds numbers'}), with the class in its name; "
                "name one column of predictions, or one for each class."
            )
        return dict(classes[0])
    return _alone(table, named[0], texts)


def _alone(table: Table, name: str, texts: Sequence[str]) -> dict[str, str | None]:
    """A single column of predictions, with its class if other columns are named after the other classes."""
    for classes in columns_of_classes(list(table.frame.columns), texts):
        if name in classes:
            return _only_of_a_class(name, classes)
    return {name: None}


def _only_of_a_class(name: str, classes: Mapping[str, str]) -> dict[str, str | None]:
    """A single column of a class, which is enough for two classes only."""
    if len(classes) > 2:
        others = " ".join(f"--prediction {other}" for other in classes if other != name)
        raise InputError(
            f"--prediction {name} is the probability of class {classes[name]!r}, one of {len(classes)}; add "
            f"{others}."
        )
    return {name: classes[name]}


def _wide(
    table: Table,
    columns: LongColumns,
    lines: NDArray[np.intp],
    configurations: LineKey,
    predictions: Mapping[str, str | None],
) -> tuple[Any, Configurations]:
    import pandas as pd

    by_cell = lines.reshape(-1, lines.shape[2])
    kept = [columns.target, columns.event, columns.fold, columns.repeat, columns.row, columns.group, columns.weight]
    wide = {name: table.frame[name].to_numpy()[by_cell[:, 0]] for name in kept if name is not None}
    found = []
    for place, name in enumerate(configurations.labels):
        own = {}
        for column, label in predictions.items():
            head = free_name(name if label is None else f"{name}[{label}]", wide)
            wide[head] = table.frame[column].to_numpy()[by_cell[:, place]]
            own[head] = label
        found.append((str(name), own))
    return pd.DataFrame(wide), tuple(found)


def _is_setting(column: Any, configurations: LineKey) -> bool:
    """Whether a column has one value in each configuration."""
    counts = column.fillna("missing").astype(str) if column.isna().any() else column
    return bool((counts.groupby(configurations.codes).nunique(dropna=False) == 1).all())


def _check_no_setting(column: Any, configurations: LineKey) -> None:
    if _is_setting(column, configurations):
        raise InputError(
            f"column {column.name!r} has one value in each configuration ({plain(column.iloc[0])} in "
            f"{configurations.labels[configurations.codes[0]]}), so it is a setting, not a prediction; name "
            "the column of predictions with --prediction COL."
        )


def _holds_labels(column: Any, texts: Sequence[str]) -> bool:
    return {plain(value) for value in column.dropna().unique()} <= {*texts}

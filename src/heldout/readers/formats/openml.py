"""The predictions of a run on OpenML: ``predictions.arff``, a line for each row of each repeat and fold.

Columns ``repeat``, ``fold``, ``row_id``, ``prediction``, ``correct`` (``truth`` in a regression) and, for each
class, ``confidence.CLASS``. A file is one run, which is one configuration; all runs of a task have the same rows
in the same folds. Source: OpenML's documentation of runs, and its Python client, which writes these files.
"""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from heldout.data.row_labels import in_order_of, row_labels
from heldout.data.task import column_of
from heldout.errors import InputError
from heldout.readers.columns import check_numbers
from heldout.readers.formats.tool import (
    Export,
    Tool,
    check_alone,
    check_target,
    of_kind,
    parts_of,
    values_of,
    with_prefix,
)
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table

_ROWS = ("row_id", "rowid")
_TRUTHS = ("correct", "truth")


class OpenMLRun(Tool):
    """A file, or a folder, list or mapping of one file for each run."""

    name = "openml"
    title = "predictions of runs on OpenML"
    signs = "columns repeat, fold, row_id and prediction"
    needs = ("repeat", "fold", "prediction")
    columns: ClassVar = {"row": _ROWS, "fold": ("fold",), "repeat": ("repeat",), "target": _TRUTHS}
    endings = (".arff",)

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        parts = parts_of(export, *self.endings).values()
        return any(part.columns >= {*self.needs} and not part.columns.isdisjoint(_ROWS) for part in parts)

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        tables, uses = super().tables(export, uses)
        names = next(iter(tables.values())).frame.columns
        row = next((name for name in _ROWS if name in names), _ROWS[0])
        for table in tables.values():
            _check_rows(table, row)
        if names.intersection(_TRUTHS).empty:
            check_target(uses, export.name)
            tables = {run: _with_truth(table, uses.target, row) for run, table in tables.items()}
            uses = replace(uses, target=None)
        return tables, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        check_alone(table, "sample")  # of a learning curve, a number of training rows
        probabilities = with_prefix(table.frame, "confidence.")
        kind = of_kind(table, "prediction", uses.target, with_classes=bool(probabilities))
        return uses.with_roles(probabilities=probabilities, **kind)


def _check_rows(table: Table, row: str) -> None:
    rows = table.column(row, "the rows")
    check_numbers(rows, "the rows")
    strange = rows[np.isfinite(rows) & (rows % 1 != 0)]
    if len(strange):
        raise InputError(
            f"column {row!r} of {table.name} must number the rows from 0, got {strange.iloc[0]}; is it damaged?"
        )


def _with_truth(table: Table, given: Any, row: str) -> Table:
    """The table with the user's true values, one for each row of the data set, in the column ``correct``."""
    import pandas as pd

    given = values_of(given, "target", table)
    if (labels := row_labels(given)) is not None:  # row_id counts the rows of the data set
        given = in_order_of(pd.RangeIndex(len(labels)), row, given, "target")
    values = column_of(given, "the true values")
    rows = table.frame[row].to_numpy()
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= len(values):
        raise InputError(
            f"row_id goes from {rows.min()} to {rows.max()} in {table.name}, and must number the {len(values)} "
            "true values from 0; give those of all rows of the data set, in its order.",
            argument="target",
        )
    return replace(table, frame=table.frame.assign(**{_TRUTHS[0]: np.asarray(values)[rows]}))

"""The predictions of a run on OpenML: ``predictions.arff``, a line for each row of each repeat and fold.

Columns ``repeat``, ``fold``, ``row_id``, ``prediction``, ``correct`` (``truth`` in a regression) and, for each
class, ``confidence.CLASS``. A file is one run, which is one configuration; all runs of a task have the same rows
in the same folds. Source: OpenML's documentation of runs, and its Python client, which writes these files.
"""

from __future__ import annotations

import numpy as np

from heldout.data.task import column_of, in_order_of, row_labels
from heldout.errors import InputError
from heldout.readers.columns import check_numbers
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat
from heldout.readers.formats.given import needed_truth, values_of
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.formats.parts import parts_of, stacked
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import Table

KEYS = ("repeat", "fold", "prediction")
_ROWS = ("row_id", "rowid")
_TRUTHS = ("correct", "truth")
_CONFIDENCE = "confidence."


class OpenMLRun(PredictionFormat):
    """A file, or a folder, list or mapping of one file for each run."""

    name = "openml"
    title = "predictions of runs on OpenML"
    signs = "columns repeat, fold, row_id and prediction"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        parts = parts_of(export, ".arff").values()
        return any(part.columns >= {*KEYS} and not part.columns.isdisjoint(_ROWS) for part in parts)

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        parts = parts_of(export, ".arff")
        table, run = stacked({name: part.table_with(*KEYS).frame for name, part in parts.items()}, export.name)
        row, own = (
            next((name for name in names if name in table.frame.columns), None) for names in (_ROWS, _TRUTHS)
        )
        if row is None:
            raise InputError(f"{export.name} has no column row_id, which numbers the rows of the data set.")
        target = {} if own is None else {"target": own}
        uses.check_agree(self.title, row=row, fold="fold", repeat="repeat", **target)
        check_numbers(table.frame[row], "the rows")
        if table.frame[row].dtype.kind not in "iu":
            strange = table.frame[row][(table.frame[row] % 1 != 0) | (table.frame[row].abs() >= 2**53)].iloc[0]
            raise InputError(f"column {row!r} of {export.name} must number the rows, got {strange}; is it damaged?")
        _check_samples(table)
        if own is None:
            table, own = _with_truth(table, uses, row), _TRUTHS[0]
        classes = {
            name.removeprefix(_CONFIDENCE): name for name in table.frame.columns if name.startswith(_CONFIDENCE)
        }
        is_labels = bool(classes) or table.frame["prediction"].dtype.kind not in "iuf"
        roles = LineRoles(
            target=own,
            row=row,
            configuration=(run,),
            fold=("fold",),
            repeat="repeat" if table.frame["repeat"].nunique() > 1 else None,
            labels="prediction" if is_labels else None,
            probabilities=classes,
            values=None if is_labels else "prediction",
        )
        return predictions_of_lines(table, roles, self, uses)


def _with_truth(table: Table, uses: ColumnUses, row: str) -> Table:
    """The table with the user's true values, one for each row of the data set, in the column ``correct``."""
    given = needed_truth(uses, f"{table.name} (an old run)")
    given = values_of(given, "the true values", table)
    if (labels := row_labels(given)) is not None:  # row_id counts the rows of the data set
        import pandas as pd

        given = in_order_of(pd.RangeIndex(len(labels)), row, given, "target")
    values = column_of(given, "the true values")
    rows = table.frame[row].to_numpy()
    if rows.min() < 0 or rows.max() >= len(values):
        raise InputError(
            f"row_id goes to {rows.max()} in {table.name}, and there are {len(values)} true values; give those of "
            "all rows of the data set, in its order.",
            argument="target",
        )
    return Table(table.name, table.frame.assign(**{_TRUTHS[0]: np.asarray(values)[rows]}), table.remarks)


def _check_samples(table: Table) -> None:
    """Refuse a learning curve, whose lines repeat every row for each number of training rows."""
    if "sample" in table.frame.columns and table.frame["sample"].nunique() > 1:
        numbers = table.frame["sample"].nunique()
        raise InputError(
            f"{table.name} is of a learning curve with {numbers} numbers of training rows (column 'sample'); keep "
            "the lines of one of them."
        )

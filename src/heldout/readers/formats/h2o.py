"""H2O's ``cross_validation_holdout_predictions()``, with ``cross_validation_fold_assignment()`` beside them.

A line for each row of the training frame, in its order: ``predict``, in a classification the probability of each
class (``p0``, ``p1`` where the classes are numbers), and ``fold_assignment`` where that was bound to them. The
true values are no part of it: they are bound to it too, or given apart. A table is of one model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.readers.columns import quoted, texts_of_classes
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat
from heldout.readers.formats.given import needed_truth, with_uses
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.formats.parts import parts_of, stacked
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import Table, table_of_frame

_PREDICT, _FOLD = "predict", "fold_assignment"
_ENDINGS = (".csv", ".parquet")
_LABELS_NOT_USED = (
    "H2O cuts the labels in 'predict' where F1 is greatest; they are not used. Labels are those of the greater "
    "probability, or cut by a threshold."
)


class H2O(PredictionFormat):
    """A file or frame, or a folder, list or mapping of one for each model."""

    name = "h2o"
    title = "cross-validation holdout predictions of H2O"
    signs = "columns predict and fold_assignment"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return any(_columns(part) >= {_PREDICT, _FOLD} for part in parts_of(export, *_ENDINGS).values())

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        uses.check_agree(self.title)
        tables = {model: _frame(part) for model, part in parts_of(export, *_ENDINGS).items()}
        needed_truth(uses, f"{export.name}, as H2O writes it,")
        frames, given = with_uses(tables, uses)
        table, model = stacked(frames, export.name)
        frame = table.frame
        fold = given.get("fold", _FOLD if _FOLD in frame.columns else None)
        classes = [name for name in frame.columns if name not in {_PREDICT, _FOLD, model, *given.values()}]
        _check_numbers(table, classes)
        _check_held_out(table, classes)
        probabilities = _classes_of(classes, texts_of_classes(frame[given["target"]]))
        binary = len(probabilities) == 2
        roles = LineRoles(
            target=given["target"],
            row=given["row"],
            configuration=(model,),
            fold=(fold,) if fold else (),
            labels=_PREDICT if probabilities and not binary else None,
            probabilities=probabilities,
            values=None if probabilities else _PREDICT,
            group=given.get("group"),
            weight=given.get("weight"),
        )
        return predictions_of_lines(table, roles, self, uses, remarks=[_LABELS_NOT_USED] * binary)


def _columns(part: Export) -> frozenset[str]:
    value = part.value
    return frozenset(map(str, value.columns)) if hasattr(value, "as_data_frame") else part.columns


def _frame(part: Export) -> Any:
    """The table of a file, or of a frame of H2O or pandas."""
    if hasattr(part.value, "as_data_frame"):
        return table_of_frame(part.value.as_data_frame(), part.name).frame
    table = part.table_with(_PREDICT)
    return table.frame if table.labels is None else table.frame.set_axis(table.labels.set_names(None))


def _classes_of(columns: Iterable[str], texts: Iterable[str]) -> Mapping[str, str]:
    """The column of each class, by the class: H2O writes ``p0`` for a class that is a number."""
    names = {name: name for name in columns}
    if {*texts} <= {*names} or not all(f"p{text}" in names for text in texts):
        return names
    return {name.removeprefix("p"): name for name in names}


def _check_numbers(table: Table, classes: Iterable[str]) -> None:
    """Refuse a column of text, which is of no class and has no use."""
    text = [name for name in classes if table.frame[name].dtype.kind not in "iuf"]
    if text:
        raise InputError(
            f"{quoted(text)} of {table.name} {'holds' if len(text) == 1 else 'hold'} no probabilities of a class; "
            "name the true values with `target=`, and leave out what has no use with `exclude=`."
        )


def _check_held_out(table: Table, classes: list[str]) -> None:
    """Refuse one of ``cross_validation_predictions()``, which is zero where a row was not held out."""
    columns = classes or [_PREDICT]
    zero = (table.frame[columns] == 0).all(axis=1).to_numpy()
    if zero.mean() > (0 if classes else 0.5):
        raise InputError(
            f"{', '.join(map(repr, columns))} of {table.name} {'is' if len(columns) == 1 else 'are'} 0 in "
            f"{int(zero.sum())} of {len(zero)} lines (the first in line {int(np.argmax(zero)) + 1}), as in "
            "cross_validation_predictions() for rows that were not held out; export "
            "cross_validation_holdout_predictions()."
        )

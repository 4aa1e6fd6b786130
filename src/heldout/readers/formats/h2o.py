"""H2O's ``cross_validation_holdout_predictions()``, with ``cross_validation_fold_assignment()`` beside them.

A line for each row of the training frame, in its order: ``predict``, in a classification the probability of each
class (``p0``, ``p1`` where the classes are numbers), and ``fold_assignment`` where that was bound to them. The
true values are no part of it: they are bound to it too, or given apart. A table is of one model.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from heldout.errors import InputError
from heldout.readers.columns import quoted, texts_of_classes
from heldout.readers.formats.tool import Export, Tool
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table

_PREDICT, _FOLD = "predict", "fold_assignment"
_LABELS_NOT_USED = (
    "H2O cuts the labels in 'predict' where F1 is greatest; they are not used. Labels are those of the greater "
    "probability, or cut by a threshold."
)


class H2O(Tool):
    """A file or frame, or a folder, list or mapping of one for each model."""

    name = "h2o"
    title = "cross-validation holdout predictions of H2O"
    signs = "columns predict and fold_assignment"
    needs = (_PREDICT,)
    marks = (_FOLD,)
    endings = (".csv", ".parquet")

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        frame = table.frame
        fold = uses.fold or (_FOLD if _FOLD in frame else None)
        classes = uses.others(table, _PREDICT, _FOLD)
        text = [name for name in classes or [_PREDICT] if frame[name].dtype.kind not in "iuf"]
        if text:
            what = "no probabilities of a class" if classes else "labels, without probabilities of each class"
            raise InputError(
                f"column {text[0]!r} of {table.name} holds {what}; name the true values with `target=`, "
                "and leave out with `exclude=` what has no use, but not the columns of classes.",
                argument="exclude",
            )
        _check_held_out(table, classes)
        probabilities = _classes_of(classes, texts_of_classes(frame[uses.target]))
        binary = len(probabilities) == 2
        return uses.with_roles(
            fold=(fold,) if fold else (),
            labels=_PREDICT if probabilities and not binary else None,
            probabilities=probabilities,
            values=None if probabilities else _PREDICT,
            remarks=[_LABELS_NOT_USED] * binary,
        )


def _classes_of(columns: Iterable[str], texts: Iterable[str]) -> Mapping[str, str]:
    """The column of each class, by the class: H2O writes ``p0`` for a class that is a number."""
    names = {name: name for name in columns}
    if {*texts} <= {*names} or not all(f"p{text}" in names for text in texts):
        return names
    return {name.removeprefix("p"): name for name in names}


def _check_held_out(table: Table, classes: list[str]) -> None:
    """Refuse one of ``cross_validation_predictions()``, which is zero where a row was not held out."""
    columns = classes or [_PREDICT]
    zero = (table.frame[columns] == 0).all(axis=1).to_numpy()
    if zero.mean() > (0 if classes else 0.5):
        raise InputError(
            f"{quoted(columns)} of {table.name} {'is' if len(columns) == 1 else 'are'} 0 in {int(zero.sum())} of "
            f"{len(zero)} lines (the first in line {int(np.argmax(zero)) + 1}), as in "
            "cross_validation_predictions() for rows that were not held out; export "
            "cross_validation_holdout_predictions()."
        )

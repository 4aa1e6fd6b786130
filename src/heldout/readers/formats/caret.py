"""``fit$pred`` of caret: held-out predictions that ``trainControl(savePredictions = "all")`` keeps.

One line for each row, resample and configuration: ``pred``, ``obs``, with ``classProbs = TRUE`` a column for each
class, ``weights`` if there were any, ``rowIndex`` from 1, a column for each tuning parameter, and ``Resample``
(``Fold1``, ``Fold1.Rep2``, ``Resample01``), which leave-one-out lacks.
"""

from __future__ import annotations

from dataclasses import replace

from heldout.readers.columns import holds_labels, place_of_class
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat, without_row_names
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.known_classes import class_values
from heldout.readers.lines import with_repeats_of_names
from heldout.readers.prediction_table import PredictionTable

KEYS = ("pred", "obs", "rowIndex")
_WEIGHTS = "weights"
_NOTHING_TUNED = "parameter"
"""The only column of settings of a model that has none."""
_KEEPS_ALL = 'trainControl(savePredictions = "all") keeps all of them.'


class Caret(PredictionFormat):
    name = "caret"
    title = "fit$pred of caret"
    signs = "columns pred, obs and rowIndex"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return export.columns_without(uses.exclude) >= {*KEYS}

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        uses.check_names(self.title)
        table = without_row_names(export.table_with(*KEYS, exclude=uses.exclude))
        frame = table.frame
        resample = "Resample" if "Resample" in frame else None
        uses.check_agree(self.title, ["configuration"], target="obs", row="rowIndex", fold=resample)
        is_labels = holds_labels(frame["obs"], frame["pred"])
        own = {*KEYS, "Resample", uses.weight, uses.group}
        classes = class_values(frame["obs"], frame["pred"]) if is_labels else []
        others = [name for name in frame.columns if name not in own]
        probabilities = {name: name for name in others if place_of_class(name, classes) is not None}
        has_weights = _WEIGHTS in frame and _WEIGHTS not in probabilities
        table, repeat = (table, None) if resample is None else with_repeats_of_names(table, resample)
        if has_weights and uses.weight is None:
            remark = (
                f"The column {_WEIGHTS!r} is not used, as in caret's own scores; to use it: `weight={_WEIGHTS!r}`."
            )
            table = replace(table, remarks=(*table.remarks, remark))
        settings = uses.configuration_in(
            table, *(name for name in others if name not in {*probabilities, _WEIGHTS})
        )
        roles = LineRoles(
            target="obs",
            row="rowIndex",
            configuration=settings,
            fold=(resample,) if resample else (),
            repeat=repeat,
            labels="pred" if is_labels else None,
            probabilities=probabilities,
            values=None if is_labels else "pred",
            is_chosen=settings != (_NOTHING_TUNED,),
        )
        return predictions_of_lines(table, roles, self, uses, slices=r"Training\d+", remedy=_KEEPS_ALL)

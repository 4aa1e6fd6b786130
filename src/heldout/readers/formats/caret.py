"""``fit$pred`` of caret: held-out predictions that ``trainControl(savePredictions = "all")`` keeps.

One line for each row, resample and configuration: ``pred``, ``obs``, with ``classProbs = TRUE`` a column for each
class, ``weights`` if there were any, ``rowIndex`` from 1, a column for each tuning parameter, and ``Resample``
(``Fold1``, ``Fold1.Rep2``, ``Resample01``), which leave-one-out lacks.
"""

from typing import ClassVar

from heldout.readers.columns import class_values, place_of_class
from heldout.readers.formats.tool import Export, Tool, of_kind
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table

_NOTHING_TUNED = ("parameter",)
"""The only column of settings of a model that has none."""
_WEIGHTS = "The column 'weights' is not used, as in caret's own scores; to use it: `weight='weights'`."


class Caret(Tool):
    name = "caret"
    title = "fit$pred of caret"
    signs = "columns pred, obs and rowIndex"
    needs = ("pred", "obs", "rowIndex")
    columns: ClassVar = {"target": ("obs",), "row": ("rowIndex",), "fold": ("Resample",)}
    free = ("configuration",)
    slices = r"Training\d+"
    remedy = 'trainControl(savePredictions = "all") keeps all of them.'

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        frame = table.frame
        kind = of_kind(table, "pred", "obs")
        classes = class_values(frame["obs"], frame["pred"]) if "labels" in kind else []
        others = uses.others(table, *self.needs)
        probabilities = {name: name for name in others if place_of_class(name, classes) is not None}
        settings = [name for name in others if name not in {*probabilities, "weights"}]
        configuration = tuple(dict.fromkeys((*uses.configuration, *settings)))
        return uses.with_roles(
            configuration=configuration,
            probabilities=probabilities,
            is_chosen=configuration != _NOTHING_TUNED,
            remarks=(_WEIGHTS,) * ("weights" in others and "weights" not in probabilities),
            **kind,
        )

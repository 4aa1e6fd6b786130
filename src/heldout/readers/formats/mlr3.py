"""Prediction and benchmark tables of mlr3.

``as.data.table(prediction)`` has a line for each row: ``row_ids``, ``truth``, ``response``, and ``prob.<class>``
where probabilities were predicted. A benchmark or tuning adds ``iteration`` of the resampling, ``learner_id``,
``task_id``, ``resampling_id``, and ``uhash`` or ``nr`` of the resample result where configurations share a
``learner_id``.
"""

from typing import ClassVar

from heldout.readers.formats.tool import Export, Tool, check_alone, of_kind, with_prefix
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table


class Mlr3(Tool):
    name = "mlr3"
    title = "predictions of mlr3"
    signs = "columns row_ids, truth and response"
    needs = ("row_ids", "truth", "response")
    columns: ClassVar = {"target": ("truth",), "row": ("row_ids",), "fold": ("iteration",)}
    free = ("configuration", "repeat")
    configuration = "the learner"

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        frame = table.frame
        check_alone(table, "task_id", "resampling_id")
        own = [name for name in ("learner_id", "nr", "uhash") if name in frame]
        configuration = tuple(dict.fromkeys((*uses.configuration, *own)))
        probabilities = with_prefix(frame, "prob.")
        return uses.with_roles(
            configuration=configuration,
            probabilities=probabilities,
            settings=tuple(uses.others(table, *self.needs, *configuration, *probabilities.values())),
            **of_kind(table, "response", "truth", with_classes=bool(probabilities)),
        )

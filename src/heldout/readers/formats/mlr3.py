"""Prediction and benchmark tables of mlr3.

``as.data.table(prediction)`` has a line for each row: ``row_ids``, ``truth``, ``response``, and ``prob.<class>``
where probabilities were predicted. A benchmark or tuning adds ``iteration`` of the resampling, ``learner_id``,
``task_id``, ``resampling_id``, and ``uhash`` or ``nr`` of the resample result where configurations share a
``learner_id``.
"""

from __future__ import annotations

from collections.abc import Sequence

from heldout.errors import InputError
from heldout.readers.columns import holds_labels, is_setting, quoted
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat, without_row_names
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import Table

KEYS = ("row_ids", "truth", "response")
_OF_CLASS = "prob."
_CONFIGURATION = ("learner_id", "nr", "uhash")
_ALONE = ("task_id", "resampling_id")
"""Columns that must hold one value: rows of two tasks, or resamplings, are not the same."""


class Mlr3(PredictionFormat):
    name = "mlr3"
    title = "predictions of mlr3"
    signs = "columns row_ids, truth and response"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return export.columns_without(uses.exclude) >= {*KEYS}

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        uses.check_names(self.title)
        table = without_row_names(export.table_with(*KEYS, exclude=uses.exclude))
        frame = table.frame
        names = list(frame.columns)
        fold = "iteration" if "iteration" in names else None
        uses.check_agree(self.title, ["configuration", "repeat"], target="truth", row="row_ids", fold=fold)
        _check_alone(table, names)
        configuration = uses.configuration_in(table, *_CONFIGURATION)
        probabilities = {name.removeprefix(_OF_CLASS): name for name in names if name.startswith(_OF_CLASS)}
        has_labels = bool(probabilities) or holds_labels(frame["truth"], frame["response"])
        known = {*KEYS, *configuration, *_ALONE, *probabilities.values(), "iteration", uses.group, uses.weight}
        if uses.repeat is not None:
            known.add(uses.repeat)
        others = [name for name in names if name not in known]
        settings = [name for name in others if configuration and is_setting(frame, name, configuration)]
        roles = LineRoles(
            target="truth",
            row="row_ids",
            configuration=configuration,
            fold=() if fold is None else (fold,),
            repeat=uses.repeat,
            labels="response" if has_labels else None,
            probabilities=probabilities,
            values=None if has_labels else "response",
            settings=tuple(settings),
        )
        return predictions_of_lines(table, roles, self, uses, name="the learner")


def _check_alone(table: Table, names: Sequence[str]) -> None:
    """Refuse rows of several tasks or resamplings."""
    for name in _ALONE:
        values = table.frame[name].unique() if name in names else ()
        if len(values) > 1:
            raise InputError(
                f"{table.name} has {len(values)} values of {name!r} ({quoted(values)}), whose rows are not the "
                "same; give the lines of one."
            )

"""The ``predictions.parquet`` of ``heldout tune``, whose metadata says what its columns are."""

from __future__ import annotations

from dataclasses import replace

from heldout.errors import InputError
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat
from heldout.readers.own_table import check_repeats_used, predictions_from_own_table
from heldout.readers.prediction_table import PredictionTable, Source


class OwnFile(PredictionFormat):
    """Where the user names other columns than its own, the file is a plain table."""

    name = "heldout"
    title = "the predictions of heldout tune"
    signs = "the metadata 'heldout' of a Parquet file"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        table = export.table
        if table is None or table.roles is None:
            return False
        own = {name: name for name in ("fold", "group", "weight", "row", "repeat")} | {"target": table.roles.target}
        agreed = all(getattr(uses, use) in (None, column) for use, column in own.items()) and not uses.predictions
        if agreed and uses.event is None and {*uses.exclude} <= {"row", "repeat"}:
            return True
        check_repeats_used(table, uses.repeat)
        return False

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        table = export.table_with()
        if table.roles is None:
            raise InputError(
                f"{export.name} was not written by heldout tune: it lacks {self.signs}; leave "
                f"`format={self.name!r}` out.",
                argument="format",
            )
        return replace(predictions_from_own_table(table), source=Source(table.name, self.name, self.title))

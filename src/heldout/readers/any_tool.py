"""``ho.read_predictions``: held-out predictions from a file, table or object of any tool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout.readers.formats import format_of
from heldout.readers.formats.base import ColumnUses, Export
from heldout.readers.prediction_table import PredictionTable


def read_predictions(
    source: Any,
    format: str = "auto",
    *,
    target: Any = None,
    event: str | None = None,
    fold: Any = None,
    repeat: str | None = None,
    row: str | None = None,
    configuration: str | Sequence[str] = (),
    predictions: str | Sequence[str] = (),
    group: Any = None,
    weight: Any = None,
    exclude: str | Sequence[str] = (),
) -> PredictionTable:
    """Read held-out predictions that another tool made."""
    uses = ColumnUses(
        target=target,
        event=event,
        fold=fold,
        repeat=repeat,
        row=row,
        group=group,
        weight=weight,
        configuration=_listed(configuration),
        predictions=_listed(predictions),
        exclude=_listed(exclude),
    )
    export = Export.of(source)
    return format_of(export, uses, format).read(export, uses)


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)

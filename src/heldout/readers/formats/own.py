"""The ``predictions.parquet`` of ``heldout tune``, whose metadata says what its columns are."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from heldout._types import Array, Codes
from heldout.data.task import checked_groups, checked_weights, truth_of
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions, SearchQuestion
from heldout.readers.columns import check_complete, check_numbers
from heldout.readers.formats.base import ColumnUses, Export
from heldout.readers.formats.tool import Tool
from heldout.readers.known_classes import KnownClasses
from heldout.readers.long_table import LineRoles, pivot_of
from heldout.readers.own_table import OWN_COLUMNS, READERS, SAME, SETTINGS, ColumnRoles
from heldout.readers.prediction_arrays import check_probabilities
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.tables import Table

_AS_CSV = "use the file as heldout tune wrote it, or save it as CSV and name its columns"
_CUT = f"the file was cut or changed: {_AS_CSV}"


class OwnFile(Tool):
    """Where the user names other columns than its own, the file is a plain table."""

    name = "heldout"
    title = "the predictions of heldout tune"
    signs = "the metadata 'heldout' of a Parquet file"
    free = ("event", "repeat", "configuration", "predictions")

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        table = export.table
        if table is None or table.roles is None:
            return False
        own = {name: name for name in OWN_COLUMNS} | {"target": table.roles.target}
        agreed = all(getattr(uses, use) in (None, column) for use, column in own.items()) and not uses.predictions
        if agreed and uses.event is None and {*uses.exclude} <= {"row", "repeat"}:
            return True
        if uses.repeat != "repeat" and "repeat" in table.frame and table.frame["repeat"].nunique() > 1:
            raise InputError(
                f"{table.name} holds several repeats of the same rows, which would count as different rows; add "
                "--row row --repeat repeat, or name no column at all, as the file describes its own columns."
            )
        return False

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        table = export.table_with()
        if table.roles is None:
            raise InputError(
                f"{export.name} was not written by heldout tune: it lacks {self.signs}; leave "
                f"`format={self.name!r}` out.",
                argument="format",
            )
        named = ("row", "repeat", table.roles.target, table.roles.event, *chain(*table.roles.columns))
        absent = [name for name in named if name is not None and name not in table.frame]
        if absent:
            raise InputError(
                f"{table.name} has no column {absent[0]!r}, which its metadata 'heldout' names; {_CUT}."
            )
        own: dict[str, Any] = {name: name for name in OWN_COLUMNS if name in table.frame}
        return {"": table}, ColumnUses(target=table.roles.target, event=table.roles.event, **own)

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> LineRoles:
        return LineRoles(whole=True, when_damaged=_CUT)

    def predictions(self, table: Table, roles: LineRoles, uses: ColumnUses) -> PredictionTable:
        own = table.roles
        assert own is not None, "tables() refuses tables without"
        pivot = pivot_of(table, roles, self.configuration)
        for noun, size, written in zip(
            ("rows", "repeats"), pivot.lines.shape[:2], (own.rows, own.repeats), strict=True
        ):
            if written not in (None, size):
                raise InputError(
                    f"{table.name} has {size} {noun}, and {written} in its metadata 'heldout'; {_CUT}."
                )
        classes = None if own.classes is None else np.asarray(own.classes)
        lines = pivot.lines[..., 0]
        array = np.ascontiguousarray(_predictions_of(table.frame, own, classes)[lines].swapaxes(1, 2))
        if own.response in (Response.PROBABILITIES, Response.SURVIVAL):
            check_probabilities(array, own.names, of_classes=own.response is Response.PROBABILITIES)
        truth = pivot.truth
        if classes is not None:
            truth = classes[KnownClasses(classes).codes(table.frame[own.target])[lines[:, 0]]]
        elif own.event is None:
            check_numbers(table.frame[own.target], "the target")
        groups = checked_groups(pivot.groups, len(truth))
        weights = checked_weights(pivot.weights, len(truth))
        folds = None if pivot.folds is None else _checked_folds(table.frame["fold"])[lines]
        predictions = HeldOutPredictions(
            responses={own.response: array},
            folds=folds,
            classes=classes,
            failed=own.failed,
            dropped=own.dropped,
            times=own.times,
            question=replace(_question(own, truth), groups=groups, sample_weight=weights),
            **{name: getattr(own, name) for name in SAME},
        )
        source = Source(table.name, self.name, self.title)
        return PredictionTable(truth, predictions, folds, groups, weights, source, remarks=table.remarks)


def _question(roles: ColumnRoles, target: Array) -> SearchQuestion:
    """What the search asked that wrote a table; without its groups and weights."""
    settings = roles.settings
    positive = None if roles.classes is None or roles.positive is None else roles.classes[roles.positive]
    truth = truth_of(target, roles.kind, classes=roles.classes, pos_label=positive)
    try:
        metric = check_fits(metric_named(roles.metric), truth)
    except InputError:  # one of the user's own, or of another version
        metric = None
    texts = {
        name: reader(text) for name, reader in READERS.items() if (text := getattr(settings, name)) is not None
    }
    rule = texts.get("selection")
    return SearchQuestion(
        metric=metric,
        method=texts.get("method"),
        selection=rule,
        rule=rule,
        entropy=settings.entropy,
        block_length=texts.get("block_length"),
        n_rows_of_bootstrap=settings.n_rows_of_bootstrap,
        truth=truth,
        names=roles.names,
        winner=None if rule is None else settings.winner,
        flags={flag: settings.flags[flag] for flag in Flag if flag in settings.flags},
        beyond=settings.beyond,
        **{name: getattr(settings, name) for name in SETTINGS},
    )


def _checked_folds(column: Any) -> Codes:
    """The number of each line's fold, -1 where its row was not held out."""
    check_complete(column, "the folds")
    check_numbers(column, "the folds")
    odd = column[(column < -1) | (column >= len(column)) | (column % 1 != 0)]
    if len(odd):
        raise InputError(f"column 'fold' must number the folds from -1, got {odd.iloc[0]}; {_AS_CSV}.")
    return column.to_numpy().astype(np.int32)


def _predictions_of(frame: Any, roles: ColumnRoles, classes: Array | None) -> Array:
    """(lines, C) or (lines, C, n_classes or n_times), labels as codes."""
    heads = [*chain(*roles.columns)]
    if roles.response is Response.LABELS:
        assert classes is not None, "labels are of classes"
        return np.stack([KnownClasses(classes).codes(frame[head]) for head in heads], axis=1)
    for head in heads:
        if frame[head].notna().any():  # a failed configuration has missing values only, of no type
            check_numbers(frame[head], "the predictions")
    values = frame[heads].to_numpy(dtype=np.float64)
    return values.reshape(len(values), len(roles.columns), -1) if roles.several else values

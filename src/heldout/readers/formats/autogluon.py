"""A table of held-out predictions for each model, as ``predict_proba_multi()`` of AutoGluon gives it.

A mapping from models to tables with a column for each class (``predict_multi()``: to predicted numbers or labels),
a folder of such tables with the true values beside them, one table (``predict_proba_oof(model)``), or the
predictor.
AutoGluon writes the mean over the bag sets of a model, and does not say in which fold a row was held out. The
weights of its ensembles were fitted on these rows, so those are left out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import quoted
from heldout.readers.formats.tool import INDEX, Export, Tool, is_frame, of_kind, parts_of
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table, table_of_frame

_LEADERBOARD = {"model", "score_val", "stack_level"}
_ENSEMBLE = "WeightedEnsemble"
_STOPPED_EARLY = ("LightGBM", "CatBoost", "XGBoost", "NeuralNet")
"""How the names of models begin that AutoGluon stops by their score on the fold that they predict."""
_LEFT_OUT = "Left out: {names}, because AutoGluon fitted the weights of its ensembles on these rows."
_ROW = "index of the table"


class AutoGluon(Tool):
    """A mapping, folder or list of a table for each model, or one table."""

    name = "autogluon"
    title = "a table of predictions for each model, as predict_proba_multi() of AutoGluon gives"
    signs = "a mapping or folder of tables that are of no other tool"
    endings = (".csv", ".parquet")
    by_label = True

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        if _is_predictor(export.value) or export.columns >= _LEADERBOARD:
            return True
        value = export.value
        if not isinstance(value, Mapping) or not value or not all(map(_is_table, value.values())):
            return False
        return all(map(is_frame, value.values())) or holds_ensemble(value)

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        if export.columns >= _LEADERBOARD:
            raise InputError(
                f"{export.name} is a leaderboard of AutoGluon, which has one score for each model and no "
                "predictions; give predictor.predict_proba_multi()."
            )
        tables = _labelled(export, self.endings)
        ensembles = [model for model in tables if model.startswith(_ENSEMBLE)]
        if tables and len(tables) == len(ensembles):
            raise InputError(
                f"{export.name} holds only {quoted(ensembles)}, and AutoGluon fitted the weights of its ensembles "
                "on these rows, so these are no held-out predictions; give those of its models."
            )
        left_out = (_LEFT_OUT.format(names=quoted(ensembles)),) * bool(ensembles)
        kept = {model: replace(tables[model], remarks=left_out) for model in tables if model not in ensembles}
        row = next((name for name in (INDEX, _ROW) if all(name in table.frame for table in kept.values())), None)
        return kept, replace(uses, row=uses.row or row)

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        (model,) = uses.configuration
        rest = uses.others(table)
        stopped = [name for name in table.frame[model].unique() if name.startswith(_STOPPED_EARLY)]
        flags = Flag.STOPPED_ON_PREDICTED_ROWS.of(tool="AutoGluon", which=quoted(stopped, 3)) if stopped else {}
        return uses.with_roles(
            flags=flags,
            **(
                {"probabilities": {name: name for name in rest}}
                if len(rest) != 1
                else of_kind(table, rest[0], uses.target, two_are_classes=True)
            ),
        )


def _labelled(export: Export, endings: tuple[str, ...]) -> dict[str, Table]:
    """The table of each model with the labels of its rows, in a column too where there are such labels."""
    import pandas as pd

    value = export.value
    if _is_predictor(value):
        of_classes = value.problem_type in ("binary", "multiclass")
        value = value.predict_proba_multi() if of_classes else value.predict_multi()
        return {str(model): _of_frame(table, model) for model, table in value.items()}
    parts = parts_of(export, *endings)
    if export.path is None and not isinstance(value, list | tuple):
        return {
            model: _of_frame(part.value, model) if part.path is None else part.table_with()
            for model, part in parts.items()
        }
    tables = {model: part.table_with() for model, part in parts.items()}
    if not all(INDEX in table.frame for table in tables.values()):
        return tables
    return {model: replace(table, labels=pd.Index(table.frame[INDEX])) for model, table in tables.items()}


def holds_ensemble(tables: Mapping[Any, Any]) -> bool:
    """Whether there is an ensemble of AutoGluon: anyone makes mappings of Series, and predict_multi() too."""
    return any(str(name).startswith(_ENSEMBLE) for name in tables)


def _is_predictor(value: Any) -> bool:
    return hasattr(value, "predict_proba_multi") and hasattr(value, "problem_type")


def _is_table(value: Any) -> bool:
    """Whether a value is a table of one model: a frame of classes, or a Series."""
    if hasattr(value, "as_data_frame"):  # of H2O
        return False
    if is_frame(value):
        return "predict" not in map(str, value.columns)
    return hasattr(value, "to_frame") and hasattr(value, "index")


def _of_frame(table: Any, model: Any) -> Table:
    """A table in memory with its index in a column too."""
    if not is_frame(table) and not hasattr(table, "to_frame"):
        raise InputError(
            f"the predictions of {model} must be a data frame or Series, got {type(table).__name__}; for arrays, "
            "leave the format out.",
            argument="format",
        )
    frame = table.to_frame("predicted") if getattr(table, "ndim", 2) == 1 else table
    frame = (frame if hasattr(frame, "set_axis") else frame.to_pandas()).rename_axis(None)
    read = table_of_frame(frame, f"the table of {model}")
    return replace(read, frame=read.frame.assign(**{_ROW: frame.index}))

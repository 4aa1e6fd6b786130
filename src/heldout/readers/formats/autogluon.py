"""A table of held-out predictions for each model, as ``predict_proba_multi()`` of AutoGluon gives it.

A mapping from models to tables with a column for each class (``predict_multi()``: to predicted numbers or labels),
a folder of such tables with the true values beside them, one table (``predict_proba_oof(model)``), or the
predictor.
AutoGluon writes the mean over the bag sets of a model, and does not say in which fold a row was held out. The
weights of its ensembles were fitted on these rows, so those are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heldout.data.task import row_labels
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import holds_labels, quoted
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat, is_frame
from heldout.readers.formats.given import INDEX, needed_truth, with_uses
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.formats.parts import parts_of, stacked
from heldout.readers.lines import numbered_rows
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import table_of_frame

TABLE_ENDINGS = (".csv", ".parquet")
_LEADERBOARD = {"model", "score_val", "stack_level"}
_ENSEMBLE = "WeightedEnsemble"
_STOPPED_EARLY = ("LightGBM", "CatBoost", "XGBoost", "NeuralNet")
"""How the names of models begin that AutoGluon stops by their score on the fold that they predict."""
_LEFT_OUT = "Left out: {names}, because AutoGluon fitted the weights of its ensembles on these rows."
_ROW, _PREDICTED = "index of the table", "predicted"


class AutoGluon(PredictionFormat):
    """A mapping, folder or list of a table for each model, or one table."""

    name = "autogluon"
    title = "a table of predictions for each model, as predict_proba_multi() of AutoGluon gives"
    signs = "a mapping or folder of tables that are of no other tool"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        if _is_predictor(export.value) or export.columns >= _LEADERBOARD:
            return True
        value = export.value
        if not isinstance(value, Mapping) or not value or not all(map(_is_table, value.values())):
            return False
        return all(map(is_frame, value.values())) or holds_ensemble(value)

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        if export.columns >= _LEADERBOARD:
            raise InputError(
                f"{export.name} is a leaderboard of AutoGluon, which has one score for each model and no "
                "predictions; give predictor.predict_proba_multi()."
            )
        uses.check_agree(self.title)
        needed_truth(uses, f"{export.name}, as AutoGluon gives it,")
        frames, row = _frames(export)
        ensembles = [model for model in frames if model.startswith(_ENSEMBLE)]
        if len(frames) == len(ensembles):
            raise InputError(
                f"{export.name} holds only {quoted(ensembles)}, and AutoGluon fitted the weights of its ensembles "
                "on these rows, so these are no held-out predictions; give those of its models."
            )
        for model in ensembles:
            del frames[model]
        frames, given = with_uses(
            frames, uses if row is None else replace(uses, row=uses.row or row), by_label=True
        )
        table, model = stacked(frames, export.name)
        frame = table.frame
        rest = [name for name in frame.columns if name not in {model, row, *given.values()}]
        labels, values = _alone(frame, rest, given["target"], export.name)
        roles = LineRoles(
            target=given["target"],
            row=given["row"],
            configuration=(model,),
            fold=(given["fold"],) if "fold" in given else (),
            labels=labels,
            probabilities={} if labels or values else {name: name for name in rest},
            values=values,
            group=given.get("group"),
            weight=given.get("weight"),
            n_rows=_n_rows(next(iter(frames.values())).index, uses.target),
        )
        flags = {}
        if stopped := [name for name in frames if name.startswith(_STOPPED_EARLY)]:
            flags[Flag.STOPPED_ON_PREDICTED_ROWS] = Flag.STOPPED_ON_PREDICTED_ROWS.filled(
                tool="AutoGluon", which=quoted(stopped, 3)
            )
        left_out = (_LEFT_OUT.format(names=quoted(ensembles)),) if ensembles else ()
        return predictions_of_lines(table, roles, self, uses, flags=flags, remarks=left_out)


def _n_rows(labels: Any, target: Any) -> int:
    """How many rows the data have, by the true values or the numbers in the index."""
    given = row_labels(target)
    return len(given) if given is not None and {*labels} <= {*given} else numbered_rows(labels)


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


def _frames(export: Export) -> tuple[dict[str, Any], str | None]:
    """The table of each model, and the column of names of rows, if there is one."""
    if _is_predictor(export.value):
        predictor = export.value
        labels = predictor.problem_type in ("binary", "multiclass")
        tables = predictor.predict_proba_multi() if labels else predictor.predict_multi()
        return _in_memory(tables)
    parts = parts_of(export, *TABLE_ENDINGS)
    if export.path is None and not isinstance(export.value, list | tuple):
        return _in_memory({model: part.value for model, part in parts.items()})
    frames = {model: part.table_with().frame for model, part in parts.items()}
    if not all(INDEX in frame.columns for frame in frames.values()):
        return frames, None
    return {model: frame.set_axis(frame[INDEX].rename(None)) for model, frame in frames.items()}, INDEX


def _in_memory(tables: Mapping[Any, Any]) -> tuple[dict[str, Any], str | None]:
    frames = {}
    for model, table in tables.items():
        frame = table.to_frame(_PREDICTED) if getattr(table, "ndim", 2) == 1 else table
        frame = (frame if hasattr(frame, "set_axis") else frame.to_pandas()).rename_axis(None)
        if not frame.index.is_unique:
            raise InputError(
                f"the table of {model} has the row label {frame.index[frame.index.duplicated()][0]!r} twice; give "
                "each row an index of its own."
            )
        plain = table_of_frame(frame, f"the table of {model}").frame.set_axis(frame.index)
        frames[str(model)] = plain.assign(**{_ROW: frame.index})
    return frames, _ROW


def _alone(frame: Any, rest: list[str], target: str, name: str) -> tuple[str | None, str | None]:
    """The only column as one of labels, or as one of numbers; neither where there is a column for each class."""
    if len(rest) != 1:
        return None, None
    truth, predicted = frame[target], frame[rest[0]]
    if predicted.dtype.kind not in "iuf" or (truth.dtype.kind in "iuf" and holds_labels(truth, predicted)):
        return rest[0], None
    if truth.dtype.kind not in "iuf" or truth.nunique() == 2:
        raise InputError(
            f"{name} has one column of numbers ({rest[0]!r}), and nothing says of which class of {target!r} they "
            "are; give a column for each class, as predict_proba_multi() does."
        )
    return None, rest[0]

"""``collect_predictions()`` of tidymodels, of tuned models, resampled ones and sets of workflows.

One line for each row, resample and configuration: ``.pred``, or ``.pred_class`` and ``.pred_<level>``; ``.row``
from 1; ``id`` and ``id2`` of the resample; the tuning parameters; the outcome under its own name; and ``.config``
(``Preprocessor1_Model01``, since tune 2.0 ``pre0_mod01_post0``), with ``wflow_id`` in a set of workflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import is_setting, place_of_class, quoted
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat, without_row_names
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import Table

_LABELS, _VALUES, _OF_CLASS, _ROW, _CONFIG = ".pred_class", ".pred", ".pred_", ".row", ".config"
_RESAMPLES = ("id", "id2", "id3")
_WORKFLOW = "wflow_id"
_OF_TUNE = (*_RESAMPLES, _WORKFLOW, _CONFIG, _ROW, ".iter", ".case_weights")
"""Columns that tune adds."""
_OF_WORKFLOWS = ("preproc", "model")
"""Columns that workflowsets adds beside those of tune."""
_OF_TIMES = (".pred_time", ".pred_linear_pred", ".pred_survival")
"""Predictions of a censored regression."""
_NOT_HELD_OUT = "Apparent"
_AVERAGED = "all resamples that held it out, if there were several"
_NOT_AVERAGED = "export collect_predictions(summarize = FALSE)"
_KEEPS_ALL = "collect_predictions() without parameters= gives all of them."


class Tidymodels(PredictionFormat):
    name = "tidymodels"
    title = "collect_predictions() of tidymodels"
    signs = "columns .row, and .pred, .pred_class or .pred_<level>"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        columns = export.columns_without(uses.exclude)
        return _ROW in columns and any(name == _VALUES or name.startswith(_OF_CLASS) for name in columns)

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        uses.check_names(self.title)
        table = _held_out_lines(without_row_names(export.table_with(_ROW, exclude=uses.exclude)))
        names = list(table.frame.columns)
        _refuse_times(table, names)
        resamples = tuple(name for name in _RESAMPLES if name in names and name != uses.target)
        configuration = uses.configuration_in(table, _WORKFLOW, _CONFIG)
        fold = resamples[-1] if resamples else None
        uses.check_agree(self.title, ["configuration", "repeat"], row=_ROW, fold=fold)
        probabilities = {
            name.removeprefix(_OF_CLASS): name for name in names if name.startswith(_OF_CLASS) and name != _LABELS
        }
        taken = {*_OF_TUNE, *configuration, *probabilities.values(), _LABELS, _VALUES, uses.group, uses.weight}
        if _WORKFLOW in names:
            taken |= {*_OF_WORKFLOWS}
        others = [name for name in names if name not in taken]
        labels = _LABELS if _LABELS in names else None
        target = uses.target or _outcome(table, others, labels, probabilities)
        weight = uses.weight or (".case_weights" if ".case_weights" in names else None)
        settings = [name for name in others if name != target and is_setting(table.frame, name, configuration)]
        constant = [name for name in others if name != target and table.frame[name].nunique() == 1]
        roles = LineRoles(
            target=target,
            row=_ROW,
            configuration=configuration,
            fold=resamples,
            repeat=uses.repeat or _repeats(table.frame, resamples),
            labels=labels,
            probabilities=probabilities,
            values=_VALUES if _VALUES in names else None,
            weight=weight,
            settings=tuple(settings),
            is_chosen=bool(constant),
        )
        averaged = Flag.AVERAGED_REPEATS.filled(source=export.name, what=_AVERAGED, remedy=_NOT_AVERAGED)
        flags = {} if resamples else {Flag.AVERAGED_REPEATS: averaged}
        return predictions_of_lines(
            table, roles, self, uses, flags=flags, adaptive=".iter" in names, slices=r"Slice\d+", remedy=_KEEPS_ALL
        )


def _held_out_lines(table: Table) -> Table:
    """The table without the lines of the apparent resample, which predicts its own training rows."""
    if "id" not in table.frame:
        return table
    apparent = table.frame["id"] == _NOT_HELD_OUT
    if not apparent.any():
        return table
    remark = (
        f"Excluded {int(apparent.sum())} lines of the resample {_NOT_HELD_OUT!r}, which predicts its training rows."
    )
    frame = table.frame[~apparent].reset_index(drop=True)
    return replace(table, frame=frame, remarks=(*table.remarks, remark))


def _repeats(frame: Any, resamples: Sequence[str]) -> str | None:
    """The column of the repeats, where the names of the first resamples say that they are such."""
    if len(resamples) < 2 or not frame[resamples[0]].astype(str).str.fullmatch(r"Repeat\d+").all():
        return None
    return resamples[0]


def _refuse_times(table: Table, names: Sequence[str]) -> None:
    of_times = [name for name in _OF_TIMES if name in names]
    if of_times:
        raise InputError(
            f"{table.name} has {quoted(of_times)}, the predictions of a censored regression, which are not read; "
            "give a table with a column of times, one of events, and one of risk scores for each configuration."
        )


def _outcome(table: Table, others: Sequence[str], labels: str | None, classes: Iterable[str]) -> str:
    """The column of true values: the only one with one value in each row that may be what was predicted."""
    frame = table.frame
    rows = frame.groupby(_ROW, sort=False)
    fixed = [name for name in others if frame[name].nunique() > 1 and (rows[name].nunique(dropna=False) == 1).all()]
    predicted = {*classes} if labels is None else {*map(str, frame[labels].dropna().unique().tolist())}
    if predicted:
        fitting = [name for name in fixed if _may_be(frame[name], predicted, labels is None)]
    else:
        fitting = [name for name in fixed if frame[name].dtype.kind in "iuf"]
    if len(fitting) == 1:
        return fitting[0]
    found = f"{quoted(fitting)} may each be the outcome" if fitting else "no column can be the outcome"
    raise InputError(
        f"{table.name} is {Tidymodels.title}, in which {found}; name the column of true values with `target=`.",
        argument="target",
    )


def _may_be(column: Any, predicted: set[str], are_all_classes: bool) -> bool:
    """Whether a column may be the truth: it holds every label that was predicted, or none but the classes."""
    values = column.dropna().unique().tolist()
    known = [text for text in predicted if place_of_class(text, values) is not None]
    return len(known) == len(values if are_all_classes else predicted)

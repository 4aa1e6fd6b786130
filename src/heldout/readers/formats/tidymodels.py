"""``collect_predictions()`` of tidymodels, of tuned models, resampled ones and sets of workflows.

One line for each row, resample and configuration: ``.pred``, or ``.pred_class`` and ``.pred_<level>``; ``.row``
from 1; ``id`` and ``id2`` of the resample; the tuning parameters; the outcome under its own name; and ``.config``
(``Preprocessor1_Model01``, since tune 2.0 ``pre0_mod01_post0``), with ``wflow_id`` in a set of workflows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import place_of_class, quoted
from heldout.readers.formats.tool import Export, Tool, with_prefix
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table

_LABELS, _VALUES, _OF_CLASS, _ROW = ".pred_class", ".pred", ".pred_", ".row"
_RESAMPLES = ("id", "id2", "id3")
_CONFIGURATION = ("wflow_id", ".config")
_OF_TUNE = (*_RESAMPLES, *_CONFIGURATION, _ROW, ".iter", ".case_weights")
"""Columns that tune adds."""
_OF_WORKFLOWS = ("preproc", "model")
"""Columns that workflowsets adds beside those of tune."""
_OF_TIMES = (".pred_time", ".pred_linear_pred", ".pred_survival")
"""Predictions of a censored regression."""
_NOT_HELD_OUT = "Apparent"
_AVERAGED = {
    "what": "all resamples that held it out, if there were several",
    "remedy": "export collect_predictions(summarize = FALSE)",
}


class Tidymodels(Tool):
    name = "tidymodels"
    title = "collect_predictions() of tidymodels"
    signs = "columns .row, and .pred, .pred_class or .pred_<level>"
    needs = (_ROW,)
    columns: ClassVar = {"row": (_ROW,), "fold": _RESAMPLES[::-1]}
    free = ("configuration", "repeat")
    finds_target = True
    slices = r"Slice\d+"
    remedy = "collect_predictions() without parameters= gives all of them."

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        columns = export.columns - {*uses.exclude}
        return _ROW in columns and any(name == _VALUES or name.startswith(_OF_CLASS) for name in columns)

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        tables, uses = super().tables(export, uses)
        return {name: _held_out_lines(table) for name, table in tables.items()}, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        frame = table.frame
        of_times = [name for name in _OF_TIMES if name in frame]
        if of_times:
            raise InputError(
                f"{table.name} has {quoted(of_times)}, the predictions of a censored regression, which are not "
                "read; give a table with a column of times, one of events, and one of risk scores for each "
                "configuration."
            )
        resamples = tuple(name for name in _RESAMPLES if name in frame and name != uses.target)
        of_repeats = len(resamples) > 1 and frame[resamples[0]].astype(str).str.fullmatch(r"Repeat\d+").all()
        own = [name for name in _CONFIGURATION if name in frame]
        configuration = tuple(dict.fromkeys((*uses.configuration, *own)))
        probabilities = {text: name for text, name in with_prefix(frame, _OF_CLASS).items() if name != _LABELS}
        of_workflows = _OF_WORKFLOWS if "wflow_id" in frame else ()
        own = [*_OF_TUNE, *of_workflows, *configuration, *probabilities.values(), _LABELS, _VALUES]
        others = uses.others(table, *own)
        labels = _LABELS if _LABELS in frame else None
        target = uses.target or _outcome(table, others, labels, probabilities)
        others = [name for name in others if name != target]
        return uses.with_roles(
            target=target,
            configuration=configuration,
            fold=resamples,
            repeat=uses.repeat or (resamples[0] if of_repeats else None),
            labels=labels,
            probabilities=probabilities,
            values=_VALUES if _VALUES in frame else None,
            weight=uses.weight or (".case_weights" if ".case_weights" in frame else None),
            settings=tuple(others),
            is_chosen=any(frame[name].nunique() == 1 for name in others),
            adaptive=".iter" in frame,
            flags={} if resamples else Flag.AVERAGED_REPEATS.of(source=table.name, **_AVERAGED),
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

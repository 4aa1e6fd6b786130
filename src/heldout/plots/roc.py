"""The ROC curve of a configuration's predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from heldout.data.task import TaskKind
from heldout.metrics.base import Response
from heldout.plots.curve_lines import (
    UNCORRECTED,
    CurveLine,
    corrected_label,
    probability_axes,
    reference_line,
    repeats_label,
)
from heldout.plots.curves import CurvesDisplay
from heldout.plots.plotted_rows import PlottedRows
from heldout.protocols.validation.estimate import Validation
from heldout.report.diagnostics import diagnose
from heldout.report.validation_curves import class_text


@dataclass(eq=False, repr=False)
class RocCurveDisplay(CurvesDisplay):
    """The ROC curve: sensitivity over false positive rate.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a binary task there
    is a curve for each repeat, of several classes one for each class against the others. The curves of a search are
    uncorrected; if it scored ROC AUC, the legend has the corrected area too.

    Parameters
    ----------
    lines : sequence of CurveLine
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive, or what the curves of several classes have in common.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8])
    >>> display = ho.plots.RocCurveDisplay.from_predictions([0, 0, 1, 1], scores)
    >>> display.lines[0].label
    'held-out, uncorrected: area 0.750'
    """

    _tasks: ClassVar = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    _responses: ClassVar = frozenset({Response.DECISION, Response.PROBABILITIES})
    _read_as: ClassVar = "average_precision"
    _needed: ClassVar = "decisions or probabilities (which 'roc_auc' and 'neg_log_loss' read)"

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        found = diagnose(rows.truth, rows.predictions, rows.configuration, rows.sample_weight)
        curves = () if found is None else found.roc
        lines = []
        mean = float(np.mean([curve.area for curve in curves])) if curves else float("nan")
        several = any(curve.name for curve in curves)
        for curve in curves:
            if several:
                label = f"{class_text(curve.name)}: area {curve.area:.3f}"
            else:
                area = f"mean area of {len(curves)} repeats" if len(curves) > 1 else "area"
                text = f"{UNCORRECTED}: {area} {mean:.3f}{rows.text_of_search('roc_auc')}"
                label = repeats_label(text, curve.repeat)
            lines.append(CurveLine(label, curve.x, curve.y))
        note = rows.note_of_classes(len(lines), "areas") if several else rows.note_of_positive
        return cls(lines, rows.name, note)

    @classmethod
    def _validated(cls, validation: Validation, **settings: Any) -> Self:
        curve = validation.roc_curve(**settings)
        x = tuple(curve.false_positive_rate.tolist())
        band = tuple(curve.low.tolist()), tuple(curve.high.tolist())
        apparent = CurveLine(f"apparent: area {curve.area_apparent:.3f}", x, tuple(curve.apparent.tolist()))
        text = f"{corrected_label(curve.confidence_level)}: area {curve.area_corrected:.3f}"
        corrected = CurveLine(text, x, tuple(curve.corrected.tolist()), *band, is_corrected=True)
        return cls([apparent, corrected], validation.selected_name)

    def _frame(self, ax: Any) -> None:
        reference_line(ax, (0, 1), (0, 1), "guessing")
        probability_axes(ax, "false positive rate (lower is better)", "sensitivity (higher is better)")

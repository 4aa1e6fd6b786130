"""Precision against recall of a configuration's predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.metrics.base import Response
from heldout.plots.curve_lines import UNCORRECTED, CurveLine, probability_axes, reference_line, repeats_label
from heldout.plots.curves import CurvesDisplay
from heldout.plots.plotted_rows import PlottedRows
from heldout.protocols.validation.estimate import Validation
from heldout.report.validation_curves import class_text
from heldout.report.winner_curves import precision_recall_of


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(CurvesDisplay):
    """Precision over recall, and the precision of guessing.

    Made by ``from_search``, ``from_estimate`` or ``from_predictions``. Of a binary task there is a curve for each
    repeat, of several classes one for each class against the others. The curves are uncorrected; if a search scored
    average precision, the legend has the corrected one too.

    Parameters
    ----------
    lines : sequence of CurveLine
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive, or what the curves of several classes have in common.
    prevalence : float or None
        Share of the positive rows, the precision of guessing; None for several classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> scores = np.array([0.1, 0.4, 0.35, 0.8])
    >>> display = ho.plots.PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], scores)
    >>> display.lines[0].label, display.prevalence
    ('held-out, uncorrected: average precision 0.833', 0.5)
    """

    prevalence: float | None = None
    lines_: list[Any] = field(default_factory=list, init=False)

    _tasks: ClassVar = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    _responses: ClassVar = frozenset({Response.DECISION, Response.PROBABILITIES})
    _read_as: ClassVar = "average_precision"
    _needed: ClassVar = "decisions or probabilities (which 'roc_auc' and 'neg_log_loss' read)"

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        curves = precision_recall_of(rows.truth, rows.predictions, rows.configuration, rows.sample_weight)
        lines = []
        mean = float(np.mean([curve.average_precision for curve in curves])) if curves else float("nan")
        several = any(curve.name for curve in curves)
        for curve in curves:
            if several:
                label = f"{class_text(curve.name)}: average precision {curve.average_precision:.3f}"
            else:
                what = (
                    f"mean average precision of {len(curves)} repeats" if len(curves) > 1 else "average precision"
                )
                text = f"{UNCORRECTED}: {what} {mean:.3f}{rows.text_of_search('average_precision')}"
                label = repeats_label(text, curve.repeat)
            lines.append(CurveLine(label, curve.recall, curve.precision))
        note = rows.note_of_classes(len(lines), "average precisions") if several else rows.note_of_positive
        return cls(lines, rows.name, note, prevalence=curves[0].prevalence if curves and not several else None)

    @classmethod
    def from_validation(cls, validation: Validation, **settings: Any) -> Self:
        """Not offered: a validation corrects ROC, calibration and decision curves.

        Raises
        ------
        InputError
            Always, with what to draw in its place.
        """
        raise InputError(
            "a validation does not correct precision against recall for optimism; draw ho.plots.RocCurveDisplay, "
            "or average_precision in ho.plots.CorrectedScoreDisplay."
        )

    def _frame(self, ax: Any) -> None:
        for line in self.lines_:
            line.set_drawstyle("steps-pre")
        if self.prevalence is not None:
            reference_line(ax, (0, 1), (self.prevalence,) * 2, f"guessing: {self.prevalence:.3f} are positive")
        probability_axes(ax, "recall (higher is better)", "precision (higher is better)")

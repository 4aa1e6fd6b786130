"""Calibration of a configuration's predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from heldout.data.task import TaskKind
from heldout.plots.curve_lines import UNCORRECTED, CurveLine, corrected_label, probability_axes, reference_line
from heldout.plots.curves import CurvesDisplay
from heldout.plots.plotted_rows import PlottedRows
from heldout.protocols.validation.estimate import Validation
from heldout.report.diagnostics import diagnose
from heldout.scales import SKY

BARS = 0.12
"""Height of the highest bar of the histogram, of the height of the plot."""


@dataclass(eq=False, repr=False)
class CalibrationDisplay(CurvesDisplay):
    """Observed share over predicted probability, with how often each probability is predicted along the bottom.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a search and of
    predictions these are groups of rows with Wilson's 95 % intervals, uncorrected; of a validation the smoothed
    curve, apparent and corrected for optimism.

    Parameters
    ----------
    lines : sequence of CurveLine
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive.
    histogram : tuple of float
        Rows by prediction, in equal steps of ``ends``; empty without.
    ends : (float, float)
        The range of both axes.
    is_probability : bool
        Whether probabilities are predicted, rather than the values of a regression.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    Of ten rows with .2, two are positive, and of ten with .8 eight.

    >>> import numpy as np, heldout as ho
    >>> y = np.array([1, 1, *[0] * 8, *[1] * 8, 0, 0])
    >>> display = ho.plots.CalibrationDisplay.from_predictions(y, np.repeat([0.2, 0.8], 10))
    >>> np.round(display.lines[0].x, 3).tolist(), np.round(display.lines[0].y, 3).tolist()
    ([0.2, 0.8], [0.2, 0.8])
    """

    histogram: tuple[float, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    is_probability: bool = True
    lines_: list[Any] = field(default_factory=list, init=False)

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        found = diagnose(rows.truth, rows.predictions, rows.configuration, rows.sample_weight)
        if found is None or found.calibration is None:
            return cls([], rows.name)
        groups = found.calibration.groups
        line = CurveLine(
            f"groups of rows with 95 % intervals,\n{UNCORRECTED}",
            tuple(group.predicted for group in groups),
            tuple(group.observed for group in groups),
            tuple(group.low for group in groups),
            tuple(group.high for group in groups),
            as_points=True,
        )
        return cls([line], rows.name, rows.note_of_positive, histogram=found.calibration.histogram)

    @classmethod
    def _validated(cls, validation: Validation, **settings: Any) -> Self:
        curve = validation.calibration_curve(**settings)
        is_probability = validation.replicates.truth.kind is not TaskKind.REGRESSION
        low, high = 0.0, 1.0
        if not is_probability:
            shown = np.concatenate([curve.of_rows, curve.apparent, curve.corrected])
            low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
        x = tuple(curve.predicted.tolist())
        band = tuple(curve.low.tolist()), tuple(curve.high.tolist())
        apparent = CurveLine("apparent", x, tuple(curve.apparent.tolist()))
        text = corrected_label(curve.confidence_level)
        corrected = CurveLine(text, x, tuple(curve.corrected.tolist()), *band, is_corrected=True)
        counts = np.histogram(curve.of_rows, bins=20, range=(low, high))[0]
        name = validation.selected_name + (f", {curve.name}" if curve.name.startswith("event") else "")
        return cls(
            [apparent, corrected], name,
            histogram=tuple(counts.astype(float).tolist()), ends=(low, high), is_probability=is_probability,
        )  # fmt: skip

    def _frame(self, ax: Any) -> None:
        low, high = self.ends
        reference_line(ax, self.ends, self.ends, "perfect")
        if self.is_probability:
            probability_axes(ax, "predicted probability", "observed share")
        else:
            ax.set_xlabel("predicted value")
            ax.set_ylabel("observed value")
        if self.histogram:
            step = (high - low) / len(self.histogram)
            heights = BARS * np.array(self.histogram) / max(self.histogram)
            left = low + step * np.arange(len(self.histogram))
            ax.bar(
                left, heights, width=0.9 * step, align="edge", color=SKY, zorder=0.5,
                transform=ax.get_xaxis_transform(), label="rows by prediction",
            )  # fmt: skip

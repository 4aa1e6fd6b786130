"""ROC, precision-recall, calibration and decision curves of one configuration's predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from heldout._text import number_text
from heldout._types import Floats
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.types import decimals_for
from heldout.kernels.reference_curves import precision_recall_points
from heldout.metrics.base import Response
from heldout.protocols.validation.curves.calibration import calibration_curve
from heldout.protocols.validation.curves.decision import decision_curve
from heldout.protocols.validation.curves.roc import roc_curve
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.validation.replicates import Replicates
from heldout.report.diagnostics import calibration_of, class_curves, net_benefit_of, thinned_roc_points
from heldout.report.displays.base import class_text, plain_text
from heldout.report.displays.curves import (
    UNCORRECTED,
    CurveLine,
    CurvesDisplay,
    PlottedRows,
    curve_lines,
    probability_axes,
    reference_line,
)
from heldout.report.entries import Facts
from heldout.scales import MUTED, SKY


class RankCurvesDisplay(CurvesDisplay):
    """Curves of how rows are ranked, of two classes or of each against the others."""

    _tasks: ClassVar = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    _responses: ClassVar = frozenset({Response.DECISION, Response.PROBABILITIES})
    _read_as: ClassVar = "average_precision"
    _needed: ClassVar = "decisions or probabilities (which 'roc_auc' and 'neg_log_loss' read)"


@dataclass(eq=False, repr=False)
class RocCurveDisplay(RankCurvesDisplay):
    """The ROC curve: sensitivity over false positive rate.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a binary task there
    is a curve for each repeat, of several classes one for each class against the others. The curves of a search are
    uncorrected; if it scored ROC AUC, the legend has the corrected area too.

    Parameters
    ----------
    lines : tuple of CurveLine
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive, or what the curves of several classes have in common.
    caption : str
        What a page says below the curves of a validation.

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

    @classmethod
    def of_points(cls, curves: Sequence[Facts], of_search: str = "") -> Self:
        """The display of these curves; ``of_search``: the search's own numbers."""
        return cls(curve_lines(curves, "area", of_search))

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        curves = class_curves(rows, thinned_roc_points)
        return rows.named(cls.of_points(curves, rows.text_of_search("roc_auc")), "areas")

    @classmethod
    def _corrected_curve(cls, replicates: Replicates, **settings: Any) -> tuple[Any, Floats, tuple[str, str]]:
        curve = roc_curve(replicates, **settings)
        areas = f"apparent: area {curve.area_apparent:.3f}", f": area {curve.area_corrected:.3f}"
        return curve, curve.false_positive_rate, areas

    def _frame(self, ax: Any) -> None:
        reference_line(ax, (0, 1), (0, 1), "guessing")
        probability_axes(ax, "false positive rate (lower is better)", "sensitivity (higher is better)")


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(RankCurvesDisplay):
    """Precision over recall, and the precision of guessing.

    Made by ``from_search``, ``from_estimate`` or ``from_predictions``. Of a binary task there is a curve for each
    repeat, of several classes one for each class against the others. The curves are uncorrected; if a search scored
    average precision, the legend has the corrected one too.

    Parameters
    ----------
    lines : tuple of CurveLine
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive, or what the curves of several classes have in common.
    caption : str
        What a page says below the curves of a validation.
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

    @classmethod
    def of_points(cls, curves: Sequence[Facts], of_search: str = "") -> Self:
        """The display of these curves; ``of_search``: the search's own numbers."""
        share = curves[0].prevalence if curves and not curves[0].name else None
        return cls(curve_lines(curves, "average precision", of_search), prevalence=share)

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        curves = class_curves(rows, precision_recall_points)
        display = cls.of_points(curves, rows.text_of_search("average_precision"))
        return rows.named(display, "average precisions")

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
    lines : tuple of CurveLine
    name : str
        Of the configuration.
    note : str
        Below the title: which class is positive.
    caption : str
        What a page says below the curves of a validation.
    histogram : tuple of float
        Rows by prediction, in equal steps of ``ends``; empty without.
    ends : (float, float)
        The range of both axes.
    is_probability : bool
        Whether probabilities are predicted, rather than the values of a regression.
    groups : tuple of (float, float)
        Of a validation: groups of rows as (predicted, observed), uncorrected.

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
    groups: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of_groups(cls, calibration: Facts) -> Self:
        """The display of these groups of rows."""
        groups = calibration.groups
        line = CurveLine(
            f"groups of rows with 95 % intervals,\n{UNCORRECTED}",
            tuple(group.predicted for group in groups),
            tuple(group.observed for group in groups),
            tuple(group.low for group in groups),
            tuple(group.high for group in groups),
            as_points=True,
        )
        return cls((line,), histogram=calibration.histogram)

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        calibration = calibration_of(rows)
        return cls((), rows.name) if calibration is None else rows.named(cls.of_groups(calibration))

    @classmethod
    def _corrected_curve(cls, replicates: Replicates, **settings: Any) -> tuple[Any, Floats, tuple[str, str]]:
        curve = calibration_curve(replicates, **settings)
        return curve, curve.predicted, ("apparent", "")

    @classmethod
    def _surrounded(cls, lines: tuple[CurveLine, ...], name: str, curve: Any, replicates: Replicates) -> Self:
        is_probability = replicates.truth.kind is not TaskKind.REGRESSION
        groups = tuple((group.predicted, group.observed) for group in curve.groups)
        ends = (0.0, 1.0)
        if not is_probability:
            shown = np.concatenate([curve.of_rows, curve.apparent, curve.corrected, np.ravel(groups)])
            ends = float(np.nanmin(shown)), float(np.nanmax(shown))
        counts = np.histogram(curve.of_rows, bins=20, range=ends)[0]
        return cls(
            lines, name, histogram=tuple(counts.astype(float).tolist()), ends=ends, is_probability=is_probability,
            groups=groups,
        )  # fmt: skip

    @staticmethod
    def _caption(curve: Any) -> str:
        decimals = decimals_for(curve.mean_absolute_error)
        mean, most = (number_text(value, decimals) for value in (curve.mean_absolute_error, curve.quantile_90))
        return (
            f"The distance of predictions from the corrected line is {mean} on average, and less than {most} for "
            "nine in ten."
        )

    def _frame(self, ax: Any) -> None:
        low, high = self.ends
        reference_line(ax, self.ends, self.ends, "perfect")
        if self.groups:
            style = {"color": MUTED, "markersize": 5, "zorder": 1, "label": "groups of rows, uncorrected"}
            ax.plot(*zip(*self.groups, strict=True), "o", **style)
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
                left, heights, width=0.9 * step, align="edge", color=SKY, zorder=0.6,
                transform=ax.get_xaxis_transform(), label="rows by prediction",
            )  # fmt: skip


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(CurvesDisplay):
    """Net benefit over the threshold probability from which one acts, beside acting on all rows and on none.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a search and of
    predictions it is uncorrected, of a validation apparent and corrected for optimism (Vickers and Elkin 2006).

    Parameters
    ----------
    lines : tuple of CurveLine
    name : str
        Of the configuration.
    act_on_all : tuple of float
        Net benefit of acting on every row, at the thresholds of the first line.
    outcome : str
        The class, or event, that one would act on.
    note : str
        A sentence under the title.
    caption : str
        What a page says below the curves of a validation.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib artists

    Examples
    --------
    Acting above .5 reaches both positive rows and one other: (2 - 1) / 4.

    >>> import numpy as np, heldout as ho
    >>> display = ho.plots.DecisionCurveDisplay.from_predictions([0, 0, 1, 1], np.array([0.1, 0.6, 0.7, 0.8]))
    >>> display.lines[0].x[49], display.lines[0].y[49]
    (0.5, 0.25)
    """

    act_on_all: tuple[float, ...] = ()
    outcome: str = ""

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        benefit = net_benefit_of(rows)
        if benefit is None:
            return cls((), rows.name)
        repeats = rows.predictions.n_repeats
        mean = f", mean of {repeats} repeats" if repeats > 1 else ""
        line = CurveLine(f"acting on predictions, {UNCORRECTED}{mean}", benefit.thresholds, benefit.net_benefit)
        return cls((line,), rows.name, act_on_all=benefit.act_on_all, outcome=benefit.name)

    @classmethod
    def _corrected_curve(cls, replicates: Replicates, **settings: Any) -> tuple[Any, Floats, tuple[str, str]]:
        curve = decision_curve(replicates, **settings)
        return curve, curve.threshold, ("acting on predictions, apparent", "")

    @classmethod
    def _surrounded(cls, lines: tuple[CurveLine, ...], name: str, curve: Any, replicates: Replicates) -> Self:
        return cls(lines, name, act_on_all=tuple(curve.act_on_all.tolist()), outcome=curve.name)

    def _frame(self, ax: Any) -> None:
        x = self.lines[0].x
        ax.plot(x, self.act_on_all, color="black", linestyle="--", linewidth=1.2, label="acting on all rows")
        reference_line(ax, (0, 1), (0, 0), "acting on none")
        top = max(np.nanmax(np.array(line.y, dtype=float)) for line in self.lines)
        ax.set_ylim(-0.25 * top if top > 0 else None, max(1.15 * top, self.act_on_all[0]) if top > 0 else None)
        ax.set_xlim(0, 1)
        ax.set_xlabel("probability from which one acts")
        of = f" on {class_text(self.outcome)}" if self.outcome else ""
        ax.set_ylabel(plain_text(f"net benefit of acting{of},\ntrue positives a row (higher is better)"))

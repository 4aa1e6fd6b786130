"""The decision curve of a configuration's predicted probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from heldout.plots.base import plain_text
from heldout.plots.curve_lines import UNCORRECTED, CurveLine, corrected_label, reference_line
from heldout.plots.curves import CurvesDisplay
from heldout.plots.plotted_rows import PlottedRows
from heldout.protocols.validation.estimate import Validation
from heldout.report.validation_curves import class_text
from heldout.report.winner_curves import net_benefit_of


@dataclass(eq=False, repr=False)
class DecisionCurveDisplay(CurvesDisplay):
    """Net benefit over the threshold probability from which one acts, beside acting on all rows and on none.

    Made by ``from_search``, ``from_estimate``, ``from_predictions`` or ``from_validation``. Of a search and of
    predictions it is uncorrected, of a validation apparent and corrected for optimism (Vickers and Elkin 2006).

    Parameters
    ----------
    lines : sequence of CurveLine
    name : str
        Of the configuration.
    act_on_all : tuple of float
        Net benefit of acting on every row, at the thresholds of the first line.
    outcome : str
        The class, or event, that one would act on.
    note : str
        A sentence under the title.

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
    lines_: list[Any] = field(default_factory=list, init=False)

    @classmethod
    def _from_rows(cls, rows: PlottedRows) -> Self:
        found = net_benefit_of(rows.truth, rows.predictions, rows.configuration, rows.sample_weight)
        if found is None:
            return cls([], rows.name)
        repeats = rows.predictions.n_repeats
        mean = f", mean of {repeats} repeats" if repeats > 1 else ""
        line = CurveLine(f"acting on predictions, {UNCORRECTED}{mean}", found.thresholds, found.net_benefit)
        return cls([line], rows.name, act_on_all=found.act_on_all, outcome=found.name)

    @classmethod
    def _validated(cls, validation: Validation, **settings: Any) -> Self:
        curve = validation.decision_curve(**settings)
        x = tuple(curve.threshold.tolist())
        band = tuple(curve.low.tolist()), tuple(curve.high.tolist())
        apparent = CurveLine("acting on predictions, apparent", x, tuple(curve.apparent.tolist()))
        text = corrected_label(curve.confidence_level)
        corrected = CurveLine(text, x, tuple(curve.corrected.tolist()), *band, is_corrected=True)
        of_all = tuple(curve.act_on_all.tolist())
        return cls([apparent, corrected], validation.selected_name, act_on_all=of_all, outcome=curve.name)

    def _frame(self, ax: Any) -> None:
        x = self.lines[0].x
        ax.plot(x, self.act_on_all, color="black", linestyle="--", linewidth=1.2, label="acting on all rows")
        reference_line(ax, (0, 1), (0, 0), "acting on none")
        top = max(max(line.y) for line in self.lines)
        ax.set_ylim(-0.25 * top if top > 0 else None, max(1.15 * top, self.act_on_all[0]) if top > 0 else None)
        ax.set_xlim(0, 1)
        ax.set_xlabel("probability from which one acts")
        of = f" on {class_text(self.outcome)}" if self.outcome else ""
        ax.set_ylabel(plain_text(f"net benefit of acting{of},\ntrue positives a row (higher is better)"))

"""How optimism grows with the number of configurations tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from heldout.estimates.paired.compare import ConfigurationComparison
from heldout.estimates.paired.scores import OptimismCurve
from heldout.report.configuration_scores import comparison_of_search, search_scale
from heldout.report.displays.base import (
    ADAPTIVE_NOTE,
    Display,
    checked_result,
    configurations_axis,
    end_at_range,
    evaluation_of,
    pyplot,
    score_label,
    two_lines,
    value_text,
)
from heldout.scales import BAND, MUTED, Scale, scale_of_metric


@dataclass(eq=False, repr=False)
class OptimismCurveDisplay(Display):
    """What choosing the best of c configurations flatters, for c = 1 .. C: the gap between two curves.

    Made by ``from_search`` or ``from_comparison``. Each point is a mean over all ways to have tried c of the
    configurations, so that their order does not matter. The corrected curve is the score on rows that took no part
    in the choice: at C it is the estimate of the method ``bbc``, but for the control.

    Parameters
    ----------
    curve : OptimismCurve
    metric : Scale
    n_out : int
        Configurations that were dropped or failed; they are not in the curve.
    is_adaptive : bool
        Whether configurations were proposed because of scores: part of the optimism remains then.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    uncorrected_line_, corrected_line_, gap_ : matplotlib artists

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> compared = ho.compare_configurations(y, rng.random((200, 50)), metric="roc_auc", random_state=0)
    >>> display = ho.plots.OptimismCurveDisplay.from_comparison(compared)
    >>> bool(display.curve.optimism[0] < 0.02 < display.curve.optimism[-1])
    True
    """

    curve: OptimismCurve
    metric: Scale
    n_out: int = 0
    is_adaptive: bool = False

    @classmethod
    def from_search(cls, search: Any, *, scorer: str | None = None, ax: Any = None) -> Self:
        """Draw it for a search.

        Parameters
        ----------
        search : fitted search or Evaluation
        scorer : str, optional
            Of a search with several; the one that chose the winner by default.
        ax : matplotlib Axes, optional

        Raises
        ------
        InputError
            When the search cannot be used, or its rule is not "best".
        MissingExtraError
            When matplotlib is missing.
        """
        pyplot()
        evaluation = evaluation_of(search)
        name = evaluation.scorer_named(scorer)
        compared = comparison_of_search(evaluation, name)
        scale, is_adaptive = search_scale(evaluation, name), evaluation.predictions.adaptive
        return cls(compared.optimism_curve(), scale, _n_out(compared), is_adaptive).plot(ax)

    @classmethod
    def from_comparison(cls, comparison: ConfigurationComparison, *, ax: Any = None) -> Self:
        """Draw it for what ``ho.compare_configurations`` returned.

        Parameters
        ----------
        comparison : ConfigurationComparison
        ax : matplotlib Axes, optional
        """
        pyplot()
        compared = checked_result(comparison, ConfigurationComparison, "comparison", "ho.compare_configurations")
        metric, curve = compared.evidence.metric, compared.optimism_curve()
        scale = scale_of_metric(metric, scores=curve.uncorrected.tolist())
        return cls(curve, scale, _n_out(compared)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.

        Returns
        -------
        self
        """
        ax = self._axes(ax)
        curve, sign = self.curve, self.metric.sign
        x, uncorrected, corrected = curve.n_configurations, sign * curve.uncorrected, sign * curve.corrected
        labels = "best of them, uncorrected", "the same on rows that took no part in the choice"
        self.uncorrected_line_, self.corrected_line_ = two_lines(ax, x, (uncorrected, corrected), labels)
        text = f"optimism, {value_text(self.metric, float(curve.optimism[-1]))} at {x[-1]:,}"
        self.gap_ = ax.fill_between(x, corrected, uncorrected, color=BAND, label=text)
        out = f",\nwithout {self.n_out:,} dropped or failed" if self.n_out else ""
        configurations_axis(ax, int(x[-1]), f"configurations to choose from (mean over all ways){out}")
        end_at_range(ax, "y", self.metric)
        ax.set_ylabel(score_label(self.metric))
        if self.is_adaptive:
            ax.set_title(ADAPTIVE_NOTE, fontsize="small", color=MUTED, loc="left")
        self._legend()
        return self


def _n_out(comparison: ConfigurationComparison) -> int:
    return len(comparison.names) - comparison.scores.n_candidates

"""Scores over the number of configurations: the history of a search, and how its optimism grows."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from heldout import _defaults
from heldout._text import counted
from heldout._types import Floats, Indices
from heldout.errors import InputError
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods import answer, method_of
from heldout.estimates.paired.compare import ConfigurationComparison
from heldout.estimates.paired.scores import OptimismCurve, curve_points
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.report.configuration_scores import among_first, comparison_of_search, search_scale
from heldout.report.displays import base
from heldout.report.headline import interval_label
from heldout.result import Evaluation
from heldout.scales import BAND, Scale, scale_of_metric

MOST_POINTS = 24
"""Points of the curves: the estimate is computed again at each."""


@dataclass(eq=False, repr=False)
class SearchHistoryDisplay(base.ScoredDisplay):
    """The best score so far and its corrected estimate, by the number of configurations tried.

    Made by ``from_search``. Where the uncorrected curve improves and the corrected one does not, the search chose
    chance: overtuning. Each point is the whole estimate that the search would have reported then.

    Parameters
    ----------
    metric : Scale
    method : str
    n_configurations : ndarray of shape (P,)
        The c of each point, ascending; the last is all of them. Of more than 24 configurations so many numbers of
        them are taken, evenly in ratio.
    uncorrected, corrected, low, high : ndarray of shape (P,)
        The score of the best so far, its estimate and the ends of its interval; NaN if unknown, and where a
        one-sided interval is open.
    best : tuple of str
        (P,): the name of the best so far.
    interval_label : str
        Level and sides of the interval; empty without one.
    n_out : int
        Configurations that were dropped or failed: they count in c, and are no candidates.
    repeats_dropping : bool
        Whether the last point, the search's own estimate, also repeats the dropping, which the others do not.
    is_adaptive : bool
        Whether configurations were proposed because of scores, which no bootstrap repeats.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    uncorrected_line_, corrected_line_, band_ : matplotlib artists
        ``band_`` is None where no point has an interval.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [99, 1, 9]}, random_state=0).fit(X, y)
    >>> display = ho.plots.SearchHistoryDisplay.from_search(search)
    >>> display.n_configurations.tolist(), display.best[-1]
    ([1, 2, 3], 'KNeighborsClassifier (n_neighbors=9)')
    >>> bool(display.corrected[-1] == search.corrected_score_)
    True
    """

    metric: Scale
    method: str
    n_configurations: Indices
    uncorrected: Floats
    corrected: Floats
    low: Floats
    high: Floats
    best: tuple[str, ...]
    interval_label: str
    n_out: int
    repeats_dropping: bool
    is_adaptive: bool

    @classmethod
    def _of_search(cls, evaluation: Evaluation, scorer: str) -> Self:
        """Each point by the same method from the same draws; the last is the search's, if of its own scores.

        Raises InputError when the method does not fit, or the scorer cannot be opened.
        """
        scale = search_scale(evaluation, scorer)
        own = evaluation.estimation.method
        chosen = method_of(own or _defaults.METHOD)
        question = evaluation.question(scorer)
        predictions, truth = evaluation.predictions, evaluation.task.truth
        n = len(evaluation.configurations)
        gathered = partial(gather, draws_rows=chosen.draws_rows, score_tables=evaluation.known_scores)
        known = None if own is None else evaluation.estimates.get(scorer)
        is_own = known is not None and Flag.CROSS_FITTED not in known.flags
        whole = known if known and is_own else answer(chosen, gathered(truth, predictions, question))

        def after(count: int) -> Estimate | None:
            try:
                first = gathered(truth, among_first(predictions, count), replace(question, winner=None))
                return answer(chosen, first)
            except InputError:  # none of them has a score yet, or too few for the method
                return None

        counts = curve_points(n, MOST_POINTS)
        points = [*((count, after(count)) for count in counts[:-1].tolist()), (n, whole)]
        numbers, estimates = zip(*((c, estimate) for c, estimate in points if estimate is not None), strict=True)
        ends = np.array([scale.closed_ends(estimate.interval) for estimate in estimates], dtype=np.float64)
        return cls(
            metric=scale,
            method=chosen.name,
            n_configurations=np.array(numbers),
            uncorrected=scale.sign * np.array([estimate.uncorrected for estimate in estimates]),
            corrected=scale.sign * np.array([estimate.value for estimate in estimates]),
            low=ends[:, 0],
            high=ends[:, 1],
            best=tuple(estimate.selected_name for estimate in estimates),
            interval_label=interval_label(whole),
            n_out=len({**predictions.out, **evaluation.failures}),
            repeats_dropping=is_own and bool(predictions.dropped) and chosen.replays_dropping,
            is_adaptive=predictions.adaptive,
        )

    def _draw(self, ax: Any) -> None:
        x = self.n_configurations
        labels = "winner so far, uncorrected", f"winner so far, corrected by {self.method}"
        self.uncorrected_line_, self.corrected_line_ = base.two_lines(
            ax, x, (self.uncorrected, self.corrected), labels, marker="o", markersize=4
        )
        self.band_ = None
        if self.interval_label:
            label = f"{self.interval_label} of the corrected one"
            self.band_ = ax.fill_between(x, *self._ends_in_view(), color=BAND, label=label, zorder=0)
        base.configurations_axis(ax, int(x[-1]), "configurations tried, in the order of the search")
        base.score_axis(ax, "y", self.metric)
        base.note(ax, *self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the curves must know."""
        notes = []
        if self.n_out:
            notes.append(f"{counted(self.n_out, 'configuration')} dropped or failed: never the best")
        if self.repeats_dropping:
            notes.append("only the last point repeats the dropping in every bootstrap")
        if self.is_adaptive:
            notes.append(base.ADAPTIVE_NOTE)
        return tuple(notes)

    def _ends_in_view(self) -> tuple[Floats, Floats]:
        """The ends of the intervals, open ones where the other numbers end."""
        drawn = np.concatenate([self.uncorrected, self.corrected, self.low, self.high])
        low = np.where(np.isnan(self.low) & np.isfinite(self.high), np.nanmin(drawn), self.low)
        high = np.where(np.isnan(self.high) & np.isfinite(self.low), np.nanmax(drawn), self.high)
        return low, high


@dataclass(eq=False, repr=False)
class OptimismCurveDisplay(base.ScoredDisplay):
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
    def _of_search(cls, evaluation: Evaluation, scorer: str) -> Self:
        compared = comparison_of_search(evaluation, scorer)
        scale, is_adaptive = search_scale(evaluation, scorer), evaluation.predictions.adaptive
        return cls(compared.optimism_curve(), scale, _n_out(compared), is_adaptive)

    @classmethod
    def from_comparison(cls, comparison: ConfigurationComparison, *, ax: Any = None) -> Self:
        """Draw it for what ``ho.compare_configurations`` returned.

        Parameters
        ----------
        comparison : ConfigurationComparison
        ax : matplotlib Axes, optional
        """
        source = "ho.compare_configurations"
        compared = base.checked_result(comparison, ConfigurationComparison, "comparison", source)
        metric, curve = compared.evidence.metric, compared.optimism_curve()
        scale = scale_of_metric(metric, scores=curve.uncorrected.tolist())
        return cls(curve, scale, _n_out(compared)).plot(ax)

    def _draw(self, ax: Any) -> None:
        curve, sign = self.curve, self.metric.sign
        x, uncorrected, corrected = curve.n_configurations, sign * curve.uncorrected, sign * curve.corrected
        labels = "best of them, uncorrected", "the same on rows that took no part in the choice"
        self.uncorrected_line_, self.corrected_line_ = base.two_lines(ax, x, (uncorrected, corrected), labels)
        text = f"optimism, {self.metric.text(float(curve.optimism[-1]))} at {x[-1]:,}"
        self.gap_ = ax.fill_between(x, corrected, uncorrected, color=BAND, label=text)
        out = f",\nwithout {self.n_out:,} dropped or failed" if self.n_out else ""
        base.configurations_axis(ax, int(x[-1]), f"configurations to choose from (mean over all ways){out}")
        base.score_axis(ax, "y", self.metric)
        if self.is_adaptive:
            base.note(ax, base.ADAPTIVE_NOTE)


def _n_out(comparison: ConfigurationComparison) -> int:
    return len(comparison.names) - comparison.scores.n_candidates

"""One parameter against score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout._types import Floats
from heldout.errors import InputError
from heldout.plots.axes import parameter_ticks
from heldout.plots.base import Display, Style, end_at_range, evaluation_of, percent, pyplot, score_label, styled
from heldout.report.configuration_scores import configuration_scores
from heldout.report.parameters import ParameterSlice, parameter_slice, parameters_searched
from heldout.scales import BAND, BLUE, MUTED, VERMILLION


@dataclass(eq=False, repr=False)
class ParameterSliceDisplay(Display):
    """One parameter against the held-out score of each configuration.

    Made by ``from_search``. The line joins the best configurations at each value, with the interval of their own
    scores; of more than 12 distinct numbers, the best in each eighth of them. Configurations that were dropped are
    crosses, and never the best: their scores are of fewer splits. All is uncorrected.

    Parameters
    ----------
    slice : ParameterSlice

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_, dropped_points_, best_line_, winner_mark_ : matplotlib artists
        ``dropped_points_`` is None where none was dropped, ``winner_mark_`` where the winner lacks the parameter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"n_neighbors": [1, 9, 99], "p": [1, 2]}
    >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), grid, random_state=0).fit(X, y)
    >>> display = ho.plots.ParameterSliceDisplay.from_search(search, "n_neighbors")
    >>> display.slice.axis.values[display.slice.best].tolist()
    [1.0, 9.0, 99.0]
    """

    slice: ParameterSlice

    @classmethod
    def from_search(
        cls, search: Any, parameter: str | None = None, *, scorer: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw one parameter of a search.

        Parameters
        ----------
        search : fitted search or Evaluation
        parameter : str, optional
            Its name, without the steps of a pipeline where that is clear; the most influential one by default.
        scorer : str, optional
            Of a search with several; the one that chose the winner by default.
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.

        Raises
        ------
        InputError
            When the search cannot be used, or did not set the parameter.
        MissingExtraError
            When matplotlib is missing.
        """
        pyplot()
        scores = configuration_scores(evaluation_of(search), scorer, finds_set=False)
        if parameter is None:
            found = parameters_searched(scores)
            if not found:
                raise InputError("no parameter has several values in this search, so none can be drawn.")
            parameter = found[0]
        return cls(parameter_slice(scores, parameter)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, line_kw: Style | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.
        line_kw : dict, optional
            Of the best configurations (``Axes.plot``).

        Returns
        -------
        self
        """
        ax = self._axes(ax)
        scores, axis, best = self.slice.scores, self.slice.axis, self._best
        own = axis.value_of
        self._draw_configurations(ax)
        x = np.array([own[j] for j in best.tolist()])
        where = "in each eighth of the values" if self.slice.in_eighths else "at each value"
        style = {"color": BLUE, "marker": "o", "markersize": 6, "linewidth": 2, "label": f"best {where}"}
        (self.best_line_,) = ax.plot(
            x, scores.scores[best], **styled(style if axis.is_numeric else {**style, "linestyle": "none"}, line_kw)
        )
        self._draw_intervals(ax, x)
        self.winner_mark_ = None
        if scores.winner in own:
            style = {
                "linestyle": "none", "marker": "*", "markersize": 14, "color": VERMILLION,
                "markeredgecolor": "white", "label": "winner", "zorder": 4,
            }  # fmt: skip
            (self.winner_mark_,) = ax.plot([own[scores.winner]], [scores.scores[scores.winner]], **style)
        parameter_ticks(ax, axis, "x")
        end_at_range(ax, "y", scores.metric)
        ax.set_ylabel(score_label(scores.metric, "uncorrected"))
        self._legend()
        return self

    @property
    def _best(self) -> NDArray[np.intp]:
        """The best candidates; values at which all configurations were dropped have none."""
        best = self.slice.best
        return best[self.slice.scores.is_candidate[best]]

    def _draw_configurations(self, ax: Any) -> None:
        scores, axis = self.slice.scores, self.slice.axis
        is_dropped = scores.is_dropped[axis.configurations]
        y = scores.scores[axis.configurations]
        style = {"linestyle": "none", "marker": "o", "markersize": 4, "color": MUTED, "alpha": 0.55}
        label = counted((~is_dropped).sum(), "configuration")
        (self.points_,) = ax.plot(axis.values[~is_dropped], y[~is_dropped], **style, label=label)
        self.dropped_points_ = None
        if is_dropped.any():
            label = f"{is_dropped.sum():,} dropped, each on the splits that it had"
            crosses = style | {"marker": "x", "label": label}
            (self.dropped_points_,) = ax.plot(axis.values[is_dropped], y[is_dropped], **crosses)

    def _draw_intervals(self, ax: Any, x: Floats) -> None:
        scores, best = self.slice.scores, self._best
        low, high, middle = scores.low[best], scores.high[best], scores.scores[best]
        if not np.isfinite(low).any():
            return
        label = f"{percent(scores.confidence_level)} bootstrap interval of each of these"
        if self.slice.axis.is_numeric:
            ax.fill_between(x, low, high, color=BAND, label=label, zorder=0)
            return
        bars = np.nan_to_num(np.clip([middle - low, high - middle], 0, None))
        style = {"fmt": "none", "ecolor": BLUE, "elinewidth": 1.5, "capsize": 3, "label": label}
        ax.errorbar(x, middle, yerr=bars, **style)

"""The history of a search: the best score so far, uncorrected and corrected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from heldout._text import counted
from heldout._types import Floats
from heldout.report.displays.base import (
    ADAPTIVE_NOTE,
    Display,
    configurations_axis,
    end_at_range,
    evaluation_of,
    pyplot,
    score_label,
)
from heldout.report.history import SearchHistory, search_history
from heldout.scales import BAND, BLUE, MUTED, VERMILLION


@dataclass(eq=False, repr=False)
class SearchHistoryDisplay(Display):
    """The best score so far and its corrected estimate, by the number of configurations tried.

    Made by ``from_search``. Where the uncorrected curve improves and the corrected one does not, the search chose
    chance: overtuning. Each point is the whole estimate that the search would have reported then.

    Parameters
    ----------
    history : SearchHistory

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
    >>> display.history.n_configurations.tolist(), display.history.best[-1]
    ([1, 2, 3], 'KNeighborsClassifier (n_neighbors=9)')
    >>> bool(display.history.corrected[-1] == search.corrected_score_)
    True
    """

    history: SearchHistory

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        scorer: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the history of a search.

        Parameters
        ----------
        search : fitted search or Evaluation
        scorer : str, optional
            Of a search with several; the one that chose the winner by default.
        ax : matplotlib Axes, optional

        Raises
        ------
        InputError
            When the search cannot be used, or its method does not fit.
        MissingExtraError
            When matplotlib is missing.
        """
        pyplot()
        return cls(search_history(evaluation_of(search), scorer)).plot(ax)

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
        history = self.history
        x = history.n_configurations
        style = {
            "color": VERMILLION, "linestyle": (0, (5, 2)), "marker": "s", "markersize": 4, "linewidth": 2,
            "label": "winner so far, uncorrected",
        }  # fmt: skip
        (self.uncorrected_line_,) = ax.plot(x, history.uncorrected, **style)
        style = {
            "color": BLUE, "marker": "o", "markersize": 4, "linewidth": 2,
            "label": f"winner so far, corrected by {history.method}",
        }  # fmt: skip
        (self.corrected_line_,) = ax.plot(x, history.corrected, **style)
        self.band_ = None
        if history.interval_label:
            label = f"{history.interval_label} of the corrected one"
            self.band_ = ax.fill_between(x, *self._ends_in_view(), color=BAND, label=label, zorder=0)
        configurations_axis(ax, int(x[-1]), "configurations tried, in the order of the search")
        end_at_range(ax, "y", history.metric)
        ax.set_ylabel(score_label(history.metric))
        self._legend()
        if self.notes:
            ax.set_title("\n".join(self.notes), fontsize="small", color=MUTED, loc="left")
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the curves must know."""
        history, notes = self.history, []
        if history.n_out:
            notes.append(f"{counted(history.n_out, 'configuration')} dropped or failed: never the best")
        if history.repeats_dropping:
            notes.append("only the last point repeats the dropping in every bootstrap")
        if history.is_adaptive:
            notes.append(ADAPTIVE_NOTE)
        return tuple(notes)

    def _ends_in_view(self) -> tuple[Floats, Floats]:
        """The ends of the intervals, open ones where the other numbers end."""
        history = self.history
        drawn = np.concatenate([history.uncorrected, history.corrected, history.low, history.high])
        low = np.where(np.isnan(history.low) & np.isfinite(history.high), np.nanmin(drawn), history.low)
        high = np.where(np.isnan(history.high) & np.isfinite(history.low), np.nanmax(drawn), history.high)
        return low, high

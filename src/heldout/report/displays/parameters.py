"""One parameter, or two, against the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from heldout._text import counted
from heldout._types import Booleans, Floats, Indices
from heldout.errors import InputError
from heldout.report.configuration_scores import configuration_scores
from heldout.report.displays import base
from heldout.report.parameters import (
    ParameterAxis,
    ParameterPlane,
    ParameterSlice,
    paired_parameters,
    parameter_plane,
    parameter_slice,
    parameters_searched,
)
from heldout.scales import BAND, BLUE, MUTED, VERMILLION


@dataclass(eq=False, repr=False)
class ParameterSliceDisplay(base.Display):
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
        scores = configuration_scores(base.evaluation_of(search), scorer, finds_set=False)
        if parameter is None:
            found = parameters_searched(scores)
            if not found:
                raise InputError("no parameter has several values in this search, so none can be drawn.")
            parameter = found[0]
        return cls(parameter_slice(scores, parameter)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, line_kw: base.Style | None = None) -> Self:
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
        return self._drawn(ax, line_kw=line_kw)

    def _draw(self, ax: Any, line_kw: base.Style | None) -> None:
        scores, axis, best = self.slice.scores, self.slice.axis, self._best
        own = axis.value_of
        self._draw_configurations(ax)
        x = np.array([own[j] for j in best.tolist()])
        where = "in each eighth of the values" if self.slice.in_eighths else "at each value"
        style = {"color": BLUE, "marker": "o", "markersize": 6, "linewidth": 2, "label": f"best {where}"}
        style |= {} if axis.is_numeric else {"linestyle": "none"}
        (self.best_line_,) = ax.plot(x, scores.scores[best], **base.styled(style, line_kw))
        self._draw_intervals(ax, x)
        self.winner_mark_ = None
        if scores.winner in own:
            style = {
                "linestyle": "none", "marker": "*", "markersize": 14, "color": VERMILLION,
                "markeredgecolor": "white", "label": "winner", "zorder": 4,
            }  # fmt: skip
            (self.winner_mark_,) = ax.plot([own[scores.winner]], [scores.scores[scores.winner]], **style)
        base.parameter_ticks(ax, axis, "x")
        base.score_axis(ax, "y", scores.metric, "uncorrected")

    @property
    def _best(self) -> Indices:
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
        label = f"{base.percent(scores.confidence_level)} bootstrap interval of each of these"
        if self.slice.axis.is_numeric:
            ax.fill_between(x, low, high, color=BAND, label=label, zorder=0)
            return
        bars = np.nan_to_num(np.clip([middle - low, high - middle], 0, None))
        style = {"fmt": "none", "ecolor": BLUE, "elinewidth": 1.5, "capsize": 3, "label": label}
        ax.errorbar(x, middle, yerr=bars, **style)


MOST_TEXTS = 64
"""Cells of a plane in which the scores are written."""
FEWEST_FOR_CONTOURS = 10


@dataclass(eq=False, repr=False)
class ParameterPlaneDisplay(base.Display):
    """Two parameters against the held-out score: the best configuration at each pair of values.

    Made by ``from_search``. A grid is drawn as cells with the score and half the width of its interval; scattered
    pairs as points over contours. Outlined cells and ringed points are configurations that these rows cannot tell
    from the best; in grids of many cells they have a dot. Those that were dropped say so or have a cross: their
    scores are of fewer splits. All is uncorrected.

    Parameters
    ----------
    plane : ParameterPlane

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    colours_ : matplotlib artist
        The cells or points, with ``colorbar_`` beside them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"n_neighbors": [1, 9, 99], "p": [1, 2]}
    >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), grid, random_state=0).fit(X, y)
    >>> display = ho.plots.ParameterPlaneDisplay.from_search(search)
    >>> display.plane.is_grid, len(display.plane.best)
    (True, 6)
    """

    plane: ParameterPlane
    _size = 6.8, 4.8

    @classmethod
    def from_search(
        cls,
        search: Any,
        parameters: Sequence[str] | None = None,
        *,
        scorer: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw two parameters of a search.

        Parameters
        ----------
        search : fitted search or Evaluation
        parameters : two str, optional
            Across and up; the two most influential ones by default.
        scorer : str, optional
            Of a search with several; the one that chose the winner by default.
        ax : matplotlib Axes, optional

        Raises
        ------
        InputError
            When the search cannot be used, or did not set the parameters together.
        MissingExtraError
            When matplotlib is missing.
        """
        is_pair = isinstance(parameters, Sequence) and not isinstance(parameters, str) and len(parameters) == 2
        if parameters is not None and not is_pair:
            raise InputError(
                f"parameters must be two names, such as ('C', 'gamma'), got {parameters!r}.", argument="parameters"
            )
        scores = configuration_scores(base.evaluation_of(search), scorer)
        names = paired_parameters(scores) if parameters is None else parameters
        if names is None:
            raise InputError(
                "no two parameters have several values in the same configurations of this search; draw "
                "ho.plots.ParameterSliceDisplay."
            )
        return cls(parameter_plane(scores, names)).plot(ax)

    def _draw(self, ax: Any) -> None:
        scores = self.plane.scores
        colours = base.pyplot().get_cmap("cividis")  # light is better: of a loss it is turned round
        look = {"cmap": colours if scores.metric.greater_is_better else colours.reversed()}
        if self.plane.is_grid:
            self._draw_cells(ax, look)
        else:
            self._draw_points(ax, look)
        self.colorbar_ = self.figure_.colorbar(self.colours_, ax=ax)
        self.colorbar_.set_label(base.score_label(scores.metric, "uncorrected"))

    def _draw_cells(self, ax: Any, look: dict[str, Any]) -> None:
        plane, scores = self.plane, self.plane.scores
        x, y = (np.unique(axis.values) for axis in (plane.across, plane.up))
        column, row = _places(plane.across, plane.best, x), _places(plane.up, plane.best, y)
        cells = np.full((len(y), len(x)), np.nan)
        cells[row, column] = scores.scores[plane.best]
        ax.set_facecolor("0.9")  # pairs that were not tried
        self.colours_ = ax.pcolormesh(np.arange(len(x)), np.arange(len(y)), cells, shading="nearest", **look)
        half = (scores.high[plane.best] - scores.low[plane.best]) / 2
        alike, is_dropped = self._alike(plane.best), scores.is_dropped[plane.best]
        has_texts = len(plane.best) <= MOST_TEXTS
        for place, (i, j) in enumerate(zip(column.tolist(), row.tolist(), strict=True)):
            if has_texts:
                text = scores.metric.text(float(cells[j, i]))
                text += f"\n± {scores.metric.text(half[place])}" if np.isfinite(half[place]) else ""
                text += "\ndropped" if is_dropped[place] else ""
                dark = (self.colours_.norm(cells[j, i]) > 0.5) == scores.metric.greater_is_better  # on a light cell
                style = {"ha": "center", "va": "center", "fontsize": "small", "color": "black" if dark else "white"}
                ax.text(i, j, text, **style)
            elif is_dropped[place]:
                ax.plot(i, j, marker="x", color=MUTED)
            if alike[place] and not has_texts:
                ax.plot(i, j, marker=".", color=VERMILLION)
            elif alike[place]:
                box: dict[str, Any] = {"fill": False, "edgecolor": VERMILLION, "linewidth": 2}
                ax.add_patch(base.pyplot().Rectangle((i - 0.46, j - 0.46), 0.92, 0.92, **box))
        for axis, values, side in ((plane.across, x, "x"), (plane.up, y, "y")):
            texts = axis.levels or tuple(f"{value:.4g}" for value in values.tolist())
            base.parameter_ticks(ax, replace(axis, levels=texts, is_logarithmic=False), side)
        marks = ("± half the", "outlined", "dropped") if has_texts else ("", "with a dot", "with a cross")
        self._explain(ax, *marks)

    def _draw_points(self, ax: Any, look: dict[str, Any]) -> None:
        plane, scores = self.plane, self.plane.scores
        x, y = (axis.values[np.isin(axis.configurations, plane.best)] for axis in (plane.across, plane.up))
        shown = plane.across.configurations[np.isin(plane.across.configurations, plane.best)]
        z, alike = scores.scores[shown], self._alike(shown)
        scaled = np.log(x) if plane.across.is_logarithmic else x, np.log(y) if plane.up.is_logarithmic else y
        if plane.across.is_numeric and plane.up.is_numeric and len(z) >= FEWEST_FOR_CONTOURS and _spans(*scaled):
            triangles = _triangles(*scaled)
            ax.tricontourf(x, y, triangles, z, levels=10, alpha=0.55, vmin=z.min(), vmax=z.max(), **look)
        style = {"c": z, "vmin": z.min(), "vmax": z.max(), "s": 42, "edgecolor": "black", **look}
        self.colours_ = ax.scatter(x, y, linewidth=0.6, **style)
        ax.scatter(x[alike], y[alike], s=110, facecolor="none", edgecolor=VERMILLION, linewidth=1.8)
        is_dropped = scores.is_dropped[shown]
        ax.scatter(x[is_dropped], y[is_dropped], s=42, marker="x", color="black", linewidth=1)
        for axis, side in ((plane.across, "x"), (plane.up, "y")):
            base.parameter_ticks(ax, axis, side)
        ax.use_sticky_edges = False  # points on the edge of the contours are drawn whole
        ax.margins(0.04)
        self._explain(ax, "", "ringed", "with a cross")

    def _alike(self, configurations: Indices) -> Booleans:
        """Which of them these rows cannot tell from the best; none if that is unknown."""
        not_worse = self.plane.scores.not_worse
        return np.zeros(len(configurations), dtype=bool) if not_worse is None else not_worse[configurations]

    def _explain(self, ax: Any, half: str, marked: str, dropped: str) -> None:
        """What the marks mean, above the axes."""
        scores, lines = self.plane.scores, []
        if np.isfinite(scores.low).any():
            level = base.percent(scores.confidence_level)
            interval = f"{half} {level} bootstrap interval; " if half else ""
            lines.append(f"{interval}{marked}: not distinguishable from the best ({level})")
        if scores.is_dropped[self.plane.best].any():
            lines.append(f"{dropped}: a score on the splits before it was dropped")
        base.note(ax, *lines)


def _places(axis: ParameterAxis, configurations: Any, values: Floats) -> Any:
    """The place of each configuration's value among the distinct ones."""
    own = axis.value_of
    return np.searchsorted(values, [own[j] for j in configurations.tolist()])


def _triangles(x: Floats, y: Floats) -> Any:
    """Triangles between points, as they lie on the axes."""
    from matplotlib.tri import Triangulation

    return Triangulation(x, y).triangles


def _spans(x: Floats, y: Floats) -> bool:
    """Whether points do not lie on one line."""
    return int(np.linalg.matrix_rank(np.stack([x - x.mean(), y - y.mean()]), tol=1e-9)) == 2

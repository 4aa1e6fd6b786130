"""One parameter, or two, against the score."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations
from typing import Any, Self

import numpy as np

from heldout._text import counted, cut
from heldout._types import Booleans, Floats, Indices
from heldout.data.checks import is_number
from heldout.errors import InputError
from heldout.report.configuration_scores import ConfigurationScores, configuration_scores
from heldout.report.displays import base
from heldout.scales import BAND, BLUE, MUTED, VERMILLION, plain

MOST_BINS = 5


@dataclass(frozen=True, eq=False)
class ParameterAxis:
    """The values of one parameter in those configurations that have it and a score."""

    name: str
    title: str
    """The name without the steps of a pipeline, unless another parameter has the same then."""
    configurations: Indices
    """(n,): their positions in the search."""
    values: Floats
    """(n,): the numbers, or the places of the ``levels``."""
    levels: tuple[str, ...]
    """The values as text, where some are no finite numbers; empty for numbers."""
    is_logarithmic: bool
    """Whether the numbers are positive and span several orders of magnitude."""

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number."""
        return not self.levels

    @property
    def value_of(self) -> dict[int, float]:
        """The value of each configuration."""
        return dict(zip(self.configurations.tolist(), self.values.tolist(), strict=True))

    @property
    def is_in_eighths(self) -> bool:
        """Whether there are so many distinct numbers that the best is looked for in each eighth of them."""
        return self.is_numeric and len(np.unique(self.values)) > MOST_VALUES

    @property
    def steps(self) -> Floats:
        """(n,): the values, or of many numbers the eighth of each.

        Eighths have equally many each, so that the best of one is not better by their count alone.
        """
        return equal_groups(self.values, 8).astype(np.float64) if self.is_in_eighths else self.values


MOST_VALUES = 12
"""Of more distinct numbers, the best is looked for in each eighth of them."""
_DECADES, _DECADES_OF_HALF = 1.5, 0.6
"""Decades that all values, and the middle half of them, span at least on a logarithmic axis."""


def is_logarithmic(values: Floats) -> bool:
    """Whether numbers are positive and spread over so many orders of magnitude that a logarithmic axis suits them.

    Examples
    --------
    >>> is_logarithmic(np.array([0.01, 0.1, 1.0, 10.0])), is_logarithmic(np.array([0.001, 0.5, 0.6, 0.7, 1.0]))
    (True, False)
    """
    distinct = np.unique(values)
    if distinct[0] <= 0:
        return False
    first, third = distinct[len(distinct) // 4], distinct[(3 * len(distinct) - 1) // 4]
    is_wide = math.log10(distinct[-1] / distinct[0]) >= _DECADES
    return is_wide and math.log10(third / first) >= _DECADES_OF_HALF


def equal_groups(values: Floats, n: int) -> Indices:
    """Numbers in n groups of about equal size, equal ones together."""
    ranks = np.searchsorted(np.sort(values), values)
    return np.asarray(ranks * n // len(values), dtype=np.intp)


def parameters_searched(scores: ConfigurationScores) -> tuple[str, ...]:
    """The parameters with several values among the configurations that have a score, most influential first.

    Influence is the share of the scores' variance between the values of a parameter; those of a parameter with
    many values are put in five groups of equal size.
    """
    axes = [parameter_axis(scores, name) for name in _names(scores)]
    varied = [axis for axis in axes if len(np.unique(axis.values)) > 1]
    return tuple(axis.name for axis in sorted(varied, key=lambda axis: -_influence(scores, axis)))


def paired_parameters(scores: ConfigurationScores) -> tuple[str, str] | None:
    """The two most influential parameters that vary in the same configurations; None without any."""
    for first, second in combinations(parameters_searched(scores), 2):
        axes = parameter_axis(scores, first), parameter_axis(scores, second)
        shared = np.intersect1d(axes[0].configurations, axes[1].configurations)
        if all(len(np.unique(_among(axis, shared).values)) > 1 for axis in axes):
            return first, second
    return None


def parameter_named(scores: ConfigurationScores, name: str) -> str:
    """The full name of a parameter of the search, from itself or from its last part where one parameter has it.

    Raises InputError for any other name.
    """
    known = _names(scores)
    if name in known:
        return name
    ending = [each for each in known if each.endswith(f"__{name}")]
    if len(ending) == 1:
        return ending[0]
    near = ending or get_close_matches(str(name), known, n=3, cutoff=0.5) or known
    several = f"{len(ending)} parameters of the search are named so" if ending else "the search did not set it"
    raise InputError(f"parameter {name!r}: {several}; name one of {', '.join(near)}.", argument="parameter")


def parameter_axis(scores: ConfigurationScores, name: str) -> ParameterAxis:
    """One parameter of the configurations that have it and a score."""
    every = scores.parameters
    having = [j for j, own in enumerate(every) if name in own and np.isfinite(scores.scores[j])]
    values = [every[j][name] for j in having]
    last = name.rsplit("__", 1)[-1]
    is_only = [each.rsplit("__", 1)[-1] for each in _names(scores)].count(last) == 1
    return axis_of(name, last if is_only else name, having, values)


def axis_of(name: str, title: str, configurations: Sequence[int], values: Sequence[Any]) -> ParameterAxis:
    """The axis of these values of these configurations."""
    places = np.array(configurations, dtype=np.intp)
    if values and all(is_number(value) and math.isfinite(value) for value in values):
        numbers = np.array([float(value) for value in values])
        return ParameterAxis(name, title, places, numbers, (), is_logarithmic(numbers))
    texts = [plain(value) for value in values]
    levels = tuple(sorted(set(texts), key=lambda text: _as_sorted(text, texts, values)))
    codes = np.array([levels.index(text) for text in texts], dtype=np.float64)
    return ParameterAxis(name, title, places, codes, levels, False)


def _names(scores: ConfigurationScores) -> list[str]:
    """The parameters that the search set, in its order."""
    return list(dict.fromkeys(name for own in scores.parameters for name in own))


def _best_of(scores: ConfigurationScores, configurations: Indices, values: Floats) -> Indices:
    """The best candidate at each distinct row of values, the first of equal ones; dropped ones only without any."""
    groups = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    is_out, losses = ~scores.is_candidate[configurations], scores.losses[configurations]
    order = np.lexsort((configurations, losses, is_out))
    return configurations[order[np.unique(groups[order], return_index=True)[1]]]


def _among(axis: ParameterAxis, configurations: Indices) -> ParameterAxis:
    kept = np.isin(axis.configurations, configurations)
    return replace(axis, configurations=axis.configurations[kept], values=axis.values[kept])


def _as_sorted(text: str, texts: Sequence[str], values: Sequence[Any]) -> tuple[int, float, str]:
    """Numbers among the values come first, by size; NaN is none of them."""
    value = values[texts.index(text)]
    return (0, float(value), text) if is_number(value) else (1, 0.0, text)


def _influence(scores: ConfigurationScores, axis: ParameterAxis) -> float:
    """The share of the variance of the scores that lies between values, or fifths of the values."""
    own = scores.scores[axis.configurations]
    total = float(((own - own.mean()) ** 2).sum())
    if not total:
        return 0.0
    groups = np.unique(axis.values, return_inverse=True)[1]
    if groups.max() >= MOST_BINS:
        groups = equal_groups(axis.values, MOST_BINS)
    parts = [own[groups == group] for group in np.unique(groups)]
    return float(sum(len(part) * (part.mean() - own.mean()) ** 2 for part in parts)) / total


LETTERS_ACROSS = 48
"""Letters of all levels together that fit beside each other."""
MOST_LEVELS = 14
"""Levels of which each is named on an axis."""


def parameter_ticks(ax: Any, axis: ParameterAxis, side: str) -> None:
    """The values of a parameter on the x or y axis of a plot, with its name."""
    suffix = " (logarithmic)" if axis.is_logarithmic else ""
    getattr(ax, f"set_{side}label")(base.plain_text(f"{axis.title}{suffix}"))
    if axis.is_logarithmic:
        base.logarithmic(ax, side)
    elif axis.levels:
        level_ticks(ax, axis.levels, side)


def level_ticks(ax: Any, levels: tuple[str, ...], side: str) -> None:
    """Texts at the places 0, 1, 2 .. of an axis."""
    texts = [base.plain_text(cut(level, 18)) for level in levels]
    every = -(-len(levels) // MOST_LEVELS)
    getattr(ax, f"set_{side}ticks")(range(0, len(levels), every), texts[::every])
    getattr(ax, f"set_{side}lim")(-0.5, len(levels) - 0.5)
    if side == "x" and sum(map(len, texts[::every])) > LETTERS_ACROSS:
        for label in ax.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")


@dataclass(eq=False, repr=False)
class ParameterSliceDisplay(base.Display):
    """One parameter against the held-out score of each configuration.

    Made by ``from_search``. The line joins the best configurations at each value, with the interval of their own
    scores; of more than 12 distinct numbers, the best in each eighth of them. Configurations that were dropped are
    crosses, and never the best: their scores are of fewer splits. All is uncorrected.

    Parameters
    ----------
    scores : ConfigurationScores
    axis : ParameterAxis
    best : ndarray of int
        The best configuration at each value, or in each eighth of many numbers, in ascending order of the values.
    in_eighths : bool

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
    >>> display.axis.values[display.best].tolist()
    [1.0, 9.0, 99.0]
    """

    scores: ConfigurationScores
    axis: ParameterAxis
    best: Indices
    in_eighths: bool

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
        return cls.of_scores(scores, parameter).plot(ax, **kwargs)

    @classmethod
    def of_scores(cls, scores: ConfigurationScores, name: str) -> Self:
        """One parameter, by its name, against the score.

        Raises InputError for a name of none.
        """
        axis = parameter_axis(scores, parameter_named(scores, name))
        if not axis.configurations.size:
            raise InputError(
                f"no configuration with a score has the parameter {axis.name!r}.", argument="parameter"
            )
        best = _best_of(scores, axis.configurations, axis.steps[:, None])
        return cls(scores, axis, best, in_eighths=axis.is_in_eighths)

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
        scores, axis, best = self.scores, self.axis, self._best
        own = axis.value_of
        self._draw_configurations(ax)
        x = np.array([own[j] for j in best.tolist()])
        where = "in each eighth of the values" if self.in_eighths else "at each value"
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
        parameter_ticks(ax, axis, "x")
        base.score_axis(ax, "y", scores.metric, "uncorrected")

    @property
    def _best(self) -> Indices:
        """The best candidates; values at which all configurations were dropped have none."""
        return self.best[self.scores.is_candidate[self.best]]

    def _draw_configurations(self, ax: Any) -> None:
        scores, axis = self.scores, self.axis
        is_dropped, y = scores.is_dropped[axis.configurations], scores.scores[axis.configurations]
        style = {"linestyle": "none", "marker": "o", "markersize": 4, "color": MUTED, "alpha": 0.55}
        label = counted((~is_dropped).sum(), "configuration")
        (self.points_,) = ax.plot(axis.values[~is_dropped], y[~is_dropped], **style, label=label)
        self.dropped_points_ = None
        if is_dropped.any():
            label = f"{is_dropped.sum():,} dropped, each on the splits that it had"
            crosses = style | {"marker": "x", "label": label}
            (self.dropped_points_,) = ax.plot(axis.values[is_dropped], y[is_dropped], **crosses)

    def _draw_intervals(self, ax: Any, x: Floats) -> None:
        scores, best = self.scores, self._best
        low, high, middle = scores.low[best], scores.high[best], scores.scores[best]
        if not np.isfinite(low).any():
            return
        label = f"{base.percent(scores.confidence_level)} bootstrap interval of each of these"
        if self.axis.is_numeric:
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
    scores : ConfigurationScores
    across, up : ParameterAxis
        Of the same configurations.
    best : ndarray of int
        The best configuration at each pair of values that was tried.

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
    >>> display.is_grid, len(display.best)
    (True, 6)
    """

    scores: ConfigurationScores
    across: ParameterAxis
    up: ParameterAxis
    best: Indices
    _size = 6.8, 4.8

    @property
    def is_grid(self) -> bool:
        """Whether the pairs tried share values and fill half of a grid, rather than being scattered."""
        columns, rows = (len(np.unique(axis.values)) for axis in (self.across, self.up))
        pairs = len(self.best)
        return pairs == columns * rows or (2 * pairs >= columns * rows and pairs > max(columns, rows))

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
            raise InputError(f"parameters must be two names, such as ('C', 'gamma'), got {parameters!r}.")
        scores = configuration_scores(base.evaluation_of(search), scorer)
        names = paired_parameters(scores) if parameters is None else parameters
        if names is None:
            raise InputError(
                "no two parameters have several values in the same configurations of this search; draw "
                "ho.plots.ParameterSliceDisplay."
            )
        return cls.of_scores(scores, names).plot(ax)

    @classmethod
    def of_scores(cls, scores: ConfigurationScores, names: Sequence[str]) -> Self:
        """Two parameters, by their names, against the score.

        Raises InputError for a name of none, twice the same, or two that no configuration has together.
        """
        first, second = (parameter_named(scores, name) for name in names)
        if first == second:
            raise InputError(f"the two parameters must differ, got {first!r} twice.", argument="parameters")
        axes = parameter_axis(scores, first), parameter_axis(scores, second)
        shared = np.intersect1d(axes[0].configurations, axes[1].configurations)
        if not shared.size:
            raise InputError(
                f"no configuration with a score has both {first!r} and {second!r}, so they span no plane; name two "
                "parameters of one estimator.",
                argument="parameters",
            )
        across, up = (_among(axis, shared) for axis in axes)
        pairs = np.stack([across.values, up.values], axis=1)
        return cls(scores, across, up, _best_of(scores, shared, pairs))

    def _draw(self, ax: Any) -> None:
        scores = self.scores
        colours = base.pyplot().get_cmap("cividis")  # light is better: of a loss it is turned round
        look = {"cmap": colours if scores.metric.greater_is_better else colours.reversed()}
        if self.is_grid:
            self._draw_cells(ax, look)
        else:
            self._draw_points(ax, look)
        self.colorbar_ = self.figure_.colorbar(self.colours_, ax=ax)
        self.colorbar_.set_label(base.score_label(scores.metric, "uncorrected"))

    def _draw_cells(self, ax: Any, look: dict[str, Any]) -> None:
        scores, across, up, best = self.scores, self.across, self.up, self.best
        at = np.searchsorted(across.configurations, best)
        (x, columns), (y, rows) = (np.unique(axis.values, return_inverse=True) for axis in (across, up))
        column, row = columns[at], rows[at]
        cells = np.full((len(y), len(x)), np.nan)
        cells[row, column] = scores.scores[best]
        ax.set_facecolor("0.9")  # pairs that were not tried
        self.colours_ = ax.pcolormesh(np.arange(len(x)), np.arange(len(y)), cells, shading="nearest", **look)
        half = (scores.high[best] - scores.low[best]) / 2
        alike, is_dropped = self._alike(best), scores.is_dropped[best]
        has_texts = len(best) <= MOST_TEXTS
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
        for axis, values, side in ((across, x, "x"), (up, y, "y")):
            texts = axis.levels or tuple(f"{value:.4g}" for value in values.tolist())
            parameter_ticks(ax, replace(axis, levels=texts, is_logarithmic=False), side)
        marks = ("± half the", "outlined", "dropped") if has_texts else ("", "with a dot", "with a cross")
        self._explain(ax, *marks)

    def _draw_points(self, ax: Any, look: dict[str, Any]) -> None:
        scores, across, up, best = self.scores, self.across, self.up, self.best
        x, y = (axis.values[np.isin(axis.configurations, best)] for axis in (across, up))
        shown = across.configurations[np.isin(across.configurations, best)]
        z, alike = scores.scores[shown], self._alike(shown)
        scaled = np.log(x) if across.is_logarithmic else x, np.log(y) if up.is_logarithmic else y
        if across.is_numeric and up.is_numeric and len(z) >= FEWEST_FOR_CONTOURS and _spans(*scaled):
            from matplotlib.tri import Triangulation

            triangles = Triangulation(*scaled).triangles  # as the points lie on the axes
            ax.tricontourf(x, y, triangles, z, levels=10, alpha=0.55, vmin=z.min(), vmax=z.max(), **look)
        style = {"c": z, "vmin": z.min(), "vmax": z.max(), "s": 42, "edgecolor": "black", **look}
        self.colours_ = ax.scatter(x, y, linewidth=0.6, **style)
        ax.scatter(x[alike], y[alike], s=110, facecolor="none", edgecolor=VERMILLION, linewidth=1.8)
        is_dropped = scores.is_dropped[shown]
        ax.scatter(x[is_dropped], y[is_dropped], s=42, marker="x", color="black", linewidth=1)
        for axis, side in ((across, "x"), (up, "y")):
            parameter_ticks(ax, axis, side)
        ax.use_sticky_edges = False  # points on the edge of the contours are drawn whole
        ax.margins(0.04)
        self._explain(ax, "", "ringed", "with a cross")

    def _alike(self, configurations: Indices) -> Booleans:
        """Which of them these rows cannot tell from the best; none if that is unknown."""
        not_worse = self.scores.not_worse
        return np.zeros(len(configurations), dtype=bool) if not_worse is None else not_worse[configurations]

    def _explain(self, ax: Any, half: str, marked: str, dropped: str) -> None:
        """What the marks mean, above the axes."""
        scores, lines = self.scores, []
        if np.isfinite(scores.low).any():
            level = base.percent(scores.confidence_level)
            interval = f"{half} {level} bootstrap interval; " if half else ""
            lines.append(f"{interval}{marked}: not distinguishable from the best ({level})")
        if scores.is_dropped[self.best].any():
            lines.append(f"{dropped}: a score on the splits before it was dropped")
        base.note(ax, *lines)


def _spans(x: Floats, y: Floats) -> bool:
    """Whether points do not lie on one line."""
    return int(np.linalg.matrix_rank(np.stack([x - x.mean(), y - y.mean()]), tol=1e-9)) == 2

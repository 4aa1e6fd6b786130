"""What all displays share: matplotlib, loaded when something is drawn; axes, labels, where the numbers are from."""

import copy
import logging
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Self, TypeVar
from xml.sax.saxutils import escape

import numpy as np
from sklearn.utils.validation import check_is_fitted

from heldout._record import frame_of
from heldout._text import printable
from heldout.data.task import shortened
from heldout.errors import InputError, MissingExtraError
from heldout.metrics.named import direction_sentence
from heldout.result import Evaluation
from heldout.scales import BLUE, GRID, INK, MUTED, VERMILLION, Scale

Result = TypeVar("Result")
Style = Mapping[str, Any]
"""Keyword arguments of a matplotlib artist."""

ADAPTIVE_NOTE = "configurations were proposed because of scores: part of the optimism remains"
"""What a reader of curves over configurations must know of an adaptive search."""
LONG_LABEL = 46
"""Letters of a label that takes two lines."""
LETTERS = 44
"""Of the name of a configuration, before it is cut."""


class Display:
    """A plot and the numbers that it draws.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
        Both are there once something was drawn.
    """

    ax_: Any
    figure_: Any
    _owns_figure: bool
    _page: Any = None
    """The figure of a page to draw on, in place of one of pyplot."""
    _size: tuple[float, float] = 6.4, 4.4
    """Width and height of a figure of its own in inches."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

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
        return self._drawn(ax)

    def _drawn(self, ax: Any, **settings: Any) -> Self:
        self._draw(self._axes(ax), **settings)
        self._legend()
        return self

    def _draw(self, *arguments: Any, **settings: Any) -> None:
        """What a class draws on the axes."""
        raise NotImplementedError

    def frame(self) -> Any:
        """The lines, points and bars of the plot as a pandas DataFrame: what each is, x and y.

        pandas comes with the extra ``app``.
        """
        display = copy.copy(self)
        display._page = page_figure(400, 300)
        ax = display.plot().ax_
        rows: list[dict[str, Any]] = []
        for line in ax.lines:
            points = zip(*line.get_data(), strict=True)
            rows += [{"series": line.get_label(), "x": float(x), "y": float(y)} for x, y in points]
        for patch in ax.patches:
            if hasattr(patch, "get_data"):  # the steps of a histogram
                counts, edges, _ = patch.get_data()
                middles = (edges[:-1] + edges[1:]) / 2
                bars = zip(middles.tolist(), counts.tolist(), strict=True)
                rows += [{"series": patch.get_label(), "x": x, "y": y} for x, y in bars]
        return frame_of(rows, "the numbers of a plot")

    def _axes(self, ax: Any) -> Any:
        """The axes to draw on: those given, or those of a new figure."""
        if ax is not None and not hasattr(ax, "figure"):
            raise InputError(
                f"ax must be one matplotlib Axes, got {type(ax).__name__}; of several that plt.subplots returns "
                "pass one."
            )
        self._owns_figure = ax is None
        if ax is None:
            figure = self._page or pyplot().figure(figsize=self._size, layout="constrained")
            ax = figure.subplots()
            ax.spines[["top", "right"]].set_visible(False)
            ax.ticklabel_format(useOffset=False)  # scores stand at their ticks, not their differences
            ax.locator_params(axis="x", nbins=int(1.1 * figure.get_figwidth()))  # room for scores of six letters
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _legend(self) -> None:
        """The legend: below the axes of a figure of its own, where it covers nothing; else in the axes given."""
        if not self.ax_.get_legend_handles_labels()[1]:
            return
        if self._owns_figure:
            self.figure_.legend(loc="outside lower center", fontsize="small", frameon=False)
        else:
            self.ax_.legend(loc="best", fontsize="small")


class TitledDisplay(Display):
    """A display of one configuration, whose name is its title."""

    name: str
    note: str = ""
    """Below the title."""

    def plot(self, ax: Any = None, *, name: str | None = None, line_kw: Style | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.
        name : str, optional
            The title; the configuration by default.
        line_kw : dict, optional
            Of the lines that show its numbers (``Axes.plot``, ``Axes.axvline``).

        Returns
        -------
        self
        """
        self._drawn(ax, line_kw=line_kw)
        title = name_text(self.name, 60) if name is None else name
        text = f"{title}\n{plain_text(self.note)}" if self.note else title
        self.ax_.set_title(text, fontsize="medium" if self.note else None)
        return self


class ScoredDisplay(Display):
    """A display of scores of configurations, which a search has of each of its scorers."""

    @classmethod
    def from_search(cls, search: Any, *, scorer: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw it for a search.

        Parameters
        ----------
        search : fitted search or Evaluation
        scorer : str, optional
            Of a search with several; the one that chose the winner by default.
        ax : matplotlib Axes, optional
            To draw on; a new figure's by default.
        **kwargs : dict
            Of ``plot``.

        Raises
        ------
        InputError
            When the search cannot be used, or lacks what is drawn.
        MissingExtraError
            When matplotlib is missing.
        """
        evaluation = evaluation_of(search)
        return cls._of_search(evaluation, evaluation.scorer_named(scorer)).plot(ax, **kwargs)

    @classmethod
    def _of_search(cls, evaluation: Evaluation, scorer: str) -> Self:
        raise NotImplementedError


def embedded(
    display: Display, key: str, title: str, description: str = "", *, width: int = 400, height: int = 380
) -> str:
    """A display as SVG inside a page, with the ids of its title and its description only.

    Without a description readers of screens hear the axes and the legend.
    """
    figure = page_figure(width, height)
    import matplotlib as mpl

    from heldout.report.displays.svg import PageCanvas

    # Numbers that overflow are of a damaged file, which its reader refuses.
    with mpl.rc_context(), np.errstate(over="raise", invalid="ignore"):
        mpl.rcdefaults()
        mpl.rcParams.update(PAGE_STYLE)
        display._page = figure
        try:
            ax = display.plot().ax_
        finally:
            display._page = None
        for place in ("left", "center"):  # the page has a heading of its own
            ax.set_title("", loc=place)
        texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        height += 17 * max("\n".join(texts).count("\n") - 2, 0)  # a long legend takes nothing from the axes
        figure.set_size_inches(width / 72, height / 72)
        if not description:
            description = f"{ax.get_ylabel()} over {ax.get_xlabel()}. {'; '.join(texts)}".replace("\n", " ")
        body = PageCanvas(figure).body()
    names = "".join(
        f'<{tag} id="{key}-{tag}">{escape(printable(text))}</{tag}>'
        for tag, text in (("title", title), ("desc", description))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{key}-title {key}-desc" style="max-width:{width}px">{names}{body}</svg>'
    )


PAGE_STYLE: Mapping[Any, Any] = {
    "axes.axisbelow": True, "axes.edgecolor": MUTED, "axes.formatter.useoffset": False, "axes.grid": True,
    "axes.labelcolor": INK, "axes.labelsize": 12.5, "axes.linewidth": 1, "axes.titlesize": 12.5, "font.size": 14.4,
    "grid.color": GRID, "grid.linewidth": 1, "legend.labelcolor": INK, "text.color": INK, "xtick.color": MUTED,
    "xtick.major.pad": 6, "xtick.labelsize": 12, "xtick.major.size": 0, "xtick.minor.size": 0, "ytick.color": MUTED,
    "ytick.labelsize": 12, "ytick.major.size": 0, "ytick.minor.size": 0,
}  # fmt: skip
"""Sizes are in pixels; of the legend that is 12."""


def page_figure(width: int, height: int) -> Any:
    """A figure of so many pixels that pyplot does not know."""
    return matplotlib_of("the report", "app", "figure").Figure(figsize=(width / 72, height / 72), dpi=72)


def pyplot() -> Any:
    """matplotlib's interface for figures.

    Raises MissingExtraError when matplotlib is missing.
    """
    return matplotlib_of("a plot", "plot", "pyplot")


def matplotlib_of(feature: str, extra: str, module: str) -> Any:
    """A module of matplotlib.

    Where HOME cannot be written matplotlib takes a temporary folder, and says so at length, which is kept quiet.

    Raises MissingExtraError when it is missing.
    """
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        return import_module(f"matplotlib.{module}")
    except ImportError:
        raise MissingExtraError(feature, extra) from None
    finally:
        log.setLevel(level)


def styled(defaults: Style, own: Style | None) -> dict[str, Any]:
    """The keyword arguments of a line: the user's own replace the defaults, also by short names such as ``ls``."""
    from matplotlib import cbook, lines

    return {**defaults, **cbook.normalize_kwargs({**(own or {})}, lines.Line2D)}


def evaluation_of(search: Any) -> Evaluation:
    """The record of a fitted search to draw, or such a record itself.

    Raises MissingExtraError without matplotlib, before anything is computed; InputError for anything else, and for
    a search that did not keep its predictions; scikit-learn's NotFittedError for one that is not fitted.
    """
    pyplot()
    if isinstance(search, Evaluation):
        return search
    if not hasattr(search, "fit") or not hasattr(type(search), "report"):
        raise InputError(
            f"search must be a fitted search of heldout, or its evaluation, got {shortened(search)}; of a "
            "search of another package draw ho.correct(...).plot()."
        )
    check_is_fitted(search, "cv_results_")
    if search.evaluation_ is None:
        raise InputError("this plot needs the held-out predictions; search with `keep_predictions=True`.")
    found: Evaluation = search.evaluation_
    return found


def checked_result(result: Any, kind: type[Result], argument: str, source: str) -> Result:
    """A result of this kind to draw; refused otherwise, with the function that returns one."""
    pyplot()
    if not isinstance(result, kind):
        raise InputError(f"{argument} must be what {source} returns, got {type(result).__name__}.")
    return result


def note(ax: Any, *texts: str) -> None:
    """What a reader of the plot must know, above it."""
    if texts:
        ax.set_title("\n".join(texts), fontsize="small", color=MUTED, loc="left")


def rows_of_names(ax: Any, names: Sequence[str], n_more: int = 0, top: float = -0.6) -> None:
    """A row for each configuration with its name, the first at the top; those left out are the last row."""
    texts, head = names_and_head(names)
    texts += [f"and {n_more:,} more"] if n_more else []
    ax.set_yticks(range(len(texts)), texts)
    ax.set_ylim(len(texts) - 0.4, top)
    ax.set_ylabel(head)


def score_label(scale: Scale, what: str = "", *, knows_direction: bool = True) -> str:
    """The label of an axis of scores: the metric, what the scores are, and which way is better.

    Examples
    --------
    >>> score_label(Scale("ROC AUC", "", True), "uncorrected")
    'ROC AUC, uncorrected (higher is better)'
    """
    sentence = direction_sentence(scale.greater_is_better, scale.ideal).rstrip(".")
    named = f"{scale.title}{f', {what}' if what else ''}"
    direction = f"({sentence[:1].lower()}{sentence[1:]})" if knows_direction else ""
    gap = "\n" if len(named) + len(direction) > LONG_LABEL else " "
    return plain_text(f"{named}{gap}{direction}".rstrip())


def score_axis(ax: Any, side: str, scale: Scale, what: str = "", *, knows_direction: bool = True) -> None:
    """The label of the x or y axis, and its end where the metric's range does, with room for half a dot."""
    getattr(ax, f"set_{side}label")(score_label(scale, what, knows_direction=knows_direction))
    low, high = getattr(ax, f"get_{side}lim")()
    least, greatest = scale.range
    room = 0.01 * (high - low)  # and none for a tick
    # With auto=None what a user draws on these axes later still fits.
    getattr(ax, f"set_{side}lim")(max(low, least - room), min(high, greatest + room), auto=None)


def name_text(name: str, letters: int = LETTERS) -> str:
    """A name of the user on a plot: cut in its middle, and nothing in it is read as a formula.

    Examples
    --------
    >>> name_text("Ridge (solver=auto, alpha=0.1)", 20)
    'Ridge (sol…lpha=0.1)'
    """
    if len(name) > letters:
        head = letters // 2
        name = f"{name[:head]}…{name[len(name) - (letters - 1 - head) :]}"
    return plain_text(name)


def names_and_head(names: Sequence[str], letters: int = LETTERS) -> tuple[list[str], str]:
    """Names of configurations for an axis, without the model where all have the same one; and that model.

    Examples
    --------
    >>> names_and_head(["Ridge (alpha=1)", "Ridge (alpha=2)"]), names_and_head(["a (x=1)", "b (x=1)"])
    ((['alpha=1', 'alpha=2'], 'Ridge'), (['a (x=1)', 'b (x=1)'], ''))
    """
    parts = [re.fullmatch(r"(.+?) \((.+)\)", name, flags=re.DOTALL) for name in names]
    heads = {None if part is None else part[1] for part in parts}
    if len(heads) == 1 and None not in heads:
        return [name_text(part[2], letters) for part in parts if part is not None], name_text(str(heads.pop()))
    return [name_text(name, letters) for name in names], ""


def class_text(label: str) -> str:
    """A label, with "class" before a number.

    Examples
    --------
    >>> class_text("ill"), class_text("1")
    ('ill', 'class 1')
    """
    return f"class {label}" if label.lstrip("-")[:1].isdigit() else label


def plain_text(text: str) -> str:
    """Text that matplotlib shows as it is: a dollar sign would begin a formula.

    Examples
    --------
    >>> plain_text("cost ($)")
    'cost (\\\\$)'
    """
    return printable(text, keep="\n").replace("$", r"\$")


def percent(level: float) -> str:
    """A confidence level as text.

    Examples
    --------
    >>> percent(0.95)
    '95 %'
    """
    return f"{100 * level:.4g} %"


def in_columns(predictions: Any) -> Any:
    """The predictions of one configuration as a column of a matrix, as scikit-learn's displays take them."""
    if hasattr(predictions, "to_frame") and not hasattr(predictions, "columns"):
        return predictions.to_frame()
    if isinstance(predictions, list | tuple):
        are_numbers = not any(isinstance(each, list | tuple | np.ndarray) for each in predictions)
        return [[each] for each in predictions] if are_numbers else predictions
    return predictions[:, None] if getattr(predictions, "ndim", 0) == 1 else predictions


MANY = 60
"""Of more configurations the axis is logarithmic."""


def two_lines(ax: Any, x: Any, values: tuple[Any, Any], labels: tuple[str, str], **style: Any) -> list[Any]:
    """The uncorrected values, dashed, and the corrected ones."""
    looks: tuple[Style, Style] = ({"color": VERMILLION, "linestyle": (0, (5, 2))}, {"color": BLUE})
    return [
        ax.plot(x, np.array(y, dtype=float), label=label, linewidth=2, **look, **style)[0]
        for y, label, look in zip(values, labels, looks, strict=True)
    ]


def configurations_axis(ax: Any, n: int, label: str) -> None:
    """The number of configurations, on a logarithmic axis where there are many."""
    if n > MANY:
        logarithmic(ax, "x")
        label += ", logarithmic"
    else:
        ax.locator_params(axis="x", integer=True)
    ax.set_xlabel(label)


def logarithmic(ax: Any, side: str) -> None:
    """A logarithmic axis with plain numbers at powers of ten, or closer where it spans few of them."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    getattr(ax, f"set_{side}scale")("log")
    axis = getattr(ax, f"{side}axis")
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if 1 <= value < 1e6 else f"{value:g}"))
    axis.set_minor_locator(NullLocator())

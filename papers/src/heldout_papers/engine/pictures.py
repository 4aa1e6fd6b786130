"""Pictures of studies: lines with bars, and marks of which some stand out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from heldout.report.displays.base import Display, embedded, logarithmic, plain_text
from heldout.scales import BLUE, MORE_SERIES, MUTED, SERIES, VERMILLION

WIDE = 560
STYLES = (*SERIES, *MORE_SERIES)
APART = 0.11
"""Of the axis, between texts beside each other."""

Ends = tuple[float, float]
SCALES: Mapping[str, Callable[[Any], Any]] = {
    "linear": lambda x: x,
    "log": np.log,
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0)),
}


@dataclass(frozen=True)
class Picture:
    """An SVG with a heading and a caption."""

    title: str
    svg: str
    caption: str


@dataclass(frozen=True)
class PictureAxis:
    """One axis."""

    title: str
    format: str = "g"  # Of the numbers at the ticks
    ticks: Sequence[float] = ()  # Where they are; chosen for a nice picture where empty
    scale: Literal["linear", "log", "sqrt"] = "linear"
    ends: Ends | None = None  # The values that must have room; those of the data by default

    def apply(self, ax: Any, side: str) -> None:
        """Scale, ticks and title of the x or y axis."""
        if self.scale == "log":
            logarithmic(ax, side)
        elif self.scale == "sqrt":
            getattr(ax, f"set_{side}scale")("function", functions=(SCALES["sqrt"], np.square))
            getattr(ax, f"set_{side}lim")(0)  # a margin below 0 would have a tick
        low, high = getattr(ax, f"get_{side}lim")()
        ticks = [tick for tick in dict.fromkeys(self.ticks) if low <= tick <= high]
        axis = getattr(ax, f"{side}axis")
        if ticks:
            axis.set_ticks(_apart(ticks, SCALES[self.scale], (low, high)))
        elif self.scale != "log":
            ax.locator_params(axis=side, nbins=6, steps=(1, 2, 5, 10))  # 0.025 has no text of two decimals
        axis.set_major_formatter(lambda value, _: format(value, self.format).replace("-", "−"))
        getattr(ax, f"set_{side}label")(plain_text(self.title))


@dataclass(frozen=True)
class Line:
    """A line with a bar at each point; no bars where ``low`` and ``high`` are empty."""

    title: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()

    @classmethod
    def over(cls, title: str, x: Sequence[float], values: Sequence[Sequence[float]]) -> Line:
        """The mean of some values at each x, with bars from the least to the greatest; NaN values are left out."""
        nan = float("nan")
        known = [[value for value in each if np.isfinite(value)] for each in values]
        means = [float(np.mean(each)) if each else nan for each in known]
        low, high = ([float(end(each, default=nan)) for each in known] for end in (min, max))
        return cls(title, x, means, low, high)


@dataclass(frozen=True)
class Mark:
    """A point; some stand out by shape and colour."""

    x: float
    y: float
    stands_out: bool


@dataclass(frozen=True)
class Frame:
    """What surrounds the lines or marks of a picture."""

    x: PictureAxis
    y: PictureAxis
    key: str  # What the ids within the picture begin with
    level: float | None = None  # Where a horizontal line shows that there is no difference
    band: Ends | None = None  # Heights between which values are as they should be
    has_diagonal: bool = False  # Whether a diagonal shows that
    labels: Sequence[str] = ()  # Names at 0, 1, 2 ... below the picture, in place of an x axis


@dataclass(eq=False, repr=False)
class StudyDisplay(Display):
    """Lines or marks in their frame."""

    surround: Frame
    draw: Callable[[Any], None]

    def _draw(self, ax: Any) -> None:
        surround = self.surround
        self.draw(ax)
        for side, axis in (("x", surround.x), ("y", surround.y)):
            if axis.ends is not None:
                ax.update_datalim([axis.ends, axis.ends], updatex=side == "x", updatey=side == "y")
                ax.autoscale_view()
        if surround.band is not None:
            ax.axhspan(*surround.band, color=MUTED, alpha=0.15, linewidth=0, zorder=0)
        if surround.level is not None:
            ax.axhline(surround.level, color=MUTED, linewidth=1.2, zorder=1)
        surround.y.apply(ax, "y")
        if surround.labels:
            ax.set_xticks(range(len(surround.labels)), [plain_text(label) for label in surround.labels])
            ax.set_xlim(-0.5, len(surround.labels) - 0.5)
        else:
            surround.x.apply(ax, "x")
        if surround.has_diagonal:
            ax.autoscale(False)  # the points between which it is drawn are no data
            ax.axline((0, 0), (1, 1), color=MUTED, linestyle=":", linewidth=1.2, zorder=1)


def line_picture(
    title: str, lines: Sequence[Line], frame: Frame, *, summary: str, caption: str, has_steps: bool = False
) -> Picture:
    """Lines over an axis, with a key below them."""

    def draw(ax: Any) -> None:
        for place, line in enumerate(lines):
            colour, dash = _style(place)
            y = np.array(line.y, dtype=float)
            style = {"color": colour, "linestyle": (0, dash) if dash else "-", "linewidth": 2}
            steps = {"drawstyle": "steps-post"} if has_steps else {}
            marker = {"marker": "o", "markersize": 5} if line.low else {}
            kept = np.isfinite(y)
            x = np.array(line.x, dtype=float)[kept]
            ax.plot(x, y[kept], label=plain_text(line.title), **style, **steps, **marker)
            if line.low:
                ax.vlines(x, np.array(line.low)[kept], np.array(line.high)[kept], color=colour, linewidth=1.2)

    return Picture(title, embedded(StudyDisplay(frame, draw), frame.key, title, summary), caption)


def line_summary(
    what: str, lines: Sequence[Line], at: tuple[str, str], show: Callable[[float], str], places: Ends = (0, -1)
) -> str:
    """The text alternative of a picture of lines: two points of every line."""
    first, last = (int(place) for place in places)
    shown = "; ".join(f"{line.title} {show(line.y[first])}, {show(line.y[last])}" for line in lines)
    return f"{what} with {at[0]} and with {at[1]}: {shown}."


def mark_picture(
    title: str, marks: Sequence[Mark], frame: Frame, *, shape: str, summary: str, caption: str
) -> Picture:
    """Marks in a plane; those that stand out have a matplotlib marker of their own."""

    def draw(ax: Any) -> None:
        for stands_out, colour, form in ((False, BLUE, "o"), (True, VERMILLION, shape)):
            points = [(mark.x, mark.y) for mark in marks if mark.stands_out is stands_out]
            if points:
                style = {"color": colour, "markersize": 6, "alpha": 0.6, "linestyle": "none"}
                ax.plot(*zip(*points, strict=True), marker=form, **style)

    width = WIDE if frame.labels else 400
    return Picture(title, embedded(StudyDisplay(frame, draw), frame.key, title, summary, width=width), caption)


def _style(place: int) -> tuple[str, Sequence[float]]:
    """Colour and dashes of a line: the colours come again with other dashes.

    Examples
    --------
    >>> len({_style(place) for place in range(20)})
    20
    """
    turn, colour = divmod(place, len(STYLES))
    return STYLES[colour][0], STYLES[(colour + turn) % len(STYLES)][1]


def _apart(ticks: Sequence[float], scale: Callable[[Any], Any], ends: Ends) -> list[float]:
    """The first tick, and each whose text does not run into that of the one before.

    Examples
    --------
    >>> _apart([20, 40, 45, 100], np.log, (20, 100))
    [20, 40, 100]
    """
    kept: list[float] = []
    length = scale(ends[1]) - scale(ends[0])
    for tick in ticks:
        if not kept or scale(tick) - scale(kept[-1]) >= APART * length:
            kept.append(tick)
    return kept

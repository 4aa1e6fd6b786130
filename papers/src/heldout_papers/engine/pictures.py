"""Pictures of studies: lines with bars, and marks of which some stand out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from heldout.report.svg import altair, diagonal, inline_data, inline_svg, layered
from heldout.scales import BLUE, INK, MORE_SERIES, MUTED, SERIES, VERMILLION

WIDTH, HEIGHT, WIDE = 420, 330, 560
STYLES = (*SERIES, *MORE_SERIES)
KEY_STEP = 0.065
"""Height of a line of the key, as a share of the picture."""

Ends = tuple[float, float]


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
    format: str = ""  # Of the numbers at the ticks
    ticks: Sequence[float] = ()  # Where they are; chosen for a nice picture where empty
    scale: Literal["linear", "log", "sqrt"] = "linear"
    ends: Ends | None = None  # The values that must have room; those of the data by default

    def between(self, ends: Ends, part: float) -> float:
        """The value at a part of the way from one end to the other; below 0 and above 1 it is beyond them."""
        low, high = ends
        if self.scale == "log":
            return float(low * (high / low) ** part)
        if self.scale == "sqrt":
            return float((np.sqrt(low) + (np.sqrt(high) - np.sqrt(low)) * part) ** 2)
        return low + (high - low) * part

    def drawn(self, ends: Ends) -> dict[str, Any]:
        """Scale and axis as Vega-Lite has them."""
        alt = altair()
        kind = {"type": "pow", "exponent": 0.5} if self.scale == "sqrt" else {"type": self.scale}
        ticks = [tick for tick in self.ticks if ends[0] <= tick <= ends[1]]
        more = {"values": ticks} if ticks else {"tickCount": 6, "tickMinStep": _least_step(self.format)}
        axis = alt.Axis(
            title=self.title, format=self.format or alt.Undefined, labelOverlap="greedy", labelSeparation=8, **more
        )
        return {"scale": alt.Scale(domain=list(ends), nice=False, zero=False, **kind), "axis": axis}


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

    def points(self) -> list[dict[str, float]]:
        low, high = self.low or self.y, self.high or self.y
        rows = zip(self.x, self.y, low, high, strict=True)
        return [
            {"n": n, "x": float(x), "y": float(y), "low": float(least), "high": float(most)}
            for n, (x, y, least, most) in enumerate(rows)
            if np.isfinite(y)
        ]


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

    def svg(
        self, layers: Callable[[Any, Any], list[Any]], ends: tuple[Ends, Ends], title: str, summary: str
    ) -> str:
        """The layers on the axes, behind them level and diagonal."""
        alt = altair()
        without_axis = {"scale": alt.Scale(domain=list(ends[0]), nice=False), "axis": None}
        x = alt.X("x:Q", **(without_axis if self.labels else self.x.drawn(ends[0])))
        y = alt.Y("y:Q", **self.y.drawn(ends[1]))
        behind = []
        if self.band is not None:
            edges = [{"x": ends[0][0], "x2": ends[0][1], "y": self.band[0], "y2": self.band[1]}]
            area = alt.Chart(inline_data(edges)).mark_rect(color=MUTED, opacity=0.15)
            behind.append(area.encode(x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q")))
        if self.level is not None:
            rule = alt.Chart(inline_data([{"y": self.level}])).mark_rule(color=MUTED, strokeWidth=1.2)
            behind.append(rule.encode(y=y))
        if self.has_diagonal:
            behind.append(diagonal(ends[0][0], ends[0][1], x, y))
        names = [{"x": place, "y": ends[1][0], "text": name} for place, name in enumerate(self.labels)]
        if names:
            text = alt.Chart(inline_data(names)).mark_text(color=INK, fontSize=12, baseline="top", dy=8)
            behind.append(text.encode(x=x, y=y, text=alt.Text("text:N")))
        chart = layered(*behind, *layers(x, y), width=WIDE if names else WIDTH, height=HEIGHT)
        return inline_svg(chart, self.key, title, summary)


def line_picture(
    title: str, lines: Sequence[Line], frame: Frame, *, summary: str, caption: str, has_steps: bool = False
) -> Picture:
    """Lines over an axis, with a key above them."""
    points = [line.points() for line in lines]
    x_ends = frame.x.ends or _ends([point["x"] for each in points for point in each] + list(frame.x.ticks))
    beyond = 0.0 if has_steps else 0.03
    x_ends = frame.x.between(x_ends, -beyond), frame.x.between(x_ends, 1 + beyond)
    values = [point[what] for each in points for point in each for what in ("low", "y", "high")]
    values += [] if frame.level is None else [frame.level]
    values += list(x_ends) if frame.has_diagonal else []
    least, most = frame.y.ends or _ends(values)
    room = 0.08 + KEY_STEP * 1.4 * len(lines)
    y_ends = frame.y.between((least, most), -0.05), frame.y.between((least, most), 1 + room)

    def layers(x: Any, y: Any) -> list[Any]:
        drawn: list[Any] = []
        for place, (line, each) in enumerate(zip(lines, points, strict=True)):
            drawn += _line_layers(each, place, x, y, has_bars=bool(line.low), has_steps=has_steps)
            drawn += _key_layers(line.title, place, frame, (x_ends, y_ends), x, y)
        return drawn

    return Picture(title, frame.svg(layers, (x_ends, y_ends), title, summary), caption)


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
    """Marks in a plane; those that stand out have a shape of their own."""
    x_ends = frame.x.ends or (
        (-0.5, len(frame.labels) - 0.5) if frame.labels else _ends([mark.x for mark in marks])
    )
    heights = [mark.y for mark in marks] + ([] if frame.level is None else [frame.level])
    least, most = _ends(heights)
    y_ends = frame.y.ends or (frame.y.between((least, most), -0.06), frame.y.between((least, most), 1.06))

    def layers(x: Any, y: Any) -> list[Any]:
        drawn = []
        for stands_out, colour, form in ((False, BLUE, "circle"), (True, VERMILLION, shape)):
            points = [{"x": mark.x, "y": mark.y} for mark in marks if mark.stands_out is stands_out]
            if points:
                chart = altair().Chart(inline_data(points))
                marked = chart.mark_point(
                    color=colour, fill=colour, fillOpacity=0.35, opacity=1, size=36, shape=form, strokeWidth=1.2
                )
                drawn.append(marked.encode(x=x, y=y))
        return drawn

    return Picture(title, frame.svg(layers, (x_ends, y_ends), title, summary), caption)


def _line_layers(
    points: list[dict[str, float]], place: int, x: Any, y: Any, *, has_bars: bool, has_steps: bool
) -> list[Any]:
    alt = altair()
    colour, dash = _style(place)
    base = alt.Chart(inline_data(points))
    line = base.mark_line(
        color=colour, strokeWidth=2, strokeDash=list(dash) or alt.Undefined,
        interpolate="step-after" if has_steps else alt.Undefined,
    ).encode(x=x, y=y, order=alt.Order("n:Q"))  # fmt: skip
    if not has_bars:
        return [line]
    low = alt.Y("low:Q", scale=y["scale"])
    return [
        base.mark_rule(color=colour, strokeWidth=1.2).encode(x=x, y=low, y2=alt.Y2("high:Q")),
        line,
        base.mark_point(color=colour, fill=colour, opacity=1, size=26, shape="circle").encode(x=x, y=y),
    ]


def _style(place: int) -> tuple[str, Sequence[float]]:
    """Colour and dashes of a line: the colours come again with other dashes.

    Examples
    --------
    >>> len({_style(place) for place in range(20)})
    20
    """
    turn, colour = divmod(place, len(STYLES))
    return STYLES[colour][0], STYLES[(colour + turn) % len(STYLES)][1]


def _key_layers(title: str, place: int, frame: Frame, ends: tuple[Ends, Ends], x: Any, y: Any) -> list[Any]:
    """A stroke and a name at the upper left, in the room left for them."""
    alt = altair()
    colour, dash = _style(place)
    height = frame.y.between(ends[1], 1 - 0.04 - KEY_STEP * place)
    left, right, text = (frame.x.between(ends[0], part) for part in (0.03, 0.11, 0.13))
    line = alt.Chart(inline_data([{"x": left, "y": height}, {"x": right, "y": height}]))
    name = alt.Chart(inline_data([{"x": text, "y": height, "text": title}]))
    stroke = line.mark_line(color=colour, strokeWidth=2.5, strokeDash=list(dash) or alt.Undefined)
    return [
        stroke.encode(x=x, y=y),
        name.mark_text(align="left", baseline="middle", color=INK, fontSize=12).encode(
            x=x, y=y, text=alt.Text("text:N")
        ),
    ]


def _ends(values: Sequence[float]) -> Ends:
    """The least and the greatest, apart from each other."""
    finite = [value for value in values if np.isfinite(value)] or [0.0, 1.0]
    low, high = float(min(finite)), float(max(finite))
    return (low, high) if high > low else (low - 0.01, high + 0.01)


def _least_step(text_format: str) -> Any:
    """Between ticks, so that no two have the same text.

    Examples
    --------
    >>> _least_step(".2f"), _least_step("+.1%"), _least_step(".0%")
    (0.01, 0.001, 0.01)
    """
    if not text_format.endswith(("f", "%")):
        return altair().Undefined
    decimals = int(text_format.rpartition(".")[2][:-1]) + 2 * text_format.endswith("%")
    return round(0.1**decimals, decimals)

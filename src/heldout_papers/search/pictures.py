"""Pictures like the article's figures 2 to 7: lines with bars, and what stands beside them in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.report.drawing import INK, MUTED, SERIES, altair, diagonal, inline_data, inline_svg

WIDTH, HEIGHT = 420, 320
KEY_STEP = 0.065
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True)
class Line:
    """Means over tables, and the least and the greatest of any table.

    Attributes
    ----------
    title : str
    x, mean, low, high : sequence of float
    """

    title: str
    x: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class Axes:
    """How a picture is laid out.

    Attributes
    ----------
    x, y : str
        Titles.
    x_format, y_format : str
    x_values : sequence of float
        Ticks.
    is_log : bool
        Of the x axis.
    at : float or None
        Where a horizontal line says that there is no difference.
    is_square : bool
        Whether a diagonal says that there is none.
    """

    x: str
    y: str
    x_format: str
    y_format: str
    x_values: Sequence[float]
    is_log: bool = False
    at: float | None = None
    is_square: bool = False


def lines_svg(lines: Sequence[Line], axes: Axes, *, key: str, title: str, description: str) -> str:
    """Lines over an axis, as an SVG with its own ids."""
    alt = altair()
    beyond = (0.0 if axes.is_log else 0.03) * (max(axes.x_values) - min(axes.x_values))
    domain = [min(axes.x_values) - beyond, max(axes.x_values) + beyond]
    domain = [domain[0] / 1.12, domain[1] * 1.12] if axes.is_log else domain
    domain = domain if domain[1] > domain[0] else [domain[0] - 1, domain[1] + 1]
    ends = _ends(lines, axes)
    scale = alt.Scale(type="log" if axes.is_log else "linear", domain=domain, nice=False, zero=False)
    x_axis = alt.Axis(
        title=axes.x, values=list(axes.x_values), format=axes.x_format, grid=False, labelOverlap="greedy",
        labelSeparation=8,
    )  # fmt: skip
    x = alt.X("x:Q", scale=scale, axis=x_axis)
    y_scale = alt.Scale(domain=list(ends), nice=False, zero=False)
    # Of a share no more than 1 is written, however much room the key takes above it.
    ticks = [tick for tick in SHARES if tick >= ends[0]] if axes.is_square else alt.Undefined
    y_axis = alt.Axis(
        title=axes.y, tickCount=6, tickMinStep=_least_step(axes.y_format), values=ticks, format=axes.y_format
    )
    y = alt.Y("y:Q", scale=y_scale, axis=y_axis)
    layers: list[Any] = []
    if axes.at is not None:
        layers.append(alt.Chart(inline_data([{"y": axes.at}])).mark_rule(color=MUTED, strokeWidth=1.2).encode(y=y))
    if axes.is_square:
        layers.append(diagonal(domain[0], domain[1], x, y))
    for place, line in enumerate(lines):
        colour, dash = SERIES[place % len(SERIES)]
        strokes = list(dash) or alt.Undefined
        points = [
            {"x": at, "y": mean, "low": low, "high": high}
            for at, mean, low, high in zip(line.x, line.mean, line.low, line.high, strict=True)
            if np.isfinite(mean)
        ]
        base = alt.Chart(inline_data(points))
        layers += [
            base.mark_rule(color=colour, strokeWidth=1).encode(x=x, y=alt.Y("low:Q", scale=y_scale), y2="high:Q"),
            base.mark_line(color=colour, strokeWidth=2, strokeDash=strokes).encode(x=x, y=y, order="x:Q"),
            base.mark_point(color=colour, fill=colour, opacity=1, size=26, shape="circle").encode(x=x, y=y),
            *_key(line.title, place, colour, strokes, domain, ends, axes.is_log, x, y),
        ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return inline_svg(chart, key, title, description)


def _least_step(text_format: str) -> float:
    """Between ticks, so that no two are written alike.

    Examples
    --------
    >>> _least_step(".2f"), _least_step("+.1%"), _least_step(".0%")
    (0.01, 0.001, 0.01)
    """
    decimals = int(text_format.rpartition(".")[2][:-1]) + 2 * text_format.endswith("%")
    return round(0.1**decimals, decimals)


def _ends(lines: Sequence[Line], axes: Axes) -> tuple[float, float]:
    """Of the y axis, with room for the key above."""
    values = np.array([value for line in lines for value in (*line.low, *line.high, *line.mean)], dtype=float)
    values = values[np.isfinite(values)]
    told = [] if axes.at is None else [axes.at]
    told += [min(axes.x_values), max(axes.x_values)] if axes.is_square else []
    low, high = min([*values, *told], default=0.0), max([*values, *told], default=1.0)
    span = high - low or 0.01
    return low - 0.05 * span, high + span * (0.08 + KEY_STEP * 1.4 * len(lines))


def _key(
    title: str,
    place: int,
    colour: str,
    strokes: Any,
    domain: Sequence[float],
    ends: tuple[float, float],
    is_log: bool,
    x: Any,
    y: Any,
) -> list[Any]:
    """A stroke and a name at the upper left, in the room left for it."""
    alt = altair()

    def at(part: float) -> float:
        if is_log:
            return float(domain[0] * (domain[1] / domain[0]) ** part)
        return domain[0] + (domain[1] - domain[0]) * part

    height = ends[1] - (0.04 + KEY_STEP * place) * (ends[1] - ends[0])
    line = alt.Chart(inline_data([{"x": at(0.03), "y": height}, {"x": at(0.11), "y": height}]))
    name = alt.Chart(inline_data([{"x": at(0.13), "y": height, "text": title}]))
    return [
        line.mark_line(color=colour, strokeWidth=2.5, strokeDash=strokes).encode(x=x, y=y),
        name.mark_text(align="left", baseline="middle", color=INK, fontSize=12).encode(x=x, y=y, text="text:N"),
    ]

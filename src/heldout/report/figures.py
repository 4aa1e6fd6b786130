"""Figures of a search: its bootstrapped scores, its configurations by split, and the winner's predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from heldout._text import number_text
from heldout.dropping.words import remaining_summary
from heldout.report.content import Distribution
from heldout.report.diagnostics import CalibrationGroups, Residuals, RocPoints
from heldout.report.race import RaceSummary
from heldout.report.svg import (
    DOTTED,
    TALL,
    WIDTH,
    altair,
    diagonal,
    histogram,
    inline_data,
    inline_svg,
    key_of_lines,
    layered,
    line,
    rows_below,
    shortened_name,
    texts,
    unit_axes,
)
from heldout.report.words import distribution_summary
from heldout.scales import BAND, BLUE, MORE_SERIES, MUTED, SERIES, SKY, VERMILLION, Dash, reach_of


def distribution_svg(content: Distribution, *, key: str, width: int) -> str:
    """Histogram of the bootstrapped scores, with the interval, the corrected and the uncorrected value."""
    alt = altair()
    most = max(content.counts)
    first, last = _domain(content)
    x = alt.Scale(domain=[first, last], nice=False, zero=False)
    y = alt.Scale(domain=[0, most * 1.36], nice=False)
    axis = alt.Axis(grid=False, tickCount=max(width // 90, 3), title=content.metric.title)
    layers = []
    if content.low is not None and content.high is not None:
        ends = {"from": max(content.low, first), "to": min(content.high, last)}
        layers.append(
            alt.Chart(inline_data([ends]))
            .mark_rect(color=BAND)
            .encode(x=alt.X("from:Q", scale=x), x2=alt.X2("to:Q"))
        )
    layers.append(histogram(content.edges, content.counts, x, y, axis))
    for mark in _marks(content, most, (first + last) / 2):
        layers += _marked(mark, x, y)
    chart = layered(*layers, width=width, height=250)
    value, low, high, before = (
        number_text(number, content.metric.decimals)
        for number in (content.value, content.low, content.high, content.uncorrected)
    )
    summary = distribution_summary(content.metric.title, value, low, high, before)
    return inline_svg(chart, key, f"Distribution of the bootstrapped {content.metric.title}", summary)


@dataclass(frozen=True)
class _Mark:
    """A vertical line at a value, and its label to the left or right of its top."""

    text: str
    value: float
    height: float
    colour: str
    dash: Dash
    to_the_left: bool


def _marks(content: Distribution, most: float, middle: float) -> list[_Mark]:
    """The corrected and the uncorrected value, so that no label crosses the other line.

    Both labels are on the side with more room. The outer line is taller, so its label is above the other.
    """
    values: list[tuple[str, float, str, Dash]] = [("corrected", content.value, BLUE, ())]
    if content.uncorrected is not None:
        values.append(("uncorrected", content.uncorrected, VERMILLION, (5, 3)))
    to_the_left = sum(value for _, value, _, _ in values) / len(values) > middle
    outer_first = sorted(values, key=lambda named: named[1], reverse=to_the_left)
    return [
        _Mark(
            f"{name} {number_text(value, content.metric.decimals)}",
            value,
            most * (1.29 if place == 0 else 1.14),
            colour,
            dash,
            to_the_left,
        )
        for place, (name, value, colour, dash) in enumerate(outer_first)
    ]


def _marked(mark: _Mark, x: Any, y: Any) -> Iterator[Any]:
    alt = altair()
    places = [{"value": mark.value, "height": mark.height, "zero": 0, "text": mark.text}]
    position = alt.X("value:Q", scale=x)
    yield (
        alt.Chart(inline_data(places))
        .mark_rule(color=mark.colour, strokeWidth=2, strokeDash=list(mark.dash) or alt.Undefined)
        .encode(x=position, y=alt.Y("zero:Q", scale=y), y2=alt.Y2("height:Q"))
    )
    align, shift = ("right", -6) if mark.to_the_left else ("left", 6)
    yield texts(places, position, alt.Y("height:Q", scale=y), align=align, baseline="top", dx=shift)


def _domain(content: Distribution) -> tuple[float, float]:
    points = [content.edges[0], content.edges[-1], content.value]
    if content.uncorrected is not None:
        points.append(content.uncorrected)
    return reach_of(points, content.metric.range, share=0.03)


# --- The race -----------------------------------------------------------------------------------------------


def race_svg(content: RaceSummary, *, key: str, width: int) -> str:
    """A bar per split: the configurations fitted on it and, pale above them, those that had been dropped."""
    alt = altair()
    total, splits = max(content.configurations, 1), len(content.alive)
    margin = min(0.12, 2 * splits / width)  # between bars, which may be thin
    bars = [
        {"from": n + margin, "to": n + 1 - margin, "middle": n + 0.5, "alive": alive, "all": total, "zero": 0}
        for n, alive in enumerate(content.alive)
    ]
    x_scale, y_scale = alt.Scale(domain=[0, splits], nice=False), alt.Scale(domain=[0, 1.14 * total], nice=False)
    every = max(math.ceil(splits * 36 / width), 1)
    shown = [n + 0.5 for n in range(splits) if n % every == 0]
    axis = alt.Axis(grid=False, values=shown, labelExpr="datum.value + 0.5", title="split", ticks=False)
    x = alt.X("from:Q", scale=x_scale, axis=axis)
    layers = [
        alt.Chart(inline_data(bars))
        .mark_bar(color=colour)
        .encode(x=x, x2=alt.X2("to:Q"), y=alt.Y(f"{low}:Q", scale=y_scale, axis=None), y2=alt.Y2(f"{high}:Q"))
        for colour, low, high in ((BAND, "alive", "all"), (SKY, "zero", "alive"))
    ]
    # Over thin bars a number is shown where it changes, if there is room beside the last one.
    labelled: list[dict[str, Any]] = []
    for bar in bars:
        last = labelled[-1] if labelled else {"alive": -1, "middle": -splits}
        has_room = (bar["middle"] - last["middle"]) * width / splits > 26
        if has_room and (bar["alive"] != last["alive"] or width / splits > 26):
            labelled.append({**bar, "text": f"{bar['alive']:,}"})
    middle, height = alt.X("middle:Q", scale=x_scale), alt.Y("alive:Q", scale=y_scale)
    layers.append(texts(labelled, middle, height, baseline="bottom", dy=-4))
    chart = layered(*layers, width=width, height=230)
    summary = remaining_summary(content.alive, splits)
    return inline_svg(chart, key, "Configurations by split", summary)


# --- Diagnostics of a classification ------------------------------------------------------------------------


def roc_svg(curves: tuple[RocPoints, ...], *, key: str) -> str:
    """One curve per repeat for a binary task, or one per class."""
    by_class = any(curve.name for curve in curves)
    x, y = unit_axes("false positive rate", "true positive rate")
    styles = (SERIES + MORE_SERIES) if by_class else ((BLUE, ()),)
    opacity = 1.0 if by_class or len(curves) == 1 else 0.55
    layers = [diagonal(0.0, 1.0, x, y)]
    for number, curve in enumerate(curves):
        points = [{"x": a, "y": b, "n": n} for n, (a, b) in enumerate(zip(curve.x, curve.y, strict=True))]
        colour, dash = styles[number % len(styles)]
        layers.append(line(points, x, y, colour, dash, 2, opacity=opacity, strokeJoin="round"))
    layers += _areas_by_class(curves, x, y) if by_class else [_mean_area(curves, x, y)]
    chart = layered(*layers, width=WIDTH, height=TALL)
    areas = ", ".join(f"{curve.name} {curve.area:.3f}".strip() for curve in curves)
    return inline_svg(
        chart, key, "ROC curve", f"True positive rate over false positive rate; area under it: {areas}."
    )


def _mean_area(curves: tuple[RocPoints, ...], x: Any, y: Any) -> Any:
    mean = sum(curve.area for curve in curves) / len(curves)
    text = f"area {mean:.3f}" + (f", mean of {len(curves)} repeats" if len(curves) > 1 else "")
    return texts([{"x": 0.97, "y": 0.05, "text": text}], x, y, align="right", baseline="bottom")


def _areas_by_class(curves: tuple[RocPoints, ...], x: Any, y: Any) -> list[Any]:
    """The areas, in the empty corner under the curves, each beside a sample of its line."""
    entries = [
        (
            f"{shortened_name(curve.name, 16)} {curve.area:.3f}",
            *(SERIES + MORE_SERIES)[number % 7],
            0.05 + 0.062 * (len(curves) - 1 - number),
        )
        for number, curve in enumerate(curves)
    ]
    return key_of_lines(entries, x, y, ends=(0.44, 0.53), beside=0.55)


def calibration_svg(content: CalibrationGroups, *, key: str) -> str:
    """Observed share over predicted probability, and how often each probability was predicted."""
    alt = altair()
    unit = alt.Scale(domain=[0, 1], nice=False)
    x, y = unit_axes(None, "observed share")
    points = [{"x": g.predicted, "y": g.observed, "low": g.low, "high": g.high} for g in content.groups]
    base = alt.Chart(inline_data(points))
    upper = [
        diagonal(0.0, 1.0, x, y),
        base.mark_rule(color=BLUE, strokeWidth=1.4).encode(x=x, y=alt.Y("low:Q", scale=unit), y2=alt.Y2("high:Q")),
        base.mark_line(color=BLUE, strokeWidth=1, opacity=0.5).encode(x=x, y=y, order=alt.Order("x:Q")),
        base.mark_point(color=BLUE, fill=BLUE, opacity=1, size=42, shape="circle").encode(x=x, y=y),
    ]
    axis = alt.Axis(title="predicted probability", tickCount=5, format=".1f", grid=False)
    chart = rows_below(upper, content.histogram, 0, 1, unit, axis)
    shares = "; ".join(
        f"{group.predicted:.2f} predicted, {group.observed:.2f} observed" for group in content.groups
    )
    return inline_svg(chart, key, "Calibration", f"Groups of rows by predicted probability: {shares}.", fit=False)


# --- Diagnostics of a regression ----------------------------------------------------------------------------


def fitted_svg(content: Residuals, *, key: str) -> str:
    """Truth over prediction."""
    alt = altair()
    low, high = _span([*content.predicted, *content.truth])
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title="prediction", tickCount=5))
    y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title="truth", tickCount=5))
    points = [{"x": p, "y": t} for p, t in zip(content.predicted, content.truth, strict=True)]
    chart = layered(_dots(points, x, y), diagonal(low, high, x, y), width=WIDTH, height=TALL)
    return inline_svg(
        chart, key, "Truth over prediction", f"{len(points)} rows as dots about the diagonal of perfect prediction."
    )


def residuals_svg(content: Residuals, *, key: str) -> str:
    """Residual over prediction, with the medians of groups."""
    alt = altair()
    residuals = [t - p for p, t in zip(content.predicted, content.truth, strict=True)]
    reach = max(-_span(residuals)[0], _span(residuals)[1])
    x_scale = alt.Scale(domain=list(_span(content.predicted)), nice=False, zero=False)
    y_scale = alt.Scale(domain=[-reach, reach], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="prediction", tickCount=5))
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title="truth minus prediction", tickCount=5))
    points = [{"x": p, "y": r} for p, r in zip(content.predicted, residuals, strict=True)]
    medians = alt.Chart(inline_data([{"x": p, "y": r} for p, r in content.medians]))
    zero = (
        alt.Chart(inline_data([{"y": 0.0}]))
        .mark_rule(color=MUTED, strokeWidth=1.2, strokeDash=list(DOTTED))
        .encode(y=y)
    )
    chart = layered(
        _dots(points, x, y),
        zero,
        medians.mark_line(color=VERMILLION, strokeWidth=2.2).encode(x=x, y=y, order=alt.Order("x:Q")),
        medians.mark_point(color=VERMILLION, fill=VERMILLION, shape="diamond", size=48, opacity=1).encode(x=x, y=y),
        width=WIDTH,
        height=TALL,
    )
    return inline_svg(
        chart, key, "Residuals", f"Truth minus prediction of {len(points)} rows, and medians of groups."
    )


def _dots(points: list[dict[str, float]], x: Any, y: Any) -> Any:
    opacity = 0.75 if len(points) < 200 else 0.45
    return (
        altair()
        .Chart(inline_data(points))
        .mark_circle(color=BLUE, size=16, opacity=opacity, stroke=None)
        .encode(x=x, y=y)
    )


def _span(values: Any) -> tuple[float, float]:
    """The least and the largest value with a margin, never an empty range."""
    low, high = min(values), max(values)
    margin = 0.04 * (high - low) or 0.01 * abs(low) or 1.0
    return low - margin, high + margin

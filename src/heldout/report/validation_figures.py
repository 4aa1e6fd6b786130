"""Figures of a validation: corrected curves beside the apparent ones, and the optimism of each bootstrap.

Apparent curves are dashed, corrected ones solid with a band; the key is inside the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from heldout._text import number_text
from heldout.report.svg import (
    BAND,
    BLUE,
    INK,
    MUTED,
    SKY,
    TALL,
    VERMILLION,
    WIDTH,
    altair,
    diagonal,
    inline_data,
    inline_svg,
)
from heldout.report.validation_content import CalibrationPicture, DecisionPicture, OptimismPicture, RocPicture
from heldout.report.validation_words import optimism_summary

_Points = Sequence[float | None]
_INNER, _UPPER, _LOWER = 318, 246, 54
"""Width of the calibration figure, height of its curves, height of its bars."""


def corrected_roc_svg(content: RocPicture, *, key: str) -> str:
    """Both curves with their areas."""
    alt = altair()
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("x:Q", scale=unit, axis=alt.Axis(title="false positive rate", tickCount=5, format=".1f"))
    y = alt.Y("y:Q", scale=unit, axis=alt.Axis(title="true positive rate", tickCount=5, format=".1f"))
    # Every curve starts in the corner, even if rows are found before the first false alarm.
    start = (0.0, *content.x)
    curves = [(0.0, *values) for values in (content.apparent, content.corrected)]
    layers = [
        _band(content.x, content.low, content.high, x, unit),
        diagonal(0.0, 1.0, x, y),
        _line(start, curves[0], x, y, VERMILLION, (6, 3)),
        _line(start, curves[1], x, y, BLUE, ()),
        *_key(
            [
                (f"apparent {content.area_apparent}", VERMILLION, (6, 3)),
                (f"corrected {content.area_corrected}", BLUE, ()),
            ],
            x, y, left=0.5, bottom=0.06, step=0.07,
        ),
    ]  # fmt: skip
    chart = alt.layer(*layers).properties(width=WIDTH, height=TALL)
    return inline_svg(
        chart, key, "ROC curve, corrected for optimism",
        f"True positive rate over false positive rate; area under it: apparent {content.area_apparent}, corrected "
        f"{content.area_corrected}.",
    )  # fmt: skip


def corrected_calibration_svg(content: CalibrationPicture, *, key: str) -> str:
    """Observed over predicted, and how often each prediction was made."""
    alt = altair()
    low, high = content.low_end, content.high_end
    is_probability = (low, high) == (0.0, 1.0)
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    ticks = {"tickCount": 5, "format": ".1f"} if is_probability else {"tickCount": 5}
    title = "share observed" if is_probability else "mean observed"
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title=None, tickCount=5, labels=False, ticks=False))
    y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title=title, **ticks))
    span = high - low
    dots = [{"x": predicted, "y": observed} for predicted, observed in content.groups]
    upper = alt.layer(
        _band(content.x, content.low, content.high, x, scale),
        diagonal(low, high, x, y),
        alt.Chart(inline_data(dots))
        .mark_point(color=MUTED, fill=MUTED, opacity=1, size=34, shape="circle")
        .encode(x=x, y=y),
        _line(content.x, content.apparent, x, y, VERMILLION, (6, 3)),
        _line(content.x, content.corrected, x, y, BLUE, ()),
        *_key(
            [("apparent", VERMILLION, (6, 3)), ("corrected", BLUE, ())],
            x, y, left=low + 0.6 * span, bottom=low + 0.07 * span, step=0.09 * span, length=0.11 * span,
        ),
    ).properties(width=_INNER, height=_UPPER)  # fmt: skip
    steps = len(content.histogram)
    bars = [
        {"from": low + span * step / steps, "to": low + span * (step + 1) / steps, "rows": rows, "zero": 0}
        for step, rows in enumerate(content.histogram)
        if rows
    ]
    predicted = "predicted probability" if is_probability else "prediction"
    lower = (
        alt.Chart(inline_data(bars))
        .mark_bar(color=MUTED, x2Offset=-1)
        .encode(
            x=alt.X("from:Q", scale=scale, axis=alt.Axis(title=predicted, grid=False, **ticks)),
            x2="to:Q",
            y=alt.Y("rows:Q", axis=alt.Axis(title="rows", tickCount=2, grid=False, format=",.0f")),
            y2="zero:Q",
        )
        .properties(width=_INNER, height=_LOWER)
    )
    chart = alt.vconcat(upper, lower, spacing=14)
    return inline_svg(chart, key, "Calibration, corrected for optimism", _calibration_text(content), fit=False)


def _calibration_text(content: CalibrationPicture) -> str:
    decimals = 2 if (content.low_end, content.high_end) == (0.0, 1.0) else 1
    known = [
        (predicted, value)
        for predicted, value in zip(content.x, content.corrected, strict=True)
        if value is not None
    ]
    places = known[:: max(len(known) // 5, 1)]
    points = "; ".join(
        f"{number_text(predicted, decimals)} predicted, {number_text(value, decimals)} observed"
        for predicted, value in places
    )
    return f"The corrected curve: {points}." if points else "No point of the curve could be corrected."


def decision_svg(content: DecisionPicture, *, key: str) -> str:
    """Net benefit by threshold: acting on the model, on all rows, and on none."""
    alt = altair()
    most = max([value for value in (*content.apparent, *content.corrected) if value is not None], default=0.0)
    most = max(most, content.act_on_all[0], 0.01)
    x_scale = alt.Scale(domain=[0, 1], nice=False)
    y_scale = alt.Scale(domain=[-0.25 * most, 1.5 * most], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="threshold probability", tickCount=5, format=".1f"))
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title="net benefit per row", tickCount=5))
    none = alt.Chart(inline_data([{"y": 0.0}])).mark_rule(color=MUTED, strokeWidth=1.2).encode(y=y)
    layers = [
        _band(content.x, content.low, content.high, x, y_scale),
        none,
        _line(content.x, content.act_on_all, x, y, MUTED, (2, 3), width=1.6),
        _line(content.x, content.apparent, x, y, VERMILLION, (6, 3)),
        _line(content.x, content.corrected, x, y, BLUE, ()),
        *_key(
            [
                ("act on all rows", MUTED, (2, 3)),
                ("apparent", VERMILLION, (6, 3)),
                ("corrected", BLUE, ()),
            ],
            x, y, left=0.55, bottom=1.14 * most, step=0.125 * most,
        ),
    ]  # fmt: skip
    chart = alt.layer(*layers).properties(width=WIDTH, height=TALL)
    benefits = "; ".join(
        f"{content.x[place]:.2f} {number_text(content.corrected[place], 3)}"
        for place in range(0, len(content.x), max(len(content.x) // 6, 1))
    )
    return inline_svg(chart, key, "Net benefit, corrected for optimism", f"By threshold: {benefits}.")


def optimism_svg(content: OptimismPicture, *, key: str, width: int) -> str:
    """Histogram of the optimism over the bootstraps, with its mean and nothing marked."""
    alt = altair()
    bars = [
        {"from": low, "to": high, "count": count, "zero": 0}
        for (low, high), count in zip(pairwise(content.edges), content.counts, strict=True)
        if count
    ]
    most = max(content.counts)
    first, last = min(content.edges[0], 0.0), max(content.edges[-1], 0.0)
    margin = 0.03 * (last - first)
    x_scale = alt.Scale(domain=[first - margin, last + margin], nice=False, zero=False)
    y_scale = alt.Scale(domain=[0, most * 1.25], nice=False)
    axis = alt.Axis(grid=False, tickCount=max(width // 90, 3), title=f"optimism, {content.metric.title}")
    mean = number_text(content.mean, content.metric.decimals).replace("-", "−")
    to_the_left = content.mean > (first + last) / 2
    mark = inline_data([{"x": content.mean, "top": most * 1.2, "zero": 0, "text": f"mean {mean}"}])
    nothing = inline_data([{"x": 0.0, "top": most * 1.05, "zero": 0}])
    at, y = alt.X("x:Q", scale=x_scale), alt.Y("zero:Q", scale=y_scale)
    layers = [
        alt.Chart(inline_data(bars))
        .mark_bar(color=SKY, x2Offset=-1)
        .encode(
            x=alt.X("from:Q", scale=x_scale, axis=axis),
            x2="to:Q",
            y=alt.Y("count:Q", scale=y_scale, axis=None),
            y2="zero:Q",
        ),
        alt.Chart(nothing)
        .mark_rule(color=MUTED, strokeWidth=1.4, strokeDash=[1.5, 3])
        .encode(x=at, y=y, y2="top:Q"),
        alt.Chart(mark).mark_rule(color=BLUE, strokeWidth=2).encode(x=at, y=y, y2="top:Q"),
        alt.Chart(mark)
        .mark_text(
            align="right" if to_the_left else "left",
            baseline="top",
            dx=-6 if to_the_left else 6,
            color=INK,
            fontSize=13,
        )
        .encode(x=at, y=alt.Y("top:Q", scale=y_scale), text="text:N"),
    ]
    chart = alt.layer(*layers).resolve_scale(x="shared", y="shared").properties(width=width, height=220)
    ends = (number_text(end, content.metric.decimals) for end in (content.edges[0], content.edges[-1]))
    least, greatest = ends
    summary = optimism_summary(content.metric.title, least, greatest, mean, content.bootstraps)
    return inline_svg(chart, key, f"Optimism of the {content.metric.title}", summary)


def _line(
    xs: Sequence[float], ys: _Points, x: Any, y: Any, colour: str, dash: tuple[int, ...], *, width: float = 2.0
) -> Any:
    """A line through the points that have a value; it is broken nowhere, as these are all in one piece."""
    alt = altair()
    points = [{"x": a, "y": b, "n": n} for n, (a, b) in enumerate(zip(xs, ys, strict=True)) if b is not None]
    return (
        alt.Chart(inline_data(points))
        .mark_line(
            color=colour, strokeWidth=width, strokeDash=list(dash) or alt.Undefined, strokeJoin="round", clip=True
        )
        .encode(x=x, y=y, order="n:Q")
    )


def _band(xs: Sequence[float], low: _Points, high: _Points, x: Any, scale: Any) -> Any:
    alt = altair()
    points = [
        {"x": a, "low": b, "high": c}
        for a, b, c in zip(xs, low, high, strict=True)
        if b is not None and c is not None
    ]
    return (
        alt.Chart(inline_data(points))
        .mark_area(color=BAND, opacity=1, clip=True)
        .encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q")
    )


def _key(
    entries: Sequence[tuple[str, str, tuple[int, ...]]],
    x: Any,
    y: Any,
    *,
    left: float,
    bottom: float,
    step: float,
    length: float = 0.09,
) -> list[Any]:
    """Names beside a piece of each line, the first one on top."""
    alt = altair()
    layers = []
    for number, (text, colour, dash) in enumerate(entries):
        height = bottom + step * (len(entries) - 1 - number)
        line = [{"x": left, "y": height}, {"x": left + length, "y": height}]
        layers.append(
            alt.Chart(inline_data(line))
            .mark_line(color=colour, strokeWidth=2.2, strokeDash=list(dash) or alt.Undefined)
            .encode(x=x, y=y)
        )
        label = [{"x": left + 1.2 * length, "y": height, "text": text}]
        layers.append(
            alt.Chart(inline_data(label))
            .mark_text(align="left", baseline="middle", color=INK, fontSize=12.5)
            .encode(x=x, y=y, text="text:N")
        )
    return layers

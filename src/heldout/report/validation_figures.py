"""Figures of a validation: corrected curves beside the apparent ones, and the optimism of each bootstrap.

Apparent curves are dashed, corrected ones solid with a band; the key is inside the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout._text import number_text
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
    texts,
    unit_axes,
)
from heldout.report.validation_content import CalibrationPicture, DecisionPicture, OptimismPicture, RocPicture
from heldout.report.validation_words import optimism_summary
from heldout.scales import BAND, BLUE, MUTED, VERMILLION, Dash

_Points = Sequence[float | None]
_APPARENT, _CORRECTED = (VERMILLION, (6, 3)), (BLUE, ())
"""Colour and dash of the curves."""


def corrected_roc_svg(content: RocPicture, *, key: str) -> str:
    """Both curves with their areas."""
    alt = altair()
    x, y = unit_axes("false positive rate", "true positive rate")
    # Every curve starts in the corner, even if rows are found before the first false alarm.
    start = (0.0, *content.x)
    names = (f"apparent {content.area_apparent}", *_APPARENT), (f"corrected {content.area_corrected}", *_CORRECTED)
    layers = [
        _band(content.x, content.low, content.high, x, alt.Scale(domain=[0, 1], nice=False)),
        diagonal(0.0, 1.0, x, y),
        _curve(start, (0.0, *content.apparent), x, y, *_APPARENT),
        _curve(start, (0.0, *content.corrected), x, y, *_CORRECTED),
        *_key(names, x, y, left=0.5, bottom=0.06, step=0.07),
    ]
    chart = layered(*layers, width=WIDTH, height=TALL)
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
    upper = [
        _band(content.x, content.low, content.high, x, scale),
        diagonal(low, high, x, y),
        alt.Chart(inline_data(dots))
        .mark_point(color=MUTED, fill=MUTED, opacity=1, size=34, shape="circle")
        .encode(x=x, y=y),
        _curve(content.x, content.apparent, x, y, *_APPARENT),
        _curve(content.x, content.corrected, x, y, *_CORRECTED),
        *_key(
            [("apparent", *_APPARENT), ("corrected", *_CORRECTED)],
            x, y, left=low + 0.6 * span, bottom=low + 0.07 * span, step=0.09 * span, length=0.11 * span,
        ),
    ]  # fmt: skip
    predicted = "predicted probability" if is_probability else "prediction"
    axis = alt.Axis(title=predicted, grid=False, **ticks)
    chart = rows_below(upper, content.histogram, low, span, scale, axis)
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
        _curve(content.x, content.act_on_all, x, y, MUTED, (2, 3), width=1.6),
        _curve(content.x, content.apparent, x, y, *_APPARENT),
        _curve(content.x, content.corrected, x, y, *_CORRECTED),
        *_key(
            [("act on all rows", MUTED, (2, 3)), ("apparent", *_APPARENT), ("corrected", *_CORRECTED)],
            x, y, left=0.55, bottom=1.14 * most, step=0.125 * most,
        ),
    ]  # fmt: skip
    chart = layered(*layers, width=WIDTH, height=TALL)
    benefits = "; ".join(
        f"{content.x[place]:.2f} {number_text(content.corrected[place], 3)}"
        for place in range(0, len(content.x), max(len(content.x) // 6, 1))
    )
    return inline_svg(chart, key, "Net benefit, corrected for optimism", f"By threshold: {benefits}.")


def optimism_svg(content: OptimismPicture, *, key: str, width: int) -> str:
    """Histogram of the optimism over the bootstraps, with its mean and 0 marked."""
    alt = altair()
    most = max(content.counts)
    first, last = min(content.edges[0], 0.0), max(content.edges[-1], 0.0)
    margin = 0.03 * (last - first)
    x_scale = alt.Scale(domain=[first - margin, last + margin], nice=False, zero=False)
    y_scale = alt.Scale(domain=[0, most * 1.25], nice=False)
    axis = alt.Axis(grid=False, tickCount=max(width // 90, 3), title=f"optimism, {content.metric.title}")
    mean = number_text(content.mean, content.metric.decimals).replace("-", "−")
    align, shift = ("right", -6) if content.mean > (first + last) / 2 else ("left", 6)
    at_mean = [{"x": content.mean, "top": most * 1.2, "zero": 0, "text": f"mean {mean}"}]
    at_0 = [{"x": 0.0, "top": most * 1.05, "zero": 0}]
    x, zero, top = alt.X("x:Q", scale=x_scale), alt.Y("zero:Q", scale=y_scale), alt.Y("top:Q", scale=y_scale)
    layers = [
        histogram(content.edges, content.counts, x_scale, y_scale, axis),
        alt.Chart(inline_data(at_0))
        .mark_rule(color=MUTED, strokeWidth=1.4, strokeDash=list(DOTTED))
        .encode(x=x, y=zero, y2=alt.Y2("top:Q")),
        alt.Chart(inline_data(at_mean))
        .mark_rule(color=BLUE, strokeWidth=2)
        .encode(x=x, y=zero, y2=alt.Y2("top:Q")),
        texts(at_mean, x, top, align=align, baseline="top", dx=shift),
    ]
    chart = layered(*layers, width=width, height=220)
    least, greatest = (number_text(content.edges[end], content.metric.decimals) for end in (0, -1))
    summary = optimism_summary(content.metric.title, least, greatest, mean, content.bootstraps)
    return inline_svg(chart, key, f"Optimism of the {content.metric.title}", summary)


def _curve(xs: Sequence[float], ys: _Points, x: Any, y: Any, colour: str, dash: Dash, *, width: float = 2.0) -> Any:
    """A line through the points that have a value; it is nowhere interrupted, as these are all in one piece."""
    points = [{"x": a, "y": b, "n": n} for n, (a, b) in enumerate(zip(xs, ys, strict=True)) if b is not None]
    return line(points, x, y, colour, dash, width, strokeJoin="round", clip=True)


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
        .encode(x=x, y=alt.Y("low:Q", scale=scale), y2=alt.Y2("high:Q"))
    )


def _key(
    names: Sequence[tuple[str, str, Dash]],
    x: Any,
    y: Any,
    *,
    left: float,
    bottom: float,
    step: float,
    length: float = 0.09,
) -> list[Any]:
    """A key with the first name on top."""
    entries = [(*name, bottom + step * (len(names) - 1 - number)) for number, name in enumerate(names)]
    ends, beside = (left, left + length), left + 1.2 * length
    return key_of_lines(entries, x, y, ends=ends, beside=beside, width=2.2, size=12.5)

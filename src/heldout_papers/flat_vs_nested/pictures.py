"""Pictures like the article's figures 3 and 4: |gain| and threshold of tables, against each other and sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.report.drawing import BLUE, INK, MUTED, VERMILLION, altair, diagonal, inline_data, inline_svg
from heldout_papers.flat_vs_nested import words as words
from heldout_papers.flat_vs_nested.accuracies import Floats
from heldout_papers.flat_vs_nested.analysis import Compared

WIDTH, HEIGHT = 410, 390
ROOT = 0.5
"""Of the axes: most tables have values near 0, and few have large ones."""


def against_svg(seen: Compared, scenario: str, key: str) -> str:
    """A point a table: its threshold to the right, the size of its gain upwards, and the diagonal.

    Parameters
    ----------
    seen : Compared
    scenario : str
    key : str
        What the ids within the picture begin with.
    """
    alt = altair()
    gains, thresholds = np.abs(seen.gain), seen.threshold
    scale = _scale(gains, thresholds)
    x = alt.X("x:Q", scale=scale, axis=_axis("threshold of irrelevance"))
    y = alt.Y("y:Q", scale=scale, axis=_axis("size of the accuracy gain"))
    layers = [diagonal(0.0, float(scale.domain[1]), x, y)]
    for above, colour, shape in ((False, BLUE, "circle"), (True, VERMILLION, "triangle-up")):
        points = [
            {"x": float(t), "y": float(g)} for g, t in zip(gains, thresholds, strict=True) if bool(g >= t) is above
        ]
        if points:
            marked = alt.Chart(inline_data(points)).mark_point(
                color=colour,
                fill=colour,
                fillOpacity=0.35,
                opacity=1,
                size=34,
                shape=shape,
                strokeWidth=1,
                clip=False,
            )
            layers.append(marked.encode(x=x, y=y))
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    n_above = int((gains >= thresholds).sum())
    title = words.against_title(scenario)
    return inline_svg(chart, key, title, words.against_summary(len(gains), n_above, int((gains == 0).sum())))


def distribution_svg(seen: Compared, scenario: str, key: str) -> str:
    """The share of tables up to each value, a line for the size of the gain and one for the threshold."""
    alt = altair()
    gains, thresholds = np.abs(seen.gain), seen.threshold
    scale = _scale(gains, thresholds)
    end = float(scale.domain[1])
    x = alt.X("x:Q", scale=scale, axis=_axis("accuracy"))
    shares = alt.Axis(title="share of tables up to", format=".0%", values=[n / 5 for n in range(6)])
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, 1.14], nice=False), axis=shares)
    layers: list[Any] = []
    lines = ((gains, BLUE, alt.Undefined, words.GAIN), (thresholds, VERMILLION, [6, 3], words.THRESHOLD))
    for place, (values, colour, dash, name) in enumerate(lines):
        chart = alt.Chart(inline_data(_steps(values, end)))
        layers.append(
            chart.mark_line(color=colour, strokeWidth=2.2, strokeDash=dash, interpolate="step-after").encode(
                x=x, y=y, order="n:Q"
            )
        )
        # Above the lines, side by side.
        height = 1.09
        left, right, text = (end * (part + 0.5 * place) ** 2 for part in (0.02, 0.1, 0.12))
        stroke = alt.Chart(inline_data([{"x": left, "y": height, "n": 0}, {"x": right, "y": height, "n": 1}]))
        label = alt.Chart(inline_data([{"x": text, "y": height, "text": name}]))
        layers += [
            stroke.mark_line(color=colour, strokeWidth=2.5, strokeDash=dash).encode(x=x, y=y, order="n:Q"),
            label.mark_text(align="left", baseline="middle", color=INK, fontSize=12).encode(
                x=x, y=y, text="text:N"
            ),
        ]
    middle = alt.Chart(inline_data([{"y": 0.5}])).mark_rule(color=MUTED, strokeWidth=1, strokeDash=[1.5, 3])
    chart = alt.layer(middle.encode(y=y), *layers).properties(width=WIDTH, height=HEIGHT)
    title = words.distribution_title(scenario)
    summary = words.distribution_summary(float(np.median(gains)), float(np.median(thresholds)))
    return inline_svg(chart, key, title, summary)


def _steps(values: Floats, end: float) -> list[dict[str, float]]:
    ordered = np.sort(values)
    shares = np.arange(1, len(ordered) + 1) / len(ordered)
    points = [(0.0, 0.0), *zip(ordered.tolist(), shares.tolist(), strict=True), (end, 1.0)]
    return [{"x": x, "y": y, "n": n} for n, (x, y) in enumerate(points)]


def _scale(gains: Floats, thresholds: Floats) -> Any:
    highest = float(max(gains.max(), thresholds.max())) or 0.01
    return altair().Scale(type="pow", exponent=ROOT, domain=[0.0, 1.05 * highest], nice=False)


def _axis(title: str) -> Any:
    return altair().Axis(title=title, tickCount=6, labelOverlap="greedy", labelSeparation=6)

"""What figures of configurations share: dots that a page can mark, bars of SDs, and the axis of the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heldout.report.ranking import RankedConfiguration
from heldout.report.svg import altair, inline_data
from heldout.scales import MUTED, Scale, reach_of

MOST_DOTS = 250
"""Dots of a figure of a family, and bars of any figure: more would only be an area."""


@dataclass(frozen=True)
class Dots:
    """A layer of dots alike, best first."""

    name: str
    colour: str
    is_filled: bool
    points: list[dict[str, Any]]
    configurations: list[int]
    opacity: float = 0.85


def dot_marks(layers: Sequence[Dots], x: Any, y: Any) -> list[Any]:
    alt = altair()
    marks = []
    for layer in reversed(layers):  # the best on top
        chart = alt.Chart(inline_data(layer.points), name=layer.name)
        marks.append(chart.mark_point(**_style(layer)).encode(x=x, y=y))
    return marks


def _style(layer: Dots) -> dict[str, Any]:
    fill = layer.colour if layer.is_filled else "transparent"
    return {
        "fill": fill,
        "stroke": layer.colour,
        "shape": "circle",
        "size": 32,
        "strokeWidth": 1.4,
        "opacity": layer.opacity,
    }


def links_of(layers: Sequence[Dots]) -> dict[str, list[int]]:
    return {layer.name: layer.configurations for layer in layers}


def has_bar(row: RankedConfiguration) -> bool:
    """Whether its score is a mean over folds, whose standard deviation can be drawn."""
    return row.spread is not None and row.mean is not None and row.score == row.mean


def bar_of(row: RankedConfiguration, place: float, scale: Scale) -> dict[str, Any]:
    assert row.mean is not None and row.spread is not None, "bars are of rows with fold scores"
    low, high = scale.within(row.mean - row.spread), scale.within(row.mean + row.spread)
    return {"x": float(place), "low": low, "high": high}


def bars_at(bars: list[dict[str, Any]], x: Any, y: Any, colour: str = MUTED) -> list[Any]:
    """Vertical bars; of very many none, which would only be a grey area."""
    if not bars or len(bars) > MOST_DOTS:
        return []
    alt = altair()
    rule = alt.Chart(inline_data(bars)).mark_rule(color=colour, strokeWidth=1, opacity=0.55)
    low = alt.Y("low:Q", scale=y["scale"], axis=y["axis"])
    return [rule.encode(x=x, y=low, y2=alt.Y2("high:Q"))]


def score_axis(
    rows: Sequence[RankedConfiguration], scale: Scale, more: Sequence[float] = (), *, ticks: int = 5
) -> Any:
    alt = altair()
    domain = reach_of([*(row.score for row in rows if row.score is not None), *more], scale.range)
    axis = alt.Axis(title=scale.title, tickCount=ticks)
    return alt.Y("y:Q", scale=alt.Scale(domain=list(domain), nice=False, zero=False), axis=axis)

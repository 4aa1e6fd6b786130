"""Figures of all configurations of a search: by rank, in their order, on training rows, and over a parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from heldout._text import counted, number_text
from heldout.report.configuration_parts import ParameterValue
from heldout.report.family_slices import FamilySlice
from heldout.report.numbers import Scale
from heldout.report.ranking import RankedConfiguration, by_family
from heldout.report.svg import (
    BLUE,
    INK,
    MORE_SERIES,
    MUTED,
    SERIES,
    TALL,
    VERMILLION,
    WIDTH,
    altair,
    diagonal,
    inline_data,
    inline_svg,
    layered,
    line,
    shortened_name,
)

MOST_DOTS = 250
"""Dots of a slice: the best of each step and then the best of all."""
MOST_COLOURS = 7
"""Families with a colour of their own; those after them share a grey."""
_SMALL, _LOW = 300, 235
_PLAIN = "format(datum.value, '~g')"
_FAMILY_COLOURS = tuple(colour for colour, _ in SERIES + MORE_SERIES)


@dataclass(frozen=True)
class _Dots:
    """A layer of dots of one family."""

    name: str
    colour: str
    is_filled: bool
    points: list[dict[str, Any]]
    configurations: list[int]


def ranked_svg(rows: Sequence[RankedConfiguration], scale: Scale, *, key: str) -> str:
    """The score of every configuration by its rank, with the standard deviation over its folds."""
    alt = altair()
    places = {row.index: float(row.rank) for row in rows}
    spreads = [_bar(row, row.rank) for row in rows if has_bar(row)]
    x_scale = alt.Scale(domain=[0, max(places.values()) + 1], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="rank", tickCount=5, grid=False, format=",.0f"))
    y = _score_axis(rows, scale, [end for bar in spreads for end in (bar["low"], bar["high"])])
    layers = _families(rows, places)
    chart = layered(
        *_bars(spreads, x, y),
        *_dot_marks(layers, x, y),
        width=WIDTH,
        height=TALL,
    )
    best, worst = rows[0].score, rows[-1].score
    words = (
        f"{scale.title} of {counted(len(rows), 'configuration')} from {number_text(best, scale.decimals)} to "
        f"{number_text(worst, scale.decimals)}, the best on the left."
    )
    return inline_svg(chart, key, "Scores by rank", words, linked=_links(layers))


def ordered_svg(rows: Sequence[RankedConfiguration], scale: Scale, *, key: str) -> str:
    """The score of every configuration in the order of the search, and the best so far."""
    alt = altair()
    places = {row.index: row.index + 1.0 for row in rows}
    x_scale = alt.Scale(domain=[0, max(places.values()) + 1], nice=False)
    x = alt.X(
        "x:Q", scale=x_scale, axis=alt.Axis(title="configuration in order", tickCount=5, grid=False, format=",.0f")
    )
    y = _score_axis(rows, scale)
    layers = _families(rows, places)
    steps: list[dict[str, Any]] = []
    best = None
    for row in sorted(rows, key=lambda row: row.index):
        if best is None or (row.score > best if scale.greater_is_better else row.score < best):  # type: ignore[operator]
            best = row.score
            steps.append({"x": places[row.index], "y": best, "n": len(steps)})
    steps.append({"x": max(places.values()), "y": best, "n": len(steps)})
    so_far = line(steps, x, y, INK, (), 1.5, interpolate="step-after")
    chart = layered(*_dot_marks(layers, x, y), so_far, width=WIDTH, height=TALL)
    words = (
        f"The best {scale.title} so far changed {counted(len(steps) - 2, 'time')} after the first configuration."
    )
    return inline_svg(chart, key, "Scores in the order of the search", words, linked=_links(layers))


def trained_svg(rows: Sequence[RankedConfiguration], scale: Scale, *, key: str) -> str:
    """The score on held-out rows over that on training rows."""
    alt = altair()
    both = [replace(row, score=row.mean) for row in rows if row.train is not None and row.mean is not None]
    if not both:
        return ""
    places = {row.index: row.train for row in both if row.train is not None}
    low, high = _reach([*places.values(), *(row.score for row in both if row.score is not None)])
    domain = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = alt.X("x:Q", scale=domain, axis=alt.Axis(title="on training rows", tickCount=5))
    y = alt.Y("y:Q", scale=domain, axis=alt.Axis(title="on held-out rows", tickCount=5))
    layers = _families(rows, places)
    chart = layered(diagonal(low, high, x, y), *_dot_marks(layers, x, y), width=WIDTH, height=TALL)
    words = f"{scale.title} of {counted(len(both), 'configuration')} on held-out rows over training rows."
    return inline_svg(chart, key, "Training and held-out rows", words, linked=_links(layers))


def slice_svg(content: FamilySlice, scale: Scale, *, key: str) -> str:
    """The score over one parameter, with a line through the best of each step and its standard deviation."""
    places, rows = _places_on_axis(content), content.configurations
    shown = sorted(list(dict.fromkeys([*content.leaders, *range(len(rows))]))[:MOST_DOTS])
    dots = _Dots(
        "d", BLUE, False, [{"x": places[n], "y": rows[n].score} for n in shown], [rows[n].index for n in shown]
    )
    bars = [_bar(rows[n], places[n]) for n in content.leaders if has_bar(rows[n])]
    x = _parameter_axis(content, places)
    y = _score_axis(rows, scale, [end for bar in bars for end in (bar["low"], bar["high"])], ticks=4)
    best = [{"x": places[n], "y": rows[n].score} for n in content.leaders]
    through = [line(best, x, y, VERMILLION, (), 1.5)] if content.is_number else []
    chart = layered(*_bars(bars, x, y, VERMILLION), *through, *_dot_marks([dots], x, y), width=_SMALL, height=_LOW)
    values = ", ".join(
        f"{_text(content.values[n])} {number_text(rows[n].score, scale.decimals)}" for n in content.leaders
    )
    title = f"{scale.title} by {content.parameter}" + (f" of {content.family}" if content.family else "")
    return inline_svg(chart, key, title, f"The best at each value: {values}.", linked=_links([dots]))


def _parameter_axis(content: FamilySlice, places: Sequence[float]) -> Any:
    alt = altair()
    if content.is_log:
        low, high = min(places), max(places)
        domain = alt.Scale(type="log", domain=[low / 1.3, high * 1.3], nice=False)
        axis = alt.Axis(title=content.parameter, values=_powers(low, high), grid=False, labelExpr=_PLAIN)
    elif content.is_number:
        domain = alt.Scale(domain=list(_reach(places)), nice=False, zero=False)
        axis = alt.Axis(title=content.parameter, tickCount=5, grid=False, labelExpr=_PLAIN)
    else:
        names = [shortened_name(name, 12) for name in _levels(content)]
        domain = alt.Scale(domain=[-0.6, len(names) - 0.4], nice=False)
        every = list(range(len(names)))
        axis = alt.Axis(title=content.parameter, grid=False, values=every, labelExpr=_label_expression(names))
    return alt.X("x:Q", scale=domain, axis=axis)


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten from low to high, a few of them."""
    powers = list(range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1))
    return [10.0**power for power in powers[:: math.ceil(len(powers) / 5)]]


def _places_on_axis(content: FamilySlice) -> list[float]:
    if content.is_number:
        return [float(value) for value in content.values]  # type: ignore[arg-type]
    names = _levels(content)
    return [float(names.index(_text(value))) for value in content.values]


def _levels(content: FamilySlice) -> list[str]:
    """The distinct values in words: numbers by size, then the others in alphabetical order."""
    distinct = {_text(value): value for value in content.values}
    return sorted(distinct, key=lambda text: _sort_key(text, distinct[text]))


def _sort_key(text: str, value: ParameterValue) -> tuple[int, float, str]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (0, float(value), "") if is_number else (1, 0.0, text)  # type: ignore[arg-type]


def _text(value: ParameterValue) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _label_expression(names: Sequence[str]) -> str:
    """A Vega expression that gives the name of a place; letters that could end a text in it are replaced."""
    safe = ["".join(c if c.isalnum() or c in " _-.,:;()[]=/+*%&|" else "?" for c in name) for name in names]
    quoted = ", ".join(f"'{name}'" for name in safe)
    return f"[{quoted}][datum.value]"


def has_bar(row: RankedConfiguration) -> bool:
    """Whether its score is a mean over folds, whose standard deviation can be drawn."""
    return row.spread is not None and row.mean is not None and row.score == row.mean


def _bar(row: RankedConfiguration, place: float) -> dict[str, Any]:
    assert row.mean is not None and row.spread is not None, "bars are of rows with fold scores"
    return {"x": float(place), "low": row.mean - row.spread, "high": row.mean + row.spread}


def _bars(bars: list[dict[str, Any]], x: Any, y: Any, colour: str = MUTED) -> list[Any]:
    """Vertical bars; of very many none, which would only be a grey area."""
    if not bars or len(bars) > MOST_DOTS:
        return []
    alt = altair()
    rule = alt.Chart(inline_data(bars)).mark_rule(color=colour, strokeWidth=1, opacity=0.55)
    low = alt.Y("low:Q", scale=y["scale"], axis=y["axis"])
    return [rule.encode(x=x, y=low, y2=alt.Y2("high:Q"))]


def _score_axis(
    rows: Sequence[RankedConfiguration], scale: Scale, more: Sequence[float] = (), *, ticks: int = 5
) -> Any:
    alt = altair()
    domain = _reach([*(row.score for row in rows if row.score is not None), *more])
    axis = alt.Axis(title=scale.title, tickCount=ticks)
    return alt.Y("y:Q", scale=alt.Scale(domain=list(domain), nice=False, zero=False), axis=axis)


def _reach(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.05 * (high - low) or 0.01 * abs(low) or 1.0
    return low - margin, high + margin


def _families(rows: Sequence[RankedConfiguration], places: dict[int, float]) -> list[_Dots]:
    """A layer of dots for each family, the best family first, of the rows that have a place."""
    families = by_family(row for row in rows if row.index in places)
    colours = family_colours(rows)
    return [
        _Dots(
            f"f{number}",
            *colours[family],
            [{"x": places[row.index], "y": row.score} for row in members],
            [row.index for row in members],
        )
        for number, (family, members) in enumerate(families.items())
    ]


def _dot_marks(layers: Sequence[_Dots], x: Any, y: Any) -> list[Any]:
    alt = altair()
    marks = []
    for layer in reversed(layers):  # the best family on top
        chart = alt.Chart(inline_data(layer.points), name=layer.name)
        marks.append(chart.mark_point(**_style(layer)).encode(x=x, y=y))
    return marks


def family_colours(rows: Sequence[RankedConfiguration]) -> dict[str, tuple[str, bool]]:
    """Of each family the colour of its dots, and whether they are filled; the best family first."""
    families = dict.fromkeys(row.family for row in rows)
    return {
        family: (_FAMILY_COLOURS[number] if number < MOST_COLOURS else MUTED, number % 2 == 0)
        for number, family in enumerate(families)
    }


def _style(layer: _Dots) -> dict[str, Any]:
    fill = layer.colour if layer.is_filled else "transparent"
    return {
        "fill": fill,
        "stroke": layer.colour,
        "shape": "circle",
        "size": 32,
        "strokeWidth": 1.4,
        "opacity": 0.85,
    }


def _links(layers: Sequence[_Dots]) -> dict[str, list[int]]:
    return {layer.name: layer.configurations for layer in layers}

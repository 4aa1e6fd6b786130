"""Figures of the parameters of a family and the score: one of them, two, and several beside each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heldout._text import counted, number_text
from heldout.report.configuration_parts import ParameterValue
from heldout.report.dots import MOST_DOTS, Dots, bar_of, bars_at, dot_marks, has_bar, links_of, score_axis
from heldout.report.family_slices import FamilySlice
from heldout.report.ranking import RankedConfiguration
from heldout.report.svg import TALL, WIDTH, altair, inline_data, inline_svg, layered, line, shortened_name, texts
from heldout.scales import BLUE, VERMILLION, Scale, reach_of

MOST_LINES = 50
"""Configurations that are lines from parameter to parameter."""
MOST_BESIDE = 5
"""Parameters beside each other."""
_SHADES = 5
_SMALL, _LOW = 300, 235
_PLAIN = "format(datum.value, '~g')"


def slice_svg(content: FamilySlice, scale: Scale, *, key: str) -> str:
    """The score over one parameter, with a line through the best of each step and its standard deviation."""
    places, rows = _places_on_axis(content), content.configurations
    shown = sorted(list(dict.fromkeys([*content.leaders, *range(len(rows))]))[:MOST_DOTS])
    dots = Dots(
        "d", BLUE, False, [{"x": places[n], "y": rows[n].score} for n in shown], [rows[n].index for n in shown]
    )
    bars = [bar_of(rows[n], places[n], scale) for n in content.leaders if has_bar(rows[n])]
    x = _parameter_axis(content, places, altair().X, "x:Q")
    y = score_axis(rows, scale, [end for bar in bars for end in (bar["low"], bar["high"])], ticks=4)
    best = [{"x": places[n], "y": rows[n].score} for n in content.leaders]
    through = [line(best, x, y, VERMILLION, (), 1.5)] if content.is_number else []
    chart = layered(*bars_at(bars, x, y, VERMILLION), *through, *dot_marks([dots], x, y), width=_SMALL, height=_LOW)
    values = ", ".join(
        f"{_text(content.values[n])} {number_text(rows[n].score, scale.decimals)}"
        for n in sorted(content.leaders, key=places.__getitem__)
    )
    title = f"{scale.title} by {content.parameter}" + (f" of {content.family}" if content.family else "")
    return inline_svg(chart, key, title, f"The best at each value: {values}.", linked=links_of([dots]))


def plane_svg(across: FamilySlice, up: FamilySlice, scale: Scale, *, key: str) -> str:
    """The configurations that have both parameters, at their values; the better, the darker."""
    alt = altair()
    x_of, y_of = _place_of(across), _place_of(up)
    rows = [row for row in across.configurations if row.index in y_of][:MOST_DOTS]
    shades = _shaded(rows, lambda row: [{"x": x_of[row.index], "y": y_of[row.index]}])
    x = _parameter_axis(across, [x_of[row.index] for row in rows], alt.X, "x:Q")
    y = _parameter_axis(up, [y_of[row.index] for row in rows], alt.Y, "y:Q")
    chart = layered(*dot_marks(shades, x, y), width=WIDTH, height=TALL)
    at = ", ".join(f"{part.parameter} {_text(rows[0].parameters[part.parameter])}" for part in (across, up))
    best = number_text(rows[0].score, scale.decimals)
    words = f"{counted(len(rows), 'configuration')}; the best has {at}: {best}."
    title = f"{scale.title} by {across.parameter} and {up.parameter}"
    return inline_svg(chart, key, title, words, linked=links_of(shades))


def beside_svg(parts: Sequence[FamilySlice], scale: Scale, *, key: str) -> str:
    """The best configurations as lines over parameters beside each other, and the score; the better, the darker."""
    alt = altair()
    every = [_place_of(part) for part in parts]
    rows = [row for row in parts[0].configurations if all(row.index in places for places in every)][:MOST_LINES]
    scores = {row.index: row.score for row in rows if row.score is not None}
    logs = [part.is_log for part in parts] + [False]
    heights = [
        _heights({row.index: places[row.index] for row in rows}, is_log)
        for places, is_log in zip([*every, scores], logs, strict=True)
    ]
    shades = _shaded(
        rows, lambda row: [{"x": n, "y": each[row.index], "c": row.index} for n, each in enumerate(heights)]
    )
    names = [shortened_name(part.parameter, 14) for part in parts] + [scale.title]
    axis = alt.Axis(title=None, values=list(range(len(names))), labelExpr=_label_expression(names), grid=True)
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.3, len(names) - 0.7], nice=False), axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.12, 1.12], nice=False), axis=None)
    lines = [
        alt.Chart(inline_data(shade.points)).mark_line(color=BLUE, strokeWidth=1, opacity=shade.opacity / 2)
        .encode(x=x, y=y, detail=alt.Detail("c:N"))
        for shade in shades
    ]  # fmt: skip
    ends = [
        {"x": n, "y": height, "text": text}
        for n, pair in enumerate([*(_ends(part, rows) for part in parts), _score_ends(rows, scale)])
        for height, text in zip((-0.08, 1.08), pair, strict=True)
    ]
    chart = layered(*lines, *dot_marks(shades, x, y), texts(ends, x, y, size=11), width=2 * WIDTH, height=TALL)
    words = f"{counted(len(rows), 'configuration')} as lines over {', '.join(part.parameter for part in parts)}."
    return inline_svg(chart, key, "Parameters beside each other", words, linked=links_of(shades))


def shared_by(parts: Sequence[FamilySlice]) -> int:
    """How many configurations have all of the parameters."""
    return len(set.intersection(*({row.index for row in part.configurations} for part in parts)))


def _place_of(content: FamilySlice) -> dict[int, float]:
    """The place on the axis of each configuration."""
    places = _places_on_axis(content)
    return {row.index: place for row, place in zip(content.configurations, places, strict=True)}


def _shaded(
    rows: Sequence[RankedConfiguration], points: Callable[[RankedConfiguration], list[dict[str, Any]]]
) -> list[Dots]:
    """Layers of the best fifth of the rows, the second and so on; ``points``: the dots of a row."""
    fifths = [rows[n * len(rows) // _SHADES : (n + 1) * len(rows) // _SHADES] for n in range(_SHADES)]
    layers = []
    for n, members in enumerate(fifths):
        dots = [(point, row.index) for row in members for point in points(row)]
        if dots:
            drawn, indices = (list(part) for part in zip(*dots, strict=True))
            layers.append(Dots(f"s{n}", BLUE, True, drawn, indices, opacity=1 - 0.8 * n / (_SHADES - 1)))
    return layers


def _heights(places: Mapping[int, float], is_log: bool) -> dict[int, float]:
    """The places from 0 to 1; 0.5 where they are all the same."""
    own = {index: math.log10(place) if is_log else place for index, place in places.items()}
    low, high = min(own.values()), max(own.values())
    return {index: (place - low) / (high - low) if high > low else 0.5 for index, place in own.items()}


def _ends(content: FamilySlice, rows: Sequence[RankedConfiguration]) -> tuple[str, str]:
    """The least and the largest value in these rows, in words."""
    place_of = _place_of(content)
    least, largest = (each(rows, key=lambda row: place_of[row.index]) for each in (min, max))
    low, high = (shortened_name(_text(row.parameters[content.parameter]), 12) for row in (least, largest))
    return low, high


def _score_ends(rows: Sequence[RankedConfiguration], scale: Scale) -> tuple[str, str]:
    scores = [row.score for row in rows if row.score is not None]
    return number_text(min(scores), scale.decimals), number_text(max(scores), scale.decimals)


def _parameter_axis(content: FamilySlice, places: Sequence[float], channel: Any, field: str) -> Any:
    alt = altair()
    if content.is_log:
        low, high = min(places), max(places)
        domain = alt.Scale(type="log", domain=[low / 1.3, high * 1.3], nice=False)
        axis = alt.Axis(title=content.parameter, values=_powers(low, high), grid=False, labelExpr=_PLAIN)
    elif content.is_number:
        domain = alt.Scale(domain=list(reach_of(places)), nice=False, zero=False)
        axis = alt.Axis(title=content.parameter, tickCount=5, grid=False, labelExpr=_PLAIN)
    else:
        names = [shortened_name(name, 12) for name in _levels(content)]
        domain = alt.Scale(domain=[-0.6, len(names) - 0.4], nice=False)
        every = list(range(len(names)))
        axis = alt.Axis(title=content.parameter, grid=False, values=every, labelExpr=_label_expression(names))
    return channel(field, scale=domain, axis=axis)


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
    safe = ["".join(c if c.isalnum() or c in " _-.,:;()[]=/+*%&|…" else "?" for c in name) for name in names]
    quoted = ", ".join(f"'{name}'" for name in safe)
    return f"[{quoted}][datum.value]"

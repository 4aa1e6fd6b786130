"""Figures of all configurations of a search: by rank, in their order, and on training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from heldout._text import counted, number_text
from heldout.report.dots import Dots, bar_of, bars_at, dot_marks, has_bar, links_of, score_axis
from heldout.report.ranking import RankedConfiguration, by_family
from heldout.report.svg import TALL, WIDTH, altair, diagonal, inline_svg, layered, line
from heldout.scales import INK, MORE_SERIES, MUTED, SERIES, Scale, reach_of

MOST_COLOURS = 7
"""Families with a colour of their own; those after them share a grey."""
_FAMILY_COLOURS = tuple(colour for colour, _ in SERIES + MORE_SERIES)


def ranked_svg(rows: Sequence[RankedConfiguration], scale: Scale, *, key: str) -> str:
    """The score of every configuration by its rank, with the standard deviation over its folds."""
    alt = altair()
    places = {row.index: float(row.rank) for row in rows}
    spreads = [bar_of(row, row.rank, scale) for row in rows if has_bar(row)]
    x_scale = alt.Scale(domain=[0, max(places.values()) + 1], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="rank", tickCount=5, grid=False, format=",.0f"))
    y = score_axis(rows, scale, [end for bar in spreads for end in (bar["low"], bar["high"])])
    layers = _families(rows, places)
    chart = layered(
        *bars_at(spreads, x, y),
        *dot_marks(layers, x, y),
        width=WIDTH,
        height=TALL,
    )
    best, worst = rows[0].score, rows[-1].score
    words = (
        f"{scale.title} of {counted(len(rows), 'configuration')} from {number_text(best, scale.decimals)} to "
        f"{number_text(worst, scale.decimals)}, the best on the left."
    )
    return inline_svg(chart, key, "Scores by rank", words, linked=links_of(layers))


def ordered_svg(rows: Sequence[RankedConfiguration], scale: Scale, *, key: str) -> str:
    """The score of every configuration in the order of the search, and the best so far."""
    alt = altair()
    places = {row.index: row.index + 1.0 for row in rows}
    x_scale = alt.Scale(domain=[0, max(places.values()) + 1], nice=False)
    x = alt.X(
        "x:Q", scale=x_scale, axis=alt.Axis(title="configuration in order", tickCount=5, grid=False, format=",.0f")
    )
    y = score_axis(rows, scale)
    layers = _families(rows, places)
    steps: list[dict[str, Any]] = []
    best = None
    for row in sorted(rows, key=lambda row: row.index):
        if best is None or (row.score > best if scale.greater_is_better else row.score < best):  # type: ignore[operator]
            best = row.score
            steps.append({"x": places[row.index], "y": best, "n": len(steps)})
    steps.append({"x": max(places.values()), "y": best, "n": len(steps)})
    so_far = line(steps, x, y, INK, (), 1.5, interpolate="step-after")
    chart = layered(*dot_marks(layers, x, y), so_far, width=WIDTH, height=TALL)
    words = (
        f"The best {scale.title} so far changed {counted(len(steps) - 2, 'time')} after the first configuration."
    )
    return inline_svg(chart, key, "Scores in the order of the search", words, linked=links_of(layers))


def trained_svg(rows: Sequence[RankedConfiguration], scale: Scale, *, key: str) -> str:
    """The score on held-out rows over that on training rows."""
    alt = altair()
    both = [replace(row, score=row.mean) for row in rows if row.train is not None and row.mean is not None]
    if not both:
        return ""
    places = {row.index: row.train for row in both if row.train is not None}
    scores = [*places.values(), *(row.score for row in both if row.score is not None)]
    low, high = reach_of(scores, scale.range)
    domain = alt.Scale(domain=[low, high], nice=False, zero=False)
    x = alt.X("x:Q", scale=domain, axis=alt.Axis(title="on training rows", tickCount=5))
    y = alt.Y("y:Q", scale=domain, axis=alt.Axis(title="on held-out rows", tickCount=5))
    layers = _families(rows, places)
    chart = layered(diagonal(low, high, x, y), *dot_marks(layers, x, y), width=WIDTH, height=TALL)
    words = f"{scale.title} of {counted(len(both), 'configuration')} on held-out rows over training rows."
    return inline_svg(chart, key, "Training and held-out rows", words, linked=links_of(layers))


def _families(rows: Sequence[RankedConfiguration], places: dict[int, float]) -> list[Dots]:
    """A layer of dots for each family, the best family first, of the rows that have a place."""
    families = by_family(row for row in rows if row.index in places)
    colours = family_colours(rows)
    return [
        Dots(
            f"f{number}",
            *colours[family],
            [{"x": places[row.index], "y": row.score} for row in members],
            [row.index for row in members],
        )
        for number, (family, members) in enumerate(families.items())
    ]


def family_colours(rows: Sequence[RankedConfiguration]) -> dict[str, tuple[str, bool]]:
    """Of each family the colour of its dots, and whether they are filled; the best family first."""
    families = dict.fromkeys(row.family for row in rows)
    return {
        family: (_FAMILY_COLOURS[number] if number < MOST_COLOURS else MUTED, number % 2 == 0)
        for number, family in enumerate(families)
    }

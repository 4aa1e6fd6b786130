"""Learning curves as a figure, and as a page of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from heldout._text import number_text
from heldout.estimates.base import quantity_sentence
from heldout.metrics.named import direction_sentence
from heldout.protocols.learning.curve import LearningCurve
from heldout.protocols.words import QUANTITY_IPL, method_words
from heldout.references import REFERENCES
from heldout.report.filters import safe
from heldout.report.render import NARROW, WIDE, filled, written
from heldout.report.svg import DOTTED, altair, inline_data, inline_svg, key_of_lines, layered, line, shortened_name
from heldout.scales import INK, MORE_SERIES, MUTED, SERIES, Scale, reach_of, scale_of

MOST_CURVES = 5
"""The number of configurations drawn: the winner, and those that are best at the largest size."""
STEPS = 60
ROOM_BESIDE = 500
"""The width from which the key is beside the curves."""


def write_learning_curve(curve: LearningCurve, path: str | os.PathLike[str], *, title: str = "") -> Path:
    """Write learning curves as one self-contained HTML file: the figure, the estimate and a table.

    Parameters
    ----------
    curve : LearningCurve
    path : path
        An existing file is overwritten; the folder must exist.
    title : str
        The name of the data, for the head of the page.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    InputError
        When the file cannot be written.
    MissingExtraError
        Without the packages of the extra ``app``.
    """
    return written(render_learning_curve(curve, title=title), path, "the learning curves")


def render_learning_curve(curve: LearningCurve, *, title: str = "") -> str:
    """The page as text; the same curves give the same text."""
    scale, drawn, estimate = _scale(curve), drawn_configurations(curve), curve.estimate
    sources = [REFERENCES[key] for key in estimate.provenance.get("sources", ())]
    values = {
        "title": title,
        "scale": scale,
        "curve": curve,
        "estimate": estimate,
        "value": scale.shown(estimate.value),
        "uncorrected": scale.shown(estimate.uncorrected),
        "at_all": [scale.shown(score) for score in curve.at(curve.n_rows).tolist()],
        "means": [[scale.shown(score) for score in row] for row in curve.mean.T.tolist()],
        "drawn": drawn,
        "figures": {
            name: safe(learning_curve_svg(curve, key=f"learning-{name}", width=width))
            for name, width in (("wide", WIDE), ("narrow", NARROW))
        },
        "caption": _caption(curve.scores.shape[1], len(drawn), len(curve.names)),
        "direction": direction_sentence(scale.greater_is_better, scale.ideal),
        "method": (method_words("ipl").sentence(None), quantity_sentence(QUANTITY_IPL, None)),
        "sources": sources,
    }
    return filled("learning_curve.html.jinja", values)


def drawn_configurations(curve: LearningCurve) -> tuple[int, ...]:
    """The winner first, then the others that are best at the largest size."""
    last = curve.mean[-1] if curve.greater_is_better else -curve.mean[-1]
    order = [int(j) for j in np.argsort(-last, kind="stable") if np.isfinite(last[j]) and j != curve.winner]
    return (curve.winner, *order[: MOST_CURVES - 1])


def learning_curve_svg(curve: LearningCurve, *, key: str, width: int) -> str:
    """Mean scores with their standard errors over training rows, and the curves through them up to all rows.

    The ids in the figure begin with ``key``; ``width`` is in pixels.
    """
    alt = altair()
    scale, drawn = _scale(curve), drawn_configurations(curve)
    labels_room = 1.0 if width < ROOM_BESIDE else 1.34
    x_scale = alt.Scale(domain=[0, curve.n_rows * labels_room], nice=False)
    low, high = _domain(curve, scale, drawn)
    if width < ROOM_BESIDE:
        low -= (0.04 + 0.06 * len(drawn)) * (high - low)  # the key stands below
    y_scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    ticks = [*(float(size) for size in curve.sizes[:: 2 if width < ROOM_BESIDE else 1]), float(curve.n_rows)]
    axis = alt.Axis(title="training rows", values=ticks, format=",.0f", grid=False, labelOverlap=True)
    x = alt.X("x:Q", scale=x_scale, axis=axis)
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title=scale.title, tickCount=5))
    layers = [
        alt.Chart(inline_data([{"x": curve.n_rows}]))
        .mark_rule(color=MUTED, strokeWidth=1.2, strokeDash=list(DOTTED))
        .encode(x=x)
    ]
    for place, j in reversed(list(enumerate(drawn))):
        layers += _layers_of(curve, scale, j, place, x, y, y_scale)
    if scale.shown(curve.estimate.value) is not None:
        value = [{"x": curve.n_rows, "y": scale.shown(curve.estimate.value)}]
        layers.append(
            alt.Chart(inline_data(value))
            .mark_point(shape="diamond", color=INK, fill=INK, size=90, opacity=1)
            .encode(x=x, y=y)
        )
    layers += _labels(curve, drawn, low, high, x_scale, y_scale, width)
    chart = layered(*layers, width=width, height=380 if width >= ROOM_BESIDE else 420)
    return inline_svg(chart, key, "Learning curves", _summary(curve, scale))


def _layers_of(curve: LearningCurve, scale: Scale, j: int, place: int, x: Any, y: Any, y_scale: Any) -> list[Any]:
    """One configuration: its means with bars of one standard error, and its curve."""
    alt = altair()
    colour, dash = (SERIES + MORE_SERIES)[place]
    points = [
        {
            "x": float(size),
            "y": scale.shown(mean),
            "low": scale.within(scale.sign * mean - error),
            "high": scale.within(scale.sign * mean + error),
        }
        for size, mean, error in zip(
            curve.sizes, curve.mean[:, j], np.nan_to_num(curve.standard_error[:, j]), strict=True
        )
        if np.isfinite(mean)
    ]
    base = alt.Chart(inline_data(points))
    layers = [
        base.mark_rule(color=colour, strokeWidth=1.2).encode(
            x=x, y=alt.Y("low:Q", scale=y_scale), y2=alt.Y2("high:Q")
        ),
        base.mark_point(color=colour, fill=colour, opacity=1, size=34 if place else 54, shape="circle").encode(
            x=x, y=y
        ),
    ]
    law = curve.laws[j]
    if law is not None:
        sizes = np.linspace(curve.sizes[0], curve.n_rows, STEPS)
        errors = law.at(sizes)
        scores = curve.best_possible - errors if curve.greater_is_better else curve.best_possible + errors
        through = [
            {"x": float(size), "y": scale.within(scale.sign * score), "n": n}
            for n, (size, score) in enumerate(zip(sizes, scores, strict=True))
        ]
        layers.append(line(through, x, y, colour, dash, 1.6 if place else 2.6))
    return layers


def _labels(
    curve: LearningCurve, drawn: tuple[int, ...], low: float, high: float, x_scale: Any, y_scale: Any, width: int
) -> list[Any]:
    """A key beside the curves if there is room, and below the scores otherwise."""
    wide, span = width >= ROOM_BESIDE, high - low
    left = curve.n_rows * (1.03 if wide else 0.02)
    entries = []
    for place, j in enumerate(drawn):
        from_top, from_bottom = 0.04 + 0.075 * place, 0.03 + 0.055 * (len(drawn) - 1 - place)
        height = high - from_top * span if wide else low + from_bottom * span
        name = shortened_name(curve.names[j], 34 if wide else 44) + (" (winner)" if not place else "")
        entries.append((name, *(SERIES + MORE_SERIES)[place], height))
    return key_of_lines(
        entries,
        altair().X("x:Q", scale=x_scale),
        altair().Y("y:Q", scale=y_scale),
        ends=(left, left + 0.05 * curve.n_rows),
        beside=left + 0.065 * curve.n_rows,
        size=11 if wide else 12,
    )


def _domain(curve: LearningCurve, scale: Scale, drawn: tuple[int, ...]) -> tuple[float, float]:
    columns = list(drawn)
    spread = np.nan_to_num(curve.standard_error[:, columns])
    ends = [
        curve.mean[:, columns] - spread,
        curve.mean[:, columns] + spread,
        curve.at(curve.n_rows)[columns],
        np.array([curve.estimate.value]),
    ]
    values = scale.sign * np.concatenate([np.ravel(end) for end in ends])
    values = values[np.isfinite(values)]
    return reach_of(values.tolist(), scale.range, share=0.06)


def _scale(curve: LearningCurve) -> Scale:
    """The scale, with as many decimals as the winner's standard error allows: others may vary more."""
    mean, error = curve.mean[-1, curve.winner], np.nan_to_num(curve.standard_error[-1, curve.winner])
    best, scores = curve.best_possible, (mean - error, mean + error)
    possible = (-np.inf, best) if curve.greater_is_better else (best, np.inf)
    return scale_of(curve.metric, curve.greater_is_better, curve.estimate, scores, possible=possible)


def _summary(curve: LearningCurve, scale: Scale) -> str:
    first, last = (number_text(scale.shown(curve.mean[end, curve.winner]), scale.decimals) for end in (0, -1))
    value = number_text(scale.shown(curve.estimate.value), scale.decimals)
    return _summary_text(
        scale.title,
        curve.names[curve.winner],
        (first, last),
        (curve.sizes[0], curve.sizes[-1]),
        value,
        curve.n_rows,
    )


def _caption(n_subsamples: int, n_drawn: int, n_configurations: int) -> str:
    """The caption of the picture."""
    which = "" if n_drawn == n_configurations else f" The best {n_drawn} of {n_configurations} are drawn."
    return (
        f"Dots are mean scores of {n_subsamples} subsamples of each size, with bars of one standard error; lines "
        f"are power laws through them, carried on to all rows (dotted), where the diamond is the estimate.{which}"
    )


def _summary_text(
    metric: str, winner: str, means: tuple[str, str], sizes: tuple[float, float], value: str, n_rows: int
) -> str:
    """The text alternative of the picture."""
    end = f"; its curve reaches {value} at all {n_rows:,} rows" if value else ""
    return (
        f"{metric} of {winner} goes from {means[0]} with {sizes[0]:,.0f} training rows to {means[1]} with "
        f"{sizes[1]:,.0f}{end}."
    )

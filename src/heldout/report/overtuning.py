"""The overtuning of a finished search, drawn for its report."""

from __future__ import annotations

from dataclasses import dataclass

from heldout._types import Floats
from heldout.errors import InputError
from heldout.estimates.types import json_number
from heldout.metrics.named import in_sentence
from heldout.report.search_evidence import search_scale
from heldout.report.svg import altair, inline_svg, layered, line
from heldout.result import Evaluation
from heldout.scales import BLUE, VERMILLION, Dash, Scale

UNCORRECTED: Dash = (6, 3)


@dataclass(frozen=True)
class OvertuningCurve:
    """The overtuning of a search as it is shown."""

    scale: Scale
    n_configurations: tuple[int, ...]
    uncorrected: tuple[float | None, ...]
    corrected: tuple[float | None, ...]
    """(P,) both: by how much the best of so many is better than the first: on the rows that chose it, and on those
    left out. A second level beside the estimate of the search would answer no question of its own."""
    in_order: bool
    sentences: tuple[str, ...]
    """That further search bought nothing, and on the default configuration, where there is something to say."""


def overtuning_curve_of(evaluation: Evaluation) -> OvertuningCurve | None:
    """What the report shows; None where it is not known, and of fewer than two configurations."""
    try:
        found = evaluation.overtuning
    except InputError:
        return None
    if len(found.n_configurations) < 2:
        return None
    sign = 1 if found.greater_is_better else -1
    return OvertuningCurve(
        search_scale(evaluation, evaluation.refit_metric),
        tuple(found.n_configurations.tolist()),
        _gains(found.uncorrected, sign),
        _gains(found.corrected, sign),
        found.in_order,
        tuple(evaluation.overtuning_sentences),
    )


def _gains(scores: Floats, sign: int) -> tuple[float | None, ...]:
    """By how much each is better than the first."""
    return tuple(json_number(sign * (score - scores[0])) for score in scores.tolist())


def overtuning_svg(curve: OvertuningCurve, *, key: str, width: int) -> str:
    """Two lines over the number of configurations tried: the gain of the best so far, on two kinds of rows."""
    alt, scale = altair(), curve.scale
    values = [each for each in (*curve.uncorrected, *curve.corrected) if each is not None]
    low, high = min(values), max(values)
    pad = 0.08 * (high - low) or 0.01
    last = curve.n_configurations[-1]
    is_long = last > 60
    x_scale = alt.Scale(type="log", domain=[1, last]) if is_long else alt.Scale(domain=[1, last], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=alt.Axis(title="configurations tried", format="d", tickCount=5))
    y_scale = alt.Scale(domain=[low - pad, high + pad], zero=False, nice=False)
    y = alt.Y(
        "y:Q", scale=y_scale, axis=alt.Axis(title=f"gain in {in_sentence(scale.title)}", tickCount=5, grid=True)
    )
    layers = []
    for series, colour, dash in ((curve.uncorrected, VERMILLION, UNCORRECTED), (curve.corrected, BLUE, ())):
        points = [
            {"x": c, "y": each, "n": number}
            for number, (c, each) in enumerate(zip(curve.n_configurations, series, strict=True))
            if each is not None
        ]
        layers.append(line(points, x, y, colour, dash, 2, interpolate="step-after"))
    chart = layered(*layers, width=width, height=260)
    best, end = (
        "unknown" if series[-1] is None else f"{series[-1]:.4g}" for series in (curve.uncorrected, curve.corrected)
    )
    described = (
        f"By how much the {in_sentence(scale.title)} of the best configuration is better than that of the first: "
        f"{best} on the rows that chose it, {end} on rows left out."
    )
    return inline_svg(chart, key, "What further search bought", described)

"""From a study of times to its page: claims, a picture of each size that is varied, a table of all settings."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout._text import counted
from heldout._version import __version__
from heldout.kernels.dispatch import KERNELS
from heldout.report.content import Entry
from heldout.report.drawing import SERIES, altair, inline_data, inline_svg
from heldout_papers.claims import n_holding
from heldout_papers.page import Picture, StudyPage, StudyTable
from heldout_papers.timing import words as words
from heldout_papers.timing.claims import PUBLISHED, timing_claims
from heldout_papers.timing.problem import PAIRS
from heldout_papers.timing.study import VARIED, TimingStudy

WIDTH, HEIGHT = 420, 330
Row = dict[str, Any]


def timing_page(study: TimingStudy, *, command: str = "") -> StudyPage:
    """The content of the report.

    Parameters
    ----------
    study : TimingStudy
    command : str
        What the user typed.
    """
    claims = timing_claims(study)
    first = study.settings[0]
    pictured = [what for what in VARIED if len(study.varied(what)) > 1]
    return StudyPage(
        name="timing",
        title="How long BBC and BBC-F take",
        lead=_lead(study),
        facts=(
            *(
                Entry(words.VARIED_TITLES[what], ", ".join(f"{size:,}" for size in _sizes(study, what)))
                for what in VARIED
            ),
            Entry("repetitions", f"{study.repetitions:,}"),
            Entry("bootstraps", f"{first.n_bootstraps:,}"),
            Entry("greatest standard error of a median", f"{100 * _worst_error(study):.1f} %"),
        ),
        claims_sentence=words.timing_claims_sentence(n_holding(claims), len(claims)),
        claims=claims,
        pictures=tuple(
            Picture(
                f"By {words.VARIED_TITLES[what]}",
                timing_svg(study, what, key=f"timing-{what}"),
                words.timing_caption(words.VARIED_TITLES[what], _others(study, what)),
            )
            for what in pictured
        ),
        words=tuple(Entry(words.WAY_TITLES[name], words.WAY_WORDS[name]) for name in first.ways),
        tables=(_table(study),),
        method=words.timing_method(KERNELS, first.n_bootstraps),
        sources=("paraschakis2024", "tsamardinos2018"),
        command=command,
        reproduction=(
            Entry("Seed", str(study.entropy)),
            Entry("Versions", f"heldout {__version__}, NumPy {np.__version__}"),
            Entry("Python", platform.python_version()),
            Entry("Machine", f"{platform.machine()}, {platform.system()}"),
        ),
    )


def timing_svg(study: TimingStudy, what: str, *, key: str) -> str:
    """Median seconds over what is varied, a line a way, with bars from quartile to quartile.

    Parameters
    ----------
    what : {"rows", "configurations", "folds"}
    key : str
        What the ids within the picture begin with.
    """
    alt = altair()
    places = study.varied(what)
    sizes = _sizes(study, what)
    ways = study.settings[0].ways
    points = {name: [_point(study, place, name, what) for place in places] for name in ways}
    lowest = min(point["low"] for each in points.values() for point in each)
    highest = max(point["high"] for each in points.values() for point in each)
    x_scale = alt.Scale(type="log", domain=[sizes[0] / 1.15, sizes[-1] * 1.15], nice=False)
    y_scale = alt.Scale(type="log", domain=[lowest / 1.3, highest * 1.3], nice=False)
    axis = alt.Axis(title=words.VARIED_TITLES[what], values=sizes, format=",d", grid=False, labelOverlap="greedy")
    x = alt.X("x:Q", scale=x_scale, axis=axis)
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title="seconds", tickCount=5, format=".1~g"))
    colour_of = alt.Scale(
        domain=[words.WAY_TITLES[name] for name in ways], range=[SERIES[n][0] for n in range(len(ways))]
    )
    colour = alt.Color("way:N", scale=colour_of, legend=alt.Legend(title=None, orient="top", columns=2))
    layers = []
    for n, name in enumerate(ways):
        base = alt.Chart(inline_data(points[name]))
        strokes = list(SERIES[n][1]) or alt.Undefined
        layers += [
            base.mark_rule(strokeWidth=1.2).encode(x=x, y=alt.Y("low:Q", scale=y_scale), y2="high:Q", color=colour),
            base.mark_line(strokeWidth=2, strokeDash=strokes).encode(x=x, y=y, color=colour, order="x:Q"),
            base.mark_point(opacity=1, size=26, filled=True, shape=_SHAPES[n]).encode(x=x, y=y, color=colour),
        ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    said = [
        (words.WAY_TITLES[name], f"{1e3 * points[name][0]['y']:.3g}", f"{1e3 * points[name][-1]['y']:.3g}")
        for name in ways
    ]
    title = f"Seconds by {words.VARIED_TITLES[what]}"
    summary = words.timing_summary(words.VARIED_TITLES[what], said, (sizes[0], sizes[-1]))
    return inline_svg(chart, key, title, summary)


_SHAPES = ("circle", "square", "triangle-up", "diamond")


def _point(study: TimingStudy, place: int, name: str, what: str) -> Row:
    seconds = study.columns[place][f"{name}.seconds"]
    low, median, high = (float(value) for value in np.quantile(seconds, (0.25, 0.5, 0.75)))
    size = getattr(study.settings[place], what)
    return {"x": size, "y": median, "low": low, "high": high, "way": words.WAY_TITLES[name]}


def _sizes(study: TimingStudy, what: str) -> list[int]:
    return [getattr(study.settings[place], what) for place in study.varied(what)]


def _others(study: TimingStudy, what: str) -> str:
    base = dict(zip(VARIED, study.centre, strict=True))
    return " and ".join(f"{base[name]:,} {words.VARIED_TITLES[name]}" for name in VARIED if name != what)


def _pairs(study: TimingStudy) -> list[tuple[str, str]]:
    return [pair for pair in PAIRS if set(pair) <= set(study.settings[0].ways)]


def _table(study: TimingStudy) -> StudyTable:
    """Median milliseconds of every setting, how many times as long BBC takes, and what was published of that."""
    ways, pairs = study.settings[0].ways, _pairs(study)
    ratios = [f"BBC / BBC-F, {words.PAIR_TITLES[pair[0]]}" for pair in pairs]
    body = []
    for place, setting in enumerate(study.settings):
        size = (setting.rows, setting.configurations, setting.folds)
        medians = {name: study.median(place, name) for name in ways}
        published = PUBLISHED.get(size)
        body.append(
            (
                f"N = {size[0]:,}, C = {size[1]}, K = {size[2]}",
                *(f"{1e3 * medians[name]:.3g}" for name in ways),
                *(f"{medians[first] / medians[second]:.3g}" for first, second in pairs),
                f"{published[0] / published[1]:.3g}" if published else "",
                f"{setting.rows / setting.folds:.3g}",
            )
        )
    head = ("", *(words.WAY_TITLES[name] for name in ways), *ratios, f"BBC / BBC-F, {words.PUBLISHED_TITLE}", "N/K")
    return StudyTable("Median milliseconds, and how many times as long BBC takes", head, tuple(body))


def _lead(study: TimingStudy) -> str:
    """How many times as long BBC takes at the centre, or where that was not timed at the first setting."""
    sizes = [(setting.rows, setting.configurations, setting.folds) for setting in study.settings]
    place = sizes.index(study.centre) if study.centre in sizes else 0
    n, c, k = sizes[place]
    size = f"{counted(n, 'row')}, {counted(c, 'configuration')} and {counted(k, 'fold')}"
    said = [
        (words.PAIR_TITLES[pair[0]], study.median(place, pair[0]) / study.median(place, pair[1]))
        for pair in _pairs(study)
    ]
    if said:
        return words.timing_lead(said, size)
    return words.timing_lead_of_one(_medians(study, place), size)


def _medians(study: TimingStudy, place: int) -> Sequence[tuple[str, float]]:
    return [(words.WAY_TITLES[name], study.median(place, name)) for name in study.settings[0].ways]


def _worst_error(study: TimingStudy) -> float:
    """The greatest standard error of a median by the median, as if times were normal around it."""
    errors = []
    for setting, columns in zip(study.settings, study.columns, strict=True):
        for name in setting.ways:
            low, median, high = np.quantile(columns[f"{name}.seconds"], (0.25, 0.5, 0.75))
            errors.append(1.2533 * (high - low) / 1.349 / np.sqrt(study.repetitions) / median)
    return float(max(errors))

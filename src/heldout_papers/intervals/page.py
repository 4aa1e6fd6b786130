"""From a study of intervals to its page: the claims, a picture like figure 2, and tables like table 2."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from heldout._version import __version__
from heldout.report.content import Entry
from heldout.report.drawing import BLUE, INK, MUTED, VERMILLION, altair, inline_data, inline_svg
from heldout_papers.claims import n_holding
from heldout_papers.intervals import words as words
from heldout_papers.intervals.claims import intervals_claims
from heldout_papers.intervals.inclusion import Inclusion, ratios
from heldout_papers.intervals.methods import SELECTORS
from heldout_papers.intervals.methods_tables import by_side, failures, head, published_cell, sources, uniformity
from heldout_papers.intervals.published import AVERAGE_RANKS, TABLE_2, TRUE_PERFORMANCE, Place
from heldout_papers.intervals.setting import IntervalSetting
from heldout_papers.intervals.study import IntervalStudy
from heldout_papers.page import Picture, StudyPage, StudyTable

WIDTH, HEIGHT = 560, 330
WIDE = 0.3
"""How far from its place on the axis the marks of a method reach."""

Shown = Callable[[Inclusion], str]


def intervals_page(study: IntervalStudy, *, command: str = "") -> StudyPage:
    """The content of the report.

    Parameters
    ----------
    study : IntervalStudy
    command : str
        What the user typed.
    """
    claims, first = intervals_claims(study), study.settings[0]
    rejected = [
        (words.METHOD_TITLES[name], sum(row[name].rejected for row in study.inclusions)) for name in study.methods
    ]
    drawn = _of_figure(study)
    rows = [(_place(setting), row) for setting, row in zip(study.settings, study.inclusions, strict=True)]
    return StudyPage(
        name="intervals",
        title="How often each interval holds the truth, and how tight it is",
        lead=words.intervals_lead(len(study.settings), study.repetitions, study.confidence_level, rejected),
        facts=_facts(study),
        claims_sentence=words.claims_sentence(n_holding(claims), len(claims)),
        claims=claims,
        pictures=(
            Picture(
                "Tightness beside BBC's", tightness_svg(drawn, key="tightness"), words.figure_caption(len(drawn))
            ),
        )
        if drawn
        else (),
        words=tuple(Entry(words.METHOD_TITLES[name], words.METHOD_WORDS[name]) for name in study.methods),
        tables=(
            *_halves(study),
            *_groups(study),
            *failures(study.methods, rows, "Share of repetitions without a bound, and why", decimals=1),
            *uniformity(study.methods, rows),
        ),
        method=words.intervals_method(first.task, first.most_folds, first.settings.n_bootstraps),
        sources=(*sources(study.methods), *(("hand2001",) if study.settings[0].task == "multiclass" else ())),
        command=command,
        reproduction=(
            Entry("Seed", str(study.entropy)),
            Entry("Versions", f"heldout {__version__}, NumPy {np.__version__}"),
            Entry("Python", platform.python_version()),
        ),
    )


def _facts(study: IntervalStudy) -> tuple[Entry, ...]:
    first = study.settings[0]
    shares = [setting.prevalence for setting in study.settings if setting.prevalence is not None]
    facts = [
        Entry("performances", words.TASK_TITLES[first.task]),
        Entry("rows", _listed([setting.rows for setting in study.settings])),
        Entry("configurations", _listed([setting.configurations for setting in study.settings])),
        Entry("true values", "; ".join(dict.fromkeys(_beta(setting) for setting in study.settings))),
        Entry("repetitions", f"{study.repetitions:,}"),
        Entry("folds", f"up to {first.most_folds}"),
        Entry("bootstraps", f"{first.settings.n_bootstraps:,}"),
        Entry("level", f"{study.confidence_level:.0%}, one-sided"),
    ]
    if shares:
        facts.insert(3, Entry("share of the rarest class", _listed(shares)))
    return tuple(facts)


def _halves(study: IntervalStudy) -> tuple[StudyTable, ...]:
    """Table 2 in parts that a page has room for, each setting above what the article has of it."""
    means, n_complete = study.average_ranks
    tables = []
    for part in by_side(study.methods):
        body: list[tuple[str, ...]] = []
        for setting, row in zip(study.settings, study.inclusions, strict=True):
            body.append((_place(setting), *(_cell(row[name]) for name in part)))
            place = Place.of(setting)
            if place is not None:
                body.append(("published", *(published_cell(TABLE_2[place][name]) for name in part)))
        if n_complete:
            body.append((f"average rank ({n_complete})", *(f"{means[name]:.2f}" for name in part)))
        if any(Place.of(setting) for setting in study.settings):
            body.append(("published", *(f"{AVERAGE_RANKS[name]:.2f}" for name in part)))
        tables.append(StudyTable("Inclusion (tightness); * inclusion rejected", head(part), tuple(body)))
    return tuple(tables)


def _cell(found: Inclusion) -> str:
    if not found.bounds:
        return "-"
    return f"{found.inclusion:.3f} ({found.tightness:.3f}){'*' if found.rejected else ''}"


def _groups(study: IntervalStudy) -> tuple[StudyTable, ...]:
    found = study.true_performance
    if len(found) < len(SELECTORS):
        return ()
    published = any(Place.of(setting) for setting in study.settings)
    head = ("", *(words.SELECTOR_TITLES[group] for group in SELECTORS))
    body = [("ours", *(_number(found[group], 4) for group in SELECTORS))]
    if published:
        body.append(("published", *(f"{TRUE_PERFORMANCE[group]:.4f}" for group in SELECTORS)))
    return (StudyTable("Mean true performance of what each group chooses", head, tuple(body)),)


def _of_figure(study: IntervalStudy) -> list[dict[str, Inclusion]]:
    """The settings in which all methods have results; all settings where none is such."""
    if "bbc" not in study.methods or len(study.methods) < 2:
        return []
    complete = [row for row in study.inclusions if all(each.complete for each in row.values())]
    return complete or [row for row in study.inclusions if row["bbc"].bounds]


def tightness_svg(rows: Sequence[dict[str, Inclusion]], *, key: str) -> str:
    """Each method's tightness over BBC's, a mark a setting.

    Parameters
    ----------
    rows : sequence of dict
        Of method to what became of it, ``bbc`` among them.
    key : str
        What the ids within the picture begin with.
    """
    alt = altair()
    names = [name for name in rows[0] if name != "bbc"]
    titles = [words.METHOD_TITLES[name] for name in names]
    points = [point for place, name in enumerate(names) for point in _marks(rows, name, place)]
    heights = [point["y"] for point in points] + [1.0]
    margin = 0.06 * (max(heights) - min(heights)) or 0.1
    ends = [min(heights) - margin, max(heights) + margin]
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(domain=ends, nice=False, zero=False),
        axis=alt.Axis(title="tightness over that of BBC", tickCount=6, format=".1f"),
    )
    x_scale = alt.Scale(domain=[-0.5, len(names) - 0.5], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=None)
    labels = [{"x": place, "y": ends[0], "text": title} for place, title in enumerate(titles)]
    kept = alt.Chart(inline_data([point for point in points if not point["rejected"]]))
    lost = alt.Chart(inline_data([point for point in points if point["rejected"]]))
    layers = [
        alt.Chart(inline_data([{"y": 1.0}])).mark_rule(color=MUTED, strokeWidth=1.2).encode(y=y),
        kept.mark_point(color=BLUE, fill=BLUE, opacity=1, size=44, shape="circle").encode(x=x, y=y),
        lost.mark_point(color=VERMILLION, opacity=1, size=44, shape="cross", strokeWidth=1.6).encode(x=x, y=y),
        alt.Chart(inline_data(labels))
        .mark_text(color=INK, fontSize=12, baseline="top", dy=8)
        .encode(x=x, y=y, text="text:N"),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    said = [
        (
            words.METHOD_TITLES[name],
            float(np.mean([point["y"] for point in points if point["x_of"] == place])),
            sum(point["rejected"] for point in points if point["x_of"] == place),
            len(rows),
        )
        for place, name in enumerate(names)
        if any(point["x_of"] == place for point in points)
    ]
    return inline_svg(chart, key, "Tightness over that of BBC, by method", words.figure_summary(said))


def _marks(rows: Sequence[dict[str, Inclusion]], name: str, place: int) -> list[dict[str, Any]]:
    """A mark a setting, side by side in the order of the settings."""
    offsets = np.linspace(-WIDE, WIDE, len(rows)) if len(rows) > 1 else np.zeros(1)
    return [
        {"x": place + float(offset), "x_of": place, "y": ratios(row)[name], "rejected": bool(row[name].rejected)}
        for offset, row in zip(offsets, rows, strict=True)
        if np.isfinite(ratios(row)[name])
    ]


def _place(setting: IntervalSetting) -> str:
    share = "" if setting.prevalence is None else f", b {setting.prevalence:g}"
    return f"{_beta(setting)}, N {setting.rows}, C {setting.configurations}{share}"


def _beta(setting: IntervalSetting) -> str:
    return f"Be({setting.beta[0]:g}, {setting.beta[1]:g})"


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if np.isfinite(value) else "-"


def _listed(sizes: Sequence[float]) -> str:
    return ", ".join(f"{size:,g}" for size in sorted(set(sizes)))

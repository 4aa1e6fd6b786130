"""From a bias study to its page: the claims, a picture like the article's figure 1 for each beta, and tables."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout._version import __version__
from heldout.report.content import Entry
from heldout.report.drawing import INK, MUTED, SERIES, altair, inline_data, inline_svg
from heldout_papers.bias import words as words
from heldout_papers.bias.claims import bias_claims
from heldout_papers.bias.setting import ACCURACY, METRICS, ROC_AUC, BiasSetting
from heldout_papers.bias.study import BiasStudy
from heldout_papers.claims import n_holding
from heldout_papers.page import Picture, StudyPage, StudyTable

WIDTH, HEIGHT = 420, 330
APART = 1.035
"""Protocols stand beside each other on the logarithmic axis by this factor, so that bars can be told apart."""
Row = dict[str, Any]


def bias_page(study: BiasStudy, *, command: str = "") -> StudyPage:
    """The content of the report.

    Parameters
    ----------
    study : BiasStudy
    command : str
        What the user typed.
    """
    moments = study.moments()
    rows, claims = moments.rows(), bias_claims(moments)
    betas = list(dict.fromkeys(row["beta"] for row in rows))
    names = study.settings[0].protocols
    first = study.settings[0]
    n_configurations = len({setting.configurations for setting in study.settings})
    ends = _ends(rows)
    return StudyPage(
        name="bias",
        title="How biased each protocol is",
        lead=_lead(study, rows),
        facts=(
            Entry("rows", _listed([setting.rows for setting in study.settings])),
            Entry("configurations", _listed([setting.configurations for setting in study.settings])),
            Entry("metric", words.METRIC_TITLES[first.metric] + _share(first)),
            Entry(words.TRUTH_LABELS[first.metric], "; ".join(f"Be({beta})" for beta in betas)),
            Entry("repetitions", f"{study.repetitions:,}"),
            Entry("folds", f"{first.folds}"),
            Entry("bootstraps", f"{first.n_bootstraps:,}"),
        ),
        claims_sentence=words.claims_sentence(n_holding(claims), len(claims), first.metric),
        claims=claims,
        pictures=tuple(
            Picture(
                beta_title(beta, first.metric),
                bias_svg([row for row in rows if row["beta"] == beta], ends, first.metric, key=f"bias-{n}"),
                words.bias_figure_caption(n_configurations, _gap(first.metric)),
            )
            for n, beta in enumerate(betas)
        ),
        words=tuple(Entry(words.PROTOCOL_TITLES[name], words.PROTOCOL_WORDS[name]) for name in names),
        tables=tuple(
            _table([row for row in rows if row["beta"] == beta], beta_title(beta, first.metric)) for beta in betas
        ),
        method=words.BIAS_METHODS[first.metric],
        sources=_sources(first),
        command=command,
        reproduction=(
            Entry("Seed", str(study.entropy)),
            Entry("Versions", f"heldout {__version__}, NumPy {np.__version__}"),
            Entry("Python", platform.python_version()),
        ),
    )


def bias_svg(rows: Sequence[Row], ends: tuple[float, float], metric: str = ACCURACY, *, key: str) -> str:
    """Mean bias over the number of rows, a line a protocol, with bars from the least to the greatest of any C.

    Parameters
    ----------
    rows : sequence of dict
        Of one beta, as ``BiasStudy.rows`` has them.
    ends : (float, float)
        Of the axis, which all pictures of a page share.
    key : str
        What the ids within the picture begin with.
    """
    alt = altair()
    sizes = sorted({row["rows"] for row in rows})
    names = list(dict.fromkeys(row["protocol"] for row in rows))
    spread = APART ** (len(names) + 1)
    domain = [sizes[0] / spread, sizes[-1] * spread]
    x_scale = alt.Scale(type="log", domain=domain, nice=False)
    y_scale = alt.Scale(domain=list(ends), nice=False, zero=False)
    axis = alt.Axis(title="rows", values=sizes, format=",d", grid=False, labelOverlap="greedy", labelSeparation=8)
    x = alt.X("x:Q", scale=x_scale, axis=axis)
    y = alt.Y("y:Q", scale=y_scale, axis=alt.Axis(title=_gap(metric), tickCount=6, format="+.2f"))
    layers = [alt.Chart(inline_data([{"y": 0.0}])).mark_rule(color=MUTED, strokeWidth=1.2).encode(y=y)]
    said = []
    for place, name in enumerate(names):
        colour, dash = SERIES[place % len(SERIES)]
        factor = APART ** (place - (len(names) - 1) / 2)
        points = [
            _point([r["bias"] for r in rows if r["protocol"] == name and r["rows"] == n], n * factor) for n in sizes
        ]
        base = alt.Chart(inline_data(points))
        strokes = list(dash) or alt.Undefined
        layers += [
            base.mark_rule(color=colour, strokeWidth=1.2).encode(x=x, y=alt.Y("low:Q", scale=y_scale), y2="high:Q"),
            base.mark_line(color=colour, strokeWidth=2, strokeDash=strokes).encode(x=x, y=y, order="x:Q"),
            base.mark_point(color=colour, fill=colour, opacity=1, size=26, shape="circle").encode(x=x, y=y),
            *_key(words.PROTOCOL_TITLES[name], place, colour, strokes, domain, ends, x, y),
        ]
        said.append((words.PROTOCOL_TITLES[name], f"{points[0]['y']:+.3f}", f"{points[-1]['y']:+.3f}"))
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    summary = words.bias_figure_summary(rows[0]["beta"], said, (sizes[0], sizes[-1]))
    return inline_svg(chart, key, f"Mean bias by rows, {beta_title(rows[0]['beta'], metric)}", summary)


def beta_title(beta: str, metric: str = ACCURACY) -> str:
    """A distribution with the mean that it has."""
    a, b = (float(part) for part in beta.split(","))
    return f"Be({a:g}, {b:g}), {words.MEAN_LABELS[metric]} {a / (a + b):.2g}"


def _gap(metric: str) -> str:
    return words.gap_words(METRICS[metric].greater_is_better)


def _share(setting: BiasSetting) -> str:
    return "" if setting.prevalence is None else f", {setting.prevalence:.3g} of the rows positive"


def _sources(setting: BiasSetting) -> tuple[str, ...]:
    tt = ("tibshirani2009",) if "tt" in setting.protocols else ()
    return ("tsamardinos2018", *tt, *(("paraschakis2024",) if setting.metric == ROC_AUC else ()))


def _point(biases: Sequence[float], at: float) -> Row:
    return {"x": at, "y": float(np.mean(biases)), "low": min(biases), "high": max(biases)}


def _key(
    title: str,
    place: int,
    colour: str,
    strokes: Any,
    domain: list[float],
    ends: tuple[float, float],
    x: Any,
    y: Any,
) -> list[Any]:
    """A stroke and a name at the upper right, where no bias is."""
    alt = altair()
    ratio, height = domain[1] / domain[0], ends[1] - (0.05 + 0.065 * place) * (ends[1] - ends[0])
    left, right, text = (domain[0] * ratio**part for part in (0.7, 0.78, 0.8))
    line = alt.Chart(inline_data([{"x": left, "y": height}, {"x": right, "y": height}]))
    name = alt.Chart(inline_data([{"x": text, "y": height, "text": title}]))
    return [
        line.mark_line(color=colour, strokeWidth=2.5, strokeDash=strokes).encode(x=x, y=y),
        name.mark_text(align="left", baseline="middle", color=INK, fontSize=12).encode(x=x, y=y, text="text:N"),
    ]


def _ends(rows: Sequence[Row]) -> tuple[float, float]:
    biases = [row["bias"] for row in rows]
    low, high = min(0.0, *biases), max(0.0, *biases)
    margin = 0.06 * (high - low) or 0.01
    return low - margin, high + margin


def _table(rows: Sequence[Row], title: str) -> StudyTable:
    """Means over C with their standard errors."""
    names = list(dict.fromkeys(row["protocol"] for row in rows))
    body = []
    for n in sorted({row["rows"] for row in rows}):
        cells = [f"{n:,} rows"]
        for name in names:
            mine = [row for row in rows if row["rows"] == n and row["protocol"] == name]
            error = float(np.sqrt(sum(row["standard_error"] ** 2 for row in mine))) / len(mine)
            chance = f" ± {error:.4f}" if np.isfinite(error) else ""
            cells.append(f"{np.mean([row['bias'] for row in mine]):+.4f}{chance}")
        body.append(tuple(cells))
    head = ("", *(words.PROTOCOL_TITLES[name] for name in names))
    return StudyTable(f"Mean bias with its standard error, {title}", head, tuple(body))


def _lead(study: BiasStudy, rows: Sequence[Row]) -> str:
    """Who is biased most with the fewest rows."""
    least = min(row["rows"] for row in rows)
    means = {
        name: float(np.mean([row["bias"] for row in rows if row["protocol"] == name and row["rows"] == least]))
        for name in study.settings[0].protocols
    }
    worst = max(means, key=lambda name: abs(means[name]))
    return words.bias_lead(
        len(study.settings), study.repetitions, words.PROTOCOL_TITLES[worst], least, f"{means[worst]:+.3f}"
    )


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(f"{size:,}" for size in sorted(set(sizes)))

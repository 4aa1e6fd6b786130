"""The page of a test bed: the claims, pictures of coverage, bias, error and width, and tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from heldout._text import counted
from heldout_papers.corrections.claims import (
    AT_LEAST,
    ERROR_RATE,
    LEAST_REPETITIONS,
    LEAST_ROWS,
    LEVEL,
    CellRows,
    Row,
    bias_ratio,
    corrections_claims,
    error_ratio,
    failing_cells,
    where,
)
from heldout_papers.corrections.matrix import WORST
from heldout_papers.corrections.reach import FLOOR, HIGH, LEAST_RARER, LOW, reach_claims
from heldout_papers.corrections.result import CorrectionsStudy
from heldout_papers.corrections.scores import ORACLE
from heldout_papers.corrections.tables_result import TablesStudy
from heldout_papers.engine.page import Cells, ClaimsText, StudyPage, StudyTable, shown, study_tables
from heldout_papers.engine.pictures import (
    Frame,
    Line,
    Mark,
    Picture,
    PictureAxis,
    line_picture,
    line_summary,
    mark_picture,
)

APART = 1.03
"""Lines stand beside each other on the logarithmic axis by this factor, so that their bars do not overlap."""
SPREAD = 0.3
"""Of the marks of a method on either side of its place."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "independent": (
        "For every setting and repetition C configurations get true scores from a Beta distribution, and N x C "
        "held-out predictions are drawn independently of each other: right with the probability of the "
        "configuration, or normal scores and outcomes of its true area, error or log loss. Right and wrong "
        "answers are the same for any number of classes, so three classes are tried with the mean area of every "
        "two classes and with the log loss.",
    ),
    "correlated": (
        "Every matrix has the structure of a search on a real table: how good each of its configurations is, how "
        "sure of itself, and how its predictions depend on those of the others through three factors that rows "
        "have in common. Noise is normal, and true scores follow from the normal distribution. Plain is that "
        "structure; of tails a third of the columns is far worse; of ceiling the best columns are nearly always "
        "right; ties has every column three times, and of two classes four different probabilities only.",
    ),
    "tables": (
        "A sample of a table is searched by HeldOutSearchCV. Every configuration is then fitted on all rows of the "
        "sample and scored on the rest of the table, at least nine times as many rows; that is its truth. One is a "
        "configuration that was named beforehand, four of them in turn; alike are ten that differ in their penalty "
        "alone; varied are all. What is chosen on one half of the tables is judged on the other. Samples of a "
        "table overlap with each other, and errors of a cell say how precise its mean is for these tables only. "
        "Log losses are divided by the mean deviation of the winner's row losses in the cell.",
    ),
}
ERRORS = (
    "Every method answers as heldout.estimate does, on the same matrices, with the same seeds. The error of an "
    "estimate is its distance from the true score of the configuration that it selected, such that positive "
    "flatters. Errors of a root mean squared or mean absolute error are in units of the standard deviation of the "
    "target."
)
CATASTROPHES = (
    "A winner whose R² outside is below -2, or whose error is more than two standard deviations of the target, is "
    "a catastrophe that the rows of the sample do not show. Before means are taken, truths, estimates and ends of "
    "intervals beyond these limits are moved to them; plain means are in the table of cells."
)
COVERAGE = (
    f"A cell fails where its coverage is below {AT_LEAST:g} by the exact one-sided binomial test at "
    f"{ERROR_RATE:g} divided by the number of cells with {LEAST_ROWS} rows or more. Seconds are those of the "
    "method alone, from predictions that were read and checked, on one thread."
)
REACH = (
    f"Cells with fewer than {LEAST_RARER} rows of the rarer class are not judged. A bias and a coverage may be "
    f"beyond their limits ({LOW:g} to {HIGH:g}, and nowhere below {FLOOR:g}) by two standard errors. Seconds are "
    "those of heldout.estimate."
)
ORACLES = {
    "tables": (
        "The oracle subtracts the mean optimism of the cell, which nobody with one search knows, and its interval "
        "has one length, such that it holds the truth in 95 % of these searches."
    ),
    "independent": (
        "The oracle knows the Beta distribution and expects the true score of the winner from its observed one. "
        "For accuracy that is the best that any method can do; elsewhere the chance of an observed score is "
        "approximated."
    ),
    "": (
        "The oracle knows how observed and true scores of winners vary together: it is the best line from one to "
        "the other, fitted to all other repetitions of the cell. No correction that is a line in the winner's "
        "score can have a smaller error."
    ),
}


def corrections_page(study: CorrectionsStudy | TablesStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    cells = CellRows(tuple(study.rows()), study.reference)
    claims = reach_claims(study) if isinstance(study, TablesStudy) else corrections_claims(cells)
    return StudyPage(
        name=study.name,
        title="How good corrections and their intervals are",
        lead=_lead(cells),
        settings=_settings(study, cells),
        claims=claims,
        tested=ClaimsText(
            "about what a correction must reach",
            "a method besides cv and the reference with 100 repetitions or more, and for coverage "
            f"{LEAST_REPETITIONS} repetitions of every cell",
            heading="What a correction must reach, and what we found",
            claim="target",
            published="Target",
        ),
        pictures=_pictures(cells),
        glossary=_glossary(study.methods, study.reference),
        tables=_tables(cells),
        method=_method(study, cells),
        sources=("tsamardinos2018",),
        entropy=study.entropy,
        command=command,
    )


def _glossary(methods: Sequence[str], reference: str) -> dict[str, str]:
    known = {
        "cv": "the winner's own score, uncorrected",
        "bbc": "bootstrap bias correction: rows are drawn, and the best on them is scored on those left out",
        "shrinkage": "the optimism of the selection, replayed around scores that are shrunken towards each other",
        ORACLE: "knows how the true scores are distributed; it shows what is left to win",
    }
    found = {name: known[name] for name in methods if name in known}
    return {**found, "reference": f"{reference}, with which ratios compare"}


def _lead(cells: CellRows) -> str:
    others = [name for name in cells.judged if cells.pairs(name)]
    n = len(cells.of(cells.reference))
    if not others:
        return f"Over {counted(n, 'cell')}, {cells.reference} is the only method that corrects."
    parts = [
        f"{name} has {error_ratio(cells.pairs(name)).value:.3f} of the error of {cells.reference} and "
        f"{bias_ratio(cells.pairs(name)).value:.2f} of its bias"
        for name in others
    ]
    return f"On average over {counted(n, 'cell')}, {'; '.join(parts)}."


def _settings(study: CorrectionsStudy | TablesStudy, cells: CellRows) -> dict[str, Any]:
    of_one = cells.of(cells.methods[0])
    left_out = {"left out": len(study.left_out)} if study.left_out else {}
    return {
        "part": study.part,
        "kinds": ", ".join(dict.fromkeys(row["kind"] for row in of_one)),
        "metrics": ", ".join(cells.metrics),
        "rows": list(cells.sizes),
        "configurations": [row["configurations"] for row in of_one],
        "cells": len(of_one),
        "repetitions": max(row["repetitions"] + row["no_value"] for row in of_one),
        "bootstraps": study.n_bootstraps,
        "scores": study.aggregate or "as heldout.estimate chooses",
        **left_out,
    }


def _method(study: CorrectionsStudy | TablesStudy, cells: CellRows) -> tuple[str, ...]:
    oracle = ORACLES.get(study.part, ORACLES[""]) if ORACLE in study.methods else ""
    parts = (
        *PARTS.get(study.part, ()),
        ERRORS,
        CATASTROPHES if set(cells.metrics) & set(WORST) else "",
        REACH if isinstance(study, TablesStudy) else COVERAGE,
        oracle,
    )
    return tuple(part for part in parts if part)


def _pictures(cells: CellRows) -> list[Picture]:
    ways = [
        _coverage_picture(cells, "95", f"Coverage of {LEVEL:.0%} intervals"),
        _coverage_picture(cells, "bound_95", f"Coverage of {LEVEL:.0%} bounds on how bad the truth can be"),
        _over_rows(cells, "bias", "Bias", "bias", _bias_of(cells), 0.0, "+.2f"),
        _over_rows(
            cells, "error", f"Error beside {cells.reference}", "ratio of errors", _value("rmse_ratio"), 1.0, ".2f"
        ),
        _over_rows(
            cells,
            "width",
            f"Width beside {cells.reference}",
            "ratio of widths",
            _value("width_ratio_95"),
            1.0,
            ".2f",
        ),
    ]
    return [picture for picture in ways if picture is not None]


def _coverage_picture(cells: CellRows, name: str, title: str) -> Picture | None:
    """A mark a cell, by method; those that fail stand out."""
    methods = [
        method
        for method in cells.methods
        if any(row.get(f"intervals_{name}", 0) > 0 and row["rows"] >= LEAST_ROWS for row in cells.of(method))
    ]
    if not methods:
        return None
    marks, failed = [], 0
    for place, method in enumerate(methods):
        rows = [row for row in cells.of(method) if row[f"intervals_{name}"] > 0 and row["rows"] >= LEAST_ROWS]
        failing = {where(row) for row in failing_cells(rows, name)}
        failed += len(failing)
        for number, row in enumerate(rows):
            x = place + SPREAD * (2 * (number + 0.5) / len(rows) - 1)
            marks.append(Mark(x, float(row[f"coverage_{name}"]), where(row) in failing))
    least = min(mark.y for mark in marks)
    frame = Frame(
        PictureAxis(""), PictureAxis("coverage", ".2f", ends=(min(0.88, least - 0.01), 1.005)),
        f"corrections-{name.replace('_', '-')}", level=LEVEL, band=(AT_LEAST, 0.96), labels=methods,
    )  # fmt: skip
    summary = f"{title}, of {counted(len(marks), 'cell')}; {failed} fail."
    caption = (
        f"A mark is a cell with {LEAST_ROWS} rows or more, in the order of the table of cells. The line is what "
        f"is asked, the band from {AT_LEAST:g} to .96; squares are cells that fail the test."
    )
    return mark_picture(title, marks, frame, shape="s", summary=summary, caption=caption)


Number = Callable[[Row], float]


def _value(name: str) -> Number:
    def number(row: Row) -> float:
        return float(row.get(name, np.nan))

    return number


def _bias_of(cells: CellRows) -> Number:
    """Biases of a single metric as they are; of several in units of the reference's error in the cell."""
    if len(cells.metrics) == 1:
        return _value("bias")
    beside = {where(row): float(row["rmse"]) for row in cells.of(cells.reference)}
    return lambda row: float(row["bias"]) / beside[where(row)]


def _over_rows(
    cells: CellRows, key: str, title: str, axis: str, number: Number, level: float, form: str
) -> Picture | None:
    """A line a method over N, with bars from the least to the greatest cell."""
    lines = []
    sizes = list(cells.sizes)
    for place, method in enumerate(cells.methods):
        values = [[number(row) for row in cells.of(method) if row["rows"] == n] for n in sizes]
        beside = method == cells.reference and key != "bias"
        if beside or not any(np.isfinite(value) for each in values for value in each):
            continue
        shift = APART ** (place - (len(cells.methods) - 1) / 2)
        lines.append(Line.over(method, [n * shift for n in sizes], values))
    if not lines:
        return None
    several = key == "bias" and len(cells.metrics) > 1
    unit = f", in units of {cells.reference}'s error" if several else ""
    ends = _quantile_ends(lines, level)
    frame = Frame(
        PictureAxis("rows", ",.0f", sizes, "log"),
        PictureAxis(axis + unit, form, ends=ends),
        f"corrections-{key}",
        level=level,
    )
    at = f"{sizes[0]:,}", f"{sizes[-1]:,} rows"
    return line_picture(
        title, lines, frame,
        summary=line_summary(title, lines, at, lambda value: format(value, form)),
        caption=f"Mean over cells{unit}; bars reach from the least to the greatest cell. "
        + ("0 is unbiased, above it flatters." if key == "bias" else f"1 is {cells.reference}."),
    )  # fmt: skip


def _quantile_ends(lines: Sequence[Line], level: float) -> tuple[float, float]:
    """The values that must have room: those of all bars."""
    ends = [value for line in lines for value in (*line.low, *line.high, level) if np.isfinite(value)]
    return min(ends), max(ends)


def _tables(cells: CellRows) -> list[StudyTable]:
    """By metric and N, means over the other settings of cells."""
    tables = [*study_tables("Over all cells", _overall(cells))]
    ways: tuple[tuple[str, Callable[[Sequence[Row]], str]], ...] = (
        ("Mean bias", lambda rows: shown(_mean(rows, "bias"), "+.4f")),
        (
            f"Error beside {cells.reference} (root mean square)",
            lambda rows: shown(_mean(rows, "rmse_ratio"), ".3f"),
        ),
        (
            f"Coverage of {LEVEL:.0%} intervals, the least in parentheses",
            lambda rows: _mean_and_least(rows, "coverage_95"),
        ),
        (
            f"Width of {LEVEL:.0%} intervals beside {cells.reference}",
            lambda rows: shown(_mean(rows, "width_ratio_95"), ".3f"),
        ),
    )
    for title, text in ways:
        lines = [
            (f"{metric}, N = {n:,}", _line(cells, metric, n, text)) for metric in cells.metrics for n in cells.sizes
        ]
        tables += study_tables(title, [(label, found) for label, found in lines if set(found.values()) != {"-"}])
    return tables


def _overall(cells: CellRows) -> list[tuple[str, Cells]]:
    """A row a method."""
    lines: list[tuple[str, Cells]] = []
    for method in cells.methods:
        pairs, rows = cells.pairs(method), cells.of(method)
        large = [row for row in rows if row["rows"] >= LEAST_ROWS]
        found = {
            "mean |bias| beside reference": shown(bias_ratio(pairs).value if pairs else np.nan, ".3f"),
            "error beside reference": shown(error_ratio(pairs).value if pairs else np.nan, ".3f"),
            "coverage": _mean_and_least(large, "coverage_95"),
            "one-sided": _mean_and_least(large, "coverage_bound_95"),
            "width beside reference": shown(_mean(large, "width_ratio_95"), ".3f"),
            "milliseconds": shown(1000 * _mean(rows, "seconds"), ".2f"),
            "no value": f"{sum(int(row['no_value']) for row in rows):,}",
        }
        lines.append((method, found))
    return lines


def _line(cells: CellRows, metric: str, n: int, text: Callable[[Sequence[Row]], str]) -> dict[str, str]:
    return {
        method: text([row for row in cells.of(method) if (row["metric"], row["rows"]) == (metric, n)])
        for method in cells.methods
    }


def _mean(rows: Sequence[Row], name: str) -> float:
    values = [float(row.get(name, np.nan)) for row in rows]
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else float("nan")


def _mean_and_least(rows: Sequence[Row], name: str) -> str:
    values = [float(row.get(name, np.nan)) for row in rows]
    finite = [value for value in values if np.isfinite(value)]
    return f"{np.mean(finite):.3f} ({min(finite):.3f})" if finite else "-"

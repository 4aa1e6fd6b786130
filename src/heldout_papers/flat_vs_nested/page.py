"""From a study of flat and nested cross-validation to its page: claims, pictures, and the article's six tables."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from heldout._text import counted
from heldout._version import __version__
from heldout.report.content import Entry
from heldout_papers.claims import n_holding
from heldout_papers.flat_vs_nested import words as words
from heldout_papers.flat_vs_nested.accuracies import Accuracies, Estimated, mean_ranks, tied_for_best
from heldout_papers.flat_vs_nested.analysis import ANALYSES, FULL, Outcome, outcomes
from heldout_papers.flat_vs_nested.claims import claims_of
from heldout_papers.flat_vs_nested.pictures import against_svg, distribution_svg
from heldout_papers.flat_vs_nested.published import (
    FLAT_RANKS,
    N_LARGE,
    N_TABLES,
    NESTED_RANKS,
    ROWS,
    PublishedRow,
)
from heldout_papers.flat_vs_nested.result import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.seen import Seen
from heldout_papers.page import Picture, StudyPage, StudyTable

BLOCKS: Mapping[str, tuple[str, ...]] = {
    "table 2": ("main",),
    "table 3": ("large_tables",),
    "table 5": ("averaged", "averaged_errors", "each_repetition", "smallest_deviation"),
    "table 6": ("forest_alone",),
}
"""The article's tables, and the analyses that they are of."""


def flat_vs_nested_page(study: FlatVsNestedStudy, *, command: str = "") -> StudyPage:
    """The content of the report.

    Parameters
    ----------
    study : FlatVsNestedStudy
    command : str
        What the user typed.
    """
    seen = Seen(study.accuracies, study.entropy)
    accuracies = seen.accuracies
    found = outcomes(accuracies, study.entropy)
    claims = claims_of(seen)
    return StudyPage(
        name=study.name,
        title="Is nested cross-validation needed to choose an algorithm?",
        lead=_lead(found),
        facts=(
            Entry("tables", f"{len(accuracies.tables)}"),
            Entry("rows", _span(accuracies.rows)),
            Entry("algorithms", ", ".join(accuracies.algorithms)),
            Entry("configurations of each", _span(study.columns["n_configurations"])),
            Entry("repetitions", f"{accuracies.n_repetitions}"),
            Entry("ties for the best", words.ties_text(*_ties(accuracies))),
        ),
        claims_sentence=words.claims_sentence(n_holding(claims), len(claims)),
        claims=claims,
        pictures=_pictures(seen),
        words=tuple(Entry(words.ANALYSIS_TITLES[name], words.ANALYSIS_WORDS[name]) for name in ANALYSES),
        tables=(*_outcome_tables(found), *_rank_tables(accuracies), *_left_out(study, seen)),
        method=words.METHOD,
        sources=("wainer2021", "wilcoxon1945"),
        command=command,
        reproduction=(
            Entry("Seed", str(study.entropy)),
            Entry("Versions", f"heldout {__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}"),
            Entry("Python", platform.python_version()),
        ),
    )


def _span(sizes: NDArray[np.intp]) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _lead(found: Sequence[Outcome]) -> str:
    """Of the largest scenario, by the main analysis."""
    last = next(one for one in reversed(found) if one.analysis == "main")
    return words.lead(
        last.n_tables, words.SCENARIO_TITLES[last.scenario], last.same_choice, last.mean_gain, last.mean,
        (last.low, last.high),
    )  # fmt: skip


def _ties(accuracies: Accuracies) -> tuple[float, float]:
    """The shares of tables and repetitions in which algorithms tie for the best, by flat and by nested."""
    counted_here = accuracies.candidates.sum(axis=-1) > 1
    shares = [
        float(tied_for_best(values, accuracies.candidates)[counted_here].mean()) if counted_here.any() else np.nan
        for values in (accuracies.flat, accuracies.nested)
    ]
    return shares[0], shares[1]


def _pictures(seen: Seen) -> tuple[Picture, ...]:
    pictures = []
    for n, scenario in enumerate(seen.scenarios):
        pairs, title = seen.compared(scenario, "main"), words.SCENARIO_TITLES[scenario]
        if len(pairs.gain):
            against, sorted_ = (
                against_svg(pairs, title, f"against-{n}"),
                distribution_svg(pairs, title, f"sorted-{n}"),
            )
            pictures += [
                Picture(words.against_title(title), against, words.AGAINST_CAPTION),
                Picture(words.distribution_title(title), sorted_, words.DISTRIBUTION_CAPTION),
            ]
    return tuple(pictures)


def _outcome_tables(found: Sequence[Outcome]) -> list[StudyTable]:
    """Tables 2, 3, 5 and 6: a row of ours, and beneath it what was published."""
    tables = []
    for table, analyses in BLOCKS.items():
        rows: list[tuple[str, ...]] = []
        for analysis in analyses:
            for one in (one for one in found if one.analysis == analysis):
                name = words.row_name(one.scenario, analysis, alone=len(analyses) == 1)
                rows.append((name, *_ours(one)))
                if (one.scenario, analysis) in ROWS:
                    rows.append((words.published_name(name), *_published(ROWS[one.scenario, analysis], table)))
        if rows:
            tables.append(StudyTable(words.OUTCOME_TITLES[table], words.OUTCOME_HEAD, tuple(rows)))
    return tables


def _ours(one: Outcome) -> tuple[str, ...]:
    if not one.n_tables:
        return "0", *["–"] * 5, one.reason
    ends = [f"{end:.4f}" if np.isfinite(end) else "–" for end in (one.low, one.high)]
    p_value = f"{one.p_value:.2g}" if np.isfinite(one.p_value) else "–"
    return (
        f"{one.n_tables}", f"{one.same_choice:.0%}", p_value, f"{one.mean:.4f}", *ends, f"{one.mean_gain:+.4f}",
    )  # fmt: skip


def _published(row: PublishedRow, table: str) -> tuple[str, ...]:
    n = N_LARGE if table == "table 3" else N_TABLES
    return (
        f"{n}", f"{row.same_choice}%", row.p_value, f"{row.mean:.3f}", f"{row.low:.3f}", f"{row.high:.3f}", "",
    )  # fmt: skip


def _rank_tables(accuracies: Accuracies) -> list[StudyTable]:
    """Tables 1 and 4; what was published beside it only where the same algorithms were ranked."""
    by: tuple[tuple[Estimated, Mapping[str, float]], ...] = (("nested", NESTED_RANKS), ("flat", FLAT_RANKS))
    tables = []
    for estimated, published in by:
        average, best = mean_ranks(accuracies, estimated), mean_ranks(accuracies, estimated, "best")
        same = accuracies.algorithms == FULL
        rows = tuple(
            (name, f"{average[name]:.2f}", f"{best[name]:.2f}", *([f"{published[name]:.1f}"] if same else []))
            for name in average
        )
        head = words.RANK_HEAD if same else words.RANK_HEAD[:-1]
        tables.append(StudyTable(words.RANK_TITLES[estimated], head, rows))
    return tables


def _left_out(study: FlatVsNestedStudy, seen: Seen) -> list[StudyTable]:
    """Tables that were not used, and those that a scenario could not use."""
    reasons = dict(study.left_out)
    for scenario in seen.scenarios:
        for name, reason in seen.compared(scenario, "main").left_out.items():
            reasons.setdefault(name, f"{words.SCENARIO_TITLES[scenario]}: {reason}")
    if not reasons:
        return []
    title = f"Left out: {counted(len(reasons), 'table')}"
    return [StudyTable(title, ("table", "why"), tuple(reasons.items()))]

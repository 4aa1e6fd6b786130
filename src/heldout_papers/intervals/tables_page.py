"""From intervals on real tables to a page: the claims, a picture like figure 2, and tables like table 3."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import numpy as np
import sklearn

from heldout._version import __version__
from heldout.report.content import Entry
from heldout_papers.claims import n_holding
from heldout_papers.intervals import tables_words as table_words
from heldout_papers.intervals import words as words
from heldout_papers.intervals.inclusion import Inclusion
from heldout_papers.intervals.methods import SELECTORS
from heldout_papers.intervals.methods_tables import by_side, failures, head, published_cell, sources, uniformity
from heldout_papers.intervals.page import tightness_svg
from heldout_papers.intervals.tables_claims import Seen, tables_claims
from heldout_papers.intervals.tables_published import AVERAGE_RANKS, TABLE_3, TRUE_PERFORMANCE, WITHOUT_LABELS
from heldout_papers.intervals.tables_result import IntervalsOnTables, TablePlace
from heldout_papers.page import Picture, StudyPage, StudyTable


def tables_page(study: IntervalsOnTables, *, command: str = "") -> StudyPage:
    """The content of the report.

    Parameters
    ----------
    study : IntervalsOnTables
    command : str
        What the user typed.
    """
    claims, rows = tables_claims(study), study.inclusions
    rejected = [(words.METHOD_TITLES[name], sum(row[name].rejected for row in rows)) for name in study.methods]
    drawn = _of_figure(study, rows)
    method = table_words.tables_method(study.n_bootstraps, study.space, study.confidence_level)
    if any(place.table == WITHOUT_LABELS for place in study.places):
        method = (*method, table_words.MUSK)
    named = [(_named(place), row) for place, row in zip(study.places, rows, strict=True)]
    return StudyPage(
        name="intervals-on-tables",
        title="How often each interval holds on real tables",
        lead=table_words.tables_lead(len(rows), study.repetitions, study.confidence_level, rejected),
        facts=_facts(study),
        claims_sentence=table_words.tables_claims_sentence(
            n_holding(claims), len(claims), len(Seen.of(study).rows)
        ),
        claims=claims,
        pictures=(
            Picture(
                "Tightness beside BBC's",
                tightness_svg(drawn, key="tightness"),
                table_words.tables_caption(len(drawn)),
            ),
        )
        if drawn
        else (),
        words=tuple(Entry(words.METHOD_TITLES[name], words.METHOD_WORDS[name]) for name in study.methods),
        tables=(
            *_parts(study, rows),
            *_groups(study),
            *failures(study.methods, named, "Share of training sets without a bound, and why", decimals=0),
            *uniformity(study.methods, named),
        ),
        method=(*method, *words.TWO_PARTS, words.RANKED),
        sources=sources(study.methods),
        command=command,
        reproduction=(
            Entry("Seed", str(study.entropy)),
            Entry("Versions", f"heldout {__version__}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}"),
            Entry("Python", platform.python_version()),
        ),
    )


def _facts(study: IntervalsOnTables) -> tuple[Entry, ...]:
    sizes = sorted({place.train_rows for place in study.places})
    facts = (
        Entry("tables", str(len(study.places))),
        Entry("training rows", ", ".join(f"{size:,}" for size in sizes)),
        Entry("training sets of each", f"{study.repetitions:,}"),
        Entry("space", study.space),
        Entry("bootstraps", f"{study.n_bootstraps:,}"),
        Entry("level", f"{study.confidence_level:.0%}, one-sided"),
    )
    return (*facts, Entry("tables left out", str(len(study.left_out)))) if study.left_out else facts


def _parts(study: IntervalsOnTables, rows: Sequence[dict[str, Inclusion]]) -> tuple[StudyTable, ...]:
    """Table 3 in parts that a page has room for, each table above what the article has of it."""
    means, n_complete = study.average_ranks
    tables = []
    for names in by_side(study.methods):
        body: list[tuple[str, ...]] = []
        for place, row in zip(study.places, rows, strict=True):
            body.append((_named(place), *(_cell(row[name]) for name in names)))
            published = TABLE_3.get((place.table, place.train_rows))
            if published is not None:
                body.append(("published", *(published_cell(published[name]) for name in names)))
        if n_complete:
            body.append((f"average rank ({n_complete})", *(f"{means[name]:.1f}" for name in names)))
        if any((place.table, place.train_rows) in TABLE_3 for place in study.places):
            body.append(("published", *(f"{AVERAGE_RANKS[name]:.1f}" for name in names)))
        tables.append(StudyTable("Inclusion (tightness); * inclusion rejected", head(names), tuple(body)))
    return tuple(tables)


def _named(place: TablePlace) -> str:
    return f"{place.table}, N {place.train_rows}"


def _cell(found: Inclusion) -> str:
    if not found.bounds:
        return "-"
    return f"{found.inclusion:.2f} ({found.tightness:.2f}){'*' if found.rejected else ''}"


def _groups(study: IntervalsOnTables) -> tuple[StudyTable, ...]:
    found = study.true_performance
    if len(found) < len(SELECTORS):
        return ()
    body = [("ours", *(f"{found[group]:.4f}" if np.isfinite(found[group]) else "-" for group in SELECTORS))]
    if any((place.table, place.train_rows) in TABLE_3 for place in study.places):
        body.append(("published", *(f"{TRUE_PERFORMANCE[group]:.4f}" for group in SELECTORS)))
    head = ("", *(words.SELECTOR_TITLES[group] for group in SELECTORS))
    return (StudyTable("Mean area, on rows that no search saw, of what each group chooses", head, tuple(body)),)


def _of_figure(study: IntervalsOnTables, rows: Sequence[dict[str, Inclusion]]) -> list[dict[str, Inclusion]]:
    """Tables on which BBC's bound is below the truth on average, so that a ratio to it says something."""
    if "bbc" not in study.methods or len(study.methods) < 2:
        return []
    return [row for row in rows if row["bbc"].tightness > 0]

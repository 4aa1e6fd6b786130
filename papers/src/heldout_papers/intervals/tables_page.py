"""The page of intervals on real tables: the claims, a picture like figure 2, and tables like table 3."""

from dataclasses import replace

import sklearn

from heldout._text import counted
from heldout_papers.engine.page import ClaimsText, Settings, StudyPage
from heldout_papers.intervals.methods import TERMS
from heldout_papers.intervals.page import (
    METRIC_TITLES,
    RANKED,
    TWO_PARTS,
    Row,
    inclusion_tables,
    sources,
    tightness_pictures,
)
from heldout_papers.intervals.published import TABLE_3, WITHOUT_LABELS
from heldout_papers.intervals.tables_claims import TableRows, tables_claims
from heldout_papers.intervals.tables_result import IntervalsOnTables

MUSK = (
    "The article's musk has a column more than the 166 measurements, and areas of 1.0000: that column seems to "
    "tell the class. A table without it is a hard one."
)


def tables_page(study: IntervalsOnTables, *, command: str = "") -> StudyPage:
    """The content of the report."""
    return StudyPage(
        name=study.name,
        title="How often each interval holds on real tables",
        lead=_lead(study),
        settings=_settings(study),
        claims=tables_claims(study),
        tested=ClaimsText(
            "of section 5",
            "three of its own tables or more, with its numbers of training rows, intervals of 95 % and 10 training "
            "sets or more",
            f" on {len(TableRows.of(study).rows)} of the article's 11 tables",
        ),
        pictures=tightness_pictures(_rows_of_figure(study), "table", ""),
        glossary=dict(TERMS[name] for name in study.methods),
        tables=inclusion_tables(
            study,
            [(f"{place.table}, N {place.train_rows}", (place.table, place.train_rows)) for place in study.places],
            TABLE_3 if study.metric == "roc_auc" else replace(TABLE_3, cells={}),
            decimals=2,
            performance="Mean performance, on rows that no search used, of what each group chooses",
            failures="Share of training sets without a bound, and why",
        ),
        method=(*_method(study), *(TWO_PARTS if study.metric == "roc_auc" else ()), RANKED),
        sources=sources(study.methods),
        entropy=study.entropy,
        versions={"scikit-learn": sklearn.__version__},
        command=command,
    )


def _lead(study: IntervalsOnTables) -> str:
    rejected = ", ".join(
        f"{TERMS[name].title} on {sum(row[name].rejected for row in study.inclusions)}" for name in study.methods
    )
    return (
        f"Over {counted(len(study.places), 'table')} with {counted(study.repetitions, 'training set')} each, the "
        f"{study.confidence_level:.0%} interval held too seldom: {rejected}."
    )


def _settings(study: IntervalsOnTables) -> Settings:
    settings: Settings = {
        "tables": len(study.places),
        "training rows": [place.train_rows for place in study.places],
        "training sets of each": study.repetitions,
        "performances": METRIC_TITLES[study.metric],
        "space": study.space,
        "bootstraps": study.n_bootstraps,
        "level": f"{study.confidence_level:.0%}, one-sided",
    }
    return {**settings, "tables left out": len(study.left_out)} if study.left_out else settings


def _method(study: IntervalsOnTables) -> tuple[str, ...]:
    n = study.n_bootstraps
    paragraphs = (
        "Of each table training sets are drawn, its classes (or events) in proportion, and each is searched by "
        "stratified cross-validation with 10 folds, or with as many as the rarer class has rows, or half of the "
        f"events. Performances are {METRIC_TITLES[study.metric]}; every method bounds that of its choice, with "
        f"{n:,} bootstraps ({2 * n:,} for tilting). The choice is fitted on the "
        "whole training set and scored on all other rows of the table: that is its truth.",
        f"The space that is searched here is called {study.space}. The article searched 766 configurations of a "
        "commercial system, so its areas and its tightness are others; its statements about the methods can be "
        "compared.",
        "Inclusion is the share of bounds that are not above the truth; it is tested against "
        f"{study.confidence_level:.0%} by the exact one-sided binomial test, and rejected where p < .05. "
        "Tightness is the mean of truth less bound. Training sets without a bound are left out of both, and "
        "counted. Training sets of a small table overlap, so that their errors are not quite independent, here as "
        "in the article.",
    )
    return (*paragraphs, MUSK) if any(place.table == WITHOUT_LABELS for place in study.places) else paragraphs


def _rows_of_figure(study: IntervalsOnTables) -> list[Row]:
    """Tables on which BBC's bound is below the truth on average, so that a ratio to it is meaningful."""
    if "bbc" not in study.methods or len(study.methods) < 2:
        return []
    return [row for row in study.inclusions if row["bbc"].tightness > 0]

"""The page of a study of intervals: the claims, a picture like figure 2, and tables like table 2.

The page of intervals on real tables uses the same picture and tables.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout._text import counted
from heldout_papers.engine.page import ClaimsText, Settings, StudyPage, StudyTable, study_tables
from heldout_papers.engine.pictures import Frame, Mark, Picture, PictureAxis, mark_picture
from heldout_papers.intervals.claims import SELECTOR_TITLES, intervals_claims
from heldout_papers.intervals.inclusion import Inclusion, ratios
from heldout_papers.intervals.methods import OTHERS, SELECTORS, TERMS, methods_for
from heldout_papers.intervals.published import TABLE_2, ArticleTable, Cell, SimulatedPlace
from heldout_papers.intervals.setting import IntervalSetting
from heldout_papers.intervals.study import IntervalStudy
from heldout_papers.intervals.tables_result import IntervalsOnTables

SPREAD = 0.3
"""How far from its place on the axis the marks of a method reach."""
SIDE_BY_SIDE = 5
"""Methods that a page has room for."""

METRIC_TITLES = {
    "roc_auc": "areas under the ROC curve",
    "roc_auc_ovo": "areas of five classes (Hand and Till)",
    "r2": "R²",
    "concordance_index": "concordances of risks with censored times (Harrell)",
    "accuracy": "accuracies",
    "balanced_accuracy": "balanced accuracies",
    "f1": "F1 of the rarer class",
}
SIMULATED = {
    "roc_auc": "C configurations get true areas under the ROC curve from a Beta distribution. Scores of rows of "
    "class 0 are N(0, 1), those of class 1 N(μ, 1) with μ = √2 Φ⁻¹(AUC), each independent of the others.",
    "roc_auc_ovo": "For each configuration and each ordered pair of five classes an area is drawn from a Beta "
    "distribution. A row has a score for each class k: N(0, 1) if it is of k, N(-√2 Φ⁻¹(AUC), 1) if it is of "
    "another. The true performance is the mean of the twenty areas, Hand and Till's. All classes but the first are "
    "of one size.",
    "r2": "C configurations get true R² from a Beta distribution: predictions P (y + ε) of y ~ N(0, 1) "
    "with ε ~ N(0, 1/P - 1). A single linear map cannot improve them, so that P is 1 - SSE/SST and not a squared "
    "correlation only.",
    "concordance_index": "C configurations get true concordances from a Beta distribution. The true risk of a row "
    "is standard normal, and its time falls with it; censoring is independent of it, and as likely as the share of "
    "events says. A predicted risk has the correlation with the true one that makes Harrell's index tend to its "
    "concordance, under this censoring.",
    "accuracy": "C configurations get true accuracies from a Beta distribution, and each of their labels is right "
    "with that probability, independently of the others; a wrong one is any other class alike.",
    "balanced_accuracy": "For each configuration and class a recall is drawn from a Beta distribution, and each "
    "label in the rows of the class is right with that probability, independently of the others; a wrong one is "
    "any other class alike. The true performance is the mean of the recalls.",
    "f1": "For each configuration and class a recall is drawn from a Beta distribution, and each label in the rows "
    "of the class is right with that probability, independently of the others. The true performance is the F1 that "
    "follows from both recalls and the share of the rarer class.",
}
FOLDS_OF_CLASSES = (
    "Each class has as many rows as its share says. There are as many folds as rows of the rarest class, at most "
    "{most}; row i of those sorted by class is in fold i mod K."
)
FOLDS_OF_EVENTS = (
    "There are as many folds as half of the expected events, at most {most}; row i of those sorted by event is in "
    "fold i mod K."
)
FOLDS_OF_NUMBERS = "There are {most} folds; row i is in fold i mod K."
INCLUSION = (
    "Each method's lower bound is compared with the true performance of the configuration that it selects: BBC by "
    "the score over all rows, BBC-F and NB by the mean over folds. Inclusion is the share of bounds that are not "
    "above it; it is tested against its level by the exact one-sided binomial test, and rejected where p < .05. "
    "Tightness is the mean of truth less bound. Repetitions without a bound are left out of both, and counted."
)
TWO_PARTS = (
    "The methods in two parts draw a quarter of the rows, and draw again until both parts have rows of every "
    "class and every fold has rows of every class in the first part; where 75 % of the rarer class are fewer rows "
    "than there are folds, these methods are not tried. Where the selected configuration orders the second part "
    "without a mistake, none of them has a bound: its area of 1 has no variance. The published code takes the "
    "bound to be 1 there; so do we in claims about cells of table 2, and nowhere else; there we also compare "
    "BBC's bound with the winner by fold means.",
    "The published code of Hanley and McNeil's interval counts rows that are predicted right and wrong where the "
    "formula has positive and negative rows, has a sign of it wrong, takes all N rows, and does not account for "
    "the choice among several. Ours is their formula, so its numbers differ.",
)
RANKED = (
    "Ranks follow the article's rules: first those that are not rejected, by tightness, then the rejected by the "
    "distance of their inclusion from the level; ties get the best of their ranks; only settings count in which "
    "every method has a bound in 9 of 10 repetitions."
)

Row = Mapping[str, Inclusion]


def intervals_page(study: IntervalStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    first = study.settings[0]
    return StudyPage(
        name=study.name,
        title="How often each interval holds the truth, and how tight it is",
        lead=_lead(study),
        settings=_settings(study),
        claims=intervals_claims(study),
        tested=ClaimsText(
            "of the abstract, section 5 and the conclusions that these settings can test",
            "areas of two classes, intervals of 95 %, 10 folds, settings of its table 2 and 20 repetitions or more",
        ),
        pictures=tightness_pictures(_rows_of_figure(study), "setting", " in which every method has results"),
        glossary=dict(TERMS[name] for name in study.methods),
        tables=inclusion_tables(
            study,
            [(_place_name(setting), SimulatedPlace.of(setting)) for setting in study.settings],
            TABLE_2,
            decimals=3,
            performance="Mean true performance of what each group chooses",
            failures="Share of repetitions without a bound, and why",
        ),
        method=_method(first),
        sources=(*sources(study.methods), *(("hand2001",) if first.metric == "roc_auc_ovo" else ())),
        entropy=study.entropy,
        command=command,
    )


def _method(first: IntervalSetting) -> tuple[str, ...]:
    folds = {"regression": FOLDS_OF_NUMBERS, "survival": FOLDS_OF_EVENTS}.get(first.task, FOLDS_OF_CLASSES)
    n_bootstraps = first.settings.n_bootstraps
    has_two_parts = bool({*OTHERS} & {*methods_for(first.task, first.metric)})
    tilting = f", {2 * n_bootstraps:,} of tilting" if has_two_parts else ""
    simulated = f"{SIMULATED[first.metric]} {folds.format(most=first.most_folds)}"
    measured = f"{INCLUSION} There are {n_bootstraps:,} bootstraps{tilting}."
    return (simulated, measured, *(TWO_PARTS if first.metric == "roc_auc" else ()), RANKED)


def _lead(study: IntervalStudy) -> str:
    """The methods that are rejected, and where."""
    rejected = [(TERMS[name].title, sum(row[name].rejected for row in study.inclusions)) for name in study.methods]
    never = [title for title, n in rejected if not n]
    others = [f"{title} in {n}" for title, n in rejected if n]
    over = f"Over {counted(len(study.settings), 'setting')} of {counted(study.repetitions, 'repetition')} each"
    interval = f"the {study.confidence_level:.0%} interval"
    if not never:
        return f"{over}, {interval} is rejected for each method: {_joined(others)}."
    lost = f"; that of {_joined(others)} is" if others else ""
    return f"{over}, {interval} of {_joined(never)} is nowhere rejected{lost}."


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _settings(study: IntervalStudy) -> Settings:
    first = study.settings[0]
    shares = [setting.prevalence for setting in study.settings if setting.prevalence is not None]
    of_what = "share of events" if first.task == "survival" else "share of the rarest class"
    return {
        "performances": METRIC_TITLES[first.metric],
        "rows": [setting.rows for setting in study.settings],
        "configurations": [setting.configurations for setting in study.settings],
        **({of_what: shares} if shares else {}),
        "true values": "; ".join(dict.fromkeys(_beta(setting) for setting in study.settings)),
        "repetitions": study.repetitions,
        "folds": f"up to {first.most_folds}",
        "bootstraps": first.settings.n_bootstraps,
        "level": f"{study.confidence_level:.0%}, one-sided",
    }


def _place_name(setting: IntervalSetting) -> str:
    share = "" if setting.prevalence is None else f", b {setting.prevalence:g}"
    return f"{_beta(setting)}, N {setting.rows}, C {setting.configurations}{share}"


def _beta(setting: IntervalSetting) -> str:
    return f"Be({setting.beta[0]:g}, {setting.beta[1]:g})"


def _rows_of_figure(study: IntervalStudy) -> list[Row]:
    """The settings in which all methods have results; all settings where there is none such."""
    if "bbc" not in study.methods or len(study.methods) < 2:
        return []
    complete: list[Row] = [row for row in study.inclusions if all(each.complete for each in row.values())]
    return complete or [row for row in study.inclusions if row["bbc"].bounds]


def tightness_pictures(rows: Sequence[Row], place: str, which: str) -> tuple[Picture, ...]:
    """Each method's tightness over BBC's, a mark for each row; no picture without rows.

    ``place, which``: "setting" or "table", and which of them are shown.
    """
    if not rows:
        return ()
    names = [name for name in rows[0] if name != "bbc"]
    marks = {name: _marks(rows, name, place) for place, name in enumerate(names)}
    shown = "; ".join(
        f"{TERMS[name].title} {np.mean([mark.y for mark in each]):.2f}, rejected in "
        f"{sum(mark.stands_out for mark in each)} of {len(rows)}"
        for name, each in marks.items()
        if each
    )
    frame = Frame(
        PictureAxis("method"), PictureAxis("tightness over that of BBC", ".1f"), "tightness", level=1.0,
        labels=[TERMS[name].title for name in names],
    )  # fmt: skip
    picture = mark_picture(
        "Tightness beside BBC's", [mark for each in marks.values() for mark in each], frame, shape="x",
        summary=f"Mean tightness over BBC's: {shown}.",
        caption=f"Tightness over that of BBC, a mark for each of {counted(len(rows), place)}{which}; above 1 a "
        "bound is farther from the truth than BBC's. Circles: inclusion not rejected; crosses: rejected, so that "
        "being tight is no merit.",
    )  # fmt: skip
    return (picture,)


def _marks(rows: Sequence[Row], name: str, place: int) -> list[Mark]:
    """A mark a row, side by side in their order."""
    offsets = np.linspace(-SPREAD, SPREAD, len(rows)) if len(rows) > 1 else np.zeros(1)
    return [
        Mark(place + float(offset), ratios(row)[name], bool(row[name].rejected))
        for offset, row in zip(offsets, rows, strict=True)
        if np.isfinite(ratios(row)[name])
    ]


def sources(methods: Sequence[str]) -> tuple[str, ...]:
    """The works that the methods are from."""
    names = set(methods)
    cited = [
        ("paraschakis2024", True),
        ("tsamardinos2018", "bbc" in names),
        ("rink2022", bool(names & {"tilting", "tilting_10p", "mabt"})),
        ("delong1988", bool(names & {"delong", "delong_10p"})),
        ("hanley1982", bool(names & {"hanley_mcneil", "hanley_mcneil_10p"})),
    ]
    return tuple(key for key, wanted in cited if wanted)


def inclusion_tables(
    study: IntervalStudy | IntervalsOnTables,
    places: Sequence[tuple[str, Any]],
    article: ArticleTable,
    *,
    decimals: int,
    performance: str,
    failures: str,
) -> list[StudyTable]:
    """All tables of a page.

    ``places``: the name of each row, and what may identify it in the article; ``decimals``: of our inclusion and
    tightness; ``performance, failures``: titles.
    """
    rows = [(label, row) for (label, _), row in zip(places, study.inclusions, strict=True)]
    is_published = any(key in article.cells for _, key in places)
    ranks, n_complete = study.average_ranks
    body = []
    for (label, row), (_, key) in zip(rows, places, strict=True):
        body.append((label, {name: _inclusion_cell(row[name], decimals) for name in study.methods}))
        if key in article.cells:
            body.append(("published", {name: _published_cell(cell) for name, cell in article.cells[key].items()}))
    if n_complete:
        body.append((f"average rank ({n_complete})", _texts(ranks, article.rank_decimals)))
    if is_published:
        body.append(("published", _texts(article.ranks, article.rank_decimals)))
    return [
        *_side_by_side("Inclusion (tightness); * inclusion rejected", study.methods, body),
        *_performance_tables(performance, study.true_performance, article.performance if is_published else None),
        *_failure_tables(study.methods, rows, failures, decimals - 2),
        *_uniformity_tables(study.methods, rows),
    ]


def _side_by_side(
    title: str, methods: Sequence[str], rows: Sequence[tuple[str, Mapping[str, str]]]
) -> list[StudyTable]:
    titled = [(label, {TERMS[name].title: cells[name] for name in methods}) for label, cells in rows]
    return study_tables(title, titled, width=SIDE_BY_SIDE)


def _texts(numbers: Mapping[str, float], decimals: int) -> dict[str, str]:
    return {name: f"{number:.{decimals}f}" if np.isfinite(number) else "-" for name, number in numbers.items()}


def _inclusion_cell(found: Inclusion, decimals: int) -> str:
    if not found.bounds:
        return "-"
    star = "*" if found.rejected else ""
    return f"{found.inclusion:.{decimals}f} ({found.tightness:.{decimals}f}){star}"


def _published_cell(cell: Cell | None) -> str:
    return "-" if cell is None else f"{cell.inclusion:.2f} ({cell.tightness:.2f})"


def _performance_tables(
    title: str, ours: Mapping[str, float], published: Mapping[str, float] | None
) -> list[StudyTable]:
    """The true performance of what each group of methods chooses; no table unless every group was studied."""
    if len(ours) < len(SELECTORS):
        return []
    both = {"ours": ours} if published is None else {"ours": ours, "published": published}
    rows = [(label, _texts(numbers, 4)) for label, numbers in both.items()]
    titled = [(label, {SELECTOR_TITLES[group]: cells[group] for group in SELECTORS}) for label, cells in rows]
    return study_tables(title, titled)


def _failure_tables(
    methods: Sequence[str], rows: Sequence[tuple[str, Row]], title: str, decimals: int
) -> list[StudyTable]:
    """Shares without a bound, by row and by reason; methods that have none are left out."""
    failing = [name for name in methods if any(row[name].failed for _, row in rows)]
    tables = []
    for first in range(0, len(failing), SIDE_BY_SIDE):
        names = failing[first : first + SIDE_BY_SIDE]
        body = [
            (f"{label}: {why}", {name: _share(row[name].failures.get(why), decimals) for name in names})
            for label, row in rows
            for why in dict.fromkeys(why for name in names for why in row[name].failures)
        ]
        tables += _side_by_side(title, names, body)
    return tables


def _uniformity_tables(methods: Sequence[str], rows: Sequence[tuple[str, Row]]) -> list[StudyTable]:
    """p values of the Kolmogorov-Smirnov test for methods that have percentiles."""
    able = [name for name in methods if any(np.isfinite(row[name].uniformity) for _, row in rows)]
    title = "Percentiles of the truth in the distribution of each method: p of uniform (Kolmogorov-Smirnov)"
    return _side_by_side(
        title, able, [(label, {name: _p_text(row[name].uniformity) for name in able}) for label, row in rows]
    )


def _share(share: float | None, decimals: int) -> str:
    return f"{share:.{decimals}%}" if share else ""


def _p_text(p: float) -> str:
    return "-" if not np.isfinite(p) else "<0.001" if p < 0.001 else f"{p:.3f}"

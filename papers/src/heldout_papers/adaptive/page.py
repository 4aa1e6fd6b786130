"""The page of a study of adaptive searches: claims, pictures of the bias, and tables."""

import math
from collections.abc import Mapping, Sequence

from heldout_papers.adaptive.claims import adaptive_claims
from heldout_papers.adaptive.searchers import N_FOLDS, TERMS
from heldout_papers.adaptive.study import METHODS, AdaptiveStudy
from heldout_papers.engine.page import ClaimsText, StudyPage, StudyTable, study_tables
from heldout_papers.engine.pictures import Frame, Line, Picture, PictureAxis, line_picture, line_summary
from heldout_papers.engine.results import Term

METHOD_TERMS: Mapping[str, Term] = {
    "cv": Term("uncorrected", "the winner's cross-validated score"),
    "bbc": Term("bbc", "bootstrap bias correction: the selection replayed on resampled rows"),
    "shrinkage": Term("shrinkage", "the winner's score drawn towards those of its rivals, heldout's default"),
    "cross_fitted": Term("cross-fitted", "winners of short searches that have not seen the rows that they predict"),
    "nested": Term("nested", "nested cross-validation, which repeats the whole search in each of five folds"),
}


def adaptive_page(study: AdaptiveStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    rows, trials = study.centre
    return StudyPage(
        name=study.name,
        title="What a corrected score is worth after an adaptive search",
        lead=_lead(study),
        settings={
            "worlds": ", ".join(study.worlds),
            "rows": sorted({one.rows for one in study.settings}),
            "trials": sorted({one.trials for one in study.settings}),
            "searches of each setting": study.repetitions,
        },
        claims=adaptive_claims(study),
        tested=ClaimsText(
            "that these settings can test",
            "TPE and a random search of all worlds, and ten repetitions",
            heading="What we claim, and what we found",
            claim="claim of the documentation",
        ),
        pictures=tuple(
            picture
            for what in ("rows", "trials")
            for world in study.worlds
            if (picture := _picture(study, world, what)) is not None
        ),
        glossary={METHOD_TERMS[name].title: METHOD_TERMS[name].meaning for name in METHODS}
        | {term.title: term.meaning for term in TERMS.values()},
        tables=[*centre_tables(study), *varied_tables(study)],
        method=(
            "Every repetition draws a problem, searches it, and corrects the held-out predictions of the same "
            "search by every method. The error is the estimate less the true accuracy of the winner fitted on "
            "all rows: positive where it flatters. Noise: labels without relation to ten columns, a support "
            "vector machine with a weight for each and its cost. Signal: the same, three columns differ "
            "between the classes. Smooth: three parameters, true accuracies from Be(24, 6), as smooth "
            "functions of them, and errors of rows that are smooth too, so that the truth is exact.",
            f"All searches have {N_FOLDS} stratified folds. Rows and trials are varied one at a time around "
            f"{rows} rows and {trials} trials. Nested cross-validation is run in some of the repetitions only. "
            "The cross-fitted estimate takes at most .3 more fits where that leaves each of its samplers five "
            "trials, and five trials each otherwise.",
        ),
        sources=("tsamardinos2018", "akiba2019", "varma2006", "nadeau2003"),
        entropy=study.entropy,
        command=command,
    )


def _lead(study: AdaptiveStudy) -> str:
    place = study.place("noise", "tpe")
    if place is None:
        return "Bias, error and coverage of corrected scores after searches that propose because of scores."
    found = {method: study.summary(place, method)["bias"] for method in ("cv", "bbc", "cross_fitted")}
    rows, trials = study.centre
    return (
        f"On noise, with {rows} rows and {trials} trials of TPE, the uncorrected score flatters by "
        f"{found['cv']:.3f} and bbc by {found['bbc']:.3f}; the bias of the cross-fitted estimate is "
        f"{found['cross_fitted']:+.3f}."
    )


def _cell(found: Mapping[str, float]) -> str:
    """Bias with its standard error, and coverage in percent."""
    if not found["n"]:
        return ""
    chance = "" if math.isnan(found["standard_error"]) else f" ± {found['standard_error']:.3f}"
    coverage = "" if math.isnan(found["coverage"]) else f" ({100 * found['coverage']:.0f} %)"
    return f"{found['bias']:+.3f}{chance}{coverage}"


def centre_tables(study: AdaptiveStudy) -> list[StudyTable]:
    """Each world at the centre: a row a searcher, with the bias and coverage of every method."""
    tables: list[StudyTable] = []
    rows, trials = study.centre
    for world in study.worlds:
        places = [
            number
            for number, one in enumerate(study.settings)
            if one.world == world and (one.rows, one.trials) == study.centre
        ]
        cells = []
        for number in places:
            of = {METHOD_TERMS[method].title: _cell(study.summary(number, method)) for method in METHODS}
            truth = study.summary(number, "cv")["truth"]
            cells.append(
                (TERMS[study.settings[number].searcher].title, {**of, "truth of the winner": f"{truth:.3f}"})
            )
        title = f"{world.capitalize()}, {rows} rows, {trials} trials: bias ± standard error (coverage)"
        tables += study_tables(title, cells)
    return tables


def varied_tables(study: AdaptiveStudy) -> list[StudyTable]:
    """Each world: a row a number of rows or trials other than that of the centre."""
    tables: list[StudyTable] = []
    for world in study.worlds:
        cells = [
            (
                f"{TERMS[one.searcher].title}, {one.rows} rows, {one.trials} trials",
                {METHOD_TERMS[method].title: _cell(study.summary(number, method)) for method in METHODS[:-1]},
            )
            for number, one in enumerate(study.settings)
            if one.world == world and (one.rows, one.trials) != study.centre
        ]
        tables += study_tables(
            f"{world.capitalize()}, rows and trials varied: bias ± standard error (coverage)", cells
        )
    return tables


def _picture(study: AdaptiveStudy, world: str, what: str) -> Picture | None:
    """The bias over the size that is varied, a line a method; None where fewer than two were studied."""
    fixed = "trials" if what == "rows" else "rows"
    at = study.centre[1] if what == "rows" else study.centre[0]
    own = [one for one in study.settings if one.world == world and getattr(one, fixed) == at]
    searcher = max(
        dict.fromkeys(one.searcher for one in own),
        key=lambda name: sum(o.searcher == name for o in own),
        default="",
    )
    places: dict[int, int] = {
        getattr(one, what): number
        for number, one in enumerate(study.settings)
        if one in own and one.searcher == searcher
    }
    sizes = sorted(places)
    if len(sizes) < 2:
        return None
    lines = []
    for method in METHODS[:-1]:
        found = [study.summary(places[size], method) for size in sizes]
        lines.append(Line(METHOD_TERMS[method].title, sizes, [one["bias"] for one in found]))
    frame = Frame(PictureAxis(what, ",.0f", sizes, "log"), PictureAxis("bias", "+.2f"), f"adaptive-{world}-{what}")
    ends = f"{sizes[0]:,}", f"{sizes[-1]:,} {what}"
    return line_picture(
        f"{world.capitalize()}, by {what}", lines, frame,
        summary=line_summary("Bias", lines, ends, lambda bias: f"{bias:+.3f}"),
        caption=f"Bias after {TERMS[searcher].title}, by {what}; {at:,} {fixed}. Above 0 an estimate flatters.",
    )  # fmt: skip


def markdown_lines(tables: Sequence[StudyTable]) -> list[str]:
    """Tables as Markdown, each under its title in bold."""
    lines: list[str] = []
    for table in tables:
        lines += [f"**{table.title}**", "", "| " + " | ".join(table.head) + " |", "|" + "---|" * len(table.head)]
        lines += ["| " + " | ".join(row) + " |" for row in table.rows]
        lines.append("")
    return lines[:-1]

"""The page of a study of flat and nested cross-validation: claims, pictures, and the article's six tables."""

from collections.abc import Mapping, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from heldout._text import counted
from heldout.metrics.named import in_sentence, metric_words
from heldout_papers.engine.page import ClaimsText, StudyPage, StudyTable, study_tables
from heldout_papers.engine.pictures import Frame, Line, Mark, Picture, PictureAxis, line_picture, mark_picture
from heldout_papers.flat_vs_nested.accuracies import Accuracies, Estimated, Floats, mean_ranks, tied_for_best
from heldout_papers.flat_vs_nested.analysis import ANALYSES, FULL, OTHER_WAYS, ComparisonRow, Gains, comparison_rows
from heldout_papers.flat_vs_nested.claims import (
    FLAT_RANKS,
    N_LARGE,
    N_TABLES,
    NESTED_RANKS,
    ROWS,
    SCENARIO_TITLES,
    flat_vs_nested_claims,
)
from heldout_papers.flat_vs_nested.means import AccuracyMeans
from heldout_papers.flat_vs_nested.result import FlatVsNestedStudy

METHOD = (
    "Flat cross-validation takes the best cross-validated accuracy of an algorithm's configurations as its "
    "accuracy; nested cross-validation chooses the configuration anew in each fold and scores it there. Each "
    "chooses the algorithm with its highest accuracy. Future accuracy is the accuracy on the other half of the "
    "table, with the hyper-parameters of flat for both choices (equation 7).",
    "The gain is the future accuracy of the nested choice less that of the flat choice. It is irrelevant where "
    "its size is below the threshold: the smaller of the two errors of the nested estimates of both choices "
    "(equation 12). The test is Wilcoxon's signed-rank test, one-sided, as in R: differences of 0 are left out; "
    "it is exact for fewer than 50 differences of which none is 0 and none tie, otherwise by the normal "
    "approximation with corrections for ties and continuity. Intervals are the 2.5 and 97.5 % quantiles of 5000 "
    "bootstraps of the tables; the article does not say which kind the published ones are, and they reach further "
    "to the left than to the right.",
    "Among algorithms that tie, both choose the first of the alphabet. An algorithm that failed is no candidate in "
    "that repetition and last in its ranking; a choice needs two candidates, and a table half of the repetitions.",
    "The published mean ranks average 5.65 and 5.48 where 12 ranks average 6.5: ties must have had the best rank, "
    "or not everything was ranked. The shares of same choices in table 5 cannot all be right: the second "
    "alternative and the other threshold have the selections of table 2, 71 % and 62 %, and are printed with "
    "those of the first alternative and of table 3.",
    "The program printed as figure 2 is not what the text defines: it trains and scores on an outer fold for every "
    "hyper-parameter that it tries, and adds all of these accuracies, so that its result may exceed 1; and it "
    "draws the inner folds anew for each. Here, as in the text, each outer fold is scored once, by the "
    "hyper-parameters with the best mean over the same inner folds.",
)


def flat_vs_nested_page(study: FlatVsNestedStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    means = AccuracyMeans(study.accuracies, study.entropy)
    accuracies = means.accuracies
    found = comparison_rows(accuracies, study.entropy)
    flat_ties, nested_ties = _ties(accuracies)
    return StudyPage(
        name=study.name,
        title="Is nested cross-validation needed to choose an algorithm?",
        lead=_lead(found, study.metric),
        settings={
            "tables": len(accuracies.tables),
            "rows": _span(accuracies.rows),
            "algorithms": ", ".join(accuracies.algorithms),
            "configurations of each": _span(study.columns["n_configurations"]),
            "repetitions": accuracies.n_repetitions,
            "metric": study.metric,
            "folds of flat": "its own" if study.independent_folds else "the outer ones of nested",
            "ties for the best": f"{flat_ties:.0%} by flat, {nested_ties:.0%} by nested",
        },
        claims=flat_vs_nested_claims(study),
        tested=ClaimsText(
            "that these tables can test",
            "10 tables or more, for most claims rf, svmRadial and gbm, or all 12 algorithms, and for those about "
            "gains and thresholds 6 repetitions",
            ". The article's tables are other ones than ours: chance is two standard errors by a bootstrap of "
            "tables, for a published number those of both",
        ),
        pictures=[
            picture
            for n, scenario in enumerate(means.scenarios)
            if len(means.gains(scenario, "main").gain)
            for picture in _pictures(means.gains(scenario, "main"), SCENARIO_TITLES[scenario], n)
        ],
        glossary={analysis.title: analysis.sentence for analysis in ANALYSES.values()},
        tables=(*comparison_tables(found), *_rank_tables(accuracies), *_left_out(study, means)),
        method=(*METHOD, *_other_choices(study)),
        sources=("wainer2021", "wilcoxon1945"),
        entropy=study.entropy,
        versions={"SciPy": scipy.__version__},
        command=command,
    )


def _other_choices(study: FlatVsNestedStudy) -> list[str]:
    """What differs from the article because the user asked for it."""
    found = []
    if study.metric != "accuracy":
        loss = "" if study.greater_is_better else " It is a loss: a gain is how much lower it is."
        found.append(
            f"Every accuracy above is {in_sentence(metric_words(study.metric)[0])} here; a fold in which it has no "
            f"value does not count, and the article's sentences, which are about accuracy, are not tested.{loss}"
        )
    if study.independent_folds:
        found.append(
            "Flat cross-validation draws folds of its own, as the article's programs do: flat and nested estimates "
            "also differ by the luck of their folds."
        )
    return found


def _span(sizes: NDArray[np.intp]) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _lead(found: Sequence[ComparisonRow], metric: str) -> str:
    """Of the largest scenario, by the main analysis."""
    title = in_sentence(metric_words(metric)[0])
    row = next(one for one in reversed(found) if one.analysis == "main")
    if not row.n_tables:
        return "No table has enough repetitions in which algorithms could be compared."
    return (
        f"On {counted(row.n_tables, 'table')}, scenario {SCENARIO_TITLES[row.scenario]}, flat and nested "
        f"cross-validation choose the same algorithm {row.same_choice:.0%} of the time, and nested gains "
        f"{row.mean_gain:+.4f} of {title} on average; the size of a table's gain less its threshold of "
        f"irrelevance is {row.mean:+.4f} on average, with an interval from {row.low:.4f} to {row.high:.4f}."
    )


def _ties(accuracies: Accuracies) -> tuple[float, float]:
    """The shares of tables and repetitions in which algorithms tie for the best, by flat and by nested."""
    with_choice = accuracies.candidates.sum(axis=-1) > 1
    shares = [
        float(tied_for_best(values, accuracies.candidates)[with_choice].mean()) if with_choice.any() else np.nan
        for values in (accuracies.flat, accuracies.nested)
    ]
    return shares[0], shares[1]


def _pictures(pairs: Gains, scenario: str, n: int) -> tuple[Picture, Picture]:
    """Like the article's figures 3 and 4: |gain| and threshold of tables, against each other and sorted."""
    sizes, thresholds = np.abs(pairs.gain), pairs.threshold
    end = 1.05 * (float(max(sizes.max(), thresholds.max())) or 0.01)
    # Most tables have values near 0, and few have large ones.
    gain_axis, threshold_axis, both = (
        PictureAxis(title, scale="sqrt", ends=(0.0, end))
        for title in ("size of the accuracy gain", "threshold of irrelevance", "accuracy")
    )
    marks = [Mark(float(t), float(g), bool(g >= t)) for g, t in zip(sizes, thresholds, strict=True)]
    n_above, n_zero = sum(mark.stands_out for mark in marks), int((sizes == 0).sum())
    against = mark_picture(
        f"Gain against threshold, {scenario}", marks,
        Frame(threshold_axis, gain_axis, f"against-{n}", has_diagonal=True), shape="^",
        summary=f"Of {counted(len(marks), 'table')} {len(marks) - n_above} have a gain below their threshold; on "
        f"{n_zero} the gain is 0.",
        caption="A point a table. Beneath the dotted line the gain is less than its threshold, and irrelevant; "
        "triangles are on or above it. Both axes are of square roots.",
    )  # fmt: skip
    shares = PictureAxis("share of tables up to", ".0%", [n / 5 for n in range(6)], ends=(0.0, 1.0))
    lines = [_distribution("size of the gain", sizes, end), _distribution("threshold", thresholds, end)]
    distribution = line_picture(
        f"Distributions of both, {scenario}", lines, Frame(both, shares, f"sorted-{n}", level=0.5), has_steps=True,
        summary=f"Half of the tables have a gain of {float(np.median(sizes)):.4f} or less, and half a threshold of "
        f"{float(np.median(thresholds)):.4f} or less.",
        caption="The share of tables with a value of so much or less; a jump at 0 shows the tables without a gain. "
        "The axis is of square roots.",
    )  # fmt: skip
    return against, distribution


def _distribution(title: str, values: Floats, end: float) -> Line:
    shares = np.arange(1, len(values) + 1) / len(values)
    return Line(title, [0.0, *np.sort(values).tolist(), end], [0.0, *shares.tolist(), 1.0])


def comparison_tables(found: Sequence[ComparisonRow]) -> list[StudyTable]:
    """Tables 2, 3, 5 and 6: a row of ours, and beneath it the published one."""
    rows: dict[str, list[tuple[str, Mapping[str, str]]]] = {}
    for key, analysis in ANALYSES.items():
        for one in (one for one in found if one.analysis == key):
            name = SCENARIO_TITLES[one.scenario]
            name = f"{analysis.title}, {name}" if analysis.table == OTHER_WAYS else name
            of_table = rows.setdefault(analysis.table, [])
            of_table.append((name, _our_cells(one)))
            if (one.scenario, one.analysis) in ROWS:
                of_table.append((f"{name}, published", _published_cells(one)))
    return [table for title, body in rows.items() for table in study_tables(title, body, corner="scenario")]


def _cells(*texts: str) -> dict[str, str]:
    return dict(zip(("tables", "same choice", "p", "mean", "low", "high", "mean gain"), texts, strict=True))


def _our_cells(row: ComparisonRow) -> dict[str, str]:
    if not row.n_tables:
        return _cells("0", *["–"] * 5, row.reason)
    ends = [f"{end:.4f}" if np.isfinite(end) else "–" for end in (row.low, row.high)]
    p_value = f"{row.p_value:.2g}" if np.isfinite(row.p_value) else "–"
    share, gain = f"{row.same_choice:.0%}", f"{row.mean_gain:+.4f}"
    return _cells(f"{row.n_tables}", share, p_value, f"{row.mean:.4f}", *ends, gain)


def _published_cells(row: ComparisonRow) -> dict[str, str]:
    n_tables = N_LARGE if row.analysis == "large_tables" else N_TABLES
    printed = ROWS[row.scenario, row.analysis]
    numbers = [f"{number:.3f}" for number in (printed.mean, printed.low, printed.high)]
    return _cells(f"{n_tables}", f"{printed.same_choice}%", printed.p_value, *numbers, "")


def _rank_tables(accuracies: Accuracies) -> list[StudyTable]:
    """Tables 1 and 4; with the published ranks only where the same algorithms were ranked."""
    blocks: tuple[tuple[str, Estimated, Mapping[str, float]], ...] = (
        ("Mean ranks by nested (table 1)", "nested", NESTED_RANKS),
        ("Mean ranks by flat (table 4)", "flat", FLAT_RANKS),
    )
    tables = []
    for title, by, published in blocks:
        best, rows = mean_ranks(accuracies, by, "best"), []
        for name, rank in mean_ranks(accuracies, by).items():
            cells = {"ours": f"{rank:.2f}", "ours, ties get the best rank": f"{best[name]:.2f}"}
            printed = {"published": f"{published[name]:.1f}"} if accuracies.algorithms == FULL else {}
            rows.append((name, cells | printed))
        tables += study_tables(title, rows, corner="algorithm")
    return tables


def _left_out(study: FlatVsNestedStudy, means: AccuracyMeans) -> list[StudyTable]:
    """Tables that were not used, and those that a scenario could not use."""
    reasons = dict(study.left_out)
    for scenario in means.scenarios:
        for name, reason in means.gains(scenario, "main").left_out.items():
            reasons.setdefault(name, f"{SCENARIO_TITLES[scenario]}: {reason}")
    rows = [(name, {"why": reason}) for name, reason in reasons.items()]
    return study_tables(f"Left out: {counted(len(rows), 'table')}", rows, corner="table")

"""Write docs/evidence/claims.md: the claims of each article beside the results of the runs in this folder.

``python docs/evidence/write.py`` reads only the Parquet files in this folder. A test compares the page with its
output, so no figure on it is typed by hand.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from heldout_papers.bias import BiasMoments
from heldout_papers.bias.claims import bias_claims
from heldout_papers.engine.claims import Claim
from heldout_papers.flat_vs_nested import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.claims import flat_vs_nested_claims
from heldout_papers.intervals import IntervalStudy
from heldout_papers.intervals.claims import intervals_claims
from heldout_papers.intervals.tables_claims import tables_claims
from heldout_papers.intervals.tables_result import IntervalsOnTables
from heldout_papers.search import SearchStudy
from heldout_papers.search.claims import search_claims
from heldout_papers.timing import TimingStudy
from heldout_papers.timing.claims import timing_claims

HERE = Path(__file__).parent
PAGE = HERE / "claims.md"


@dataclass(frozen=True)
class Run:
    """A stored run, and the claims that it tests.

    Attributes
    ----------
    file, title, command : str
        The command is the one that made the file, without the folder.
    what : str
        What the run did, in one or two sentences.
    claims : callable
        From the frame in the file to claims.
    why : str
        Why our figures differ.
    """

    file: str
    title: str
    command: str
    what: str
    claims: Callable[[Any], Sequence[Claim]]
    why: str = ""

    def read_claims(self) -> Sequence[Claim]:
        """Every claim that the run can test."""
        return self.claims(pd.read_parquet(HERE / self.file))


def _of_moments(frame: Any) -> Sequence[Claim]:
    return bias_claims(BiasMoments.from_frame(frame))


@dataclass(frozen=True)
class Article:
    """An article and the runs that test it."""

    title: str
    runs: tuple[Run, ...]


LARGER_THRESHOLD = (
    "Scale: at most 200 training rows make an accuracy less precise, so the threshold of irrelevance "
    "is larger and the difference lies further below 0; the conclusion, that the gain is irrelevant, "
    "is the article's."
)

REASONS: Mapping[str, Mapping[str, str]] = {
    "bias.parquet": {
        "BBC-CV is almost unbiased, on average over C.": (
            "Definition: the article gives no number, and .02 is our limit. From 80 rows on the mean bias"
            " is within it for every Beta distribution; with 20 rows it is −.033 for Be(9, 6), because a "
            "bootstrap selects on 63 % of the rows."
        ),
        "Similarly for Be(14, 6), Be(24, 6) and Be(54, 6): TT over-corrects on average for N of 60, 80 and 100.": (
            "Article: it shows Be(9, 6) alone and calls the others similar. The better the configurations, "
            "the later TT turns: for Be(14, 6) between 60 and 80 rows, for Be(54, 6) only between 100 and "
            "500."
        ),
    },
    "bias-auc.parquet": {
        "TT over-corrects on average for N of 60, 80 and 100.": (
            "Definition: the article simulates accuracy, and this is the ROC AUC. With 60 rows a fold has "
            "six, and their area is coarse, so TT is still optimistic by .017; from 80 rows on it "
            "over-corrects."
        ),
        "BBC-CV is almost unbiased, on average over C.": (
            "Definition: .02 is our limit. From 80 rows on the mean bias is within it, as for accuracy; "
            "with 20 rows it is −.045."
        ),
    },
    "bias-mse.parquet": {
        "The bias of CVT grows with the number of configurations.": (
            "Definition: the metric is squared error. The best of more configurations has a smaller true "
            "error (.173 of 50, .090 of 2000), and a smaller error varies less between rows, so less is left "
            "to chance."
        ),
        "TT is optimistic on average for N of 20 and 40.": (
            "Definition: the same metric. TT subtracts what the best in single folds is ahead of the "
            "winner, which for errors of two or four rows is much, so it over-corrects from 20 rows on."
        ),
        "BBC-CV is almost unbiased, on average over C.": (
            "Definition: .02 is our limit. From 40 rows on the mean bias is within it (−.018 and less); with "
            "20 rows it is −.037."
        ),
    },
    "search.parquet": {
        "For N up to 100 more than 95 % are mostly dropped in the first couple of folds.": (
            "Scale: the 32 configurations are evenly spaced among the 610, so few are copies of a hopeless "
            "one. After two folds .12 to .29 of them are dropped, on average of the tables."
        ),
        "The speed-up of BCED-CV is up to 10 (N = 500).": (
            "Scale: the article has 10 on gisette, which is not among these tables, by dropping most of "
            "610 configurations after two folds; of ours .44 are dropped then."
        ),
        "They are no longer conservative for N = 500.": (
            "Scale: the article saw it on two tables, where the estimate was biased. On our four tables the "
            "intervals of all 12 sub-samples hold the truth."
        ),
        "3 or 4 repeats suffice for the interval's width (N of 20 and 100).": (
            "Definition: the article gives no number; we ask for 75 % of the narrowing of ten repeats. With "
            "20 rows it is 71 %, with 100 rows 82 %."
        ),
    },
    "intervals.parquet": {
        "BBC and BBC-F produce accurate intervals.": (
            "Article: it rejects one of 32 itself. With 50 rows, 5 of them positive, BBC-F has five folds to "
            "draw, which is too few in both runs."
        ),
        "True performance of what DL, HM, BT choose.": (
            "Definition: the published code reverses a configuration in a fold that it ranks the wrong way, "
            "and so chooses a little worse; ours does not."
        ),
        "Table 2, HM: inclusion (tightness).": (
            "Article: its code has another formula than Hanley and McNeil (1982); ours is theirs, and covers more."
        ),
        "Table 2, HM10p: inclusion (tightness).": (
            "Article: the same formula, and no correction for the choice among the best tenth; with both ours"
            " covers more."
        ),
    },
    "intervals-tables.parquet": {
        "NB fails to produce accurate intervals, as it ignores the winner's curse (real tables).": (
            "Definition: we ask for a rejection on every table. On phishing, where many configurations "
            "are nearly perfect, NB holds the truth in 95 of 100 training sets."
        ),
        "The other methods often produce significantly different intervals (real tables).": (
            "Definition: the published code takes 1 as the bound if the second part has an area of 1; such a "
            "training set has no bound here, and is left out: 19 % of the training sets for HM, DL and BT, 25"
            " % for those of the best tenth. Counted as misses they would be rejected more often."
        ),
        "Table 3, HM: inclusion (tightness).": (
            "Definition: the published code takes 1 as the bound if the second part has an area of 1; such a "
            "training set has no bound here, and is left out (19 %)."
        ),
        "Table 3, BT: inclusion (tightness).": ("Definition: the same (19 % of the training sets have no bound)."),
        "Table 3, DL10p: inclusion (tightness).": (
            "Definition: the same (25 % of the training sets have no bound), and ours corrects for the choice"
            " among the best tenth."
        ),
        "Table 3, HM10p: inclusion (tightness).": (
            "Definition: the same as for DL10p, and the published formula is not that of Hanley and McNeil."
        ),
        "Table 3, NB: inclusion (tightness).": (
            "Scale: the best of 35 configurations is less lucky than the best of 766, so an interval that "
            "ignores the selection misses less often."
        ),
    },
    "timing.parquet": {
        "BBC-F is consistently faster than BBC by 1-2 orders of magnitude (heldout's code).": (
            "Definition: heldout's BBC sorts the rows once for all bootstraps. It takes 2 to 12 ms, BBC-F 3 "
            "to 10, so there is nothing left to save."
        ),
        "The speed-up of BBC-F is in the order of N/K (heldout's code).": (
            "Definition: N/K counts operations of code that scores one bootstrap after another, which ours "
            "does not."
        ),
        "BBC-F is consistently faster than BBC by 1-2 orders of magnitude (plain code).": (
            "Definition: 10 to 100 times, give or take a factor of 2, is our limit. With 50 and with 100 "
            "rows plain BBC takes 11 and 13 ms and BBC-F 3; the article's least is 6 times. BBC-F is "
            "faster in all settings."
        ),
        "BBC and BBC-F scale alike with the number of configurations (plain code).": (
            "Definition: a fixed 2 to 3 ms are most of the time of BBC-F with 5 configurations, so its time "
            "grows late; up to .3 between the exponents is our limit, and the article has .21."
        ),
        "The time of BBC-F is not affected by the rows (plain code).": (
            "Definition: twice the time is our limit. From 50 to 10 000 rows it goes from 2.8 to 6.1 ms: "
            "bootstraps of folds take the same time, reading and checking the rows takes more."
        ),
        "The speed-up of BBC-F is in the order of N/K (plain code).": (
            "Article: its own speed-ups are .033 to 1.6 of N/K. Ours fall below a tenth where rows are many, "
            "because the fixed time of BBC-F does not shrink."
        ),
    },
    "flat-vs-nested.parquet": {
        "The nested estimate is unbiased: its mean error (section 1.1).": (
            "Scale: nested cross-validation trains on four fifths of the half. With fewer than 150 rows that "
            "costs .020 of accuracy on average, with 150 to 400 rows .001 to .006; the article's tables are "
            "larger."
        ),
        "Mean of |gain| less threshold, top 3 (table 2).": LARGER_THRESHOLD,
        "Flat and nested choose the same, full (table 2).": (
            "Scale: twelve algorithms on at most 200 rows are close to each other, so chance decides more "
            "often which one is chosen."
        ),
        "Mean of |gain| less threshold, full (table 2).": LARGER_THRESHOLD,
        "gbm has the best mean rank by flat (table 4).": (
            "Scale: with so few rows and a grid of 25 and 50 trees gbm is second (4.8) behind svmRadial "
            "(3.9), although it has the best score more often than any other (24 %)."
        ),
        "Mean of |gain| less threshold, top 3 (table 5, first alternative).": LARGER_THRESHOLD,
        "Flat and nested choose the same, full (table 5, first alternative).": ("Scale: as in table 2."),
        "Mean of |gain| less threshold, top 3 (table 5, second alternative).": LARGER_THRESHOLD,
        "Mean of |gain| less threshold, top 3 (table 5, other threshold).": LARGER_THRESHOLD,
        "Mean of |gain| less threshold, full (table 5, second alternative).": LARGER_THRESHOLD,
        "Mean of |gain| less threshold, full (table 5, other threshold).": LARGER_THRESHOLD,
        "Nested chooses the random forest, full (table 6).": (
            "Scale: forests of 25 and 50 trees, in place of 500 and more, on at most 200 rows; svmRadial and "
            "gbm are ahead of them."
        ),
        "With the random forest in place of a choice the gain of choosing is relevant, full (table 6).": (
            "Scale: 60 tables in place of 115 leave an interval that reaches below 0; its middle is a gain too."
        ),
    },
}
"""Why claims do not hold, by the file of the run: scale, definition or the article."""


ARTICLES = (
    Article(
        "Tsamardinos, Greasidou and Borboudakis (2018): BBC-CV and BCED-CV",
        (
            Run(
                "bias.parquet",
                "Simulated accuracies (section 6.1.1, abstract, conclusions)",
                "heldout study bias --seed 2018",
                "All 196 settings with 500 repetitions: 98 000 matrices of held-out predictions whose truth is "
                "known.",
                _of_moments,
                "Two claims do not hold. The article calls BBC-CV almost unbiased, without a number; with 20 "
                "rows it is more conservative than the .02 that we allow. And the article shows Be(9, 6) alone "
                "in its figure 1 and calls the others similar, but with them TT remains optimistic up to more "
                "rows.",
            ),
            Run(
                "bias-auc.parquet",
                "The same sentences for the area under the ROC curve",
                "heldout study bias --metric roc_auc --beta 9,6 --repetitions 500",
                "The article simulates accuracy alone, and states that BBC-CV works for any metric. 49 "
                "settings, 500 repetitions.",
                _of_moments,
                "The area of two rows is 0 or 1, and that of six is coarse. So TT, which uses single folds, is "
                "still optimistic with 60 rows. With few rows BBC-CV is more pessimistic than for accuracy.",
            ),
            Run(
                "bias-mse.parquet",
                "The same sentences for the mean squared error",
                "heldout study bias --metric mean_squared_error --beta 9,6 --repetitions 500",
                "49 settings, 500 repetitions; a positive bias means that the error was underestimated.",
                _of_moments,
                "The best of more configurations has a smaller true error, and a smaller error varies less from "
                "row to row. So chance matters less, and the bias of CVT falls with C. TT is never optimistic "
                "here. Which protocol varies most with C is left open by chance.",
            ),
            Run(
                "search.parquet",
                "Searches on real tables (sections 6.2 and 7)",
                "heldout study search tables --tables sylvine,jasmine,ada_agnostic,madelon --trees 10 "
                "--configurations 32 --subsamples 3",
                "Four tables, six sizes, 3 sub-samples of each, 32 of the 610 configurations with 10 trees in a "
                "forest. Three of the tables are the article's.",
                lambda frame: search_claims(SearchStudy.from_frame(frame)),
                "Twelve sub-samples of each size leave most claims open: the article has 180. What does not "
                "hold: few configurations are dropped early, because 32 that are evenly spaced among the 610 "
                "contain few copies of a hopeless one, and the article's tenfold speed-up was on gisette, which "
                "is not among these tables. With 500 rows the intervals are still conservative; they were not "
                "on two of the article's tables, which had biases that ours do not have. With 20 rows, three or "
                "four repeats give 71 % of the narrowing of ten, where we require 75 %.",
            ),
        ),
    ),
    Article(
        "Paraschakis, Castellani, Borboudakis and Tsamardinos (2024): BBC-F and intervals",
        (
            Run(
                "intervals.parquet",
                "Simulated areas (table 2, figure 2, section 5, conclusions)",
                "heldout study intervals --seed 20240",
                "16 settings with 200 repetitions, ten methods, one-sided intervals of 95 %.",
                lambda frame: intervals_claims(IntervalStudy.from_frame(frame)),
                "With 50 rows, 5 of them positive, BBC-F has five folds to draw, and is rejected in the "
                "published table too. The published Hanley-McNeil code uses another formula than Hanley and "
                "McNeil; ours is theirs, and covers more. The published two-part methods reverse the scores of "
                "a configuration in a fold that it ranks the wrong way, so they select a little worse than "
                "necessary. The article leaves several classes and regression open; "
                "[study-intervals](study-intervals.md) has the tables.",
            ),
            Run(
                "intervals-tables.parquet",
                "Real tables (table 3, section 5)",
                "heldout study intervals-on-tables tables --tables "
                "credit-g,spambase,phoneme,electricity,mozilla4,bank-marketing,eeg-eye-state,musk,phishing,adult "
                "--repetitions 100",
                "Ten of the article's eleven tables with 100 training sets each, of 50 or 500 rows as in the "
                "article; 35 configurations instead of the 766 of a commercial system.",
                lambda frame: tables_claims(IntervalsOnTables.from_frame(frame)),
                "The bounds of the two-part methods are looser than published, so fewer are rejected: the "
                "published code takes 1 as the bound if the second part has an area of 1, and its HM10p does not "
                "correct for the selection among the best tenth.",
            ),
            Run(
                "timing.parquet",
                "Time (figure 3, conclusions)",
                "heldout study timing --repetitions 100",
                "The 17 settings, as medians of 100 runs, with heldout's code and with plain NumPy that computes "
                "one bootstrap after another, like the published code. Times differ between machines and days.",
                lambda frame: timing_claims(TimingStudy.from_frame(frame)),
                "With plain code the results are those of the article, with ratios a little lower where BBC is "
                "cheap. heldout's BBC passes over the sorted rows for many bootstraps together and takes a few "
                "milliseconds, most of them for checking its input, so there is little left for BBC-F to save. "
                "N/K counts operations; the published times are not proportional to it either.",
            ),
        ),
    ),
    Article(
        "Wainer and Cawley (2021): flat against nested cross-validation",
        (
            Run(
                "flat-vs-nested.parquet",
                "Twelve algorithms on sixty tables (tables 1, 2, 4, 5 and 6, figures 3 and 4, conclusions)",
                "heldout study flat-vs-nested tables --small --max-rows 400 --seed 1",
                "Sixty binary tables, where the article has 115, with 6 half splits each as in the article. The "
                "tables have at most 400 rows, half of them for training, where the article has up to 10 000; "
                "the grids are smaller, and forests have 25 and 50 trees.",
                lambda frame: flat_vs_nested_claims(FlatVsNestedStudy.from_frame(frame)),
                "The article's conclusion holds in every analysis: the gain of nested over flat is below the "
                "threshold of irrelevance. The sizes differ. An accuracy on 200 rows is less precise than one "
                "on thousands, so thresholds are larger, |gain| minus threshold is further below 0, and twelve "
                "algorithms that are close to each other are distinguished less often. With so few rows support "
                "vector machines rank before forests of 50 trees and before boosted trees, and taking the "
                "random forest instead of choosing loses little. Nested cross-validation trains on four fifths "
                "of the half, so it "
                "is pessimistic. The article's table 3 (2000 rows and more) needs a run with larger tables.",
            ),
        ),
    ),
)


def page() -> str:
    """The whole page."""
    parts: list[str] = []
    all_claims: list[Claim] = []
    for article in ARTICLES:
        parts.append(f"## {article.title}\n")
        for run in article.runs:
            claims = run.read_claims()
            all_claims += claims
            parts.append(_section(run, claims))
    head = [_wrapped(part) for part in _HEAD.format(n=len(all_claims), **_counts(all_claims)).split("\n\n")]
    return "# Evidence\n\n" + "\n\n".join(head) + "\n\n" + "\n".join(parts)


_HEAD = """\
The claims of the articles, and what heldout found when it repeated their experiments: of {n} claims {n_yes} hold,
{n_no} do not, and {n_open} are left open by chance. The page has every claim of an abstract, a result or a
conclusion that a number can test. *Published* is the article's own figure, if it gives one. *Ours* comes from the
run that is named above each table, whose result is kept in [evidence/](README.md) as a Parquet file with the
command that made it. `python docs/evidence/write.py` writes this page from those files, and a test compares the
two.

"Chance" is what the number of repetitions leaves open, as each study's page explains; a published number holds "
"if ours differs by no more than that. If the article uses a word such as "almost" without a number, this page
states the number that we used for it.
"""


def _counts(claims: Sequence[Claim]) -> dict[str, int]:
    holds = [claim.holds for claim in claims]
    return {"n_yes": holds.count(True), "n_no": holds.count(False), "n_open": holds.count(None)}


def _section(run: Run, claims: Sequence[Claim]) -> str:
    lines = [
        f"### {run.title}",
        "",
        _wrapped(f"{run.what} [`{run.file}`]({run.file}), by `{run.command}`."),
        "",
        "| claim | published | ours | the difference | holds |",
        "|---|---|---|---|---|",
        *(
            f"| {_cell(c.text)} | {_cell(c.published) or '–'} | {_cell(c.ours)} | {_cell(c.difference)} "
            f"| {_HOLDS[c.holds]} |"
            for c in claims
        ),
        "",
    ]
    failing = [claim.text for claim in claims if claim.holds is False]
    if failing:
        lines += [
            "Why claims do not hold:",
            "",
            *(f"- *{_cell(text)}* {REASONS[run.file][text]}" for text in failing),
            "",
        ]
    return "\n".join([*lines, _wrapped(run.why), ""] if run.why else lines)


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


_HOLDS = {True: "yes", False: "**no**", None: "open"}


def _cell(text: str) -> str:
    return re.sub(r"(^|[\s(])-(?=[\d.])", r"\1−", text.replace("|", "\\|"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

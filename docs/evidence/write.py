"""Writes docs/evidence.md: what each article claims beside what the runs in this folder found.

``python docs/evidence/write.py`` reads the Parquet files beside it and nothing else; a test holds the page equal to
what this writes, so that no figure there is typed by hand.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
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
PAGE = HERE.parent / "evidence.md"


@dataclass(frozen=True)
class Run:
    """A run that is kept here, and the claims that it tests.

    Attributes
    ----------
    file, title, command : str
        The command says what made it, but for the folder.
    what : str
        What was done, in a sentence or two.
    claims : callable
        From the file's frame to claims.
    why : str
        Where ours differs, why.
    """

    file: str
    title: str
    command: str
    what: str
    claims: Callable[[Any], Sequence[Claim]]
    why: str = ""

    def found(self) -> Sequence[Claim]:
        """Every claim that the run can test."""
        return self.claims(pd.read_parquet(HERE / self.file))


def _of_moments(frame: Any) -> Sequence[Claim]:
    return bias_claims(BiasMoments.from_frame(frame))


@dataclass(frozen=True)
class Article:
    """An article and the runs that test it."""

    title: str
    runs: tuple[Run, ...]


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
                "The two that do not hold: the article calls BBC-CV almost unbiased and gives no number for that; "
                "with 20 rows it is more conservative than the .02 that we let pass. And its figure 1 shows Be(9, "
                "6) alone, of the others it says that they are similar: for them TT goes on flattering up to more "
                "rows.",
            ),
            Run(
                "bias-auc.parquet",
                "The same sentences for the area under the ROC curve",
                "heldout study bias --metric roc_auc --beta 9,6 --repetitions 100",
                "The article simulates accuracy alone, and says that BBC-CV serves any metric. 49 settings, 100 "
                "repetitions.",
                _of_moments,
                "An area of two rows is 0 or 1 and one of six is rough, so that TT, which reads single folds, "
                "still flatters with 60 rows. BBC-CV pays more for few rows than with accuracy.",
            ),
            Run(
                "bias-mse.parquet",
                "The same sentences for the mean squared error",
                "heldout study bias --metric mean_squared_error --beta 9,6 --repetitions 100",
                "49 settings, 100 repetitions; a positive bias is an error that was said to be smaller than it is.",
                _of_moments,
                "The best of more configurations has a smaller true error, and a smaller error varies less from "
                "row to row: there is less to choose by chance, and the bias of CVT falls with C. TT never "
                "flatters here. Which of the protocols varies most with C is within chance.",
            ),
            Run(
                "search.parquet",
                "Searches on real tables (sections 6.2 and 7)",
                "heldout study search tables --tables sylvine,jasmine,ada_agnostic,madelon --trees 10 "
                "--configurations 32 --subsamples 3",
                "Four tables, six sizes, 3 sub-samples of each, 32 of the 610 configurations with 10 trees in a "
                "forest. Three of the tables are the article's.",
                lambda frame: search_claims(SearchStudy.from_frame(frame)),
                "Twelve sub-samples of each size leave most open: the article has 180. What does not hold: few "
                "are dropped early, as 32 configurations that were taken at equal distances of 610 hold few "
                "copies of a hopeless one, and the speed-up of ten was that of gisette, which is not among these "
                "tables. With 500 rows the intervals are still conservative; the article's two tables that were "
                "not had biases that ours have not. Of the narrowing by ten repeats three or four bring 71 % with "
                "20 rows, where we ask for 75.",
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
                "BBC-F with 50 rows of which 5 are positive has five folds to draw, and is rejected in the "
                "published table too. The published Hanley-McNeil code is another formula than Hanley and "
                "McNeil's; ours is theirs, and covers more. The published two-part methods turn a column around "
                "in a fold that it orders the wrong way, and so choose a little worse than they need. Of several "
                "classes and of numbers, which the article names as open, [study-intervals](study-intervals.md) "
                "has the tables.",
            ),
            Run(
                "intervals-tables.parquet",
                "Real tables (table 3, section 5)",
                "heldout study intervals-on-tables tables --tables "
                "credit-g,spambase,phoneme,electricity,mozilla4,bank-marketing,eeg-eye-state,musk,phishing,adult "
                "--repetitions 10",
                "Ten of the article's eleven tables with 10 training sets each, of 50 or 500 rows as there; 35 "
                "configurations in place of 766 of a commercial system.",
                lambda frame: tables_claims(IntervalsOnTables.from_frame(frame)),
                "Ten training sets a table reject only what is far too low, so that the two claims about "
                "rejections could hardly hold here. The two-part methods bound more loosely than published: their "
                "code takes a bound of 1 where the second part has an area of 1, and its HM10p does not pay for "
                "the choice among the tenth. Which group chooses better is within chance.",
            ),
            Run(
                "timing.parquet",
                "Time (figure 3, conclusions)",
                "heldout study timing --repetitions 30",
                "The 17 settings, medians of 30, of heldout's code and of plain NumPy that goes bootstrap by "
                "bootstrap, as the published code does. Times differ on every machine and day.",
                lambda frame: timing_claims(TimingStudy.from_frame(frame)),
                "Plain code shows the article's picture, with ratios a little lower where BBC is cheap. heldout's "
                "BBC walks through the sorted rows for many bootstraps together and takes a few milliseconds, "
                "most of them for checking its input: there is little left for BBC-F to save. N/K counts "
                "operations; the published times are not in proportion to it either.",
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
                "Sixty binary tables with 6 half splits each, as the article has 115; but of at most 400 rows, of "
                "which half are trained on, where the article takes up to 10 000, and with smaller grids and "
                "forests of 25 and 50 trees.",
                lambda frame: flat_vs_nested_claims(FlatVsNestedStudy.from_frame(frame)),
                "What the article concludes holds in every analysis: the gain of nested over flat is below the "
                "threshold of irrelevance. What differs is size. With 200 rows to score on, an accuracy errs by "
                "more than with thousands, so that thresholds are larger, |gain| less threshold is further below "
                "0, and twelve algorithms that are close to each other are told apart less often. With so few "
                "rows support vector machines rank before forests of 50 trees and before boosted trees, and a "
                "random forest is no choice that loses much. Nested cross-validation trains on four fifths of the "
                "half, and errs on the careful side for that. The article's table 3 (2000 rows and more) asks for "
                "a run with larger tables.",
            ),
        ),
    ),
)


def page() -> str:
    """The page as it must be."""
    parts: list[str] = []
    all_claims: list[Claim] = []
    for article in ARTICLES:
        parts.append(f"## {article.title}\n")
        for run in article.runs:
            claims = run.found()
            all_claims += claims
            parts.append(_section(run, claims))
    head = [_wrapped(part) for part in _HEAD.format(n=len(all_claims), **_counts(all_claims)).split("\n\n")]
    return "# Evidence\n\n" + "\n\n".join(head) + "\n\n" + "\n".join(parts)


_HEAD = """\
What the articles claim, and what heldout found when it repeated their experiments: of {n} claims {n_yes} hold,
{n_no} do not, and {n_open} are left open by chance. A claim is here when it stands in an abstract, a result or a
conclusion and a number can test it. *Published* is the article's own figure, where it gives one; *ours* comes from
the run that is named above each table and is kept in [evidence/](evidence) as a Parquet file with the command that
made it. This page is written from those files (`python docs/evidence/write.py`), and a test holds it to them.

"Chance" in the last column is what the number of repetitions leaves open, as each study's page says; a published
number holds where ours differs by no more than that. Where the article gives no number for a word such as "almost",
this page states the number that we used for it.
"""


def _counts(claims: Sequence[Claim]) -> dict[str, int]:
    said = [claim.holds for claim in claims]
    return {"n_yes": said.count(True), "n_no": said.count(False), "n_open": said.count(None)}


def _section(run: Run, claims: Sequence[Claim]) -> str:
    lines = [
        f"### {run.title}",
        "",
        _wrapped(f"{run.what} [`{run.file}`](evidence/{run.file}), by `{run.command}`."),
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
    return "\n".join([*lines, _wrapped(run.why), ""] if run.why else lines)


def _wrapped(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


_HOLDS = {True: "yes", False: "**no**", None: "open"}


def _cell(text: str) -> str:
    return re.sub(r"(^|[\s(])-(?=[\d.])", r"\1−", text.replace("|", "\\|"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""Write papers/pages/claims.md: the claims of each article beside the results of the runs in this folder.

``python papers/evidence/write.py`` reads only the Parquet files in this folder. A test compares the page with its
output, so no figure on it is typed by hand.
"""

import re
import runpy
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from heldout_papers.bias import BiasMoments
from heldout_papers.bias.claims import bias_claims
from heldout_papers.engine.claims import Claim, answers_text
from heldout_papers.flat_vs_nested import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.claims import flat_vs_nested_claims
from heldout_papers.intervals import IntervalStudy
from heldout_papers.intervals.claims import intervals_claims
from heldout_papers.intervals.tables_claims import tables_claims
from heldout_papers.intervals.tables_result import IntervalsOnTables
from heldout_papers.search import SearchStudy
from heldout_papers.search.claims import search_claims
from heldout_papers.timing import TimingStudy
from heldout_papers.timing.claims import CODE_TITLES, timing_claims

HERE = Path(__file__).parent
PAGE = HERE.parent / "pages" / "claims.md"
_reasons = runpy.run_path(str(HERE / "reasons.py"))
FROM_PAGE: str = _reasons["FROM_PAGE"]
REASONS: Mapping[str, Mapping[str, str]] = {
    file: of_run(pd.read_parquet(HERE / file)) for file, of_run in _reasons["REASONS"].items()
}
"""Why claims do not hold: a sentence a claim, by the file of the run and the text of the claim."""


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
        What is to be said about the whole run, below the reasons of single claims.
    is_counted : bool
        Whether the sentences are claims of the article; else it has them of something else.
    """

    file: str
    title: str
    command: str
    what: str
    claims: Callable[[Any], Sequence[Claim]]
    why: str = ""
    is_counted: bool = True

    def read_claims(self) -> Sequence[Claim]:
        """Every claim that the run can test."""
        return self.claims(pd.read_parquet(HERE / self.file))


def _of_moments(frame: Any) -> Sequence[Claim]:
    return bias_claims(BiasMoments.from_frame(frame))


OWN, PLAIN = CODE_TITLES.values()


def _of_times(frame: Any, code: str) -> Sequence[Claim]:
    """The claims about times, judged for one of the two codes."""
    return [claim for claim in timing_claims(TimingStudy.from_frame(frame)) if f"({code})" in claim.text]


@dataclass(frozen=True)
class Article:
    """An article and the runs that test it."""

    title: str
    runs: tuple[Run, ...]


LARGE_TABLES = (
    "uci_kc1,madelon,jasmine,uci_kr-vs-kp,uci_sick,ada_agnostic,uci_bank,spambase,uci_satellite,sylvine,phoneme,musk,"
    "keel_ring,keel_twonorm,uci_mushroom,uci_jm1,phishing,uci_mammography,sylva_agnostic,eeg-eye-state,mozilla4,"
    "uci_magic,bank-marketing,electricity,adult"
)
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
            ),
            Run(
                "bias-auc.parquet",
                "The same sentences for the area under the ROC curve",
                "heldout study bias --metric roc_auc --beta 9,6 --repetitions 500",
                "The article simulates accuracy alone, and states that BBC-CV works for any metric, so these are "
                "no claims of it and are not counted. 49 settings, 500 repetitions.",
                _of_moments,
                is_counted=False,
            ),
            Run(
                "bias-mse.parquet",
                "The same sentences for the mean squared error",
                "heldout study bias --metric mean_squared_error --beta 9,6 --repetitions 500",
                "Not counted either. 49 settings, 500 repetitions; a positive bias means that the error was "
                "underestimated.",
                _of_moments,
                is_counted=False,
            ),
            Run(
                "search.parquet",
                "Searches on real tables (sections 6.2 and 7)",
                "heldout study search tables --tables sylvine,jasmine,ada_agnostic,madelon --trees 10 "
                "--configurations 32 --subsamples 8",
                "Four tables, six sizes, 8 sub-samples of each, 32 of the 610 configurations with 10 trees in a "
                "forest. Three of the tables are the article's.",
                lambda frame: search_claims(SearchStudy.from_frame(frame)),
                "32 sub-samples of each size leave claims about small differences open: the article has 180.",
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
                "The article leaves several classes and regression open; [study-intervals](study-intervals.md) has "
                "the tables.",
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
            ),
            Run(
                "timing.parquet",
                "Time (figure 3, conclusions)",
                "heldout study timing --repetitions 100",
                "The 17 settings, as medians of 100 runs, with plain NumPy that computes one bootstrap after "
                "another, like the published code. Times differ between machines and days.",
                lambda frame: _of_times(frame, PLAIN),
                "With plain code the results are those of the article, with ratios a little lower where BBC is "
                "cheap.",
            ),
            Run(
                "timing.parquet",
                "The same sentences for heldout's code",
                "heldout study timing --repetitions 100",
                "The article times its own code, so these are no claims of it and are not counted.",
                lambda frame: _of_times(frame, OWN),
                is_counted=False,
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
                "threshold of irrelevance. The sizes differ; with 2000 rows, below, they agree within chance.",
            ),
            Run(
                "flat-large.parquet",
                "Tables of 2000 rows and more (table 3)",
                f"heldout study flat-vs-nested tables --tables {LARGE_TABLES} --small --max-rows 2000 "
                "--repetitions 1 --n-jobs 1 --seed 1",
                "Twenty-five tables, where the article has 32, with 2000 rows each, half of them for training, one "
                "half split in place of six, and the smaller grids. Sentences about all tables are judged on "
                "these.",
                lambda frame: flat_vs_nested_claims(FlatVsNestedStudy.from_frame(frame)),
                "With 1000 training rows the share of equal choices, and by how much |gain| is below its "
                "threshold, agree with the article's.",
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
            all_claims += claims if run.is_counted else ()
            parts.append(_section(run, claims))
    head = [
        _wrapped(part) for part in _HEAD.format(n=len(all_claims), answers=answers_text(all_claims)).split("\n\n")
    ]
    return "# Evidence\n\n" + "\n\n".join(head) + "\n\n" + "\n".join(parts)


_HEAD = """\
The claims of the articles, and what heldout found when it repeated their experiments: of {n} claims
{answers}.
The page has every claim of an abstract, a result or a
conclusion that a number can test. *Published* is the article's own figure, if it gives one. *Ours* comes from the
run that is named above each table, whose result is kept in [evidence/](README.md) as a Parquet file with the
command that made it. `python papers/evidence/write.py` writes this page from those files, and a test compares the
two.

"Chance" is what the number of repetitions leaves open, as each study's page explains; a published number holds
if ours differs by no more than that. If the article uses a word such as "almost" without a number, this page
states the number that we used for it.

Below each table is why a claim does not hold. *Scale*: our run is smaller, or has other tables. *Definition*: we
compute something else, or chose the threshold. *Article*: its own numbers or its code differ from the sentence, or
it has no number for it. *Unexplained*: no reason that we know fits all figures.

The article's sentences about one metric or one code are repeated for others where that is of use. Those
tables say so, and are not counted.
"""


def _counts(claims: Sequence[Claim]) -> dict[str, int]:
    """How many claims have each answer."""
    answers = [claim.answer for claim in claims]
    names = {"n_yes": "yes", "n_no": "no", "n_open": "open", "n_untested": "not tested"}
    return {name: answers.count(answer) for name, answer in names.items()}


def _section(run: Run, claims: Sequence[Claim]) -> str:
    lines = [
        f"### {run.title}",
        "",
        _wrapped(f"{run.what} [`{run.file}`]({FROM_PAGE}/{run.file}), by `{run.command}`."),
        "",
        "| claim | published | ours | the difference | holds |",
        "|---|---|---|---|---|",
        *(
            f"| {_cell(c.text)} | {_cell(c.published) or '–'} | {_cell(c.ours)} | {_cell(c.difference)} "
            f"| {'**no**' if c.holds is False else c.answer} |"
            for c in claims
        ),
        "",
    ]
    failing = [claim.text for claim in claims if claim.holds is False]
    if failing:
        reasons = REASONS[run.file]
        bullets = [f"- *{_cell(text)}* {_cell(reasons[text])}" for text in failing]
        lines += ["What does not hold, and why:", "", *(_wrapped(one, "  ") for one in bullets), ""]
    return "\n".join([*lines, _wrapped(run.why), ""] if run.why else lines)


def _wrapped(text: str, indent: str = "") -> str:
    one_line = " ".join(text.split())
    return textwrap.fill(one_line, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _cell(text: str) -> str:
    return re.sub(r"(^|[\s(])-(?=[\d.])", r"\1−", text.replace("|", "\\|"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

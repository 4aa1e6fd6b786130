"""From a study of searches to its page: the claims, pictures like the article's figures 2 to 7, and tables."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence

import numpy as np
import sklearn

from heldout._version import __version__
from heldout.report.content import Entry as Fact
from heldout_papers.claims import n_holding
from heldout_papers.page import Picture, StudyPage, StudyTable
from heldout_papers.search import words as words
from heldout_papers.search.claims import BBC, BCED, CV, LARGE, LATE, NCV, TT, search_claims
from heldout_papers.search.pictures import Axes, Line, lines_svg
from heldout_papers.search.protocols import LEVELS
from heldout_papers.search.result import Entry, Place, SearchStudy
from heldout_papers.search.seen import Mean, Seen, mean_over_tables

PROTOCOLS = (CV, TT, NCV, BBC, BCED, LATE)
Value = Callable[[Entry, Place], float]


def search_page(study: SearchStudy, *, command: str = "") -> StudyPage:
    """The content of the report.

    Parameters
    ----------
    study : SearchStudy
    command : str
        What the user typed.
    """
    shown = _Shown(study, Seen(study))
    claims = search_claims(study)
    fewest, most = study.configurations
    return StudyPage(
        name="search",
        title="Searches on real tables",
        lead=shown.lead(),
        facts=(
            Fact("tables", ", ".join(dict.fromkeys(place.table for place in study.places))),
            Fact("rows", ", ".join(f"{n:,}" for n in shown.sizes)),
            Fact("sub-samples of each", f"{study.subsamples:,}"),
            Fact("space", study.space),
            Fact("configurations", f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"),
            Fact("folds", f"{study.folds}"),
            Fact("repeats", f"{study.repeats}"),
            Fact("bootstraps", f"{study.n_bootstraps:,}"),
        ),
        claims_sentence=words.claims_sentence(n_holding(claims), len(claims), study.space, most),
        claims=claims,
        pictures=shown.pictures(),
        words=tuple(Fact(title, words.PROTOCOL_WORDS[name]) for name, title in words.PROTOCOL_TITLES.items()),
        tables=shown.tables(),
        method=words.SEARCH_METHOD,
        sources=("tsamardinos2018", "tibshirani2009"),
        command=command,
        reproduction=(
            Fact("Seed", str(study.entropy)),
            Fact("Versions", f"heldout {__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}"),
            Fact("Python", platform.python_version()),
        ),
    )


class _Shown:
    """A study, as pictures and tables."""

    def __init__(self, study: SearchStudy, seen: Seen) -> None:
        self.study, self.seen = study, seen
        self.sizes = sorted({place.rows for place in study.places})
        self.repeated = Entry("bbc", study.repeats)
        self.n_tables = len({place.table for place in study.places})

    def lead(self) -> str:
        least = self.sizes[0]
        cv, bbc = (f"{self.seen.bias(entry, least).value:+.3f}" for entry in (CV, BBC))
        return words.search_lead(self.n_tables, self.study.subsamples, least, cv, bbc)

    def pictures(self) -> tuple[Picture, ...]:
        found = [
            self._by_rows(
                "Bias (figure 2)", PROTOCOLS[:5], self._bias, "estimate less truth", "+.2f", 0.0,
                "Mean of estimate less truth over the sub-samples, above 0 flattering",
            ),
            self._by_rows(
                "What dropping does to the winner (figure 3)", (BCED, LATE),
                lambda entry, place: self.seen.relative(entry, CV, place).value, "AUC relative to CVT's", "+.1%",
                0.0, "The AUC of the winner's model on rows never searched, relative to that of CVT's winner",
            ),
            self._by_rows(
                "Models of CVT over models of BCED-CV (figure 4)", (BCED, LATE), self.seen.speed_up, "speed-up",
                ".1f", 1.0, "How many times as many models CVT trains",
            ),
        ]  # fmt: skip
        if self.study.repeats > 1:
            found.append(
                self._by_rows(
                    f"What {self.study.repeats} repeats do to the winner (figure 5)", (self.repeated,),
                    lambda entry, place: self.seen.relative(entry, BBC, place).value,
                    "AUC relative to one repeat's", "+.1%", 0.0,
                    "The AUC of the winner's model on rows never searched, relative to that of BBC-CV's winner",
                )
            )  # fmt: skip
        found += [self._coverage(n) for n in self._three_sizes()]
        return (*found, self._widths()) if self.study.repeats > 1 else tuple(found)

    def _three_sizes(self) -> list[int]:
        """The smallest, 100 where it is there, and the largest, as the article shows them."""
        return sorted({self.sizes[0], self.sizes[-1], *(n for n in self.sizes if n == 100)})

    def _bias(self, entry: Entry, place: Place) -> float:
        errors = self.study.of("estimate", entry, place) - self.study.of("truth", entry, place)
        known = errors[~np.isnan(errors)]
        return float(known.mean()) if len(known) else float("nan")

    def _by_rows(
        self, title: str, entries: Sequence[Entry], value: Value, y: str, y_format: str, at: float, caption: str
    ) -> Picture:
        lines = []
        for entry in entries:
            of_n = [[value(entry, place) for place in self.seen.places(n)] for n in self.sizes]
            lines.append(_line(self._title(entry), self.sizes, of_n))
        axes = Axes("rows", y, ",d", y_format, self.sizes, is_log=True, at=at)
        ends = [(line.title, format(line.mean[0], y_format), format(line.mean[-1], y_format)) for line in lines]
        rows = f"{self.sizes[0]:,} rows", f"{self.sizes[-1]:,}"
        key = "search-" + "".join(letter for letter in title.lower() if letter.isalnum())
        svg = lines_svg(lines, axes, key=key, title=title, description=words.figure_summary(caption, ends, rows))
        return Picture(title, svg, words.figure_caption(self.n_tables, caption))

    def _coverage(self, n: int) -> Picture:
        entries = [BBC, BCED, self.repeated] if self.study.repeats > 1 else [BBC, BCED]
        lines = []
        for entry in entries:
            coverage = self.seen.coverage(entry, n).tolist()
            lines.append(Line(self._title(entry), LEVELS, coverage, coverage, coverage))
        title = f"Coverage with {n:,} rows (figure 6)"
        caption = (
            "The share of intervals that hold the winner's AUC, over all tables; on the diagonal it is as said"
        )
        ends = [(line.title, f"{line.mean[0]:.0%}", f"{line.mean[-2]:.0%}") for line in lines]
        axes = Axes("level", "share of intervals", ".0%", ".0%", LEVELS[::2], is_square=True)
        svg = lines_svg(
            lines, axes, key=f"search-coverage-{n}", title=title,
            description=words.figure_summary(caption, ends, ("a level of 50 %", "95 %")),
        )  # fmt: skip
        return Picture(title, svg, words.figure_caption(1, caption))

    def _widths(self) -> Picture:
        repeats = list(range(1, self.study.repeats + 1))
        lines = []
        for n in self._three_sizes():
            of_r = [
                [mean_over_tables([each]).value for each in self.seen.widths(Entry("bbc", r), n)] for r in repeats
            ]
            lines.append(_line(f"{n:,} rows", repeats, of_r))
        title = "Width of the 95 % interval by repeats (figure 7)"
        caption = "The mean width of BBC-CV's interval"
        ends = [(line.title, f"{line.mean[0]:.3f}", f"{line.mean[-1]:.3f}") for line in lines]
        axes = Axes("repeats", "width", "d", ".2f", repeats, at=0.0)
        summary = words.figure_summary(caption, ends, ("one repeat", f"{repeats[-1]}"))
        svg = lines_svg(lines, axes, key="search-widths", title=title, description=summary)
        return Picture(title, svg, words.figure_caption(self.n_tables, caption))

    def _title(self, entry: Entry) -> str:
        title = words.PROTOCOL_TITLES[entry.protocol]
        return title if entry.repeats == 1 else f"{title}, {entry.repeats} repeats"

    def tables(self) -> tuple[StudyTable, ...]:
        entries = PROTOCOLS if self.study.repeats == 1 else (*PROTOCOLS, self.repeated)
        head = ("", *(self._title(entry) for entry in entries))
        with_interval = [entry for entry in entries if entry.protocol in ("bbc", "bced", "bced_late")]
        return (
            StudyTable(
                "Mean bias over the tables, with its standard error",
                head,
                self._body(entries, lambda entry, n: _signed(self.seen.bias(entry, n))),
            ),
            StudyTable(
                "Mean share of 95 % intervals that hold the truth",
                ("", *(self._title(entry) for entry in with_interval)),
                self._body(with_interval, lambda entry, n: _percent(self.seen.coverage(entry, n)[-2])),
            ),
            StudyTable("Models trained, mean over tables", head, self._body(entries, self._models)),
            StudyTable("CPU seconds of fitting, mean over tables", head, self._body(entries, self._seconds)),
            StudyTable("The article's advice, with our figures", words.ADVICE_HEAD, self._advice()),
        )

    def _body(self, entries: Sequence[Entry], cell: Callable[[Entry, int], str]) -> tuple[tuple[str, ...], ...]:
        return tuple((f"{n:,} rows", *(cell(entry, n) for entry in entries)) for n in self.sizes)

    def _mean(self, what: str, entry: Entry, n: int) -> float:
        return mean_over_tables([self.study.of(what, entry, place) for place in self.seen.places(n)]).value

    def _models(self, entry: Entry, n: int) -> str:
        return f"{self._mean('models', entry, n):,.0f}"

    def _seconds(self, entry: Entry, n: int) -> str:
        return f"{self._mean('seconds', entry, n):,.1f}"

    def _advice(self) -> tuple[tuple[str, ...], ...]:
        found = []
        for n in self.sizes:
            dropping = LATE if n < LARGE else BCED
            gained = self.seen.relative_over_tables(self.repeated, BBC, n)
            lost = self.seen.relative_over_tables(dropping, CV, n)
            saved = np.mean([self.seen.speed_up(dropping, place) for place in self.seen.places(n)])
            four = min(4, self.study.repeats)
            narrower = self.seen.width(Entry("bbc", four), n).value / self.seen.width(BBC, n).value
            found.append(
                (
                    f"{n:,} rows",
                    words.advice(n),
                    _or_dash(gained.value, "+.1%"),
                    _or_dash(-lost.value, "+.1%"),
                    f"1/{saved:.1f}",
                    _or_dash(narrower, ".0%"),
                )
            )
        return tuple(found)


def _line(title: str, x: Sequence[float], of_x: Sequence[Sequence[float]]) -> Line:
    values = [np.array([one for one in each if np.isfinite(one)]) for each in of_x]
    nan = float("nan")
    return Line(
        title,
        x,
        [float(each.mean()) if len(each) else nan for each in values],
        [float(each.min()) if len(each) else nan for each in values],
        [float(each.max()) if len(each) else nan for each in values],
    )


def _signed(mean: Mean) -> str:
    chance = f" ± {mean.error:.3f}" if np.isfinite(mean.error) else ""
    return f"{mean.value:+.3f}{chance}"


def _percent(share: float) -> str:
    return _or_dash(share, ".0%")


def _or_dash(value: float, form: str) -> str:
    return format(round(value, 4) + 0.0, form) if np.isfinite(value) else "-"

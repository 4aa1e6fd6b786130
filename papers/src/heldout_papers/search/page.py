"""The page of a study of searches: the claims, pictures like the article's figures 2 to 7, and tables."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import sklearn

from heldout._text import counted
from heldout.metrics.named import in_sentence, metric_words
from heldout_papers.engine.page import ClaimsText, StudyPage, StudyTable, shown, study_tables
from heldout_papers.engine.pictures import Frame, Line, Picture, PictureAxis, line_picture, line_summary
from heldout_papers.search.claims import BBC, BCED, CV, LARGE, LATE, NCV, TT, search_claims
from heldout_papers.search.means import SearchMeans, mean_over_tables
from heldout_papers.search.protocols import LEVELS
from heldout_papers.search.result import DIRECT, TERMS, RepeatedProtocol, SearchPlace, SearchStudy

PROTOCOLS = (CV, TT, NCV, BBC, BCED, LATE)
WITH_INTERVAL = ("bbc", "bced", "bced_late", DIRECT.protocol)
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

METHOD = (
    "Each table is divided, with its classes in proportion, into 30 % from which sub-samples are drawn without "
    "replacement and 70 % that no search uses. On a sub-sample all configurations are fitted on stratified folds, "
    "as often as there are repeats; the first repeat serves all protocols. The winner of each protocol is fitted "
    "on the whole sub-sample, and its score on the 70 % is the truth: bias is estimate less truth, of a loss truth "
    "less estimate. Positive flatters.",
    "Scores are pooled over the folds of a repeat, in the choice and in the estimate. NCV scores its outer folds "
    "one by one and takes their mean, because the winners of two folds are different models whose scores have no "
    "common scale. Its model is that of CVT (algorithm 3), and so that of BBC-CV: the two halves of the article's "
    "figure 5 are one here.",
    "The dropping of BCED-CV is replayed on the complete predictions, with the rule, the bootstraps and the "
    "barriers of a search that really drops: the same configurations are dropped after the same folds. Models are "
    "counted as if each protocol trained its own, the returned one included; seconds are wall time of the fits "
    "made, each with its own preparation, less what a space caches of equal fits. The seconds of a fit that "
    "serves several models are divided among them where nothing tells what each would have taken.",
    "Where the article gives no detail: sub-samples are drawn at random, again until each class has three rows; "
    "intervals are percentiles; sizes for which the pool is too small, or has too few rows of a class, are left "
    "out.",
)


def search_page(study: SearchStudy, *, command: str = "") -> StudyPage:
    """The content of the report."""
    contents = _Contents(study)
    fewest, most = study.configurations
    return StudyPage(
        name=study.name,
        title="Searches on real tables",
        lead=contents.lead(),
        settings={
            "tables": ", ".join(dict.fromkeys(place.table for place in study.places)),
            "rows": contents.sizes,
            "sub-samples of each": study.subsamples,
            "metric": study.metric,
            "space": study.space,
            "configurations": f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}",
            "folds": study.folds,
            "repeats": study.repeats,
            "bootstraps": study.n_bootstraps,
        },
        claims=search_claims(study),
        tested=ClaimsText(
            "of sections 6.2 and 7 that these settings can test",
            "its numbers of rows, 10 folds, and ten sub-samples or more of each size",
            f" on these tables, with {counted(most, 'configuration')} of the space {study.space}",
        ),
        pictures=contents.pictures(),
        glossary=dict(TERMS[name] for name in dict.fromkeys(one.protocol for one in study.protocols)),
        tables=contents.tables(),
        method=METHOD,
        sources=("tsamardinos2018", "tibshirani2009"),
        entropy=study.entropy,
        versions={"scikit-learn": sklearn.__version__},
        command=command,
    )


def _key(title: str) -> str:
    """What the ids within a picture begin with."""
    return "search-" + "".join(letter for letter in title.lower() if letter.isalnum())


class _Contents:
    """The pictures and tables of a study."""

    def __init__(self, study: SearchStudy) -> None:
        self.study, self.means = study, SearchMeans(study)
        self.score = "AUC" if study.metric == "roc_auc" else in_sentence(metric_words(study.metric)[0])
        self.gap = "estimate less truth" if study.greater_is_better else "truth less estimate"
        self.sizes = sorted({place.rows for place in study.places})
        self.repeated = [RepeatedProtocol("bbc", study.repeats)] if study.repeats > 1 else []
        self.n_tables = len({place.table for place in study.places})
        # The smallest, 100 if it is there, and the largest, as the article shows them
        self.three_sizes = sorted({self.sizes[0], self.sizes[-1], *(n for n in self.sizes if n == 100)})

    def lead(self) -> str:
        least = self.sizes[0]
        cv, bbc = (f"{self.means.bias(protocol, least).value:+.3f}" for protocol in (CV, BBC))
        return (
            f"On {counted(self.n_tables, 'table')}, {counted(self.study.subsamples, 'sub-sample')} of each size: "
            f"with {least:,} rows the winner's own {self.score} is off by {cv} on average, that of BBC-CV by {bbc}."
        )

    def pictures(self) -> list[Picture]:
        truth = f"The {self.score} of the winner's model on rows never searched, relative to that of"
        by_rows = [
            self._by_rows(
                "Bias (figure 2)", PROTOCOLS[:5], self._bias, PictureAxis(self.gap, "+.2f"), 0.0,
                f"Mean of {self.gap} over the sub-samples, above 0 flattering",
            ),
            *self._by_table(
                "Bias of {} by table (figure 2)", PROTOCOLS[:5], self._bias,
                PictureAxis(self.gap, "+.2f"), 0.0, f"Mean of {self.gap} of {{}}",
            ),
            self._by_rows(
                "What dropping does to the winner (figure 3)", (BCED, LATE), partial(self._relative, CV),
                PictureAxis(f"{self.score} relative to CVT's", "+.1%"), 0.0, f"{truth} CVT's winner",
            ),
            *self._by_table(
                "What the dropping of {} does to the winner, by table (figure 3)", (BCED, LATE),
                partial(self._relative, CV), PictureAxis(f"{self.score} relative to CVT's", "+.1%"), 0.0,
                f"{truth} CVT's winner, by {{}}",
            ),
            self._by_rows(
                "Models of CVT over models of BCED-CV (figure 4)", (BCED, LATE), self.means.speed_up,
                PictureAxis("speed-up", ".1f"), 1.0, "How many times as many models CVT trains",
            ),
        ]  # fmt: skip
        coverages = [self._coverage(n) for n in self.three_sizes]
        if not self.repeated:
            return [*by_rows, *coverages]
        by_repeats = self._by_rows(
            f"What {self.study.repeats} repeats do to the winner (figure 5)", self.repeated,
            partial(self._relative, BBC), PictureAxis(f"{self.score} relative to one repeat's", "+.1%"), 0.0,
            f"{truth} BBC-CV's winner",
        )  # fmt: skip
        of_tables = self._by_table(
            "What {} does to the winner, by table (figure 5)", self.repeated, partial(self._relative, BBC),
            PictureAxis(f"{self.score} relative to one repeat's", "+.1%"), 0.0, f"{truth} BBC-CV's winner, by {{}}",
        )  # fmt: skip
        repeated = [one for one in (BBC, BCED) if replace(one, repeats=2) in self.study.protocols]
        widths = [picture for one in repeated for picture in (self._widths(one), *self._widths_by_table(one))]
        return [*by_rows, by_repeats, *of_tables, *coverages, *widths]

    def _bias(self, protocol: RepeatedProtocol, place: SearchPlace) -> float:
        errors = self.study.sign * (
            self.study.of("estimate", protocol, place) - self.study.of("truth", protocol, place)
        )
        return mean_over_tables([errors]).value

    def _relative(self, to: RepeatedProtocol, protocol: RepeatedProtocol, place: SearchPlace) -> float:
        return self.means.relative(protocol, to, place).value

    def _by_rows(
        self,
        title: str,
        protocols: Sequence[RepeatedProtocol],
        value: Callable[[RepeatedProtocol, SearchPlace], float],
        y: PictureAxis,
        level: float,
        what: str,
    ) -> Picture:
        """A line a protocol, over the number of rows."""
        places = [self.means.places(n) for n in self.sizes]
        lines = [
            Line.over(one.title, self.sizes, [[value(one, place) for place in of_size] for of_size in places])
            for one in protocols
        ]
        at = f"{self.sizes[0]:,} rows", f"{self.sizes[-1]:,}"
        summary = line_summary(f"{what},", lines, at, lambda number: format(number, y.format))
        frame = Frame(PictureAxis("rows", ",.0f", self.sizes, "log"), y, _key(title), level=level)
        return line_picture(title, lines, frame, summary=summary, caption=self._caption(what))

    def _by_table(
        self,
        title: str,
        protocols: Sequence[RepeatedProtocol],
        value: Callable[[RepeatedProtocol, SearchPlace], float],
        y: PictureAxis,
        level: float,
        what: str,
    ) -> list[Picture]:
        """A picture a protocol, with a line a table over the number of rows; none of a single table."""
        tables = list(dict.fromkeys(place.table for place in self.study.places))
        found: list[Picture] = []
        for one in protocols if len(tables) > 1 else ():
            lines = [
                Line(
                    table, self.sizes,
                    [
                        value(one, place) if (place := SearchPlace(table, n)) in self.study.places else float("nan")
                        for n in self.sizes
                    ],
                )
                for table in tables
            ]  # fmt: skip
            heading, text = title.format(one.title), what.format(one.title)
            at = f"{self.sizes[0]:,} rows", f"{self.sizes[-1]:,}"
            summary = line_summary(f"{text},", lines, at, lambda number: format(number, y.format))
            frame = Frame(PictureAxis("rows", ",.0f", self.sizes, "log"), y, _key(heading), level=level)
            found.append(line_picture(heading, lines, frame, summary=summary, caption=f"{text}; a line a table."))
        return found

    def _caption(self, what: str) -> str:
        if self.n_tables == 1:
            return f"{what}."
        return f"{what}; the mean over {self.n_tables} tables, bars from the least to the greatest of them."

    def _coverage(self, n: int) -> Picture:
        lines = [
            Line(protocol.title, LEVELS, self.means.coverage(protocol, n).tolist())
            for protocol in (BBC, BCED, *self.repeated)
        ]
        held = f"The share of intervals that hold the winner's {self.score}"
        what = f"{held}, over all tables; on the diagonal it is the level"
        frame = Frame(
            PictureAxis("level", ".0%", LEVELS[::2]), PictureAxis("share of intervals", ".0%", SHARES),
            f"search-coverage-{n}", has_diagonal=True,
        )  # fmt: skip
        at = "a level of 50 %", "95 %"
        summary = line_summary(f"{what},", lines, at, lambda share: f"{share:.0%}", places=(0, -2))
        title = f"Coverage with {n:,} rows (figure 6)"
        return line_picture(title, lines, frame, summary=summary, caption=f"{what}.")

    def _widths(self, protocol: RepeatedProtocol) -> Picture:
        """A line a number of rows, over the number of repeats."""
        repeats = list(range(1, self.study.repeats + 1))
        widths = {
            n: [self.means.widths(replace(protocol, repeats=r), n) for r in repeats] for n in self.three_sizes
        }
        lines = [
            Line.over(
                f"{n:,} rows", repeats, [[mean_over_tables([one]).value for one in each] for each in of_repeats]
            )
            for n, of_repeats in widths.items()
        ]
        what = f"The mean width of {protocol.title}'s interval"
        title = f"Width of {protocol.title}'s 95 % interval by repeats (figure 7)"
        return self._over_repeats(title, what, lines, self._caption(what))

    def _widths_by_table(self, protocol: RepeatedProtocol) -> list[Picture]:
        """A picture a number of rows, with a line a table over the number of repeats; none of a single table."""
        repeats, found = list(range(1, self.study.repeats + 1)), []
        for n in self.three_sizes if self.n_tables > 1 else ():
            of_repeats = [self.means.widths(replace(protocol, repeats=r), n) for r in repeats]
            lines = [
                Line(place.table, repeats, [mean_over_tables([one[number]]).value for one in of_repeats])
                for number, place in enumerate(self.means.places(n))
            ]
            what = f"The mean width of {protocol.title}'s interval with {n:,} rows"
            title = f"Width of {protocol.title}'s 95 % interval with {n:,} rows, by table (figure 7)"
            found.append(self._over_repeats(title, what, lines, f"{what}; a line a table."))
        return found

    def _over_repeats(self, title: str, what: str, lines: Sequence[Line], caption: str) -> Picture:
        repeats = list(range(1, self.study.repeats + 1))
        at = "one repeat", f"{repeats[-1]}"
        summary = line_summary(f"{what},", lines, at, lambda width: f"{width:.3f}")
        frame = Frame(PictureAxis("repeats", "g", repeats), PictureAxis("width", ".2f"), _key(title), level=0.0)
        return line_picture(title, lines, frame, summary=summary, caption=caption)

    def tables(self) -> list[StudyTable]:
        asked = [DIRECT] if DIRECT in self.study.protocols else []
        protocols, means = (*PROTOCOLS, *self.repeated, *asked), self.means
        with_interval = [one for one in protocols if one.protocol in WITH_INTERVAL]

        def mean(what: str, form: str, protocol: RepeatedProtocol, n: int) -> str:
            values = [self.study.of(what, protocol, place) for place in means.places(n)]
            return format(mean_over_tables(values).value, form)

        advice = "The article's advice, with our figures"
        return [
            *study_tables("The tables (table 1)", [(one.table, one.cells()) for one in self.study.tables]),
            *self._table(
                "Mean bias over the tables, with its standard error", protocols,
                lambda protocol, n: means.bias(protocol, n).text(3),
            ),
            *self._table(
                "Mean share of 95 % intervals that hold the truth", with_interval,
                lambda protocol, n: shown(means.coverage(protocol, n)[-2], ".0%"),
            ),
            *self._table("Models trained, mean over tables", protocols, partial(mean, "models", ",.0f")),
            *self._table("Seconds of fitting, mean over tables", protocols, partial(mean, "seconds", ",.1f")),
            *study_tables(advice, [(f"{n:,} rows", self._advice(n)) for n in self.sizes]),
        ]  # fmt: skip

    def _table(
        self, title: str, protocols: Sequence[RepeatedProtocol], cell: Callable[[RepeatedProtocol, int], str]
    ) -> list[StudyTable]:
        rows = [(f"{n:,} rows", {protocol.title: cell(protocol, n) for protocol in protocols}) for n in self.sizes]
        return study_tables(title, rows)

    def _advice(self, n: int) -> dict[str, str]:
        """What the article advises for so many rows (sections 6.2 and 7), and our figures."""
        dropping, repeats = LATE if n < LARGE else BCED, self.study.repeats
        gained = self.means.relative_over_tables(RepeatedProtocol("bbc", repeats), BBC, n)
        lost = self.means.relative_over_tables(dropping, CV, n)
        saved = np.mean([self.means.speed_up(dropping, place) for place in self.means.places(n)])
        repeated = self.means.width(RepeatedProtocol("bbc", min(4, repeats)), n).value
        once = self.means.width(BBC, n).value
        narrower = repeated / once if once else float("nan")  # all right on an easy table: nothing to compare
        advice = "BCED-CV, dropping from 50 predictions on; one repeat or a few"
        if n < 100:
            advice = "BBC-CV, with as many repeats as time allows; 3 or 4 suffice for the interval"
        return {
            "the article advises": advice,
            f"{self.score} gained by repeats": shown(gained.value, "+.1%"),
            f"{self.score} lost by dropping": shown(-lost.value, "+.1%"),
            "models it trains": f"1/{saved:.1f}",
            "width with 3 or 4 repeats to 1": shown(narrower, ".0%"),
        }

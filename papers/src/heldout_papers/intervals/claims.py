"""The article's claims about intervals on simulated matrices (abstract, section 5, conclusions), and their
verdicts.

A claim is judged only where a study has all the settings and methods that it is about. What the claims about real
tables share with these is in ``ArticleRows`` and the judges below it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.stats import binom

from heldout._text import counted
from heldout_papers.engine.batches import Columns
from heldout_papers.engine.claims import (
    Claim,
    ClaimTest,
    ClaimVerdict,
    Finding,
    Mean,
    Near,
    judged_claims,
    order,
    verdict,
)
from heldout_papers.intervals.inclusion import (
    SIGNIFICANCE,
    Inclusion,
    average_ranks,
    inclusion_of,
    ratios,
    true_performance,
)
from heldout_papers.intervals.methods import METHODS, OTHERS, SELECTORS, TERMS, NoBound
from heldout_papers.intervals.published import LEVEL, TABLE_2, ArticleTable, Cell, SimulatedPlace, rejections
from heldout_papers.intervals.study import IntervalStudy

LEAST_REPETITIONS = 20
"""With fewer, standard errors are too uncertain themselves."""
OFTEN = 0.25
"""The share of cells from which on rejections count as often; the article gives no number."""
PAR_INCLUSION, PAR_RATIO = 0.02, 0.1
"""The largest differences that count as on a par; the article gives no number."""
ALPHA = 0.01
"""The chance that so many cells differ by chance alone."""
COMPLETE = tuple(place for place, row in TABLE_2.cells.items() if None not in row.values())
"""The eight settings with 500 rows, of the average ranks and figure 2."""
SELECTOR_TITLES = {
    "all rows": "BBC, BBC-F",
    "best of 75 %": "DL, HM, BT",
    "best tenth of 75 %": "DL10p, HM10p, BT10p, MABT",
}
WHY_HANLEY_MCNEIL = "The published code uses another formula."
WHY_BY_FOLDS = "Compared with the winner by fold means, as there."
WHY_PERFECT = "An area of 1 counts as a bound of 1, as there."
WHY_TURNED = (
    "The published choice turns a column around in a fold that it orders the wrong way, and so may take a "
    "configuration that is worse than chance."
)

BOTH = SELECTORS["all rows"]

Row = Mapping[str, Inclusion]


@dataclass(frozen=True, eq=False)
class ArticleRows:
    """The rows of a study that a table of the article has too."""

    rows: Mapping[Any, Row]
    article: ArticleTable

    def has(self, keys: Sequence[Any], methods: Sequence[str]) -> bool:
        return all(name in self.rows.get(key, {}) for key in keys for name in methods)

    def only(self, keys: Sequence[Any]) -> Self:
        return replace(self, rows={key: self.rows[key] for key in keys})

    def cells(self, names: Sequence[str]) -> list[Inclusion]:
        """Ours, where there are bounds."""
        return [row[name] for row in self.rows.values() for name in names if row[name].bounds]

    def published(self, name: str) -> dict[Any, Cell]:
        """A method's cells of the article, for the rows that are there."""
        return {key: cell for key in self.rows if (cell := self.article.cells[key][name]) is not None}

    def published_rejections(self, names: Sequence[str]) -> str:
        """How many of the published cells are too low: "3 of 56"."""
        cells = [cell for name in names for cell in self.published(name).values()]
        return f"{rejections(cells, self.article.repetitions, LEVEL)} of {len(cells)}"

    def failed_share(self) -> float:
        """The share of repetitions in which the methods of two parts have no bound."""
        shares = [row[name].failed for row in self.rows.values() for name in OTHERS]
        return float(np.mean(shares)) if shares else float("nan")


@dataclass(frozen=True)
class RejectionClaim:
    """A sentence about the share of inclusions of some methods that are rejected, on simulated or real tables."""

    text: str
    methods: tuple[str, ...]
    least: float  # The share from which on it holds; 0 where it holds if none is rejected
    bar: str  # The same in words
    form: str  # How counts are shown

    def finding(self, rows: ArticleRows, note: str = "") -> Finding:
        cells = rows.cells(self.methods)
        n, total = sum(cell.rejected for cell in cells), len(cells)
        holds = n >= self.least * total if self.least else n == 0
        ours, published = (
            self.form.format(n=count, places=f"{rows.article.place}s", preposition=rows.article.preposition)
            for count in (f"{n} of {total}", rows.published_rejections(self.methods))
        )
        return Finding(ours, verdict(holds, f"rejected in {n} of {total}; {self.bar}{note}"), published)


NONE_OF_BBC = RejectionClaim(
    "BBC happens to always return non-rejected estimates", ("bbc",), 0, "it holds where none is", "{n} {places}"
)
ALL_OF_NB = RejectionClaim(
    "NB fails to produce accurate intervals, as it ignores the winner's curse", ("naive_bootstrap",), 1,
    "it holds where all are", "rejected {preposition} {n} {places}",
)  # fmt: skip
MANY_OF_OTHERS = RejectionClaim(
    "The other methods often produce significantly different intervals", OTHERS, OFTEN,
    f"from {OFTEN:.0%} on counts as often", "{n} rejected",
)  # fmt: skip


def dominate(rows: ArticleRows, *, counts_rows: bool = False) -> Finding:
    """BBC and BBC-F have the best average ranks."""
    place, decimals = rows.article.place, rows.article.rank_decimals
    mine, n_complete = average_ranks([{name: row[name] for name in METHODS} for row in rows.rows.values()], LEVEL)
    others = [name for name in METHODS if name not in BOTH]

    def shown(ranks: Mapping[str, float]) -> str:
        best = min(others, key=lambda name: ranks[name])
        bbc, bbc_f, then = (f"{ranks[name]:.{decimals}f}" for name in (*BOTH, best))
        return f"{bbc} and {bbc_f}, then {TERMS[best].title} {then}"

    if not n_complete:
        none = verdict(None, f"on no {place} does every method have a bound in most repetitions")
        return Finding(f"no {place} has all methods", none, shown(rows.article.ranks))
    gap = min(mine[name] for name in others) - max(mine[name] for name in BOTH)
    count = f" ({n_complete} {place}s)" if counts_rows else ""
    found = verdict(gap > 0, f"the difference is {gap:+.{decimals}f}")
    return Finding(shown(mine) + count, found, shown(rows.article.ranks))


def inclusion_on_a_par(rows: ArticleRows) -> Finding:
    mine = {name: float(np.mean([row[name].inclusion for row in rows.rows.values()])) for name in BOTH}
    theirs = {name: float(np.mean([cell.inclusion for cell in rows.published(name).values()])) for name in BOTH}
    # As if both were computed on different data, which makes chance rather too large than too small.
    cells = [row[name] for row in rows.rows.values() for name in BOTH]
    variance = sum(cell.inclusion * (1 - cell.inclusion) / cell.bounds for cell in cells)
    chance = 2 * float(np.sqrt(variance)) / len(rows.rows)
    ours, published = (f"mean {means['bbc_f']:.3f}, BBC {means['bbc']:.3f}" for means in (mine, theirs))
    return Finding(ours, _par(mine["bbc_f"] - mine["bbc"], PAR_INCLUSION, chance), published)


def tightness_on_a_par(rows: ArticleRows, allowed: float) -> Finding:
    mine = np.array([ratios(row)["bbc_f"] for row in rows.rows.values()])
    one, other = rows.published("bbc_f"), rows.published("bbc")
    theirs = np.mean([one[key].tightness / other[key].tightness for key in rows.rows])
    chance = 2 * float(mine.std(ddof=1)) / float(np.sqrt(len(mine)))
    found = _par(float(mine.mean()) - 1, allowed, chance)
    return Finding(f"{mine.mean():.2f} times", found, f"{theirs:.2f} times")


def _par(difference: float, allowed: float, chance: float) -> ClaimVerdict:
    why = f"they differ by {difference:+.3f}, where up to {allowed:g} counts as on a par, give or take {chance:.3f}"
    return verdict(abs(difference) <= allowed + chance, f"{why} by chance")


def failing(holds: bool) -> ClaimVerdict:
    return verdict(holds, "the fewer rows of the rarer class, the more fail")


def table_cells(
    name: str, rows: ArticleRows, *, ours: Mapping[Any, Row], with_tightness: bool, why: str = ""
) -> Finding:
    """A method's column of the article's table, cell by cell; ``ours``: the rows as the article computes them."""
    published = rows.published(name)
    pairs = [(ours[key][name], cell) for key, cell in published.items()]
    repetitions, total = rows.article.repetitions, len(pairs)
    inside = [sum(cell.agrees(mine, repetitions) for mine, cell in pairs)]
    if with_tightness:
        inside.append(sum(cell.is_as_tight(mine, repetitions) for mine, cell in pairs))
    # Each cell differs by chance alone with a probability of 5 %.
    holds = bool(total - min(inside) <= binom.ppf(1 - ALPHA, total, 0.05))
    among = f"{rows.article.preposition} {inside[0]} of {counted(total, rows.article.place)}"
    tightness = f", tightness {rows.article.preposition} {inside[-1]}" if with_tightness else ""
    word = "Agrees" if holds else "Differs"
    sentence = f"{word}: inclusion within rounding and chance {among}{tightness}.{' ' if why else ''}{why}"
    shown = (
        f"mean {_mean([one.inclusion for one in each])} ({_mean([one.tightness for one in each])})"
        for each in zip(*pairs, strict=True)
    )
    return Finding(next(shown), ClaimVerdict(holds, sentence), next(shown))


def _mean(values: Sequence[float]) -> str:
    known = [value for value in values if np.isfinite(value)]
    return f"{np.mean(known):.2f}" if known else "-"


def intervals_claims(study: IntervalStudy) -> tuple[Claim, ...]:
    """Every claim that the settings of a study can test."""
    return judged_claims(_TESTS, SimulatedRows.of(study))


@dataclass(frozen=True, eq=False)
class SimulatedRows(ArticleRows):
    """Settings of table 2."""

    # As the published code computes it: areas of 1 as DeLong's and Hanley and McNeil's bounds, and BBC's bound
    # compared with the winner by fold means
    as_published: Mapping[SimulatedPlace, Row]

    @classmethod
    def of(cls, study: IntervalStudy) -> SimulatedRows:
        """The settings of a study that are the article's, if it has enough repetitions."""
        rows: dict[SimulatedPlace, Row] = {}
        as_published: dict[SimulatedPlace, Row] = {}
        if study.repetitions >= LEAST_REPETITIONS:
            for setting, columns, row in zip(study.settings, study.columns, study.inclusions, strict=True):
                place = SimulatedPlace.of(setting)
                if place is not None:
                    rows[place] = row
                    as_published[place] = {name: _as_published(columns, name, "bbc_f" in row) for name in row}
        return cls(rows, TABLE_2, as_published)


def _as_published(columns: Columns, name: str, by_folds: bool) -> Inclusion:
    low, truth = columns[f"{name}.low"], columns[f"{name}.truth"]
    if name.startswith(("delong", "hanley_mcneil")):
        low = np.where(columns[f"{name}.failure"] == NoBound.PERFECT, 1.0, low)
    if name == "bbc" and by_folds:
        truth = columns["bbc_f.truth"]
    return inclusion_of(low, truth, LEVEL)


def _accurate(rows: SimulatedRows) -> Finding:
    cells = [(row[name], place, name) for place, row in rows.rows.items() for name in BOTH]
    least, place, name = min(cells, key=lambda cell: cell[0].p_value)
    n = sum(found.rejected for found, _, _ in cells)
    holds = least.p_value * len(cells) >= SIGNIFICANCE
    where = f"{TERMS[name].title}, N = {place.rows}, b = {place.prevalence:g}"
    explained = f"{'no more' if holds else 'more'} than chance explains among {len(cells)}"
    found = verdict(holds, f"the least p is {least.p_value:.2g} ({where}), {explained}")
    return Finding(f"{n} of {len(cells)} rejected", found, f"{rows.published_rejections(BOTH)} rejected")


def _failing(rows: SimulatedRows) -> Finding:
    small = [[place for place in rows.rows if (place.rows, place.prevalence) == (50, b)] for b in (0.1, 0.5)]
    few, more, many = (rows.only(keys).failed_share() for keys in (*small, COMPLETE))
    return Finding(
        f"{few:.0%} of repetitions with N = 50, b = .1; {more:.0%} with N = 50, b = .5; {many:.1%} with N = 500",
        failing(few > more > many),
        "all with N = 50, b = .1; BT, BT10p and MABT with N = 50, b = .5; none with N = 500",
    )


def _worse_tightness(rows: SimulatedRows) -> Finding:
    kept = [ratios(row)[name] for row in rows.rows.values() for name in OTHERS if not row[name].rejected]
    theirs = float(np.mean(kept)) if kept else float("nan")
    folds = float(np.mean([ratios(row)["bbc_f"] for row in rows.rows.values()]))
    gap = theirs - max(1.0, folds)
    ours = f"{theirs:.2f} times that of BBC in {len(kept)} cells; BBC-F {folds:.2f}"
    return Finding(ours, verdict(bool(gap > 0), f"the difference is {gap:+.2f}"))


def _performance(group: str, rows: SimulatedRows) -> Finding:
    published = TABLE_2.performance[group]
    ours = _chosen_by({group: SELECTORS[group]}, rows)[group]
    found = Near(published, 4, TABLE_2.repetitions, shown=4).finding(ours)
    if group == "best of 75 %" and not found.verdict.holds and ours.value > published:
        return found._replace(verdict=ClaimVerdict(False, f"{found.verdict.sentence} {WHY_TURNED}"))
    return found


def _chosen_by(groups: Mapping[str, Sequence[str]], rows: SimulatedRows) -> dict[str, Mean]:
    """The mean true performance of what each group of methods chooses."""
    means, settings = {}, list(rows.rows.values())
    for group, value in true_performance(settings, groups).items():
        cells = [row[groups[group][-1]] for row in settings]
        n = cells[0].repetitions
        error = np.sqrt(np.mean(np.square([cell.truth_spread for cell in cells])) / len(cells) / n)
        means[group] = Mean(value, float(error), n)
    return means


def _performance_order(rows: SimulatedRows) -> Finding:
    found = _chosen_by(SELECTORS, rows)
    first, second, third = (found[group] for group in SELECTORS)
    error = max(mean.error for mean in found.values()) * float(np.sqrt(1 + first.n / TABLE_2.repetitions))
    return Finding(
        f"{first.value:.4f}, {second.value:.4f}, {third.value:.4f}",
        order(first.value - max(second.value, third.value), 2 * error),
        " > ".join(f"{value:.4f}" for value in TABLE_2.performance.values()),
    )


def _table_cells(name: str, rows: SimulatedRows) -> Finding:
    is_perfect = any(rows.as_published[key][name].bounds > row[name].bounds for key, row in rows.rows.items())
    why = WHY_PERFECT if is_perfect else WHY_BY_FOLDS if name == "bbc" else ""
    why = WHY_HANLEY_MCNEIL if name.startswith("hanley_mcneil") else why
    return table_cells(name, rows, ours=rows.as_published, with_tightness=True, why=why)


def _test(
    text: str,
    find: Callable[[SimulatedRows], Finding],
    methods: Sequence[str],
    keys: Sequence[SimulatedPlace] = tuple(TABLE_2.cells),
) -> ClaimTest[SimulatedRows]:
    """A claim about some settings, all of them by default, and about some methods."""
    return ClaimTest(text, lambda rows: rows.has(keys, methods), lambda rows: find(rows.only(keys)))


_TESTS: tuple[ClaimTest[SimulatedRows], ...] = (
    _test("BBC and BBC-F dominate all other methods (average ranks).", dominate, tuple(METHODS), COMPLETE),
    _test("BBC and BBC-F produce accurate intervals.", _accurate, BOTH),
    _test(f"{NONE_OF_BBC.text}.", NONE_OF_BBC.finding, NONE_OF_BBC.methods),
    _test("BBC-F is on par with BBC in inclusion percentage.", inclusion_on_a_par, BOTH),
    _test(
        "BBC-F is on par with BBC in tightness: a minimal drop in estimation quality.",
        partial(tightness_on_a_par, allowed=PAR_RATIO), BOTH,
    ),
    _test(f"{ALL_OF_NB.text}.", ALL_OF_NB.finding, ALL_OF_NB.methods, COMPLETE),
    _test(f"{MANY_OF_OTHERS.text}.", MANY_OF_OTHERS.finding, OTHERS, COMPLETE),
    _test("The other methods even fail to run, especially on smaller and unbalanced datasets.", _failing, OTHERS),
    _test(
        "Where the other methods are not rejected, their average tightness is worse than that of BBC and BBC-F.",
        _worse_tightness, (*BOTH, *OTHERS), COMPLETE,
    ),
    *(
        _test(
            f"True performance of what {SELECTOR_TITLES[group]} choose.",
            partial(_performance, group), names, COMPLETE,
        )
        for group, names in SELECTORS.items()
    ),
    _test(
        "BBC and BBC-F choose better configurations than all competitors.",
        _performance_order, (*BOTH, *OTHERS), COMPLETE,
    ),
    *(
        _test(
            f"Table 2, {TERMS[name].title}: inclusion (tightness).", partial(_table_cells, name), (name,),
            [place for place, row in TABLE_2.cells.items() if row[name] is not None],
        )
        for name in METHODS
    ),
)  # fmt: skip

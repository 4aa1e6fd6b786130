"""The article's claims about intervals on simulated matrices (abstract, section 5, conclusions), and their
verdicts.

A claim is judged only where a study has all the settings and methods that it is about. What the claims about real
tables share with these is in ``ArticleRows`` and the judges below it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

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
from heldout_papers.intervals.methods import METHOD_TITLES, METHODS, OTHERS, SELECTORS, NoBound
from heldout_papers.intervals.published import (
    AVERAGE_RANKS,
    LEVEL,
    REPETITIONS,
    TABLE_2,
    TRUE_PERFORMANCE,
    Cell,
    SimulatedPlace,
    rejections,
)
from heldout_papers.intervals.study import IntervalStudy

LEAST_REPETITIONS = 20
"""With fewer, standard errors are too uncertain themselves."""
OFTEN = 0.25
"""The share of cells from which on rejections count as often; the article gives no number."""
PAR_INCLUSION, PAR_RATIO = 0.02, 0.1
"""The largest differences that count as on a par; the article gives no number."""
ALPHA = 0.01
"""The chance that so many cells differ by chance alone."""
PLACES = tuple(TABLE_2)
COMPLETE = tuple(place for place, row in TABLE_2.items() if None not in row.values())
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

Row = Mapping[str, Inclusion]
Keys = Sequence[Any]


@dataclass(frozen=True, eq=False)
class ArticleRows:
    """The rows of a study that the article has too, with the article's cells."""

    rows: Mapping[Any, Row]
    table: Mapping[Any, Mapping[str, Cell | None]]
    repetitions: int  # Of the article
    places: str  # "settings" or "tables"
    preposition: str  # "in" or "on"

    def has(self, keys: Sequence[Hashable], methods: Sequence[str]) -> bool:
        """Whether a claim about these can be tested."""
        return all(name in self.rows.get(key, {}) for key in keys for name in methods)

    def cells(self, names: Sequence[str], keys: Keys | None = None) -> list[Inclusion]:
        """Ours, where there are bounds."""
        rows = [self.rows[key] for key in (self.rows if keys is None else keys)]
        return [row[name] for row in rows for name in names if row[name].bounds]

    def published(self, name: str) -> dict[Any, Cell]:
        """A method's cells of the article, for the rows that are there."""
        return {key: cell for key in self.rows if (cell := self.table[key][name]) is not None}

    def published_rejections(self, names: Sequence[str], keys: Keys | None = None) -> str:
        """How many of the published cells are too low: "3 of 56"."""
        cells = [
            cell
            for key in (self.rows if keys is None else keys)
            for name in names
            if (cell := self.table[key][name])
        ]
        return f"{rejections(cells, self.repetitions, LEVEL)} of {len(cells)}"


@dataclass(frozen=True)
class RejectionClaim:
    """A sentence about the share of inclusions of some methods that are rejected, on simulated or real tables."""

    text: str
    methods: tuple[str, ...]
    least: float  # The share from which on it holds; 0 where it holds if none is rejected
    bar: str  # The same in words
    form: str  # How counts are shown

    def judge(self, keys: Keys | None, rows: ArticleRows, note: str = "") -> Finding:
        cells = rows.cells(self.methods, keys)
        n, total = sum(cell.rejected for cell in cells), len(cells)
        holds = n >= self.least * total if self.least else n == 0
        ours, published = (
            self.form.format(n=count, places=rows.places, preposition=rows.preposition)
            for count in (f"{n} of {total}", rows.published_rejections(self.methods, keys))
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


def dominate(rows: ArticleRows, keys: Keys | None, published: Mapping[str, float], decimals: int) -> Finding:
    """BBC and BBC-F have the best average ranks."""
    of_keys = [rows.rows[key] for key in (rows.rows if keys is None else keys)]
    mine, n_complete = average_ranks([{name: row[name] for name in METHODS} for row in of_keys], LEVEL)
    others = [name for name in METHODS if name not in SELECTORS["all rows"]]

    def shown(ranks: Mapping[str, float]) -> str:
        best = min(others, key=lambda name: ranks[name])
        bbc, bbc_f, then = (f"{ranks[name]:.{decimals}f}" for name in ("bbc", "bbc_f", best))
        return f"{bbc} and {bbc_f}, then {METHOD_TITLES[best]} {then}"

    if not n_complete:
        place = rows.places.removesuffix("s")
        none = verdict(None, f"on no {place} does every method have a bound in most repetitions")
        return Finding(f"no {place} has all methods", none, shown(published))
    gap = min(mine[name] for name in others) - max(mine["bbc"], mine["bbc_f"])
    count = "" if keys is not None else f" ({n_complete} {rows.places})"
    found = verdict(gap > 0, f"the difference is {gap:+.{decimals}f}")
    return Finding(shown(mine) + count, found, shown(published))


def inclusion_on_a_par(rows: ArticleRows) -> Finding:
    names = ("bbc", "bbc_f")
    mine = {name: float(np.mean([row[name].inclusion for row in rows.rows.values()])) for name in names}
    theirs = {name: float(np.mean([cell.inclusion for cell in rows.published(name).values()])) for name in names}
    # As if both were computed on different data, which makes chance rather too large than too small.
    cells = [row[name] for row in rows.rows.values() for name in names]
    variance = sum(cell.inclusion * (1 - cell.inclusion) / cell.bounds for cell in cells)
    chance = 2 * float(np.sqrt(variance)) / len(rows.rows)
    ours, published = (f"mean {means['bbc_f']:.3f}, BBC {means['bbc']:.3f}" for means in (mine, theirs))
    return Finding(ours, par(mine["bbc_f"] - mine["bbc"], PAR_INCLUSION, chance), published)


def tightness_on_a_par(rows: ArticleRows, keys: Keys, allowed: float) -> Finding:
    mine = np.array([ratios(rows.rows[key])["bbc_f"] for key in keys])
    one, other = rows.published("bbc_f"), rows.published("bbc")
    theirs = np.mean([one[key].tightness / other[key].tightness for key in keys])
    chance = 2 * float(mine.std(ddof=1)) / float(np.sqrt(len(mine)))
    return Finding(f"{mine.mean():.2f} times", par(float(mine.mean()) - 1, allowed, chance), f"{theirs:.2f} times")


def par(difference: float, allowed: float, chance: float) -> ClaimVerdict:
    """Whether two methods are on a par."""
    why = f"they differ by {difference:+.3f}, where up to {allowed:g} counts as on a par, give or take {chance:.3f}"
    return verdict(abs(difference) <= allowed + chance, f"{why} by chance")


def failed_share(rows: ArticleRows, keys: Keys) -> float:
    """The share of repetitions in which the methods of two parts have no bound."""
    shares = [rows.rows[key][name].failed for key in keys for name in OTHERS]
    return float(np.mean(shares)) if shares else float("nan")


def failing(holds: bool) -> ClaimVerdict:
    return verdict(holds, "the fewer rows of the rarer class, the more fail")


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
        return cls(rows, TABLE_2, REPETITIONS, "settings", "in", as_published)

    @property
    def complete(self) -> list[Row]:
        """The settings of the average ranks and figure 2."""
        return [self.rows[place] for place in COMPLETE]


def _as_published(columns: Columns, name: str, by_folds: bool) -> Inclusion:
    low, truth = columns[f"{name}.low"], columns[f"{name}.truth"]
    if name.startswith(("delong", "hanley_mcneil")):
        low = np.where(columns[f"{name}.failure"] == NoBound.PERFECT, 1.0, low)
    if name == "bbc" and by_folds:
        truth = columns["bbc_f.truth"]
    return inclusion_of(low, truth, LEVEL)


def _accurate(rows: SimulatedRows) -> Finding:
    names = SELECTORS["all rows"]
    cells = [(rows.rows[place][name], place, name) for place in PLACES for name in names]
    least, place, name = min(cells, key=lambda cell: cell[0].p_value)
    n = sum(found.rejected for found, _, _ in cells)
    holds = least.p_value * len(cells) >= SIGNIFICANCE
    where = f"{METHOD_TITLES[name]}, N = {place.rows}, b = {place.prevalence:g}"
    explained = f"{'no more' if holds else 'more'} than chance explains among {len(cells)}"
    found = verdict(holds, f"the least p is {least.p_value:.2g} ({where}), {explained}")
    return Finding(f"{n} of {len(cells)} rejected", found, f"{rows.published_rejections(names, PLACES)} rejected")


def _failing(rows: SimulatedRows) -> Finding:
    of_fifty = [[place for place in PLACES if place.rows == 50 and place.prevalence == b] for b in (0.1, 0.5)]
    few, more, many = (failed_share(rows, keys) for keys in (*of_fifty, COMPLETE))
    return Finding(
        f"{few:.0%} of repetitions with N = 50, b = .1; {more:.0%} with N = 50, b = .5; {many:.1%} with N = 500",
        failing(few > more > many),
        "all with N = 50, b = .1; BT, BT10p and MABT with N = 50, b = .5; none with N = 500",
    )


def _worse_tightness(rows: SimulatedRows) -> Finding:
    kept = [ratios(row)[name] for row in rows.complete for name in OTHERS if not row[name].rejected]
    theirs = float(np.mean(kept)) if kept else float("nan")
    folds = float(np.mean([ratios(row)["bbc_f"] for row in rows.complete]))
    apart = theirs - max(1.0, folds)
    ours = f"{theirs:.2f} times that of BBC in {len(kept)} cells; BBC-F {folds:.2f}"
    return Finding(ours, verdict(bool(apart > 0), f"the difference is {apart:+.2f}"))


def _performance(group: str, rows: SimulatedRows) -> Finding:
    published = TRUE_PERFORMANCE[group]
    ours = _chosen_by({group: SELECTORS[group]}, rows)[group]
    found = Near(published, 4, REPETITIONS, shown=4).finding(ours)
    if group == "best of 75 %" and not found.verdict.holds and ours.value > published:
        return found._replace(verdict=ClaimVerdict(False, f"{found.verdict.sentence} {WHY_TURNED}"))
    return found


def _chosen_by(groups: Mapping[str, Sequence[str]], rows: SimulatedRows) -> dict[str, Mean]:
    """The mean true performance, over complete settings, of what each group of methods chooses."""
    means = {}
    for group, value in true_performance(rows.complete, groups).items():
        cells = [row[groups[group][-1]] for row in rows.complete]
        n = cells[0].repetitions
        error = np.sqrt(np.mean(np.square([cell.truth_spread for cell in cells])) / len(cells) / n)
        means[group] = Mean(value, float(error), n)
    return means


def _performance_order(rows: SimulatedRows) -> Finding:
    found = _chosen_by(SELECTORS, rows)
    first, second, third = (found[group] for group in TRUE_PERFORMANCE)
    error = max(mean.error for mean in found.values()) * float(np.sqrt(1 + first.n / REPETITIONS))
    return Finding(
        f"{first.value:.4f}, {second.value:.4f}, {third.value:.4f}",
        order(first.value - max(second.value, third.value), 2 * error),
        " > ".join(f"{value:.4f}" for value in TRUE_PERFORMANCE.values()),
    )


def _table_cells(name: str, rows: SimulatedRows) -> Finding:
    """A method's column of table 2, cell by cell."""
    inside = {"inclusion": 0, "tightness": 0}
    mine: list[Cell] = []
    published = rows.published(name)
    perfect = False
    for place, cell in published.items():
        ours = rows.as_published[place][name]
        perfect |= ours.bounds > rows.rows[place][name].bounds
        mine.append(Cell(ours.inclusion, ours.tightness))
        inside["inclusion"] += cell.agrees(ours, REPETITIONS)
        spread = ours.standard_error * np.sqrt(ours.bounds)
        allowed = 0.005 + 2 * spread * np.sqrt(1 / ours.bounds + 1 / REPETITIONS) if ours.bounds else 0.0
        inside["tightness"] += bool(abs(ours.tightness - cell.tightness) <= allowed)
    total = len(published)
    why = WHY_PERFECT if perfect else WHY_BY_FOLDS if name == "bbc" else ""
    why = WHY_HANLEY_MCNEIL if name.startswith("hanley_mcneil") else why
    holds = cells_agree(min(inside.values()), total)
    sentence = (
        f"{'Agrees' if holds else 'Differs'}: inclusion within rounding and chance in {inside['inclusion']} of "
        f"{total} settings, tightness in {inside['tightness']}.{' ' if why else ''}{why}"
    )
    return Finding(_mean_cell(mine), ClaimVerdict(holds, sentence), _mean_cell(list(published.values())))


def cells_agree(n_inside: int, total: int) -> bool:
    """Whether chance explains that so many cells differ, each with a chance of 5 %."""
    return bool(total - n_inside <= binom.ppf(1 - ALPHA, total, 0.05))


def _mean_cell(cells: Sequence[Cell]) -> str:
    inclusion, tightness = (float(np.nanmean([cell[k] for cell in cells])) for k in (0, 1))
    return f"mean {inclusion:.2f} ({tightness:.2f})"


def _test(
    text: str, judge: Callable[[SimulatedRows], Finding], keys: Keys, methods: Sequence[str]
) -> ClaimTest[SimulatedRows]:
    return ClaimTest(text, lambda rows: rows.has(keys, methods), judge)


def _published_places(name: str) -> list[SimulatedPlace]:
    return [place for place, row in TABLE_2.items() if row[name] is not None]


_BOTH = ("bbc", "bbc_f")
_SELECTING = tuple(name for names in SELECTORS.values() for name in names)
_TESTS: tuple[ClaimTest[SimulatedRows], ...] = (
    _test(
        "BBC and BBC-F dominate all other methods (average ranks).",
        partial(dominate, keys=COMPLETE, published=AVERAGE_RANKS, decimals=2), COMPLETE, tuple(METHODS),
    ),
    _test("BBC and BBC-F produce accurate intervals.", _accurate, PLACES, _BOTH),
    _test(f"{NONE_OF_BBC.text}.", partial(NONE_OF_BBC.judge, PLACES), PLACES, ("bbc",)),
    _test("BBC-F is on par with BBC in inclusion percentage.", inclusion_on_a_par, PLACES, _BOTH),
    _test(
        "BBC-F is on par with BBC in tightness: a minimal drop in estimation quality.",
        partial(tightness_on_a_par, keys=PLACES, allowed=PAR_RATIO), PLACES, _BOTH,
    ),
    _test(f"{ALL_OF_NB.text}.", partial(ALL_OF_NB.judge, COMPLETE), COMPLETE, ("naive_bootstrap",)),
    _test(f"{MANY_OF_OTHERS.text}.", partial(MANY_OF_OTHERS.judge, COMPLETE), COMPLETE, OTHERS),
    _test(
        "The other methods even fail to run, especially on smaller and unbalanced datasets.",
        _failing, PLACES, OTHERS,
    ),
    _test(
        "Where the other methods are not rejected, their average tightness is worse than that of BBC and BBC-F.",
        _worse_tightness, COMPLETE, (*_BOTH, *OTHERS),
    ),
    *(
        _test(
            f"True performance of what {SELECTOR_TITLES[group]} choose.",
            partial(_performance, group), COMPLETE, SELECTORS[group],
        )
        for group in TRUE_PERFORMANCE
    ),
    _test(
        "BBC and BBC-F choose better configurations than all competitors.", _performance_order, COMPLETE, _SELECTING
    ),
    *(
        _test(
            f"Table 2, {METHOD_TITLES[name]}: inclusion (tightness).",
            partial(_table_cells, name), _published_places(name), (name,),
        )
        for name in METHODS
    ),
)  # fmt: skip

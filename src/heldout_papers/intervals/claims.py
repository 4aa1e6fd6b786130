"""What the article says of simulated intervals (abstract, section 5, conclusions), and what a study of ours says.

A claim is tested only where a study has all the settings and methods that it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from heldout_papers.base import Columns
from heldout_papers.claims import Claim, beyond
from heldout_papers.claims_words import number_difference, order_difference
from heldout_papers.intervals import words as words
from heldout_papers.intervals.inclusion import (
    SIGNIFICANCE,
    Inclusion,
    average_ranks,
    inclusion_of,
    ratios,
    true_performance,
)
from heldout_papers.intervals.methods import METHODS, OTHERS, SELECTORS, Failure
from heldout_papers.intervals.published import (
    AVERAGE_RANKS,
    LEVEL,
    REPETITIONS,
    TABLE_2,
    TRUE_PERFORMANCE,
    Cell,
    Place,
    rejections,
)
from heldout_papers.intervals.study import IntervalStudy

LEAST_REPETITIONS = 20
"""With fewer, standard errors are too uncertain themselves."""
OFTEN = 0.25
"""The share of settings from which on a method is often rejected here; the article gives no number."""
PAR_INCLUSION, PAR_RATIO = 0.02, 0.1
"""Up to where two methods are on a par here; the article gives no number."""
ALPHA = 0.01
"""The chance that so many cells differ by chance alone."""
PLACES = tuple(TABLE_2)
COMPLETE = tuple(place for place, row in TABLE_2.items() if None not in row.values())
"""The eight settings with 500 rows, of the average ranks and figure 2."""

Row = dict[str, Inclusion]


@dataclass(frozen=True, eq=False)
class Seen:
    """The part of a study that is the article's.

    Attributes
    ----------
    rows : dict of Place to dict of method to Inclusion
    as_published : dict of Place to dict of method to Inclusion
        The same as the published code has it: areas of 1 as DeLong's and Hanley and McNeil's bounds, and BBC's
        bound held against the winner by fold means.
    """

    rows: dict[Place, Row]
    as_published: dict[Place, Row]

    @classmethod
    def of(cls, study: IntervalStudy) -> Seen:
        """What of a study is the article's, and large enough."""
        rows: dict[Place, Row] = {}
        as_published: dict[Place, Row] = {}
        if study.repetitions >= LEAST_REPETITIONS:
            for setting, columns, row in zip(study.settings, study.columns, study.inclusions, strict=True):
                place = Place.of(setting)
                if place is not None:
                    rows[place] = row
                    as_published[place] = {name: _as_published(columns, name, "bbc_f" in row) for name in row}
        return cls(rows, as_published)

    def has(self, places: Sequence[Place], methods: Sequence[str]) -> bool:
        """Whether a claim about these can be tested."""
        return all(name in self.rows.get(place, {}) for place in places for name in methods)

    def of_complete(self) -> list[Row]:
        """The settings of the average ranks and figure 2."""
        return [self.rows[place] for place in COMPLETE]


def _as_published(columns: Columns, name: str, by_folds: bool) -> Inclusion:
    low, truth = columns[f"{name}.low"], columns[f"{name}.truth"]
    if name.startswith(("delong", "hanley_mcneil")):
        low = np.where(columns[f"{name}.failure"] == Failure.PERFECT, 1.0, low)
    if name == "bbc" and by_folds:
        truth = columns["bbc_f.truth"]
    return inclusion_of(low, truth, LEVEL)


def intervals_claims(study: IntervalStudy) -> tuple[Claim, ...]:
    """Every claim that the settings of a study can test."""
    seen = Seen.of(study)
    tested = [make(seen) for make, places, methods in _CLAIMS if seen.has(places, methods)]
    cells = [cells_claim(seen, name) for name in METHODS if seen.has(_published_places(name), (name,))]
    return (*tested, *cells)


def _dominate(seen: Seen) -> Claim:
    means, _ = average_ranks([[row[name] for name in METHODS] for row in seen.of_complete()], LEVEL)
    mine = dict(zip(METHODS, means, strict=True))
    next_best = min((name for name in METHODS if name not in SELECTORS["all rows"]), key=lambda name: mine[name])
    holds = max(mine["bbc"], mine["bbc_f"]) < mine[next_best]
    said = f"then {words.METHOD_TITLES[next_best]} {mine[next_best]:.2f}"
    return Claim(
        "BBC and BBC-F dominate all other methods (average ranks).",
        f"{AVERAGE_RANKS['bbc']:.2f} and {AVERAGE_RANKS['bbc_f']:.2f}, then BT {AVERAGE_RANKS['tilting']:.2f}",
        f"{mine['bbc']:.2f} and {mine['bbc_f']:.2f}, {said}",
        words.apart(holds, mine[next_best] - max(mine["bbc"], mine["bbc_f"]), 2),
        holds,
    )


def _rejected(row: Row, names: Sequence[str]) -> int:
    return sum(row[name].rejected for name in names)


def _never_rejected(seen: Seen) -> Claim:
    n = sum(_rejected(seen.rows[place], ["bbc"]) for place in PLACES)
    return Claim(
        "BBC happens to always return non-rejected estimates.",
        f"0 of {len(PLACES)} settings",
        f"{n} of {len(PLACES)} settings",
        words.rejected_difference(n, len(PLACES), n == 0, "it holds where none is"),
        n == 0,
    )


def _accurate(seen: Seen) -> Claim:
    cells = [(seen.rows[place][name], place, name) for place in PLACES for name in SELECTORS["all rows"]]
    least, place, name = min(cells, key=lambda cell: cell[0].p_value)
    n = sum(found.rejected for found, _, _ in cells)
    holds = least.p_value * len(cells) >= SIGNIFICANCE
    where = f"{words.METHOD_TITLES[name]}, N = {place.rows}, b = {place.prevalence:g}"
    return Claim(
        "BBC and BBC-F produce accurate intervals.",
        f"{_published_rejections(SELECTORS['all rows'], PLACES)} of {len(cells)} rejected",
        f"{n} of {len(cells)} rejected",
        words.accurate_difference(holds, len(cells), least.p_value, where),
        holds,
    )


def _naive(seen: Seen) -> Claim:
    n = sum(_rejected(row, ["naive_bootstrap"]) for row in seen.of_complete())
    return Claim(
        "NB fails to produce accurate intervals, as it ignores the winner's curse.",
        f"rejected in {_published_rejections(['naive_bootstrap'])} of {len(COMPLETE)} settings",
        f"rejected in {n} of {len(COMPLETE)} settings",
        words.rejected_difference(n, len(COMPLETE), n == len(COMPLETE), "it holds where all are"),
        n == len(COMPLETE),
    )


def _often_rejected(seen: Seen) -> Claim:
    total = len(OTHERS) * len(COMPLETE)
    n = sum(_rejected(row, OTHERS) for row in seen.of_complete())
    return Claim(
        "The other methods often produce significantly different intervals.",
        f"{_published_rejections(OTHERS)} of {total} rejected",
        f"{n} of {total} rejected",
        words.rejected_difference(n, total, n >= OFTEN * total, f"from {OFTEN:.0%} on counts as often"),
        n >= OFTEN * total,
    )


def _published_rejections(names: Sequence[str], places: Sequence[Place] = COMPLETE) -> int:
    """How many of the published cells are too low."""
    return rejections((TABLE_2[place][name] for place in places for name in names), REPETITIONS, LEVEL)


def _failing(seen: Seen) -> Claim:
    def share(places: Sequence[Place]) -> float:
        return float(np.mean([seen.rows[place][name].failed for place in places for name in OTHERS]))

    few = share([place for place in PLACES if place.rows == 50 and place.prevalence == 0.1])
    more = share([place for place in PLACES if place.rows == 50 and place.prevalence == 0.5])
    many = share(COMPLETE)
    holds = few > more > many
    return Claim(
        "The other methods even fail to run, especially on smaller and unbalanced datasets.",
        "all with N = 50, b = .1; BT, BT10p and MABT with N = 50, b = .5; none with N = 500",
        f"{few:.0%} of repetitions with N = 50, b = .1; {more:.0%} with N = 50, b = .5; {many:.1%} with N = 500",
        words.failing_difference(holds),
        holds,
    )


def _worse_tightness(seen: Seen) -> Claim:
    def ratio(name_rows: Sequence[tuple[Row, str]]) -> float:
        return float(np.mean([ratios(row)[name] for row, name in name_rows]))

    kept = [(row, name) for row in seen.of_complete() for name in OTHERS if not row[name].rejected]
    theirs = ratio(kept) if kept else float("nan")
    folds = ratio([(row, "bbc_f") for row in seen.of_complete()])
    holds = bool(theirs > max(1.0, folds))
    return Claim(
        "Where the other methods are not rejected, their average tightness is worse than that of BBC and BBC-F.",
        "",
        f"{theirs:.2f} times that of BBC in {len(kept)} cells; BBC-F {folds:.2f}",
        words.apart(holds, theirs - max(1.0, folds), 2),
        holds,
    )


def _inclusion_on_a_par(seen: Seen) -> Claim:
    mine = {name: [seen.rows[place][name].inclusion for place in PLACES] for name in ("bbc", "bbc_f")}
    theirs = {name: [cell.inclusion for cell in _published(name).values()] for name in mine}
    apart = np.subtract(mine["bbc_f"], mine["bbc"])
    # As if both were of other matrices, so that this is rather too much than too little.
    variance = np.sum([np.multiply(shares, np.subtract(1, shares)) for shares in mine.values()])
    chance = 2 * float(np.sqrt(variance / _repetitions(seen))) / len(PLACES)
    holds = bool(abs(apart.mean()) <= PAR_INCLUSION + chance)
    return Claim(
        "BBC-F is on par with BBC in inclusion percentage.",
        f"mean {np.mean(theirs['bbc_f']):.3f}, BBC {np.mean(theirs['bbc']):.3f}",
        f"mean {np.mean(mine['bbc_f']):.3f}, BBC {np.mean(mine['bbc']):.3f}",
        words.par_difference(holds, float(apart.mean()), PAR_INCLUSION, chance),
        holds,
    )


def _tightness_on_a_par(seen: Seen) -> Claim:
    mine = np.array([ratios(seen.rows[place])["bbc_f"] for place in PLACES])
    one, other = _published("bbc_f"), _published("bbc")
    theirs = [one[place].tightness / other[place].tightness for place in PLACES]
    difference = float(mine.mean()) - 1
    chance = 2 * float(mine.std(ddof=1)) / float(np.sqrt(len(mine)))
    holds = abs(difference) <= PAR_RATIO + chance
    return Claim(
        "BBC-F is on par with BBC in tightness: a minimal drop in estimation quality.",
        f"{np.mean(theirs):.2f} times",
        f"{mine.mean():.2f} times",
        words.par_difference(holds, difference, PAR_RATIO, chance),
        holds,
    )


def _repetitions(seen: Seen) -> int:
    return next(iter(seen.rows[PLACES[0]].values())).repetitions


def _published(name: str) -> dict[Place, Cell]:
    return {place: cell for place, row in TABLE_2.items() if (cell := row[name]) is not None}


def _published_places(name: str) -> tuple[Place, ...]:
    return tuple(_published(name))


def _performance(group: str) -> Callable[[Seen], Claim]:
    def tested(seen: Seen) -> Claim:
        names = SELECTORS[group]
        ours = true_performance(seen.of_complete(), {group: names})[group]
        published = TRUE_PERFORMANCE[group]
        error = _error_of_performance(seen, names)
        allowed = 2 * error + 0.00005
        difference = ours - published
        turned = group == "best of 75 %" and difference > allowed
        why = f" {words.WHY_TURNED}" if turned else ""
        return Claim(
            f"True performance of what {words.SELECTOR_TITLES[group]} choose.",
            f"{published:.4f}",
            f"{ours:.4f}",
            number_difference(difference, allowed, 4) + why,
            abs(difference) <= allowed,
        )

    return tested


def _error_of_performance(seen: Seen, names: Sequence[str]) -> float:
    """Standard error of the difference of two simulations, ours and theirs, of a mean over complete settings."""
    spreads = [row[names[-1]].truth_spread for row in seen.of_complete()]
    n = seen.of_complete()[0][names[-1]].repetitions
    return float(np.sqrt(np.mean(np.square(spreads)) / len(spreads) * (1 / n + 1 / REPETITIONS)))


def _performance_order(seen: Seen) -> Claim:
    ours = true_performance(seen.of_complete(), SELECTORS)
    first, second, third = (ours[group] for group in TRUE_PERFORMANCE)
    error = max(_error_of_performance(seen, names) for names in SELECTORS.values())
    holds = beyond(first - max(second, third), 2 * error)
    return Claim(
        "BBC and BBC-F choose better configurations than all competitors.",
        " > ".join(f"{value:.4f}" for value in TRUE_PERFORMANCE.values()),
        f"{first:.4f}, {second:.4f}, {third:.4f}",
        order_difference(holds, first - max(second, third), 2 * error),
        holds,
    )


def cells_claim(seen: Seen, name: str) -> Claim:
    """A method's column of table 2, cell by cell."""
    inside = {"inclusion": 0, "tightness": 0}
    mine: list[Cell] = []
    published = _published(name)
    perfect = False
    for place, cell in published.items():
        ours = seen.as_published[place][name]
        perfect |= ours.bounds > seen.rows[place][name].bounds
        mine.append(Cell(ours.inclusion, ours.tightness))
        inside["inclusion"] += cell.agrees(ours, REPETITIONS)
        spread = ours.standard_error * np.sqrt(ours.bounds)
        allowed = 0.005 + 2 * spread * np.sqrt(1 / ours.bounds + 1 / REPETITIONS) if ours.bounds else 0.0
        inside["tightness"] += bool(abs(ours.tightness - cell.tightness) <= allowed)
    total = len(published)
    holds = total - min(inside.values()) <= binom.ppf(1 - ALPHA, total, 0.05)
    why = words.WHY_PERFECT if perfect else words.WHY_BY_FOLDS if name == "bbc" else ""
    if name.startswith("hanley_mcneil"):
        why = words.WHY_HANLEY_MCNEIL
    return Claim(
        f"Table 2, {words.METHOD_TITLES[name]}: inclusion (tightness).",
        _mean_cell(list(published.values())),
        _mean_cell(mine),
        words.cells_difference((inside["inclusion"], total), (inside["tightness"], total), bool(holds), why),
        bool(holds),
    )


def _mean_cell(cells: Sequence[Cell]) -> str:
    inclusion, tightness = (float(np.nanmean([cell[k] for cell in cells])) for k in (0, 1))
    return f"mean {inclusion:.2f} ({tightness:.2f})"


_CLAIMS: tuple[tuple[Callable[[Seen], Claim], tuple[Place, ...], tuple[str, ...]], ...] = (
    (_dominate, COMPLETE, tuple(METHODS)),
    (_accurate, PLACES, SELECTORS["all rows"]),
    (_never_rejected, PLACES, ("bbc",)),
    (_inclusion_on_a_par, PLACES, ("bbc", "bbc_f")),
    (_tightness_on_a_par, PLACES, ("bbc", "bbc_f")),
    (_naive, COMPLETE, ("naive_bootstrap",)),
    (_often_rejected, COMPLETE, OTHERS),
    (_failing, PLACES, OTHERS),
    (_worse_tightness, COMPLETE, ("bbc", "bbc_f", *OTHERS)),
    *((_performance(group), COMPLETE, SELECTORS[group]) for group in TRUE_PERFORMANCE),
    (_performance_order, COMPLETE, tuple(name for names in SELECTORS.values() for name in names)),
)

"""The article's claims about searches on real tables (sections 6.2 and 7), and how results judge them.

A claim is judged only where a study has the numbers of rows and of repeats that it is about. The tables and the
space are the study's own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout_papers.engine.claims import (
    AtMost,
    Claim,
    ClaimTest,
    ClaimVerdict,
    Finding,
    Judge,
    Mean,
    Ordered,
    apart,
    judged_claims,
    order,
    verdict,
)
from heldout_papers.search.means import SearchMeans, mean_over_tables
from heldout_papers.search.result import RepeatedProtocol, SearchStudy
from heldout_papers.search.study import FROM_FIFTY

ALL = (20, 40, 60, 80, 100, 500)
SMALL, LARGE = (20, 40, 60, 80, 100), 500
CV, TT, NCV, BCED, LATE = (RepeatedProtocol(name) for name in ("cv", "tt", "nested_cv", "bced", "bced_late"))
BBC, BBC10, BBC4 = RepeatedProtocol("bbc"), RepeatedProtocol("bbc", 10), RepeatedProtocol("bbc", 4)
SLIGHT = 0.033
"""A bias that the article calls slight, of NCV on one table."""
SAME = 0.01
"""The largest difference of biases that counts as identical or similar here; the article gives no number."""
TYPICAL, MOST = (2.0, 5.0), 10.0
DROPPED_EARLY = 0.95
SUFFICES = 0.75
"""The part of ten repeats' narrowing from which on four suffice here; the article gives no number."""

BOTH = (20, 100)
"""Of the claims about intervals."""

ClaimParts = tuple[Sequence[int], Callable[[SearchMeans], Any], Judge | None]
"""The N of a claim, its number and the judge."""


def search_claims(study: SearchStudy) -> tuple[Claim, ...]:
    """Every claim that a study can test, in the order of the article; none about another score than the AUC."""
    if study.metric != "roc_auc":
        return ()
    return judged_claims(_TESTS, SearchMeans(study))


def _test(
    text: str,
    rows: Sequence[int],
    number: Callable[[SearchMeans], Any],
    judge: Judge | None = None,
    *,
    repeats: int = 1,
) -> ClaimTest[SearchMeans]:
    """A claim about some N, all of which a study must have, and about so many repeats."""
    return ClaimTest(text, lambda means: means.has(rows, repeats), number, judge)


@dataclass(frozen=True)
class _Mostly:
    """Numbers are above 0 in most places; open where they are not, and nowhere otherwise beyond chance.

    A claim that allows for exceptions needs a majority that as many tosses of a coin do not have by chance.
    """

    what: str  # "it is conservative"
    with_ties: bool = False  # Whether 0 counts too
    allows_against: bool = True  # Whether it can hold although a number is below 0 by two standard errors
    lists: bool = False  # Whether our figure is each ``where``, and not how many places

    def finding(self, number: Sequence[Mean]) -> Finding:
        known = [mean for mean in number if self.lists or not np.isnan(mean.value)]
        so = sum(mean.value > 0 or (self.with_ties and mean.value == 0) for mean in known)
        ours = ", ".join(mean.where for mean in known) if self.lists else f"{so} of {len(known)} tables and N"
        return Finding(ours, self._verdict(so, len(known), sum(mean.is_below(2) for mean in known)))

    def _verdict(self, so: int, n: int, against: int) -> ClaimVerdict:
        where, sure = f"{self.what} in {so} of {n}", "by more than two standard errors"
        if so == n:
            return verdict(True, where)
        lead, chance = so - n / 2, float(np.sqrt(n)) if self.allows_against else 0.0  # two standard deviations
        if not against and lead <= chance:
            return verdict(None, f"{where}, and in none of the others is it otherwise {sure}")
        why = f"{where}; {against} of the others are against it {sure}"
        if self.allows_against and abs(lead) <= chance and against <= n / 2:
            return verdict(None, f"{why}, and a coin may fall so")
        return verdict(lead > chance and (self.allows_against or not against), why)


def _biased(protocol: RepeatedProtocol, rows: Sequence[int], sign: int) -> ClaimParts:
    """The bias, on average over tables, is on one side of 0 with each N."""

    def number(means: SearchMeans) -> list[Mean]:
        biases = [means.bias(protocol, n) for n in rows]
        return [
            (mean if sign > 0 else -mean).at(f"{mean.value:+.3f} (N = {n})")
            for n, mean in zip(rows, biases, strict=True)
        ]

    side = "above" if sign > 0 else "below"
    return rows, number, _Mostly(f"the bias is {side} 0", allows_against=False, lists=True)


def _excess(rows: int, sign: int) -> ClaimParts:
    """BBC's coverage is above, or below, the level on average over the levels."""

    def number(means: SearchMeans) -> Finding:
        mean, covered = means.excess(BBC, rows), 100 * means.coverage(BBC, rows)[-2]
        ours = f"{mean.value:+.3f} on average over levels; of 95 % intervals {covered:.0f} % hold the truth"
        return Finding(ours, order(sign * mean.value, 2 * mean.error))

    return (rows,), number, None


def _better_calibrated(better: RepeatedProtocol) -> ClaimParts:
    """Coverage is nearer to the level than that of BBC, with most N."""

    def number(means: SearchMeans) -> list[Mean]:
        pairs = {n: (means.miscalibration(better, n), means.miscalibration(BBC, n)) for n in BOTH}
        return [
            (other - mine).at(f"{mine.value:.3f} for {other.value:.3f} (N = {n})")
            for n, (mine, other) in pairs.items()
        ]

    return BOTH, number, _Mostly("coverage is nearer to the level", lists=True)


def _narrower(better: RepeatedProtocol) -> ClaimParts:
    return BOTH, lambda means: [-means.narrowing(better, BBC, n) for n in BOTH], _Mostly("they are narrower")


def _loses_up_to(share: float, rows: Sequence[int], *, loses: bool) -> ClaimParts:
    """What BCED's winner loses of CVT's performance, where it loses something.

    ``loses``: whether the claim is that it does, so that searches in which nothing was lost do not test it.
    """
    judge = AtMost(share, f"{share:g}")

    def number(means: SearchMeans) -> Finding:
        places = [place for n in rows for place in means.places(n)]
        lost = [-means.relative(BCED, CV, place).at(f"{place.table}, N = {place.rows}") for place in places]
        lost = [mean for mean in lost if mean.value > 0]  # a gain is no loss
        if lost or not loses:
            return judge.finding(lost or [Mean(0.0, where="nowhere")])
        return Finding("nothing lost", ClaimVerdict(None, "Not tested: nothing was lost.", False), judge.published)

    return rows, number, None


def _worst_but_cv(means: SearchMeans) -> tuple[Mean, Mean, Mean]:
    others = (means.size_of_bias(one, ALL).at(f"of {one.title}") for one in (NCV, BBC, BCED))
    return apart(max(others, key=lambda mean: mean.value), means.size_of_bias(TT, ALL).at("of TT"))


def _late_loses_less(means: SearchMeans) -> tuple[Mean, Mean, Mean]:
    late, first = (-means.relative_over_tables(one, CV, 100) for one in (LATE, BCED))
    gap = means.relative_over_tables(LATE, BCED, 100)
    return late.at(f"lost from {FROM_FIFTY} predictions on"), first.at("from the first fold on"), gap


def _dropped_early(means: SearchMeans) -> Finding:
    places = [place for n in SMALL for place in means.places(n)]
    early = np.array([mean_over_tables([means.study.of("early", BCED, place)]).value for place in places])
    so = int((early > DROPPED_EARLY).sum())
    why = f"more than 95 % are dropped after two folds in {so} of {len(early)}"
    ours = f"{100 * float(np.median(early)):.0f} % (median of tables and N)"
    return Finding(ours, verdict(so > len(early) / 2, why), "> 95 %")


def _speed_ups(means: SearchMeans) -> dict[str, float]:
    return {place.table: means.speed_up(BCED, place) for place in means.places(LARGE)}


def _typical_speed(means: SearchMeans) -> Finding:
    ours = round(float(np.median(list(_speed_ups(means).values()))), 1)
    nearest = float(np.clip(ours, *TYPICAL))
    found = verdict(True, "it is between") if ours == nearest else _beside(False, ours - nearest)
    return Finding(f"{ours:.1f} (median of tables)", found, "2 to 5")


def _greatest_speed(means: SearchMeans) -> Finding:
    table, speed = max(_speed_ups(means).items(), key=lambda one: one[1])
    return Finding(f"{speed:.1f} ({table})", _beside(speed >= 0.9 * MOST, speed - MOST), "10")


def _beside(holds: bool, difference: float) -> ClaimVerdict:
    """How far our number is from the article's, which is for other tables."""
    return verdict(holds, f"ours is {difference:+.1f} from it, on other tables")


def _four_suffice(means: SearchMeans) -> Finding:
    parts = {n: _part_of_narrowing(means, n) for n in BOTH}
    shown = {n: f"{100 * part.value:.0f} ± {100 * part.error:.0f} %" for n, part in parts.items()}
    ours = f"{shown[20]} of the narrowing by ten (N = 20), {shown[100]} (N = 100)"
    least = min(parts.values(), key=lambda part: part.value)
    why = f"from {100 * SUFFICES:.0f} % on it counts as enough, a limit that is ours"
    if abs(least.value - SUFFICES) <= 2 * least.error:
        return Finding(ours, verdict(None, f"{why}, and chance may have put it on either side"))
    return Finding(ours, verdict(least.value >= SUFFICES, why))


def _part_of_narrowing(means: SearchMeans, rows: int) -> Mean:
    """What four repeats narrow intervals by, as a share of what ten do, and its jackknife error."""
    one, four, ten = (np.concatenate(means.widths(protocol, rows)) for protocol in (BBC, BBC4, BBC10))
    n = len(one)

    def part(kept: Any) -> float:
        by_ten = float((one[kept] - ten[kept]).mean())
        return float((one[kept] - four[kept]).mean()) / by_ten if by_ten else float("nan")

    without = np.array([part(np.arange(n) != k) for k in range(n)])
    return Mean(part(np.arange(n)), float(np.sqrt((n - 1) * without.var())), n)


_TESTS: tuple[ClaimTest[SearchMeans], ...] = (
    _test("CVT is optimistically biased for N up to 100.", *_biased(CV, SMALL, 1)),
    _test(
        "The bias of CVT tends to 0 as N increases (mean size over tables).", (20, LARGE),
        lambda means: apart(*(means.size_of_bias(CV, [n]).at(f"with N = {n}") for n in (LARGE, 20))), Ordered(),
    ),
    _test("TT over-estimates for N = 20.", *_biased(TT, (20,), 1)),
    _test("TT over-corrects for N of 60 and more.", *_biased(TT, (60, 80, 100, LARGE), -1)),
    _test(
        "TT has the largest bias of all but CVT (mean size over tables and N).", ALL, _worst_but_cv, Ordered()
    ),
    _test(
        "NCV and BBC-CV have low bias for every N, on average over tables.", ALL,
        lambda means: [means.bias(one, n).at(f"{one.title}, N = {n}") for one in (NCV, BBC) for n in ALL],
        AtMost(SLIGHT),
    ),
    _test(
        "BBC-CV is mainly conservative.", ALL,
        lambda means: [-mean_over_tables([errors]) for n in ALL for errors in means.errors(BBC, n)],
        _Mostly("it is conservative"),
    ),
    _test(
        "BCED-CV has a larger bias than BBC-CV for N up to 100 (mean size).", SMALL,
        lambda means: apart(*(means.size_of_bias(one, SMALL).at(f"of {one.title}") for one in (BBC, BCED))),
        Ordered(),
    ),
    _test(
        "With N = 500 the bias of BCED-CV is that of BBC-CV and NCV.", (LARGE,),
        lambda means: [means.difference(BCED, one, LARGE).at(f"less {one.title}") for one in (BBC, NCV)],
        AtMost(SAME),
    ),
    _test(
        "BCED-CV's winner loses up to 9.05 % of CVT's performance for N up to 100.",
        *_loses_up_to(0.0905, SMALL, loses=True),
    ),
    _test("With N = 500 it loses next to nothing, 1.4 % at most.", *_loses_up_to(0.014, (LARGE,), loses=False)),
    _test("For N up to 100 more than 95 % are mostly dropped in the first couple of folds.", SMALL, _dropped_early),
    _test("BCED-CV typically trains 2 to 5 times fewer models than CVT (N = 500).", (LARGE,), _typical_speed),
    _test("The speed-up of BCED-CV is up to 10 (N = 500).", (LARGE,), _greatest_speed),
    _test(
        "Dropping from 50 predictions on loses less performance (N = 100).", (100,), _late_loses_less, Ordered()
    ),
    _test(
        "With N of 40 and more ten repeats return an equally good or better model than BBC-CV, and so than NCV.",
        ALL, lambda means: [means.relative(BBC10, BBC, place) for n in ALL[1:] for place in means.places(n)],
        _Mostly("it is as good or better", with_ties=True), repeats=10,
    ),
    _test(
        "Ten repeats leave the bias of BBC-CV as it is.", ALL,
        lambda means: [means.difference(BBC10, BBC, n).at(f"N = {n}") for n in ALL], AtMost(SAME), repeats=10,
    ),
    _test("The intervals of BBC-CV are conservative for N = 20.", *_excess(20, 1)),
    _test("They are still conservative for N = 100.", *_excess(100, 1)),
    _test("They are no longer conservative for N = 500.", *_excess(LARGE, -1)),
    _test(
        "They are better calibrated with more rows (N = 100 than 20).", BOTH,
        lambda means: apart(
            means.miscalibration(BBC, 100).at("from the level with N = 100"),
            means.miscalibration(BBC, 20).at("with N = 20"),
        ),
        Ordered(),
    ),
    _test("Ten repeats make the intervals narrower (N of 20 and 100).", *_narrower(BBC10), repeats=10),
    _test(
        "Ten repeats bring coverage nearer to the level (N of 20 and 100).", *_better_calibrated(BBC10), repeats=10
    ),
    _test("Dropping makes the intervals narrower (N of 20 and 100).", *_narrower(BCED)),
    _test("Dropping brings coverage nearer to the level (N of 20 and 100).", *_better_calibrated(BCED)),
    _test(
        "Intervals are narrower with more rows.", (20, LARGE),
        lambda means: apart(*(means.width(BBC, n).at(f"with N = {n}") for n in (LARGE, 20))), Ordered(),
    ),
    _test("3 or 4 repeats suffice for the interval's width (N of 20 and 100).", BOTH, _four_suffice, repeats=10),
)  # fmt: skip

"""The article's claims about searches on real tables (sections 6.2 and 7), and how results judge them.

A claim is judged only where a study has the numbers of rows and of repeats that it is about. The tables and the
space are the study's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from heldout_papers.engine.claims import (
    Claim,
    ClaimTest,
    ClaimVerdict,
    Finding,
    judged_claims,
    majority,
    order,
    verdict,
)
from heldout_papers.search.means import Mean, SearchMeans, mean_over_tables
from heldout_papers.search.result import RepeatedProtocol, SearchStudy
from heldout_papers.search.study import FROM_FIFTY

ALL = (20, 40, 60, 80, 100, 500)
SMALL, LARGE = (20, 40, 60, 80, 100), 500
CV, TT, NCV, BCED, LATE = (RepeatedProtocol(name) for name in ("cv", "tt", "nested_cv", "bced", "bced_late"))
BBC, BBC10, BBC4 = RepeatedProtocol("bbc"), RepeatedProtocol("bbc", 10), RepeatedProtocol("bbc", 4)
PROTOCOL_TITLES = {
    "cv": "CVT",
    "tt": "TT",
    "nested_cv": "NCV",
    "bbc": "BBC-CV",
    "bced": "BCED-CV",
    "bced_late": "BCED-CV late",
}
"""The article's names, except for the last."""
SLIGHT = 0.033
"""A bias that the article calls slight, of NCV on one table."""
SAME = 0.01
"""The largest difference of biases that counts as identical or similar here; the article gives no number."""
WORST_LOSS_SMALL, WORST_LOSS_LARGE = 0.0905, 0.014
TYPICAL, MOST = (2.0, 5.0), 10.0
DROPPED_EARLY = 0.95
SUFFICES = 0.75
"""The part of ten repeats' narrowing from which on four suffice here; the article gives no number."""

Judge = Callable[[SearchMeans], Finding]
Size = tuple[str, Mean]
"""Where a mean is found, and the mean."""


def search_claims(study: SearchStudy) -> tuple[Claim, ...]:
    """Every claim that a study can test, in the order of the article."""
    return judged_claims(_TESTS, SearchMeans(study))


def _test(text: str, rows: Sequence[int], judge: Judge, repeats: int = 1) -> ClaimTest[SearchMeans]:
    """A claim about some N, all of which a study must have, and about so many repeats."""
    return ClaimTest(text, judge, lambda means: means.has(rows, repeats))


def _signs(protocol: RepeatedProtocol, rows: Sequence[int], sign: int) -> Judge:
    """The bias, on average over tables, is on one side of 0 with each N."""

    def judge(means: SearchMeans) -> Finding:
        biases = [means.bias(protocol, n) for n in rows]
        so = sum(sign * mean.value > 0 for mean in biases)
        against = sum(sign * mean.value < -2 * mean.error for mean in biases)
        ours = ", ".join(f"{mean.value:+.3f} (N = {n})" for n, mean in zip(rows, biases, strict=True))
        side = f"the bias is {'above' if sign > 0 else 'below'} 0"
        return Finding(ours, majority(so, len(biases), against, side, allows_against=False))

    return judge


def _order(pair: Callable[[SearchMeans], tuple[Size, Size, Mean]]) -> Judge:
    """The second of two is more than the first; the last of ``pair`` is their difference."""

    def judge(means: SearchMeans) -> Finding:
        (first, less), (second, more), gap = pair(means)
        ours = f"{round(less.value, 4) + 0.0:.4f} {first}, {round(more.value, 4) + 0.0:.4f} {second}"  # no -0
        return Finding(ours, order(gap.value, 2 * gap.error))

    return judge


def _apart(less: Size, more: Size) -> tuple[Size, Size, Mean]:
    """Two means of other sub-samples, and their difference."""
    return less, more, _gap(less[1], more[1])


def _gap(less: Mean, more: Mean) -> Mean:
    return Mean(more.value - less.value, float(np.hypot(less.error, more.error)))


def _small(sizes: Callable[[SearchMeans], Sequence[Size]], allowed: float, published: str = "") -> Judge:
    """No number is more than the article's words allow, on either side of 0."""

    def judge(means: SearchMeans) -> Finding:
        where, worst = max(sizes(means), key=lambda one: abs(one[1].value))
        size, chance = abs(worst.value), 2 * worst.error
        holds = size <= allowed or (None if size <= allowed + chance else False)
        why = f"up to {allowed:g} is allowed, give or take {chance:.4f} by chance"
        return Finding(f"{worst.value:+.4f} at most ({where})", verdict(holds, why), published)

    return judge


def _mostly(places: Callable[[SearchMeans], Sequence[Mean]], what: str, *, with_ties: bool = False) -> Judge:
    """A number is above 0 for most tables and N."""

    def judge(means: SearchMeans) -> Finding:
        known = [mean for mean in places(means) if not np.isnan(mean.value)]
        so = sum(mean.value > 0 or (with_ties and mean.value == 0) for mean in known)
        against = sum(mean.value < -2 * mean.error for mean in known)
        return Finding(f"{so} of {len(known)} tables and N", majority(so, len(known), against, what))

    return judge


def _shrinks(means: SearchMeans) -> tuple[Size, Size, Mean]:
    return _apart(
        (f"with N = {LARGE}", means.size_of_bias(CV, [LARGE])), ("with N = 20", means.size_of_bias(CV, [20]))
    )


def _worst_but_cv(means: SearchMeans) -> tuple[Size, Size, Mean]:
    others = {one.protocol: means.size_of_bias(one, ALL) for one in (NCV, BBC, BCED)}
    next_worst = max(others, key=lambda name: others[name].value)
    return _apart((f"of {PROTOCOL_TITLES[next_worst]}", others[next_worst]), ("of TT", means.size_of_bias(TT, ALL)))


def _bced_less_exact(means: SearchMeans) -> tuple[Size, Size, Mean]:
    return _apart(("of BBC-CV", means.size_of_bias(BBC, SMALL)), ("of BCED-CV", means.size_of_bias(BCED, SMALL)))


def _biases(means: SearchMeans) -> list[Size]:
    return [(f"{PROTOCOL_TITLES[one.protocol]}, N = {n}", means.bias(one, n)) for one in (NCV, BBC) for n in ALL]


def _bced_beside(means: SearchMeans) -> list[Size]:
    return [
        (f"less {PROTOCOL_TITLES[other.protocol]}", means.difference(BCED, other, LARGE)) for other in (BBC, NCV)
    ]


def _repeats_beside(means: SearchMeans) -> list[Size]:
    return [(f"N = {n}", means.difference(BBC10, BBC, n)) for n in ALL]


def _losses(rows: Sequence[int], means: SearchMeans) -> list[Size]:
    lost = [
        (f"{place.table}, N = {place.rows}", -means.relative(BCED, CV, place))
        for n in rows
        for place in means.places(n)
    ]
    # A gain is no loss.
    return [(where, mean) for where, mean in lost if mean.value > 0] or [("nowhere", Mean(0.0, 0.0))]


def _dropped_early(means: SearchMeans) -> Finding:
    early = np.array(
        [mean_over_tables([means.study.of("early", BCED, place)]).value for n in SMALL for place in means.places(n)]
    )
    so = int((early > DROPPED_EARLY).sum())
    why = f"more than 95 % are dropped after two folds in {so} of {len(early)}"
    ours = f"{100 * float(np.median(early)):.0f} % (median of tables and N)"
    return Finding(ours, verdict(so > len(early) / 2, why), "> 95 %")


def _speed_ups(means: SearchMeans) -> dict[str, float]:
    return {place.table: means.speed_up(BCED, place) for place in means.places(LARGE)}


def _typical_speed(means: SearchMeans) -> Finding:
    ours = round(float(np.median(list(_speed_ups(means).values()))), 1)
    nearest = float(np.clip(ours, *TYPICAL))
    between = ours == nearest
    found = verdict(True, "it is between") if between else _beside(False, ours - nearest)
    return Finding(f"{ours:.1f} (median of tables)", found, "2 to 5")


def _greatest_speed(means: SearchMeans) -> Finding:
    found = _speed_ups(means)
    table = max(found, key=lambda name: found[name])
    return Finding(f"{found[table]:.1f} ({table})", _beside(found[table] >= 0.9 * MOST, found[table] - MOST), "10")


def _beside(holds: bool, difference: float) -> ClaimVerdict:
    """How far our number is from the article's, which is for other tables."""
    return verdict(holds, f"ours is {difference:+.1f} from it, on other tables")


def _late_loses_less(means: SearchMeans) -> tuple[Size, Size, Mean]:
    late, first = (-means.relative_over_tables(one, CV, 100) for one in (LATE, BCED))
    gap = means.relative_over_tables(LATE, BCED, 100)
    return (f"lost from {FROM_FIFTY} predictions on", late), ("from the first fold on", first), gap


def _winners_of_repeats(means: SearchMeans) -> list[Mean]:
    return [means.relative(BBC10, BBC, place) for n in ALL[1:] for place in means.places(n)]


def _excess(rows: int, sign: int, means: SearchMeans) -> Finding:
    """BBC's coverage is above, or below, the level on average over the levels."""
    mean, covered = means.excess(BBC, rows), means.coverage(BBC, rows)
    ours = f"{mean.value:+.3f} on average over levels; of 95 % intervals {100 * covered[-2]:.0f} % hold the truth"
    return Finding(ours, order(sign * mean.value, 2 * mean.error))


def _calibration(better: RepeatedProtocol, worse: RepeatedProtocol) -> Judge:
    """Coverage is nearer to the level, with most N."""
    rows = (20, 100)

    def judge(means: SearchMeans) -> Finding:
        pairs = [(means.miscalibration(better, n), means.miscalibration(worse, n)) for n in rows]
        gains = [_gap(mine, other) for mine, other in pairs]
        so = sum(gain.value > 0 for gain in gains)
        against = sum(gain.value < -2 * gain.error for gain in gains)
        ours = ", ".join(
            f"{mine.value:.3f} for {other.value:.3f} (N = {n})"
            for n, (mine, other) in zip(rows, pairs, strict=True)
        )
        return Finding(ours, majority(so, len(pairs), against, "coverage is nearer to the level"))

    return judge


def _narrower(better: RepeatedProtocol, worse: RepeatedProtocol) -> Judge:
    def places(means: SearchMeans) -> list[Mean]:
        return [-means.narrowing(better, worse, n) for n in (20, 100)]

    return _mostly(places, "they are narrower")


def _narrows_with_rows(means: SearchMeans) -> tuple[Size, Size, Mean]:
    return _apart((f"with N = {LARGE}", means.width(BBC, LARGE)), ("with N = 20", means.width(BBC, 20)))


def _better_with_rows(means: SearchMeans) -> tuple[Size, Size, Mean]:
    few, more = means.miscalibration(BBC, 20), means.miscalibration(BBC, 100)
    return _apart(("from the level with N = 100", more), ("with N = 20", few))


def _four_suffice(means: SearchMeans) -> Finding:
    parts = []
    for n in (20, 100):
        one, four, ten = (means.width(protocol, n).value for protocol in (BBC, BBC4, BBC10))
        parts.append((one - four) / (one - ten) if one != ten else float("nan"))
    ours = f"{100 * parts[0]:.0f} % of the narrowing by ten (N = 20), {100 * parts[1]:.0f} % (N = 100)"
    return Finding(ours, verdict(min(parts) >= SUFFICES, f"from {100 * SUFFICES:.0f} % on it counts as enough"))


def _mainly_conservative(means: SearchMeans) -> list[Mean]:
    return [-mean_over_tables([errors]) for n in ALL for errors in means.errors(BBC, n)]


_TESTS: tuple[ClaimTest[SearchMeans], ...] = (
    _test("CVT is optimistically biased for N up to 100.", SMALL, _signs(CV, SMALL, 1)),
    _test("The bias of CVT tends to 0 as N increases (mean size over tables).", (20, LARGE), _order(_shrinks)),
    _test("TT over-estimates for N = 20.", (20,), _signs(TT, (20,), 1)),
    _test("TT over-corrects for N of 60 and more.", (60, 80, 100, LARGE), _signs(TT, (60, 80, 100, LARGE), -1)),
    _test("TT has the largest bias of all but CVT (mean size over tables and N).", ALL, _order(_worst_but_cv)),
    _test("NCV and BBC-CV have low bias for every N, on average over tables.", ALL, _small(_biases, SLIGHT)),
    _test("BBC-CV is mainly conservative.", ALL, _mostly(_mainly_conservative, "it is conservative")),
    _test("BCED-CV has a larger bias than BBC-CV for N up to 100 (mean size).", SMALL, _order(_bced_less_exact)),
    _test("With N = 500 the bias of BCED-CV is that of BBC-CV and NCV.", (LARGE,), _small(_bced_beside, SAME)),
    _test(
        "BCED-CV's winner loses up to 9.05 % of CVT's performance for N up to 100.",
        SMALL, _small(partial(_losses, SMALL), WORST_LOSS_SMALL, "0.0905"),
    ),
    _test(
        "With N = 500 it loses next to nothing, 1.4 % at most.",
        (LARGE,), _small(partial(_losses, (LARGE,)), WORST_LOSS_LARGE, "0.014"),
    ),
    _test("For N up to 100 more than 95 % are mostly dropped in the first couple of folds.", SMALL, _dropped_early),
    _test("BCED-CV typically trains 2 to 5 times fewer models than CVT (N = 500).", (LARGE,), _typical_speed),
    _test("The speed-up of BCED-CV is up to 10 (N = 500).", (LARGE,), _greatest_speed),
    _test("Dropping from 50 predictions on loses less performance (N = 100).", (100,), _order(_late_loses_less)),
    _test(
        "With N of 40 and more ten repeats return an equally good or better model than BBC-CV, and so than NCV.",
        ALL, _mostly(_winners_of_repeats, "it is as good or better", with_ties=True), 10,
    ),
    _test("Ten repeats leave the bias of BBC-CV as it is.", ALL, _small(_repeats_beside, SAME), 10),
    _test("The intervals of BBC-CV are conservative for N = 20.", (20,), partial(_excess, 20, 1)),
    _test("They are still conservative for N = 100.", (100,), partial(_excess, 100, 1)),
    _test("They are no longer conservative for N = 500.", (LARGE,), partial(_excess, LARGE, -1)),
    _test("They are better calibrated with more rows (N = 100 than 20).", (20, 100), _order(_better_with_rows)),
    _test("Ten repeats make the intervals narrower (N of 20 and 100).", (20, 100), _narrower(BBC10, BBC), 10),
    _test(
        "Ten repeats bring coverage nearer to the level (N of 20 and 100).", (20, 100), _calibration(BBC10, BBC), 10
    ),
    _test("Dropping makes the intervals narrower (N of 20 and 100).", (20, 100), _narrower(BCED, BBC)),
    _test("Dropping brings coverage nearer to the level (N of 20 and 100).", (20, 100), _calibration(BCED, BBC)),
    _test("Intervals are narrower with more rows.", (20, LARGE), _order(_narrows_with_rows)),
    _test("3 or 4 repeats suffice for the interval's width (N of 20 and 100).", (20, 100), _four_suffice, 10),
)  # fmt: skip

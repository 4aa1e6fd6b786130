"""What the article says of intervals on real tables (section 5, table 3), and what a study of ours says.

Only tables of the article count, with its numbers of training rows. What is searched on them is another space than
the article's, so that its figures need not be ours where the claim is about the methods.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from heldout_papers.claims import Claim, beyond
from heldout_papers.claims_words import order_difference
from heldout_papers.intervals import tables_words as table_words
from heldout_papers.intervals import words as words
from heldout_papers.intervals.inclusion import SIGNIFICANCE, Inclusion, average_ranks, ratios
from heldout_papers.intervals.methods import METHODS, OTHERS, SELECTORS
from heldout_papers.intervals.published import Cell, rejections
from heldout_papers.intervals.tables_published import (
    AVERAGE_RANKS,
    LEVEL,
    REPETITIONS,
    TABLE_3,
    TRUE_PERFORMANCE,
    WITHOUT_LABELS,
)
from heldout_papers.intervals.tables_result import IntervalsOnTables

LEAST_REPETITIONS, LEAST_TABLES = 10, 3
OFTEN = 0.25
"""The share of cells from which on methods are often rejected here; the article gives no number."""
PAR_INCLUSION, PAR_RATIO = 0.02, 0.2
"""Up to where two methods are on a par here; the article gives no number."""
ALPHA = 0.01

Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class Seen:
    """The part of a study that is the article's.

    Attributes
    ----------
    rows : dict of (table, training rows) to dict of method to Inclusion
    truths : dict of (table, training rows) to ndarray of shape (repetitions, methods)
        What each method's choice was worth, NaN where the method has no bound.
    methods : tuple of str
    """

    rows: Mapping[Key, Mapping[str, Inclusion]]
    truths: Mapping[Key, NDArray[np.float64]]
    methods: tuple[str, ...]

    @classmethod
    def of(cls, study: IntervalsOnTables) -> Seen:
        """What of a study is the article's, and large enough."""
        usual = study.confidence_level == LEVEL and study.repetitions >= LEAST_REPETITIONS
        places = {(place.table, place.train_rows): n for n, place in enumerate(study.places)}
        mine = {key: n for key, n in places.items() if key in TABLE_3} if usual else {}
        columns = {key: study.columns[n] for key, n in mine.items()}
        truths = {key: np.where(np.isnan(each["low"]), np.nan, each["truth"]) for key, each in columns.items()}
        return cls({key: study.inclusions[n] for key, n in mine.items()}, truths, study.methods)

    def has(self, methods: Sequence[str]) -> bool:
        """Whether a claim about these methods can be tested."""
        return len(self.rows) >= LEAST_TABLES and set(methods) <= set(self.methods)

    def published(self, name: str) -> dict[Key, Cell]:
        """A method's cells of the tables that were studied."""
        return {key: cell for key in self.rows if (cell := TABLE_3[key][name]) is not None}


def tables_claims(study: IntervalsOnTables) -> tuple[Claim, ...]:
    """Every claim that a study can test."""
    seen = Seen.of(study)
    tested = [make(seen) for make, methods in _CLAIMS if seen.has(methods)]
    columns = [column_claim(seen, name) for name in METHODS if seen.has((name,)) and seen.published(name)]
    return (*tested, *columns)


def _dominate(seen: Seen) -> Claim:
    means, n = average_ranks([[row[name] for name in METHODS] for row in seen.rows.values()], LEVEL)
    mine = dict(zip(METHODS, means, strict=True))
    theirs = f"{AVERAGE_RANKS['bbc']:.1f} and {AVERAGE_RANKS['bbc_f']:.1f}, then MABT {AVERAGE_RANKS['mabt']:.1f}"
    text = "BBC and BBC-F dominate all other methods on real tables (average ranks)."
    if not n:
        return Claim(text, theirs, "no table has all methods", table_words.NO_COMPLETE_TABLE, False)
    next_best = min((name for name in METHODS if name not in SELECTORS["all rows"]), key=lambda name: mine[name])
    worse = max(mine["bbc"], mine["bbc_f"])
    return Claim(
        text,
        theirs,
        f"{mine['bbc']:.1f} and {mine['bbc_f']:.1f}, then {words.METHOD_TITLES[next_best]} {mine[next_best]:.1f} "
        f"({n} tables)",
        words.apart(worse < mine[next_best], mine[next_best] - worse, 1),
        worse < mine[next_best],
    )


def _never_rejected(seen: Seen) -> Claim:
    n, total = sum(row["bbc"].rejected for row in seen.rows.values()), len(seen.rows)
    return Claim(
        "BBC happens to always return non-rejected estimates (real tables).",
        f"0 of {total} tables",
        f"{n} of {total} tables",
        words.rejected_difference(n, total, n == 0, _bar(seen, "it holds where none is")),
        n == 0,
    )


def _naive(seen: Seen) -> Claim:
    cells = [row["naive_bootstrap"] for row in seen.rows.values() if row["naive_bootstrap"].bounds]
    n, total = sum(cell.rejected for cell in cells), len(cells)
    theirs = seen.published("naive_bootstrap")
    return Claim(
        "NB fails to produce accurate intervals, as it ignores the winner's curse (real tables).",
        f"rejected on {rejections(theirs.values(), REPETITIONS, LEVEL)} of {len(theirs)} tables",
        f"rejected on {n} of {total} tables",
        words.rejected_difference(n, total, n == total, _bar(seen, "it holds where all are")),
        n == total,
    )


def _often_rejected(seen: Seen) -> Claim:
    cells = [row[name] for row in seen.rows.values() for name in OTHERS if row[name].bounds]
    n = sum(cell.rejected for cell in cells)
    theirs = [cell for name in OTHERS for cell in seen.published(name).values()]
    return Claim(
        "The other methods often produce significantly different intervals (real tables).",
        f"{rejections(theirs, REPETITIONS, LEVEL)} of {len(theirs)} rejected",
        f"{n} of {len(cells)} rejected",
        words.rejected_difference(
            n, len(cells), n >= OFTEN * len(cells), _bar(seen, f"from {OFTEN:.0%} on counts as often")
        ),
        n >= OFTEN * len(cells),
    )


def _bar(seen: Seen, when: str) -> str:
    """When a claim about rejections holds, and how little is rejected where there are few training sets."""
    n = next(iter(seen.truths.values())).shape[0]
    most = int(binom.ppf(SIGNIFICANCE, n, LEVEL)) - 1  # the largest count whose p value is below
    return when if n >= REPETITIONS else f"{when} ({table_words.power(most, n)})"


def _failing(seen: Seen) -> Claim:
    def share(few: bool) -> float:
        rows = [row for (_, n), row in seen.rows.items() if (n == 50) == few]
        return float(np.mean([row[name].failed for row in rows for name in OTHERS])) if rows else float("nan")

    small, large = share(True), share(False)
    holds = bool(small > large)
    return Claim(
        "The other methods even fail to run, especially on smaller and unbalanced tables.",
        "all on musk; in its files 38% of repetitions with N = 50, 0.3% with N = 500",
        f"{small:.0%} of repetitions with N = 50, {large:.1%} with N = 500",
        words.failing_difference(holds),
        holds,
    )


def _inclusion_on_a_par(seen: Seen) -> Claim:
    mine = {name: float(np.mean([row[name].inclusion for row in seen.rows.values()])) for name in ("bbc", "bbc_f")}
    theirs = {name: float(np.mean([cell.inclusion for cell in seen.published(name).values()])) for name in mine}
    difference = mine["bbc_f"] - mine["bbc"]
    shares = [row[name] for row in seen.rows.values() for name in mine]
    # As if both were of other training sets, so that this is rather too much than too little.
    variance = sum(each.inclusion * (1 - each.inclusion) / each.bounds for each in shares)
    chance = 2 * float(np.sqrt(variance)) / len(seen.rows)
    holds = abs(difference) <= PAR_INCLUSION + chance
    return Claim(
        "BBC-F is on par with BBC in inclusion percentage (real tables).",
        f"mean {theirs['bbc_f']:.3f}, BBC {theirs['bbc']:.3f}",
        f"mean {mine['bbc_f']:.3f}, BBC {mine['bbc']:.3f}",
        words.par_difference(holds, difference, PAR_INCLUSION, chance),
        holds,
    )


def _tightness_on_a_par(seen: Seen) -> Claim:
    """Without musk, where the article's tightness is 0.01 and 0.00."""
    keys = [key for key in seen.rows if key[0] != WITHOUT_LABELS]
    all_of_them = np.array([ratios(seen.rows[key])["bbc_f"] for key in keys])
    mine = float(all_of_them.mean())
    chance = 2 * float(all_of_them.std(ddof=1)) / float(np.sqrt(len(keys)))
    one, other = seen.published("bbc_f"), seen.published("bbc")
    theirs = float(np.mean([one[key].tightness / other[key].tightness for key in keys]))
    holds = abs(mine - 1) <= PAR_RATIO + chance
    return Claim(
        "BBC-F is on par with BBC in tightness (real tables).",
        f"{theirs:.2f} times",
        f"{mine:.2f} times",
        words.par_difference(holds, mine - 1, PAR_RATIO, chance),
        holds,
    )


def _performance_order(seen: Seen) -> Claim:
    """Of repetitions in which all three groups chose, on tables that have such."""
    first, *others = _chosen_by_group(seen)
    gaps = [first - other for other in others]
    least = min(gaps, key=lambda gap: float(_mean_over_tables(gap)))
    mean, error = _mean_over_tables(least), _error_over_tables(least)
    holds = beyond(mean, 2 * error)
    ours = ", ".join(f"{_mean_over_tables(group):.4f}" for group in (first, *others))
    return Claim(
        "BBC and BBC-F choose better configurations than all competitors (real tables).",
        ", ".join(f"{TRUE_PERFORMANCE[group]:.4f}" for group in SELECTORS),
        ours,
        order_difference(holds, mean, 2 * error),
        holds,
    )


def _chosen_by_group(seen: Seen) -> list[NDArray[np.float64]]:
    """(tables, repetitions) of each group: the mean worth of what its methods chose, NaN unless all groups did."""
    stacked = np.stack(list(seen.truths.values()))
    means = []
    for names in SELECTORS.values():
        places = [seen.methods.index(name) for name in names if name in seen.methods]
        mine = stacked[:, :, places]
        chosen = ~np.isnan(mine)
        with np.errstate(invalid="ignore"):
            means.append(np.where(chosen, mine, 0.0).sum(axis=2) / chosen.sum(axis=2))
    everywhere = np.all([~np.isnan(mean) for mean in means], axis=0)
    return [np.where(everywhere, mean, np.nan) for mean in means]


def _mean_over_tables(values: NDArray[np.float64]) -> float:
    """The mean of the tables' means, of tables that have one."""
    means = [row[~np.isnan(row)].mean() for row in values if not np.isnan(row).all()]
    return float(np.mean(means)) if means else float("nan")


def _error_over_tables(values: NDArray[np.float64]) -> float:
    """Of that mean, over other training sets of the same tables."""
    rows = [row[~np.isnan(row)] for row in values]
    rows = [row for row in rows if len(row) > 1]
    return float(np.sqrt(sum(row.var(ddof=1) / len(row) for row in rows)) / len(rows)) if rows else float("nan")


def column_claim(seen: Seen, name: str) -> Claim:
    """A method's column of table 3, cell by cell: the inclusion, as the tightness is one of another space."""
    published = seen.published(name)
    cells = list(published.values())
    inside = sum(cell.agrees(seen.rows[key][name], REPETITIONS) for key, cell in published.items())
    total = len(published)
    holds = bool(total - inside <= binom.ppf(1 - ALPHA, total, 0.05))
    mine = [seen.rows[key][name] for key in published]
    return Claim(
        f"Table 3, {words.METHOD_TITLES[name]}: inclusion (tightness).",
        f"mean {_mean([cell.inclusion for cell in cells])} ({_mean([cell.tightness for cell in cells])})",
        f"mean {_mean([each.inclusion for each in mine])} ({_mean([each.tightness for each in mine])})",
        table_words.column_difference(inside, total, holds),
        holds,
    )


def _mean(values: Sequence[float]) -> str:
    known = [value for value in values if np.isfinite(value)]
    return f"{np.mean(known):.2f}" if known else "-"


_CLAIMS: tuple[tuple[Callable[[Seen], Claim], tuple[str, ...]], ...] = (
    (_dominate, tuple(METHODS)),
    (_never_rejected, ("bbc",)),
    (_naive, ("naive_bootstrap",)),
    (_often_rejected, OTHERS),
    (_failing, OTHERS),
    (_inclusion_on_a_par, ("bbc", "bbc_f")),
    (_tightness_on_a_par, ("bbc", "bbc_f")),
    (_performance_order, tuple(name for names in SELECTORS.values() for name in names)),
)

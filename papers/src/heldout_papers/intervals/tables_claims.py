"""The article's claims about intervals on real tables (section 5, table 3), and how results judge them.

Only tables of the article count, with its numbers of training rows. The space that is searched on them is another
than the article's, so only claims about the methods can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from heldout._text import counted
from heldout_papers.engine.claims import Claim, ClaimTest, Finding, judged_claims, order
from heldout_papers.intervals.claims import (
    ALL_OF_NB,
    BOTH,
    MANY_OF_OTHERS,
    NONE_OF_BBC,
    ArticleRows,
    RejectionClaim,
    dominate,
    failing,
    inclusion_on_a_par,
    table_cells,
    tightness_on_a_par,
)
from heldout_papers.intervals.inclusion import SIGNIFICANCE
from heldout_papers.intervals.methods import METHODS, OTHERS, SELECTORS, TERMS
from heldout_papers.intervals.published import LEVEL, TABLE_3, WITHOUT_LABELS
from heldout_papers.intervals.tables_result import IntervalsOnTables

LEAST_REPETITIONS, LEAST_TABLES = 10, 3
PAR_RATIO = 0.2
"""The largest difference from 1 that counts as on a par; the article gives no number."""


@dataclass(frozen=True, eq=False)
class TableRows(ArticleRows):
    """Tables of table 3."""

    # (repetitions, methods): the truth of each method's choice, NaN where the method has no bound
    truths: Mapping[tuple[str, int], NDArray[np.float64]]
    methods: tuple[str, ...]

    @classmethod
    def of(cls, study: IntervalsOnTables) -> TableRows:
        """The tables of a study that are the article's, if it has enough repetitions."""
        usual = study.confidence_level == LEVEL and study.repetitions >= LEAST_REPETITIONS
        usual = usual and study.metric == "roc_auc"
        places = {(place.table, place.train_rows): n for n, place in enumerate(study.places)}
        mine = {key: n for key, n in places.items() if key in TABLE_3.cells} if usual else {}
        columns = {key: study.columns[n] for key, n in mine.items()}
        truths = {key: np.where(np.isnan(each["low"]), np.nan, each["truth"]) for key, each in columns.items()}
        return cls({key: study.inclusions[n] for key, n in mine.items()}, TABLE_3, truths, study.methods)


def tables_claims(study: IntervalsOnTables) -> tuple[Claim, ...]:
    """Every claim that a study can test."""
    return judged_claims(_TESTS, TableRows.of(study))


def _rejected(claim: RejectionClaim, rows: TableRows) -> Finding:
    """With the largest count that is rejected, where there are few training sets."""
    n = next(iter(rows.truths.values())).shape[0]
    if n >= TABLE_3.repetitions:
        return claim.finding(rows)
    most = int(binom.ppf(SIGNIFICANCE, n, LEVEL)) - 1  # the largest count whose p value is below
    bounds = f"with {counted(n, 'training set')} only bounds that hold in {most} or fewer are rejected"
    return claim.finding(rows, f" ({bounds})")


def _failing(rows: TableRows) -> Finding:
    small, large = (
        rows.only([key for key in rows.rows if (key[1] == 50) == few]).failed_share() for few in (True, False)
    )
    return Finding(
        f"{small:.0%} of repetitions with N = 50, {large:.1%} with N = 500",
        failing(bool(small > large)),
        "all on musk; in its files 38% of repetitions with N = 50, 0.3% with N = 500",
    )


def _tightness_on_a_par(rows: TableRows) -> Finding:
    """Without musk, where the article's tightness is 0.01 and 0.00."""
    return tightness_on_a_par(rows.only([key for key in rows.rows if key[0] != WITHOUT_LABELS]), PAR_RATIO)


def _performance_order(rows: TableRows) -> Finding:
    """Of repetitions in which all three groups chose, on tables that have such."""
    first, *others = _chosen_by_group(rows)
    least = min((first - other for other in others), key=lambda gap: float(_mean_over_tables(gap)))
    return Finding(
        ", ".join(f"{_mean_over_tables(group):.4f}" for group in (first, *others)),
        order(_mean_over_tables(least), 2 * _error_over_tables(least)),
        ", ".join(f"{value:.4f}" for value in TABLE_3.performance.values()),
    )


def _chosen_by_group(rows: TableRows) -> list[NDArray[np.float64]]:
    """(tables, repetitions) of each group: the mean truth of its methods' choices, NaN unless all groups chose."""
    stacked = np.stack(list(rows.truths.values()))
    means = []
    for names in SELECTORS.values():
        places = [rows.methods.index(name) for name in names if name in rows.methods]
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


def _table_cells(name: str, rows: TableRows) -> Finding:
    """The inclusion alone, because the tightness is that of another space."""
    return table_cells(name, rows, ours=rows.rows, with_tightness=False)


def _test(
    text: str, find: Callable[[TableRows], Finding], methods: Sequence[str], *, needs_published: bool = False
) -> ClaimTest[TableRows]:
    def applies(rows: TableRows) -> bool:
        is_published = not needs_published or bool(rows.published(methods[0]))
        return len(rows.rows) >= LEAST_TABLES and set(methods) <= set(rows.methods) and is_published

    return ClaimTest(text, applies, find)


_TESTS: tuple[ClaimTest[TableRows], ...] = (
    _test(
        "BBC and BBC-F dominate all other methods on real tables (average ranks).",
        partial(dominate, counts_rows=True), tuple(METHODS),
    ),
    *(
        _test(f"{claim.text} (real tables).", partial(_rejected, claim), claim.methods)
        for claim in (NONE_OF_BBC, ALL_OF_NB, MANY_OF_OTHERS)
    ),
    _test("The other methods even fail to run, especially on smaller and unbalanced tables.", _failing, OTHERS),
    _test("BBC-F is on par with BBC in inclusion percentage (real tables).", inclusion_on_a_par, BOTH),
    _test("BBC-F is on par with BBC in tightness (real tables).", _tightness_on_a_par, BOTH),
    _test(
        "BBC and BBC-F choose better configurations than all competitors (real tables).",
        _performance_order, (*BOTH, *OTHERS),
    ),
    *(
        _test(
            f"Table 3, {TERMS[name].title}: inclusion (tightness).",
            partial(_table_cells, name), (name,), needs_published=True,
        )
        for name in METHODS
    ),
)  # fmt: skip

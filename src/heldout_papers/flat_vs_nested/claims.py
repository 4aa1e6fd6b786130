"""What the article says of flat and nested cross-validation, and what a study of ours says of the same.

A claim is tested only where a study has the algorithms and the number of repetitions that it is about, and enough
tables to know chance. Chance is a bootstrap of the tables: the article's are other ones than ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from heldout_papers.claims import Claim, beyond
from heldout_papers.claims_words import number_difference
from heldout_papers.flat_vs_nested import words as words
from heldout_papers.flat_vs_nested.accuracies import Floats
from heldout_papers.flat_vs_nested.analysis import CONFIDENCE, FULL, LARGE, TOP3
from heldout_papers.flat_vs_nested.published import (
    FLAT_RANKS,
    N_LARGE,
    N_TABLES,
    NESTED_RANKS,
    REPETITIONS,
    ROWS,
)
from heldout_papers.flat_vs_nested.result import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.seen import Number, Seen

LEAST_TABLES = 10
"""With fewer, a bootstrap of them says too little of chance."""
SURE = 2.0
"""Standard errors up to which a difference is one of chance."""
ALPHA = 1 - CONFIDENCE
SCENARIOS = {"top3": TOP3, "full": FULL}


@dataclass(frozen=True)
class Needs:
    """What a study must have for a claim.

    Attributes
    ----------
    algorithms : tuple of str
        That worked in half of the repetitions or more; empty where any will do.
    all_repetitions : bool
        Six, as in the article: |gain| shrinks with the number of repetitions that it is a mean of, and the
        threshold does not.
    large, small : bool
        Enough tables with 2000 rows or more, or with fewer.
    """

    algorithms: tuple[str, ...] = ()
    all_repetitions: bool = False
    large: bool = False
    small: bool = False

    def met_by(self, seen: Seen) -> bool:
        accuracies = seen.accuracies
        if not set(self.algorithms) <= set(accuracies.algorithms):
            return False
        needed = accuracies.only(self.algorithms) if self.algorithms else accuracies
        worked = needed.candidates.all(axis=-1) if self.algorithms else needed.candidates.any(axis=-1)
        counted = worked.mean(axis=1) >= 0.5
        n_large = int((counted & (accuracies.rows >= LARGE)).sum())
        return bool(
            (not self.all_repetitions or accuracies.n_repetitions == REPETITIONS)
            and counted.sum() >= LEAST_TABLES
            and (not self.large or n_large >= LEAST_TABLES)
            and (not self.small or counted.sum() - n_large >= LEAST_TABLES)
        )


@dataclass(frozen=True)
class _Published:
    """A published number, and ours give or take chance."""

    text: str
    needs: Needs
    number: Callable[[Seen], Number]
    published: float
    decimals: int
    n_tables: int = N_TABLES
    scale: float = 1.0
    unit: str = ""

    def tested(self, seen: Seen) -> Claim:
        found = self.number(seen)
        difference = self.scale * found.value - self.published
        # Their standard error is ours, for the number of their tables.
        both = SURE * self.scale * found.error * float(np.sqrt(1 + found.n_tables / self.n_tables))
        allowed = both + 0.5 * 10**-self.decimals
        more = self.decimals + 1
        return Claim(
            self.text,
            f"{self.published:.{self.decimals}f}{self.unit}",
            f"{self.scale * found.value:.{more}f}{self.unit}",
            number_difference(difference, allowed, more),
            abs(difference) <= allowed,
        )


@dataclass(frozen=True)
class _Above:
    """A number is above 0; shown with its ``baseline``, where it is what is beyond one."""

    text: str
    needs: Needs
    number: Callable[[Seen], Number]
    published: str = ""
    decimals: int = 3
    scale: float = 1.0
    unit: str = ""
    baseline: float | None = None

    def tested(self, seen: Seen) -> Claim:
        found = self.number(seen)
        value, chance = self.scale * found.value, self.scale * SURE * found.error
        shown = (
            f"{value:+.{self.decimals}f}" if self.baseline is None else f"{value + self.baseline:.{self.decimals}f}"
        )
        return Claim(
            self.text,
            self.published,
            f"{shown}{self.unit}",
            words.sign_difference(value, chance, self.decimals),
            beyond(value, chance),
        )


@dataclass(frozen=True)
class _Tested:
    """|gain| is below its threshold by the test and by the interval; or, with ``above``, not at all."""

    text: str
    needs: Needs
    scenario: str
    analysis: str
    above: bool = False

    def tested(self, seen: Seen) -> Claim:
        found = seen.outcome(self.scenario, self.analysis)
        printed = ROWS[self.scenario, self.analysis]
        if self.above:
            by_test, by_interval = found.p_value > 1 - ALPHA, found.low > 0
        else:
            by_test, by_interval = found.p_value < ALPHA, found.high < 0
        return Claim(
            self.text,
            f"p\u00a0=\u00a0{printed.p_value}",
            f"p\u00a0=\u00a0{found.p_value:.2g}",
            words.test_difference(
                by_test,
                by_interval,
                (found.low, found.high),
                (printed.low, printed.high),
                above=self.above,
                n_tables=found.n_tables,
            ),
            by_test and by_interval,
        )


AnyClaim = _Published | _Above | _Tested


def flat_vs_nested_claims(study: FlatVsNestedStudy) -> tuple[Claim, ...]:
    """Every claim that a study can test, in the order of the article.

    Parameters
    ----------
    study : FlatVsNestedStudy

    Returns
    -------
    tuple of Claim
    """
    return claims_of(Seen(study.accuracies, study.entropy))


def claims_of(seen: Seen) -> tuple[Claim, ...]:
    """The same, of what was computed already."""
    return tuple(claim.tested(seen) for claim in _CLAIMS if claim.needs.met_by(seen))


def _same(scenario: str, analysis: str, seen: Seen) -> Number:
    return seen.mean(seen.by_table(scenario, analysis, "same"))


def _above_random(scenario: str, seen: Seen) -> Number:
    return seen.mean(seen.by_table(scenario, "main", "same") - 1 / len(SCENARIOS[scenario]))


def _difference(scenario: str, analysis: str, seen: Seen) -> Number:
    return seen.mean(seen.by_table(scenario, analysis, "difference"))


def _below_diagonal(scenario: str, seen: Seen) -> Number:
    return seen.mean(np.where(seen.compared(scenario, "main").difference < 0, 0.5, -0.5))


def _agreement_of_large(scenario: str, seen: Seen) -> Number:
    return seen.lead_of_large(seen.by_table(scenario, "main", "same"), seen.rows_of(scenario, "main"))


def _evidence_of_large(scenario: str, seen: Seen) -> Number:
    large, whole = seen.outcome(scenario, "large_tables"), seen.outcome(scenario, "main")
    return Number((large.high - large.low) - (whole.high - whole.low), 0.0, large.n_tables)


def _threshold_above_gain(scenario: str, seen: Seen) -> Number:
    return seen.mean(seen.by_table(scenario, "main", "threshold") - seen.by_table(scenario, "main", "gain"))


def _mean_excess(over: str, seen: Seen) -> Number:
    values = seen.excess(over)
    return seen.mean(values[np.isfinite(values)])


def _bias_of_small(seen: Seen) -> Number:
    values = seen.excess("flat-nested")
    known = np.isfinite(values)
    return seen.lead_of_large(-values[known], seen.accuracies.rows[known].astype(np.float64))


def _gbm_overfits(seen: Seen) -> Number:
    values = seen.excess("flat-nested", ("gbm",)) - seen.excess("flat-nested", ("rf", "svmRadial"))
    return seen.mean(values[np.isfinite(values)])


def _ahead(first: tuple[str, ...], others: tuple[str, ...], ranks: Floats) -> Floats:
    """By how much the last of some is ahead of the first of others."""
    places = [[FULL.index(name) for name in names] for names in (first, others)]
    return np.asarray(ranks[..., 0, places[1]].min(axis=-1) - ranks[..., 0, places[0]].max(axis=-1))


def _ahead_by_nested(first: tuple[str, ...], others: tuple[str, ...], seen: Seen) -> Number:
    return seen.of_ranks(partial(_ahead, first, others), "nested")


def _ahead_by_flat(first: tuple[str, ...], others: tuple[str, ...], seen: Seen) -> Number:
    return seen.of_ranks(partial(_ahead, first, others), "flat")


def _gbm_gains(ranks: Floats) -> Floats:
    place = FULL.index("gbm")
    return np.asarray(ranks[..., 0, place] - ranks[..., 1, place])


def kendall(ranks: Floats) -> Floats:
    """Kendall's τ of two rankings, of shape (..., 2, A): pairs in the same order less pairs in another, of all.

    Examples
    --------
    >>> float(kendall(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])).round(3))
    0.333
    """
    signs = np.sign(ranks[..., :, None] - ranks[..., None, :])
    n = ranks.shape[-1]
    return np.asarray((signs[..., 0, :, :] * signs[..., 1, :, :]).sum(axis=(-2, -1)) / (n * (n - 1)))


def _published_kendall() -> float:
    both = np.array([[ranks[name] for name in FULL] for ranks in (NESTED_RANKS, FLAT_RANKS)])
    return round(float(kendall(both)), 2)


def _others(*names: str) -> tuple[str, ...]:
    return tuple(name for name in FULL if name not in names)


def _row_claims(
    scenario: str, analysis: str, *, where: str, same: bool = True, n_tables: int = N_TABLES
) -> list[AnyClaim]:
    """What a row of a table says: the share of same choices, the test, and the mean."""
    printed, of = ROWS[scenario, analysis], words.SCENARIO_TITLES[scenario]
    algorithms, large = SCENARIOS[scenario], analysis == "large_tables"
    above = analysis == "forest_alone"
    once, all_of = Needs(algorithms, large=large), Needs(algorithms, all_repetitions=True, large=large)
    claims: list[AnyClaim] = []
    if same:
        text = words.same_claim(of, where, forest=above)
        number = partial(_same, scenario, analysis)
        # Averages of six repetitions are less noisy than those of fewer, and agree more often.
        needs = all_of if analysis == "averaged" else once
        claims.append(_Published(text, needs, number, printed.same_choice, 0, n_tables, 100.0, " %"))
    needs = once if analysis == "each_repetition" else all_of
    claims.append(_Tested(words.test_claim(of, where, above=above), needs, scenario, analysis, above))
    mean = partial(_difference, scenario, analysis)
    claims.append(_Published(words.mean_claim(of, where), needs, mean, printed.mean, 3, n_tables))
    return claims


def _scenario_claims(scenario: str, figure: str) -> list[AnyClaim]:
    """Sections 3.1 and 4 of a scenario."""
    of, algorithms = words.SCENARIO_TITLES[scenario], SCENARIOS[scenario]
    random = 100 / len(algorithms)
    once, large = Needs(algorithms), Needs(algorithms, large=True, small=True)
    main, on_large = ROWS[scenario, "main"], ROWS[scenario, "large_tables"]
    return [
        _Above(
            words.below_diagonal_claim(of, figure), Needs(algorithms, all_repetitions=True),
            partial(_below_diagonal, scenario), "more than half", decimals=0, scale=100.0, unit=" %", baseline=50.0,
        ),
        *_row_claims(scenario, "main", where="table 2"),
        _Above(
            words.above_random_claim(of), once, partial(_above_random, scenario), f"above {random:.0f} %",
            decimals=0, scale=100.0, unit=" %", baseline=random,
        ),
        *_row_claims(scenario, "large_tables", where="table 3", n_tables=N_LARGE),
        _Above(
            words.large_agree_claim(of), large, partial(_agreement_of_large, scenario),
            f"+{on_large.same_choice - main.same_choice} points", decimals=1, scale=100.0, unit=" points",
        ),
        _Above(
            words.large_evidence_claim(of), Needs(algorithms, True, large=True),
            partial(_evidence_of_large, scenario),
            f"+{on_large.high - on_large.low - (main.high - main.low):.3f}", decimals=4,
        ),
        _Above(
            words.as_well_claim(of), Needs(algorithms, all_repetitions=True),
            partial(_threshold_above_gain, scenario), decimals=4,
        ),
    ]  # fmt: skip


def _ranking_claims() -> list[AnyClaim]:
    """Tables 1 and 4."""
    full = Needs(FULL)
    nested, flat = NESTED_RANKS, FLAT_RANKS

    def ahead(first: float, second: float) -> str:
        return f"+{second - first:.1f}"

    return [
        _Above(
            words.best_three_claim(), full,
            partial(_ahead_by_nested, TOP3, _others(*TOP3)), ahead(nested["gbm"], nested["nnet"]),
        ),
        _Above(
            words.ahead_claim("rf", "svmRadial", "nested"), full,
            partial(_ahead_by_nested, ("rf",), ("svmRadial",)), ahead(nested["rf"], nested["svmRadial"]),
        ),
        _Above(
            words.ahead_claim("svmRadial", "gbm", "nested"), full,
            partial(_ahead_by_nested, ("svmRadial",), ("gbm",)), ahead(nested["svmRadial"], nested["gbm"]),
        ),
        _Above(
            words.best_by_flat_claim(), full,
            partial(_ahead_by_flat, ("gbm",), _others("gbm")), ahead(flat["gbm"], flat["svmRadial"]),
        ),
        _Above(
            words.gbm_gains_claim(), full,
            lambda seen: seen.of_ranks(_gbm_gains, "nested", "flat"), ahead(flat["gbm"], nested["gbm"]),
        ),
        _Above(words.gbm_overfits_claim(), Needs(TOP3), _gbm_overfits, decimals=4),
        _Published(
            words.order_claim(), full, lambda seen: seen.of_ranks(kendall, "nested", "flat"),
            _published_kendall(), 2,
        ),
    ]  # fmt: skip


_CLAIMS: tuple[AnyClaim, ...] = (
    _Above(words.FLAT_IS_OPTIMISTIC, Needs(), partial(_mean_excess, "flat-future"), decimals=4),
    _Published(words.NESTED_IS_UNBIASED, Needs(), partial(_mean_excess, "nested-future"), 0.0, 3),
    *_scenario_claims("top3", "figure 3"),
    *_scenario_claims("full", "figure 4"),
    _Above(words.BIAS_DECREASES, Needs(large=True, small=True), _bias_of_small, decimals=4),
    *_ranking_claims(),
    *(claim for s in SCENARIOS for claim in _row_claims(s, "averaged", where="table 5, first alternative")),
    # By definition these have the selections, and so the same choices, of table 2; the article prints others.
    *(
        claim
        for s in SCENARIOS
        for analysis, where in (
            ("each_repetition", "table 5, second alternative"),
            ("smallest_deviation", "table 5, other threshold"),
        )
        for claim in _row_claims(s, analysis, where=where, same=False)
    ),
    *_row_claims("full", "forest_alone", where="table 6"),
)

"""The article's claims about flat and nested cross-validation, and how the results of a study judge them.

A claim is judged only where a study has the algorithms and the number of repetitions that it is about, and enough
tables to know chance. Chance is a bootstrap of the tables, because the article's are other tables than ours.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout._text import counted
from heldout.advice.flat_vs_nested import CONFIDENCE
from heldout_papers.engine.claims import (
    Above,
    Claim,
    ClaimTest,
    ClaimVerdict,
    Finding,
    Judge,
    Mean,
    Near,
    judged_claims,
)
from heldout_papers.flat_vs_nested.accuracies import Estimated, Floats
from heldout_papers.flat_vs_nested.analysis import FULL, LARGE, TOP3, ComparisonRow
from heldout_papers.flat_vs_nested.means import AccuracyMeans, kendall
from heldout_papers.flat_vs_nested.result import FlatVsNestedStudy

REPETITIONS = 6
N_TABLES, N_LARGE = 115, 32
LEAST_TABLES = 10
"""With fewer, a bootstrap of them does not show chance well enough."""
SCENARIOS = {"top3": TOP3, "full": FULL}
SCENARIO_TITLES = {"top3": "top 3", "full": "full", "ard": "one or many length scales", "asked": "as asked"}


@dataclass(frozen=True)
class PublishedRow:
    """A row of the article's tables 2, 3, 5 and 6, as printed."""

    same_choice: int  # Per cent
    p_value: str
    # To three decimals
    mean: float
    low: float
    high: float


ROWS: Mapping[tuple[str, str], PublishedRow] = MappingProxyType(
    {
        ("top3", "main"): PublishedRow(71, "0.001", -0.004, -0.007, -0.002),
        ("full", "main"): PublishedRow(62, "3.6e-06", -0.004, -0.007, -0.003),
        ("top3", "large_tables"): PublishedRow(80, "0.0016", -0.005, -0.014, -0.002),
        ("full", "large_tables"): PublishedRow(71, "0.0108", -0.004, -0.015, -0.001),
        ("top3", "averaged"): PublishedRow(78, "6.32e-06", -0.005, -0.015, -0.002),
        ("full", "averaged"): PublishedRow(72, "0.0005", -0.005, -0.015, -0.002),
        ("top3", "each_repetition"): PublishedRow(78, "3.05e-13", -0.002, -0.002, -0.001),
        ("full", "each_repetition"): PublishedRow(72, "2.67e-08", -0.001, -0.002, -0.001),
        ("top3", "smallest_deviation"): PublishedRow(80, "5.94e-06", -0.002, -0.003, -0.001),
        ("full", "smallest_deviation"): PublishedRow(71, "1e-06", -0.002, -0.003, -0.001),
        ("full", "forest_alone"): PublishedRow(28, "1", 0.011, 0.006, 0.024),
    }
)
"""By scenario and analysis."""
NESTED_RANKS: Mapping[str, float] = MappingProxyType(
    {
        "rf": 3.4, "svmRadial": 3.6, "gbm": 4.0, "nnet": 4.8, "rknn": 5.3, "svmPoly": 5.3,
        "knn": 5.4, "svmLinear": 6.1, "sda": 6.6, "lvq": 6.7, "nb": 7.9, "bst": 8.7,
    }
)  # fmt: skip
"""Table 1."""
FLAT_RANKS: Mapping[str, float] = MappingProxyType(
    {
        "gbm": 3.0, "svmRadial": 3.2, "rf": 4.0, "nnet": 4.1, "rknn": 4.2, "svmPoly": 5.2,
        "knn": 5.3, "lvq": 6.4, "svmLinear": 6.4, "sda": 7.0, "nb": 8.4, "bst": 8.6,
    }
)  # fmt: skip
"""Table 4."""


@dataclass(frozen=True)
class ClaimNeeds:
    """What a study must have for a claim."""

    algorithms: tuple[str, ...] = ()  # That worked in half of the repetitions or more; empty where any will do
    # Six, as in the article: |gain| shrinks with the number of repetitions that it is a mean of, and the threshold
    # does not
    all_repetitions: bool = False
    # Enough tables with 2000 rows or more, or with fewer
    large: bool = False
    small: bool = False

    def are_met_by(self, means: AccuracyMeans) -> bool:
        accuracies = means.accuracies
        if not set(self.algorithms) <= set(accuracies.algorithms):
            return False
        needed = accuracies.only(self.algorithms) if self.algorithms else accuracies
        worked = needed.candidates.all(axis=-1) if self.algorithms else needed.candidates.any(axis=-1)
        usable = worked.mean(axis=1) >= 0.5
        n_large = int((usable & (accuracies.rows >= LARGE)).sum())
        return bool(
            (not self.all_repetitions or accuracies.n_repetitions == REPETITIONS)
            and usable.sum() >= LEAST_TABLES
            and (not self.large or n_large >= LEAST_TABLES)
            and (not self.small or usable.sum() - n_large >= LEAST_TABLES)
        )


Number = Callable[[AccuracyMeans], Mean]
Test = ClaimTest[AccuracyMeans]


def flat_vs_nested_claims(study: FlatVsNestedStudy) -> tuple[Claim, ...]:
    """Every claim that a study can test, in the order of the article; none about another score than accuracy."""
    if study.metric != "accuracy":
        return ()
    return judged_claims(_TESTS, AccuracyMeans(study.accuracies, study.entropy))


def _test(text: str, needs: ClaimNeeds, number: Callable[[AccuracyMeans], Any], judge: Judge) -> Test:
    return ClaimTest(text, needs.are_met_by, number, judge)


def _near(published: float, decimals: int, n_tables: int = N_TABLES, *, scale: float = 1.0, unit: str = "") -> Near:
    return Near(published, decimals, n_tables, shown=decimals + 1, scale=scale, unit=unit)


@dataclass(frozen=True)
class _Irrelevant:
    """|gain| is below its threshold by the test and by the interval; or, if ``is_above``, above it."""

    printed: PublishedRow
    is_above: bool = False

    def finding(self, number: ComparisonRow) -> Finding:
        by_test, by_interval = number.p_value < 1 - CONFIDENCE, number.high < 0
        side, test = "below", "p < 0.05"
        if self.is_above:
            by_test, by_interval = number.p_value > CONFIDENCE, number.low > 0
            side, test = "above", "p > 0.95"
        ours, theirs = (f"{one.low:.3f} to {one.high:.3f}" for one in (number, self.printed))
        interval = f"the interval, {ours} (published {theirs}),"
        word, why = {
            (True, True): ("Holds", f"{test}, and {interval} is {side} 0"),
            (True, False): ("Holds in part", f"{test}, but {interval} is not {side} 0"),
            (False, True): ("Holds in part", f"{interval} is {side} 0, but not {test}"),
            (False, False): ("Not shown", f"not {test}, and {interval} is not {side} 0"),
        }[bool(by_test), bool(by_interval)]
        found = ClaimVerdict(word == "Holds", f"{word} with {counted(number.n_tables, 'table')}: {why}.")
        return Finding(f"p\u00a0=\u00a0{number.p_value:.2g}", found, f"p\u00a0=\u00a0{self.printed.p_value}")


def _mean_of(scenario: str, analysis: str, what: str) -> Number:
    """The mean over tables of a column of ``AccuracyMeans.by_table``."""
    return lambda means: means.mean(means.by_table(scenario, analysis, what))


def _bias_of_small(means: AccuracyMeans) -> Mean:
    values = means.excess("flat-nested")
    known = np.isfinite(values)
    return means.lead_of_large(-values[known], means.accuracies.rows[known].astype(np.float64))


def _gbm_overfits(means: AccuracyMeans) -> Mean:
    return means.mean(means.excess("flat-nested", ("gbm",)) - means.excess("flat-nested", ("rf", "svmRadial")))


def _ahead(text: str, by: Estimated, first: tuple[str, ...], others: tuple[str, ...] = ()) -> Test:
    """By how much the last of some algorithms is ahead of the first of others, of all others by default."""
    others = others or tuple(name for name in FULL if name not in first)
    published = {"nested": NESTED_RANKS, "flat": FLAT_RANKS}[by]
    lead = min(published[name] for name in others) - max(published[name] for name in first)
    places = [[FULL.index(name) for name in names] for names in (first, others)]

    def statistic(ranks: Floats) -> Floats:
        return np.asarray(ranks[..., 0, places[1]].min(axis=-1) - ranks[..., 0, places[0]].max(axis=-1))

    return _test(text, ClaimNeeds(FULL), lambda means: means.of_ranks(statistic, by), Above(f"+{lead:.1f}"))


def _row_tests(scenario: str, analysis: str, where: str, *, with_choice: bool = True) -> list[Test]:
    """What a row of a table says: the share of same choices, the test, and the mean."""
    printed, place = ROWS[scenario, analysis], f"{SCENARIO_TITLES[scenario]} ({where})."
    algorithms, is_large, is_above = SCENARIOS[scenario], analysis == "large_tables", analysis == "forest_alone"
    n_tables = N_LARGE if is_large else N_TABLES
    once, six = ClaimNeeds(algorithms, large=is_large), ClaimNeeds(algorithms, True, large=is_large)
    needs = once if analysis == "each_repetition" else six
    choice = "Nested chooses the random forest" if is_above else "Flat and nested choose the same"
    text = "The gain of nested over flat is irrelevant: |gain| is below its threshold, "
    if is_above:
        text = "With the random forest in place of a choice the gain of choosing is relevant, "
    same_choice = _test(
        # Averages of six repetitions are less noisy than those of fewer, and agree more often.
        f"{choice}, {place}", six if analysis == "averaged" else once,
        _mean_of(scenario, analysis, "same"), _near(printed.same_choice, 0, n_tables, scale=100.0, unit=" %"),
    )  # fmt: skip
    return [
        *([same_choice] if with_choice else []),
        _test(text + place, needs, lambda means: means.row(scenario, analysis), _Irrelevant(printed, is_above)),
        _test(
            f"Mean of |gain| less threshold, {place}", needs,
            _mean_of(scenario, analysis, "difference"), _near(printed.mean, 3, n_tables),
        ),
    ]  # fmt: skip


def _scenario_tests(scenario: str, figure: str) -> list[Test]:
    """Sections 3.1 and 4 of a scenario."""
    of, algorithms = SCENARIO_TITLES[scenario], SCENARIOS[scenario]
    once, six = ClaimNeeds(algorithms), ClaimNeeds(algorithms, True)
    main, on_large = ROWS[scenario, "main"], ROWS[scenario, "large_tables"]
    random, wider = 1 / len(algorithms), on_large.high - on_large.low - (main.high - main.low)

    def of_main(means: AccuracyMeans, what: str) -> Floats:
        return means.by_table(scenario, "main", what)

    def wider_interval(means: AccuracyMeans) -> Mean:
        large, whole = means.row(scenario, "large_tables"), means.row(scenario, "main")
        return Mean((large.high - large.low) - (whole.high - whole.low))

    return [
        _test(
            f"On most tables |gain| is below its threshold, {of} ({figure}).", six,
            lambda means: means.mean(np.where(of_main(means, "difference") < 0, 0.5, -0.5)),
            Above("more than half", 0, scale=100.0, unit=" %", baseline=50.0),
        ),
        *_row_tests(scenario, "main", "table 2"),
        _test(
            f"Flat and nested choose the same more often than two random choices would, {of} (section 3.1).",
            once, lambda means: means.mean(of_main(means, "same") - random),
            Above(f"above {100 * random:.0f} %", 0, scale=100.0, unit=" %", baseline=100 * random),
        ),
        *_row_tests(scenario, "large_tables", "table 3"),
        _test(
            f"They agree more often on tables of 2000 rows and more than on all, {of} (section 4).",
            ClaimNeeds(algorithms, large=True, small=True),
            lambda means: means.lead_of_large(of_main(means, "same"), means.rows_of(scenario, "main")),
            Above(f"+{on_large.same_choice - main.same_choice} points", 1, scale=100.0, unit=" points"),
        ),
        _test(
            f"The interval is wider for the tables of 2000 rows and more, which are fewer, {of} (section 4).",
            ClaimNeeds(algorithms, True, large=True), wider_interval, Above(f"+{wider:.3f}", 4),
        ),
        _test(
            "What flat chooses does on average as well, for practical purposes: the mean gain is below the mean "
            f"threshold, {of} (section 5).",
            six, lambda means: means.mean(of_main(means, "threshold") - of_main(means, "gain")), Above(decimals=4),
        ),
    ]  # fmt: skip


def _ranking_tests() -> list[Test]:
    """Tables 1 and 4."""
    gbm, published = FULL.index("gbm"), [[ranks[name] for name in FULL] for ranks in (NESTED_RANKS, FLAT_RANKS)]
    tau = round(float(kendall(np.array(published))), 2)
    return [
        _ahead("rf, svmRadial and gbm have the best three mean ranks by nested (table 1).", "nested", TOP3),
        *(
            _ahead(f"{one} has a better mean rank than {other} by nested (table 1).", "nested", (one,), (other,))
            for one, other in (("rf", "svmRadial"), ("svmRadial", "gbm"))
        ),
        _ahead("gbm has the best mean rank by flat (table 4).", "flat", ("gbm",)),
        _test(
            "gbm has a better mean rank by flat than by nested (section 4).", ClaimNeeds(FULL),
            lambda means: means.of_ranks(lambda ranks: ranks[..., 0, gbm] - ranks[..., 1, gbm], "nested", "flat"),
            Above(f"+{published[0][gbm] - published[1][gbm]:.1f}"),
        ),
        _test(
            "That could be over-fitting of its one hyper-parameter more: flat flatters gbm more than rf and "
            "svmRadial (section 4).", ClaimNeeds(TOP3), _gbm_overfits, Above(decimals=4),
        ),
        _test(
            "Flat and nested rank the algorithms very differently (section 4): Kendall's τ of the mean ranks, ours "
            "and that of the published tables 1 and 4.", ClaimNeeds(FULL),
            lambda means: means.of_ranks(kendall, "nested", "flat"), _near(tau, 2),
        ),
    ]  # fmt: skip


_TESTS: tuple[Test, ...] = (
    _test(
        "The flat estimate is above the accuracy on future data, on average (section 1.1).", ClaimNeeds(),
        lambda means: means.mean(means.excess("flat-future")), Above(decimals=4),
    ),
    _test(
        "The nested estimate is unbiased: its mean error (section 1.1).", ClaimNeeds(),
        lambda means: means.mean(means.excess("nested-future")), _near(0.0, 3),
    ),
    *_scenario_tests("top3", "figure 3"),
    *_scenario_tests("full", "figure 4"),
    _test(
        "What flat has above nested is less on tables of 2000 rows and more than on all (section 4).",
        ClaimNeeds(large=True, small=True), _bias_of_small, Above(decimals=4),
    ),
    *_ranking_tests(),
    *(test for scenario in SCENARIOS for test in _row_tests(scenario, "averaged", "table 5, first alternative")),
    # By definition these have the selections, and so the same choices, of table 2; the article prints others.
    *(
        test
        for scenario in SCENARIOS
        for analysis, where in (
            ("each_repetition", "table 5, second alternative"),
            ("smallest_deviation", "table 5, other threshold"),
        )
        for test in _row_tests(scenario, analysis, where, with_choice=False)
    ),
    *_row_tests("full", "forest_alone", "table 6"),
)  # fmt: skip

"""How good intervals are: worked by hand, by the article's own table, and against a plain loop."""

from dataclasses import replace
from math import comb, isnan

import numpy as np
import pytest

from heldout_papers.intervals.inclusion import (
    Inclusion,
    average_ranks,
    inclusion_of,
    p_below,
    ranks,
    ratios,
    true_performance,
    uniformity,
)
from heldout_papers.intervals.published import TABLE_2

GOOD = inclusion_of(np.zeros(200), np.full(200, 0.2), 0.95)


def test_repetitions_by_hand() -> None:
    low = np.array([0.5, 0.7, 0.8, np.nan, np.nan])
    truth = np.array([0.6, 0.7, 0.7, 0.9, np.nan])
    why = np.array(["", "", "", "a", "b"])
    found = inclusion_of(low, truth, 0.9, percentile=np.array([0.2, 0.4, 0.9, np.nan, np.nan]), failure=why)

    assert found.inclusion == 2 / 3  # a bound at the truth is not above it
    assert found.tightness == pytest.approx((0.1 + 0 - 0.1) / 3)
    assert found.standard_error == pytest.approx(np.std([0.1, 0, -0.1], ddof=1) / 3**0.5)
    assert (found.low, found.truth) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert found.p_value == pytest.approx(1 - 0.9**3)
    assert (found.bounds, found.repetitions, found.failed) == (3, 5, pytest.approx(0.4))
    assert found.failures == {"a": 0.2, "b": 0.2}
    assert not found.complete and not found.rejected


def test_without_a_bound_there_is_nothing_to_say() -> None:
    found = inclusion_of(np.full(4, np.nan), np.full(4, np.nan), 0.95, failure=np.array(["x", "y", "y", "y"]))

    assert all(isnan(number) for number in (found.inclusion, found.p_value, found.tightness, found.uniformity))
    assert list(found.failures.items()) == [("y", 0.75), ("x", 0.25)]
    assert not found.complete and not found.rejected


def test_the_binomial_test_is_exact() -> None:
    for held, n, level in [(183, 200, 0.95), (20, 20, 0.95), (7, 10, 0.8)]:
        summed = sum(comb(n, k) * level**k * (1 - level) ** (n - k) for k in range(held + 1))
        assert p_below(held, n, level) == pytest.approx(summed, abs=1e-12)
    # Of 200, 185 are the fewest that are not rejected.
    assert p_below(184, 200, 0.95) < 0.05 <= p_below(185, 200, 0.95)


def test_the_binomial_test_keeps_its_level() -> None:
    """2000 studies of 200 repetitions with inclusion .95: rejected in 4.4 % (exact), at most 5.6 % by 1 in 100."""
    rng = np.random.default_rng(0)
    held = rng.binomial(200, 0.95, size=2000)
    share = np.mean([p_below(int(k), 200, 0.95) < 0.05 for k in held])

    assert 0.032 <= share <= 0.056
    assert np.mean([p_below(int(k), 200, 0.95) < 0.05 for k in rng.binomial(200, 0.88, size=500)]) > 0.9


def test_uniformity_sees_what_is_not_uniform() -> None:
    rng = np.random.default_rng(1)
    kept = [uniformity(rng.random(200)) > 0.05 for _ in range(400)]

    assert 0.92 <= np.mean(kept) <= 0.98  # 95 %, three standard errors
    assert uniformity(rng.random(200) ** 2) < 1e-6
    assert isnan(uniformity(np.array([0.5])))


def of_cell(inclusion: float, tightness: float) -> Inclusion:
    p_value = p_below(round(inclusion * TABLE_2.repetitions), TABLE_2.repetitions, 0.95)
    return replace(GOOD, inclusion=inclusion, tightness=tightness, p_value=p_value)


def test_the_ranks_of_the_published_table_are_the_published_ranks() -> None:
    """Rounding to two digits makes ties of methods that are not rejected, which alone changes ranks, upwards."""
    rows = [
        {name: None if cell is None else of_cell(*cell) for name, cell in row.items()}
        for row in TABLE_2.cells.values()
    ]
    complete = [{name: each for name, each in row.items() if each} for row in rows if all(row.values())]
    found, n = average_ranks(complete, 0.95)

    assert n == 8
    for name in ("bbc", "delong", "hanley_mcneil", "delong_10p", "hanley_mcneil_10p", "naive_bootstrap"):
        assert round(found[name], 2) == pytest.approx(TABLE_2.ranks[name], abs=0.01)
    for name in ("bbc_f", "tilting", "tilting_10p", "mabt"):
        assert TABLE_2.ranks[name] - 1.01 < found[name] <= TABLE_2.ranks[name]


def test_ranks_by_hand() -> None:
    tighter, tied = replace(GOOD, tightness=0.1), replace(GOOD, tightness=0.2)
    below, above = (replace(GOOD, inclusion=share, p_value=0.0) for share in (0.93, 0.8))
    assert ranks([GOOD, tied, tighter, above, below], 0.95) == [2, 2, 1, 5, 4]
    # Beyond the level counts as far as below it, where it is rejected.
    assert ranks([below, replace(below, inclusion=0.97)], 0.95) == [1, 1]


def test_a_row_where_a_method_failed_has_no_ranks() -> None:
    failing = inclusion_of(np.array([0.1] * 8 + [np.nan] * 2), np.full(10, 0.2), 0.95)
    assert not failing.complete
    assert all(isnan(rank) for rank in ranks([GOOD, failing], 0.95))
    tighter = replace(GOOD, tightness=0.1)
    means, n = average_ranks([{"a": GOOD, "b": failing}, {"a": GOOD, "b": tighter}], 0.95)
    assert (means, n) == ({"a": 2.0, "b": 1.0}, 1)
    assert average_ranks([{"a": GOOD, "b": failing}], 0.95)[1] == 0


def test_ratios_and_performance_are_of_what_is_there() -> None:
    wide = replace(GOOD, tightness=0.3, truth=0.8)
    failing = inclusion_of(np.full(10, np.nan), np.full(10, np.nan), 0.95)
    row = {"bbc": GOOD, "bbc_f": wide, "mabt": failing}

    assert ratios(row)["bbc_f"] == pytest.approx(1.5)
    assert isnan(ratios(row)["mabt"]) and isnan(ratios({"mabt": GOOD})["mabt"])
    groups = {"one": ("bbc", "bbc_f"), "two": ("mabt",), "nobody": ("delong",)}
    complete = {"bbc": wide, "bbc_f": wide, "mabt": GOOD}
    found = true_performance([row, complete], groups)  # the first row is not complete
    assert found == {"one": pytest.approx(0.8), "two": pytest.approx(0.2)}
    assert isnan(true_performance([row], groups)["one"])

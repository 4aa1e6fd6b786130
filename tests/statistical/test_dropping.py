"""How often rules drop the best, what that costs and what it saves: docs/dropping.md's table, and less of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dropping_simulation import RULES, SETTINGS, races, standing_of, table
from scipy.stats import binom, norm

from heldout.dropping import Bootstrap, HoeffdingRace

RACES = 200
DOCS = Path(__file__).parents[2] / "docs" / "dropping.md"


def dropped_of_two(rule, n: int, draw) -> int:
    """How often the first of two configurations that are equally good leaves at one look."""
    times = 0
    for seed in range(n):
        standing = draw(np.random.default_rng([23, seed]))
        times += not rule.judge(standing).keep[0]
    return times


def within(times: int, n: int, p: float, alarm: float = 1e-4) -> bool:
    """Whether a count of ``n`` looks like one of probability ``p``; wrong in less than ``alarm`` of the runs."""
    return bool(binom.ppf(alarm / 2, n, p) <= times <= binom.isf(alarm / 2, n, p))


def test_one_look_of_the_bootstrap_drops_one_of_two_equals_as_often_as_its_threshold_says():
    """Absolute errors of 100 rows, without ties: p̂ > .95 has probability .05 for each of the two, but for the error
    of 200 draws and of the percentiles. The bounds are wrong in less than 1 of 10 000 runs."""

    def errors(rng):
        table = np.abs(rng.normal(size=(100, 2)))
        return standing_of(
            np.zeros(100), table, "mean_absolute_error", kind="regression", seed=int(rng.integers(2**31))
        )

    assert within(dropped_of_two(Bootstrap(threshold=0.95, n_bootstraps=200), 800, errors), 800, 0.0515)


def test_one_look_of_the_hoeffding_race_drops_one_of_two_equals_as_often_as_its_width_says():
    """Two of accuracy .5 on n = 400 rows differ by more than 2h, h = √(ln(2·2/δ)/(2n)), with the probability that a
    normal variable of variance .5/n does: .0093 at δ = .99, and so far below the bound, which is all it promises.
    The bounds are wrong in less than 1 of 10 000 runs."""
    n, delta = 400, 0.99
    expected = float(norm.sf(2 * np.sqrt(np.log(4 / delta) / (2 * n)) / np.sqrt(0.5 / n)))

    def coins(rng):
        return standing_of(np.resize([0, 1], n), rng.integers(0, 2, size=(n, 2)), n_barriers=1)

    times = dropped_of_two(HoeffdingRace(delta=delta), 1400, coins)
    assert within(times, 1400, expected)
    assert times <= delta * 1400


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_easy_and_a_hard_race_in_short(rule):
    """Six races each, the same in every run: what is saved where configurations differ, and what it costs."""
    easy, hard = (np.array(races(rule, setting, 6)) for setting in SETTINGS[:2])
    if rule.name == "hoeffding_race":
        assert not easy[:, 0].any()
        assert 0.2 < easy[:, 1].mean() < 0.5
        assert hard[:, 1].mean() < 0.05
    else:
        assert easy[:, 1].mean() > hard[:, 1].mean() > 0.4
    assert easy[:, 2].mean() < 0.01
    assert hard[:, 2].mean() < 0.01


@pytest.mark.slow
def test_the_table_of_the_docs():
    said = DOCS.read_text(encoding="utf-8")
    assert "\n".join(table(RACES)) in said

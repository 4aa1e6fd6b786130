"""How often rules drop the best, what that costs and what it saves: a short version of the table of
papers/pages/dropping.md.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dropping_simulation import RULES, SETTINGS, VARIANTS, races, standing_of, table
from scipy.optimize import brentq
from scipy.stats import binom, multivariate_normal, norm

from heldout.data.checks import call_text
from heldout.dropping import Bootstrap, HoeffdingRace

RACES, RACES_OF_VARIANTS = 200, 60
DOCS = Path(__file__).parents[2] / "papers" / "pages" / "dropping.md"


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


def test_one_look_of_the_double_bootstrap_drops_one_of_two_equals_less_often():
    """With the observed difference z standard errors, the first bootstrap differs by z + a and the second by
    z + a + b, a and b standard normal. The other leads in the first where z + a > 0, and a configuration is worse
    there in the share P(z + a > 0, z + a + b > 0). That passes .95 from a z of about 2.4 on: with a probability of
    .01, not .05. The bounds are wrong in less than 1 of 10 000 runs."""

    def share(z: float) -> float:
        return float(multivariate_normal([0, 0], [[1, 1], [1, 2]]).cdf([z, z]))

    z = brentq(lambda each: share(each) - 0.95, 0, 5)
    expected = float(norm.sf(z))
    assert 0.005 < expected < 0.02

    def errors(rng):
        table = np.abs(rng.normal(size=(60, 2)))
        return standing_of(
            np.zeros(60), table, "mean_absolute_error", kind="regression", seed=int(rng.integers(2**31))
        )

    rule = Bootstrap(threshold=0.95, n_bootstraps=150, against="double")
    assert within(dropped_of_two(rule, 150, errors), 150, expected)


@pytest.mark.parametrize("rule", VARIANTS, ids=call_text)
def test_other_comparisons_in_an_easy_race_in_short(rule):
    """Two races each, the same in every run."""
    easy = np.array(races(replace_draws(rule), SETTINGS[0], 2))
    assert easy[:, 1].mean() > 0.3
    assert easy[:, 2].mean() < 0.02


def replace_draws(rule):
    """With few bootstraps, which take less time."""
    return replace(rule, n_bootstraps=300, threshold=0.99) if isinstance(rule, Bootstrap) else rule


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_easy_and_a_hard_race_in_short(rule):
    """Six races each, the same in every run: what is saved where configurations differ, and what it costs."""
    easy, hard = (np.array(races(rule, setting, 6)) for setting in SETTINGS[:2])
    if rule.name == "hoeffding_race":
        assert not easy[:, 0].any()
        assert 0.2 < easy[:, 1].mean() < 0.5
        assert hard[:, 1].mean() < 0.05
    elif rule.name in ("forgiving", "aggressive"):  # they do not ask whether a difference is chance
        assert min(easy[:, 1].mean(), hard[:, 1].mean()) > 0.6
        assert max(easy[:, 2].mean(), hard[:, 2].mean()) < 0.04
        return
    else:
        assert easy[:, 1].mean() > hard[:, 1].mean() > 0.4
    assert easy[:, 2].mean() < 0.01
    assert hard[:, 2].mean() < 0.01


@pytest.mark.slow
def test_the_table_of_the_docs():
    said = DOCS.read_text(encoding="utf-8")
    assert "\n".join(table(RACES)) in said
    assert "\n".join(table(RACES_OF_VARIANTS, VARIANTS)) in said

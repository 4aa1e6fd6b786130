"""How often rules drop the best, what that costs and what it saves: a short version of the table of
papers/pages/dropping.md.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dropping_simulation import SETTINGS, VARIANTS, races, standing_of, table
from scipy.optimize import brentq
from scipy.stats import binom, multivariate_normal, norm

from heldout.data.checks import call_text
from heldout.dropping import Bootstrap

RACES, RACES_OF_VARIANTS = 200, 60
DOCS = Path(__file__).parents[3] / "papers" / "pages" / "dropping.md"


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


def test_the_table_of_the_docs():
    said = DOCS.read_text(encoding="utf-8")
    assert "\n".join(table(RACES)) in said
    assert "\n".join(table(RACES_OF_VARIANTS, VARIANTS)) in said

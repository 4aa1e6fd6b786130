"""Wilson and Clopper-Pearson against SciPy, for every count and side."""

import numpy as np
import pytest
from scipy.stats import binomtest

import heldout as ho
from heldout.estimates import ClopperPearson, Wilson
from heldout.estimates.methods.two_part.closed_forms import clopper_pearson_interval, wilson_interval
from heldout.estimates.methods.two_part.template import Tails

KINDS = {"wilson": wilson_interval, "exact": clopper_pearson_interval}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 7, 60])
def test_every_count_and_side(kind, n):
    for right in range(n + 1):
        for alternative, tails in {
            "two-sided": Tails(0.05, 0.05),
            "greater": Tails(0.1, None),
            "less": Tails(None, 0.1),
        }.items():
            expected = binomtest(right, n, alternative=alternative).proportion_ci(0.9, method=kind)
            assert KINDS[kind](right, n, tails)[:2] == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize("method", [Wilson, ClopperPearson], ids=["wilson", "clopper_pearson"])
def test_all_right_has_a_bound_all_the_same(method):
    y = np.resize([0, 1, 2], 100)
    found = ho.estimate(
        y, y[:, None], metric="accuracy", method=method(evaluation_share=1.0), alternative="greater"
    )
    low, high = found.interval
    exact = 0.05 ** (1 / 100)
    z = 1.6448536269514722
    assert low == pytest.approx(exact if method is ClopperPearson else 100 / (100 + z**2))
    assert high == 1 and found.value == 1 and "no_bound" not in found.flags

"""Hanley and McNeil's formula, and the mistakes of a published code that it must not repeat."""

from __future__ import annotations

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import HanleyMcNeil
from heldout.estimates.intervals import standard_error_of_area

WHOLE = HanleyMcNeil(evaluation_share=1.0)


def test_by_hand():
    """A = 3/4, 4 positives, 3 negatives: Q1 = 3/5, Q2 = 9/14, A² = 9/16.

    SE² = [3/16 + 3 (3/5 - 9/16) + 2 (9/14 - 9/16)] / 12 = (.1875 + .1125 + .160714...) / 12.
    """
    assert standard_error_of_area(0.75, 4, 3) ** 2 == pytest.approx((0.1875 + 0.1125 + 9 / 56) / 12, abs=1e-15)


def test_an_area_of_one_half_has_the_variance_of_wilcoxons_statistic():
    """At A = ½ the formula is (n1 + n0 + 1) / (12 n1 n0), the null variance of Mann and Whitney."""
    assert standard_error_of_area(0.5, 17, 29) ** 2 == pytest.approx(47 / (12 * 17 * 29), abs=1e-15)


def test_counts_are_of_classes_in_the_second_part():
    """The R code published with Paraschakis et al. (2024) takes rows predicted right and wrong, of all N rows.

    With 90 negatives and 30 positives a second part of a third holds 30 and 10.
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 30])
    scores = rng.normal(y[:, None] * 1.5, size=(120, 8))
    found = ho.estimate(y, scores, metric="roc_auc", method=HanleyMcNeil(evaluation_share=1 / 3), random_state=0)
    expected = standard_error_of_area(found.value, 10, 30)
    assert found.standard_error == pytest.approx(expected, abs=1e-14)
    for wrong in (standard_error_of_area(found.value, 30, 10), standard_error_of_area(found.value, 30, 90)):
        assert abs(expected - wrong) > 1e-3
    low, high = found.interval
    assert low == pytest.approx(found.value - 1.959963984540054 * expected) and high <= 1


def test_several_finalists_are_paid_for():
    """The published code pays nothing for the best of the tenth: inclusion down to .06."""
    rng = np.random.default_rng(1)
    y = np.resize([0, 1], 400)
    scores = rng.normal(y[:, None] * 1.0, size=(400, 50))
    found = ho.estimate(
        y, scores, metric="roc_auc", method=HanleyMcNeil(candidates=0.1), alternative="greater", random_state=0
    )
    from scipy.stats import norm

    z = norm.ppf(0.95 ** (1 / 5))
    assert found.provenance["n_finalists"] == 5
    assert found.interval.low == pytest.approx(found.value - z * found.standard_error)


@pytest.mark.parametrize("area", [0.0, 1.0])
def test_no_variance_no_bound(area):
    y = np.repeat([0, 1], 8)
    scores = (y if area else 1 - y)[:, None] * 2.5 - 1
    with pytest.warns(ho.HeldoutWarning, match="has no variance by Hanley and McNeil's formula"):
        found = ho.estimate(y, scores, metric="roc_auc", method=WHOLE)
    assert found.value == area and np.isnan(list(found.interval)).all()


def test_a_constant_predictor_has_a_bound():
    y = np.repeat([0, 1], 30)
    found = ho.estimate(y, np.full((60, 1), 0.5), metric="roc_auc", method=WHOLE)
    half = 1.959963984540054 * (61 / (12 * 900)) ** 0.5
    assert list(found.interval) == pytest.approx([0.5 - half, 0.5 + half])

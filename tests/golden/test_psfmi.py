"""Numbers that psfmi (an R package, version 1.4) prints in its vignettes, from the same imputations.

The vignettes fit logistic regressions on the first five completions of the package's table ``lbpmilr``. The
coefficients and covariances of these fits in each completion (intercept first) are in ``data/psfmi.json``.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from heldout.imputation.backward import pooled_p_value
from heldout.imputation.coefficients import Coefficients, pool_coefficients
from heldout.protocols.pooled_performance import pool_scores

N_ROWS = 159
GIVEN = json.loads((Path(__file__).parent / "data" / "psfmi.json").read_text(encoding="utf-8"))
OF_CARRYING = GIVEN["carrying"]
"""Chronic ~ factor(Carrying), the model that backward selection ends with."""
OF_FUNCTION = GIVEN["function"]
"""Chronic ~ Smoking + Function, the model that backward selection with Smoking kept ends with."""


def pooled(sets, *names):
    each = [
        Coefficients(("intercept", *names), np.array(values), np.array(covariance)) for values, covariance in sets
    ]
    found = pool_coefficients(each, N_ROWS)
    assert found is not None
    return found


def test_a_pooled_model():
    # psfmi_lr(..., p.crit = 0.05, keep.predictors = "Smoking", method = "D1", direction = "BW")$RR_model
    found = pooled(OF_FUNCTION, "Smoking", "Function")
    assert found.values == pytest.approx([1.20696975, 0.06427314, -0.14058914], abs=1e-8)
    assert found.standard_errors == pytest.approx([0.48230894, 0.33804675, 0.04225212], abs=2e-7)
    assert found.df == pytest.approx([138.9717, 151.8086, 121.6357], abs=1e-3)
    p_values = [pooled_p_value(found, [j]) for j in range(3)]
    assert p_values == pytest.approx([0.01349142, 0.84946055, 0.00115993], rel=1e-5)


def test_the_d1_test_of_a_category():
    # psfmi_lr(..., method = "D1")$multiparm_final: F = 10.8085
    found = pooled(OF_CARRYING, "Carrying_2", "Carrying_3")
    assert found.values == pytest.approx([-1.582393, 1.391554, 2.248897], abs=1e-6)
    assert pooled_p_value(found, [1, 2]) == pytest.approx(2.257078e-05, rel=1e-5)


def test_the_median_of_likelihood_ratios_is_near_that_of_wald_tests():
    # method = "MPR" takes likelihood ratios, and we take Wald tests: .8734388519 for Smoking.
    ours = np.median([stats.chi2.sf(v[1] ** 2 / np.array(c)[1, 1], 1) for v, c in OF_FUNCTION])
    assert ours == pytest.approx(0.8734388519, abs=1e-4)


def test_a_pooled_area():
    # pool_auc(list(0.84, 0.78, 0.75, 0.71, 0.79), list(0.04, 0.05, 0.01, 0.02, 0.03)); its degrees of freedom are
    # those of a large sample.
    found = pool_scores(
        [0.84, 0.78, 0.75, 0.71, 0.79], [0.04, 0.05, 0.01, 0.02, 0.03], metric="roc_auc", n_rows=10**9
    )
    assert [found.low, found.value, found.high] == pytest.approx([0.5971, 0.7771, 0.8913], abs=5e-5)

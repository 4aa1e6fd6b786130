"""Numbers that psfmi (an R package, version 1.4) prints in its vignettes, from the same imputations.

The vignettes fit logistic regressions on the first five completions of the package's table ``lbpmilr``. Below are
the coefficients and covariances of these fits in each completion (intercept first).
"""

import numpy as np
import pytest
from scipy import stats

from heldout.imputation.backward import pooled_p_value
from heldout.imputation.coefficients import Coefficients, pool_coefficients
from heldout.protocols.pooled_performance import pool_scores

N_ROWS = 159
OF_CARRYING = [
    (
        [-1.540445040947, 1.28451166681, 2.290750635347],
        [
            [0.134920634921, -0.134920634921, -0.134920634921],
            [-0.134920634921, 0.208845366103, 0.134920634921],
            [-0.134920634921, 0.134920634921, 0.22152194211],
        ],
    ),
    (
        [-1.563975538357, 1.40982485853, 2.203055497647],
        [
            [0.134366925065, -0.134366925065, -0.134366925065],
            [-0.134366925065, 0.211747877446, 0.134366925065],
            [-0.134366925065, 0.134366925065, 0.21477628179],
        ],
    ),
    (
        [-1.634130525024, 1.491029681384, 2.245039607347],
        [
            [0.149390243902, -0.149390243902, -0.149390243902],
            [-0.149390243902, 0.221185115697, 0.149390243902],
            [-0.149390243902, 0.149390243902, 0.230593251421],
        ],
    ),
    (
        [-1.609437912434, 1.362577834503, 2.302585092994],
        [[0.15, -0.15, -0.15], [-0.15, 0.22125, 0.15], [-0.15, 0.15, 0.233333333333]],
    ),
    (
        [-1.563975538357, 1.40982485853, 2.203055497647],
        [
            [0.134366925065, -0.134366925065, -0.134366925065],
            [-0.134366925065, 0.211747877446, 0.134366925065],
            [-0.134366925065, 0.134366925065, 0.21477628179],
        ],
    ),
]
"""Chronic ~ factor(Carrying), the model that backward selection ends with."""
OF_FUNCTION = [
    (
        [1.112424656867, 0.030290866086, -0.12959014351],
        [
            [0.220057100557, -0.042577443592, -0.01638716338],
            [-0.042577443592, 0.111444623994, -0.000787341295],
            [-0.01638716338, -0.000787341295, 0.001585767174],
        ],
    ),
    (
        [1.201921694249, 0.053431945235, -0.140091593778],
        [
            [0.227097117735, -0.040150203369, -0.0173004751],
            [-0.040150203369, 0.112543650555, -0.001087275684],
            [-0.0173004751, -0.001087275684, 0.001701642553],
        ],
    ),
    (
        [1.134188784195, 0.044973640569, -0.132290593128],
        [
            [0.2207668528, -0.04097695947, -0.016532152911],
            [-0.04097695947, 0.111861449736, -0.000961988297],
            [-0.016532152911, -0.000961988297, 0.001608632233],
        ],
    ),
    (
        [1.255458879885, 0.107796970472, -0.146440802366],
        [
            [0.222059072975, -0.034642123632, -0.016922830684],
            [-0.034642123632, 0.114625530705, -0.001696915479],
            [-0.016922830684, -0.001696915479, 0.001681271693],
        ],
    ),
    (
        [1.330854721271, 0.084872277252, -0.154532552828],
        [
            [0.225189961595, -0.038817895191, -0.01724199503],
            [-0.038817895191, 0.114957833215, -0.001358183333],
            [-0.01724199503, -0.001358183333, 0.001720773875],
        ],
    ),
]
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

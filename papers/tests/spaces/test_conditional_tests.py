from typing import Any

import numpy as np
import pytest
from scipy import stats

from heldout.data.task import survival_target
from heldout.errors import InputError
from heldout_papers.spaces.conditional_tests import (
    FisherZ,
    LikelihoodRatio,
    log_p_chi_square,
    log_p_normal,
    varying,
)

# R's mtcars.
MPG = [
    21, 21, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4, 14.7, 32.4, 30.4,
    33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26, 30.4, 15.8, 19.7, 15, 21.4,
]  # fmt: skip
HP = [
    110, 110, 93, 110, 175, 105, 245, 62, 95, 123, 123, 180, 180, 180, 205, 215, 230, 66, 52, 65, 97, 150, 150,
    245, 175, 66, 91, 113, 264, 175, 335, 109,
]  # fmt: skip
WT = [
    2.62, 2.875, 2.32, 3.215, 3.44, 3.46, 3.57, 3.19, 3.15, 3.44, 3.44, 4.07, 3.73, 3.78, 5.25, 5.424, 5.345, 2.2,
    1.615, 1.835, 2.465, 3.52, 3.435, 3.84, 3.845, 1.935, 2.14, 1.513, 3.17, 2.77, 3.57, 2.78,
]  # fmt: skip
QSEC = [
    16.46, 17.02, 18.61, 19.44, 17.02, 20.22, 15.84, 20, 22.9, 18.3, 18.9, 17.4, 17.6, 18, 17.98, 17.82, 17.42,
    19.47, 18.52, 19.9, 20.01, 16.87, 17.3, 15.41, 17.05, 18.9, 16.7, 16.9, 14.5, 15.5, 14.6, 18.6,
]  # fmt: skip
AM = np.array([1] * 3 + [0] * 14 + [1] * 3 + [0] * 5 + [1] * 7, dtype=np.int32)
GEAR = np.array([4] * 3 + [3] * 4 + [4] * 4 + [3] * 6 + [4] * 3 + [3] * 5 + [4] + [5] * 5 + [4], dtype=np.int32) - 3
CARS = np.column_stack([MPG, HP, WT, QSEC])
MPG_, HP_, WT_, QSEC_ = range(4)

# R's survival::ovarian.
FUTIME = [
    59, 115, 156, 421, 431, 448, 464, 475, 477, 563, 638, 744, 769, 770, 803, 855, 1040, 1106, 1129, 1206, 1227,
    268, 329, 353, 365, 377,
]  # fmt: skip
FUSTAT = [1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0]
AGE = [
    72.3315, 74.4932, 66.4658, 53.3644, 50.3397, 56.4301, 56.937, 59.8548, 64.1753, 55.1781, 56.7562, 50.1096,
    59.6301, 57.0521, 39.2712, 43.1233, 38.8932, 44.6, 53.9068, 44.2055, 59.589, 74.5041, 43.137, 63.2192, 64.4247,
    58.3096,
]  # fmt: skip
RESID = [2, 2, 2, 2, 2, 1, 2, 2, 2, 1, 1, 1, 2, 2, 1, 1, 2, 1, 1, 2, 1, 2, 2, 1, 2, 1]
RX = [1, 1, 1, 2, 1, 1, 2, 2, 1, 2, 1, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 1, 1, 2, 2, 2]
ECOG = [1, 1, 2, 1, 1, 2, 2, 2, 1, 2, 2, 1, 2, 1, 1, 2, 2, 1, 1, 1, 2, 2, 1, 2, 1, 1]
OVARIAN = np.column_stack([AGE, RESID, RX, ECOG]).astype(float)
AGE_, RESID_, RX_, ECOG_ = range(4)


def one(test: Any, column: int, given: tuple[int, ...]) -> tuple[float, float]:
    found = test.tested(np.array([column]), given)
    return float(found.statistic[0]), float(found.log_p[0])


# R: r <- cor(resid(lm(mpg ~ wt + qsec, mtcars)), resid(lm(hp ~ wt + qsec, mtcars)))
#    z <- atanh(r) * sqrt(32 - 2 - 3); log(2) + pnorm(-abs(z), log.p = TRUE); without wt and qsec likewise.
@pytest.mark.parametrize(
    ("column", "given", "z", "log_p"),
    [
        pytest.param(HP_, (WT_, QSEC_), -1.158584314691, -1.399883616271, id="two given"),
        pytest.param(WT_, (), -7.127433035576, -27.608692330481, id="none given"),
    ],
)
def test_fishers_z_is_that_of_r(column: int, given: tuple[int, ...], z: float, log_p: float) -> None:
    test = FisherZ.of(CARS, np.array(MPG))
    np.testing.assert_allclose(one(test, column, given), (z, log_p), rtol=1e-9)


# R: c1 <- glm.control(epsilon = 1e-14, maxit = 100); a <- glm(am ~ qsec, binomial, mtcars, control = c1)
#    b <- update(a, ~ . + hp); anova(a, b, test = "LRT"): Deviance 14.70815961, Pr(>Chi) 0.0001255.
#    library(nnet); multinom(factor(gear) ~ mpg + hp, mtcars, reltol = 1e-15, maxit = 5000), and so on;
#    s <- 2 * (logLik(b) - logLik(a)); pchisq(s, 2, lower = FALSE, log.p = TRUE).
@pytest.mark.parametrize(
    ("codes", "column", "given", "statistic", "log_p"),
    [
        pytest.param(AM, HP_, (QSEC_,), 14.70815960484, -8.98318838537, id="two classes, one given"),
        pytest.param(AM, MPG_, (), 13.55456562862, -8.36995037147, id="two classes, none given"),
        pytest.param(GEAR, MPG_, (), 18.57498558685, -9.28749279343, id="three classes, none given"),
        pytest.param(GEAR, HP_, (MPG_,), 19.43502643974, -9.71751321987, id="three classes, one given"),
    ],
)
def test_the_likelihood_ratio_of_logistic_regressions_is_that_of_r(
    codes: Any, column: int, given: tuple[int, ...], statistic: float, log_p: float
) -> None:
    test = LikelihoodRatio.logistic(CARS, codes, int(codes.max()) + 1)
    np.testing.assert_allclose(one(test, column, given), (statistic, log_p), rtol=1e-7)


# R: a <- coxph(Surv(futime, fustat) ~ age, ovarian, control = coxph.control(eps = 1e-12)); b <- update(a, ~ . + rx)
#    s <- 2 * (b$loglik[2] - a$loglik[2]); pchisq(s, 1, lower = FALSE, log.p = TRUE), and so on.
@pytest.mark.parametrize(
    ("column", "given", "statistic", "log_p"),
    [
        pytest.param(AGE_, (), 14.29358616016, -8.76311377914, id="none given"),
        pytest.param(RX_, (AGE_,), 1.59249685615, -1.57518255834, id="one given"),
        pytest.param(RESID_, (AGE_, ECOG_, RX_), 1.12812961809, -1.24418857084, id="three given"),
    ],
)
def test_the_likelihood_ratio_of_cox_regressions_is_that_of_r(
    column: int, given: tuple[int, ...], statistic: float, log_p: float
) -> None:
    test = LikelihoodRatio.cox(OVARIAN, survival_target((FUSTAT, FUTIME)))
    np.testing.assert_allclose(one(test, column, given), (statistic, log_p), rtol=1e-8)


def test_p_values_too_small_for_a_float_have_a_logarithm() -> None:
    # R: pchisq(5000, c(1, 2, 6, 7), lower = FALSE, log.p = TRUE)
    found = [float(log_p_chi_square(np.array([5000.0]), df)[0]) for df in (1, 2, 6, 7)]
    np.testing.assert_allclose(found, [-2504.48458785, -2500.0, -2485.04425516, -2481.63985848], rtol=1e-11)
    statistic = np.array([0.0, 1e-9, 0.3, 2.0, 40.0])
    for df in range(1, 9):
        np.testing.assert_allclose(
            np.exp(log_p_chi_square(statistic, df)), stats.chi2.sf(statistic, df), rtol=1e-12
        )
    z = np.array([-3.0, 0.0, 0.5, 6.0])
    np.testing.assert_allclose(np.exp(log_p_normal(z)), 2 * stats.norm.sf(np.abs(z)), rtol=1e-12)


def each_kind(X: Any, signal: Any) -> dict[str, Any]:
    return {
        "fisher": FisherZ.of(X, signal),
        "logistic": LikelihoodRatio.logistic(X, (signal > 0).astype(np.int32), 2),
        "multinomial": LikelihoodRatio.logistic(X, np.digitize(signal, [-0.5, 0.5]).astype(np.int32), 3),
        "cox": LikelihoodRatio.cox(X, survival_target((np.ones(len(X), dtype=bool), np.exp(-signal)))),
    }


@pytest.mark.parametrize("kind", ["fisher", "logistic", "multinomial", "cox"])
def test_what_is_a_linear_combination_of_the_given_adds_nothing(kind: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 5))
    X[:, 3] = 1e6 - 2.5 * X[:, 0] + X[:, 1]
    X[:, 4] = 7.0
    test = each_kind(X, X[:, 0] + rng.normal(size=80))[kind]
    found = test.tested(np.array([3, 4]), (0, 1))
    np.testing.assert_array_equal(found.log_p, [0.0, 0.0])
    np.testing.assert_array_equal(found.statistic, [0.0, 0.0])
    # What is given may depend on itself too: it says as much as without.
    of_two, of_three = one(test, 2, (0, 1)), one(test, 2, (0, 1, 3))
    n_given = 1.0 if kind != "fisher" else np.sqrt((80 - 3 - 3) / (80 - 2 - 3))
    assert of_three[0] == pytest.approx(of_two[0] * n_given, rel=1e-6)


@pytest.mark.parametrize("kind", ["fisher", "logistic", "multinomial", "cox"])
def test_units_and_the_order_of_the_given_do_not_matter(kind: str) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 4))
    signal = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=60)
    before = each_kind(X, signal)[kind].tested(np.arange(2), (2, 3))
    after = each_kind(X * [1e-150, 1e170, -3.0, 1e5] + [0.0, 0.0, 5.0, 1e7], signal)[kind]
    found = after.tested(np.arange(2), (3, 2))
    np.testing.assert_allclose(np.abs(found.statistic), np.abs(before.statistic), rtol=1e-6)


def test_a_column_that_determines_the_target_has_a_finite_statistic() -> None:
    x = np.arange(24.0)
    X = np.column_stack([x, np.random.default_rng(0).normal(size=24)])
    # The log-likelihood rises to 0, from 24 log(1/2), from 24 log(1/3), and from minus the logarithm of 24!.
    codes = (x >= 12).astype(np.int32)
    assert one(LikelihoodRatio.logistic(X, codes, 2), 0, ())[0] == pytest.approx(48 * np.log(2), rel=1e-6)
    codes = (x // 8).astype(np.int32)
    assert one(LikelihoodRatio.logistic(X, codes, 3), 0, ())[0] == pytest.approx(48 * np.log(3), rel=1e-6)
    cox = LikelihoodRatio.cox(X, survival_target((np.ones(24, dtype=bool), 24.0 - x)))
    assert one(cox, 0, ())[0] == pytest.approx(2 * np.log(np.arange(1, 25)).sum(), rel=1e-3)
    statistic, log_p = one(FisherZ.of(X, 3 * x + 1), 0, ())
    assert np.isfinite([statistic, log_p]).all()
    # Beside it, nothing is left to tell.
    assert one(FisherZ.of(X, 3 * x + 1), 1, (0,)) == (0.0, 0.0)


def test_models_are_fitted_once() -> None:
    n_fits = 0

    def counting(basis: Any) -> float:
        nonlocal n_fits
        n_fits += 1
        return float(basis.shape[1])

    test = LikelihoodRatio(np.linalg.qr(np.random.default_rng(0).normal(size=(9, 3)))[0], counting, 1, 9)
    test.tested(np.array([0]), (1, 2))
    test.tested(np.array([2]), (1, 0))  # the model of all three is known
    assert n_fits == 3


@pytest.mark.parametrize(
    ("n_rows", "df", "most"), [(100, 1, 18), (15, 1, 1), (14, 1, 0), (3, 1, 0), (100, 4, 3), (19, 2, 0)]
)
def test_as_many_are_given_as_there_are_five_rows_a_parameter(n_rows: int, df: int, most: int) -> None:
    assert LikelihoodRatio(np.zeros((1, 1)), lambda basis: 0.0, df, n_rows).most_given() == most


def test_fisher_counts_rows_and_cox_counts_events() -> None:
    assert FisherZ.of(CARS, np.array(MPG)).most_given() == 4  # 30 of 32 rows for 6 parameters
    assert LikelihoodRatio.cox(OVARIAN, survival_target((FUSTAT, FUTIME))).most_given() == 1  # 10 of 12 events


def test_constant_columns_are_found_in_spite_of_rounding() -> None:
    X = np.column_stack([np.full(9, 0.1) * 3, np.arange(9.0), 1e8 + np.arange(9.0) * 1e-4, np.zeros(9)])
    X[::2, 0] = 0.3  # 0.30000000000000004 otherwise
    assert varying(X).tolist() == [False, True, True, False]


def test_what_cannot_be_tested_has_its_sentence() -> None:
    with pytest.raises(InputError, match="needs at least 4 rows, got n_samples=3"):
        FisherZ.of(np.eye(3), np.arange(3.0))
    with pytest.raises(InputError, match="the target has the one value 2,"):
        FisherZ.of(np.eye(5), np.full(5, 2.0))


def level(n_repetitions: int) -> None:
    """Each test of a column that is independent given another rejects as often as it should."""
    n_rejected = dict.fromkeys(("fisher", "two classes", "three classes", "cox"), 0)
    for repetition in range(n_repetitions):
        rng = np.random.default_rng([7, repetition])
        z = rng.normal(size=150)
        X, signal = np.column_stack([z, z + rng.normal(size=150)]), 0.7 * z
        of_three = np.column_stack([np.zeros(150), signal, -signal]) + rng.gumbel(size=(150, 3))
        times = np.exp(-signal) * rng.exponential(size=150)
        tests: dict[str, Any] = {
            "fisher": FisherZ.of(X, signal + rng.normal(size=150)),
            "two classes": LikelihoodRatio.logistic(X, (signal + rng.logistic(size=150) > 0).astype(np.int32), 2),
            "three classes": LikelihoodRatio.logistic(X, of_three.argmax(axis=1).astype(np.int32), 3),
            "cox": LikelihoodRatio.cox(X, survival_target((rng.random(150) < 0.7, times))),
        }
        for name, test in tests.items():
            n_rejected[name] += one(test, 1, (0,))[1] <= np.log(0.05)
    # Four tests, two sides: each bound fails with 1 in 80 000, all together with 1 in 10 000. The likelihood ratios
    # are right in large samples only; of 150 rows they may reject up to .065.
    for name, found in n_rejected.items():
        most = 0.05 if name == "fisher" else 0.065
        assert found <= stats.binom.isf(1 / 80_000, n_repetitions, most), name
        assert found >= stats.binom.ppf(1 / 80_000, n_repetitions, 0.05), name


def test_the_tests_keep_their_level() -> None:
    level(200)


@pytest.mark.slow
def test_the_tests_keep_their_level_in_many_repetitions() -> None:
    level(4000)

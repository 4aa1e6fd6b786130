"""Shrinkage discriminant analysis: by hand, as R's sda 1.3.9 says, and against the matrices written out."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import fractional_matrix_power
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectFromModel

from heldout.errors import InputError
from heldout.spaces import ShrinkageDiscriminant
from heldout_papers.spaces.shrinkage import ShrunkCorrelation, shrunk_frequencies, shrunk_variances

IRIS, SPECIES = load_iris(return_X_y=True)
FEW = [*range(10), *range(50, 57), *range(100, 105)]
WIDE_ROWS = [50, 51, 52, 100, 101, 102, 103]


def wide() -> np.ndarray[Any, Any]:
    """Seven rows of ten columns: iris, its squares and two products."""
    four = IRIS[WIDE_ROWS]
    return np.column_stack([four, four**2, four[:, 0] * four[:, 1], four[:, 2] * four[:, 3]])


def test_frequencies_by_hand() -> None:
    # 1 and 3 of 4: the variances sum to (3/16 + 3/16) / 3 = 1/8, the squared distances from 1/2 to 2/16.
    frequencies, intensity = shrunk_frequencies(np.array([1, 3]), None)
    assert intensity == 1.0
    np.testing.assert_allclose(frequencies, [0.5, 0.5])
    # 1 and 9 of 10: 0.18 / 9 = 0.02 over 0.32.
    frequencies, intensity = shrunk_frequencies(np.array([1, 9]), None)
    assert intensity == pytest.approx(0.0625)
    np.testing.assert_allclose(frequencies, [0.125, 0.875])


def test_variances_by_hand() -> None:
    # Squares 1, 0, 1 / 4, 0, 4 / 9, 0, 9: variances 1, 4 and 9, with median 4 and squared distances 9 + 0 + 25;
    # 3 / 8 times the squares' sums of squares 2/3 + 32/3 + 54 = 196/3 is 24.5.
    centred = np.array([[-1.0, -2.0, -3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    variances, intensity = shrunk_variances(centred, None)
    assert intensity == pytest.approx(24.5 / 34)
    np.testing.assert_allclose(variances, [4 - 3 * 9.5 / 34, 4, 4 + 5 * 9.5 / 34])


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.5])
@pytest.mark.parametrize(("n", "p"), [(6, 9), (12, 4)])
def test_correlations_are_those_of_the_matrix_written_out(n: int, p: int, exponent: float) -> None:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    X -= X.mean(axis=0)
    z = X / X.std(axis=0, ddof=1)
    errors = distance = 0.0
    for i in range(p):
        for j in range(p):
            if i != j:
                w = z[:, i] * z[:, j]
                errors += n / (n - 1) ** 3 * ((w - w.mean()) ** 2).sum()
                distance += (n / (n - 1) * w.mean()) ** 2
    expected = min(1.0, errors / distance)
    matrix = expected * np.eye(p) + (1 - expected) * np.corrcoef(X.T)

    found = ShrunkCorrelation.of(X, None)

    assert 0 < expected < 1
    assert found.intensity == pytest.approx(expected)
    np.testing.assert_allclose(
        found.power(exponent, np.eye(p)), fractional_matrix_power(matrix, exponent), atol=1e-9
    )


R_CASES: dict[str, tuple[dict[str, Any], list[float], list[float], list[list[float]], list[list[float]]]] = {
    "auto": (
        {},
        [0.166179820467, 0.250247131908, 1.0],
        [40.1086741480, -44.8582121405, -128.8355398335],
        [
            [5.962890755116, 30.11332163407, -59.4426010723, -14.30283173005],
            [0.645129505269, -9.61209577319, 15.8762468937, 1.30025880385],
            [-6.608020260385, -20.50122586088, 43.5663541786, 13.00257292620],
        ],
        [
            [-0.430863756063, 2.30093279586, -1.8700690398],
            [15.641466163138, -5.20123558607, -10.4402305771],
            [-36.754012932306, 9.93251980649, 26.8214931258],
            [-13.259766544741, 1.93720521613, 11.3225613286],
        ],
    ),
    "diagonal": (
        {"diagonal": True},
        [1.0, 0.250247131908, 1.0],
        [151.4859072674, -67.0039475003, -195.8916893429],
        [
            [-6.32774276530, 2.56121556914, -39.5232537466, -28.76633778652],
            [2.93852441808, -1.40920438218, 10.6888238812, 5.24469141964],
            [3.38921834723, -1.15201118696, 28.8344298654, 23.52164636688],
        ],
        [
            [-8.35488134768, 3.87990216431, 4.47497918337],
            [2.53234988391, -1.39332221646, -1.13902766745],
            [-32.60810404433, 8.81866365218, 23.78944039215],
            [-18.09084670418, 3.29833116706, 14.79251553712],
        ],
    ),
    "given": (
        {"shrinkage": 0.3, "shrinkage_variances": 0.2, "shrinkage_frequencies": 0.1},
        [0.3, 0.2, 0.1],
        [31.3727338144, -64.3169181049, -148.2409924215],
        [
            [2.569129054574, 20.2272309701, -41.1832330419, -15.45209941834],
            [0.221110213216, -12.2004033374, 22.8382568766, 5.98261614509],
            [-5.075413623720, -21.2233524783, 45.9021136770, 20.69860524549],
        ],
        [
            [-1.81072524814, 2.47552796485, -0.599234811781],
            [13.91943202999, -6.66405001749, -8.937804994233],
            [-35.68945500271, 15.25021696304, 24.927973769452],
            [-14.93004143351, 4.90141994051, 12.047269677628],
        ],
    ),
}


@pytest.mark.parametrize("case", R_CASES)
def test_iris_as_in_r(case: str) -> None:
    parameters, intensities, intercept, coef, scores = R_CASES[case]
    model = ShrinkageDiscriminant(**parameters).fit(IRIS[FEW], SPECIES[FEW])

    found = [model.shrinkage_, model.shrinkage_variances_, model.shrinkage_frequencies_]
    np.testing.assert_allclose(found, intensities, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-9)
    np.testing.assert_allclose(model.cat_scores_, scores, rtol=1e-9)
    if case == "diagonal":
        probabilities = model.predict_proba(IRIS[[139]])
        np.testing.assert_allclose(probabilities, [[0, 1.133932e-05, 0.99998866068]], atol=1e-10)


def test_more_columns_than_rows_as_in_r() -> None:
    model = ShrinkageDiscriminant().fit(wide(), SPECIES[WIDE_ROWS])

    found = [model.shrinkage_, model.shrinkage_variances_, model.shrinkage_frequencies_]
    np.testing.assert_allclose(found, [0.382839498012, 0.268229307303, 1.0], rtol=1e-9)
    of_second = [-0.499969118945, -1.75389359183, 1.02290638642, -0.770867198751, -0.164259127457]
    of_second += [-1.6415696691, 0.897965044994, 0.971784461419, -0.942425614447, 1.16652347046]
    np.testing.assert_allclose(model.coef_, [np.multiply(2, of_second)], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, [1.67314196311 + 14.45089642528], rtol=1e-9)
    scores = [0.8995993416489, 1.7016732795821, -1.7198390322515, -0.0677044806568, 1.7331956431706]
    scores += [3.1084236539720, -5.2691333093439, -2.4806873170917, 3.1207914455834, -4.0926324284195]
    np.testing.assert_allclose(model.cat_scores_, np.column_stack([scores, np.negative(scores)]), rtol=1e-9)


def test_without_shrinkage_it_is_linear_discriminant_analysis() -> None:
    plain = ShrinkageDiscriminant(shrinkage=0, shrinkage_variances=0, shrinkage_frequencies=0)
    model = plain.fit(IRIS[FEW], SPECIES[FEW])
    other = LinearDiscriminantAnalysis(solver="lsqr").fit(IRIS[FEW], SPECIES[FEW])

    # The covariance of lsqr is over n, and ours over n - 3.
    ours = model.coef_ - model.coef_[0]
    np.testing.assert_allclose(ours * 22 / 19, other.coef_ - other.coef_[0], rtol=1e-7)
    np.testing.assert_allclose(model.priors_, [10 / 22, 7 / 22, 5 / 22])


def test_a_correlation_puts_the_column_that_helps_beside_another_first() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 500)
    noise = rng.normal(size=1000)
    # The second column knows nothing of the class, but what it knows is the noise in the first.
    X = np.column_stack([y + noise + 0.1 * rng.normal(size=1000), noise, rng.normal(size=1000)])

    alone = ShrinkageDiscriminant(diagonal=True).fit(X, y).feature_scores_
    together = ShrinkageDiscriminant().fit(X, y).feature_scores_

    assert alone[1] < 10 < 100 < together[1]
    chosen = SelectFromModel(ShrinkageDiscriminant(), importance_getter="feature_scores_", max_features=2)
    assert chosen.fit(X, y).get_support().tolist() == [True, True, False]


def test_probabilities_and_scores_agree() -> None:
    model = ShrinkageDiscriminant().fit(IRIS[50:], SPECIES[50:])
    log_odds = model.decision_function(IRIS)
    np.testing.assert_allclose(model.predict_proba(IRIS)[:, 1], 1 / (1 + np.exp(-log_odds)))
    assert (model.predict(IRIS) == np.where(log_odds > 0, 2, 1)).all()


def test_constant_columns_count_for_nothing_and_a_column_without_spread_is_refused() -> None:
    X = pd.DataFrame({"a": IRIS[FEW, 0], "b": IRIS[FEW, 2], "always": 0.1})
    plain = ShrinkageDiscriminant(shrinkage=0.5, shrinkage_variances=0)
    with_it, without = plain.fit(X, SPECIES[FEW]).coef_, plain.fit(X[["a", "b"]], SPECIES[FEW]).coef_
    np.testing.assert_allclose(with_it, np.column_stack([without, np.zeros(3)]))

    told = X.assign(told=SPECIES[FEW] * 0.1)
    with pytest.raises(InputError, match="column 'told' is constant within every class and differs between them"):
        plain.fit(told, SPECIES[FEW])
    assert np.isfinite(plain.set_params(shrinkage_variances=0.1).fit(told, SPECIES[FEW]).coef_).all()


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(InputError, match="more rows than classes, got 2 rows of 2"):
        ShrinkageDiscriminant().fit([[1.0], [2.0]], [0, 1])
    for name in ("shrinkage", "shrinkage_variances", "shrinkage_frequencies"):
        for value in (-0.1, 1.1, float("nan"), "most", True):
            with pytest.raises(InputError, match=f"{name} must be a number from 0 to 1, or 'auto', got"):
                ShrinkageDiscriminant(**{name: value}).fit(IRIS, SPECIES)

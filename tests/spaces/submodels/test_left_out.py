"""The formulas of leave-one-out against as many fits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import sigmoid_kernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from heldout.spaces.submodels import SeparateFitsError, closed_form_of, family_of

ROWS = 18


def _rows(kind: str) -> tuple[Any, Any, dict[str, Any]]:
    target, _, feature = kind.partition("-")
    random = np.random.default_rng(7)
    X = random.normal(size=(ROWS, 40 if feature == "wide" else 4)) + 1.0
    signal = X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * random.normal(size=ROWS)
    y = {
        "binary": np.where(signal > np.median(signal), "yes", "no"),
        "multiclass": np.argsort(np.argsort(signal)) * 3 // ROWS,
        "regression": signal + 3.0,
    }[target]
    weights = {"sample_weight": random.integers(1, 4, size=ROWS) / 2} if feature == "weighted" else {}
    return X, y, weights


def _alone(estimator: Any, X: Any, y: Any, responses: Sequence[str], weights: Mapping[str, Any]) -> dict[str, Any]:
    predicted: dict[str, list[Any]] = {response: [] for response in responses}
    for row in range(ROWS):
        others = np.arange(ROWS) != row
        model = clone(estimator).fit(
            X[others], y[others], **{name: value[others] for name, value in weights.items()}
        )
        for response in responses:
            predicted[response].append(getattr(model, response)(X[row : row + 1])[0])
    return {response: np.array(rows) for response, rows in predicted.items()}


ALPHAS = [{"alpha": alpha} for alpha in (1.0, 30)]
SHRINKAGES = [{"shrinkage": shrinkage} for shrinkage in (0.3, None)]
NEIGHBOURS = [{"n_neighbors": k, "weights": weights} for k in (3, 1) for weights in ("uniform", "distance")]
PROCESS = GaussianProcessRegressor(ConstantKernel(4.0) * RBF(2.0), optimizer=None)
BOTH = ("predict", "decision_function")
CASES: list[tuple[Any, Sequence[Mapping[str, Any]], Sequence[str], Sequence[str]]] = [
    (Ridge(), ALPHAS, ["regression", "regression-weighted"], ["predict"]),
    (Ridge(), [{"alpha": 5.0}], ["regression-wide"], ["predict"]),
    (Ridge(fit_intercept=False), ALPHAS, ["regression"], ["predict"]),
    (RidgeClassifier(), ALPHAS, ["binary", "multiclass", "binary-weighted"], BOTH),
    (LinearDiscriminantAnalysis(solver="lsqr"), SHRINKAGES, ["binary", "multiclass"], (*BOTH, "predict_proba")),
    (LinearDiscriminantAnalysis(solver="eigen"), SHRINKAGES, ["binary", "multiclass"], (*BOTH, "predict_proba")),
    (LinearDiscriminantAnalysis(), [{"shrinkage": None}], ["binary", "multiclass"], (*BOTH, "predict_proba")),
    (KernelRidge(kernel="rbf"), ALPHAS, ["regression", "regression-weighted"], ["predict"]),
    (PROCESS, ALPHAS, ["regression"], ["predict"]),
    (KNeighborsClassifier(), NEIGHBOURS, ["binary", "multiclass"], ("predict", "predict_proba")),
    (KNeighborsRegressor(), NEIGHBOURS, ["regression"], ["predict"]),
    (KNeighborsRegressor(algorithm="brute"), NEIGHBOURS[::2], ["regression"], ["predict"]),
]


@pytest.mark.parametrize(
    ("estimator", "values", "kind", "responses"),
    [
        pytest.param(estimator, values, kind, responses, id=f"{type(estimator).__name__}-{place}-{kind}")
        for place, (estimator, values, kinds, responses) in enumerate(CASES)
        for kind in kinds
    ],
)
def test_formulas_predict_as_the_fits_without_each_row(
    estimator: Any, values: Sequence[Mapping[str, Any]], kind: str, responses: Sequence[str]
) -> None:
    X, y, weights = _rows(kind)
    form = closed_form_of(estimator)
    assert form is not None
    fits = [_alone(clone(estimator).set_params(**value), X, y, responses, weights) for value in values]
    for response in responses:
        predicted = form.predict_left_out(clone(estimator), values, X, y, response, **weights)
        for alone, ours in zip(fits, predicted, strict=True):
            theirs = alone[response]
            assert ours is not None
            assert ours.shape == theirs.shape
            if theirs.dtype.kind == "f":
                assert np.max(np.abs(ours - theirs)) <= 1e-12 * np.max(np.abs(theirs))
            else:
                assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(positive=True),
        RidgeClassifier(class_weight="balanced"),
        LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
        GaussianProcessRegressor(ConstantKernel(4.0)),
        GaussianProcessRegressor(normalize_y=True),
        KNeighborsClassifier(metric="precomputed"),
        KNeighborsClassifier(algorithm="brute", metric="mahalanobis"),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_parameters_exclude_the_formula(estimator: Any) -> None:
    assert closed_form_of(estimator) is None


def test_doubtful_values_and_data_are_fitted() -> None:
    X, y, _ = _rows("regression")
    ridge: Any = closed_form_of(Ridge())
    found = ridge.predict_left_out(Ridge(), [{"alpha": 0}, {"alpha": 1e-9}], X * [1, 1, 1, 1e5], y, "predict")
    assert found == [None, None]
    tied = np.round(X)
    nearest: Any = closed_form_of(KNeighborsRegressor())
    assert nearest.predict_left_out(KNeighborsRegressor(), [{"n_neighbors": 3}], tied, y, "predict") == [None]
    shrunk: Any = closed_form_of(LinearDiscriminantAnalysis(solver="svd"))
    values = [{"shrinkage": 0.1}]
    assert shrunk.predict_left_out(LinearDiscriminantAnalysis(), values, X, y > 3, "predict") == [None]
    with pytest.raises(SeparateFitsError):
        labels = np.arange(ROWS) == 3
        closed: Any = closed_form_of(LinearDiscriminantAnalysis())
        closed.predict_left_out(LinearDiscriminantAnalysis(), [{"shrinkage": None}], X, labels, "predict")


def test_distances_that_are_no_numbers_have_no_neighbours() -> None:
    X, y, _ = _rows("regression")
    model = KNeighborsClassifier(3, algorithm="brute", metric="correlation")  # a single column has none
    family: Any = family_of(model)
    shared = family.fit_many(model, [{"n_neighbors": 1}, {"n_neighbors": 3}], X[:, :1], y > np.median(y))
    with pytest.raises(SeparateFitsError, match="no numbers"):
        shared.predict_many(X[:3, :1], "predict")
    form: Any = closed_form_of(model)
    with pytest.raises(SeparateFitsError, match="no numbers"):
        form.predict_left_out(model, [{"n_neighbors": 3}], X[:, :1], y > np.median(y), "predict")


@pytest.mark.parametrize(
    ("estimator", "value"),
    [
        (LinearDiscriminantAnalysis(solver="lsqr"), {"shrinkage": 0.5}),
        (LinearDiscriminantAnalysis(solver="eigen"), {"shrinkage": 0.5}),
        (RidgeClassifier(), {"alpha": 1.0}),
    ],
)
def test_a_row_between_two_classes_is_fitted(estimator: Any, value: Any) -> None:
    # Without the first row, which stands in the middle, each class is the other one mirrored.
    X = np.array([[0.0, 0.0], [1.3, 0.2], [-1.3, -0.2], [0.7, 2.1], [-0.7, -2.1], [0.9, 0.4], [-0.9, -0.4]])
    y = np.array([0, 0, 1, 0, 1, 0, 1])
    form: Any = closed_form_of(estimator)
    assert form.predict_left_out(estimator, [value], X, y, "predict") == [None]
    X[0] = [0.5, 0.5]
    (found,) = form.predict_left_out(estimator, [value], X, y, "predict")
    assert found is not None


def test_a_parameter_that_a_fit_refuses_is_refused() -> None:
    X, y, _ = _rows("regression")
    form: Any = closed_form_of(Ridge())
    with pytest.raises(ValueError, match="max_iter"):
        form.predict_left_out(Ridge(max_iter=0), [{"alpha": 1.0}], X, y, "predict")


def test_a_kernel_with_an_eigenvalue_near_minus_alpha_is_fitted() -> None:
    X, y, _ = _rows("regression")
    ridge = KernelRidge(kernel="sigmoid", gamma=1.0, coef0=0.0)
    form: Any = closed_form_of(ridge)
    least = float(np.linalg.eigvalsh(sigmoid_kernel(X, gamma=1.0, coef0=0.0))[0])
    assert least < -1e-3
    values = [{"alpha": -least * (1 + 1e-7)}, {"alpha": -0.5 * least}]
    assert form.predict_left_out(ridge, values, X, y, "predict") == [None, None]

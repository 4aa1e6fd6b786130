"""Every provider of submodels against separate fits, on a kind of data or two; tests/slow has them on all kinds."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from provider_contract import Case, assert_same, check_predictions, each_kind, grid_of, read_only, rows_of
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.feature_selection import RFE, SelectKBest, SelectPercentile, f_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.spaces.submodels import SeparateFitsError, family_of
from heldout.spaces.submodels.ridge import fit_ridge

scaled = partial(TransformedTargetRegressor, transformer=StandardScaler())
logarithms = partial(TransformedTargetRegressor, func=np.log1p, inverse_func=np.expm1)


def _cases() -> list[Case]:
    rounds, members = grid_of("max_iter", (4, 1, 6, 4)), grid_of("n_estimators", (4, 1, 6, 4))
    prunings, alphas = grid_of("ccp_alpha", (0.01, 0.0, 0.05, 0.01)), grid_of("alpha", (1, 0.01, 300.0, 1))
    neighbours = [{"n_neighbors": k, "weights": w} for k in (3, 1, 8) for w in ("uniform", "distance")]
    newton = LogisticRegression(tol=1e-10, solver="newton-cholesky", max_iter=200)
    net = ElasticNet(tol=1e-14, max_iter=100_000, l1_ratio=0.3)
    stumps, five = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=5)
    return [
        Case(HistGradientBoostingClassifier(min_samples_leaf=4), rounds, ["multiclass"]),
        Case(HistGradientBoostingRegressor(min_samples_leaf=4), rounds, ["regression-weighted"]),
        Case(GradientBoostingClassifier(random_state=1, subsample=0.5, max_features=2), members, ["multiclass"]),
        Case(GradientBoostingRegressor(random_state=1), members, ["regression-sparse"]),
        Case(AdaBoostClassifier(stumps, random_state=1), members, ["binary-weighted"]),
        Case(AdaBoostClassifier(five, random_state=1), grid_of("n_estimators", (1, 4, 5, 6, 25)), ["multiclass"]),
        Case(AdaBoostRegressor(random_state=1), members, ["regression"]),
        Case(RandomForestClassifier(random_state=2, class_weight="balanced_subsample"), members, ["binary"]),
        Case(ExtraTreesRegressor(random_state=2), members, ["regression-tied"]),
        Case(BaggingClassifier(SVC(), random_state=2, max_samples=40), members, ["multiclass"], name="votes"),
        Case(DecisionTreeClassifier(random_state=1), prunings, ["multiclass-tied"]),
        Case(DecisionTreeRegressor(random_state=1), prunings, ["regression-weighted"]),
        Case(Ridge(), alphas, ["regression-weighted", "regression-wide"], True),
        Case(RidgeClassifier(class_weight="balanced"), alphas, ["multiclass"], True),
        Case(KernelRidge(kernel="rbf"), alphas, ["regression-weighted"], True),
        Case(PLSRegression(), grid_of("n_components", (3, 1, 5)), ["regression"]),
        Case(newton, grid_of("C", (1, 0.01, 30.0)), ["binary-weighted", "multiclass"], False, tolerance=1e-5),
        Case(Lasso(tol=1e-14, max_iter=100_000), alphas, ["regression-sparse"], False, tolerance=1e-4),
        Case(net, grid_of("alpha", (1, 0.01, 0.3)), ["regression-weighted"], False, tolerance=1e-4),
        Case(KNeighborsClassifier(), neighbours, ["multiclass-tied"], True),
        Case(KNeighborsRegressor(algorithm="brute"), neighbours, ["regression-offset"], True),
        Case(scaled(Ridge()), grid_of("regressor__alpha", (1, 0.01)), ["regression"], True),
        Case(logarithms(DecisionTreeRegressor(random_state=1)), grid_of("regressor__ccp_alpha", (0.01, 0.0)),
             ["regression"]),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@each_kind(_cases())
def test_one_fit_predicts_as_separate_fits(case: Case, kind: str) -> None:
    check_predictions(case, kind)


@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize(
    ("estimator", "values", "kind"),
    [
        (SelectKBest(), grid_of("k", (3, "all", 1, 6, 0)), "binary-copies"),
        (SelectPercentile(f_classif), grid_of("percentile", (50, 100, 0, 33.4)), "multiclass"),
        (RFE(LogisticRegression(random_state=1)), grid_of("n_features_to_select", (3, 1, 6)), "binary"),
        (PCA(), grid_of("n_components", (3, 1, 5, 3)), "regression-copies"),
        (PCA(whiten=True, svd_solver="covariance_eigh"), grid_of("n_components", (3, 1)), "regression"),
    ],
    ids=["k best", "percentile", "recursive", "components", "whitened"],
)
def test_one_fit_transforms_as_separate_fits(estimator: Any, values: list[dict[str, Any]], kind: str) -> None:
    rows, family = read_only(rows_of(kind)), family_of(estimator)
    assert family is not None
    many: Any = family.fit_many(clone(estimator), values, rows.X, rows.y)
    for value, entry in zip(values, many.fit_transform_many(), strict=True):
        alone = clone(estimator).set_params(**value)
        expected = alone.fit_transform(rows.X, rows.y)
        transformed, model = entry
        assert type(model) is type(alone)
        assert model.get_params()[next(iter(value))] == value[next(iter(value))]
        case = Case(estimator, values, [kind])
        assert_same(transformed, expected, case)
        assert_same(model.transform(rows.X_new), alone.transform(rows.X_new), case)


def test_selections_of_tables_give_tables() -> None:
    pandas = pytest.importorskip("pandas")
    rows = rows_of("binary")
    table = pandas.DataFrame(rows.X, columns=list("abcdef"))
    selection = SelectKBest().set_output(transform="pandas")
    family = family_of(selection)
    assert family is not None
    many: Any = family.fit_many(clone(selection), grid_of("k", (2, 3)), table, rows.y)
    for k, entry in zip((2, 3), many.fit_transform_many(), strict=True):
        assert entry[0].equals(clone(selection).set_params(k=k).fit_transform(table, rows.y))
        assert list(entry[1].get_feature_names_out()) == list(entry[0].columns)


def test_a_family_is_that_of_the_regressor() -> None:
    family = family_of(scaled(Ridge()))
    assert family is not None
    assert (family.type, family.parameters) == (TransformedTargetRegressor, ("regressor__alpha",))
    assert pickle.loads(pickle.dumps(family)).name == family.name
    assert family_of(scaled(Lasso())) is None
    assert family_of(TransformedTargetRegressor()) is None
    assert family_of(logarithms(DecisionTreeRegressor())) is None


@pytest.mark.parametrize(
    ("estimator", "name", "shape"),
    [(LogisticRegression(), "C", (300, 101)), (Lasso(), "alpha", (300, 40_000)), (Ridge(), "alpha", (300, 2))],
)
def test_sparse_rows_with_many_columns_and_those_of_ridge_are_fitted_alone(
    estimator: Any, name: str, shape: tuple[int, int]
) -> None:
    X = sp.random_array(shape, density=0.01, format="csr", rng=np.random.default_rng(0))
    family = family_of(estimator, "tolerance")
    assert family is not None
    with pytest.raises(SeparateFitsError):
        family.fit_many(estimator, grid_of(name, (0.1, 1.0)), X, np.arange(300) % 2)


@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_ridge_predicts_rows_unlike_those_of_training_as_separate_fits(solver: str) -> None:
    """Two columns are nearly equal in training and not in new rows; small penalties are then fitted alone."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(169, 98)), rng.normal(size=(40, 98))
    X[:, 0] = X[:, 1] + 0.01 * rng.normal(size=169)
    y, alphas = X[:, 5] + rng.normal(size=169), np.logspace(-3, 3, 13)
    model = Ridge(solver=solver)
    found = fit_ridge(model, [{"alpha": alpha} for alpha in alphas], X, y).predict_many(new, "predict")
    assert found[0] is None and found[-1] is not None
    for alpha, ours in zip(alphas, found, strict=True):
        theirs = Ridge(alpha, solver=solver).fit(X, y).predict(new)
        assert ours is None or np.abs(ours - theirs).max() <= 1e-12 * np.abs(theirs).max()


def test_a_ridge_with_an_impossible_parameter_is_left_to_fail_alone() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="tol"):
        fit_ridge(Ridge(tol=-1.0), [{"alpha": 1.0}, {"alpha": 2.0}], X, X[:, 0])

"""Every provider of submodels against separate fits, and the estimators that it must not serve."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    SelectPercentile,
    f_classif,
    f_regression,
    mutual_info_classif,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor

from heldout.spaces.submodels import SeparateFitsError, family_of

ROWS, TRAINING = 90, 60


@dataclass(frozen=True, eq=False)
class Rows:
    """Training and test rows of one kind of data."""

    X: Any
    y: NDArray[Any]
    X_new: Any
    fit_params: Mapping[str, Any]


def _rows(kind: str) -> Rows:
    """Data of a kind: binary, multiclass or regression, and weighted, sparse, integer or tied after a hyphen."""
    target, _, feature = kind.partition("-")
    random = np.random.default_rng(20)
    X = random.normal(size=(ROWS, 6))
    if feature in ("integer", "tied"):
        X = np.round(X)
        X[60:] = X[random.integers(TRAINING, size=ROWS - TRAINING)]  # many distances of zero, and equal ones
    if feature == "integer":
        X = X.astype(int)
    if feature == "sparse":
        X = sp.csr_array(X * (np.abs(X) > 0.7))
    if feature == "offset":
        X = np.round(X) * 0.1 + 1e3  # rounding errors decide which rows are equally near
    if feature == "wide":
        X = np.hstack([X, random.normal(size=(ROWS, 90))])
    if feature == "copies":
        X[:, 3:] = X[:, :3]  # equal scores
    if feature == "collinear":
        X = np.hstack([X, X[:, :2] * 1e4])
    if feature == "float32":
        X = X.astype(np.float32)
    dense = X.toarray() if feature == "sparse" else X
    signal = dense[:, 0] - dense[:, 1] * dense[:, 2] + 0.5 * random.normal(size=ROWS)
    y = {
        "binary": np.where(signal > 0, "yes", "no"),
        "multiclass": np.digitize(signal, [-0.8, 0.8]) * 2 + 3,
        "regression": signal + 9.0,
    }[target]
    lightest = {"weighted": 0, "heavy": 1}.get(feature)
    weights = {} if lightest is None else {"sample_weight": random.integers(lightest, 4, size=TRAINING) / 2}
    return Rows(X[:TRAINING], y[:TRAINING], X[TRAINING:], weights)


CLASSES = ("binary", "multiclass")
CLASSIFICATION = (
    *CLASSES,
    "binary-weighted",
    "binary-sparse",
    "binary-integer",
    "multiclass-tied",
    "binary-float32",
)
REGRESSION = ("regression", "regression-weighted", "regression-sparse", "regression-integer", "regression-tied")
RESPONSES = ("predict", "predict_proba", "decision_function")
ROUNDS = (1, 2, 5, 12)


@dataclass(frozen=True, eq=False)
class Case:
    """A provider on an estimator: the values that one fit serves, and the kinds of data."""

    estimator: Any
    values: Sequence[Mapping[str, Any]]
    kinds: Sequence[str]
    exact: Any = "bitwise"
    separate: Sequence[str] = ()  # kinds on which the provider asks for separate fits
    tolerance: float = 1e-12
    name: str = ""

    def __str__(self) -> str:
        return self.name or type(self.estimator).__name__


def _grid(name: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def _without(kinds: Sequence[str], *left_out: str) -> list[str]:
    return [kind for kind in kinds if not kind.endswith(left_out)]


def _boosting() -> list[Case]:
    rounds, members = _grid("max_iter", (5, 1, 12, 5)), _grid("n_estimators", (5, 1, 12, 5))
    stumps, deep = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=9)
    # With these, boosting ends after five members.
    five, stump = DecisionTreeClassifier(max_depth=5), DecisionTreeRegressor(max_depth=1)
    early = _grid("n_estimators", (1, 4, 5, 6, 7, 25))
    return [
        Case(HistGradientBoostingClassifier(min_samples_leaf=4), rounds, _without(CLASSIFICATION, "sparse")),
        Case(HistGradientBoostingClassifier(min_samples_leaf=4, max_features=0.5, random_state=3), rounds, CLASSES),
        Case(HistGradientBoostingRegressor(min_samples_leaf=4), rounds, _without(REGRESSION, "sparse")),
        Case(HistGradientBoostingRegressor(loss="poisson", early_stopping=False), rounds, ["regression-weighted"]),
        Case(HistGradientBoostingRegressor(loss="absolute_error"), rounds, ["regression"]),
        Case(GradientBoostingClassifier(random_state=1), members, CLASSIFICATION),
        Case(GradientBoostingClassifier(random_state=1, subsample=0.5, max_features=2), members, CLASSES),
        Case(GradientBoostingRegressor(random_state=1), members, REGRESSION),
        Case(GradientBoostingRegressor(random_state=1, loss="huber", init="zero"), members, ["regression"]),
        Case(AdaBoostClassifier(stumps, random_state=1), members, CLASSIFICATION),
        Case(AdaBoostClassifier(deep, random_state=1), members, CLASSES, name="AdaBoost, a perfect member"),
        Case(AdaBoostClassifier(five, random_state=1), early, ["multiclass"], name="AdaBoost, ends early"),
        Case(AdaBoostRegressor(random_state=1), members, REGRESSION),
        Case(AdaBoostRegressor(stump, random_state=1), early, ["regression"], name="AdaBoost, ends early"),
    ]


def _forests() -> list[Case]:
    sizes = _grid("n_estimators", (7, 1, 20, 7))
    return [
        Case(RandomForestClassifier(random_state=2), sizes, CLASSIFICATION),
        Case(
            RandomForestClassifier(random_state=2, class_weight="balanced_subsample", max_samples=0.6),
            sizes,
            CLASSES,
        ),
        Case(RandomForestRegressor(random_state=np.random.RandomState(5)), sizes, REGRESSION),
        Case(ExtraTreesClassifier(random_state=2), sizes, CLASSIFICATION),
        Case(ExtraTreesRegressor(random_state=2), sizes, REGRESSION),
        Case(BaggingClassifier(random_state=2, max_features=0.5), sizes, CLASSIFICATION),
        Case(BaggingClassifier(SVC(), random_state=2, max_samples=40), sizes, CLASSES, name="Bagging, votes"),
        Case(BaggingClassifier(KNeighborsClassifier(3), random_state=2), sizes, ["multiclass"]),
        Case(BaggingRegressor(random_state=2), sizes, REGRESSION),
    ]


def _neighbours() -> list[Case]:
    grid = [{"n_neighbors": k, "weights": w} for k in (3, 1, 8, 20, 2) for w in ("uniform", "distance")]
    classifier, regressor = KNeighborsClassifier(), KNeighborsRegressor()
    kinds, numbers = _without(CLASSIFICATION, "weighted"), _without(REGRESSION, "weighted")
    brute = {"algorithm": "brute"}
    return [
        Case(classifier, grid, kinds, True),
        Case(regressor, grid, numbers, True),
        Case(KNeighborsClassifier(**brute), grid, [*kinds, "binary-offset"], True, name="KNN, brute force"),
        Case(KNeighborsRegressor(**brute), grid, [*numbers, "regression-offset"], True, name="KNN, brute force"),
        Case(
            KNeighborsClassifier(metric="manhattan", n_neighbors=4),
            _grid("weights", ("uniform", None)),
            kinds,
            True,
        ),
        Case(KNeighborsRegressor(weights="distance"), _grid("n_neighbors", (2, 25)), numbers, True),
    ]


def _ridge() -> list[Case]:
    alphas = _grid("alpha", (1, 0.01, 300.0, 1, 1e-3))
    odd = ["regression-sparse"]
    return [
        Case(Ridge(), alphas, REGRESSION, True, odd),
        Case(Ridge(fit_intercept=False), alphas, ["regression-wide"], True),
        Case(Ridge(solver="svd"), alphas, ["regression-weighted", "regression-wide"], True),
        Case(Ridge(), alphas, ["regression-wide", "regression-collinear"], True, ["regression-collinear"]),
        Case(RidgeClassifier(), alphas, CLASSIFICATION, True, ["binary-sparse", "binary-float32"]),
        Case(RidgeClassifier(class_weight="balanced"), alphas, ["binary-weighted", "multiclass"], True),
        Case(KernelRidge(kernel="rbf"), alphas, REGRESSION, True),
        Case(KernelRidge(), _grid("alpha", (1e-6, 1e-5)), ["regression"], True, ["regression"]),
    ]


def _components() -> list[Case]:
    sizes = _grid("n_components", (3, 1, 5, 3, 2))
    kinds = ["regression", "regression-integer", "regression-tied", "regression-wide", "regression-copies"]
    return [
        Case(PLSRegression(), sizes[:2] + sizes[4:], kinds, True),
        Case(PLSRegression(scale=False, tol=1e-10), sizes, kinds[:4], True),
    ]


def _trees() -> list[Case]:
    alphas = _grid("ccp_alpha", (0.01, 0.0, 0.05, 3, 0.01, 1 / 60, 1 / 120))
    classifier, regressor = DecisionTreeClassifier(random_state=1), DecisionTreeRegressor(random_state=1)
    path = regressor.cost_complexity_pruning_path(_rows("regression").X, _rows("regression").y).ccp_alphas
    return [
        Case(classifier, alphas, CLASSIFICATION),
        Case(regressor, alphas, REGRESSION),
        Case(regressor, _grid("ccp_alpha", np.abs(path)), ["regression"], name="Tree, values on the path"),
        Case(ExtraTreeRegressor(random_state=1), alphas, ["regression"]),
    ]


def _machines() -> list[Case]:
    Cs = [{"C": C, "gamma": gamma} for C in (1, 0.1, 10) for gamma in ("scale", "auto", 0.5)]
    nus = [{"nu": nu, "gamma": gamma} for nu in (0.3, 0.1) for gamma in ("scale", 0.5)]
    exact, kinds = {"tol": 1e-10}, ["binary", "multiclass", "binary-heavy", "binary-integer"]
    loose = {"exact": False, "tolerance": 1e-5}
    return [
        Case(SVC(**exact), Cs, kinds, **loose),
        Case(SVC(kernel="poly", degree=2, **exact), _grid("C", (1, 0.1)), ["binary"], **loose),
        Case(SVC(kernel="linear", **exact), _grid("C", (1, 0.1)), ["multiclass"], **loose),
        Case(SVC(), Cs, ["binary-sparse", "binary-weighted"], False, ["binary-sparse", "binary-weighted"]),
        Case(NuSVC(**exact), nus, ["binary"], **loose),
        Case(SVR(**exact), [*Cs, {"C": 1, "epsilon": 0.3}], ["regression", "regression-heavy"], **loose),
        Case(NuSVR(**exact), nus, ["regression"], **loose),
    ]


def _tolerance() -> list[Case]:
    Cs = _grid("C", (1, 0.01, 30.0, 1))
    alphas = _grid("alpha", (1, 0.01, 0.1, 1, 0.3))
    newton = LogisticRegression(tol=1e-10, solver="newton-cholesky", max_iter=200)
    lasso, net = Lasso(tol=1e-14, max_iter=100_000), ElasticNet(tol=1e-14, max_iter=100_000, l1_ratio=0.3)
    kinds = _without(CLASSIFICATION, "sparse", "float32")
    return [
        Case(newton, Cs, kinds, False, tolerance=1e-5),
        Case(clone(newton).set_params(fit_intercept=False), Cs, CLASSES, False, tolerance=1e-5),
        Case(clone(newton).set_params(class_weight="balanced"), Cs, CLASSES, False, tolerance=1e-5),
        Case(LogisticRegression(), Cs, ["binary-sparse"], False, ["binary-sparse"]),
        Case(lasso, alphas, REGRESSION, False, ["regression-sparse"], tolerance=1e-4),
        Case(net, alphas, ["regression", "regression-weighted", "regression-wide"], False, tolerance=1e-4),
        Case(Lasso(positive=True, fit_intercept=False), alphas, ["regression"], False, tolerance=1e-2),
    ]


CASES = [
    *_boosting(),
    *_forests(),
    *_neighbours(),
    *_ridge(),
    *_tolerance(),
    *_trees(),
    *_machines(),
    *_components(),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("case", "kind"), [pytest.param(case, kind, id=f"{case}-{kind}") for case in CASES for kind in case.kinds]
)
def test_one_fit_predicts_as_separate_fits(case: Case, kind: str) -> None:
    rows = _read_only(_rows(kind))
    family = family_of(case.estimator, "tolerance")
    assert family is not None
    assert family.exact == case.exact
    assert set(family.parameters) >= set().union(*case.values)
    fits = [_fit(case, value, rows) for value in case.values]
    if kind in case.separate:
        with pytest.raises(SeparateFitsError):
            family.fit_many(clone(case.estimator), case.values, rows.X, rows.y, **rows.fit_params)
        return
    many: Any = family.fit_many(clone(case.estimator), case.values, rows.X, rows.y, **rows.fit_params)
    for response in (name for name in RESPONSES if hasattr(fits[0], name)):
        shared = many.predict_many(rows.X_new, response)
        assert len(shared) == len(fits)
        for fit, predictions in zip(fits, shared, strict=True):
            _assert_same(predictions, getattr(fit, response)(rows.X_new), case)


def _fit(case: Case, value: Mapping[str, Any], rows: Rows) -> Any:
    return clone(case.estimator).set_params(**value).fit(rows.X, rows.y, **rows.fit_params)


def _read_only(rows: Rows) -> Rows:
    for array in (rows.X, rows.y):
        (array.data if sp.issparse(array) else array).flags.writeable = False
    return rows


def _assert_same(shared: Any, alone: NDArray[Any], case: Case) -> None:
    assert shared is not None
    assert shared.dtype == alone.dtype
    assert shared.shape == alone.shape
    if case.exact == "bitwise" or alone.dtype.kind not in "fc":
        assert np.array_equal(shared, alone)
    else:
        assert np.max(np.abs(shared - alone)) <= case.tolerance * np.max(np.abs(alone))


def _logistic_objective(rows: Rows, C: float, coef: NDArray[Any], intercept: NDArray[Any]) -> float:
    linear = rows.X @ np.ravel(coef) + np.ravel(intercept)
    weights = rows.fit_params.get("sample_weight", np.ones(TRAINING))
    losses = np.logaddexp(0.0, linear) - (rows.y == "yes") * linear
    return C * np.sum(weights * losses) + 0.5 * np.sum(coef**2)


def _net_objective(rows: Rows, alpha: float, coef: NDArray[Any], intercept: NDArray[Any]) -> float:
    weights = rows.fit_params.get("sample_weight", np.ones(TRAINING))
    errors = rows.y - rows.X @ np.ravel(coef) - intercept
    penalty = 0.4 * np.sum(np.abs(coef)) + 0.3 * np.sum(coef**2)
    return 0.5 * np.average(errors**2, weights=weights) + alpha * penalty


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky", "saga"])
@pytest.mark.parametrize("kind", ["binary", "binary-weighted", "binary-copies"])
def test_objectives_of_logistic_regression_are_not_above_those_of_separate_fits(kind: str, solver: str) -> None:
    _assert_objectives(
        Case(LogisticRegression(solver=solver), _grid("C", np.logspace(-3, 3, 7)), [kind]), _logistic_objective
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["regression", "regression-weighted", "regression-wide"])
def test_objectives_of_elastic_nets_are_not_above_those_of_separate_fits(kind: str) -> None:
    _assert_objectives(
        Case(ElasticNet(l1_ratio=0.4), _grid("alpha", np.logspace(-2, 1, 7)), [kind]), _net_objective
    )


def _assert_objectives(case: Case, objective: Any) -> None:
    rows = _rows(case.kinds[0])
    family = family_of(case.estimator, "tolerance")
    assert family is not None
    many: Any = family.fit_many(case.estimator, case.values, rows.X, rows.y, **rows.fit_params)
    for value, place in zip(case.values, many.positions, strict=True):
        (number,) = value.values()
        alone = _fit(case, value, rows)
        ours = objective(rows, number, many.coefficients[:, 0, place], many.intercepts[0, place])
        assert ours <= (1 + 1e-8) * objective(rows, number, alone.coef_, alone.intercept_)


def _transformers() -> list[Case]:
    k = _grid("k", (3, "all", 1, 6, 0, 2))
    percentiles = _grid("percentile", (50, 100, 0, 17, 33.4, 83))
    columns = _grid("n_features_to_select", (3, 1, 6, 3, 4))
    components = _grid("n_components", (3, 1, 5, 3))
    full = PCA(svd_solver="full")
    return [
        Case(SelectKBest(), k, [*CLASSES, "binary-sparse", "binary-integer", "binary-copies"]),
        Case(SelectKBest(f_regression), k, ["regression", "regression-tied", "regression-copies"]),
        Case(SelectPercentile(f_classif), percentiles, [*CLASSES, "binary-sparse", "binary-copies"]),
        Case(SelectKBest(partial(mutual_info_classif, random_state=3)), k, ["binary"]),
        Case(RFE(LogisticRegression(random_state=1)), columns, [*CLASSES, "binary-sparse", "binary-copies"]),
        Case(RFE(DecisionTreeRegressor(random_state=1)), columns, ["regression", "regression-tied"]),
        Case(PCA(), components, ["regression", "binary-integer", "binary-float32", "regression-copies"]),
        Case(full, components, ["regression", "binary-float32", "regression-wide"], name="PCA, full"),
        Case(PCA(whiten=True, svd_solver="covariance_eigh"), components, ["regression", "regression-wide"]),
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("case", "kind"),
    [pytest.param(case, kind, id=f"{case}-{kind}") for case in _transformers() for kind in case.kinds],
)
def test_one_fit_transforms_as_separate_fits(case: Case, kind: str) -> None:
    rows = _read_only(_rows(kind))
    family = family_of(case.estimator)
    assert family is not None
    many: Any = family.fit_many(clone(case.estimator), case.values, rows.X, rows.y)
    for value, entry in zip(case.values, many.fit_transform_many(), strict=True):
        alone = clone(case.estimator).set_params(**value)
        expected = alone.fit_transform(rows.X, rows.y)
        assert entry is not None
        transformed, model = entry
        assert type(model) is type(alone)
        assert model.get_params()[next(iter(value))] == value[next(iter(value))]
        for ours, theirs in ((transformed, expected), (model.transform(rows.X_new), alone.transform(rows.X_new))):
            _assert_same(_dense(ours), _dense(theirs), case)
        if hasattr(alone, "predict"):
            _assert_same(model.predict(rows.X_new), alone.predict(rows.X_new), case)


def _dense(X: Any) -> NDArray[Any]:
    return X.toarray() if sp.issparse(X) else X


def _boosting_packages() -> list[Any]:
    """Estimators, where they are installed, and whether a provider serves them."""
    served, excluded = [], []
    if find_spec("xgboost"):
        from xgboost import XGBClassifier, XGBRegressor

        served += [XGBClassifier(n_jobs=1, subsample=0.5, random_state=1), XGBRegressor(n_jobs=1)]
        excluded += [XGBClassifier(booster="dart"), XGBClassifier(booster="gblinear")]
        excluded += [XGBRegressor(early_stopping_rounds=3)]
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier, LGBMRegressor

        quiet = {"verbose": -1, "n_jobs": 1, "min_child_samples": 4}
        served += [LGBMClassifier(**quiet), LGBMRegressor(subsample=0.5, subsample_freq=1, **quiet)]
        excluded += [LGBMClassifier(boosting_type="dart"), LGBMRegressor(boosting_type="rf")]
        excluded += [LGBMClassifier(early_stopping_round=2)]
    if find_spec("catboost"):
        from catboost import CatBoostClassifier, CatBoostRegressor

        quiet = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
        served += [CatBoostClassifier(learning_rate=0.1, **quiet), CatBoostRegressor(learning_rate=0.3, **quiet)]
        excluded += [CatBoostClassifier(), CatBoostRegressor(learning_rate=0.1, model_shrink_rate=0.1)]
        excluded += [CatBoostClassifier(learning_rate=0.1, early_stopping_rounds=2)]
    return [
        *(
            pytest.param(estimator, True, id=f"{type(estimator).__name__}-{n}")
            for n, estimator in enumerate(served)
        ),
        *(
            pytest.param(estimator, False, id=f"not {type(estimator).__name__}-{n}")
            for n, estimator in enumerate(excluded)
        ),
    ] or [pytest.param(None, False, marks=pytest.mark.skip("no boosting package is installed"))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "is_served"), _boosting_packages())
def test_rounds_of_boosting_packages(estimator: Any, is_served: bool) -> None:
    family = family_of(estimator)
    assert (family is not None) is is_served
    if family is None:
        return
    rows = _rows("binary" if is_classifier(estimator) else "regression")
    case = Case(estimator, _grid("n_estimators", (5, 1, 12, 5)), [])
    y = (rows.y == "yes").astype(int) if is_classifier(estimator) else rows.y
    many: Any = family.fit_many(clone(estimator), case.values, rows.X, y)
    for response in (name for name in RESPONSES if hasattr(estimator, name)):
        for value, shared in zip(case.values, many.predict_many(rows.X_new, response), strict=True):
            alone = clone(estimator).set_params(**value).fit(rows.X, y)
            _assert_same(shared, getattr(alone, response)(rows.X_new), case)


@pytest.mark.parametrize("value", [0, -3, 2.5, "many", True, None])
def test_unusual_values_are_fitted_alone(value: Any) -> None:
    rows = _rows("regression")
    for estimator, name in (
        (RandomForestRegressor(random_state=1), "n_estimators"),
        (HistGradientBoostingRegressor(), "max_iter"),
        (KNeighborsRegressor(), "n_neighbors"),
    ):
        family = family_of(estimator)
        assert family is not None
        many: Any = family.fit_many(estimator, [{name: value}, {name: 2}], rows.X, rows.y)
        first, second = many.predict_many(rows.X_new, "predict")
        assert first is None
        assert second is not None


@pytest.mark.parametrize("parameters", [{"groups": np.zeros(TRAINING)}, {"X_val": 1}])
def test_other_parameters_of_fit_exclude_sharing(parameters: Mapping[str, Any]) -> None:
    rows = _rows("regression")
    for case in (
        RandomForestRegressor(random_state=1),
        HistGradientBoostingRegressor(),
        Ridge(),
        KNeighborsRegressor(),
    ):
        family = family_of(case)
        assert family is not None
        values = [dict.fromkeys(family.parameters[:1], 3)]
        with pytest.raises(SeparateFitsError):
            family.fit_many(case, values, rows.X, rows.y, **parameters)


def test_early_stopping_of_many_rows_excludes_rounds() -> None:
    X, y = np.zeros((10_001, 1)), np.zeros(10_001)
    family = family_of(HistGradientBoostingRegressor())
    assert family is not None
    with pytest.raises(SeparateFitsError):
        family.fit_many(HistGradientBoostingRegressor(), _grid("max_iter", (1, 2)), X, y)


def test_tables_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    rows = _rows("regression")
    table, new = (pandas.DataFrame(X, columns=list("abcdef")) for X in (rows.X, rows.X_new))
    for estimator, values in (
        (HistGradientBoostingRegressor(), _grid("max_iter", (2, 4))),
        (RandomForestRegressor(random_state=1), _grid("n_estimators", (2, 4))),
        (KNeighborsRegressor(), _grid("n_neighbors", (2, 4))),
        (Ridge(), _grid("alpha", (1.0, 2.0))),
        (Lasso(), _grid("alpha", (1.0, 2.0))),
        (SVR(tol=1e-9), _grid("C", (1.0, 2.0))),
        (DecisionTreeRegressor(random_state=1), _grid("ccp_alpha", (0.01, 0.02))),
    ):
        family = family_of(estimator, "tolerance")
        assert family is not None
        many: Any = family.fit_many(clone(estimator), values, table, rows.y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            shared = many.predict_many(new, "predict")
        for value, predictions in zip(values, shared, strict=True):
            alone = clone(estimator).set_params(**value).fit(table, rows.y).predict(new)
            assert np.max(np.abs(predictions - alone)) <= 1e-6


def test_selections_of_tables_give_tables() -> None:
    pandas = pytest.importorskip("pandas")
    rows = _rows("binary")
    table = pandas.DataFrame(rows.X, columns=list("abcdef"))
    selection = SelectKBest().set_output(transform="pandas")
    family = family_of(selection)
    assert family is not None
    many: Any = family.fit_many(clone(selection), _grid("k", (2, 3)), table, rows.y)
    for k, entry in zip((2, 3), many.fit_transform_many(), strict=True):
        assert entry[0].equals(clone(selection).set_params(k=k).fit_transform(table, rows.y))
        assert list(entry[1].get_feature_names_out()) == list(entry[0].columns)


EXCLUDED = [
    HistGradientBoostingClassifier(early_stopping=True),
    HistGradientBoostingRegressor(warm_start=True),
    HistGradientBoostingRegressor(max_features=0.5),
    GradientBoostingClassifier(n_iter_no_change=3, random_state=1),
    GradientBoostingClassifier(warm_start=True, random_state=1),
    GradientBoostingRegressor(),
    AdaBoostClassifier(),
    RandomForestClassifier(),
    RandomForestClassifier(oob_score=True, random_state=1),
    ExtraTreesRegressor(warm_start=True, random_state=1),
    BaggingClassifier(n_jobs=2, random_state=1),
    KNeighborsClassifier(weights=np.exp),
    Ridge(solver="lsqr"),
    SVC(kernel="precomputed"),
    DecisionTreeClassifier(),
    LogisticRegression(solver="liblinear"),
    LogisticRegression(l1_ratio=1.0, solver="saga"),
    LogisticRegression(warm_start=True),
    ElasticNet(l1_ratio=0.0),
    SelectKBest(mutual_info_classif),
    SelectKBest(lambda X, y: np.random.default_rng().normal(size=X.shape[1])),
    RFE(Ridge(), step=2),
    RFE(DecisionTreeRegressor()),
    PCA(svd_solver="randomized"),
    PCA(copy=False),
    TruncatedSVD(),
    Ridge(positive=True),
    RidgeClassifier(solver="sag", random_state=1),
    KernelRidge(kernel="precomputed"),
    KNeighborsRegressor(metric="precomputed"),
]


@pytest.mark.parametrize("estimator", EXCLUDED, ids=lambda estimator: type(estimator).__name__)
def test_parameters_exclude_the_provider(estimator: Any) -> None:
    assert family_of(estimator, "tolerance") is None

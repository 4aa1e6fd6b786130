"""A search that shares fits gives the results of one that fits every configuration alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, KernelCenterer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.errors import InputError, StoreError
from heldout.execution.cells import CellState
from heldout.execution.executors.local import Here
from heldout.execution.fit import make_scoring
from heldout.execution.run import RunSettings, open_run
from heldout.execution.search import Search
from heldout.folds.splits import make_folds
from heldout.search import HeldOutSearchCV
from heldout.spaces import register_submodels
from heldout.spaces.submodels import registry


def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:150, :8], y[:150]


def diabetes() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


def doubled(X: Any) -> Any:
    X *= 2.0
    return X


class InPlace(TransformerMixin, BaseEstimator):
    """Writes into its rows."""

    def __init__(self, by: float = 1.0) -> None:
        self.by = by

    def fit(self, X: Any, y: Any = None) -> InPlace:
        return self

    def transform(self, X: Any) -> Any:
        X *= self.by
        return X


class ScalesTarget(StandardScaler):
    """Writes into the target."""

    def fit(self, X: Any, y: Any = None) -> ScalesTarget:
        y /= 100.0
        return super().fit(X)


class Doubles(SVC):
    """Writes into its training rows."""

    def fit(self, X: Any, y: Any) -> Doubles:
        X *= 2.0
        return super().fit(X, y)


SELECTION = Pipeline([("scale", StandardScaler()), ("best", SelectKBest()), ("svc", SVC())])


@dataclass(frozen=True)
class Case:
    estimator: Any
    grid: Any
    bits: bool = True
    data: Any = cancer
    settings: Mapping[str, Any] = field(default_factory=lambda: {"scoring": "roc_auc"})
    shared: float = 1.0


CASES = {
    "rounds": Case(
        HistGradientBoostingClassifier(max_leaf_nodes=4), {"max_iter": [2, 5], "learning_rate": [0.1, 1.0]}
    ),
    "trees": Case(RandomForestClassifier(), {"n_estimators": [3, 6], "max_depth": [2, 3]}),
    "neighbours": Case(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5], "weights": ["uniform", "distance"]}, False
    ),
    "penalties": Case(Ridge(), {"alpha": [0.1, 1.0, 10.0]}, False, diabetes, {"scoring": "r2"}),
    "columns, then costs": Case(SELECTION, {"best__k": [2, 4], "svc__C": [0.1, 1.0]}),
    "components, then penalties": Case(
        make_pipeline(PCA(), Ridge()),
        {"pca__n_components": [1, 3], "ridge__alpha": [0.1, 1.0]},
        False,
        diabetes,
        {"scoring": "neg_root_mean_squared_error"},
    ),
    "several scorers": Case(
        make_pipeline(StandardScaler(), RandomForestClassifier()),
        {"randomforestclassifier__n_estimators": [3, 6]},
        settings={"scoring": ["roc_auc", "accuracy", "neg_log_loss"], "refit": "roc_auc"},
    ),
    "several models": Case(
        [
            ("forest", make_pipeline(StandardScaler(), RandomForestClassifier(5)), {}),
            ("svc", make_pipeline(StandardScaler(), SVC()), {}),
        ],
        None,
    ),
    "a scorer of one's own reads the model": Case(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 3]},
        settings={
            "method": "tt",
            "scoring": lambda model, X, y: float(model[-1].n_neighbors + accuracy_score(y, model.predict(X))),
        },
    ),
    "scores on training rows": Case(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 3]},
        settings={"scoring": "accuracy", "return_train_score": True},
    ),
    "dropping": Case(
        RandomForestClassifier(),
        {"n_estimators": [2, 10], "max_depth": [1, None]},
        settings={"scoring": "roc_auc", "drop": "bootstrap", "cv": 4},
    ),
    "a failing configuration": Case(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 3, 1000]},
        False,
        settings={"scoring": "accuracy"},
    ),
    "frozen steps": Case(
        Pipeline([("step", StandardScaler()), ("svc", SVC())]),
        {
            "step": [FrozenEstimator(StandardScaler().fit(cancer()[0] * scale)) for scale in (1.0, 7.0)],
            "svc__C": [0.1, 1.0],
        },
        shared=0.0,
    ),
    "a model that scales its target in place": Case(
        make_pipeline(StandardScaler(), PLSRegression(n_components=2, copy=False)),
        {"plsregression__max_iter": [100, 500, 1000]},
        data=diabetes,
        settings={"scoring": "r2"},
    ),
    "a step that scales its target in place": Case(
        Pipeline([("scale", ScalesTarget()), ("ridge", Ridge())]),
        {"ridge__alpha": [0.1, 1.0], "ridge__fit_intercept": [True, False]},
        False,
        diabetes,
        {"scoring": "r2"},
    ),
    "a step of one configuration changes its rows": Case(
        Pipeline([("scale", StandardScaler()), ("twice", InPlace()), ("svc", SVC())]),
        {"twice__by": [0.5, 2.0, 3.0]},
    ),
    "a function that changes its rows, inside a model": Case(
        make_pipeline(
            StandardScaler(), TransformedTargetRegressor(make_pipeline(FunctionTransformer(doubled), Ridge()))
        ),
        {"transformedtargetregressor__regressor__ridge__alpha": [0.1, 1.0]},
        data=diabetes,
        settings={"scoring": "r2"},
    ),
    "a branch that changes the rows of the next": Case(
        make_pipeline(
            FeatureUnion([("a", FunctionTransformer(doubled)), ("b", StandardScaler(with_std=False))]), SVC()
        ),
        {"svc__C": [0.1, 1.0]},
    ),
    "rows that a step returns as they are, before a model that changes them": Case(
        Pipeline([("scale", StandardScaler()), ("same", FunctionTransformer()), ("svc", Doubles())]),
        {"same__check_inverse": [True, False]},
    ),
    "bagging in single precision": Case(
        BaggingRegressor(Ridge()),
        {"n_estimators": [2, 3, 7]},
        data=lambda: (diabetes()[0].astype(np.float32), diabetes()[1]),
        settings={"scoring": "r2"},
    ),
    "nothing": Case(LogisticRegression(), {"C": [0.1, 1.0]}, shared=0.0),
}


def search(case: Case, share: Any, **settings: Any) -> HeldOutSearchCV:
    X, y = case.data()
    merged = {"cv": 2, "method": None, "refit": False, "random_state": 0, **case.settings, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HeldOutSearchCV(case.estimator, case.grid, share=share, **merged).fit(X, y)


def check_same(ours: HeldOutSearchCV, theirs: HeldOutSearchCV, *, bits: bool) -> None:
    for response, array in theirs.predictions_.responses.items():
        found = ours.predictions_.responses[response]
        room = 0.0 if bits else 1e-12 * np.nanmax(np.abs(array))
        np.testing.assert_allclose(found, array, rtol=0, atol=room)
    assert ours.best_index_ == theirs.best_index_
    assert ours.evaluation_.failures == theirs.evaluation_.failures
    for name, column in theirs.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], column, rtol=0, atol=1e-12, err_msg=name)
    assert ours.n_fits_ == theirs.n_fits_ and ours.n_fits_saved_ == theirs.n_fits_saved_


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_results_are_those_of_separate_fits(case: Case) -> None:
    alone, shared = search(case, False), search(case, "exact")
    check_same(shared, alone, bits=case.bits)
    assert alone.n_fits_shared_ == 0
    n_failed = sum(cell.state is CellState.FAILED for cell in shared.evaluation_.cells)
    assert shared.n_fits_shared_ == case.shared * (shared.n_fits_ - n_failed)
    assert all(cell.fit_seconds >= 0 for cell in shared.evaluation_.cells)


def test_a_run_is_not_resumed_with_another_share(tmp_path: Path) -> None:
    search(CASES["penalties"], "exact", store=tmp_path / "run.db")
    store = ho_store(tmp_path / "run.db")
    with pytest.raises(StoreError, match="share"):
        search(CASES["penalties"], False, store=store)


def ho_store(path: Path) -> Any:
    from heldout.execution.store.sqlite import SQLiteStore

    return SQLiteStore(path, one_run=True)


class Never(TransformerMixin, BaseEstimator):
    """Takes rows of at most one configuration."""

    def fit(self, X: Any, y: Any = None) -> Never:
        raise ValueError("this step takes no rows")

    def transform(self, X: Any) -> Any:
        return X


def test_models_with_other_requests_of_metadata_are_not_of_one_group() -> None:
    X, y = cancer()
    weight = np.linspace(0.0, 1.0, len(y)) ** 4
    with config_context(enable_metadata_routing=True):
        forests = [
            RandomForestClassifier(n_estimators=n).set_fit_request(sample_weight=weighted)
            for n, weighted in ((2, True), (3, False), (5, False))
        ]
        pipeline = Pipeline([("scale", StandardScaler().set_fit_request(sample_weight=True)), ("forest", SVC())])
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        settings: Any = {"cv": 2, "method": None, "random_state": 0, "scoring": scoring}
        alone, shared = (
            HeldOutSearchCV(pipeline, {"forest": forests}, share=share, **settings).fit(X, y, sample_weight=weight)
            for share in (False, "exact")
        )
    check_same(shared, alone, bits=True)


def test_a_model_of_a_kernel_matrix_is_not_counted_as_shared() -> None:
    X, y = cancer()
    models = [
        ("rows", make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}),
        ("kernel", make_pipeline(KernelCenterer(), SVC(kernel="precomputed")), {"svc__C": [0.1, 1.0]}),
    ]
    case = Case(models, None, data=lambda: (X @ X.T, y))
    assert search(case, "exact").n_fits_shared_ == 4


class OnlyTheFirst:
    """Submodels of which all but one must be fitted alone."""

    def __init__(self, model: Any, n_values: int) -> None:
        self._model, self._n_values = model, n_values

    def predict_many(self, X: Any, response: str) -> list[Any]:
        return [getattr(self._model, response)(X), *[None] * (self._n_values - 1)]


def test_a_fit_that_serves_its_own_configuration_only_is_not_counted_as_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Mine(LogisticRegression):
        pass

    def fit_first(model: Any, values: Any, X: Any, y: Any) -> OnlyTheFirst:
        return OnlyTheFirst(model.set_params(**values[0]).fit(X, y), len(values))

    monkeypatch.setattr(registry, "_REGISTERED", {})
    register_submodels(Mine, ("C",), fit_first)
    case = Case(make_pipeline(StandardScaler(), Mine()), {"mine__C": [0.1, 1.0, 10.0]}, data=cancer)
    shared = search(case, "exact")
    assert set(shared.evaluation_.shared_fits) == {"steps"}
    check_same(shared, search(case, False), bits=True)


def test_a_warning_of_one_configuration_is_still_shown() -> None:
    X, y = cancer()
    settings: Any = {"cv": 2, "method": None, "random_state": 0, "scoring": "roc_auc"}
    with pytest.warns(UserWarning, match="k=77 is greater than n_features"):
        HeldOutSearchCV(SELECTION, {"best__k": [2, 77], "svc__C": [0.1, 1.0]}, **settings).fit(X, y)


def test_a_failing_step_fails_the_configurations_that_use_it() -> None:
    case = Case(
        Pipeline([("step", StandardScaler()), ("svc", SVC())]),
        {"step": [StandardScaler(), Never()], "svc__C": [0.1, 1.0]},
    )
    found = search(case, "exact")
    assert found.evaluation_.failures == dict.fromkeys([2, 3], "ValueError: this step takes no rows")
    with pytest.raises(ValueError, match="this step takes no rows"):
        search(case, "exact", error_score="raise")


def test_a_time_limit_shares_nothing() -> None:
    X, y = cancer()
    configurations = make_configurations(KNeighborsClassifier(), {"n_neighbors": [1, 3]})
    task = Task(X, truth_of(y))
    shared = Search(task, configurations, make_folds(task), make_scoring(task.truth, get_scorer("accuracy")))
    assert shared.work.sharing is not None
    with open_run(shared.work, RunSettings(fit_timeout=60.0, executor=Here())) as run:
        assert run.work.sharing is None
    with open_run(shared.work, RunSettings(executor=Here())) as run:
        assert run.work.sharing is not None


def test_to_tolerance_the_penalties_of_a_logistic_regression_are_shared() -> None:
    case = Case(LogisticRegression(max_iter=5000), {"C": [0.01, 0.1, 1.0]})
    alone, exact, near = (search(case, share) for share in (False, "exact", "tolerance"))
    check_same(exact, alone, bits=True)
    assert (exact.n_fits_shared_, near.n_fits_shared_) == (0, 6)
    np.testing.assert_allclose(near.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"], atol=0.01)


def test_other_values_are_refused() -> None:
    with pytest.raises((InputError, ValueError), match="share"):
        search(CASES["nothing"], "all")
    with pytest.raises((InputError, ValueError), match="share_memory"):
        search(CASES["nothing"], "exact", share_memory=0)


def test_little_memory_changes_no_bit() -> None:
    case = CASES["columns, then costs"]
    check_same(search(case, "exact", share_memory=1), search(case, "exact"), bits=True)


# Sparse rows and single precision: shared, or fitted alone with the same results.

RANDOM = np.random.default_rng(0)
ROWS = np.where(RANDOM.random((150, 8)) < 0.4, RANDOM.normal(size=(150, 8)), 0.0)
SIGNAL = ROWS[:, 0] - ROWS[:, 1] + 0.3 * RANDOM.normal(size=150)


def searched(estimator: Any, grid: dict[str, list[float]], X: Any, share: Any) -> HeldOutSearchCV:
    y = SIGNAL > 0 if hasattr(estimator, "decision_function") else SIGNAL
    scoring = "roc_auc" if hasattr(estimator, "decision_function") else "r2"
    settings: Any = {"scoring": scoring, "cv": 2, "method": None, "random_state": 0}
    return HeldOutSearchCV(estimator, grid, share=share, **settings).fit(X, y)


@pytest.mark.parametrize(
    ("estimator", "share", "convert"),
    [
        (Ridge(), "exact", sp.csr_array),
        (Ridge(), "tolerance", np.float32),
        (RidgeClassifier(), "tolerance", sp.csr_array),
        (RidgeClassifier(), "exact", np.float32),
    ],
    ids=["sparse", "single precision", "classifier, sparse", "classifier, single precision"],
)
def test_ridge_is_fitted_alone(estimator: Any, share: str, convert: Callable[[Any], Any]) -> None:
    shared, alone = (searched(estimator, {"alpha": [0.1, 1.0]}, convert(ROWS), mode) for mode in (share, False))
    assert shared.n_fits_shared_ == 0
    for response, values in alone.predictions_.responses.items():
        np.testing.assert_array_equal(shared.predictions_.responses[response], values)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (LogisticRegression(tol=1e-10), {"C": [0.1, 1.0, 10.0]}),
        (Lasso(tol=1e-14), {"alpha": [0.001, 0.01, 0.1]}),
    ],
    ids=["logistic", "lasso"],
)
def test_penalties_share_fits_on_sparse_rows_but_not_in_single_precision(
    estimator: Any, grid: dict[str, list[float]]
) -> None:
    X = sp.csr_array(ROWS)
    alone, shared = (searched(estimator, grid, X, share) for share in (False, "tolerance"))
    assert shared.n_fits_shared_ == shared.n_fits_
    for response, values in alone.predictions_.responses.items():
        np.testing.assert_allclose(
            shared.predictions_.responses[response], values, atol=1e-5 * np.abs(values).max()
        )
    loose = clone(estimator).set_params(tol=1e-3)
    assert searched(loose, grid, ROWS.astype(np.float32), "tolerance").n_fits_shared_ == 0


# Tables of polars.

NUMBERS = RANDOM.normal(size=(120, 4))
KINDS = RANDOM.choice(list("abc"), 120)
LABELS = np.where(NUMBERS[:, 0] + (KINDS == "a") + 0.5 * RANDOM.normal(size=120) > 0.3, "yes", "no")
NAMES = [f"n{number}" for number in range(4)]


class Shifts(TransformerMixin, BaseEstimator):
    """Changes the table that it is given."""

    def fit(self, X: Any, y: Any = None) -> Shifts:
        return self

    def transform(self, X: Any) -> Any:
        return X.replace_column(0, X["n0"] * 2.0 + 1.0)


def table() -> Any:
    holes = np.where(RANDOM.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
    pl = pytest.importorskip("polars")
    return pl.DataFrame({name: holes[:, k] for k, name in enumerate(NAMES)} | {"kind": KINDS})


def columns(**settings: Any) -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    kinds = OneHotEncoder(sparse_output=False)
    return ColumnTransformer([("numbers", numbers, NAMES), ("kinds", kinds, ["kind"])], **settings)


TABLES: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "branches of columns": (
        Pipeline([("columns", columns()), ("best", SelectKBest()), ("svc", SVC())]),
        {
            "columns__numbers__simpleimputer__strategy": ["mean", "median"],
            "best__k": [2, 4],
            "svc__C": [0.1, 1.0],
        },
    ),
    "steps from table to table": (
        Pipeline(
            [
                ("columns", columns().set_output(transform="polars")),
                ("scale", MinMaxScaler().set_output(transform="polars")),
                ("union", FeatureUnion([("best", SelectKBest(k=2)), ("scale", StandardScaler())])),
                ("model", LogisticRegression()),
            ]
        ),
        {"scale__clip": [True, False], "union__best__k": [1, 2], "model__C": [0.1, 1.0]},
    ),
    "a step that changes its table": (
        Pipeline([("shift", Shifts()), ("columns", columns()), ("svc", SVC())]),
        {"columns__numbers__standardscaler__with_std": [True, False], "svc__C": [0.1, 1.0]},
    ),
}


@pytest.mark.parametrize(("estimator", "grid"), TABLES.values(), ids=TABLES)
def test_shared_fits_on_tables_of_polars_equal_separate_ones(estimator: Any, grid: dict[str, list[Any]]) -> None:
    X = table()
    y = pytest.importorskip("polars").Series("answer", LABELS)
    settings: Any = {"scoring": "roc_auc", "cv": 2, "method": None}
    alone, shared = (
        HeldOutSearchCV(estimator, grid, share=share, random_state=0, **settings).fit(X.clone(), y)
        for share in (False, "exact")
    )
    assert shared.n_fits_shared_ == shared.n_fits_ > 0
    for response, values in alone.predictions_.responses.items():
        assert not np.isnan(values).all()
        np.testing.assert_array_equal(shared.predictions_.responses[response], values)
    assert shared.best_params_ == alone.best_params_
    np.testing.assert_array_equal(shared.predict(X.clone()), alone.predict(X.clone()))

"""A search on tables of polars gives the same results with and without shared fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from heldout.search import HeldOutSearchCV

pl = pytest.importorskip("polars")

N = 120
RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.normal(size=(N, 4))
KINDS = RANDOM.choice(list("abc"), N)
LABELS = np.where(NUMBERS[:, 0] + (KINDS == "a") + 0.5 * RANDOM.normal(size=N) > 0.3, "yes", "no")
NAMES = [f"n{number}" for number in range(4)]


class Shifts(TransformerMixin, BaseEstimator):
    """Changes the table that it is given."""

    def fit(self, X: Any, y: Any = None) -> Shifts:
        return self

    def transform(self, X: Any) -> Any:
        return X.replace_column(0, X["n0"] * 2.0 + 1.0)


def table() -> Any:
    holes = np.where(RANDOM.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
    return pl.DataFrame({name: holes[:, k] for k, name in enumerate(NAMES)} | {"kind": KINDS})


def columns(**settings: Any) -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    kinds = OneHotEncoder(sparse_output=False)
    return ColumnTransformer([("numbers", numbers, NAMES), ("kinds", kinds, ["kind"])], **settings)


CASES: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "branches of columns": (
        Pipeline([("columns", columns()), ("best", SelectKBest()), ("svc", SVC())]),
        {
            "columns__numbers__simpleimputer__strategy": ["mean", "median"],
            "best__k": [2, 4],
            "svc__C": [0.1, 1.0],
        },
    ),
    "branches into a table of polars": (
        Pipeline(
            [("columns", columns().set_output(transform="polars")), ("model", HistGradientBoostingClassifier())]
        ),
        {"columns__kinds__drop": [None, "first"], "model__max_iter": [2, 5]},
    ),
    "a remainder": (
        Pipeline(
            [
                ("columns", ColumnTransformer([("kinds", OneHotEncoder(), ["kind"])], remainder="passthrough")),
                ("impute", SimpleImputer()),
                ("forest", RandomForestClassifier(max_depth=2)),
            ]
        ),
        {"impute__strategy": ["mean", "median"], "forest__n_estimators": [2, 5]},
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


@pytest.mark.parametrize(("estimator", "grid"), CASES.values(), ids=CASES)
def test_shared_fits_on_tables_of_polars_equal_separate_ones(estimator: Any, grid: dict[str, list[Any]]) -> None:
    X, y = table(), pl.Series("answer", LABELS)
    settings: Any = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 10}
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

"""Shared steps give the numbers of separate fits to the last bit, whatever the steps do to their rows."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from heldout.execution.fit import seeded_model
from heldout.execution.sharing.groups import _by_member, _Groups
from heldout.execution.sharing.prefixes import Prefixes
from heldout.execution.sharing.steps import chain_of
from heldout.spaces.submodels import family_of

N, TRAIN = 90, 60
X, Y = make_classification(N, 8, n_informative=4, random_state=0)
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
TABLE = pd.DataFrame(HOLES, columns=[f"c{number}" for number in range(8)]).assign(
    kind=np.random.default_rng(2).choice(list("abc"), N)
)
SPARSE = sp.csr_array(np.where(np.random.default_rng(3).random(X.shape) < 0.4, np.abs(X), 0.0))
COSTS = [0.1, 10.0]


class AddsColumn(TransformerMixin, BaseEstimator):
    """Changes the table that it is given."""

    def fit(self, X: Any, y: Any = None) -> AddsColumn:
        return self

    def transform(self, X: Any) -> Any:
        X["new"] = 1.0
        X.loc[:, "c0"] = 0.0
        return X


class Counting(TransformerMixin, BaseEstimator):
    """Counts its fits and its applications."""

    n: ClassVar[Counter[str]] = Counter()

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any = None) -> Counting:
        self.n["fit"] += 1
        return self

    def transform(self, X: Any) -> Any:
        self.n["transform"] += 1
        return X + self.shift


class Refusing(TransformerMixin, BaseEstimator):
    """Fails."""

    def fit(self, X: Any, y: Any = None) -> Refusing:
        raise ValueError("it takes no rows")

    def transform(self, X: Any) -> Any:
        return X


def part(rows: Any, chosen: slice) -> Any:
    return rows.iloc[chosen].copy() if hasattr(rows, "iloc") else rows[chosen].copy()


def answer(model: Any, rows: Any) -> Any:
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


def alone(model: Any, rows: Any) -> Any:
    try:
        model = clone(model).fit(part(rows, slice(TRAIN)), Y[:TRAIN].copy())
        return answer(model, part(rows, slice(TRAIN, None)))
    except ValueError as error:
        return str(error)


def together(models: list[Any], rows: Any, most_bytes: int = 2**40) -> list[Any]:
    chains = [chain_of(model, number) for number, model in enumerate(models)]
    prefixes = Prefixes(
        part(rows, slice(TRAIN)), Y[:TRAIN].copy(), part(rows, slice(TRAIN, None)), chains, {}, most_bytes
    )
    answers: list[Any] = []
    for model, chain in zip(map(clone, models), chains, strict=True):
        X_train, X_test = prefixes.rows_for(model, chain)
        try:
            answers.append(answer(model.fit(X_train, prefixes.y), X_test))
        except ValueError as error:
            answers.append(str(error))
    return answers


def models_of(estimator: Any, grid: dict[str, list[Any]]) -> list[Any]:
    return [seeded_model(clone(estimator).set_params(**params), 7, 0, 0) for params in ParameterGrid(grid)]


def pipeline(**steps: Any) -> Pipeline:
    return Pipeline(list(steps.items()))


def columns(**settings: Any) -> ColumnTransformer:
    numbers = pipeline(impute=SimpleImputer(), scale=StandardScaler())
    return ColumnTransformer(
        [("numbers", numbers, make_column_selector(dtype_include="number")), ("kinds", OneHotEncoder(), ["kind"])],
        **settings,
    )


CASES: dict[str, tuple[Any, dict[str, list[Any]], Any]] = {
    "steps that may change their rows": (
        pipeline(
            impute=SimpleImputer(copy=False),
            scale=StandardScaler(copy=False),
            pca=PCA(3, copy=False, svd_solver="randomized"),
            svc=SVC(),
        ),
        {"scale__with_mean": [True, False], "scale__copy": [True, False], "svc__C": COSTS},
        HOLES,
    ),
    "steps left out": (
        pipeline(impute=SimpleImputer(), scale=StandardScaler(), best=SelectKBest(k=3), svc=SVC()),
        {"scale": ["passthrough", MinMaxScaler()], "best": ["passthrough", SelectKBest(k=2)], "svc__C": COSTS},
        HOLES,
    ),
    "branches of columns": (
        pipeline(columns=columns(), svc=SVC()),
        {
            "columns__numbers__impute__strategy": ["mean", "median"],
            "columns__kinds__drop": [None, "first"],
        },
        TABLE,
    ),
    "branches into a table": (
        pipeline(
            columns=columns(remainder="passthrough", sparse_threshold=0.0)
            .set_params(kinds__sparse_output=False)
            .set_output(transform="pandas"),
            svc=SVC(),
        ),
        {"columns__numbers__scale__with_std": [True, False], "columns__kinds__drop": [None, "first"]},
        TABLE,
    ),
    "a union": (
        pipeline(
            impute=SimpleImputer(),
            union=FeatureUnion(
                [("pca", PCA()), ("best", SelectKBest()), ("svd", TruncatedSVD(3))],
                transformer_weights={"pca": 2.0},
            ),
            svc=SVC(),
        ),
        {"union__pca__n_components": [2, 4], "union__best__k": [1, 3], "svc__C": COSTS},
        HOLES,
    ),
    "a pipeline in a pipeline": (
        pipeline(inside=pipeline(impute=SimpleImputer(), scale=StandardScaler(), pca=PCA()), svc=SVC()),
        {"inside__pca__n_components": [2, 4], "inside__scale__with_std": [True, False], "svc__C": COSTS},
        HOLES,
    ),
    "sparse rows": (
        pipeline(scale=MaxAbsScaler(), best=SelectKBest(chi2), svc=LinearSVC()),
        {"best__k": [2, 5], "svc__C": COSTS},
        SPARSE,
    ),
    "a selection by an inner model": (
        pipeline(impute=SimpleImputer(), select=SelectFromModel(RandomForestClassifier(5)), svc=SVC()),
        {"select__estimator__max_depth": [2, 3], "svc__C": COSTS},
        HOLES,
    ),
    "a step that changes its table": (
        pipeline(add=AddsColumn(), impute=SimpleImputer(), svc=SVC()),
        {"impute__strategy": ["mean", "median"], "svc__C": COSTS},
        TABLE.drop(columns="kind"),
    ),
}


@pytest.mark.parametrize(("estimator", "grid", "rows"), CASES.values(), ids=CASES)
def test_equals_separate_fits_bitwise(estimator: Any, grid: dict[str, list[Any]], rows: Any) -> None:
    models = models_of(estimator, grid)
    expected = [alone(model, rows) for model in models]
    for most_bytes in (2**40, 1000):  # all steps are kept, or forgotten
        for ours, theirs in zip(together(models, rows, most_bytes), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_each_distinct_step_is_fitted_and_applied_once() -> None:
    models = models_of(
        pipeline(first=Counting(), second=Counting(), svc=SVC()),
        {"first__shift": [1.0, 2.0], "second__shift": [0.0, 3.0], "svc__C": [0.1, 1.0, 10.0]},
    )
    Counting.n.clear()
    together(models, X)
    # Two first steps, each before two second ones: six of them, applied to training and to test rows.
    assert Counting.n == {"fit": 6, "transform": 12}


def test_a_step_that_fails_does_so_once_and_for_each_of_its_configurations() -> None:
    good = models_of(pipeline(first=Counting(), svc=SVC()), {"svc__C": COSTS})
    bad = models_of(pipeline(first=Refusing(), svc=SVC()), {"svc__C": COSTS})
    answers = together([*good, *bad], X)
    assert answers[2:] == ["it takes no rows"] * 2
    np.testing.assert_array_equal(answers[0], alone(good[0], X))


def bytes_kept(prefixes: Prefixes) -> int:
    outputs = (output for step in prefixes._steps.values() for output in (step.train, *step.outputs.values()))
    return sum(output.rows.nbytes for output in outputs)


@pytest.mark.parametrize("most_bytes", [0, 4000, 2**40])
def test_the_bytes_of_a_step_of_a_group_count_once(most_bytes: int) -> None:
    models = models_of(pipeline(best=SelectKBest(), svc=SVC()), {"best__k": [2, 5, 7], "svc__C": COSTS})
    chains = [chain_of(model, number) for number, model in enumerate(models)]
    groups = _Groups(family_of)
    for model, chain in zip(models, chains, strict=True):
        groups.add(chain.steps[0].key, model.steps[0][1], ())
    prefixes = Prefixes(X[:TRAIN], Y[:TRAIN], X[TRAIN:], chains, _by_member(groups.found()), most_bytes)
    for model, chain in zip(models, chains, strict=True):
        X_train, X_test = prefixes.rows_for(model, chain)
        answer(model.fit(X_train, prefixes.y), X_test)
        assert prefixes._n_bytes == bytes_kept(prefixes)


def test_a_step_that_is_forgotten_while_it_is_applied_counts_no_bytes() -> None:
    models = models_of(pipeline(first=Counting(), svc=SVC()), {"first__shift": [1.0, 2.0], "svc__C": COSTS})
    chains = [chain_of(model, number) for number, model in enumerate(models)]
    first, other = chains[0].steps[0], chains[2].steps[0]
    prefixes = Prefixes(X[:TRAIN], Y[:TRAIN], X[TRAIN:], chains, {}, X[:TRAIN].nbytes)

    def fit(rows: Any) -> tuple[Any, Any]:
        return rows + 1.0, Counting()

    def forgets(rows: Any) -> Any:
        prefixes.fitted(other, X[:TRAIN], fit)
        return rows + 1.0

    prefixes.fitted(first, X[:TRAIN], fit)
    np.testing.assert_array_equal(prefixes.applied(first, forgets, X[TRAIN:], ""), X[TRAIN:] + 1.0)
    assert list(prefixes._steps) == [other.key]
    assert prefixes._n_bytes == bytes_kept(prefixes) == X[:TRAIN].nbytes

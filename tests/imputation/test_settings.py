"""Completing a table H times: by any imputer that draws, with the outcome or without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.settings import Imputation


def gappy(n: int = 60, seed: int = 0) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 1] += X[:, 0]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


class Drawn(TransformerMixin, BaseEstimator):
    """Fills gaps with normal draws, after whatever a test wants to be wrong."""

    def __init__(self, fault: str = "", random_state: int | None = None) -> None:
        self.fault = fault
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Drawn:
        return self

    def transform(self, X: Any) -> Any:
        rng = np.random.default_rng(self.random_state)
        whole = np.where(np.isnan(X), rng.normal(size=X.shape), X)
        if self.fault == "scales":
            return whole * 2
        if self.fault == "indicates":
            return np.hstack([whole, np.isnan(X)])
        if self.fault == "drops":
            return whole[:, 1:]
        if self.fault == "loses rows":
            return whole[1:]
        return X if self.fault == "leaves gaps" else whole


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_imputations": 1}, "n_imputations must be a whole number from 2 to 1000, got 1"),
        ({"n_imputations": 2.5}, "got 2.5"),
        ({"n_imputations": True}, "got True"),
        ({"order": "mi"}, "order must be one of boot_mi, mi_boot, naive, got 'mi'"),
        ({"outcome_in_evaluation": "yes"}, "must be True or False"),
        ({"imputer": "mean"}, "must be a scikit-learn transformer"),
        ({"imputer": ChainedImputer}, "must be a scikit-learn transformer"),
        ({"imputer": SimpleImputer()}, "SimpleImputer has no random_state"),
        ({"imputer": IterativeImputer()}, r"IterativeImputer\(sample_posterior=False\)"),
        ({"imputer": make_pipeline(IterativeImputer())}, "sample_posterior=True"),
    ],
    ids=["one", "fraction", "true", "order", "outcome", "text", "class", "no draws", "best guess", "inside"],
)
def test_invalid_settings_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Imputation(**settings)


def test_a_complete_table_is_passed_on() -> None:
    X = np.ones((4, 2))
    assert all(table is X for table in Imputation(3).completed(X, None, 0))


@pytest.mark.parametrize(
    "imputer",
    [None, IterativeImputer(sample_posterior=True, max_iter=2), Drawn()],
    ids=["default", "iterative", "own"],
)
def test_completions_differ_and_are_the_same_again(imputer: Any) -> None:
    X, truth = gappy(), truth_of(np.arange(60) % 2)
    imputation = Imputation(3, imputer)
    first = imputation.completed(X, truth, 5, 0, 1)
    again = imputation.completed(X, truth, 5, 0, 1)
    other = imputation.completed(X, truth, 5, 0, 2)
    seen = ~np.isnan(X)
    for table, same, elsewhere in zip(first, again, other, strict=True):
        assert table.shape == X.shape and not np.isnan(table).any()
        assert (table[seen] == X[seen]).all()
        assert (table == same).all()
        assert (table[~seen] != elsewhere[~seen]).any()
    assert (first[0] != first[1]).any() and (first[1] != first[2]).any()


def test_a_seed_inside_the_imputer_is_set_anew() -> None:
    nested = IterativeImputer(BayesianRidge(), sample_posterior=True, max_iter=2, random_state=0)
    first, second = Imputation(2, nested).completed(gappy(), None, 1)
    assert (first != second).any()
    assert nested.random_state == 0


def test_the_outcome_informs_where_it_is_given() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=400)
    X = np.column_stack([y + 0.1 * rng.normal(size=400), rng.normal(size=400)])
    gaps = rng.random(400) < 0.3
    X[gaps, 0] = np.nan
    (informed, _), (blind, _) = (
        Imputation(2).completed(X, truth, 0) for truth in (truth_of(y, "regression"), None)
    )
    assert np.corrcoef(informed[gaps, 0], y[gaps])[0, 1] > 0.95
    assert abs(np.corrcoef(blind[gaps, 0], y[gaps])[0, 1]) < 0.3


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("scales", "changed observed values of column 0"),
        ("indicates", "made 8 columns of 4"),
        ("drops", "made 3 columns of 4"),
        ("loses rows", "must give a table of as many rows"),
        ("leaves gaps", "left missing values in column 0"),
    ],
    ids=["scales", "indicates", "drops", "loses", "leaves"],
)
def test_an_imputer_may_only_fill(fault: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Imputation(2, Drawn(fault)).completed(gappy(), truth_of(np.arange(60) % 2), 0)


def test_a_pandas_table_keeps_its_types() -> None:
    pd = pytest.importorskip("pandas")
    X = gappy()
    table = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(60) * 2)
    table["stage"] = pd.Categorical(np.where(X[:, 0] > 0, "late", "early"))
    table.loc[table.index[5:15], "stage"] = None
    table["smoker"] = np.where(np.arange(60) % 3 == 0, "yes", "no")
    table.loc[table.index[20:25], "smoker"] = None
    for whole in Imputation(2).completed(table, truth_of(np.arange(60) % 2), 0):
        assert whole.dtypes.tolist() == table.dtypes.tolist()
        assert whole.index.equals(table.index) and whole.columns.equals(table.columns)
        assert not whole.isna().any(axis=None)
        assert set(whole["stage"]) == {"late", "early"} and set(whole["smoker"]) == {"yes", "no"}
        assert whole.where(table.notna()).equals(table)


def test_a_column_without_values_is_named() -> None:
    X = gappy()
    X[:, 2] = np.nan
    with pytest.raises(InputError, match="column 2 has no value at all in these 60 rows"):
        Imputation(2).completed(X, None, 0)

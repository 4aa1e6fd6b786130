"""What every provider of submodels must do: predict as separate fits, on data of all kinds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

import heldout as ho
from heldout.spaces.submodels import SeparateFitsError, family_of

ROWS, TRAINING = 90, 60


@dataclass(frozen=True, eq=False)
class Rows:
    """Training and test rows of one kind of data."""

    X: Any
    y: NDArray[Any]
    X_new: Any
    fit_params: Mapping[str, Any]


def rows_of(kind: str) -> Rows:
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
    *CLASSES, "binary-weighted", "binary-sparse", "binary-integer", "multiclass-tied", "binary-float32",
)  # fmt: skip
REGRESSION = ("regression", "regression-weighted", "regression-sparse", "regression-integer", "regression-tied")
RESPONSES = ("predict", "predict_proba", "decision_function")


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


def grid_of(name: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    return [{name: value} for value in values]


def without(kinds: Sequence[str], *left_out: str) -> list[str]:
    return [kind for kind in kinds if not kind.endswith(left_out)]


def check_predictions(case: Case, kind: str, rows: Rows | None = None) -> None:
    """One fit predicts as separate fits do."""
    rows = rows or rows_of(kind)
    family = family_of(case.estimator, "tolerance")
    assert family is not None
    assert family.exact == case.exact
    stack: Any = sp.vstack if sp.issparse(rows.X) else np.concatenate
    X, splits = stack([rows.X, rows.X_new]), [(np.arange(TRAINING), np.arange(TRAINING, ROWS))]
    y = np.concatenate([rows.y, rows.y[: ROWS - TRAINING]])
    grid = [{name: [one] for name, one in value.items()} for value in case.values]
    if kind in case.separate:
        with pytest.raises(SeparateFitsError):
            ho.spaces.check_submodels(case.estimator, grid, X, y, cv=splits, fit_params=rows.fit_params)
        return
    checked = ho.spaces.check_submodels(case.estimator, grid, X, y, cv=splits, fit_params=rows.fit_params)
    assert (checked.n_fits, checked.n_alone) == (len(case.values), 0)
    assert checked.difference <= (0.0 if case.exact == "bitwise" else case.tolerance)


def fit_alone(case: Case, value: Mapping[str, Any], rows: Rows) -> Any:
    return clone(case.estimator).set_params(**value).fit(rows.X, rows.y, **rows.fit_params)


def read_only(rows: Rows) -> Rows:
    for array in (rows.X, rows.y):
        (array.data if sp.issparse(array) else array).flags.writeable = False
    return rows


def assert_same(shared: Any, alone: NDArray[Any], case: Case) -> None:
    assert shared is not None
    assert shared.dtype == alone.dtype
    assert shared.shape == alone.shape
    if case.exact == "bitwise" or alone.dtype.kind not in "fc":
        assert np.array_equal(shared, alone)
    else:
        assert np.max(np.abs(shared - alone)) <= case.tolerance * np.max(np.abs(alone))


def each_kind(cases: Sequence[Case]) -> Any:
    """Runs a test on every case with each of its kinds of data."""
    params = [pytest.param(case, kind, id=f"{case}-{kind}") for case in cases for kind in case.kinds]
    return pytest.mark.parametrize(("case", "kind"), params)

"""Selection of columns and principal components against separate fits."""

from functools import partial
from typing import Any

import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from provider_contract import (
    CLASSES,
    Case,
    assert_same,
    grid_of,
    read_only,
    rows_of,
)
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    SelectPercentile,
    f_classif,
    f_regression,
    mutual_info_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from heldout.spaces.submodels import family_of


def _transformers() -> list[Case]:
    k = grid_of("k", (3, "all", 1, 6, 0, 2))
    percentiles = grid_of("percentile", (50, 100, 0, 17, 33.4, 83))
    columns = grid_of("n_features_to_select", (3, 1, 6, 3, 4))
    components = grid_of("n_components", (3, 1, 5, 3))
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
    rows = read_only(rows_of(kind))
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
            assert_same(_dense(ours), _dense(theirs), case)
        if hasattr(alone, "predict"):
            assert_same(model.predict(rows.X_new), alone.predict(rows.X_new), case)


def _dense(X: Any) -> NDArray[Any]:
    return X.toarray() if sp.issparse(X) else X

"""scikit-learn's own checks of what an estimator must do."""

from typing import Any

import pytest
from scipy.stats import loguniform
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import estimator_checks_generator

from heldout.imputation.chained import ChainedImputer
from heldout.imputation.imputed_model import ImputedModel
from heldout.search import HeldOutRandomizedSearchCV, HeldOutSearchCV
from heldout.search.optuna.search import HeldOutOptunaSearchCV

# Each class; the kinds of what is searched are told apart by code that the classes share.
ESTIMATORS = {
    "list of regressors": HeldOutSearchCV(
        [("ridge", Ridge(), {"alpha": [0.1, 1.0]}), ("plain", Ridge(alpha=1e-6), {})], cv=2, n_bootstraps=2
    ),
    "random search": HeldOutRandomizedSearchCV(
        LogisticRegression(), {"C": loguniform(0.1, 1.0)}, n_iter=2, cv=StratifiedKFold(2), method=None
    ),
    "search with Optuna of a list of regressors": HeldOutOptunaSearchCV(
        [("ridge", Ridge(), {"alpha": loguniform(0.1, 1.0)}), ("plain", Ridge(alpha=1e-6), {})],
        n_trials=2, cv=2, method=None,
    ),
    "imputed model": ImputedModel(LogisticRegression(), 2),
    "imputer": ChainedImputer(),
}  # fmt: skip
SPARSE = ("check_estimator_sparse_matrix", "check_estimator_sparse_array")
# Sparse rows take the same way in every search. The imputed model refuses one row without a shape, and values that
# are no categories, in words of its own.
OTHERWISE = {
    "random search": SPARSE,
    "search with Optuna of a list of regressors": SPARSE,
    "imputed model": ("check_fit2d_predict1d", "check_dtype_object"),
}

CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{check.func.__name__}-{number}")
    for name, each in ESTIMATORS.items()
    for number, (estimator, check) in enumerate(estimator_checks_generator(each))
    if check.func.__name__ not in OTHERWISE.get(name, ())
]


# The checks fit on noise of a few rows: that estimates are undefined there is said by warnings.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)

"""scikit-learn's own checks of what an estimator must do."""

from typing import Any

import pytest
from scipy.stats import loguniform
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import estimator_checks_generator

from heldout.search import HeldOutRandomizedSearchCV, HeldOutSearchCV
from heldout.search.optuna.search import HeldOutOptunaSearchCV

# Each class; the kinds of what is searched are told apart by code that the classes share.
SEARCHES = {
    "list of regressors": HeldOutSearchCV(
        [("ridge", Ridge(), {"alpha": [0.1, 1.0]}), ("plain", Ridge(alpha=1e-6), {})], cv=3, n_bootstraps=5
    ),
    "random search": HeldOutRandomizedSearchCV(
        LogisticRegression(), {"C": loguniform(0.1, 1.0)}, n_iter=2, cv=StratifiedKFold(2), n_bootstraps=5
    ),
    "search with Optuna of a list of regressors": HeldOutOptunaSearchCV(
        [("ridge", Ridge(), {"alpha": loguniform(0.1, 1.0)}), ("plain", Ridge(alpha=1e-6), {})],
        n_trials=2, cv=3, n_bootstraps=5,
    ),
}  # fmt: skip

CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{check.func.__name__}-{number}")
    for name, search in SEARCHES.items()
    for number, (estimator, check) in enumerate(estimator_checks_generator(search))
]


# The checks fit on noise of a few rows: that estimates are undefined there is said by warnings.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)

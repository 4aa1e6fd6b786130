"""scikit-learn's own checks of what an estimator must do."""

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

from heldout.imputation.imputed_model import ImputedModel

OTHERWISE = ("check_fit2d_predict1d", "check_dtype_object")
"""It refuses one row without a shape, and values that are no categories, in words of its own."""
CHECKS = [
    pytest.param(estimator, check, id=f"{check.func.__name__}-{number}")
    for number, (estimator, check) in enumerate(estimator_checks_generator(ImputedModel(LogisticRegression(), 2)))
    if check.func.__name__ not in OTHERWISE
]


@pytest.mark.filterwarnings("ignore")  # of the checks themselves
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)

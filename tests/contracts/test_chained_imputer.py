"""scikit-learn's own checks of what a transformer must do."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from heldout.imputation.chained import ChainedImputer

CHECKS = [
    pytest.param(estimator, check, id=f"{check.func.__name__}-{number}")
    for number, (estimator, check) in enumerate(estimator_checks_generator(ChainedImputer()))
]


@pytest.mark.filterwarnings("ignore")  # of the checks themselves
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)

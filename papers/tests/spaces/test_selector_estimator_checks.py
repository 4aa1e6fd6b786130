"""scikit-learn's own checks of what a feature selector must do."""

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from heldout_papers.spaces import SES

SELECTORS = {"auto": SES(), "fisher": SES(test="fisher"), "logistic": SES(test="logistic")}

CHECKS = [
    pytest.param(estimator, check, id=f"{name}-{check.func.__name__}-{number}")
    for name, selector in SELECTORS.items()
    for number, (estimator, check) in enumerate(estimator_checks_generator(selector))
]


# The checks fit on noise of a few rows: that nothing is selected there is said by a warning.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)

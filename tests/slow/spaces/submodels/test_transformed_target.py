"""Regressions of a transformed target against separate fits."""

from functools import partial

import numpy as np
import pytest
from provider_contract import REGRESSION, Case, check_predictions, each_kind, grid_of
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from heldout.spaces.submodels import family_of

scaled = partial(TransformedTargetRegressor, transformer=StandardScaler())
logarithms = partial(TransformedTargetRegressor, func=np.log1p, inverse_func=np.expm1)


def _cases() -> list[Case]:
    trees, forest = DecisionTreeRegressor(random_state=1), RandomForestRegressor(random_state=2)
    alphas, numbers = grid_of("regressor__alpha", (1, 0.01, 300.0)), grid_of("regressor__n_neighbors", (1, 5))
    return [
        Case(scaled(trees), grid_of("regressor__ccp_alpha", (0.01, 0.0, 0.05)), REGRESSION, name="trees"),
        Case(logarithms(forest), grid_of("regressor__n_estimators", (7, 1, 20)), REGRESSION, name="forests"),
        Case(scaled(Ridge()), alphas, REGRESSION, True, ["regression-sparse"], name="ridge"),
        Case(scaled(KNeighborsRegressor()), numbers, ["regression-tied"], True, name="neighbours"),
    ]


@each_kind(_cases())
def test_one_fit_predicts_as_separate_fits(case: Case, kind: str) -> None:
    check_predictions(case, kind)


@pytest.mark.parametrize(
    ("estimator", "exact"),
    [
        (logarithms(DecisionTreeRegressor(random_state=0)), "bitwise"),
        (scaled(Ridge()), True),
        (logarithms(Ridge()), None),
    ],
    ids=["trees", "scaled ridge", "ridge of logarithms"],
)
def test_only_what_is_exact_to_the_last_bit_is_exact_behind_a_logarithm(estimator: object, exact: object) -> None:
    family = family_of(estimator)
    assert (None if family is None else family.exact) == exact
    assert family_of(estimator, "tolerance") is not None

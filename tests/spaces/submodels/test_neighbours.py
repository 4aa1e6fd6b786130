"""Neighbours against separate fits."""

from __future__ import annotations

import pytest
from provider_contract import (
    CLASSIFICATION,
    REGRESSION,
    Case,
    check_predictions,
    each_kind,
    grid_of,
    without,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor


def _neighbours() -> list[Case]:
    grid = [{"n_neighbors": k, "weights": w} for k in (3, 1, 8, 20, 2) for w in ("uniform", "distance")]
    classifier, regressor = KNeighborsClassifier(), KNeighborsRegressor()
    kinds, numbers = without(CLASSIFICATION, "weighted"), without(REGRESSION, "weighted")
    brute = {"algorithm": "brute"}
    return [
        Case(classifier, grid, kinds, True),
        Case(regressor, grid, numbers, True),
        Case(KNeighborsClassifier(**brute), grid, [*kinds, "binary-offset"], True, name="KNN, brute force"),
        Case(KNeighborsRegressor(**brute), grid, [*numbers, "regression-offset"], True, name="KNN, brute force"),
        Case(
            KNeighborsClassifier(metric="manhattan", n_neighbors=4),
            grid_of("weights", ("uniform", None)),
            kinds,
            True,
        ),
        Case(KNeighborsRegressor(weights="distance"), grid_of("n_neighbors", (2, 25)), numbers, True),
    ]


@pytest.mark.filterwarnings("ignore")
@each_kind(_neighbours())
def test_one_fit_predicts_as_separate_fits(case: Case, kind: str) -> None:
    check_predictions(case, kind)

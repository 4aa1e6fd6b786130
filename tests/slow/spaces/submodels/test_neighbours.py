"""Neighbours against separate fits."""

import numpy as np
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

from heldout.spaces.submodels.neighbours import fit_neighbours


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


@pytest.mark.parametrize("response", ["predict_proba", "predict"])
@pytest.mark.parametrize("n_columns", [3, 20])
def test_votes_are_those_of_separate_fits_to_the_last_bit(response: str, n_columns: int) -> None:
    """With rows that have no distance from a training row, and no rows that are equally near."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, n_columns)), np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    new = np.r_[rng.normal(size=(60, n_columns)), X[:20]]
    values = [{"n_neighbors": k, "weights": w} for w in ("distance", "uniform", None) for k in (20, 1, 2, 9)]
    found = fit_neighbours(KNeighborsClassifier(algorithm="kd_tree"), values, X, y).predict_many(new, response)
    for value, ours in zip(values, found, strict=True):
        theirs = getattr(KNeighborsClassifier(algorithm="kd_tree", **value).fit(X, y), response)(new)
        assert ours is not None and ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)

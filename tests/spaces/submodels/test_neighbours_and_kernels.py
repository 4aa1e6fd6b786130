"""Neighbours, support vector machines and kernel ridge against separate fits."""

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
from sklearn.svm import SVC, SVR, NuSVC, NuSVR


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


def _machines() -> list[Case]:
    Cs = [{"C": C, "gamma": gamma} for C in (1, 0.1, 10) for gamma in ("scale", "auto", 0.5)]
    nus = [{"nu": nu, "gamma": gamma} for nu in (0.3, 0.1) for gamma in ("scale", 0.5)]
    exact, kinds = {"tol": 1e-10}, ["binary", "multiclass", "binary-heavy", "binary-integer"]
    loose = {"exact": False, "tolerance": 1e-5}
    return [
        Case(SVC(**exact), Cs, kinds, **loose),
        Case(SVC(kernel="poly", degree=2, **exact), grid_of("C", (1, 0.1)), ["binary"], **loose),
        Case(SVC(kernel="linear", **exact), grid_of("C", (1, 0.1)), ["multiclass"], **loose),
        Case(SVC(), Cs, ["binary-sparse", "binary-weighted"], False, ["binary-sparse", "binary-weighted"]),
        Case(NuSVC(**exact), nus, ["binary"], **loose),
        Case(SVR(**exact), [*Cs, {"C": 1, "epsilon": 0.3}], ["regression", "regression-heavy"], **loose),
        Case(NuSVR(**exact), nus, ["regression"], **loose),
    ]


@pytest.mark.filterwarnings("ignore")
@each_kind([*_neighbours(), *_machines()])
def test_one_fit_predicts_as_separate_fits(case: Case, kind: str) -> None:
    check_predictions(case, kind)

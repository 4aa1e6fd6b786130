"""Boosting, forests, bagging and pruned trees against separate fits."""

import numpy as np
import pytest
from provider_contract import (
    CLASSES,
    CLASSIFICATION,
    REGRESSION,
    Case,
    check_predictions,
    each_kind,
    grid_of,
    rows_of,
    without,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor


def _boosting() -> list[Case]:
    rounds, members = grid_of("max_iter", (4, 1, 7, 4)), grid_of("n_estimators", (4, 1, 7, 4))
    stumps, deep = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=9)
    # With these, boosting ends after five members.
    five, stump = DecisionTreeClassifier(max_depth=5), DecisionTreeRegressor(max_depth=1)
    early = grid_of("n_estimators", (1, 4, 5, 6, 7, 25))
    return [
        Case(HistGradientBoostingClassifier(min_samples_leaf=4), rounds, without(CLASSIFICATION, "sparse")),
        Case(HistGradientBoostingClassifier(min_samples_leaf=4, max_features=0.5, random_state=3), rounds, CLASSES),
        Case(HistGradientBoostingRegressor(min_samples_leaf=4), rounds, without(REGRESSION, "sparse")),
        Case(HistGradientBoostingRegressor(loss="poisson", early_stopping=False), rounds, ["regression-weighted"]),
        Case(HistGradientBoostingRegressor(loss="absolute_error"), rounds, ["regression"]),
        Case(GradientBoostingClassifier(random_state=1), members, CLASSIFICATION),
        Case(GradientBoostingClassifier(random_state=1, subsample=0.5, max_features=2), members, CLASSES),
        Case(GradientBoostingRegressor(random_state=1), members, REGRESSION),
        Case(GradientBoostingRegressor(random_state=1, loss="huber", init="zero"), members, ["regression"]),
        Case(AdaBoostClassifier(stumps, random_state=1), members, CLASSIFICATION),
        Case(AdaBoostClassifier(deep, random_state=1), members, CLASSES, name="AdaBoost, a perfect member"),
        Case(AdaBoostClassifier(five, random_state=1), early, ["multiclass"], name="AdaBoost, ends early"),
        Case(AdaBoostRegressor(random_state=1), members, REGRESSION),
        Case(AdaBoostRegressor(stump, random_state=1), early, ["regression"], name="AdaBoost, ends early"),
    ]


def _forests() -> list[Case]:
    sizes = grid_of("n_estimators", (4, 1, 8, 4))
    return [
        Case(RandomForestClassifier(random_state=2), sizes, CLASSIFICATION),
        Case(
            RandomForestClassifier(random_state=2, class_weight="balanced_subsample", max_samples=0.6),
            sizes,
            CLASSES,
        ),
        Case(RandomForestRegressor(random_state=np.random.RandomState(5)), sizes, REGRESSION),
        Case(ExtraTreesClassifier(random_state=2), sizes, CLASSES),
        Case(ExtraTreesRegressor(random_state=2), sizes, ["regression"]),
        Case(BaggingClassifier(random_state=2, max_features=0.5), sizes, CLASSIFICATION),
        Case(BaggingClassifier(SVC(), random_state=2, max_samples=40), sizes, CLASSES, name="Bagging, votes"),
        Case(BaggingClassifier(KNeighborsClassifier(3), random_state=2), sizes, ["multiclass"]),
        Case(BaggingRegressor(random_state=2), sizes, REGRESSION),
    ]


def _trees() -> list[Case]:
    alphas = grid_of("ccp_alpha", (0.01, 0.0, 0.05, 3, 0.01, 1 / 60, 1 / 120))
    classifier, regressor = DecisionTreeClassifier(random_state=1), DecisionTreeRegressor(random_state=1)
    path = regressor.cost_complexity_pruning_path(rows_of("regression").X, rows_of("regression").y).ccp_alphas
    return [
        Case(classifier, alphas, CLASSIFICATION),
        Case(regressor, alphas, REGRESSION),
        Case(regressor, grid_of("ccp_alpha", np.abs(path)), ["regression"], name="Tree, values on the path"),
        Case(ExtraTreeRegressor(random_state=1), alphas, ["regression"]),
    ]


@pytest.mark.filterwarnings("ignore")
@each_kind([*_boosting(), *_forests(), *_trees()])
def test_one_fit_predicts_as_separate_fits(case: Case, kind: str) -> None:
    check_predictions(case, kind)

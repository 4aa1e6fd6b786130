"""A result of every kind that a methods text describes, each made once."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ShuffleSplit, StratifiedGroupKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

SETTINGS: dict[str, Any] = {"n_bootstraps": 50, "random_state": 1}
NEIGHBOURS = {"n_neighbors": [1, 5, 15]}
SCALED = make_pipeline(StandardScaler(), KNeighborsClassifier())


@cache
def tumours() -> Any:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:150, :5], y.iloc[:150].map({0: "malignant", 1: "benign"})


def with_holes() -> Any:
    X, y = tumours()
    X = X.copy()
    X.iloc[::9, 1] = np.nan
    return X, y


def grid() -> Any:
    names = {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15, 25]}
    names["kneighborsclassifier__weights"] = ["uniform", "distance"]
    return ho.HeldOutSearchCV(SCALED, names, cv=5, **SETTINGS).fit(*tumours())


def bbc_by_name() -> Any:
    svm = make_pipeline(StandardScaler(), SVC())
    entries = [
        ("neighbours", KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
        ("SVM", svm, {"svc__C": [0.1, 1.0, 10.0]}),
    ]
    chosen = {"method": "bbc", "selection": "one_standard_error", "confidence_level": 0.9}
    return ho.HeldOutSearchCV(entries, cv=5, **chosen, **SETTINGS).fit(*tumours())


def area_with_groups() -> Any:
    X, y = tumours()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    scales = {"logisticregression__C": np.geomspace(0.001, 100, 40)}
    asked: dict[str, Any] = {"n_iter": 12, "scoring": "roc_auc", "cv": StratifiedGroupKFold(4), **SETTINGS}
    search = ho.HeldOutRandomizedSearchCV(model, scales, **asked)
    return search.fit(X, y == "malignant", groups=np.arange(len(y)) // 2)


def regression() -> Any:
    X, y = load_diabetes(return_X_y=True)
    alphas = {"alpha": [0.01, 0.1, 1, 10, 100]}
    return ho.HeldOutSearchCV(Ridge(), alphas, scoring="r2", cv=10, **SETTINGS).fit(X[:100], y[:100])


def classes_with_repeats() -> Any:
    metrics = {"scoring": ["balanced_accuracy", "neg_log_loss"], "refit": "balanced_accuracy"}
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), NEIGHBOURS, **metrics, cv=5, repeats=3, **SETTINGS)
    return search.fit(*load_iris(return_X_y=True))


def cross_fitted_optuna() -> Any:
    import optuna

    X, y = tumours()
    space = {
        f"kneighborsclassifier__{name}": optuna.distributions.IntDistribution(1, high)
        for name, high in (("n_neighbors", 40), ("p", 3))
    }
    search = ho.HeldOutOptunaSearchCV(
        SCALED, space, n_trials=8, scoring="roc_auc", cv=4, feedback=ho.optuna.CrossFitting(n_trials=3),
        sampler=optuna.samplers.RandomSampler(seed=0), **SETTINGS,
    )  # fmt: skip
    return search.fit(X, y == "malignant")


def dropping() -> Any:
    leaves = {"max_depth": [1, 2, 3, 5, 8], "min_samples_leaf": [1, 5, 20, 60, 90]}
    tree = DecisionTreeClassifier(random_state=0)
    return ho.HeldOutSearchCV(tree, leaves, drop="bootstrap", cv=5, **SETTINGS).fit(*with_holes())


def nested() -> Any:
    return ho.nested_cv(KNeighborsClassifier(), *tumours(), NEIGHBOURS, cv=5, random_state=1)


def nested_by_bates() -> Any:
    asked: dict[str, Any] = {"cv": 4, "repeats": 2, "interval": "bates_hastie_tibshirani", "random_state": 1}
    return ho.nested_cv(KNeighborsClassifier(), *tumours(), NEIGHBOURS, **asked)


def bootstrap_of_the_search() -> Any:
    asked: dict[str, Any] = {"cv": 4, "n_bootstraps": 8, "random_state": 1}
    return ho.bootstrap_search(KNeighborsClassifier(), *tumours(), NEIGHBOURS, **asked)


def hold_out() -> Any:
    split = ShuffleSplit(1, test_size=0.4, random_state=0)
    asked: dict[str, Any] = {"cv": split, "method": "clopper_pearson", **SETTINGS}
    return ho.HeldOutSearchCV(KNeighborsClassifier(), NEIGHBOURS, **asked).fit(*tumours())


def validation() -> Any:
    X, y = with_holes()
    metrics = ["roc_auc", "brier_score", "calibration_slope"]
    model = make_pipeline(StandardScaler(), LogisticRegression())
    asked: dict[str, Any] = {"metric": metrics, "imputation": 2, "n_bootstraps": 5, "random_state": 1}
    return ho.bootstrap_validate(model, X, (y == "malignant").astype(int), **asked)


def algorithms() -> Any:
    entries = [
        ("nearest neighbours", KNeighborsClassifier(), NEIGHBOURS),
        ("tree", DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    ]
    return ho.compare_algorithms(entries, *tumours(), cv=4, **SETTINGS)


def predictions_of_a_file() -> Any:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    predictions = np.clip(0.3 * y[:, None] + 0.7 * rng.random((120, 8)), 0, 1)
    return ho.estimate(y, predictions, metric="roc_auc", folds=np.arange(120) % 5, **SETTINGS)


def time_series() -> Any:
    rng = np.random.default_rng(0)
    y = np.convolve(rng.normal(size=165), np.ones(6) / 6, "valid")
    X = pd.DataFrame({"lag": np.roll(y, 1), "trend": np.arange(160) / 160})
    asked: dict[str, Any] = {"scoring": "neg_mean_absolute_error", "cv": TimeSeriesSplit(5), "method": "bbc"}
    alphas = {"alpha": [0.1, 1, 10]}
    return ho.HeldOutSearchCV(Ridge(), alphas, block_length="moving:7", **asked, **SETTINGS).fit(X, y)


def one_configuration() -> Any:
    bound: dict[str, Any] = {"cv": 5, "alternative": "greater", **SETTINGS}
    return ho.HeldOutSearchCV(KNeighborsClassifier(), {}, **bound).fit(*tumours())


def table_of_the_command_line() -> Any:
    columns = {
        "excluded": {"id": "whole numbers that count the rows", "site": "constant"},
        "categories": ["sex"],
        "decimal_comma": True,
        "remarks": [],
    }
    return RESULTS["grid"]().evaluation_.with_provenance(columns=columns)


RESULTS: Mapping[str, Callable[[], Any]] = {
    make.__name__.replace("_", " "): cache(make)
    for make in (
        grid, bbc_by_name, area_with_groups, regression, classes_with_repeats, cross_fitted_optuna, dropping,
        nested, nested_by_bates, bootstrap_of_the_search, hold_out, validation, algorithms, predictions_of_a_file,
        time_series, one_configuration, table_of_the_command_line,
    )
}  # fmt: skip

"""A space for thousands of searches of fifty rows: the families of ``spaces.quick``, with fewer trees."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from heldout.spaces.preprocessing import column_kinds, default_preprocessing
from heldout.spaces.presets import Entry

N_TREES = 50


def light(X: Any, y: Any) -> list[Entry]:
    """Some forty configurations, prepared as in ``heldout.spaces.quick``.

    Boosting is left out, as its histograms split no fewer than forty rows and its fits take most of the time.

    Parameters
    ----------
    X : table or array of shape (N, p)
    y : array-like of shape (N,)
        Classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> print([name for name, _, _ in light(*load_breast_cancer(return_X_y=True))])
    ['logistic', 'linear svm', 'rbf svm', 'forest', 'neighbours', 'tree']
    """

    def after(model: BaseEstimator, *, scale: bool = True) -> Pipeline:
        return Pipeline([("prepare", default_preprocessing(X, scale=scale)), ("fit", model)])

    gamma = 1 / max(column_kinds(X).n_columns, 1)
    gammas = [float(f"{gamma * factor:.3g}") for factor in (0.1, 0.3, 1.0)]
    numbers = [number for number in (3, 7, 15, 31) if number <= X.shape[0] // 3] or [1]
    return [
        (
            "logistic",
            after(LogisticRegression(max_iter=5000)),
            {"fit__C": [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]},
        ),
        (
            "linear svm",
            after(LinearSVC(dual="auto", max_iter=20_000)),
            {"fit__C": [0.0001, 0.001, 0.01, 0.1, 1.0]},
        ),
        ("rbf svm", after(SVC()), {"fit__C": [1.0, 10.0, 100.0], "fit__gamma": gammas}),
        (
            "forest",
            after(RandomForestClassifier(n_estimators=N_TREES), scale=False),
            {"fit__min_samples_leaf": [1, 5]},
        ),
        (
            "neighbours",
            after(KNeighborsClassifier()),
            {"fit__n_neighbors": numbers, "fit__weights": ["uniform", "distance"]},
        ),
        ("tree", after(DecisionTreeClassifier(), scale=False), {"fit__min_samples_leaf": [1, 3, 5, 10]}),
    ]

"""A space for thousands of searches of fifty rows: the families of ``spaces.quick``, with fewer trees."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from heldout.spaces.presets import Entry, quick

N_TREES = 50


def light(X: Any, y: Any) -> list[Entry]:
    """Some forty configurations: those of ``heldout.spaces.quick`` with single trees and smaller forests.

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
    entries = {name: (estimator, grid) for name, estimator, grid in quick(X, y)}
    entries.pop("boosting", None)
    forest, _ = entries["forest"]
    assert isinstance(forest, Pipeline)
    entries["forest"] = forest.set_params(fit__n_estimators=N_TREES), {"fit__min_samples_leaf": [1, 5]}
    tree = Pipeline([("prepare", forest.named_steps["prepare"]), ("fit", DecisionTreeClassifier())])
    entries["tree"] = tree, {"fit__min_samples_leaf": [1, 3, 5, 10]}
    return [(name, estimator, grid) for name, (estimator, grid) in entries.items()]

"""Distributions of the presets' parameters, for searches that draw or propose their configurations.

A grid lists few values of each parameter; here penalties, costs and widths are drawn log-uniformly over the whole
sensible range. Numbers of trees and rounds, and the parameters beside them, have short lists of fine steps: draws
that differ in the number alone share a fit, and no score can tell finer steps. Numbers of neighbours and penalties
of ridge regression and of pruned trees are drawn freely, because one fit serves any of them.
"""

from __future__ import annotations

from typing import Any

from scipy.stats import loguniform, randint

_TREES = [50, 100, 200, 300, 500]
_ROUNDS = [25, 50, 100, 150, 200, 300, 400, 500]
_RATES = [0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3]
_LEAF_NODES = [3, 4, 6, 8, 12, 16, 24, 31]
_LEAVES, _SHARES = [20, 10, 5, 3, 2, 1], ["sqrt", 0.2, 0.4, 0.7]


def as_distributions(model: str, grid: dict[str, list[Any]], width: float, n_rows: int) -> dict[str, Any]:
    """The grid of a preset's model with distributions in place of lists, where there are any.

    ``width`` is 1/p, the natural unit of an RBF kernel's gamma on standardised columns.

    Examples
    --------
    >>> found = as_distributions("linear svm", {"fit__C": [0.1, 1.0], "fit__loss": ["hinge"]}, 0.1, 100)
    >>> print(*found["fit__C"].support(), found["fit__loss"])
    0.0001 1 ['hinge']
    """
    known = _distributions(width, n_rows).get(model, {})
    return {name: known.get(name.rpartition("__")[2], values) for name, values in grid.items()}


def _distributions(width: float, n_rows: int) -> dict[str, dict[str, Any]]:
    """By model and parameter; lists go from simple to complex, as those of the grids."""
    most_neighbours = min(100, max(n_rows // 3, 1))  # two folds train on half the rows
    return {
        "logistic": {"C": loguniform(1e-4, 1e3)},
        "ridge": {"alpha": loguniform(1e-3, 1e4)},
        "elastic net": {"C": loguniform(1e-2, 10), "alpha": loguniform(1e-3, 1), "l1_ratio": [1.0, 0.9, 0.5, 0.1]},
        "linear svm": {"C": loguniform(1e-4, 1)},
        "tree": {"ccp_alpha": loguniform(1e-4, 0.1)},
        "neighbours": {"n_neighbors": randint(1, most_neighbours + 1)},
        "rbf svm": {"C": loguniform(0.1, 1e3), "gamma": loguniform(0.01 * width, 10 * width)},
        "forest": {"min_samples_leaf": _LEAVES, "max_features": _SHARES, "n_estimators": _TREES},
        "extra trees": {"min_samples_leaf": _LEAVES, "max_features": _SHARES, "n_estimators": _TREES},
        "boosting": {"learning_rate": _RATES, "max_leaf_nodes": _LEAF_NODES, "max_iter": _ROUNDS},
        "hist boosting": {"learning_rate": _RATES, "max_leaf_nodes": _LEAF_NODES},
        "lightgbm": {"learning_rate": _RATES, "num_leaves": _LEAF_NODES},
        "xgboost": {"learning_rate": _RATES, "max_depth": [2, 3, 4, 5, 6, 8]},
        "catboost": {"learning_rate": _RATES, "depth": [2, 3, 4, 5, 6, 8]},
        "cox": {"alpha": loguniform(1e-2, 1e4)},
    }

"""Cost-complexity pruning: one tree, pruned by scikit-learn itself for each value of ``ccp_alpha``.

Trees of different values must not be pruned one from another: the rounding of a path of pruning would differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout._sklearn import prune
from heldout._types import Array
from heldout.spaces.submodels.base import SubmodelFamily, Value, fitted_copy, is_seeded, view_of, weights_only


class PrunedTrees:
    """One tree a value, None where it was not pruned."""

    def __init__(self, trees: Sequence[Any]) -> None:
        self.trees = trees

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        return [None if tree is None else getattr(tree, response)(X) for tree in self.trees]


def fit_tree(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> PrunedTrees:
    """The tree without pruning, and the pruned ones."""
    tree = fitted_copy(estimator, {"ccp_alpha": 0.0}, X, y, weights_only(fit_params))
    return PrunedTrees([_pruned(tree, value["ccp_alpha"]) for value in values])


def _pruned(tree: Any, alpha: Any) -> Any:
    number = isinstance(alpha, int | float | np.integer | np.floating) and type(alpha) is not bool
    if not (number and 0.0 <= alpha < np.inf):
        return None
    view = view_of(tree, ccp_alpha=alpha)
    prune(view)
    return view


PRUNING = SubmodelFamily(object, ("ccp_alpha",), fit_tree, is_seeded, "bitwise", cost="equal")

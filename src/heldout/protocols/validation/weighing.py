"""Weights in place of copies, for models whose fit is the same by both: a sample holds .632 N different rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from heldout.folds.splits import Rows

_SOLVERS = {
    LinearRegression: None,
    Ridge: ("solver", ("auto", "cholesky", "svd")),
    LogisticRegression: ("solver", ("lbfgs", "newton-cg", "newton-cholesky")),
}
"""Models whose loss is a sum over rows, so that a row of weight 2 is two, with solvers that heed no order."""


def weighs_copies(model: Any) -> bool:
    """Whether the model fitted on weighted rows is the one fitted on as many copies of them.

    Only where that is known of the very class: weights that a model takes may mean something else to it, as to a
    forest, which draws rows itself, or to a model that balances classes by counting rows.

    Examples
    --------
    >>> weighs_copies(LogisticRegression()), weighs_copies(LogisticRegression(class_weight="balanced"))
    (True, False)
    """
    if type(model) not in _SOLVERS or getattr(model, "class_weight", None) is not None:
        return False
    limit = _SOLVERS[type(model)]
    return limit is None or getattr(model, limit[0]) in limit[1]


def weighed_rows(rows: Rows, weights: Any = None) -> tuple[Rows, NDArray[np.float64]]:
    """The different ones of sorted rows, and how often each stands there, times its weight in all rows.

    Examples
    --------
    >>> distinct, counts = weighed_rows(np.array([0, 0, 3]))
    >>> distinct.tolist(), counts.tolist()
    ([0, 3], [2.0, 1.0])
    """
    distinct, counts = np.unique(rows, return_counts=True)
    return distinct, counts * (1.0 if weights is None else np.asarray(weights)[distinct])

"""Studies with accuracies that are made up, so that what is said of them can be foretold."""

from typing import Any

import numpy as np

from heldout_papers.flat_vs_nested import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.analysis import FULL

ORDER = ("rf", "svmRadial", "gbm", "nnet", "rknn", "svmPoly", "knn", "svmLinear", "sda", "lvq", "nb", "bst")
"""Best first, as in the article's table 1."""


def made(
    tables: int = 30,
    *,
    repetitions: int = 6,
    algorithms: tuple[str, ...] = FULL,
    large: int = 12,
    apart: float = 0.004,
    noise: float = 0.01,
    flattered: float = 0.01,
    gbm: float = 0.0,
    bias: float = 0.0,
    spread: float = 0.02,
    seed: int = 0,
) -> FlatVsNestedStudy:
    """A study whose truths are drawn, with estimates about them.

    Parameters
    ----------
    apart : float
        How much less accurate an algorithm is than the one before it, on average.
    noise : float
        Standard deviation of nested estimate less truth; flat has the same and half as much of its own.
    flattered, gbm : float
        What flat has above nested; of gbm more, on tables of 2000 rows and more half.
    bias : float
        Of nested.
    spread : float
        Standard deviation between tables of an algorithm's truth.
    """
    rng = np.random.default_rng(seed)
    truth = (
        0.85
        - apart * np.array([ORDER.index(a) for a in algorithms])
        + spread * rng.normal(size=(tables, 1, len(algorithms)))
    )
    shape = (tables, repetitions, len(algorithms))
    rows = np.where(np.arange(tables) < large, 4000, 500)
    shrunk = np.where(rows >= 2000, 0.5, 1.0)[:, None, None]
    future = truth + 0.3 * noise * rng.normal(size=shape)
    nested = truth + bias + shrunk * noise * rng.normal(size=shape)
    more = flattered + gbm * np.array([a == "gbm" for a in algorithms])
    flat = nested + shrunk * (more + 0.5 * noise * rng.normal(size=shape))
    n = int(np.prod(shape))
    t, r, a = (index.ravel() for index in np.indices(shape))
    columns: dict[str, Any] = {
        "table": np.array([f"t{place:03}" for place in t]),
        "rows": rows[t],
        "columns": np.full(n, 9),
        "repetition": r,
        "algorithm": np.array(algorithms)[a],
        "flat": flat.ravel(),
        "nested": nested.ravel(),
        "future": future.ravel(),
        "n_configurations": np.full(n, 5),
        "flat_seconds": np.ones(n),
        "nested_seconds": np.full(n, 5.0),
        "reason": np.full(n, ""),
    }
    return FlatVsNestedStudy(columns, entropy=1)

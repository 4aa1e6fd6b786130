"""Searches that no table was searched for, for tests of what is done with kept ones."""

from __future__ import annotations

import numpy as np

from heldout_papers.corrections.kept import KINDS, KeptSearch
from heldout_papers.corrections.of_tables import SEARCHED
from heldout_papers.corrections.table_search import METRICS, Kind, TableSearch

DEVIATION = 3.0
"""Of the target of the regressions."""


def some_searches(rows: int = 40, numbers: tuple[int, ...] = (0, 1, 3)) -> list[KeptSearch]:
    """Of two tables of each kind; one number is lacking."""
    return [
        KeptSearch(kind, rows, number, f"table-{number % 2}", _search(kind, rows, number))
        for kind in KINDS
        for number in numbers
    ]


def _search(kind: Kind, rows: int, number: int) -> TableSearch:
    rng = np.random.default_rng(number)
    c = SEARCHED[kind]
    folds = (np.arange(rows) // 2 % 5).astype(np.int32)
    quality = np.linspace(0.5, 1.5, c)
    if kind == "classification":
        y = (np.arange(rows) % 2).astype(np.float64)
        x = quality * (y[:, None] - 0.5) + rng.standard_normal((rows, c))
        predictions = np.round(1 / (1 + np.exp(-x)), 4)
        truths = {"accuracy": 0.5 + 0.2 * quality, "roc_auc": 0.5 + 0.25 * quality, "log_loss": 0.7 - 0.1 * quality}
    else:
        y = DEVIATION * rng.standard_normal(rows)
        predictions = (
            (y[:, None] + (2.5 - quality) * rng.standard_normal((rows, c))).astype(np.float32).astype(np.float64)
        )
        error = 2.5 - quality
        truths = {"root_mean_squared_error": error, "r2": 1 - (error / DEVIATION) ** 2}
    scores = {metric: truths[metric] for metric in METRICS[kind]}
    return TableSearch(y, folds, predictions, scores, {metric: one - 0.01 for metric, one in scores.items()})

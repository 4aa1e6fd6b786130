"""How much the winner relies on each column: permutation importance on held-out rows.

The importance of a column is how much worse a fold model scores on the rows that it never saw when the values of
that column are shuffled among them (Breiman 2001). Columns that carry the same information share it: shuffling one
of them leaves the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._sklearn import rows_at
from heldout._streams import stream
from heldout._types import Floats
from heldout.execution.responses import coded_responses, fold_scores, has_responses, is_computable
from heldout.metrics.base import Metric, Response
from heldout.report.fold_refits import response_context
from heldout.result import Evaluation

PERMUTATIONS = 5
MOST_PERMUTED_COLUMNS = 100
MOST_PERMUTED_ROWS = 2000
"""Held-out rows of a split; of more a fixed sample."""


@dataclass(frozen=True)
class ColumnImportance:
    """How much worse the score is with a column shuffled, in the metric's units."""

    column: str
    mean: float
    spread: float | None
    """``mean``, ``spread``: mean and standard deviation over the splits; a single split has no spread."""


@dataclass(frozen=True)
class Importance:
    """The importance of all columns, the most important first."""

    columns: tuple[ColumnImportance, ...]
    splits: int
    permutations: int


def unfit_for_importance(evaluation: Evaluation) -> str:
    """Why the importance of the columns cannot be computed, as the end of a sentence; empty if it can."""
    X = evaluation.task.X
    if evaluation.metrics.get(evaluation.refit_metric) is None:
        return (
            f"the scorer '{evaluation.refit_metric}' cannot be opened, so its scores of shuffled rows are not "
            "known; use a metric name, or a scorer made by make_scorer"
        )
    if len(getattr(X, "shape", ())) != 2 or hasattr(X, "tocsr"):
        return "the rows are no table or dense array whose columns could be shuffled"
    if X.shape[1] > MOST_PERMUTED_COLUMNS:
        return f"there are {X.shape[1]:,} columns, and importance is computed of at most {MOST_PERMUTED_COLUMNS}"
    return ""


def importance_of(evaluation: Evaluation) -> Importance | None:
    """The importance of every column for the winner's fold models; None without these, or where it is unfit."""
    models, metric = evaluation.fold_models, evaluation.metrics.get(evaluation.refit_metric)
    X = evaluation.task.X
    if models is None or metric is None or unfit_for_importance(evaluation) or not X.shape[1]:
        return None
    per_split = [
        lost
        for place, model in models.items()
        if model is not None
        and (lost := _losses(evaluation, metric, model, models.test_rows[place], place)) is not None
    ]
    if not per_split:
        return None
    lost = np.array(per_split)
    mean = lost.mean(axis=0)
    spread = lost.std(axis=0).tolist() if len(lost) > 1 else [None] * len(mean)
    names = column_names(X)
    order = np.argsort(-mean, kind="stable")
    columns = tuple(ColumnImportance(names[j], float(mean[j]), spread[j]) for j in order)
    return Importance(columns, len(per_split), PERMUTATIONS)


def column_names(X: Any) -> tuple[str, ...]:
    """The names of columns; of an array "column 0" and so on."""
    if hasattr(X, "columns"):
        return tuple(str(name) for name in X.columns)
    return tuple(f"column {place}" for place in range(X.shape[1]))


def _losses(
    evaluation: Evaluation, metric: Metric, model: Any, rows: NDArray[np.intp], place: tuple[int, int]
) -> Floats | None:
    """How much worse the split's score is for each column shuffled (columns,); None where it has no score."""
    task = evaluation.task
    entropy = int(evaluation.provenance.get("entropy", 0))
    generator = np.random.default_rng(stream(entropy, "importance", *place))
    if len(rows) > MOST_PERMUTED_ROWS:
        rows = np.sort(generator.choice(rows, MOST_PERMUTED_ROWS, replace=False))
    tests = task.truth.rows(rows)
    weight = None if task.sample_weight is None else task.sample_weight[rows]
    if not is_computable([metric], tests, weight):
        return None
    context = response_context(task, {"": metric})
    shuffles = [generator.permutation(len(rows)) for _ in range(PERMUTATIONS)]
    copies = rows_at(task.X, np.tile(rows, PERMUTATIONS))
    places = np.concatenate([shuffle + n * len(rows) for n, shuffle in enumerate(shuffles)])
    found = [coded_responses(context, model, rows_at(task.X, rows))]
    for column in range(task.X.shape[1]):
        answered = coded_responses(context, model, _shuffled(copies, column, places))
        for n in range(PERMUTATIONS):
            part = slice(n * len(rows), (n + 1) * len(rows))
            found.append({response: array[part] for response, array in answered.items()})
    predictions: Mapping[Response, NDArray[Any]] = {
        response: np.stack([each[response] for each in found], axis=1) for response in found[0]
    }
    if not has_responses([metric], predictions):
        return None
    no_folds = np.zeros(len(rows), dtype=np.int32)
    scores = fold_scores({"": metric}, tests, predictions, no_folds, weight, context.scoring.times)[""][:, 0]
    worse: Floats = scores[0] - scores[1:].reshape(-1, PERMUTATIONS).mean(axis=1)
    return worse if np.isfinite(worse).all() else None


def _shuffled(X: Any, column: int, places: NDArray[np.intp]) -> Any:
    """A copy with the values of one column in another order."""
    shuffled = X.copy()
    if hasattr(X, "isetitem"):
        shuffled.isetitem(column, X.iloc[places, column].array)
    else:
        shuffled[:, column] = X[places, column]
    return shuffled

"""The winner of a finished search, fitted again on each split and compared with its held-out predictions.

A search does not keep its rows, so they are given again and checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._sklearn import rows_at
from heldout.data.task import Task
from heldout.errors import InputError
from heldout.execution.fit import CellContext, Scoring, cell_model
from heldout.execution.fold_models import FoldModels
from heldout.execution.responses import coded_responses
from heldout.execution.threads import single_threaded
from heldout.folds.splits import Split
from heldout.metrics.base import Metric, Response
from heldout.result import Evaluation

REFIT_AGREEMENT = 1e-8
"""The largest difference between predictions of one fit and of the same fit again, relative to the largest."""


def response_context(task: Task, metrics: Mapping[str, Metric | None]) -> CellContext:
    """What asks a model for the responses that metrics read; it has no scorer to run."""
    return CellContext(task.X, task.target, task.truth, Scoring(_no_scorer, metrics))


def _no_scorer(*_: Any) -> float:
    raise AssertionError("only the responses that metrics read are asked for")


def with_rows(evaluation: Evaluation, X: Any) -> Evaluation:
    """The evaluation with the rows that a saved search lacks.

    Raises InputError where they are others than it was made on.
    """
    task = replace(evaluation.task, X=X)
    known = evaluation.provenance.get("fingerprint_of_rows")
    if len(getattr(X, "shape", ())) == 0:
        X = np.asarray(X)
        task = replace(task, X=X)
    rows = X.shape[0] if len(X.shape) else 0
    if rows != task.n_rows or (known is not None and task.fingerprint() != known):
        raise InputError(
            f"`X` holds other rows than the search was fitted on ({rows:,} rows here, {task.n_rows:,} there, or "
            "other values); give the same X as to fit.",
            argument="X",
        )
    return replace(evaluation, task=task)


def refitted_winner(evaluation: Evaluation) -> FoldModels:
    """One fit of the winner for each split, on the rows in the evaluation's task.

    Raises InputError where the fits give other predictions than the search's own.
    """
    # A search without a random_state left the estimators' own seeds.
    for entropy in (evaluation.provenance.get("entropy"), None):
        models = _refitted(evaluation, entropy)
        if models is not None:
            test_rows = {split.place: split.test for split in evaluation.folds.splits}
            return FoldModels(evaluation.winner, {evaluation.winner: models}, test_rows, len(models))
    raise InputError(
        "`importance='refit'`: the winner, fitted again on the training rows of each fold, gives other predictions "
        "than in the search (it draws without a seed, or its fits took weights or other parameters); search again "
        "with `keep_models='winner'`.",
        argument="importance",
    )


def _refitted(evaluation: Evaluation, entropy: Any) -> dict[tuple[int, int], Any] | None:
    """None at the first model with other predictions."""
    task, winner = evaluation.task, evaluation.configurations[evaluation.winner]
    context = response_context(task, evaluation.metrics)
    models: dict[tuple[int, int], Any] = {}
    with single_threaded():
        for split in evaluation.folds.splits:
            model = cell_model(winner, entropy, *split.place)
            model.fit(rows_at(task.X, split.train), rows_at(task.target, split.train))
            again = coded_responses(context, model, rows_at(task.X, split.test))
            if not _agrees(evaluation, split, again):
                return None
            models[split.place] = model
    return models


def _agrees(evaluation: Evaluation, split: Split, again: Mapping[Response, NDArray[Any]]) -> bool:
    known = evaluation.predictions.responses
    shared = [response for response in again if response in known]
    return bool(shared) and all(
        _difference(known[response][split.test, evaluation.winner, split.repeat], again[response])
        <= REFIT_AGREEMENT
        for response in shared
    )


def _difference(before: NDArray[Any], after: NDArray[Any]) -> float:
    largest = float(np.abs(before).max(initial=0.0)) or 1.0
    difference = np.abs(before.astype(np.float64) - after).max(initial=0.0) / largest
    return float(difference) if np.isfinite(difference) else float("inf")

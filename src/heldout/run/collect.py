"""From the results of cells to the two waists, held-out predictions and fold scores, and to the failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.cells import CellKey, CellResult, CellState
from heldout.configurations import Configurations
from heldout.fitting import Scoring
from heldout.fold_scores import FoldScores
from heldout.folds import Folds
from heldout.metrics.base import Metric, Response
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.run.plan import all_cells
from heldout.task import Truth


@dataclass(frozen=True, eq=False)
class Collected:
    """What the cells of a search amount to.

    Attributes
    ----------
    cells : tuple of CellResult
        Configuration by configuration, split by split; without their predictions, which are in ``predictions``.
    predictions : HeldOutPredictions
    fold_scores : mapping of str to FoldScores
        One a scorer; NaN where a fit failed or a scorer raised, whatever ``error_score`` says.
    refit_metric : str
        The scorer that decides, now that all names are known.
    failures : mapping of int to str
        Configurations that are no candidates, and why.
    hopeless : tuple of int
        Splits that train without a class and on which every configuration failed: that is the split's fault.
    """

    cells: tuple[CellResult, ...]
    predictions: HeldOutPredictions
    fold_scores: Mapping[str, FoldScores]
    refit_metric: str
    failures: Mapping[int, str]
    hopeless: tuple[int, ...] = ()

    @property
    def complaint(self) -> str:
        """The first thing that a scorer raised, empty where none did."""
        return next((cell.message for cell in self.cells if cell.state is CellState.DONE and cell.message), "")


def collect(
    results: Iterable[CellResult], truth: Truth, configurations: Configurations, folds: Folds, scoring: Scoring
) -> Collected:
    """Put every result in its place."""
    arrays = _Arrays(truth, len(configurations), folds)
    cell_of: dict[CellKey, CellResult] = {}
    for result in results:
        arrays.put(result)
        cell_of[result.key] = replace(result, predictions={})
    cells = tuple(cell_of[key] for key in all_cells(len(configurations), folds))
    names = _scorer_names(cells, scoring)
    fold_scores = {name: _fold_scores(name, cells, folds, scoring.metrics.get(name)) for name in names}
    refit_metric = scoring.refit_metric if scoring.refit_metric in names else names[0]
    hopeless = _hopeless_splits(cells, folds, truth)
    failures = _failures(cells, fold_scores[refit_metric], hopeless)
    predictions = HeldOutPredictions(
        responses=arrays.responses,
        names=configurations.names,
        folds=folds.labels,
        classes=truth.classes,
        positive=truth.positive,
        failed=failures,
        exchangeable=folds.exchangeable,
        training_rows=folds.n_training_rows,
        grouped=folds.grouped,
    )
    return Collected(cells, predictions, fold_scores, refit_metric, failures, hopeless)


class _Arrays:
    """Arrays (N, C, R[, n_classes]) that fill up; a response gets its array when it first comes."""

    def __init__(self, truth: Truth, n_configurations: int, folds: Folds) -> None:
        self.responses: dict[Response, NDArray[Any]] = {}
        self._shape = (truth.n_rows, n_configurations, folds.n_repeats)
        self._tests = {(split.repeat, split.fold): split.test for split in folds.splits}

    def put(self, result: CellResult) -> None:
        configuration, repeat, fold = result.key
        for response, values in result.predictions.items():
            if response not in self.responses:
                shape = self._shape + values.shape[1:]
                empty = (UNPREDICTED_LABEL, np.int32) if response is Response.LABELS else (np.nan, np.float64)
                self.responses[response] = np.full(shape, empty[0], dtype=empty[1])
            self.responses[response][self._tests[repeat, fold], configuration, repeat] = values


def _scorer_names(cells: Sequence[CellResult], scoring: Scoring) -> tuple[str, ...]:
    """The scorers' names; a callable that returns a dict tells them only when it is called."""
    told = next((cell.test_scores for cell in cells if cell.test_scores), None)
    if told is None or set(told) <= set(scoring.metrics):
        return tuple(scoring.metrics)
    return tuple(told)


def _fold_scores(name: str, cells: Sequence[CellResult], folds: Folds, metric: Metric | None) -> FoldScores:
    values = np.array([cell.test_scores.get(name, np.nan) for cell in cells], dtype=np.float64)
    greater = metric is None or metric.greater_is_better
    return FoldScores(
        values=np.ascontiguousarray((values if greater else -values).reshape(-1, folds.n_splits).T),
        greater_is_better=greater,
        repeat=np.array([split.repeat for split in folds.splits], dtype=np.intp),
        test_rows=np.array([len(split.test) for split in folds.splits], dtype=np.intp),
    )


def _hopeless_splits(cells: Sequence[CellResult], folds: Folds, truth: Truth) -> tuple[int, ...]:
    lacking_a_class = [
        number
        for number, split in enumerate(folds.splits)
        if truth.classes is not None and len(np.unique(truth.values[split.train])) < truth.n_classes
    ]
    failed = np.array([cell.state is CellState.FAILED for cell in cells]).reshape(-1, folds.n_splits)
    return tuple(number for number in lacking_a_class if failed[:, number].all())


def _failures(cells: Sequence[CellResult], scores: FoldScores, hopeless: Sequence[int]) -> dict[int, str]:
    """Configurations with a failed cell, or without a score in a split in which another one has it.

    A split in which nobody has a score is one on which the metric is undefined: that is nobody's failure.
    """
    failures: dict[int, str] = {}
    for number, cell in enumerate(cells):
        if cell.state is CellState.FAILED and number % scores.n_splits not in hopeless:
            failures.setdefault(cell.key.configuration, cell.message)
    undefined = np.isnan(scores.values)
    undefined[:, list(failures)] = True
    lacking = undefined & ~undefined.all(axis=1, keepdims=True)
    for split, configuration in zip(*np.nonzero(lacking), strict=True):
        message = cells[configuration * scores.n_splits + split].message
        failures.setdefault(int(configuration), message or "its score is NaN")
    return dict(sorted(failures.items()))

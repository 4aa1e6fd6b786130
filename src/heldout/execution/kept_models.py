"""Keep the models of fits: as they are fitted, or fitted again and compared with the held-out predictions.

Models of all configurations are kept as they are fitted. Those of the winner alone are fitted again when it is
known, so that a search never holds more than these.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator

from heldout.data.checks import memory_there
from heldout.errors import HeldoutWarning, InputError
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.collect import KeptModels, RaceResults
from heldout.execution.executors.base import WorkersLostError
from heldout.execution.fit import Work
from heldout.execution.fold_models import FittedModel, FoldModels, KeepModels
from heldout.execution.run import RunSettings, executor_of
from heldout.execution.threads import single_threaded

_AGREEMENT = 1e-12


def fold_models_of(
    work: Work, run_settings: RunSettings, found: RaceResults, winner: int, keep_models: KeepModels
) -> FoldModels | None:
    """The fold models of a search that has run; warns of those that cannot be had."""
    if keep_models == "none":
        return None
    kept = found.models
    if keep_models == "all":
        models = _fold_models(work, run_settings, found, winner, range(len(work.configurations)), kept)
        if not kept.is_full:
            return models
        _warn_of_memory("those of the winner alone are kept")
        kept = KeptModels()
    models = _fold_models(work, run_settings, found, winner, [winner], kept)
    if kept.is_full:
        _warn_of_memory("none are kept; use fewer splits")
    return models


def only_model(fold_models: FoldModels) -> BaseEstimator:
    """The winner's model of a single split.

    Raises InputError where it cannot be had.
    """
    (model,) = fold_models.values()
    if model is None:
        raise InputError(
            "`deploy='bounded'` deploys the model that the hold-out tested, which cannot be made again (a warning "
            "says why); use `keep_models='all'`, or `deploy='all'`.",
            argument="deploy",
        )
    return model


def _fold_models(
    work: Work,
    run_settings: RunSettings,
    found: RaceResults,
    winner: int,
    configurations: Sequence[int],
    kept: KeptModels,
) -> FoldModels:
    """Those of some configurations, fitted again where they are not kept; all None if they are too large."""
    again = [cell for cell in _cells(found, configurations, CellState.DONE) if cell not in kept.models]
    differences = [0.0]
    for result in () if kept.is_full else _fitted_again(work, run_settings, again):
        model, difference = _compared(work, found, result)
        kept.put(result.key, model)
        differences.append(difference)
        if kept.is_full:
            break
    _warn_of_problems(work, kept)
    largest = max(differences)
    if largest > _AGREEMENT:
        _warn(
            "separate fits stand for fold models whose fits were shared with `share='tolerance'`; their "
            f"predictions differ from the held-out predictions by up to {largest:.1e} of the largest"
        )
    by_configuration = {
        j: {
            cell.place: kept.models[cell].estimator if cell in kept.models else None
            for cell in _cells(found, [j], CellState.DONE, CellState.FAILED)
        }
        for j in configurations
    }
    test_rows = {split.place: split.test for split in found.folds.splits}
    return FoldModels(winner, by_configuration, test_rows, len(differences) - 1, largest)


def _cells(found: RaceResults, configurations: Sequence[int], *states: CellState) -> Iterator[CellKey]:
    """Cells of some configurations that ended so, split by split."""
    has_ended_so = np.logical_or.reduce([found.cells.is_in(state) for state in states])
    for j in configurations:
        yield from (CellKey(j, *place) for s, place in enumerate(found.cells.places) if has_ended_so[j, s])


def _fitted_again(work: Work, run_settings: RunSettings, cells: Sequence[CellKey]) -> Iterator[CellResult]:
    """The results of cells, each fitted alone, with their models and without scores; an error makes one failed."""
    alone = replace(work, keeps_models=True, error_score=np.nan, sharing=None)
    left = dict.fromkeys(cells)
    if not left:
        return
    with single_threaded(), run_settings.executor or executor_of(run_settings) as executor:
        with suppress(WorkersLostError):  # then the others run one by one, which shows whose fault it is
            for result in executor.run(alone, cells):
                del left[result.key]
                yield result
        for cell in left:
            try:
                yield from executor.run(alone, [cell])
            except WorkersLostError as lost:
                yield CellResult(cell, CellState.FAILED, f"its worker was lost ({lost.reason})")


def _compared(work: Work, found: RaceResults, again: CellResult) -> tuple[FittedModel, float]:
    """The model of a fit that was repeated, and how far its predictions differ; none if they are others."""
    if again.model is None:
        return FittedModel(None, f"fitted again, it failed: {again.message}"), 0.0
    position = again.key.configuration
    difference = _difference_of(_with_predictions(work, found, replace(again, model=None)), again)
    is_approximate = work.sharing is not None and not work.sharing.exactness(position)
    if difference <= _AGREEMENT or is_approximate:
        return again.model, difference
    return FittedModel(
        None,
        f"fitted again, it gives other predictions (by {difference:.1e} of the largest), so its random draws or "
        "those of an earlier session cannot be repeated; set random_state",
    ), 0.0


def _with_predictions(work: Work, found: RaceResults, cell: CellResult) -> CellResult:
    """The result of a cell with the predictions that the search keeps."""
    split = work.split_of[cell.key.place]
    at = (split.test, cell.key.configuration, found.folds.columns[split.repeat])
    return replace(cell, predictions={name: array[at] for name, array in found.predictions.responses.items()})


def _difference_of(cell: CellResult, alone: CellResult) -> float:
    """The largest difference between predictions of two fits, relative to the largest of the second."""
    if alone.state is not cell.state:
        return math.inf
    differences = [0.0]
    for response, theirs in alone.predictions.items():
        ours = cell.predictions[response]
        largest = np.abs(theirs).max(initial=0.0)
        difference = np.abs(ours.astype(np.float64) - theirs).max(initial=0.0)
        differences.append(float(difference / largest) if largest else float(difference))
    return max(differences)


def _warn_of_problems(work: Work, kept: KeptModels) -> None:
    """One sentence for all models that cannot be had, with the first reason."""
    problems = {cell: model.problem for cell, model in kept.models.items() if model.estimator is None}
    if problems:
        cell, reason = min(problems.items())
        name = work.configurations[cell.configuration].name
        _warn(
            f"{len(problems)} of {len(kept.models)} fold models cannot be kept and are None; {name} in repeat "
            f"{cell.repeat}, fold {cell.fold}: {reason}"
        )


def _warn_of_memory(result: str) -> None:
    there = memory_there()
    assert there is not None, "without a limit no models are too large"
    _warn(f"the fold models need more than half of {there.words}, so {result}")


def _warn(sentence: str) -> None:
    warnings.warn(HeldoutWarning(f"{sentence}."), stacklevel=2)

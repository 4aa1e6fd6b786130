"""The models behind held-out predictions, by configuration and split."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from heldout._text import counted
from heldout.data.limits import memory_there
from heldout.errors import HeldoutWarning, InputError
from heldout.execution.cells import CellKey, CellResult, CellState, FittedModel
from heldout.execution.collect import KeptModels, RaceResults
from heldout.execution.executors import WorkersLostError
from heldout.execution.fit import Work
from heldout.execution.run import RunSettings, executor_of
from heldout.execution.search import KeepModels
from heldout.execution.threads import single_threaded
from heldout.folds.splits import Place, Rows


@dataclass(frozen=True, eq=False)
class FoldModels(Mapping[Place, Any]):
    """The fold models of a configuration: (repeat, fold) → the model that predicted the rows held out there.

    Its splits are those on which the configuration was fitted. A model is None where its fit failed, and where it
    could not be had.

    Attributes
    ----------
    configuration : int
        The winner, or the argument of ``of``.
    by_configuration : mapping of int to mapping of (repeat, fold) to estimator or None
    test_rows : mapping of (repeat, fold) to ndarray of int
        The held-out rows of each split.
    n_fits : int
        Fits that were made again for the models, after the search: they are not in ``n_fits_``.
    difference : float
        The largest difference between predictions of models that were fitted again and the held-out predictions,
        relative to the largest prediction of the same fit: 0 where all bits are equal, at most 1e-12 elsewhere, and
        more only for fits that ``share="tolerance"`` shared.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = ho.HeldOutSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, keep_models="winner", random_state=0).fit(X, y)
    >>> search.fold_models_
    FoldModels(5 of configuration 0)
    >>> [round(float(model.score(X[rows], y[rows])), 2) for model, rows in search.fold_models_.held_out()]
    [0.41, 0.52, 0.49, 0.44, 0.54]
    """

    configuration: int
    by_configuration: Mapping[int, Mapping[Place, Any]]
    test_rows: Mapping[Place, Rows]
    n_fits: int = 0
    difference: float = 0.0

    def of(self, configuration: int) -> FoldModels:
        """The fold models of another configuration, with ``keep_models="all"``; KeyError for one without."""
        if configuration not in self.by_configuration:
            kept = ", ".join(map(str, self.by_configuration))
            raise KeyError(f"fold models are kept of configuration {kept}, got {configuration}")
        return replace(self, configuration=configuration)

    def held_out(self) -> Iterator[tuple[Any, Rows]]:
        """Each model with the rows that it never saw; splits without a model are left out."""
        return ((model, self.test_rows[place]) for place, model in self.items() if model is not None)

    def __getitem__(self, place: Place) -> Any:
        return self.by_configuration[self.configuration][place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self.by_configuration[self.configuration])

    def __len__(self) -> int:
        return len(self.by_configuration[self.configuration])

    def __repr__(self) -> str:
        n_others = len(self.by_configuration) - 1
        others = f", and those of {counted(n_others, 'other')}" if n_others else ""
        return f"FoldModels({len(self)} of configuration {self.configuration}{others})"


_AGREEMENT = 1e-12


def fold_models_of(
    work: Work, run_settings: RunSettings, found: RaceResults, winner: int, keep_models: KeepModels
) -> FoldModels:
    """The fold models of a search that has run; warns of those that cannot be had.

    Models of all configurations are kept as they are fitted. Those of the winner alone are fitted again when it is
    known, and compared with the held-out predictions, so that a search never holds more than these.
    """
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
            "says why); use `keep_models='all'`, or `deploy='all'`."
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
    difference = _difference(work, found, again)
    is_approximate = work.sharing is not None and not work.sharing.exactness(position)
    if difference <= _AGREEMENT or is_approximate:
        return again.model, difference
    return FittedModel(
        None,
        f"fitted again, it gives other predictions (by {difference:.1e} of the largest), so its random draws or "
        "those of an earlier session cannot be repeated; set random_state",
    ), 0.0


def _difference(work: Work, found: RaceResults, again: CellResult) -> float:
    """The largest difference between the predictions of a repeated fit and those that the search keeps.

    Relative to the largest of the repeated fit.
    """
    split = work.split_of[again.key.place]
    at = (split.test, again.key.configuration, found.folds.columns[split.repeat])
    differences = [0.0]
    for response, predictions in again.predictions.items():
        kept = found.predictions.responses[response][at]
        largest = np.abs(predictions).max(initial=0.0)
        difference = np.abs(kept.astype(np.float64) - predictions).max(initial=0.0)
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

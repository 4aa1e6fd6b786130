"""From the results of cells to held-out predictions, fold scores and failures."""

from __future__ import annotations

import math
import mmap
import tempfile
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from heldout._types import Array, Floats, Indices
from heldout.configurations import Configurations
from heldout.data.limits import SHARE, memory_there
from heldout.data.row_part import RowPart
from heldout.data.task import Task
from heldout.dropping.base import Barrier, Dropped, dropped_at
from heldout.execution.cells import (
    NO_SCORE,
    CellKey,
    CellResult,
    CellState,
    CellTable,
    FittedModel,
    check_predictions,
)
from heldout.execution.fit import Scoring
from heldout.folds.splits import Folds, Place, Split
from heldout.metrics.base import Metric, Response, is_undefined
from heldout.predictions import UNPREDICTED_LABEL, FoldScores, HeldOutPredictions, ranks


@dataclass(eq=False)
class KeptModels:
    """Models in the memory of this process, until they take too much of it: then none."""

    models: dict[CellKey, FittedModel] = field(default_factory=dict)
    n_bytes: int = 0
    is_full: bool = False

    def put(self, cell: CellKey, model: FittedModel) -> None:
        if self.is_full:
            return
        self.n_bytes += model.n_bytes
        self.models[cell] = model
        self.is_full = self.n_bytes > self._most_bytes
        if self.is_full:
            self.models.clear()

    def copy(self, source: int, position: int) -> None:
        """Let a configuration have the models that the fits of an equal one made."""
        keys = [key for key in self.models if key.configuration == source]
        self.models |= {key._replace(configuration=position): self.models[key] for key in keys}

    @cached_property
    def _most_bytes(self) -> float:
        there = memory_there()
        return math.inf if there is None else SHARE * there.n_bytes


@dataclass(frozen=True, eq=False)
class RaceResults:
    """The results of a race: its cells with their predictions and scores."""

    cells: CellTable
    """Configuration by configuration, split by split; without their predictions, which are in ``predictions``."""
    predictions: HeldOutPredictions
    fold_scores: Mapping[str, FoldScores]
    """One a scorer; NaN where a fit failed or a scorer raised, also with a numeric ``error_score``."""
    metrics: Mapping[str, Metric | None]
    """Of the same scorers."""
    refit_metric: str
    """The scorer that decides; a callable names its scores only when it runs."""
    failures: Mapping[int, str]
    """Configurations that failed, and why; they are no candidates."""
    folds: Folds
    """The splits that ran."""
    splits: tuple[Split, ...]
    """The same in the order in which they ran."""
    barriers: tuple[Barrier, ...] = ()
    unscored: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """By scorer, the configurations without a score although the metric has a definition, and why."""
    n_fits_saved: int = 0
    """Planned fits that were not made because their configuration was dropped."""
    models: KeptModels = field(default_factory=KeptModels)
    """Those of its fits, where all are kept."""

    @property
    def complaint(self) -> str:
        """The message of the first scorer that raised; empty if none did."""
        messages = self.cells.columns["message"][self.cells.is_in(CellState.DONE)]
        return next(filter(None, messages), "")

    def last(self, n_splits: int) -> RaceResults:
        """The same cells, with the predictions and scores of the last splits only; each split is a repeat."""
        folds = self.folds.part(self.splits[-n_splits:])
        columns = [self.folds.columns[repeat] for repeat in folds.columns]
        sizes = [split.n_training_rows for split in folds.splits]
        predictions = replace(
            self.predictions,
            responses={response: array[:, :, columns] for response, array in self.predictions.responses.items()},
            folds=folds.labels,
            training_rows=folds.n_training_rows,
            training_range=(min(sizes), max(sizes)),
            test_share=None,
        )
        fold_scores = {name: scores.last(n_splits) for name, scores in self.fold_scores.items()}
        return replace(self, predictions=predictions, fold_scores=fold_scores, folds=folds)

    @property
    def dropped(self) -> dict[int, Dropped]:
        """The dropped configurations."""
        return dropped_at(self.barriers)

    @property
    def n_fits(self) -> int:
        """Fits that were made."""
        return self.cells.n_fits


MOST_IN_MEMORY = 500_000_000
"""Bytes of one response, beyond which it is in a file beside a store."""

NO_NUMBER = "its score is "
"""Begins the reason of a configuration whose scorer gave no number, and did not raise."""


class ResultCollector:
    """Collects the results of cells as they come.

    - ``folds``: the splits to collect; results of others are ignored.
    - ``part``: the rows whose predictions are kept, with the first ones of the file; all by default.
    - ``is_stored``: whether results come from a store, where somebody may have changed them; large predictions are
      then in a file that is mapped into memory.
    """

    def __init__(
        self,
        task: Task,
        configurations: Configurations,
        folds: Folds,
        scoring: Scoring,
        part: RowPart | None = None,
        *,
        is_stored: bool = False,
    ) -> None:
        self._task, self._truth = task, task.truth
        self._configurations, self._folds, self._scoring = configurations, folds, scoring
        self._arrays: dict[Response, Array] = {}
        self._part, self._is_stored = part, is_stored
        n_kept = task.n_rows if part is None else len(part.with_first)
        self._shape = (n_kept, len(configurations), folds.n_repeats)
        # Of each split the places of its test rows in the arrays, and which of its test rows these are.
        self._places = [self._places_of(split.test) for split in folds.splits]
        self._number = {split.place: number for number, split in enumerate(folds.splits)}
        self._cells = CellTable.empty(range(len(configurations)), self._number)

    def put(self, result: CellResult | CellTable) -> None:
        """Put a result, or a block of them, in its place.

        Raises StoreError when its predictions are not of its rows, as only a changed run file can hold them.
        """
        if isinstance(result, CellTable):
            self._put_block(result)
            return
        number = self._number.get(result.key.place)
        # A store may hold splits of another race, such as fits without two folds.
        if number is None:
            return
        if self._is_stored:
            n_rows, n_times = len(self._folds.splits[number].test), len(self._scoring.times)
            check_predictions(str(result.key), result.predictions, self._truth, n_times, [n_rows])
        self._cells.put((result.key.configuration, number), result)
        for response, values in result.predictions.items():
            array = self._array(response, values.shape[1:])
            places, kept = self._places[number]
            array[places, result.key.configuration, self._folds.columns[result.key.repeat]] = values[kept]

    def _put_block(self, block: CellTable) -> None:
        if not all(place in self._number for place in block.places):
            for cell in block:
                self.put(cell)
            return
        numbers = [self._number[place] for place in block.places]
        tests = [self._folds.splits[number].test for number in numbers]
        if self._is_stored:
            block.check([len(test) for test in tests], self._truth, len(self._scoring.times))
        self._cells.put(np.ix_(block.configurations, numbers), block)
        rows, kept = self._places_of(np.concatenate(tests))
        repeats = np.repeat([self._folds.columns[repeat] for repeat, _ in block.places], block.sizes)[kept]
        for response, values in block.predictions.items():
            array = self._array(response, values.shape[2:])
            array[rows[:, None], list(block.configurations), repeats[:, None]] = values[kept]

    def _places_of(self, test: Indices) -> tuple[Indices, Any]:
        return (test, slice(None)) if self._part is None else self._part.places(test)

    def _array(self, response: Response, outputs: tuple[int, ...]) -> Array:
        if response not in self._arrays:
            empty: tuple[Any, Any] = (np.nan, np.float64)
            if response is Response.LABELS:
                empty = UNPREDICTED_LABEL, np.int32
            array = _array_in_file if self._is_stored else np.empty
            self._arrays[response] = array(self._shape + outputs, empty[1])
            self._arrays[response][...] = empty[0]
        return self._arrays[response]

    def results(self, splits: Sequence[Split] | None = None, barriers: Sequence[Barrier] = ()) -> RaceResults:
        """The results so far, on splits in the order in which they ran; by default all of all configurations."""
        splits = self._folds.splits if splits is None else tuple(splits)
        folds = self._folds.part(splits)
        dropped = dropped_at(barriers)
        # The (repeat, fold) of splits that ran after a configuration was dropped.
        skipped = {j: frozenset(split.place for split in splits[drop.after :]) for j, drop in dropped.items()}
        # Before anything is read: a response is there for all splits of a configuration or for none.
        self._leave_out_partial()
        cells = self._cells.of_splits([split.place for split in folds.splits], skipped)
        names = _scorer_names(cells, self._scoring)
        metrics = {name: self._scoring.metrics.get(name) for name in names}
        fold_scores = {name: _fold_scores(name, cells, folds, metrics[name]) for name in names}
        refit_metric = self._scoring.refit_metric if self._scoring.refit_metric in names else names[0]
        # Failures are those of the metric that chooses; by the others a configuration only lacks a score.
        unscored = {name: self._unscored(name, cells, folds) for name in names}
        failures = dict(sorted({**unscored[refit_metric], **_failures(cells)}.items()))
        for name, lacking in unscored.items():
            if name != refit_metric:  # a configuration may fail by one metric alone
                fold_scores[name].values[:, list(lacking)] = np.nan
        predictions = HeldOutPredictions(
            responses=self._responses(folds, skipped),
            names=self._configurations.names,
            folds=folds.labels if self._part is None else folds.labels[self._part.with_first],
            classes=self._truth.classes,
            positive=self._truth.positive,
            failed=failures,
            dropped={each: drop.reason for each, drop in dropped.items() if each not in failures},
            exchangeable=folds.exchangeable,
            training_rows=folds.n_training_rows,
            grouped=folds.grouped,
            times=self._scoring.times,
            test_share=folds.test_share,
            part=self._part,
        )
        n_fits_saved = len(self._configurations) * self._folds.n_splits - cells.n_fits
        return RaceResults(
            cells, predictions, fold_scores, metrics, refit_metric, failures, folds, splits, tuple(barriers),
            unscored, n_fits_saved,
        )  # fmt: skip

    def _leave_out_partial(self) -> None:
        """Take a response from configurations that lack it on some of their splits, so that no other loses rows."""
        done = self._cells.is_in(CellState.DONE)
        for array in self._arrays.values():
            empty = UNPREDICTED_LABEL if array.dtype == np.int32 else np.nan
            # One row of each split tells whether its fit gave the response: a fit predicts all its test rows or
            # none.
            first = np.stack(
                [
                    array[places[0], :, self._folds.columns[split.repeat]]
                    for split, (places, _) in zip(self._folds.splits, self._places, strict=True)
                ],
                axis=1,
            ).reshape(*done.shape, -1)[..., 0]
            lacking = done & (np.isnan(first) if array.dtype != np.int32 else first == UNPREDICTED_LABEL)
            array[:, lacking.any(axis=1)] = empty

    def _unscored(self, name: str, cells: CellTable, folds: Folds) -> dict[int, str]:
        """Configurations that ran on a split and lack a score that the metric has there by definition, and why.

        A missing score of a dropped configuration is no failure.
        """
        scores = _scores_by(name, cells.test_scores, cells)["value"]
        metric, weights = self._scoring.metrics.get(name), self._task.sample_weight
        is_ours = metric is not None and not metric.calls_foreign_code
        # A loss of ours beyond float64 is infinite; a function that gives no finite number has failed.
        none = np.isnan(scores) if is_ours else ~np.isfinite(scores)
        lacking = none & cells.is_in(CellState.DONE)
        unscored: dict[int, str] = {}
        for number in np.flatnonzero(lacking.any(axis=0)).tolist():
            test = folds.splits[number].test
            weight = None if weights is None else weights[test]
            # A fold without what the metric needs is the fold's fault and not that of a configuration.
            is_empty = np.isnan(scores[:, number]).all()
            if is_empty and is_undefined(metric, self._truth.rows(test), weight):
                continue
            for configuration in np.flatnonzero(lacking[:, number]).tolist():
                why = cells.columns["message"][configuration, number]
                score = scores[configuration, number]
                unscored.setdefault(configuration, why or f"{NO_NUMBER}{'NaN' if np.isnan(score) else score}")
        return unscored

    def _responses(self, folds: Folds, skipped: Mapping[int, frozenset[Place]]) -> dict[Response, Array]:
        """The arrays, without the splits that did not run and those that a dropped configuration skipped."""
        # Nothing to erase, so no copy of what may be most of the memory.
        if folds.n_splits == self._folds.n_splits and not skipped:
            return self._arrays
        columns = [self._folds.columns[repeat] for repeat in folds.columns]
        responses = {response: array[:, :, columns] for response, array in self._arrays.items()}
        tested = {split.place: split.test for split in folds.splits}
        rows, repeats = np.nonzero(folds.labels < 0)
        for array in responses.values():
            empty = UNPREDICTED_LABEL if array.dtype == np.int32 else np.nan
            array[rows, :, repeats] = empty  # a store may hold results of later splits
            for configuration, places in skipped.items():
                for repeat, fold in places:
                    array[tested[repeat, fold], configuration, folds.columns[repeat]] = empty
        return responses


def _array_in_file(shape: tuple[int, ...], kind: type[np.generic]) -> Array:
    """An array in a file without a name, which goes with it; in memory if it is small."""
    n_bytes = math.prod(shape) * np.dtype(kind).itemsize
    if n_bytes <= MOST_IN_MEMORY:
        return np.empty(shape, kind)
    with tempfile.TemporaryFile() as file:
        file.truncate(n_bytes)
        return np.frombuffer(mmap.mmap(file.fileno(), n_bytes), kind).reshape(shape)


def _scorer_names(cells: CellTable, scoring: Scoring) -> tuple[str, ...]:
    """The names of the scorers; those of a callable that returns a dict are known only from its results."""
    given = {name: column["given"].ravel() for name, column in cells.test_scores.items()}
    # Cells that failed or were dropped name no scorer, so the first that has one is asked.
    first = min((int(cell.argmax()) for cell in given.values() if cell.any()), default=0)
    names = tuple(name for name, cell in given.items() if cell[first])
    # With declared metrics their order is that of the user, not that in which results came.
    return tuple(scoring.metrics) if set(names) <= set(scoring.metrics) else names


def _scores_by(name: str, scores: Mapping[str, Array], cells: CellTable) -> Array:
    """The scores of cells by a scorer, which may have given none."""
    return scores[name] if name in scores else np.full(cells.columns.shape, NO_SCORE)


def _fold_scores(name: str, cells: CellTable, folds: Folds, metric: Metric | None) -> FoldScores:
    values = _scores_by(name, cells.test_scores, cells)["value"]
    # Scorers of losses give negative numbers; fold scores are in the metric's own direction.
    greater = metric is None or metric.greater_is_better
    return FoldScores(
        values=np.ascontiguousarray((values if greater else -values).T),
        greater_is_better=greater,
        repeat=np.array([folds.columns[split.repeat] for split in folds.splits], dtype=np.intp),
        test_rows=np.array([len(split.test) for split in folds.splits], dtype=np.intp),
    )


def _failures(cells: CellTable) -> dict[int, str]:
    """Configurations with a failed cell, and the message of the first."""
    failures: dict[int, str] = {}
    for configuration, split in np.argwhere(cells.is_in(CellState.FAILED)).tolist():
        failures.setdefault(configuration, cells.columns["message"][configuration, split])
    return failures


Formatted: TypeAlias = Callable[[list[dict[str, Any]], int, list[dict[str, Any]]], dict[str, Any]]
"""``BaseSearchCV._format_results``: from parameters, number of splits and one dict a cell to the table."""


def results_table(
    formatted: Formatted,
    params: list[dict[str, Any]],
    cells: CellTable,
    fold_scores: Mapping[str, FoldScores],
    out: Collection[int],
    dropped_at: Mapping[int, int] | None = None,
    *,
    several: bool,
    error_score: Any,
) -> dict[str, Any]:
    """``cv_results_``: the cells of a search as scikit-learn's table.

    - ``out``: configurations that are no candidates.
    - ``dropped_at``: if configurations could be dropped: the last split of each dropped one. The table then has
      columns for it and for the number of splits of each configuration.
    - ``several``: whether the scorers are several by construction: their one name may then be "score" too.
    - ``error_score``: the score of a fit that failed or a scorer that raised.
    """
    # A cell that never ran did not fail; and a cell that did not raise may still lack one of several scores.
    no_number = cells.is_in(CellState.DROPPED) | (error_score == "raise")
    lacking = np.where(no_number, np.nan, np.nan if error_score == "raise" else error_score)

    def scores_of(columns: Mapping[str, Array]) -> list[Any]:
        scores = {name: _scores_by(name, columns, cells) for name in fold_scores}
        filled = {
            name: np.where(each["given"], each["value"], lacking).ravel().tolist() for name, each in scores.items()
        }
        if not several and tuple(filled) == ("score",):
            return filled["score"]
        return [dict(zip(filled, values, strict=True)) for values in zip(*filled.values(), strict=True)]

    columns = {
        "fit_time": cells.columns["fit_seconds"].ravel().tolist(),
        "score_time": cells.columns["score_seconds"].ravel().tolist(),
        "test_scores": scores_of(cells.test_scores),
        "train_scores": scores_of(cells.train_scores),
    }
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    with warnings.catch_warnings():
        if dropped_at:  # that a dropped configuration lacks scores is no news
            warnings.filterwarnings("ignore", "One or more of the (test|train) scores are non-finite")
        results = formatted(params, len(cells.places), rows)
    for name, scores in fold_scores.items():
        means = mean_over_splits(scores.oriented())
        means[list(out)] = np.nan
        own = ranks(means)
        # These are scikit-learn's ranks, unless a failure would rank by error_score, a split without any score
        # would make every configuration the first, or a rounding error would put another before the winner.
        first = results[f"rank_test_{name}"][own.argmin()] == 1
        if out or not np.isfinite(scores.values).all() or not first:
            results[f"rank_test_{name}"] = own
    if dropped_at is not None:
        results["n_splits_evaluated"] = (~cells.is_in(CellState.DROPPED)).sum(axis=1, dtype=np.int32)
        at = [dropped_at.get(configuration, -1) for configuration in range(len(params))]
        results["dropped_at_split"] = np.array(at, dtype=np.int32)
    return results


def constant_columns(cells: CellTable) -> dict[str, Floats]:
    """The columns that do not change when rows get other weights: times, and scores on the training rows.

    A callable ``refit`` may read them beside the replayed test scores.
    """
    measured = {"fit_time": cells.columns["fit_seconds"], "score_time": cells.columns["score_seconds"]}
    measured |= {f"train_{name}": column["value"] for name, column in cells.train_scores.items()}
    columns: dict[str, Floats] = {}
    for name, of_configuration in measured.items():
        columns[f"mean_{name}"] = of_configuration.mean(axis=1)
        columns[f"std_{name}"] = of_configuration.std(axis=1)
        if name.startswith("train_"):
            columns |= {f"split{i}_{name}": split for i, split in enumerate(of_configuration.T)}
    return columns


def columns_of_scores(cells: CellTable, fold_scores: Mapping[str, FoldScores]) -> dict[str, Floats]:
    """The columns of the table that hold scores and times, without ranks."""
    columns = constant_columns(cells)
    for name, scores in fold_scores.items():
        of_splits = scores.oriented()
        columns |= {f"split{i}_test_{name}": split for i, split in enumerate(of_splits)}
        columns |= {f"mean_test_{name}": of_splits.mean(axis=0), f"std_test_{name}": of_splits.std(axis=0)}
    return columns


def mean_over_splits(scores: Floats) -> Floats:
    """Plain mean over the splits (splits, C) in which a score is defined; NaN where none is.

    With every score finite this is scikit-learn's ``mean_test_score`` to the last bit.

    Examples
    --------
    >>> mean_over_splits(np.array([[0.5, np.nan], [0.7, np.nan], [np.nan, np.nan]])).tolist()
    [0.6, nan]
    """
    defined = ~np.isnan(scores)
    if defined.all():
        return np.asarray(np.average(np.ascontiguousarray(scores.T), axis=1))
    count = defined.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(defined, scores, 0.0).sum(axis=0) / count)

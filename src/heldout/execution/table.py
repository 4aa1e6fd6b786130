"""``cv_results_``: the cells of a search as scikit-learn's table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.execution.cells import CellState, CellTable, ScoreColumn
from heldout.predictions import FoldScores, ranks


@dataclass(frozen=True, eq=False)
class ResultsTable:
    """Makes the table."""

    formatted: Callable[[list[dict[str, Any]], int, list[dict[str, Any]]], dict[str, Any]]
    """``BaseSearchCV._format_results``: from parameters, number of splits and one dict per cell to the table."""
    several: bool
    """Whether the scorers are several by construction: their one name may then be "score" too."""
    error_score: Any
    """The score of a fit that failed or a scorer that raised."""
    params: list[dict[str, Any]]

    def __call__(
        self,
        cells: CellTable,
        fold_scores: Mapping[str, FoldScores],
        out: Collection[int],
        dropped_at: Mapping[int, int] | None = None,
    ) -> dict[str, Any]:
        """The table of the cells, configuration by configuration and split by split.

        - ``out``: configurations that are no candidates.
        - ``dropped_at``: if configurations could be dropped: the last split of each dropped one. The table then has
          columns for it and for the number of splits of each configuration.
        """
        single = not self.several and tuple(fold_scores) == ("score",)
        n_splits = next(iter(fold_scores.values())).n_splits
        with warnings.catch_warnings():
            if dropped_at:  # that a dropped configuration lacks scores is no news
                warnings.filterwarnings("ignore", "One or more of the (test|train) scores are non-finite")
            results = self.formatted(self.params, n_splits, self._rows(cells, fold_scores, single))
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
            at = [dropped_at.get(configuration, -1) for configuration in range(len(self.params))]
            results["dropped_at_split"] = np.array(at, dtype=np.int32)
        return results

    def _rows(self, cells: CellTable, names: Mapping[str, FoldScores], single: bool) -> list[dict[str, Any]]:
        # A cell that never ran did not fail; and a cell that did not raise may still lack one of several scores.
        no_number = cells.is_in(CellState.DROPPED) | (self.error_score == "raise")
        lacking = np.where(no_number, np.nan, np.nan if self.error_score == "raise" else self.error_score)
        none = ScoreColumn.empty(lacking.shape)

        def scores(columns: Mapping[str, ScoreColumn]) -> list[Any]:
            found = {name: columns.get(name, none).filled(lacking).ravel().tolist() for name in names}
            if single:
                return found["score"]
            return [dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)]

        columns = {
            "fit_time": cells.columns["fit_seconds"].ravel().tolist(),
            "score_time": cells.columns["score_seconds"].ravel().tolist(),
            "test_scores": scores(cells.test_scores),
            "train_scores": scores(cells.train_scores),
        }
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def constant_columns(cells: CellTable) -> dict[str, NDArray[np.float64]]:
    """The columns that do not change when rows get other weights: times, and scores on the training rows.

    A callable ``refit`` may read them beside the replayed test scores.
    """
    measured = {"fit_time": cells.columns["fit_seconds"], "score_time": cells.columns["score_seconds"]}
    measured |= {f"train_{name}": column.values for name, column in cells.train_scores.items()}
    columns: dict[str, NDArray[np.float64]] = {}
    for name, of_configuration in measured.items():
        columns[f"mean_{name}"] = of_configuration.mean(axis=1)
        columns[f"std_{name}"] = of_configuration.std(axis=1)
        if name.startswith("train_"):
            columns |= {f"split{i}_{name}": split for i, split in enumerate(of_configuration.T)}
    return columns


def columns_of_scores(cells: CellTable, fold_scores: Mapping[str, FoldScores]) -> dict[str, NDArray[np.float64]]:
    """The columns of the table that hold scores and times, without ranks."""
    columns = constant_columns(cells)
    for name, scores in fold_scores.items():
        of_splits = scores.oriented()
        columns |= {f"split{i}_test_{name}": split for i, split in enumerate(of_splits)}
        columns |= {f"mean_test_{name}": of_splits.mean(axis=0), f"std_test_{name}": of_splits.std(axis=0)}
    return columns


def mean_over_splits(scores: NDArray[np.float64]) -> NDArray[np.float64]:
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

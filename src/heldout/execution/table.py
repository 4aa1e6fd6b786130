"""``cv_results_``: the cells of a search as scikit-learn's table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.execution.cells import CellResult, CellState
from heldout.predictions import FoldScores, ranks


@dataclass(frozen=True, eq=False)
class ResultsTable:
    """Makes the table."""

    formatted: Callable[[list[dict[str, Any]], int, list[dict[str, Any]]], dict[str, Any]]
    """``BaseSearchCV._format_results``: from parameters, number of splits and one dict per cell to the table."""
    params: list[dict[str, Any]]
    several: bool
    """Whether the scorers are several by construction: their one name may then be "score" too."""
    error_score: Any
    """The score of a fit that failed or a scorer that raised."""

    def __call__(
        self,
        cells: Sequence[CellResult],
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
            results = self.formatted(
                self.params, n_splits, [self._row(cell, fold_scores, single) for cell in cells]
            )
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
            met = (
                np.array([cell.state is not CellState.DROPPED for cell in cells]).reshape(-1, n_splits).sum(axis=1)
            )
            results["n_splits_evaluated"] = met.astype(np.int32)
            at = [dropped_at.get(configuration, -1) for configuration in range(len(self.params))]
            results["dropped_at_split"] = np.array(at, dtype=np.int32)
        return results

    def _row(self, cell: CellResult, names: Mapping[str, FoldScores], single: bool) -> dict[str, Any]:
        # A cell that never ran did not fail; and a cell that did not raise may still lack one of several scores.
        no_number = cell.state is CellState.DROPPED or self.error_score == "raise"
        lacking = np.nan if no_number else self.error_score
        test = {name: cell.test_scores.get(name, lacking) for name in names}
        train = {name: cell.train_scores.get(name, lacking) for name in names}
        return {
            "fit_time": cell.fit_seconds,
            "score_time": cell.score_seconds,
            "test_scores": test["score"] if single else test,
            "train_scores": train["score"] if single else train,
        }


def constant_columns(cells: Sequence[CellResult], n_splits: int) -> dict[str, NDArray[np.float64]]:
    """The columns that do not change when rows get other weights: times, and scores on the training rows.

    A callable ``refit`` may read them beside the replayed test scores.
    """
    measured = {
        "fit_time": [cell.fit_seconds for cell in cells],
        "score_time": [cell.score_seconds for cell in cells],
    }
    for name in dict.fromkeys(name for cell in cells for name in cell.train_scores):
        measured[f"train_{name}"] = [cell.train_scores.get(name, np.nan) for cell in cells]
    columns: dict[str, NDArray[np.float64]] = {}
    for name, values in measured.items():
        of_configuration = np.array(values, dtype=np.float64).reshape(-1, n_splits)
        columns[f"mean_{name}"] = of_configuration.mean(axis=1)
        columns[f"std_{name}"] = of_configuration.std(axis=1)
        if name.startswith("train_"):
            columns |= {f"split{i}_{name}": split for i, split in enumerate(of_configuration.T)}
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

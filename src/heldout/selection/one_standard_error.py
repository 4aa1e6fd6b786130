"""The one-standard-error rule: the simplest configuration that is not clearly worse than the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument, in_python
from heldout.kernels.reference import Floats
from heldout.selection.base import (
    ScoreTable,
    SelectionFailedError,
    SelectionRule,
    best_score,
    first_greatest,
    not_below,
)
from heldout.selection.complexity import complexities, frozen_complexity, simplest_of


@dataclass(frozen=True)
class OneStandardError(SelectionRule):
    """Choose the simplest configuration within one standard error of the best (Breiman et al. 1984, section 3.4.3).

    The standard error is that of the best configuration's mean over folds: the standard deviation of its fold
    scores (with n - 1) by the root of their number n, folds without a score left out. The simplest configuration
    with a score of at least the best minus that is chosen; of equally simple ones the best, then the first. With
    fewer than two fold scores there is no standard error, and nothing is chosen.

    Attributes
    ----------
    complexity : str, callable, sequence of float or None
        The name of a parameter, a function of the parameters, or a number for each configuration, greater = more
        complex; None for the order given, the first the simplest.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.7, 0.7], [0.8, 0.8, 0.9]])  # two folds, the simplest configuration first
    >>> table = ScoreTable(scores.mean(axis=0)[None, :, None], ["accuracy"], fold_scores=scores[None, :, :, None])
    >>> OneStandardError()(table).tolist()
    [1]
    """

    complexity: Any = None
    name: ClassVar[str] = "one_standard_error"
    words: ClassVar[str] = "the simplest configuration within one standard error of the best score"
    sources: ClassVar[tuple[str, ...]] = ("breiman1984",)
    reads_fold_scores: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "complexity", frozen_complexity(self.complexity))

    def check(self, n_configurations: int, params: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
        """Refuse a complexity that these configurations do not have."""
        complexities(self.complexity, n_configurations, params)

    def __call__(self, table: ScoreTable) -> NDArray[np.intp]:
        if table.fold_scores is None:
            raise SelectionFailedError(
                "it needs the scores of single folds; give "
                f"{argument('folds', ...)}{in_python(', a fold label a row')}"
            )
        scores = table.values[:, :, 0]
        best = first_greatest(scores)
        error = standard_errors(_of(table.fold_scores[:, :, :, 0], best))
        order = complexities(self.complexity, table.n_configurations, table.params)
        within = not_below(scores, best_score(scores) - error[:, None])
        return simplest_of(within, scores, order)


def _of(fold_scores: Floats, columns: NDArray[np.intp]) -> Floats:
    """(B, splits): those of one column each."""
    chosen: Floats = np.take_along_axis(fold_scores, np.maximum(columns, 0)[:, None, None], axis=2)[:, :, 0]
    return chosen


def standard_errors(scores: Floats) -> Floats:
    """(B,): of the mean of the defined ones of scores (B, splits); NaN where fewer than two are defined.

    Examples
    --------
    >>> standard_errors(np.array([[1.0, 3.0, np.nan], [1.0, np.nan, np.nan]])).tolist()
    [1.0, nan]
    """
    defined = ~np.isnan(scores)
    n = defined.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = np.where(defined, scores, 0.0).sum(axis=1) / n
        squares = np.where(defined, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
        error: Floats = np.sqrt(squares / (n - 1)) / np.sqrt(n)
    return np.where(n > 1, error, np.nan)

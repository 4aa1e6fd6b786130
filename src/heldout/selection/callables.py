"""Functions of the user as selection rules: of the scores, or of a dict like scikit-learn's ``cv_results_``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heldout._types import Array, Floats, Indices
from heldout.errors import NoExit, text_of
from heldout.predictions import ranks
from heldout.selection.base import (
    NONE_CHOSEN,
    ScoreTable,
    SelectionFailedError,
    SelectionRule,
    checked_choice,
    choices,
)


@dataclass(frozen=True)
class CallableRule(SelectionRule):
    """Let your function of the scores choose the configuration.

    Attributes
    ----------
    choose : callable
        From scores (B, C), greater is better, NaN is no candidate, to the index of the chosen configuration in each
        row, integers (B,). It is called with many rows at once; if it returns a plain integer, it is called again
        with one row at a time.

    Examples
    --------
    >>> second_best = CallableRule(lambda scores: np.argsort(-scores, axis=1)[:, 1])
    >>> second_best(ScoreTable(np.array([[[0.5], [0.9], [0.7]]]), ["accuracy"])).tolist()
    [2]
    """

    choose: Callable[[Floats], Any]

    @property
    def name(self) -> str:
        return f"callable {getattr(self.choose, '__name__', type(self.choose).__name__)}"

    def __call__(self, table: ScoreTable) -> Indices:
        scores = table.values[:, :, 0]
        try:
            with NoExit():
                # A copy, so that a function that sorts in place does not change the scores of other methods.
                returned = choices(
                    self.choose(scores.copy()), len(scores), lambda b: self.choose(scores[b : b + 1].copy())
                )
        except Exception as error:
            raise SelectionFailedError(f"{type(error).__name__}: {text_of(error)}") from error
        chosen = checked_choice(returned, table.n_resamples, table.n_configurations, least=0)
        # A function may not know NaN and choose a configuration that has no score.
        unscored = np.isnan(scores[np.arange(len(chosen)), chosen])
        return np.where(unscored, NONE_CHOSEN, chosen)


@dataclass(frozen=True)
class CallableRefit(SelectionRule):
    """Let a callable ``refit`` of scikit-learn choose, on the scores of each resample.

    Its dict has ``params``, ``param_*`` and, for each metric, ``split{i}_test_{name}``, ``mean_test_{name}``,
    ``std_test_{name}`` and ``rank_test_{name}``; and the entries of ``constants``, such as fit times.

    Attributes
    ----------
    refit : callable
        From a dict like ``cv_results_`` to the index of the chosen configuration.
    constants : mapping of str to array of shape (C,)
        Entries of the dict that are the same in every resample.

    Examples
    --------
    >>> simplest = CallableRefit(lambda results: int(np.argmin(results['param_depth'])))
    >>> scores = np.array([[[0.9], [0.8]]])
    >>> simplest(ScoreTable(scores, ['accuracy'], [{'depth': 5}, {'depth': 2}])).tolist()
    [1]
    """

    refit: Callable[[dict[str, Any]], int]
    constants: Mapping[str, Any] = field(default_factory=dict)
    reads_fold_scores: bool = True
    reads_all_metrics: bool = True

    @property
    def name(self) -> str:
        return f"refit callable {getattr(self.refit, '__name__', type(self.refit).__name__)}"

    def __call__(self, table: ScoreTable) -> Indices:
        # The same for all resamples, and slow to make.
        fixed = {**self.constants, "params": list(table.params), **_param_columns(table.params)}
        returned = [self._choose({**fixed, **_score_columns(table, b)}) for b in range(table.n_resamples)]
        chosen = checked_choice(returned, table.n_resamples, table.n_configurations, least=0)
        unscored = np.isnan(table.values[np.arange(len(chosen)), chosen, 0])
        return np.where(unscored, NONE_CHOSEN, chosen)

    def _choose(self, results: dict[str, Any]) -> int:
        try:
            with NoExit():
                return int(self.refit(results))
        except Exception as error:
            raise SelectionFailedError(f"{type(error).__name__}: {text_of(error)}") from error


def _param_columns(params: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for configuration in params for name in configuration)
    columns = {}
    for name in names:
        values = np.empty(len(params), dtype=object)
        values[:] = [configuration.get(name) for configuration in params]
        absent = [name not in configuration for configuration in params]
        columns[f"param_{name}"] = np.ma.MaskedArray(values, mask=absent)  # as scikit-learn has it
    return columns


def _score_columns(table: ScoreTable, b: int) -> dict[str, Array]:
    columns: dict[str, Array] = {}
    for m, name in enumerate(table.metrics):
        means = table.values[b, :, m]
        if table.fold_scores is not None:
            splits = table.fold_scores[b, :, :, m]
            columns |= {f"split{i}_test_{name}": split for i, split in enumerate(splits)}
            with np.errstate(invalid="ignore"):
                columns[f"std_test_{name}"] = _spread(splits)
        columns[f"mean_test_{name}"] = means
        columns[f"rank_test_{name}"] = ranks(means)
    return columns


def _spread(splits: Floats) -> Floats:
    present = ~np.isnan(splits)
    n = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, splits, 0.0).sum(axis=0) / n
    spread = np.sqrt(np.where(present, (splits - mean) ** 2, 0.0).sum(axis=0) / n)
    return np.where(present.any(axis=0), spread, np.nan)

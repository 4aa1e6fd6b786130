"""What a selection rule is, and what it selects: scores of all configurations in, the selected one out.

A rule is replayed on every bootstrap, so it is a function of a table with one row for each bootstrap. The winner is
what the same rule selects from the one row of observed scores. A rule of *weights* selects an average of
configurations instead, one resample at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from heldout._types import Floats, Indices

NONE_CHOSEN = -1


class SelectionFailedError(RuntimeError):
    """A rule could not choose; the message is the reason."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of C configurations on M metrics in B resamples; greater is better.

    Attributes
    ----------
    values : ndarray of shape (B, C, M)
        The first metric is the one that the search refits for. NaN for configurations that are no candidates.
    metrics : sequence of str
    params : sequence of mapping
        Parameters of each configuration.
    fold_scores : ndarray of shape (B, splits, C, M) or None
        Present only for rules with ``reads_fold_scores``.
    repeat_scores : ndarray of shape (B, repeats, C, M) or None
        Present only for rules with ``reads_repeats``; None with one repeat, whose scores are ``values``.
    """

    values: Floats
    metrics: Sequence[str]
    params: Sequence[Mapping[str, Any]] = ()
    fold_scores: Floats | None = None
    repeat_scores: Floats | None = None

    @property
    def n_resamples(self) -> int:
        return self.values.shape[0]

    @property
    def n_configurations(self) -> int:
        return self.values.shape[1]

    def resample(self, b: int) -> ScoreTable:
        """The scores of one resample."""
        one = slice(b, b + 1)
        folds, repeats = self.fold_scores, self.repeat_scores
        return replace(
            self,
            values=self.values[one],
            fold_scores=None if folds is None else folds[one],
            repeat_scores=None if repeats is None else repeats[one],
        )


class RuleDeclaration(Protocol):
    """What every rule declares of itself; a class that names it as its base has the defaults below.

    Attributes
    ----------
    name : str
        As provenance prints it.
    words : str
        How it selects, as a report says it.
    sources : tuple of str
        Keys of ``heldout.references``.
    reads_fold_scores : bool
        Whether the rule reads the scores of each split.
    """

    @property
    def name(self) -> str: ...
    @property
    def words(self) -> str:
        return self.name.replace("_", " ")

    @property
    def sources(self) -> tuple[str, ...]:
        return ()

    @property
    def reads_fold_scores(self) -> bool:
        return False

    def check(self, n_configurations: int, params: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
        """Refuse, before anything is fitted, configurations and metrics that the rule cannot select from."""
        return


@runtime_checkable
class SelectionRule(RuleDeclaration, Protocol):
    """Base class of rules that select one configuration from scores.

    Attributes
    ----------
    reads_all_metrics : bool
        Whether the table must contain all metrics of the search, or only the one that selects.
    reads_repeats : bool
        Whether the table must hold the scores of each repeat.
    reads_models : bool
        Whether the rule's ``complexity`` is measured in the fitted models.
    """

    @property
    def reads_models(self) -> bool:
        return False

    @property
    def reads_all_metrics(self) -> bool:
        return False

    @property
    def reads_repeats(self) -> bool:
        return False

    def __call__(self, table: ScoreTable) -> Indices:
        """(B,): the configuration selected in each resample, ``NONE_CHOSEN`` where none can be.

        Raises
        ------
        SelectionFailedError
            When the rule itself failed.
        """


class Library(Protocol):
    """The scores of one resample, as a weight rule reads them; greater is better, NaN is no candidate.

    Attributes
    ----------
    scores : ndarray of shape (C,)
        The score of each configuration alone.
    """

    @property
    def scores(self) -> Floats: ...

    def with_one_more(self, members: Indices, candidates: Indices) -> Floats:
        """(len(candidates),): for each candidate, the score of the average of ``members`` and it.

        ``members`` are columns, with repetitions allowed.
        """


@runtime_checkable
class WeightRule(RuleDeclaration, Protocol):
    """Base class of rules that choose the weights of an ensemble from the scores of a resample."""

    def weigh(self, library: Library) -> Floats:
        """(C,): weights, not negative, of sum 1; all 0 if there is no candidate."""


def choices(returned: Any, n_resamples: int, of_resample: Callable[[int], Any]) -> Any:
    """A choice for each resample; a rule that returns a plain integer is written for one, and is asked for each.

    Examples
    --------
    >>> choices(np.int64(2), 1, ...), choices(2, 3, lambda b: b % 2), choices([2, 0], 2, ...)
    ([2], [0, 1, 0], [2, 0])
    """
    # An integer for all resamples at once would be the same winner in every bootstrap.
    if np.ndim(returned) or np.asarray(returned).dtype.kind not in "iu":
        return returned
    return [int(returned)] if n_resamples == 1 else [of_resample(b) for b in range(n_resamples)]


def checked_choice(chosen: Any, n_resamples: int, n_configurations: int, least: int = NONE_CHOSEN) -> Indices:
    """What a rule returned, as configurations (B,); ``least`` is the least number that it may return.

    Raises
    ------
    SelectionFailedError
        For another shape, for what is no integer, and for a number that is no configuration.

    Examples
    --------
    >>> checked_choice([1, NONE_CHOSEN], 2, 3).tolist()
    [1, -1]
    """
    # A user's function may return anything; a float index, such as 2.0, would hide a mistake.
    array = np.asarray(chosen)
    if array.dtype.kind not in "iu" or array.shape != (n_resamples,):
        raise SelectionFailedError(
            f"it must return an integer for each row of scores, shape ({n_resamples},), but returned {array.dtype} "
            f"of shape {array.shape}"
        )
    strangers = (array < least) | (array >= n_configurations)
    if strangers.any():
        raise SelectionFailedError(f"it returned {array[strangers][0]} for {n_configurations} configurations")
    return array.astype(np.intp, copy=False)


def checked_weights(weights: Any, n_columns: int) -> Floats:
    """The weights (C,) that a rule returned.

    Raises
    ------
    SelectionFailedError
        For another shape, a weight that is negative or no number, and a sum that is neither 0 nor 1.

    Examples
    --------
    >>> checked_weights([0.25, 0.75], 2).tolist()
    [0.25, 0.75]
    """
    array = np.asarray(weights)
    if array.dtype.kind not in "fiu" or array.shape != (n_columns,):
        raise SelectionFailedError(
            f"it must return a weight for each configuration, shape ({n_columns},), but returned {array.dtype} of "
            f"shape {array.shape}"
        )
    if not (array >= 0).all():
        raise SelectionFailedError(f"it returned the weight {array[~(array >= 0)][0]}; weights must be at least 0")
    total = float(array.sum())
    if total and not abs(total - 1) < _NEAR_ONE:
        raise SelectionFailedError(f"it returned weights of sum {total:.6g}; they must add up to 1, or all be 0")
    return array.astype(np.float64, copy=False)


_NEAR_ONE = 1e-6
"""Sums of weights differ by less from 1 where they differ by rounding."""


@dataclass(frozen=True)
class Fixed(SelectionRule):
    """Choose the configuration of one column, which was named before its score was seen."""

    column: int
    name = "fixed"

    def __call__(self, table: ScoreTable) -> Indices:
        return np.full(len(table.values), self.column)


def metrics_read(rule: SelectionRule, names: Iterable[str], deciding: str) -> list[str]:
    """The metrics that a rule reads, the deciding one first."""
    return list(dict.fromkeys([deciding, *(names if rule.reads_all_metrics else ())]))


def settings_of(rule: Any) -> dict[str, Any]:
    """What a rule was configured with, for provenance; a function by its name."""
    if not is_dataclass(rule):
        return {}
    return {member.name: _described(getattr(rule, member.name)) for member in fields(rule)}


def _described(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_described(item) for item in value]
    if hasattr(value, "name"):
        return value.name
    return getattr(value, "__name__", type(value).__name__) if callable(value) else value


@dataclass(frozen=True, eq=False)
class Choice:
    """What a rule chose under each of L weightings of the rows, such as bootstraps.

    Attributes
    ----------
    columns : ndarray of int, shape (L,)
        The chosen column; in an ensemble that of the greatest weight; ``NONE_CHOSEN`` if nothing was chosen.
    weights : ndarray of shape (L, columns) or None
        The weights of an ensemble, not negative, of sum 1.
    tied : ndarray of shape (L, columns) or None
        If ties share the choice: 1/T for each of T columns, whose scores are averaged.
    """

    columns: Indices
    weights: Floats | None = None
    tied: Floats | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def repeated(self, times: int) -> Choice:
        """The only choice, ``times`` times."""
        return self.of(np.zeros(times, dtype=np.intp))

    def of(self, lanes: Sequence[int] | Indices) -> Choice:
        """The choices under some of the weightings."""
        lanes = np.asarray(lanes, dtype=np.intp)
        weights, tied = (None if shares is None else shares[lanes] for shares in (self.weights, self.tied))
        return Choice(self.columns[lanes], weights, tied)

    def distinct(self) -> Choice:
        """Each column or ensemble that was chosen, once, in a fixed order.

        Examples
        --------
        >>> Choice(np.array([4, NONE_CHOSEN, 2, 4])).distinct().columns.tolist()
        [2, 4]
        """
        if self.tied is not None:
            return Choice(np.flatnonzero(self.tied.any(axis=0)))
        columns = self.columns[self.columns != NONE_CHOSEN]
        if self.weights is None:
            return Choice(np.unique(columns))
        weights = np.unique(self.weights[self.columns != NONE_CHOSEN], axis=0)[::-1]  # column 0 before column 1
        return Choice(weights.argmax(axis=1), weights)

    def shares(self, n_columns: int) -> Floats:
        """(columns,): the share of weightings that chose each column; for ensembles its mean weight."""
        shared = self.weights if self.tied is None else self.tied
        if shared is not None:
            mean: Floats = shared.sum(axis=0) / len(self)
            return mean
        chosen = self.columns[self.columns != NONE_CHOSEN]
        return np.bincount(chosen, minlength=n_columns) / len(self)


def of_weights(weights: Floats) -> Choice:
    """The choice of ensembles with the given weights (L, columns); none where all are 0.

    Examples
    --------
    >>> of_weights(np.array([[0.25, 0.5, 0.25], [0.0, 0.0, 0.0]])).columns.tolist()
    [1, -1]
    """
    return Choice(np.where(weights.any(axis=1), weights.argmax(axis=1), NONE_CHOSEN), weights)


def together(columns: Indices, n_columns: int) -> Choice:
    """One choice that some of the columns share.

    Examples
    --------
    >>> together(np.array([0, 2]), 3).tied.tolist()
    [[0.5, 0.0, 0.5]]
    """
    shares = np.zeros((1, n_columns))
    shares[0, columns] = 1 / len(columns)
    return Choice(columns[:1], tied=shares)


def joined(choices: list[Choice]) -> Choice:
    """Choices of consecutive weightings as one."""
    # All blocks have the same kind of choice, as they have the same rule.
    weights = [choice.weights for choice in choices if choice.weights is not None]
    tied = [choice.tied for choice in choices if choice.tied is not None]
    return Choice(
        np.concatenate([choice.columns for choice in choices]),
        np.concatenate(weights) if weights else None,
        np.concatenate(tied) if tied else None,
    )

"""Held-out predictions and fold scores: what a search leaves behind.

These are the two waists of the library. Above them is statistics that has no idea how models were run; below them,
running that has no idea what is estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._record import Shown
from heldout._types import Array, Booleans, Codes, Floats, Indices
from heldout.data.row_part import RowPart
from heldout.data.task import Truth, shortened
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response, at_times_of

UNPREDICTED_LABEL = -1


@dataclass(frozen=True, eq=False)
class SearchQuestion:
    """What a search estimated from its predictions, and how it selected its winner.

    ``ho.estimate`` and its kin ask the same of the predictions, except where a keyword says otherwise. None is what
    the search did not have, or what is not known.

    Attributes
    ----------
    metric : Metric or None
        The metric that selected the winner; None where its scorer cannot be opened.
    aggregate : str or None
    method : Method or None
        None where the search made no estimate.
    selection : rule or None
        The selection rule as the search was given it.
    rule : rule or None
        The same rule, with what it counted in the fitted models.
    selected_on : mapping of str to Metric
        The metrics that the rule reads, by their names in the search.
    n_bootstraps, confidence_level, alternative, entropy, block_length, n_rows_of_bootstrap
        Of the estimate.
    drop : str or None
        The drop rule.
    groups, sample_weight : ndarray of shape (N,), or None
    truth : Truth or None
        The target.
    names : tuple of str
        Of the configurations.
    params : sequence of mapping
        Of the configurations, for rules that read them.
    winner : int or None
    flags : mapping of Flag to str
        What to know of the search and of its winner.
    beyond : str
        What the search's own estimate is computed from besides the predictions, as half a sentence; empty where it
        is a function of the predictions.
    of_search : bool
        False where a reader only proposes what to ask, so that another question needs no warning.
    """

    metric: Metric | None = None
    aggregate: str | None = None
    method: Any = None
    selection: Any = None
    rule: Any = None
    selected_on: Mapping[str, Metric] = field(default_factory=dict)
    n_bootstraps: int | None = None
    confidence_level: float | None = None
    alternative: str | None = None
    entropy: int | None = None
    block_length: Any = None
    n_rows_of_bootstrap: int | None = _defaults.ROWS_OF_BOOTSTRAP
    drop: str | None = None
    groups: Array | None = None
    sample_weight: Floats | None = None
    truth: Truth | None = None
    names: tuple[str, ...] = ()
    params: Sequence[Mapping[str, Any]] = ()
    winner: int | None = None
    flags: Mapping[Flag, str] = field(default_factory=dict)
    beyond: str = ""
    of_search: bool = True


@dataclass(frozen=True, eq=False)
class HeldOutPredictions(Shown):
    """Held-out predictions of N rows by C configurations in R repeats, one array per response.

    Attributes
    ----------
    responses : mapping of Response to ndarray
        ``labels`` as class codes (N, C, R), -1 where not predicted; ``values`` and ``risk`` (N, C, R);
        ``survival`` (N, C, R, n_times); ``decision`` and ``probabilities`` (N, C, R) pointing to the positive
        class of a binary task, (N, C, R, n_classes) otherwise. NaN where not predicted, or where a configuration
        lacks the response.
    names : tuple of str
        The names of the C configurations.
    folds : ndarray of int, shape (N, R), or None
        The fold in which a row was held out, -1 if it was not held out.
    classes : ndarray or None
        The labels that the class codes stand for; None if the task is no classification.
    positive : int or None
        Code of the class that binary probabilities and decisions point to.
    failed : mapping of int to str
        Configurations that failed, with the reason; they are not candidates.
    dropped : mapping of int to str
        Configurations that were dropped early, with the reason; they are not candidates either.
    exchangeable : bool
        False if rows are ordered in time.
    training_rows : float or None
        Mean number of training rows of the models behind the predictions.
    training_range : (int, int) or None
        Fewest and most training rows, if the splits differ on purpose.
    grouped : bool
        Whether the search held groups of rows out whole.
    times : tuple of float
        The times of the last axis of ``survival``, ascending; empty if they are those of the metric.
    test_share : float or None
        The share of the rows that each split tests, if the splits are those of repeated subsampling.
    adaptive : bool
        Whether the search proposed or dropped configurations because of scores on these rows.
    flags : mapping of Flag to str
        What a reader of any estimate from them must know, such as that repeats were averaged.
    question : SearchQuestion or None
        The metric, rule, method and settings of the search that made them; ``ho.estimate`` uses them by default.
    part : RowPart or None
        Where a search kept only what its estimates read: the part of the rows that bootstraps draw from. The arrays
        hold these, and then the first rows of the file (``part.with_first``).
    """

    responses: Mapping[Response, Array]
    names: tuple[str, ...]
    folds: Codes | None = None
    classes: Array | None = None
    positive: int | None = None
    failed: Mapping[int, str] = field(default_factory=dict)
    dropped: Mapping[int, str] = field(default_factory=dict)
    exchangeable: bool = True
    training_rows: float | None = None
    training_range: tuple[int, int] | None = None
    grouped: bool = False
    times: tuple[float, ...] = ()
    test_share: float | None = None
    adaptive: bool = False
    flags: Mapping[Flag, str] = field(default_factory=dict)
    question: SearchQuestion | None = None
    part: RowPart | None = None

    _title = "held-out predictions"
    _shown = "rows=n_rows configurations=n_configurations repeats=n_repeats responses=listed_responses"

    @property
    def listed_responses(self) -> str:
        """The names of the responses."""
        return ", ".join(self.responses)

    @property
    def _notes(self) -> list[str]:
        left = self.n_configurations - len(self.out)
        return [f"{len(self.out)} of them failed or were dropped; {left} are candidates."] if self.out else []

    @property
    def n_rows(self) -> int:
        return self._shape[0]

    @property
    def n_configurations(self) -> int:
        return len(self.names)

    @property
    def n_repeats(self) -> int:
        return self._shape[1]

    @property
    def _shape(self) -> tuple[int, int]:
        """(N, R); of folds, where the scorers read no response."""
        for values in self.responses.values():
            return values.shape[0], values.shape[2]
        assert self.folds is not None
        return self.folds.shape[0], self.folds.shape[1]

    @property
    def out(self) -> dict[int, str]:
        """Configurations that are no candidates, and why."""
        return {**self.dropped, **self.failed}

    @property
    def remembered(self) -> SearchQuestion:
        """The settings of the search; for some of its configurations or rows only metric and aggregate."""
        question = self.question or SearchQuestion()
        if question.truth is None or (question.names, question.truth.n_rows) == (self.names, self.n_rows):
            return question
        return SearchQuestion(metric=question.metric, aggregate=question.aggregate)

    def of(self, configurations: Any) -> HeldOutPredictions:
        """The predictions of some configurations.

        Parameters
        ----------
        configurations : str, int, list of names or indices, or mask of shape (C,)
            Which ones, by name or by index from 0.

        Raises
        ------
        InputError
            When a name or an index is unknown, or none is left.

        Examples
        --------
        >>> zeros = np.zeros((9, 3, 1))
        >>> held = HeldOutPredictions({Response.VALUES: zeros}, ("a", "b", "c"), failed={2: "it raised"})
        >>> held.of("c").names, held.of(["c", "a"]).failed, held.of([0, 1]).n_configurations
        (('c',), {0: 'it raised'}, 2)
        """
        listed: Any = [configurations] if isinstance(configurations, str | int | np.integer) else configurations
        try:
            listed = [self.names.index(each) if isinstance(each, str) else each for each in listed]
            places = np.arange(self.n_configurations)[listed].tolist()
        except (IndexError, ValueError, TypeError):
            raise InputError(
                f"configurations are named by their names or by indices from 0 to {self.n_configurations - 1}, got "
                f"{shortened(configurations)}."
            ) from None
        if not places:
            raise InputError(f"no configuration is left of {self.n_configurations}; name at least one.")
        out = (self.failed, self.dropped)
        failed, dropped = ({n: why[j] for n, j in enumerate(places) if j in why} for why in out)
        return replace(
            self,
            responses={response: array[:, places] for response, array in self.responses.items()},
            names=tuple(self.names[j] for j in places),
            failed=failed,
            dropped=dropped,
        )

    def at(self, rows: Indices | slice) -> HeldOutPredictions:
        """The predictions of some rows; of a slice without a copy."""
        responses = {response: array[rows] for response, array in self.responses.items()}
        return replace(self, responses=responses, folds=None if self.folds is None else self.folds[rows])

    @property
    def of_part(self) -> HeldOutPredictions:
        """The predictions of the rows of the part alone."""
        return self if self.part is None else self.at(slice(len(self.part.rows)))

    def for_metric(self, metric: Metric) -> Array:
        """The array that a metric reads: for each configuration the first response that it has.

        Decisions and probabilities can occur together only for metrics of ranks, which rank each configuration by
        itself.

        Raises
        ------
        InputError
            When no response of the metric is held.
        """
        offered = [
            at_times_of(metric, self.responses[r], self.times) if r is Response.SURVIVAL else self.responses[r]
            for r in metric.responses
            if r in self.responses
        ]
        if not offered:
            wanted = " or ".join(metric.responses)
            held = ", ".join(self.responses) or "none that can be read"
            raise InputError(
                f"{metric.name} needs {wanted}, but the predictions hold {held}; use a metric of those, or predict "
                f"{wanted}."
            )
        combined = offered[0]
        for other in offered[1:]:
            lacking = ~_predicted(combined).any(axis=(0, 2))
            if lacking.any():
                combined = combined.copy()
                combined[:, lacking] = other[:, lacking]
        return combined

    def predicted(self, metric: Metric) -> Booleans:
        """(N, C, R): where the metric's response was predicted."""
        return _predicted(self.for_metric(metric))

    def __repr__(self) -> str:
        held = ", ".join(self.responses)
        return (
            f"HeldOutPredictions({self.n_rows} rows x {self.n_configurations} configurations x "
            f"{self.n_repeats} repeats: {held})"
        )


def is_predicted(array: Array) -> bool:
    """Whether a response holds a prediction anywhere: a model without it has none."""
    return bool((array != UNPREDICTED_LABEL).any() if array.dtype.kind in "iu" else (~np.isnan(array)).any())


def _predicted(array: Array) -> Booleans:
    if array.dtype.kind in "iu":
        return array != UNPREDICTED_LABEL
    present = ~np.isnan(array)
    return np.all(present, axis=3) if array.ndim == 4 else present


SLACK = 1e-12
"""How far apart, relative to themselves, scores may lie that differ by rounding errors only."""


@dataclass(frozen=True, eq=False)
class FoldScores(Shown):
    """Scores of C configurations on each split, in the metric's own direction and units.

    Attributes
    ----------
    values : ndarray of shape (splits, C)
        NaN if a configuration was not fitted or the metric is undefined.
    greater_is_better : bool
    repeat : ndarray of int, shape (splits,)
        The repeat that a split belongs to.
    test_rows : ndarray of int, shape (splits,), or None
        How many rows each split tests.

    Examples
    --------
    >>> scores = FoldScores(np.array([[0.8, 0.7], [0.9, 0.6]]), greater_is_better=True, repeat=np.array([0, 0]))
    >>> scores, scores.values.mean(axis=0).round(2).tolist()
    (FoldScores(2 splits, 2 configurations), [0.85, 0.65])
    """

    values: Floats
    greater_is_better: bool
    repeat: Indices
    test_rows: Indices | None = None

    def __repr__(self) -> str:
        return f"FoldScores({self.n_splits} splits, {self.n_configurations} configurations)"

    _title = "fold scores"
    _shown = "splits=n_splits configurations=n_configurations"

    @property
    def n_splits(self) -> int:
        return self.values.shape[0]

    @property
    def n_configurations(self) -> int:
        return self.values.shape[1]

    def last(self, n_splits: int) -> FoldScores:
        """The scores of the last ``n_splits`` splits, with repeats numbered from 0 again."""
        repeat = np.unique(self.repeat[-n_splits:], return_inverse=True)[1].astype(np.intp)
        tested = None if self.test_rows is None else self.test_rows[-n_splits:]
        return FoldScores(self.values[-n_splits:], self.greater_is_better, repeat, tested)

    def oriented(self) -> Floats:
        """The scores, with losses negated, so that greater is better."""
        return self.values.copy() if self.greater_is_better else -self.values


def ranks(scores: Floats) -> Codes:
    """1 for the greatest; ties share the least rank, NaN comes last: as ``rank_test_*`` has it.

    Scores that differ by rounding errors only are ties, as they are where the winner is chosen.

    Examples
    --------
    >>> ranks(np.array([0.7, np.nan, 0.9, 0.7])).tolist()
    [2, 4, 1, 2]
    >>> ranks(np.array([0.1 + 0.2, 0.3])).tolist()
    [1, 1]
    """
    filled = np.where(np.isnan(scores), -np.inf, scores)
    room = np.where(np.isfinite(filled), SLACK * np.abs(filled), 0.0)
    greater = len(filled) - np.searchsorted(np.sort(filled), filled + room, side="right")
    return np.asarray(greater + 1, dtype=np.int32)

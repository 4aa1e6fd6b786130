"""Rules that choose the best mean rank: over several metrics, or over repeats, so that each counts the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.stats import rankdata

from heldout._types import Booleans, Floats, Indices
from heldout.data.checks import check_count, is_number
from heldout.errors import InputError
from heldout.selection.base import ScoreTable, SelectionRule
from heldout.selection.best import first_greatest, tie_exactly


@dataclass(frozen=True)
class AverageRank(SelectionRule):
    """Choose the configuration with the least mean rank over several metrics.

    On each metric rank 1 is the best, and equal scores share the mean of their ranks. A configuration that lacks
    one of the scores is no candidate and has no rank. Among equal mean ranks the first wins.

    Attributes
    ----------
    metrics : sequence of str or Metric, optional
        In a search, names of its scorers (by default all); in ``ho.estimate``, any metrics.
    weights : sequence of float, optional
        The importance of each metric; by default equal.

    Examples
    --------
    >>> table = ScoreTable(np.array([[[0.9, -0.7], [0.8, -0.2], [0.7, -0.3]]]), ["roc_auc", "neg_log_loss"])
    >>> AverageRank()(table).tolist(), AverageRank(weights=[3, 1])(table).tolist()
    ([1], [0])
    """

    metrics: Any = None
    weights: Any = None
    name: ClassVar[str] = "average_rank"
    words: ClassVar[str] = "the best mean rank over several metrics"
    reads_all_metrics: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.metrics is not None:
            if isinstance(self.metrics, str | bytes) or not isinstance(self.metrics, Sequence) or not self.metrics:
                raise InputError(f"metrics of average_rank must be a list of metrics, got {self.metrics!r}.")
            object.__setattr__(self, "metrics", tuple(self.metrics))
            if len(set(self.metric_names or ())) < len(self.metrics):
                raise InputError(
                    f"metrics of average_rank must be distinct, got {', '.join(self.metric_names or ())}."
                )
        if self.weights is not None:
            object.__setattr__(self, "weights", self._checked_weights())

    @property
    def metric_names(self) -> tuple[str, ...] | None:
        """The names of the metrics; None if all scorers of a search are used."""
        if self.metrics is None:
            return None
        return tuple(metric if isinstance(metric, str) else str(metric.name) for metric in self.metrics)

    def check(self, n_configurations: int, params: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
        """Refuse metrics that are not scored, and weights that are not theirs."""
        self._places(metrics)

    def __call__(self, table: ScoreTable) -> Indices:
        places = self._places(table.metrics)
        scores = tie_exactly(table.values[:, :, places])
        absent = np.asarray(np.isnan(scores).any(axis=2))
        # No candidates come last of all, so that they change no other rank.
        filled = np.where(
            absent[:, :, None], np.inf, np.where(scores == -np.inf, np.finfo(np.float64).max, -scores)
        )
        ranks = rankdata(filled, method="average", axis=1)
        weights = np.ones(len(places)) if self.weights is None else np.asarray(self.weights)
        mean: Floats = (ranks * (weights / weights.sum())).sum(axis=2)
        return first_greatest(np.where(absent, np.nan, -tie_exactly(mean)))

    def _places(self, metrics: Sequence[str]) -> list[int]:
        named = self.metric_names
        unknown = [name for name in named or () if name not in metrics]
        if unknown:
            raise InputError(
                f"average_rank ranks by '{unknown[0]}', which is not scored here; the scorers are "
                f"{', '.join(metrics)}."
            )
        places = list(range(len(metrics))) if named is None else [list(metrics).index(name) for name in named]
        if self.weights is not None and len(self.weights) != len(places):
            raise InputError(
                f"weights of average_rank must be one for each of {len(places)} metrics, got {len(self.weights)}."
            )
        return places

    def _checked_weights(self) -> tuple[float, ...]:
        are_several = isinstance(self.weights, Sequence) or (
            isinstance(self.weights, np.ndarray) and self.weights.ndim
        )
        listed: list[Any] = list(self.weights) if are_several else []
        are_weights = all(is_number(weight) and 0 <= weight < np.inf for weight in listed)
        if not listed or not are_weights or not sum(listed):
            raise InputError(
                "weights of average_rank must be finite numbers of at least 0 with a positive sum, got "
                f"{self.weights!r}."
            )
        return tuple(float(weight) for weight in listed)


@dataclass(frozen=True)
class RankOverRepeats(SelectionRule):
    """Choose the configuration with the least mean rank over repeats (Krueger, Panknin & Braun 2015).

    In each repeat rank 1 is the best, and equal scores share the mean of their ranks. A configuration without a
    score in a repeat in which another has one is no candidate and has no rank. Among equal mean ranks the first
    wins. With one repeat the best score wins.

    Attributes
    ----------
    last : int, optional
        Only this many last repeats count; by default all.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.8, 0.1], [0.9, 0.8, 0.1], [0.2, 0.3, 0.1]])  # one row per repeat
    >>> table = ScoreTable(scores.mean(axis=0)[None, :, None], ["accuracy"], repeat_scores=scores[None, :, :, None])
    >>> RankOverRepeats()(table).tolist(), RankOverRepeats(last=1)(table).tolist()
    ([0], [1])
    """

    last: int | None = None
    name: ClassVar[str] = "rank_over_repeats"
    words: ClassVar[str] = "the best mean rank over repeats"
    sources: ClassVar[tuple[str, ...]] = ("krueger2015",)
    reads_repeats: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.last is not None:
            check_count("last", self.last)

    def __call__(self, table: ScoreTable) -> Indices:
        if table.repeat_scores is None:
            return first_greatest(table.values[:, :, 0])
        counted = table.repeat_scores[:, -(self.last or 0) :, :, 0]
        return first_greatest(-_mean_ranks(tie_exactly(counted), np.isnan(table.values[:, :, 0])))


def _mean_ranks(scores: Floats, out: Booleans) -> Floats:
    """(B, C): over the repeats of scores (B, R, C) in which some candidate has one; NaN for others."""
    lacking = np.asarray(np.isnan(scores) | out[:, None, :])
    held = np.asarray(~lacking.all(axis=2))
    out = np.asarray((lacking & held[:, :, None]).any(axis=1) | out | ~held.any(axis=1, keepdims=True))
    # No candidates come last of all, so that they change no other rank.
    worst = np.where(scores == -np.inf, np.finfo(np.float64).max, -scores)
    ranks = rankdata(np.where(out[:, None, :], np.inf, worst), method="average", axis=2)
    n = np.maximum(held.sum(axis=1), 1)
    mean: Floats = np.where(held[:, :, None], ranks, 0.0).sum(axis=1) / n[:, None]
    return np.where(out, np.nan, tie_exactly(mean))

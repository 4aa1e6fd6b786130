"""What a method of estimation is given, and what it is: evidence in, estimate out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.estimates.types import Alternative, Estimate, Interval
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric
from heldout.selection.fold_replay import FoldReplay
from heldout.selection.replay import SelectionReplay
from heldout.task import Truth
from heldout.wording import Flag


@dataclass(frozen=True)
class Settings:
    """What the user asked of the bootstrap.

    Attributes
    ----------
    entropy : int
        64 bits; all methods share the draws that it seeds.
    n_threads : int
        Changes the time and nothing else.
    """

    n_bootstraps: int = 1000
    confidence_level: float = 0.95
    alternative: Alternative = "two-sided"
    entropy: int = 0
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class Matrix:
    """The held-out predictions of the candidates on the rows that all of them predicted.

    Attributes
    ----------
    truth : Truth of n rows
    scores : AggregateScore
        The reported metric, in the search's aggregate.
    out_of_bag : AggregateScore
        The same, as rows left out of a bootstrap are scored (pooled where folds are too small).
    by_fold : AggregateScore or None
        The same with a segment a split; None where the folds are not known.
    replay : SelectionReplay
    unit_of_row : ndarray of int, shape (n,)
        What a bootstrap draws whole: the row, or its group.
    grouped : bool
        Whether those units are groups.
    predictions : ndarray of shape (n, candidates, R) or (n, candidates, R, outputs)
        What ``scores`` reads, in the response of the reported metric.
    in_play : ndarray of bool, shape (n, R)
        The cells that every candidate predicted.
    """

    truth: Truth
    scores: AggregateScore
    out_of_bag: AggregateScore
    by_fold: AggregateScore | None
    replay: SelectionReplay
    unit_of_row: NDArray[np.intp]
    grouped: bool
    predictions: NDArray[Any]
    in_play: NDArray[np.bool_]

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """Importance weights (n,) of mean 1, or None where all weigh the same."""
        return self.scores.sample_weight


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that a method may read.

    Attributes
    ----------
    metric : Metric
        The one that is reported.
    names : sequence of str
        Of all C configurations.
    candidates : ndarray of int
        The configurations that did not fail, a column each.
    winner : int
        The chosen configuration.
    matrix : Matrix or None
        None where the scorer could not be opened, so that only fold scores are left.
    fold_scores : ndarray of shape (splits, candidates) or None
        In the metric's own direction and units; None where the folds are not known.
    repeat_of_split : ndarray of int, shape (splits,), or None
        The repeat that each split belongs to; None with ``fold_scores``.
    fold_replay : FoldReplay or None
        The selection on fold scores; None where those that the rule reads are not known.
    test_share : float or None
        The share of rows that each split tests, where the splits are those of repeated subsampling.
    flags, provenance : mapping
        What was found while the evidence was gathered.
    """

    metric: Metric
    names: Sequence[str]
    candidates: NDArray[np.intp]
    winner: int
    settings: Settings
    matrix: Matrix | None
    fold_scores: NDArray[np.float64] | None
    n_rows_used: int
    repeat_of_split: NDArray[np.intp] | None = None
    fold_replay: FoldReplay | None = None
    test_share: float | None = None
    flags: Mapping[Flag, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def winner_column(self) -> int:
        """The winner's place among the candidates."""
        return int(np.flatnonzero(self.candidates == self.winner)[0])

    @property
    def n_candidates(self) -> int:
        return len(self.candidates)

    @property
    def uncorrected(self) -> float:
        """The winner's score in the search's aggregate; from fold scores alone their mean."""
        if self.matrix is not None:
            return float(self.matrix.scores.observed()[self.winner_column])
        assert self.fold_scores is not None, "evidence holds a matrix, fold scores, or both"
        return defined_mean(self.fold_scores[:, self.winner_column])


class Method(Protocol):
    """A way from evidence to an estimate.

    Attributes
    ----------
    name : str
    reads : frozenset of str
        Any of "predictions" and "fold scores": it can work from either of those named.
    draws : bool
        Whether it draws bootstraps, and so needs two rows of everything.
    scored : "as asked", "folds" or "folds if known"
        The aggregate in which the winner must be the best: what the user asked for, or the mean over folds,
        which the method corrects whatever was asked for.
    sources : tuple of str
        Keys of ``heldout.references``.
    """

    @property
    def name(self) -> str: ...
    @property
    def reads(self) -> frozenset[str]: ...
    @property
    def draws(self) -> bool: ...
    @property
    def scored(self) -> Literal["as asked", "folds", "folds if known"]: ...
    @property
    def sources(self) -> tuple[str, ...]: ...

    def unfit(self, evidence: Evidence) -> str | None:
        """Why the method is not for this metric, task or matrix, as half a sentence; None where it is."""

    def estimate(self, evidence: Evidence) -> Estimate:
        """The estimate for the winner."""


def conclude(
    evidence: Evidence,
    method: Method,
    value: float,
    *,
    uncorrected: float | None = None,
    interval: Interval | None = None,
    standard_error: float | None = None,
    selected: int | None = None,
    distribution: NDArray[np.float64] | None = None,
    selection_frequency: NDArray[np.float64] | None = None,
    flags: Mapping[Flag, str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Estimate:
    """An estimate with what the evidence says of itself filled in.

    ``selected`` is the configuration of a method that chooses for itself; the evidence's winner otherwise.
    """
    selected = evidence.winner if selected is None else selected
    before = evidence.uncorrected if uncorrected is None else uncorrected
    said = {**evidence.flags, **(flags or {})}
    if np.isinf(value):
        said[Flag.UNDEFINED] = Flag.UNDEFINED.filled(
            reason=f"the {evidence.metric.name} is beyond what float64 holds"
        )
        value = float("nan")
    optimism = before - value if evidence.metric.greater_is_better else value - before
    return Estimate(
        value=value,
        interval=interval,
        uncorrected=before,
        optimism=optimism,
        standard_error=standard_error,
        selected=selected,
        selected_name=evidence.names[selected],
        metric=evidence.metric.name,
        method=method.name,
        n_rows_used=evidence.n_rows_used,
        distribution=distribution,
        selection_frequency=selection_frequency,
        flags=said,
        provenance={**evidence.provenance, "sources": list(method.sources), **(provenance or {})},
    )


def over_configurations(evidence: Evidence, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values a candidate spread over all configurations, 0 for those that failed."""
    spread = np.zeros(len(evidence.names))
    spread[evidence.candidates] = shares
    return spread


def defined_mean(values: NDArray[np.float64]) -> float:
    """Mean of the values that are not NaN, NaN where there is none."""
    present = values[~np.isnan(values)]
    return float(present.mean()) if present.size else float("nan")


def needs_predictions(evidence: Evidence) -> str | None:
    """Half a sentence where there are fold scores only; None where there is a matrix of predictions."""
    if evidence.matrix is not None:
        return None
    return (
        "it needs held-out predictions, and here are fold scores only (of a scorer that cannot be opened, use one "
        "made by make_scorer)"
    )


def needs_folds(evidence: Evidence) -> str | None:
    """Half a sentence where no fold scores are known; None where they are."""
    if evidence.fold_scores is not None:
        return None
    return "it compares scores fold by fold; give folds=, a label a row"

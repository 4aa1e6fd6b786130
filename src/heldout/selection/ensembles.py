"""Ensembles: averages of configurations' held-out predictions, scored like any configuration.

An average of models' predictions is what the average of the models would have predicted, so an ensemble has
held-out predictions as soon as its members have, and choosing its weights can be replayed like any other choice.
Each weighting of the rows has an ensemble of its own; the ensembles of a block are bound to the metric as columns
of one matrix, and column l is scored under weighting l.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from heldout._types import Array, Floats, Indices, Weightings
from heldout.data.checks import check_count
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric, Rescaled, Signed, Statistic, oriented
from heldout.metrics.row_losses import MeanLoss, OfRowLosses
from heldout.selection.base import NONE_CHOSEN, Choice, Library, WeightRule, checked_weights, of_weights
from heldout.selection.best import tie_exactly

CELLS_AT_ONCE = 4_000_000
"""Predictions of ensembles that are held at once."""


@dataclass(frozen=True, eq=False)
class Averages:
    """Weighted averages of the candidates' predictions."""

    predictions: Floats  # (n, C, R) or (n, C, R, n_classes): probabilities or values
    are_probabilities: bool
    # from averaged probabilities to what the metric reads, where that is labels
    respond: Callable[[Floats], Array] | None = None

    @property
    def n_columns(self) -> int:
        return self.predictions.shape[1]

    def of_weights(self, weights: Floats) -> Array:
        """(n, L, R[, n_classes]): the ensemble of each of the weights (L, C), summed column by column."""
        averages = np.empty((len(self.predictions), len(weights), *self.predictions.shape[2:]))
        for lane, shares in enumerate(weights):
            total = np.zeros((len(self.predictions), *self.predictions.shape[2:]))
            for column in np.flatnonzero(shares):
                total += shares[column] * self.predictions[:, column]
            averages[:, lane] = total
        return self.as_read(averages)

    def score(self, score: AggregateScore, choice: Choice, counts: Weightings) -> Floats:
        """(L,): the ensemble of each weighting under it, NaN where none was chosen."""
        assert choice.weights is not None, "a rule of weights chose"
        cells = self.predictions.size // self.n_columns
        step = max(1, CELLS_AT_ONCE // max(cells, 1))
        values = np.full(len(counts), np.nan)
        for first in range(0, len(counts), step):
            some = slice(first, first + step)
            bound = score.with_predictions(self.of_weights(choice.weights[some]))
            values[some] = bound.selected(counts[some], np.arange(bound.n_columns))
        return np.where(choice.columns == NONE_CHOSEN, np.nan, values)

    def as_read(self, averages: Floats) -> Array:
        """Averaged predictions as the metric reads them."""
        # Equal averages differ in their last bits by the order of summing, and ranks would see that.
        read = tie_exactly(averages)
        if self.are_probabilities:
            np.clip(read, 0, 1, out=read)
        return read if self.respond is None else self.respond(read)


def weigh(rule: WeightRule, score: AggregateScore, averages: Averages, counts: Weightings) -> Choice:
    """The ensembles that a rule chooses under each of the weightings (L, n)."""
    scores = tie_exactly(oriented(score.metric, score.all(counts)))
    weights = [
        checked_weights(
            rule.weigh(_Resample(score, averages, counts[lane : lane + 1], scores[lane])), scores.shape[1]
        )
        for lane in range(len(counts))
    ]
    return of_weights(np.stack(weights))


class _Resample:
    """A ``Library``: what a rule of weights may ask under one weighting (1, n).

    A rule asks for the same candidates again and again, with one more member each time, so both are remembered.
    """

    def __init__(self, score: AggregateScore, averages: Averages, counts: Weightings, scores: Floats) -> None:
        self.scores = scores
        self._score, self._averages, self._counts = score, averages, counts
        self._bind = partial(_quick, score.metric)
        self._candidates = np.empty(0, dtype=np.intp)
        self._pool = self._total = np.empty(0)
        self._members: list[int] = []

    def with_one_more(self, members: Indices, candidates: Indices) -> Floats:
        if not np.array_equal(candidates, self._candidates):
            self._candidates, self._pool = candidates, self._averages.predictions[:, candidates]
        total = self._sum_of(members.tolist())
        read = self._averages.as_read((total[:, None] + self._pool) / (len(members) + 1))
        bound = self._score.with_predictions(read, self._bind)
        return oriented(bound.metric, bound.all(self._counts))[0]

    def _sum_of(self, members: list[int]) -> Floats:
        """Summed in the order of the members, so that the sum does not depend on earlier calls."""
        predictions, length = self._averages.predictions, len(self._members)
        if not length or members[:length] != self._members:
            self._total, length = np.zeros_like(predictions[:, 0]), 0
        for member in members[length:]:
            self._total = self._total + predictions[:, member]
        self._members = members
        return self._total


def _quick(metric: Metric, truth: Truth, predictions: Array) -> Statistic:
    """A statistic that is used only once: plain sums of losses need less preparing than exact ones."""
    if isinstance(metric, Signed):
        return Rescaled(_quick(metric.metric, truth, predictions), metric.sign)
    if isinstance(metric, OfRowLosses):
        losses = np.asarray(metric.losses(truth, predictions), dtype=np.float64)
        if np.isfinite(losses).all():
            return MeanLoss(_PlainSums(losses), metric.finish, best_value=metric.best_value)
    return metric.statistic(truth, predictions)


@dataclass(frozen=True, eq=False)
class _PlainSums:
    """Sums of losses (n, D) in one fixed order, which no number of threads changes; rounded as sums are."""

    losses: Floats

    def all(self, counts: Weightings) -> Floats:
        sums: Floats = np.einsum("ln,nc->lc", counts.astype(np.float64), self.losses)
        return sums

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        sums: Floats = np.einsum("ln,ln->l", counts.astype(np.float64), self.losses.T[columns])
        return sums


MOST_ROUNDS = 10_000
"""Each scores every candidate once more, in every bootstrap; 25 are usual."""
LIBRARY = 50
"""How many of the best configurations may join; time grows with it."""


@dataclass(frozen=True)
class TopK(WeightRule):
    """Average the predictions of the ``k`` configurations with the best scores.

    Among equal scores the first ranks higher. If fewer than ``k`` have a score, all of them are averaged.

    Attributes
    ----------
    k : int
        How many configurations are averaged.

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 120)
    >>> noisy = 1 / (1 + np.exp(-(2 * y[:, None] - 1 + 2 * rng.normal(size=(120, 8)))))  # errors that average out
    >>> of_one = ho.estimate(y, noisy, metric="roc_auc", random_state=0)
    >>> of_three = ho.estimate(y, noisy, metric="roc_auc", selection=TopK(3), random_state=0)
    >>> of_three.value > of_one.value, of_three.selected_name
    (True, 'ensemble of 3 configurations')
    """

    k: int = 10
    name: ClassVar[str] = "top_k"
    words: ClassVar[str] = "the predictions of the best configurations are averaged"

    def __post_init__(self) -> None:
        check_count("k of top_k", self.k, argument="selection")

    def check(self, n_configurations: int, params: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
        """Refuse to average more than there are."""
        if self.k > n_configurations:
            there = "is 1 configuration" if n_configurations == 1 else f"are {n_configurations} configurations"
            raise InputError(
                f"selection 'top_k' averages the {self.k} best, but there {there}; write "
                f"'top_k(k={max(n_configurations // 2, 1)})', with k of at most {n_configurations}.",
                argument="selection",
            )

    def weigh(self, library: Library) -> Floats:
        """(C,): 1 / k for the best."""
        best = best_first(library.scores)[: self.k]
        weights = np.zeros(len(library.scores))
        weights[best] = 1 / max(len(best), 1)
        return weights


def best_first(scores: Floats) -> Any:
    """Columns of the scores (C,) that are not NaN, the greatest first, of equal ones the first first.

    Examples
    --------
    >>> best_first(np.array([0.5, np.nan, 0.7, 0.5])).tolist()
    [2, 0, 3]
    """
    order = np.argsort(-scores, kind="stable")
    return order[~np.isnan(scores[order])]


@dataclass(frozen=True)
class GreedyEnsemble(WeightRule):
    """Build an ensemble by forward selection with replacement (Caruana et al. 2004, sections 2 and 2.1).

    Each round adds the configuration with which the average of the predictions scores best; one that is added
    several times gets a greater weight. Among equal scores the first wins. The ensemble of the best round is kept,
    the smallest among equal ones. Only the 50 best configurations can be added (the pruning of Caruana, Munson &
    Niculescu-Mizil 2006, section 3.2).

    Attributes
    ----------
    rounds : int
        The number of additions.

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=100)
    >>> noisy = y[:, None] + rng.normal(size=(100, 6))  # errors that average out
    >>> found = ho.estimate(
    ...     y, noisy, metric="mean_squared_error", selection=GreedyEnsemble(10), n_bootstraps=50, random_state=0
    ... )
    >>> found.uncorrected < found.value < 0.5, len(found.provenance["weights"])
    (True, 6)
    """

    rounds: int = 25
    name: ClassVar[str] = "greedy_ensemble"
    words: ClassVar[str] = "an ensemble, built by adding the configuration that helps it most"
    sources: ClassVar[tuple[str, ...]] = ("caruana2004", "caruana2006")

    def __post_init__(self) -> None:
        check_count("rounds of greedy_ensemble", self.rounds, argument="selection")
        if self.rounds > MOST_ROUNDS:
            raise InputError(
                f"rounds of greedy_ensemble must be at most {MOST_ROUNDS:,}, got {self.rounds:,}.",
                argument="selection",
            )

    def weigh(self, library: Library) -> Floats:
        """(C,): the share of the additions that each configuration has."""
        weights = np.zeros(len(library.scores))
        candidates = np.sort(best_first(library.scores)[:LIBRARY])
        if not len(candidates):
            return weights
        members = np.empty(0, dtype=np.intp)
        reached = []
        for _ in range(self.rounds):
            alone = not len(members)
            scores = library.scores[candidates] if alone else library.with_one_more(members, candidates)
            keys = np.where(np.isnan(scores), -np.inf, tie_exactly(scores))
            best = int(keys.argmax())
            members = np.append(members, candidates[best])
            reached.append(keys[best])
        kept = members[: int(np.argmax(reached)) + 1]
        np.add.at(weights, kept, 1 / len(kept))
        return weights

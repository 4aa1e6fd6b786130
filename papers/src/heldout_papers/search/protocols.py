"""The result of each protocol on a sub-sample: an estimate of the score, the configuration, and the number of fits.

Scores are pooled over the folds of a repeat, as the article has them, in the choice and in the estimate; TT alone
reads the scores of single folds, and nested cross-validation scores its outer folds one by one, as the winners of
different folds are different models, whose scores have no common scale.
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.dropping.bootstrap import Bootstrap
from heldout.errors import InputError
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import gather
from heldout.estimates.intervals import percentile_interval
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.methods.tt import TT
from heldout.estimates.question import Question, Settings
from heldout.metrics.base import Metric, Response, positive_of
from heldout.selection import Best
from heldout_papers.search.dropping import ReplayedDropping, replayed_dropping
from heldout_papers.search.held_out import HeldOut

LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
"""Of the intervals, as in the article's figure 6."""
EARLY = 2
"""Folds that the article calls the first couple."""
NO_WINNER = -1

Ends = tuple[float, ...]
_NONE: Ends = (float("nan"),) * len(LEVELS)


@dataclass(frozen=True)
class ProtocolResult:
    """The result of a protocol."""

    estimate: float  # NaN where there is none
    winner: int  # The configuration that it returns; ``NO_WINNER`` where there is none
    models: int  # That it trained, the one that it returns included
    seconds: float  # That these took, but for the one that it returns
    # Ends of the intervals of ``LEVELS``; NaN where it has none
    low: Ends = _NONE
    high: Ends = _NONE
    # The share of configurations that are dropped after ``EARLY`` folds; NaN for protocols that drop none
    early: float = float("nan")
    reason: str = ""  # Why there is no estimate


@dataclass(frozen=True, eq=False)
class SubsampleSearch:
    """The search of a sub-sample, from which all protocols compute their results."""

    held: HeldOut
    metric: Metric
    n_bootstraps: int
    entropy: int  # Of the sub-sample's search: bootstraps come from it
    _evidence: dict[int, Candidates] = field(default_factory=dict)
    _dropping: dict[Bootstrap, ReplayedDropping] = field(default_factory=dict)

    @property
    def question(self) -> Question:
        settings = Settings(n_bootstraps=self.n_bootstraps, entropy=self.entropy)
        return Question(self.metric, {"score": self.metric}, Best(), "pooled", settings)

    def evidence(self, repeats: int = 1) -> Candidates:
        """Of the first repeats; gathered once."""
        if repeats not in self._evidence:
            predictions = self.held.predictions(repeats)
            self._evidence[repeats] = gather(self.held.truth, predictions, self.question)
        return self._evidence[repeats]

    def dropping(self, rule: Bootstrap, repeats: int) -> ReplayedDropping:
        """Of the first repeats; replayed once for all of them."""
        if rule not in self._dropping:
            self._dropping[rule] = replayed_dropping(self.held, self.question, rule, self.entropy)
        return self._dropping[rule].until(self.held.n_folds * repeats)


def cross_validation(search: SubsampleSearch) -> ProtocolResult:
    """CVT (algorithm 2): the winner's own pooled score."""
    evidence = search.evidence()
    return ProtocolResult(evidence.uncorrected, evidence.winner, *_cost_of_repeats(search.held, 1))


def tibshirani(search: SubsampleSearch) -> ProtocolResult:
    """TT (algorithm 4), of the winner by pooled scores."""
    evidence = search.evidence()
    return ProtocolResult(TT().estimate(evidence).value, evidence.winner, *_cost_of_repeats(search.held, 1))


def bbc(search: SubsampleSearch, repeats: int) -> ProtocolResult:
    """BBC-CV (algorithm 5; with repeats section 4.2) with its percentile intervals."""
    return _corrected(search.evidence(repeats), *_cost_of_repeats(search.held, repeats))


def bced(search: SubsampleSearch, rule: Bootstrap, repeats: int = 1) -> ProtocolResult:
    """BCED-CV (section 5; with repeats section 4.2): BBC of the configurations that remain."""
    held = search.held
    dropping = search.dropping(rule, repeats)
    predictions = replace(held.predictions(repeats), dropped=dropping.dropped)
    models, seconds = _cost_of_dropping(held, dropping)
    result = _corrected(gather(held.truth, predictions, search.question), models, seconds)
    return replace(result, early=dropping.share_dropped_by(EARLY))


def nested(search: SubsampleSearch) -> ProtocolResult:
    """NCV (algorithm 3) with the other outer folds inside; it returns the winner of all rows.

    Raises InputError when an outer fold has no winner, or it failed there, or the metric has no value in any fold.
    """
    held = search.held
    labels = held.folds.labels[:, 0]
    scores, seconds = [], 0.0
    for fold in range(held.n_folds):
        winner = _inner_winner(search, fold)
        rows = labels == fold
        predicted = held.scores[rows, winner, 0]
        if np.isnan(predicted).any():
            raise InputError(f"the winner without fold {fold} failed when it was fitted on all other rows")
        scores.append(score_of(search.metric, held.truth.rows(rows), predicted))
        seconds += float(held.seconds[winner, fold, 0])
    defined = [score for score in scores if not np.isnan(score)]
    if not defined:
        raise InputError(f"no outer fold has {search.metric.undefined_without}")
    n_configurations, n_folds = len(held.names), held.n_folds
    models, search_seconds = _cost_of_repeats(held, 1)
    return ProtocolResult(
        float(np.mean(defined)),
        search.evidence().winner,
        models + n_folds * ((n_folds - 1) * n_configurations + 1),
        # Each inner model would be fitted for both of the searches that share it here.
        search_seconds + 2 * held.pair_seconds + seconds,
    )


def score_of(metric: Metric, truth: Truth, scores: NDArray[np.float64]) -> float:
    """The metric of one configuration's predictions (n,) or (n, n_classes); NaN where it has no value."""
    once = np.ones((1, truth.n_rows))
    if not metric.undefined_without.met(metric.truth_for_needs(truth), positive_of(metric, truth), once)[0]:
        return float("nan")
    predictions = scores.astype(np.int32) if metric.responses[0] is Response.LABELS else scores
    return float(metric.statistic(truth, predictions[:, None]).all(once)[0, 0])


def _inner_winner(search: SubsampleSearch, fold: int) -> int:
    """The winner on the other folds, each predicted without it and without ``fold``."""
    held = search.held
    labels = held.folds.labels[:, :1]
    inner = np.full_like(held.scores[:, :, 0], np.nan)
    for (first, second), scores in held.pairs.items():
        if fold in (first, second):
            rows = labels[:, 0] == (second if fold == first else first)
            inner[rows] = scores[rows]
    others = np.where(labels == fold, -1, labels).astype(np.int32)
    return gather(held.truth, held.of_scores(inner[:, :, None], others), search.question).winner


def _corrected(evidence: Candidates, models: int, seconds: float) -> ProtocolResult:
    method = BBC(control=False)  # as published
    reason = method.unfit(evidence)
    if reason is not None:
        raise InputError(reason)
    found = method.estimate(evidence)
    assert found.distribution is not None, "bootstrapped"
    defined = found.distribution[~np.isnan(found.distribution)]
    ends = [percentile_interval(defined, evidence.metric, Settings(confidence_level=level)) for level in LEVELS]
    return ProtocolResult(
        found.value,
        evidence.winner,
        models,
        seconds,
        low=tuple(interval.low for interval in ends),
        high=tuple(interval.high for interval in ends),
    )


def _cost_of_repeats(held: HeldOut, repeats: int) -> tuple[int, float]:
    """Models with the one that is returned, and the seconds of the others."""
    return len(held.names) * held.n_folds * repeats + 1, float(held.seconds[:, :, :repeats].sum())


def _cost_of_dropping(held: HeldOut, dropping: ReplayedDropping) -> tuple[int, float]:
    splits = np.arange(dropping.n_splits).reshape(-1, held.n_folds).T  # (K, R)
    fitted = splits < dropping.n_fits[:, None, None]
    return int(fitted.sum()) + 1, float(held.seconds[:, :, : splits.shape[1]][fitted].sum())

"""Every configuration of a search with its score, the interval of that score, and its parameters."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heldout._types import Booleans, Floats, Indices
from heldout.errors import InputError
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import gather
from heldout.estimates.intervals import middle_of_columns
from heldout.estimates.paired.compare import ConfigurationComparison
from heldout.estimates.paired.scores import paired_scores
from heldout.predictions import HeldOutPredictions
from heldout.report.ranking import column_means
from heldout.result import Evaluation
from heldout.scales import Scale, scale_of, scale_of_metric


def search_scale(evaluation: Evaluation, scorer: str) -> Scale:
    """How one scorer of a search is shown."""
    fold_scores, metric = evaluation.fold_scores.get(scorer), evaluation.metrics.get(scorer)
    estimate = evaluation.estimates.get(scorer)
    known = [] if fold_scores is None else fold_scores.values[:, evaluation.winner].tolist()
    if metric is not None:
        return scale_of_metric(metric, estimate, known)
    title = scorer if estimate is None else estimate.metric
    return scale_of(title, fold_scores is None or fold_scores.greater_is_better, estimate, known)


def evidence_of_search(evaluation: Evaluation, scorer: str | None = None) -> Candidates:
    """The evidence behind the search's estimate of a scorer.

    Raises InputError when there is none, for a scorer that cannot be opened.
    """
    return gather(
        evaluation.task.truth, evaluation.predictions, evaluation.question(scorer), draws_rows=True,
        score_tables=evaluation.known_scores,
    )  # fmt: skip


def comparison_of_search(evaluation: Evaluation, scorer: str | None = None) -> ConfigurationComparison:
    """Its configurations scored in every bootstrap, as ``ho.compare_configurations`` would.

    Raises InputError when its scorer cannot be opened, or no bootstrap can be drawn.
    """
    evidence = evidence_of_search(evaluation, scorer)
    return ConfigurationComparison(evidence, paired_scores(evidence))


def among_first(predictions: HeldOutPredictions, n: int) -> HeldOutPredictions:
    """The same predictions, of which only the first n configurations are candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout.metrics.base import Response
    >>> predictions = HeldOutPredictions({Response.VALUES: np.zeros((3, 2, 1))}, ("a", "b"))
    >>> among_first(predictions, 1).out
    {1: 'it came later'}
    """
    later = dict.fromkeys(range(n, predictions.n_configurations), "it came later")
    return replace(predictions, dropped={**predictions.dropped, **later})


MOST_IN_SETS = 500
"""Candidates of which a model confidence set is found, in about a second."""
MODEL = "model"
"""What the parameters of a search of several estimators name the estimator by."""


@dataclass(frozen=True, eq=False)
class ConfigurationScores:
    """Scores of all C configurations, as they are shown: in the metric's own units, losses positive.

    They are uncorrected: each is the configuration's own held-out score.
    """

    metric: Scale
    names: tuple[str, ...]
    params: tuple[Mapping[str, Any], ...]
    """What the search set on each; ``model`` names the estimator where there are several."""
    scores: Floats
    """(C,): in the search's aggregate; of a dropped configuration on the splits that it had; NaN if it failed."""
    low: Floats
    high: Floats
    """(C,): the percentiles of the score on bootstrapped rows, for each configuration by itself; NaN if unknown."""
    confidence_level: float
    is_candidate: Booleans
    """(C,): whether it was neither dropped nor failed."""
    not_worse: Booleans | None
    """(C,): whether these rows cannot tell it from the best (the model confidence set at this level); None if that
    was not computed."""
    winner: int | None
    has_models: bool = False
    """Whether the search had several estimators."""

    @property
    def parameters(self) -> tuple[dict[str, Any], ...]:
        """``params`` by names of their own: of several estimators those of "svm" are "svm__C" and so on."""
        return tuple(
            {name if name == MODEL else f"{own[MODEL]}__{name}": value for name, value in own.items()}
            if self.has_models
            else dict(own)
            for own in self.params
        )

    @property
    def is_dropped(self) -> Booleans:
        """(C,): whether its score is of fewer splits than that of a candidate."""
        return ~self.is_candidate & np.isfinite(self.scores)

    @property
    def order(self) -> Indices:
        """The candidates, best first; equal ones in the order of the search."""
        candidates = np.flatnonzero(self.is_candidate)
        return candidates[np.argsort(self.losses[candidates], kind="stable")]

    @property
    def losses(self) -> Floats:
        """(C,): less is better; infinite without a score."""
        losses = -self.scores if self.metric.greater_is_better else self.scores
        return np.where(np.isnan(losses), np.inf, losses)


def configuration_scores(
    evaluation: Evaluation,
    scorer: str | None = None,
    *,
    finds_set: bool = True,
) -> ConfigurationScores:
    """The configurations of a search; without intervals where rows cannot be resampled.

    - ``scorer``: the one that chose the winner by default.
    - ``finds_set``: whether to find those that cannot be told from the best, which takes time with the square of
      their number; of more than ``MOST_IN_SETS`` candidates it is not done.
    """
    name = evaluation.scorer_named(scorer)
    scale = search_scale(evaluation, name)
    comparison: ConfigurationComparison | None = None
    with suppress(InputError):
        comparison = comparison_of_search(evaluation, name)
    out = {**evaluation.predictions.out, **evaluation.failures}
    n = len(evaluation.configurations)
    unknown = {"low": np.full(n, np.nan), "high": np.full(n, np.nan), "not_worse": None}
    return ConfigurationScores(
        metric=scale,
        names=evaluation.configurations.names,
        params=tuple(evaluation.configurations.params),
        scores=scale.sign * _scores_of_search(evaluation, name),
        confidence_level=evaluation.estimation.confidence_level,
        is_candidate=np.array([j not in out for j in range(n)]),
        winner=evaluation.winner,
        has_models=any(each.model is not None for each in evaluation.configurations),
        **(unknown if comparison is None else _from_draws(comparison, scale, finds_set=finds_set)),
    )


def compared_scores(comparison: ConfigurationComparison) -> ConfigurationScores:
    """The configurations of ``ho.compare_configurations``, which have no parameters."""
    evidence = comparison.evidence
    n, observed = len(evidence.names), evidence.scores.observed()
    scale = scale_of_metric(evidence.metric, scores=observed.tolist())
    return ConfigurationScores(
        metric=scale,
        names=comparison.names,
        params=({},) * n,
        scores=scale.sign * _over_all(comparison, observed),
        confidence_level=evidence.settings.confidence_level,
        is_candidate=np.isin(np.arange(n), evidence.candidates),
        winner=evidence.winner,
        **_from_draws(comparison, scale),
    )


def _scores_of_search(evaluation: Evaluation, scorer: str) -> Floats:
    """(C,): by which the search ranks; the mean over the splits that a dropped configuration had."""
    whole = evaluation.whole_scores(evaluation.estimation.scale_of_selection)
    means = column_means(evaluation.fold_scores_read[scorer].values)
    if whole is None or scorer not in whole:
        return means
    dropped = np.array([j in evaluation.predictions.dropped for j in range(len(means))])
    return np.where(dropped, means, whole[scorer])


def _from_draws(comparison: ConfigurationComparison, scale: Scale, *, finds_set: bool = True) -> dict[str, Any]:
    """What is known from drawn rows: the middle of each candidate's scores, as shown, and those of the set."""
    sign = scale.sign * (1 if comparison.evidence.metric.greater_is_better else -1)
    low, high = middle_of_columns(sign * comparison.scores.in_bag, comparison.evidence.settings.level)
    finds_set = finds_set and comparison.scores.n_candidates <= MOST_IN_SETS
    return {
        "low": _over_all(comparison, low),
        "high": _over_all(comparison, high),
        "not_worse": comparison.confidence_set().members if finds_set else None,
    }


def _over_all(comparison: ConfigurationComparison, values: Floats) -> Floats:
    spread = np.full(len(comparison.names), np.nan)
    spread[comparison.evidence.candidates] = values
    return spread

"""The evidence of a finished search, gathered again: what figures compute that its estimates do not keep.

Draws depend on the search's seed alone, so that they are those of its estimates. None of this needs a model.
"""

from __future__ import annotations

from dataclasses import replace

from heldout.estimates.evidence import Evidence
from heldout.estimates.from_matrix import gather
from heldout.estimates.paired.compare import ConfigurationComparison
from heldout.estimates.paired.scores import paired_scores
from heldout.predictions import HeldOutPredictions
from heldout.result import Evaluation
from heldout.scales import Scale, scale_of, scale_of_metric


def search_scale(evaluation: Evaluation, scorer: str) -> Scale:
    """How one scorer of a search is shown."""
    fold_scores, metric = evaluation.fold_scores.get(scorer), evaluation.metrics.get(scorer)
    estimate = evaluation.estimates.get(scorer)
    known = [] if fold_scores is None else fold_scores.values[:, evaluation.winner].tolist()
    if metric is not None:
        return scale_of_metric(metric, estimate, known)
    return scale_of(scorer, fold_scores is None or fold_scores.greater_is_better, estimate, known)


def evidence_of_search(evaluation: Evaluation, scorer: str | None = None) -> Evidence:
    """The evidence behind the search's estimate of a scorer.

    Raises InputError when there is none, for a scorer that cannot be opened.
    """
    return gather(evaluation.task.truth, evaluation.predictions, evaluation.question(scorer))


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

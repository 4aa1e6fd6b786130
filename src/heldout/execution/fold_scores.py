"""Scores of many configurations on one split, from their predictions by our kernels.

They equal those of scikit-learn's scorers to rounding. Where they might not, the scorers are called instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.base import Metric, Response, fitted, positive_of
from heldout.metrics.ranking import RocAucOneVsOne
from heldout.predictions import HeldOutPredictions

Predictions = Mapping[Response, NDArray[Any]]


def is_computable(metrics: Collection[Metric | None], test: Truth, weight: NDArray[np.float64] | None) -> bool:
    """Whether our kernels give the scores of these rows: the scorers can be opened, and the scores are defined."""
    return all(metric is not None and _is_defined(metric, test, weight) for metric in metrics)


def _is_defined(metric: Metric, test: Truth, weight: NDArray[np.float64] | None) -> bool:
    if metric.calls_foreign_code or (weight is not None and not _takes_weights(metric)):
        return False
    metric = fitted(metric, test)
    once = np.ones((1, test.n_rows)) if weight is None else weight[None]
    return bool(metric.needs.met(metric.truth_for_needs(test), positive_of(metric, test), once)[0])


def _takes_weights(metric: Metric) -> bool:
    """Whether scikit-learn's scorer takes weights too; it refuses them for pairs of classes."""
    return metric.takes_weights and not isinstance(metric, RocAucOneVsOne)


def has_responses(metrics: Collection[Metric | None], predictions: Predictions) -> bool:
    """Whether a model has given what every metric reads."""
    return all(any(each in predictions for each in metric.responses) for metric in metrics if metric is not None)


def fold_scores(
    metrics: Mapping[str, Metric | None],
    test: Truth,
    predictions: Sequence[Predictions],
    weight: NDArray[np.float64] | None,
    times: tuple[float, ...] = (),
) -> list[dict[str, float]]:
    """The scores of each model by scorer, greater = better, as scorers return them.

    Parameters
    ----------
    test : Truth of the n test rows
    predictions : sequence of mapping of Response to ndarray
        One a model, each (n,) or (n, outputs).
    weight : ndarray of shape (n,), optional
    """
    found: list[dict[str, float]] = [{} for _ in predictions]
    alike: dict[tuple[Response, ...], list[int]] = {}
    for number, responses in enumerate(predictions):
        alike.setdefault(tuple(responses), []).append(number)
    for held, numbers in alike.items():
        stacked = {
            response: np.stack([predictions[k][response] for k in numbers], axis=1)[:, :, None] for response in held
        }
        models = HeldOutPredictions(stacked, names=("",) * len(numbers), times=times)
        for name, metric in metrics.items():
            assert metric is not None, "is_computable says so"
            one_fold = np.zeros((test.n_rows, 1), dtype=np.int32)
            array = models.for_metric(metric)
            scores = aggregate_score(metric, test, array, one_fold, weight, as_folds=True).observed_by_segment()[0]
            for number, score in zip(numbers, scores if metric.greater_is_better else -scores, strict=True):
                found[number][name] = float(score)
    return found

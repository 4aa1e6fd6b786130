"""Scores of many configurations on the splits that tested them, from their predictions by our kernels.

They equal those of scikit-learn's scorers to rounding. Where they might not, the scorers are called instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.metrics.base import Metric, Response, fitted, positive_of
from heldout.metrics.by_row import fold_score
from heldout.metrics.ranking import RocAucOneVsOne
from heldout.predictions import HeldOutPredictions

Predictions = Mapping[Response, NDArray[Any]]


def is_computable(metrics: Collection[Metric | None], test: Truth, weight: NDArray[np.float64] | None) -> bool:
    """Whether our kernels give the scores of these rows: the scorers can be opened, and the scores are defined."""
    once = np.ones((1, test.n_rows))
    return all(metric is not None and _are_defined(metric, test, weight, once) for metric in metrics)


def is_computable_by_row(
    metrics: Collection[Metric | None], tests: Truth, weight: NDArray[np.float64] | None
) -> bool:
    """The same where each row is a test set of its own."""
    blocks = (range(tests.n_rows)[start : start + 500] for start in range(0, tests.n_rows, 500))
    return all(
        metric is not None and _are_defined(metric, tests, weight, np.equal.outer(block, range(tests.n_rows)))
        for block in blocks
        for metric in metrics
    )


def _are_defined(metric: Metric, rows: Truth, weight: NDArray[np.float64] | None, test_sets: NDArray[Any]) -> bool:
    """... of test sets (T, n) of the rows."""
    if metric.calls_foreign_code or (weight is not None and not _takes_weights(metric)):
        return False
    metric = fitted(metric, rows)
    weighted = test_sets if weight is None else test_sets * weight
    counted, positive = metric.truth_for_needs(rows), positive_of(metric, rows)
    needs = {metric.needs, metric.undefined_without}
    return all(bool(each.met(counted, positive, weighted).all()) for each in needs)


def _takes_weights(metric: Metric) -> bool:
    """Whether scikit-learn's scorer takes weights too; it refuses them for pairs of classes."""
    return metric.takes_weights and not isinstance(metric, RocAucOneVsOne)


def has_responses(metrics: Collection[Metric | None], predictions: Predictions) -> bool:
    """Whether a model has given what every metric reads."""
    return all(any(each in predictions for each in metric.responses) for metric in metrics if metric is not None)


def fold_scores(
    metrics: Mapping[str, Metric | None],
    tests: Truth,
    predictions: Predictions,
    folds: NDArray[np.int32],
    weight: NDArray[np.float64] | None,
    times: tuple[float, ...] = (),
) -> dict[str, NDArray[np.float64]]:
    """The scores (C, S) of C models on S splits by scorer, greater = better, as scorers return them.

    Parameters
    ----------
    tests : Truth of the n test rows of all splits
    predictions : mapping of Response to ndarray of shape (n, C) or (n, C, outputs)
    folds : ndarray of shape (n,)
        The split, 0 to S - 1, that tests each row.
    weight : ndarray of shape (n,), optional
    """
    (first, *_) = predictions.values()
    models = HeldOutPredictions(
        {response: array[:, :, None] for response, array in predictions.items()},
        names=("",) * first.shape[1],
        times=times,
    )
    found = {}
    for name, metric in metrics.items():
        assert metric is not None, "is_computable says so"
        array = models.for_metric(metric)
        scores = fold_score(metric, tests, array, folds[:, None], weight).observed_by_segment()
        found[name] = (scores if metric.greater_is_better else -scores).T
    return found

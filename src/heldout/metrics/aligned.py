"""The four scales of a score; one of them aligns the models of different folds: logits less their fold's median.

The models of different folds differ in where their scores lie, because their training parts differ: on few rows
the share of a class in the training part runs against that in the fold. All rows together then rank rows of
different folds by what their models differ in. A rank within the fold does not suffer from that; neither does a
distance from the fold's median, which keeps how far apart scores lie.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import Truth
from heldout.metrics.aggregate import AggregateScore, aggregate_score
from heldout.metrics.base import Metric, Response
from heldout.metrics.by_row import fold_score
from heldout.metrics.within import within_score

FEWEST = 8
"""Rows of a fold whose median tells where scores lie: in smaller ones each row moves it towards itself."""
LEAST = 1e-9
"""Probabilities nearer to 0 or 1 are as good as this."""
DIGITS = 9
"""Of aligned scores, so that ties stay ties."""


def reads_ranks(metric: Metric) -> bool:
    """Whether a metric depends on the order of scores alone: decisions serve it as well as probabilities.

    A function of the user's that reads decisions, such as a hinge loss, may read how large they are.
    """
    return Response.DECISION in metric.responses and not metric.calls_foreign_code


def alignable(folds: NDArray[np.int32]) -> bool:
    """Whether all folds (n, R), codes that do not recur and -1 where a row is not in play, have enough rows."""
    return int(np.unique(folds[folds >= 0], return_counts=True)[1].min(initial=FEWEST)) >= FEWEST


def aligned(scores: NDArray[Any], folds: NDArray[np.int32]) -> Floats:
    """Logits of probabilities, or decisions as they are, less the median of their fold.

    Parameters
    ----------
    scores : ndarray of shape (n, C, R) or (n, C, R, n_classes)
        Probabilities or decisions; NaN where there are none.
    folds : ndarray of shape (n, R)

    Examples
    --------
    >>> scores = np.array([0.1, 0.5, 0.9, 0.2, 0.6, 0.95]).reshape(6, 1, 1)
    >>> aligned(scores, np.array([[0], [0], [0], [1], [1], [1]])).ravel().round(2).tolist()
    [-2.2, 0.0, 2.2, -1.79, 0.0, 2.54]
    """
    values = np.array(scores, dtype=np.float64)
    rows = tuple(axis for axis in range(values.ndim) if axis != 1)
    with np.errstate(invalid="ignore"):
        # Without a declaration numbers tell: what leaves [0, 1] anywhere is a decision, of which no logit is taken.
        outside = (values < 0) | (values > 1)
    shares = ~outside.any(axis=rows)  # (C,)
    clipped = np.clip(values[:, shares], LEAST, 1 - LEAST)
    values[:, shares] = np.log(clipped / (1 - clipped))
    for repeat in range(folds.shape[1]):
        for code in np.unique(folds[folds[:, repeat] >= 0, repeat]):
            mine = folds[:, repeat] == code
            # The median and not the mean: a few rows with logits of 20 would move a whole fold.
            values[mine, :, repeat] -= np.median(values[mine, :, repeat], axis=0)
    return np.round(values, DIGITS)


def score_on_scale(
    scale: str,
    metric: Metric,
    truth: Truth,
    predictions: NDArray[Any],
    repeats: NDArray[np.int32] | None,
    folds: NDArray[np.int32] | None,
    sample_weight: Floats | None = None,
) -> AggregateScore:
    """The metric of predictions (n, C, R[, n_classes]): mean over folds, of pairs in folds, or of rows together.

    Parameters
    ----------
    scale : "folds", "within", "pooled" or "aligned"
    repeats, folds : ndarray of shape (n, R)
        Codes of the rows' repeats and folds, which do not recur between repeats; -1 where a row is not in play. The
        first is read by "pooled" and "aligned", the second by all but "pooled".
    """
    if scale == "pooled":
        assert repeats is not None, "read by this scale"
        return aggregate_score(metric, truth, predictions, repeats, sample_weight)
    assert folds is not None, "folds are read where they are known"
    if scale == "aligned":
        assert repeats is not None, "read by this scale"
        return aggregate_score(metric, truth, aligned(predictions, folds), repeats, sample_weight)
    score = within_score if scale == "within" else fold_score
    return score(metric, truth, predictions, folds, sample_weight)

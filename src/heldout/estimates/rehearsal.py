"""A rehearsal: whether a method can use the splits is checked before hours go into fitting on them.

Whether a method is for so many folds, for rows that are predicted several times, or for groups, does not depend on
the predictions. So it is checked with made-up predictions of the rows that the splits test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.estimates.evidence import gather
from heldout.estimates.named import method_of, refusal
from heldout.estimates.of_search import Estimation
from heldout.estimates.question import Question
from heldout.metrics.base import Metric, Response, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions


def refused_on_splits(
    truth: Truth,
    labels: NDArray[np.int32],
    estimation: Estimation,
    metric: Metric,
    params: Sequence[Mapping[str, Any]],
    *,
    groups: NDArray[Any] | None = None,
    sample_weight: NDArray[np.float64] | None = None,
    test_share: float | None = None,
    entropy: int = 0,
) -> str | None:
    """Why the method has no estimate from splits like these, as a sentence; None where it has one.

    Parameters
    ----------
    labels : ndarray of shape (N, R)
        Fold of each row in each repeat, -1 where it is not tested.
    params : sequence of mapping
        Of the configurations; two of them stand for all.
    test_share : float, optional
        Of repeated subsampling.
    """
    shown = list(params[:2])
    predictions = HeldOutPredictions(
        responses={metric.responses[0]: _made_up(metric, truth, labels, len(shown))},
        names=tuple(str(number) for number in range(len(shown))),
        folds=labels,
        classes=truth.classes,
        positive=truth.positive,
        grouped=groups is not None,
        test_share=test_share,
    )
    settings = estimation.settings(entropy)
    question = Question(
        metric, {metric.name: metric}, estimation.rule, estimation.aggregate, settings, groups, sample_weight, shown
    )
    try:
        evidence = gather(truth, predictions, question)
    except InputError:
        return None  # of made-up predictions this says little; the true ones will tell
    return refusal(method_of(estimation.method), evidence)


def _made_up(metric: Metric, truth: Truth, labels: NDArray[np.int32], n_configurations: int) -> NDArray[Any]:
    """Random predictions (N, C, R[, outputs]) of the tested rows."""
    response = metric.responses[0]
    rng = np.random.default_rng(0)
    shape = (len(labels), n_configurations, labels.shape[1])
    untested = np.broadcast_to((labels < 0)[:, None, :], shape)
    if response is Response.LABELS:
        codes = rng.integers(0, truth.n_classes, size=shape, dtype=np.int32)
        codes[untested] = UNPREDICTED_LABEL
        return codes
    if response is Response.SURVIVAL:
        numbers = -np.sort(-rng.uniform(size=(*shape, len(times_of(metric)))))  # they fall in time
    elif response is Response.VALUES or truth.n_classes <= 2:
        numbers = rng.uniform(size=shape)
    else:
        numbers = rng.dirichlet(np.ones(truth.n_classes), size=shape)
    numbers[untested] = np.nan
    return numbers

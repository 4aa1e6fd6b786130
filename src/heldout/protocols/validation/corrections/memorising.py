"""Whether a model memorises its rows, so that the optimism bootstrap subtracts too little.

A sample holds .632 of the rows, and a model that remembers these is right on most rows that then test it: its
score on all rows is far too good, and its optimism far too small. This is a property of the model, seen in how it
ranks the rows (of numbers, in its squared errors), so that it decides for all metrics. The relative overfitting of
each metric would not do: it is 1 for the accuracy of a logistic regression with an area of .61 and for the log loss
of one with .67.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from heldout.data.task import TaskKind
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.metrics.named import check_fits, in_sentence, metric_named, metric_words
from heldout.protocols.validation.corrections.point632 import Point632Plus
from heldout.protocols.validation.replicates import Replicates

TOLD_BY: Mapping[TaskKind, tuple[str, ...]] = {
    TaskKind.BINARY: ("roc_auc", "balanced_accuracy"),
    TaskKind.MULTICLASS: ("roc_auc_ovr", "balanced_accuracy"),
    TaskKind.REGRESSION: ("mean_squared_error",),
    TaskKind.SURVIVAL: ("concordance_index",),
}
"""The metrics that tell; of each kind the first whose response was recorded."""
NEARLY_PERFECT = 0.1
"""The error on its own sample, as a share of that on the rows left out, below which a sample is memorised. That
includes the best possible score, unless the rows left out have it too. Of the squared error a forest has .06, and
least squares of 100 rows on 30 columns .27."""
NEARLY_ALL = 0.9
"""Relative overfitting of .632+ above which nothing of the apparent score is left on new rows."""


class Memorising(NamedTuple):
    """How a model does on its own samples and on the rows that they left out, if it memorises its rows."""

    score: str = ""
    """What tells, in words; empty for a model that does not memorise."""
    own: float = float("nan")
    left_out: float = float("nan")
    is_perfect: bool = False
    """Whether it is nearly without error on most of its own samples."""

    @property
    def flags(self) -> dict[Flag, str]:
        """That it memorises; none of a model that does not."""
        places = self._asdict()
        return Flag.MEMORISES.of(**places) if self.score else {}


_KNOWN: WeakKeyDictionary[Replicates, Memorising] = WeakKeyDictionary()
"""One answer for all metrics of a model, because it costs a metric of all replicates."""


def memorising(replicates: Replicates) -> Memorising:
    """Whether a model memorises its rows.

    It does if its score on its own sample is nearly perfect in more than half of the samples, or if its relative
    overfitting (Efron & Tibshirani 1997) is above .9.

    Examples
    --------
    Rows 0 and 1 were drawn and predicted without error, the others not:

    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics.base import Response
    >>> predicted = {Response.VALUES: np.array([[0.0], [1.0], [0.0], [0.0]])}
    >>> given = {response: values[:, :, None] for response, values in predicted.items()}
    >>> truth = truth_of([0.0, 1.0, 2.0, 3.0], "regression")
    >>> replicates = Replicates(truth, np.array([[2, 2, 0, 0]], dtype=np.uint8), predicted, given)
    >>> memorising(replicates)
    Memorising(score='mean squared error', own=0.0, left_out=6.5, is_perfect=True)
    """
    if replicates not in _KNOWN:
        metric = _telling(replicates)
        _KNOWN[replicates] = Memorising() if metric is None else _told_by(metric, replicates)
    return _KNOWN[replicates]


def _told_by(metric: Metric, replicates: Replicates) -> Memorising:
    scores = replicates.scores(metric)
    best = metric.range[1] if metric.greater_is_better else 0.0
    own, left_out = abs(scores.in_bootstrap - best), abs(scores.out_of_bag - best)
    both = np.isfinite(own - left_out)
    if not both.any():
        return Memorising()
    is_perfect = bool((own < NEARLY_PERFECT * left_out)[both].mean() > 0.5)
    made_of = Point632Plus().corrected(replicates, scores).provenance
    if not (is_perfect or made_of.get("relative_overfitting", 0.0) > NEARLY_ALL):
        return Memorising()
    in_bag, out_of_bag = (float(values[both].mean()) for values in (scores.in_bootstrap, scores.out_of_bag))
    return Memorising(in_sentence(metric_words(metric.name)[0]), in_bag, out_of_bag, is_perfect)


def _telling(replicates: Replicates) -> Metric | None:
    truth = replicates.truth
    metrics = (check_fits(metric_named(name), truth) for name in TOLD_BY[truth.kind])
    return next((each for each in metrics if {*each.responses} & replicates.on_original.keys()), None)

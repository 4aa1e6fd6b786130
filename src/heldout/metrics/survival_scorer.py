"""A scorer that survival models can be scored by, as scikit-learn's searches call scorers.

scikit-learn's own asks all but classifiers for ``predict`` alone, and knows no times; this one asks for what the
metric reads.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics._scorer import _Scorer

from heldout.data.survival_target import has_fields
from heldout.data.task import TaskKind
from heldout.metrics.base import Metric, Response, times_of
from heldout.metrics.metric_function import MetricFunction
from heldout.metrics.survival_model import RISK_METHOD, SURVIVAL_METHOD, risks, survival


class SurvivalScorer(_Scorer):  # type: ignore[misc]
    """``scorer(estimator, X, y, sample_weight=None)``, greater = better.

    Parameters
    ----------
    function : MetricFunction
        Of a metric of survival models; one of other models too is computed as ever where y holds no events and
        times.
    methods : tuple of str
        The response of models that are no survival models.
    """

    def __init__(self, function: MetricFunction, methods: tuple[str, ...] = ()) -> None:
        sign = 1 if function.metric.greater_is_better else -1
        method = methods or (SURVIVAL_METHOD if reads_curves(function.metric) else RISK_METHOD,)
        super().__init__(function, sign, {}, method[0] if len(method) == 1 else method)

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **given: Any) -> float:
        metric = self._score_func.metric
        if not (has_fields(y_true) or metric.tasks == {TaskKind.SURVIVAL}):
            return float(super()._score(method_caller, estimator, X, y_true, **given))
        predicted = survival(estimator, X, times_of(metric)) if reads_curves(metric) else risks(estimator, X)
        return float(self._sign * self._score_func(y_true, predicted, **given))


def reads_curves(metric: Metric) -> bool:
    """Whether a metric reads survival probabilities of survival models, and not their risks."""
    return Response.SURVIVAL in metric.responses and Response.RISK not in metric.responses

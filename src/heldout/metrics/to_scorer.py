"""From a metric to a scikit-learn scorer, so that a search can run metrics that scikit-learn does not have.

For survival models scikit-learn's own scorers do not do: they call ``predict`` of everything but classifiers, and
know no times.
"""

from __future__ import annotations

from typing import Any

from heldout._sklearn import DerivedScorer
from heldout.data.arrays import column_of, distinct, has_fields
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.metrics.base import ESTIMATOR_METHODS, Metric, Response
from heldout.metrics.metric_function import MetricFunction
from heldout.metrics.named import metric_named
from heldout.metrics.parameters import times_of
from heldout.metrics.survival_model import RISK_METHOD, SURVIVAL_METHOD, risks, survival


class SurvivalScorer(DerivedScorer):
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
        super().__init__(function, sign, method)

    def score_of(self, function: Any, estimator: Any, X: Any, y_true: Any, **params: Any) -> float | None:
        metric = function.metric
        if not (has_fields(y_true) or metric.tasks == {TaskKind.SURVIVAL}):
            return None
        predicted = survival(estimator, X, times_of(metric)) if reads_curves(metric) else risks(estimator, X)
        return float(function(y_true, predicted, **params))


def reads_curves(metric: Metric) -> bool:
    """Whether a metric reads survival probabilities of survival models, and not their risks."""
    return Response.SURVIVAL in metric.responses and Response.RISK not in metric.responses


def scorer(metric: Any, *, classes: Any = None) -> Any:
    """A scorer for ``HeldOutSearchCV`` and scikit-learn from any metric of ``ho.metrics``.

    Parameters
    ----------
    metric : str or Metric
        A name of ``ho.metrics.all_names()``, or a metric.
    classes : sequence of label, optional
        Of a classification; a search knows them itself. Elsewhere they are those of the rows scored, and rows of a
        single class have no score. Metrics of probabilities take them in sorted order, as models do.

    Returns
    -------
    scorer
        Greater is better, so that a loss is negative, as always with scikit-learn's scorers.

    Raises
    ------
    InputError
        For classes out of order.

    Notes
    -----
    Of survival models y is scikit-survival's structured array, or what else ``ho.estimate`` takes. Where a metric
    weighs censoring away, a search estimates it on all rows; elsewhere it is estimated on the rows scored, unless
    the metric was bound before: ``scorer(ho.metrics.ConcordanceUno().for_truth(truth))``.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import Ridge
    >>> X, y = make_regression(100, 3, noise=9, random_state=0)
    >>> round(scorer("spearman")(Ridge().fit(X, y), X, y), 3)
    0.989
    """
    from sklearn.metrics import make_scorer

    measured = metric_named(metric)
    known = [response for response in measured.responses if response in ESTIMATOR_METHODS]
    methods = tuple(dict.fromkeys(ESTIMATOR_METHODS[response] for response in known))
    if classes is not None and not methods:
        raise InputError(
            f"`classes={classes!r}` is for labels, and '{measured.name}' is of survival; leave it out.",
            argument="classes",
        )
    function = MetricFunction(measured, None if classes is None else _listed_in_order(measured, classes))
    if reads_curves(measured) and not times_of(measured):
        raise InputError(
            f"metric '{measured.name}' needs the times of the survival probabilities that it reads, as in "
            "'integrated_brier_score(times=[1, 2, 5])' or ho.metrics.custom(..., times=[...]).",
            argument="metric",
        )
    if TaskKind.SURVIVAL in measured.tasks:
        return SurvivalScorer(function, methods)
    return make_scorer(
        function,
        response_method=methods[0] if len(methods) == 1 else methods,
        greater_is_better=measured.greater_is_better,
    )


def _listed_in_order(metric: Metric, classes: Any) -> tuple[Any, ...]:
    """The classes as they were listed, which has to be the order of what is predicted of each."""
    listed = column_of(classes, "classes")
    ordered = distinct(listed, "classes")[0].tolist()
    if Response.LABELS not in metric.responses and listed.tolist() != ordered:
        raise InputError(
            f"classes must be distinct and sorted, as models order what they predict of each, got {classes!r} "
            f"for '{metric.name}'; pass `classes={ordered!r}`.",
            argument="classes",
        )
    return tuple(listed.tolist())

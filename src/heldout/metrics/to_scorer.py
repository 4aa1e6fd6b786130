"""From a metric to a scikit-learn scorer, so that a search can run metrics that scikit-learn has not."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.metrics.base import Metric, Response, fitted
from heldout.metrics.named import metric_named
from heldout.task import TaskKind, Truth, codes_of, truth_of

_METHODS = {
    Response.LABELS: "predict",
    Response.VALUES: "predict",
    Response.PROBABILITIES: "predict_proba",
    Response.DECISION: "decision_function",
}


@dataclass(frozen=True)
class MetricFunction:
    """A metric as scikit-learn's functions are: of true values and predictions.

    Attributes
    ----------
    metric : Metric
    classes : tuple of label or None
        Of a classification; those of the rows scored when None.
    """

    metric: Metric
    classes: tuple[Any, ...] | None = None

    @property
    def __name__(self) -> str:
        return self.metric.name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> float:
        """The metric's value; NaN where the rows lack what it needs."""
        predicted = np.asarray(y_pred)
        truth = self._truth(np.asarray(y_true), predicted)
        if truth is None:
            return float("nan")
        metric = fitted(self.metric, truth)
        if Response.LABELS in metric.responses and truth.classes is not None:
            predicted = codes_of(predicted, truth.classes)
        once = np.ones((1, truth.n_rows), dtype=np.uint8)
        weights = once if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[None, :]
        if not metric.undefined_without.met(truth, truth.positive, weights)[0]:
            return float("nan")
        return float(metric.statistic(truth, predicted[:, None]).all(weights)[0, 0])

    def _truth(self, y_true: NDArray[Any], predicted: NDArray[Any]) -> Truth | None:
        if TaskKind.REGRESSION in self.metric.tasks:
            return truth_of(y_true, TaskKind.REGRESSION)
        classes: Any = self.classes
        if classes is None:
            labels = Response.LABELS in self.metric.responses
            classes = np.unique(np.concatenate([y_true, predicted])) if labels else np.unique(y_true)
        # Which of two classes a single one is, the rows do not say.
        return None if len(classes) < 2 else truth_of(y_true, TaskKind.MULTICLASS, classes=list(classes))


def told_classes(scorer: Any, classes: Any) -> Any:
    """The scorer (or several that scikit-learn has gathered) with our metrics told the classes of a task.

    A fold may lack some of them, and still its score is of all.
    """
    members = getattr(scorer, "_scorers", None)
    if isinstance(members, Mapping):
        gathered = copy(scorer)
        gathered._scorers = {name: told_classes(member, classes) for name, member in members.items()}
        return gathered
    function = getattr(scorer, "_score_func", None)
    if classes is None or not isinstance(function, MetricFunction) or function.classes is not None:
        return scorer
    told = copy(scorer)
    told._score_func = replace(function, classes=tuple(classes.tolist()))
    return told


def scorer(metric: Any, *, classes: Any = None) -> Any:
    """A scorer for ``HeldOutSearchCV`` and scikit-learn from any metric of ``ho.metrics``.

    Parameters
    ----------
    metric : str or Metric
        A name of ``ho.metrics.all_names()``, or a metric.
    classes : sequence of label, optional
        Of a classification; a search knows them itself. Elsewhere they are those of the rows scored, and rows of a
        single class have no score.

    Returns
    -------
    scorer
        Greater is better, so that a loss is negative, as always with scikit-learn's scorers.

    Raises
    ------
    InputError
        For a survival metric, which no scorer of scikit-learn can compute.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sklearn.linear_model import Ridge
    >>> X, y = make_regression(100, 3, noise=9, random_state=0)
    >>> round(scorer("spearman")(Ridge().fit(X, y), X, y), 3)
    0.991
    """
    from sklearn.metrics import make_scorer

    measured = metric_named(metric)
    methods = tuple(dict.fromkeys(_METHODS[response] for response in measured.responses if response in _METHODS))
    if not methods:
        raise InputError(
            f"metric '{measured.name}' is of survival models, which scikit-learn's scorers do not know; use it in "
            "ho.estimate."
        )
    function = MetricFunction(measured, None if classes is None else tuple(np.asarray(classes).tolist()))
    return make_scorer(
        function,
        response_method=methods[0] if len(methods) == 1 else methods,
        greater_is_better=measured.greater_is_better,
    )

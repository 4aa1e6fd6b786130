"""From what a user writes to a metric: names of scikit-learn's scorers, names of its functions, objects."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from heldout.errors import InputError
from heldout.metrics.base import Metric, fitted
from heldout.metrics.classification import (
    Accuracy,
    BalancedAccuracy,
    Brier,
    FScore,
    LabelAverage,
    LogLoss,
    MatthewsCorrelation,
    Precision,
    Recall,
    ZeroOneLoss,
)
from heldout.metrics.ranking import AveragePrecision, RocAuc, RocAucOneVsOne, RocAucOneVsRest
from heldout.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanSquaredError,
    MedianAbsoluteError,
    RootMeanSquaredError,
)
from heldout.metrics.signed import Signed
from heldout.task import Truth

_AVERAGES: tuple[LabelAverage, ...] = ("binary", "macro", "micro", "weighted")

DECLARED: tuple[Metric, ...] = (
    Accuracy(),
    ZeroOneLoss(),
    BalancedAccuracy(),
    MatthewsCorrelation(),
    *(FScore(average) for average in _AVERAGES),
    *(Precision(average) for average in _AVERAGES),
    *(Recall(average) for average in _AVERAGES),
    LogLoss(),
    Brier(),
    RocAuc(),
    RocAucOneVsRest(),
    RocAucOneVsRest("weighted"),
    RocAucOneVsOne(),
    RocAucOneVsOne("weighted"),
    AveragePrecision(),
    MeanSquaredError(),
    RootMeanSquaredError(),
    MeanAbsoluteError(),
    MedianAbsoluteError(),
    R2(),
)
"""Every metric that has a kernel, as it is by default."""

_FUNCTION_NAMES: dict[str, str] = {
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "f1_score": "f1",
    "precision_score": "precision",
    "recall_score": "recall",
    "brier_score_loss": "brier_score",
    "roc_auc_score": "roc_auc",
    "average_precision_score": "average_precision",
    "r2_score": "r2",
}


def _by_name() -> Mapping[str, Metric]:
    names = {metric.name: metric for metric in DECLARED}
    names |= {f"neg_{m.name}": Signed(m, -1) for m in DECLARED if not m.greater_is_better}
    names |= {alias: names[name] for alias, name in _FUNCTION_NAMES.items()}
    return MappingProxyType(names)


METRICS: Mapping[str, Metric] = _by_name()
"""Name → metric: names of scorers, ``neg_`` values negative, and plain names of functions."""


def all_names() -> tuple[str, ...]:
    """Every name that ``metric_named`` has a kernel for, sorted."""
    return tuple(sorted(METRICS))


def metric_named(name: Any) -> Metric:
    """The metric that a user means.

    Parameters
    ----------
    name : str, Metric or scorer
        A name of ``all_names()``; the name of any other scorer of scikit-learn, which then takes the slow
        path; a metric, which is returned as it is; or a scorer object, which is opened.

    Raises
    ------
    InputError
        When it is none of these.

    Examples
    --------
    >>> metric_named("neg_log_loss").name, metric_named("brier_score_loss").greater_is_better
    ('neg_log_loss', False)
    """
    if isinstance(name, str):
        return METRICS[name] if name in METRICS else _scorer_named(name)
    if isinstance(name, Metric) and not isinstance(name, type):
        return name
    if callable(name):
        from heldout.metrics.from_scorer import metric_from_scorer

        inside = metric_from_scorer(name)
        if inside is not None:
            return inside
        raise InputError(
            f"metric must be a name or a metric object, got the function {getattr(name, '__name__', name)!r}; "
            "a function does not say whether greater is better nor what it is computed from: wrap it as "
            "ho.metrics.custom(f, greater_is_better=..., response=...)."
        )
    raise InputError(f"metric must be a name such as 'roc_auc', or a metric object, got {name!r}.")


def _scorer_named(name: str) -> Metric:
    from sklearn.metrics import get_scorer, get_scorer_names

    from heldout.metrics.from_scorer import metric_from_scorer

    if name in get_scorer_names():
        metric = metric_from_scorer(get_scorer(name))
        if metric is not None:
            return metric
    near = get_close_matches(name, METRICS, n=3, cutoff=0.5)
    nearest = f"the nearest are {', '.join(near)}" if near else "ho.metrics.all_names() lists them"
    raise InputError(f"metric must be a known name, got '{name}'; {nearest}.")


def check_fits(metric: Metric, truth: Truth) -> Metric:
    """Refuse a metric that does not fit the target; otherwise the metric as it is on this target.

    What comes back differs only where a declaration depends on the task: the Brier score's range.

    Raises
    ------
    InputError
        Naming the metrics that do fit, or the labels that could be its ``pos_label``.
    """
    if truth.kind in metric.tasks:
        return fitted(metric, truth)
    fitting = sorted(known.name for known in DECLARED if truth.kind in known.tasks)
    size = f" ({truth.n_classes} classes)" if truth.n_classes > 2 else ""
    raise InputError(
        f"metric '{metric.name}' does not fit a {truth.kind.value} target{size}; "
        f"metrics that do: {', '.join(fitting)}."
    )

"""Metrics by name: those of scikit-learn's scorers and functions, their titles for people, and scorers of metrics.

A search can run metrics that scikit-learn does not have by their scorers. For survival models scikit-learn's own
scorers do not do: they call ``predict`` of everything but classifiers, and know no times.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from heldout._sklearn import DerivedScorer
from heldout.data.checks import call_in, check_known
from heldout.data.task import TaskKind, Truth, column_of, distinct, has_fields
from heldout.errors import ArgumentError, InputError
from heldout.metrics.base import ESTIMATOR_METHODS, NO_PARAMETERS, Metric, Response, Signed, times_of
from heldout.metrics.custom import CustomMetric
from heldout.metrics.from_scorer import MetricFunction, asks_for_class, metric_from_scorer
from heldout.metrics.row_losses import Bounded, can_be_bounded
from heldout.metrics.survival_model import RISK_METHOD, SURVIVAL_METHOD, risks, survival

DECLARED: list[Metric] = []
"""Every metric that has a kernel, as it is by default."""
_METRICS: dict[str, Metric] = {}
METRICS: Mapping[str, Metric] = MappingProxyType(_METRICS)
"""Name → metric: names of scorers, ``neg_`` values negative, and plain names of functions."""


def declare(metric_class: type[Metric]) -> None:
    """Give the metrics of a class their names."""
    for arguments in metric_class._variants:
        metric = metric_class(*arguments)
        DECLARED.append(metric)
        _METRICS[metric.name] = metric
        if not metric.greater_is_better:
            _METRICS[f"neg_{metric.name}"] = Signed(metric, -1)
        if metric.function_name:
            _METRICS[metric.function_name] = metric


def all_names() -> tuple[str, ...]:
    """List the names of metrics that are computed by heldout's own kernels, sorted.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> 'roc_auc' in all_names(), len(all_names()) > 50
    (True, True)
    """
    return tuple(sorted(METRICS))


def metric_named(name: Any) -> Metric:
    """Return the metric of a name or scorer.

    Parameters
    ----------
    name : str, Metric or scorer
        A name of ``all_names()``, with parameters in brackets if needed; the name of any other scorer of
        scikit-learn, which is slower; a metric, which is returned unchanged; or a scorer object of scikit-learn.

    Returns
    -------
    Metric

    Raises
    ------
    InputError
        For an unknown name, wrong parameters, or a plain function, which ``custom`` wraps.

    Examples
    --------
    >>> metric_named("neg_log_loss").name, metric_named("brier_score_loss").greater_is_better
    ('neg_log_loss', False)
    >>> metric_named("sensitivity_at_specificity(specificity=0.95)").specificity, metric_named("f2").beta
    (0.95, 2.0)
    """
    if isinstance(name, str):
        return METRICS[name] if name in METRICS else _with_parameters(name) or _scorer_named(name)
    if isinstance(name, Metric) and not isinstance(name, type):
        return name
    if callable(name):
        inside = metric_from_scorer(name)
        if inside is not None:
            return inside
        raise InputError(
            f"metric must be a name or a metric object, got the function {getattr(name, '__name__', name)!r}; "
            "a function does not tell whether greater is better, nor what it is computed from: wrap it as "
            "ho.metrics.custom(f, greater_is_better=..., response=...)."
        )
    raise InputError(f"metric must be a name such as 'roc_auc', or a metric object, got {name!r}.")


_F_SCORE = re.compile(r"f(?P<beta>\d+(?:\.\d+)?)(?:_(?P<average>macro|micro|weighted))?")


def _with_parameters(name: str) -> Metric | None:
    """The metric of a name that says its parameters ("f2", "mean_pinball_loss(alpha=0.9)"); None of any other."""
    f_score = _F_SCORE.fullmatch(name)
    if f_score:
        f1: Any = METRICS["f1"]
        scaled: Metric = replace(f1, average=f_score["average"] or "binary", beta=float(f_score["beta"]))
        return scaled
    call = call_in(name)
    if call is None:
        return None
    function, given = call
    metric = METRICS.get("f1" if function == "fbeta_score" and "beta" in given else function)
    if metric is None:
        return None
    inner: Any = metric.metric if isinstance(metric, Signed) else metric
    names = [field.name for field in fields(inner) if field.name not in NO_PARAMETERS]
    check_known("metric", function, given, [*names, *(["most"] if can_be_bounded(inner) else [])])
    most = {name: given.pop(name) for name in ("most",) if name in given}
    changed: Any = replace(inner, **given)
    changed = Bounded(changed, **most) if most else changed
    return Signed(changed, metric.sign) if isinstance(metric, Signed) else changed


_REFUSED: dict[str, str] = {
    "fbeta_score": "needs its beta: write 'f2' or 'fbeta_score(beta=2)', or pass ho.metrics.FScore(beta=2)",
    **dict.fromkeys(
        ("squared_correlation", "r_squared", "rsquared", "pearson_r2"),
        "is no measure to select by, as predictions of the wrong sign reach 1 too; take 'r2', which is "
        "1 - SSE / SST, or 'spearman'",
    ),
}
"""Names of what is not offered, and why."""


_SHORT: dict[str, str] = {
    "acc": "accuracy",
    "bacc": "balanced_accuracy",
    "mcc": "matthews_corrcoef",
    "kappa": "cohen_kappa",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "ap": "average_precision",
    "auprc": "average_precision",
    "pr_auc": "average_precision",
    "ece": "expected_calibration_error",
    "mse": "mean_squared_error",
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
    "dxy": "somers_d",
    "somers_dxy": "somers_d",
    "gini": "somers_d",
    "eavg": "ici",
    "c_index": "concordance_index",
    "cindex": "concordance_index",
}
"""What people write for short, for the sentence that refuses it: a name says in full what it is."""


def _scorer_named(name: str) -> Metric:
    from sklearn.metrics import get_scorer, get_scorer_names

    if name in _REFUSED:
        raise InputError(f"metric '{name}' {_REFUSED[name]}.", argument="metric")
    if name in get_scorer_names():
        metric = metric_from_scorer(get_scorer(name))
        inner: Any = metric.metric if isinstance(metric, Signed) else metric
        # By its name alone, it is of the positive class of the task and not of the class 1.
        if isinstance(inner, CustomMetric) and asks_for_class(inner.function, dict(inner.arguments)):
            inner = replace(inner, pos_label=None, takes_class=True, of_last_class=False)
            metric = replace(metric, metric=inner) if isinstance(metric, Signed) else inner
        if metric is not None:
            return metric
    meant = _SHORT.get(name.lower().removeprefix("neg_"))
    near = [meant] if meant else get_close_matches(name, METRICS, n=3, cutoff=0.5)
    nearest = "docs/methods/metrics.md and ho.metrics.all_names() list them"
    if near:
        nearest = f"the nearest {'is' if len(near) == 1 else 'are'} {', '.join(near)}"
    raise ArgumentError(f"metric must be a known name, got '{name}'; {nearest}.")


def check_fits(metric: Metric, truth: Truth) -> Metric:
    """Refuse a metric that does not fit the target ``truth``; otherwise return it for this target.

    Parameters
    ----------
    metric : Metric
    truth : Truth
        The target, as ``truth_of`` reads it.

    Returns
    -------
    Metric
        The metric for this target, with what depends on the task, such as the range of the Brier score.

    Raises
    ------
    InputError
        When it does not fit; the message names the metrics that do, or the labels that could be its ``pos_label``.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> check_fits(metric_named('roc_auc'), truth_of(['sick', 'well'], pos_label='sick')).name
    'roc_auc'
    """
    if truth.kind in metric.tasks:
        return metric.for_truth(truth)
    fitting = sorted(entry.name for entry in DECLARED if truth.kind in entry.tasks)
    size = f" ({truth.n_classes} classes)" if truth.n_classes > 2 else ""
    raise InputError(
        f"metric '{metric.name}' does not fit a {truth.kind.value} target{size}; "
        f"metrics that do: {', '.join(fitting)}.",
        argument="metric",
    )


def metric_words(name: str) -> tuple[str, str]:
    """A metric's title and definition by its name; the definition of a metric of the user's own is empty."""
    stem, bracket, parameters = name.removeprefix("neg_").partition("(")
    metric = METRICS.get(stem)
    title, definition = (stem.replace("_", " "), "") if metric is None else (metric.title, metric.definition)
    if title.endswith(" at a time") and parameters.startswith("time="):
        return f"{title.removesuffix('a time')}time {parameters[len('time=') : -1]}", definition
    return (f"{title} {bracket}{parameters}" if bracket else title), definition


def in_sentence(title: str) -> str:
    """A metric's name within a sentence: small letters, except for abbreviations and names of people."""
    first = title.split(" ")[0]
    is_word = first[1:].isalpha() and first[1:].islower()
    return (
        title[:1].lower() + title[1:]
        if is_word and first not in ("Brier", "Emax", "Matthews", "Spearman")
        else title
    )


def direction_sentence(greater_is_better: bool, ideal: float | None = None) -> str:
    """Which way is better, if not one value is best."""
    if ideal is not None:
        return f"{ideal:g} is best; neither direction is."
    return "Higher is better." if greater_is_better else "Lower is better."


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
    """Make a scorer for ``HeldOutSearchCV`` and scikit-learn from any metric of ``ho.metrics``.

    Parameters
    ----------
    metric : str or Metric
        A name of ``ho.metrics.all_names()``, or a metric.
    classes : sequence of label, optional
        All classes of a classification, in sorted order for metrics of probabilities, as models have them. A search
        sets them itself. By default they are those of the scored rows, and rows of a single class have no score.

    Returns
    -------
    scorer
        Greater is better, so that a loss is negative, as always with scikit-learn's scorers.

    Raises
    ------
    InputError
        When ``metric`` is unknown, or classes are out of order.

    Notes
    -----
    For survival models y is scikit-survival's structured array, or any survival target of ``ho.estimate``. If a
    metric weighs rows by the distribution of censoring, a search estimates that distribution on all rows. Elsewhere
    it is estimated on the scored rows, unless you bind the metric first:
    ``scorer(ho.metrics.ConcordanceUno().for_truth(truth))``.

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
    responses = [response for response in measured.responses if response in ESTIMATOR_METHODS]
    methods = tuple(dict.fromkeys(ESTIMATOR_METHODS[response] for response in responses))
    if classes is not None and not methods:
        raise InputError(
            f"`classes={classes!r}` is for labels, and '{measured.name}' is of survival; leave it out."
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
            f"for '{metric.name}'; pass `classes={ordered!r}`."
        )
    return tuple(listed.tolist())

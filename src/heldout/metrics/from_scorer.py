"""What is inside a scikit-learn scorer: the only file that knows.

A scorer of ``get_scorer`` or ``make_scorer`` holds a function, a sign, keyword arguments and the methods
that it asks of an estimator, in order. Where we have a kernel for the function with those arguments, the
scorer becomes that metric; otherwise the function itself is called, on the slow path. Checked on
scikit-learn 1.6 to 1.9.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
import sklearn.metrics
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer

from heldout.errors import HeldoutWarning, InputError
from heldout.metrics.agreement import CohenKappa
from heldout.metrics.base import Metric, Needs, Response, is_number
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
from heldout.metrics.custom import CustomMetric, accepts_weights, name_of
from heldout.metrics.metric_function import MetricFunction
from heldout.metrics.operating_points import PartialRocAuc
from heldout.metrics.ranking import (
    AveragePrecision,
    ClassAverage,
    RocAuc,
    RocAucOneVsOne,
    RocAucOneVsRest,
)
from heldout.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanSquaredError,
    MedianAbsoluteError,
    PinballLoss,
    RootMeanSquaredError,
)
from heldout.metrics.signed import Signed
from heldout.task import labels_text

_RESPONSES: dict[str, tuple[Response, ...]] = {
    "predict": (Response.LABELS, Response.VALUES),
    "predict_proba": (Response.PROBABILITIES,),
    "decision_function": (Response.DECISION,),
}

_ACCURACIES = {"KNeighborsClassifier.score", "RadiusNeighborsClassifier.score", "DummyClassifier.score"}
"""Methods of their own that come to the same: they read a missing X in a way that concerns nobody here."""

Builder = Callable[..., Metric | None]


def metric_from_scorer(scorer: Any) -> Metric | None:
    """The metric that a scorer computes, in the scorer's sign and with its order of responses.

    Parameters
    ----------
    scorer : object
        Of ``sklearn.metrics.get_scorer``, ``make_scorer`` or ``check_scoring``.

    Returns
    -------
    Metric or None
        None where the scorer cannot be opened, as a plain ``callable(estimator, X, y)``: it gives fold
        scores only.

    Examples
    --------
    >>> metric_from_scorer(sklearn.metrics.get_scorer("neg_brier_score")).name
    'neg_brier_score'
    """
    if isinstance(scorer, _PassthroughScorer):
        return _metric_of_score_method(scorer._estimator)
    if not isinstance(scorer, _Scorer):
        return None
    asked = scorer._response_method
    responses = tuple(r for method in ([asked] if isinstance(asked, str) else asked) for r in _RESPONSES[method])
    if isinstance(scorer._score_func, MetricFunction):
        return _with_sign(scorer._score_func.metric, scorer._sign)
    metric = _known(scorer._score_func, scorer._kwargs, responses)
    if metric is None:
        metric = _called(scorer, responses)
    return _with_sign(metric, scorer._sign)


def members_of(scorer: Any) -> Mapping[str, Any]:
    """The scorers that scikit-learn has gathered into one, by name; a single one as ``score``."""
    members = getattr(scorer, "_scorers", None)
    return members if isinstance(members, Mapping) else {"score": scorer}


def told_classes(scorer: Any, classes: Any) -> Any:
    """The scorer (or several that scikit-learn has gathered) with our metrics told the classes of a task.

    A fold may lack some of them, and still its score is of all.

    Raises
    ------
    InputError
        When a metric was told other classes, or another order of them: it would score the folds on another scale
        than the estimate.
    """
    members = getattr(scorer, "_scorers", None)
    if isinstance(members, Mapping):
        gathered = copy(scorer)
        gathered._scorers = {name: told_classes(member, classes) for name, member in members.items()}
        return gathered
    function = getattr(scorer, "_score_func", None)
    if classes is None or not isinstance(function, MetricFunction):
        return scorer
    if function.classes is not None and list(function.classes) != classes.tolist():
        raise InputError(
            f"the scorer of '{function.metric.name}' was told classes={list(function.classes)!r}, but those of the "
            f"target are {labels_text(classes)} in this order; leave classes out, as a search knows them."
        )
    told = copy(scorer)
    told._score_func = replace(function, classes=tuple(classes.tolist()))
    return told


def _metric_of_score_method(estimator: Any) -> Metric | None:
    """The metric behind ``estimator.score`` where scikit-learn defines it as one that we know."""
    while hasattr(estimator, "steps"):  # a Pipeline scores by its last step
        estimator = estimator.steps[-1][1]
    score = getattr(type(estimator), "score", None)
    name = getattr(score, "__qualname__", "") if getattr(score, "__module__", "").startswith("sklearn.") else ""
    if score is ClassifierMixin.score or name in _ACCURACIES:
        return Accuracy()
    return R2() if score is RegressorMixin.score or name == "DummyRegressor.score" else None


def _with_sign(metric: Metric, sign: int) -> Metric:
    if sign > 0 and metric.greater_is_better:
        return metric
    if sign > 0:
        warnings.warn(
            f"this scorer maximises '{metric.name}', of which less is better; if that is not meant, pass "
            "greater_is_better=False to make_scorer.",
            HeldoutWarning,
            stacklevel=3,
        )
    return Signed(metric, sign)


def _known(function: Any, arguments: dict[str, Any], responses: tuple[Response, ...]) -> Metric | None:
    """The metric with a kernel for a function of scikit-learn, None where there is none."""
    name = getattr(function, "__name__", "")
    builder = _BUILDERS.get(name)
    if builder is None or getattr(sklearn.metrics, name, None) is not function:
        return None
    try:
        inspect.signature(builder).bind(**arguments)
    except TypeError:  # an argument that we do not know
        return None
    metric = builder(**arguments)
    return None if metric is None else _asking(metric, responses)


def _asking(metric: Metric, responses: tuple[Response, ...]) -> Metric | None:
    """The metric with the scorer's order of responses, None where it cannot be computed from them."""
    usable = tuple(r for r in responses if r in metric.responses)
    if usable == metric.responses:
        return metric
    # "predict" stands for labels or values; anything else that the metric cannot read is another metric.
    if len(usable) < len(responses) or not isinstance(metric, RocAuc | PartialRocAuc | AveragePrecision):
        return None
    return replace(metric, responses=usable)


def _called(scorer: Any, responses: tuple[Response, ...]) -> CustomMetric:
    """The function itself, on the slow path."""
    function, arguments = scorer._score_func, scorer._kwargs
    name = name_of(function)
    named = getattr(sklearn.metrics, name, None) is function
    declared = _DECLARED.get(name) if named else None
    if declared is None:
        declared = _Declared(-np.inf, np.inf, scorer._sign > 0)
    elif declared.reads is not None:
        responses = tuple(r for r in responses if r not in _PREDICTED or r is declared.reads)
    needs, undefined_without, pos_label = _demands(scorer, name, declared)
    listed = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return CustomMetric(
        function=function,
        name=f"{name}({listed})" if listed else name,
        greater_is_better=declared.greater_is_better,
        responses=responses,
        range=(declared.least, declared.greatest),
        needs=needs,
        undefined_without=undefined_without,
        takes_weights=accepts_weights(function) and "sample_weight" not in arguments,
        arguments=tuple(arguments.items()),
        # Labels are not turned to a class; a function of labels reads ``pos_label`` itself.
        pos_label=pos_label if Response.LABELS in responses else scorer._get_pos_label(),
    )


def _demands(scorer: Any, name: str, declared: _Declared) -> tuple[Needs, Needs, Any]:
    """What rows must hold under the arguments given, as ``Metric`` explains, and the label to be found."""
    arguments = scorer._kwargs
    needs, undefined_without = declared.needs, declared.undefined_without
    if name in _AVERAGED and declared.needs is Needs.POSITIVE:
        average = arguments.get("average", "binary")
        if isinstance(average, str) and average == "binary":
            return needs, undefined_without, scorer._get_pos_label()
        micro = isinstance(average, str) and average == "micro"
        return Needs.ROW if micro else Needs.EVERY_CLASS, undefined_without, None
    if arguments.get("labels") is not None:
        undefined_without = declared.undefined_with_labels
    if arguments.get("force_finite") is False:
        undefined_without = Needs.TWO_VALUES
    return needs, undefined_without, scorer._get_pos_label() if needs is Needs.POSITIVE else None


# One builder a function, with the function's own keyword arguments; None where a value has no kernel.


def _accuracy(normalize: bool = True) -> Metric | None:
    return Accuracy() if normalize is True else None


def _zero_one_loss(normalize: bool = True) -> Metric | None:
    return ZeroOneLoss() if normalize is True else None


def _balanced_accuracy(adjusted: bool = False) -> Metric | None:
    return None if adjusted else BalancedAccuracy()


def _class_score(kind: type[FScore | Precision | Recall]) -> Builder:
    def build(
        labels: Any = None, pos_label: Any = 1, average: Any = "binary", zero_division: Any = "warn"
    ) -> Metric | None:
        if labels is not None or average not in get_args(LabelAverage) or zero_division not in ("warn", 0):
            return None
        return kind(average, pos_label if average == "binary" else None)

    return build


def _fbeta(
    beta: float, labels: Any = None, pos_label: Any = 1, average: Any = "binary", zero_division: Any = "warn"
) -> Metric | None:
    if not (is_number(beta) and 0 <= beta < np.inf):
        return None
    plain = _class_score(FScore)(labels, pos_label, average, zero_division)
    return replace(plain, beta=float(beta)) if isinstance(plain, FScore) else None


def _log_loss(normalize: bool = True, labels: Any = None) -> Metric | None:
    return LogLoss() if normalize is True and labels is None else None


def _brier(pos_label: Any = None, labels: Any = None, scale_by_half: Any = "auto") -> Metric | None:
    if labels is not None:
        return None
    return Brier("auto" if scale_by_half == "auto" else bool(scale_by_half), pos_label)


def _roc_auc(
    average: Any = "macro", max_fpr: Any = None, multi_class: Any = "raise", labels: Any = None
) -> Metric | None:
    if labels is not None or average not in get_args(ClassAverage):
        return None
    if max_fpr is not None and max_fpr != 1:
        plain = multi_class == "raise" and is_number(max_fpr) and 0 < max_fpr < 1
        return PartialRocAuc(float(max_fpr)) if plain else None
    by_scheme: dict[str, Metric] = {
        "raise": RocAuc(),
        "ovr": RocAucOneVsRest(average),
        "ovo": RocAucOneVsOne(average),
    }
    return by_scheme.get(multi_class)


def _average_precision(average: Any = "macro", pos_label: Any = 1) -> Metric | None:
    return AveragePrecision(pos_label) if average == "macro" else None


def _kappa(labels: Any = None, weights: Any = None, replace_undefined_by: Any = np.nan) -> Metric | None:
    # scikit-learn, not told the labels, makes its scale of those that occur.
    undefined = isinstance(replace_undefined_by, float) and np.isnan(replace_undefined_by)
    known = weights in (None, "linear", "quadratic")
    return CohenKappa(weights, "skip") if labels is None and undefined and known else None


def _pinball(alpha: float = 0.5, multioutput: Any = "uniform_average") -> Metric | None:
    plain = isinstance(multioutput, str) and multioutput == "uniform_average"
    return PinballLoss(float(alpha)) if plain and is_number(alpha) and 0 <= alpha <= 1 else None


def _of_numbers(metric: Metric) -> Builder:
    def build(multioutput: Any = "uniform_average") -> Metric | None:  # one output: its average is itself
        return metric if isinstance(multioutput, str) and multioutput == "uniform_average" else None

    return build


def _r2(multioutput: Any = "uniform_average", force_finite: bool = True) -> Metric | None:
    plain = isinstance(multioutput, str) and multioutput == "uniform_average"
    return R2() if plain and force_finite is True else None


_BUILDERS: dict[str, Builder] = {
    "accuracy_score": _accuracy,
    "zero_one_loss": _zero_one_loss,
    "balanced_accuracy_score": _balanced_accuracy,
    "matthews_corrcoef": MatthewsCorrelation,
    "cohen_kappa_score": _kappa,
    "f1_score": _class_score(FScore),
    "fbeta_score": _fbeta,
    "precision_score": _class_score(Precision),
    "recall_score": _class_score(Recall),
    "log_loss": _log_loss,
    "brier_score_loss": _brier,
    "roc_auc_score": _roc_auc,
    "average_precision_score": _average_precision,
    "mean_squared_error": _of_numbers(MeanSquaredError()),
    "root_mean_squared_error": _of_numbers(RootMeanSquaredError()),
    "mean_absolute_error": _of_numbers(MeanAbsoluteError()),
    "median_absolute_error": _of_numbers(MedianAbsoluteError()),
    "mean_pinball_loss": _pinball,
    "r2_score": _r2,
}

_PREDICTED = (Response.LABELS, Response.VALUES)
"""What ``predict`` may mean."""


class _Declared(NamedTuple):
    """What is known of a function of scikit-learn that is called as it is."""

    least: float
    greatest: float
    greater_is_better: bool
    reads: Response | None = None
    """Which of the two a function of predictions reads; None where nobody knows."""
    needs: Needs = Needs.ROW
    undefined_without: Needs = Needs.ROW
    undefined_with_labels: Needs = Needs.ROW
    """Instead, where the scorer names all classes by ``labels=``."""


def _of_labels(
    least: float, greatest: float, greater_is_better: bool, needs: Needs, *undefined_without: Needs
) -> _Declared:
    return _Declared(least, greatest, greater_is_better, Response.LABELS, needs, *undefined_without)


def _error() -> _Declared:
    return _Declared(0.0, np.inf, False, Response.VALUES)


def _skill(undefined_without: Needs) -> _Declared:
    return _Declared(-np.inf, 1.0, True, Response.VALUES, Needs.TWO_VALUES, undefined_without)


_SHARE = _of_labels(0.0, 1.0, True, Needs.POSITIVE)

_AVERAGED = {"f1_score", "fbeta_score", "precision_score", "recall_score", "jaccard_score"}

_DECLARED: dict[str, _Declared] = {
    "accuracy_score": _of_labels(0.0, np.inf, True, Needs.ROW),  # normalize=False counts
    "zero_one_loss": _of_labels(0.0, np.inf, False, Needs.ROW),
    "balanced_accuracy_score": _of_labels(-np.inf, 1.0, True, Needs.EVERY_CLASS),  # adjusted=True passes below 0
    "f1_score": _SHARE,
    "fbeta_score": _SHARE,
    "precision_score": _SHARE,
    "recall_score": _SHARE,
    "jaccard_score": _SHARE,
    "cohen_kappa_score": _of_labels(-1.0, 1.0, True, Needs.EVERY_CLASS),
    "top_k_accuracy_score": _of_labels(0.0, 1.0, True, Needs.ROW, Needs.EVERY_CLASS),
    "roc_auc_score": _of_labels(0.0, 1.0, True, Needs.EVERY_CLASS, Needs.EVERY_CLASS, Needs.EVERY_CLASS),
    "average_precision_score": _of_labels(0.0, 1.0, True, Needs.POSITIVE, Needs.EVERY_OF_SEVERAL),
    "log_loss": _of_labels(0.0, np.inf, False, Needs.ROW, Needs.EVERY_CLASS),
    "brier_score_loss": _of_labels(0.0, 2.0, False, Needs.ROW, Needs.EVERY_OF_SEVERAL),
    "d2_log_loss_score": _of_labels(-np.inf, 1.0, True, Needs.EVERY_CLASS, Needs.EVERY_CLASS, Needs.TWO_ROWS),
    "d2_brier_score": _of_labels(-np.inf, 1.0, True, Needs.EVERY_CLASS, Needs.EVERY_CLASS, Needs.EVERY_CLASS),
    "explained_variance_score": _skill(Needs.ROW),
    "r2_score": _skill(Needs.TWO_ROWS),
    "d2_absolute_error_score": _skill(Needs.TWO_ROWS),
    "d2_pinball_score": _skill(Needs.TWO_ROWS),
    "d2_tweedie_score": _skill(Needs.TWO_VALUES),
    "max_error": _error(),
    "mean_squared_error": _error(),
    "root_mean_squared_error": _error(),
    "mean_absolute_error": _error(),
    "median_absolute_error": _error(),
    "mean_squared_log_error": _error(),
    "root_mean_squared_log_error": _error(),
    "mean_absolute_percentage_error": _error(),
    "mean_pinball_loss": _error(),
    "mean_poisson_deviance": _error(),
    "mean_gamma_deviance": _error(),
}
"""Functions of scikit-learn on the slow path."""

"""From a scikit-learn scorer to a metric.

A scorer of ``get_scorer`` or ``make_scorer`` holds a function, a sign, keyword arguments and the names of the
estimator methods that it calls, in order of preference. If we have a kernel for the function with those arguments,
the scorer becomes that metric; otherwise the function itself is called, which is slower. Tested with scikit-learn
1.6 to 1.9.
"""

import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import sklearn
import sklearn.metrics
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metadata_routing import process_routing

from heldout._sklearn import (
    BaseSearchCV,
    ScorerParts,
    gathered_scorers,
    scorer_parts,
    scorer_with,
    scoring_model,
    takes_weights,
    with_members,
)
from heldout._text import is_one_of
from heldout._types import Array
from heldout.data.checks import is_number
from heldout.data.task import TaskKind, Truth, codes_of, has_fields, labels_text, survival_target, truth_of
from heldout.errors import HeldoutWarning, InputError
from heldout.metrics import classification, ranking, regression
from heldout.metrics.base import (
    ESTIMATOR_METHODS,
    AroundMetric,
    Metric,
    Needs,
    Response,
    Signed,
    Statistic,
    positive_of,
    reads_as_numbers,
    sign_of,
    unsigned,
)
from heldout.metrics.custom import CustomLoss, CustomMetric, accepts_weights, name_of
from heldout.metrics.survival import ConcordanceIndex
from heldout.metrics.survival_model import last_step, scores_concordance


class Kernel(NamedTuple):
    """The metric that a function of scikit-learn is, and the arguments with which it is that."""

    make: Callable[..., Metric | None]
    fixed: Mapping[str, tuple[Any, ...]] = {}
    """Arguments that the metric has not: the values at which it is the same."""
    parameters: Mapping[str, Any] = {}
    """Arguments that are parameters of the metric: the function's own defaults."""

    def metric(self, arguments: Mapping[str, Any]) -> Metric | None:
        """None where our kernel does not know an argument, or its value."""
        given = dict(self.parameters)
        for name, value in arguments.items():
            if name in given:
                given[name] = value
            elif not is_one_of(value, self.fixed.get(name, ())):
                return None
        if "average" in given and "pos_label" in given and not is_one_of(given["average"], ("binary",)):
            given["pos_label"] = None  # an average over classes has none that is positive
        try:
            return self.make(**given)
        except (TypeError, ValueError):  # a value of which there is no such metric
            return None


def _real(value: Any) -> Any:
    """Numbers as floats, so that 2 and 2.0 make one metric; what is none is refused by the metric."""
    return float(value) if is_number(value) else value


def _roc_auc(average: Any, max_fpr: Any, multi_class: Any) -> Metric | None:
    of_classes = {"ovr": ranking.RocAucOneVsRest(average), "ovo": ranking.RocAucOneVsOne(average)}
    if max_fpr is not None and max_fpr != 1:
        return ranking.PartialRocAuc(_real(max_fpr)) if multi_class == "raise" else None
    return ranking.RocAuc() if multi_class == "raise" else of_classes.get(multi_class)


_ALL: dict[str, tuple[Any, ...]] = {"normalize": (True,)}
_MEAN: dict[str, tuple[Any, ...]] = {"multioutput": ("uniform_average",)}  # of one output it is the output's own
_LABELS: dict[str, tuple[Any, ...]] = {"labels": (None,)}
_OF_CLASS: tuple[dict[str, tuple[Any, ...]], dict[str, Any]] = (
    {**_LABELS, "zero_division": ("warn", 0)},
    {"average": "binary", "pos_label": 1},
)

KERNELS: dict[str, Kernel] = {
    "accuracy_score": Kernel(classification.Accuracy, _ALL),
    "zero_one_loss": Kernel(classification.ZeroOneLoss, _ALL),
    "balanced_accuracy_score": Kernel(classification.BalancedAccuracy, {"adjusted": (False,)}),
    "matthews_corrcoef": Kernel(classification.MatthewsCorrelation),
    "log_loss": Kernel(classification.LogLoss, {**_ALL, **_LABELS}),
    "brier_score_loss": Kernel(classification.Brier, _LABELS, {"scale_by_half": "auto", "pos_label": None}),
    "f1_score": Kernel(classification.FScore, *_OF_CLASS),
    "fbeta_score": Kernel(
        lambda beta, **of_class: classification.FScore(beta=_real(beta), **of_class),
        _OF_CLASS[0],
        {**_OF_CLASS[1], "beta": None},
    ),
    "precision_score": Kernel(classification.Precision, *_OF_CLASS),
    "recall_score": Kernel(classification.Recall, *_OF_CLASS),
    # Without labels scikit-learn makes its scale of those that occur.
    "cohen_kappa_score": Kernel(
        lambda weights: classification.CohenKappa(weights, "skip"),
        {**_LABELS, "replace_undefined_by": (np.nan,)},
        {"weights": None},
    ),
    "roc_auc_score": Kernel(_roc_auc, _LABELS, {"average": "macro", "max_fpr": None, "multi_class": "raise"}),
    "average_precision_score": Kernel(ranking.AveragePrecision, {"average": ("macro",)}, {"pos_label": 1}),
    "r2_score": Kernel(regression.R2, {"force_finite": (True,), **_MEAN}),
    "mean_squared_error": Kernel(regression.MeanSquaredError, _MEAN),
    "root_mean_squared_error": Kernel(regression.RootMeanSquaredError, _MEAN),
    "mean_absolute_error": Kernel(regression.MeanAbsoluteError, _MEAN),
    "median_absolute_error": Kernel(regression.MedianAbsoluteError, _MEAN),
    "mean_pinball_loss": Kernel(lambda alpha: regression.PinballLoss(_real(alpha)), _MEAN, {"alpha": 0.5}),
}

PREDICTED = (Response.LABELS, Response.VALUES)
"""What ``predict`` may mean."""


class Declared(NamedTuple):
    """What is known of a function of scikit-learn that is called as it is."""

    least: float
    greatest: float
    greater_is_better: bool
    reads: Response | None = None
    """Which of the two a function of predictions reads; None where it is not known."""
    needs: Needs = Needs.ROW
    undefined_without: Needs = Needs.ROW
    undefined_with_labels: Needs = Needs.ROW
    """Instead, where the scorer names all classes by ``labels=``."""


def _of_labels(
    least: float, greatest: float, greater_is_better: bool, needs: Needs, *undefined_without: Needs
) -> Declared:
    return Declared(least, greatest, greater_is_better, Response.LABELS, needs, *undefined_without)


def _error() -> Declared:
    return Declared(0.0, np.inf, False, Response.VALUES)


def _skill(undefined_without: Needs) -> Declared:
    return Declared(-np.inf, 1.0, True, Response.VALUES, Needs.TWO_VALUES, undefined_without)


_SHARE = _of_labels(0.0, 1.0, True, Needs.POSITIVE)

AVERAGED = {"f1_score", "fbeta_score", "precision_score", "recall_score", "jaccard_score"}

CALLED: dict[str, Declared] = {
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


@dataclass(frozen=True)
class MetricFunction:
    """A metric as scikit-learn's functions are: of true values and predictions."""

    metric: Metric
    classes: tuple[Any, ...] | None = None  # of a classification; those of the rows scored when None

    @property
    def __name__(self) -> str:
        return self.metric.name

    @property
    def __signature__(self) -> inspect.Signature:
        # scikit-learn reads from it whether a scorer takes weights.
        whole = inspect.signature(self.__call__)
        taken = [
            one for one in whole.parameters.values() if one.name != "sample_weight" or self.metric.takes_weights
        ]
        return whole.replace(parameters=taken)

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None) -> float:
        """The metric's value; NaN where the rows lack what it needs.

        A scorer that has ``pos_label`` passes the probabilities of that class.
        """
        predicted = np.asarray(y_pred)
        truth = self._truth(np.asarray(y_true), predicted, pos_label)
        if truth is None:
            return float("nan")
        if truth.kind not in self.metric.tasks:
            raise InputError(
                f"metric '{self.metric.name}' does not fit a {truth.kind.value} target.", argument="metric"
            )
        metric = self.metric.for_truth(truth)
        if truth.classes is not None:
            predicted = self._of_classes(predicted, truth.classes)
        once = np.ones((1, truth.n_rows), dtype=np.uint8)
        weights = once if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[None, :]
        if not metric.undefined_without.met(truth, positive_of(metric, truth), weights)[0]:
            return float("nan")
        return float(metric.statistic(truth, predicted[:, None]).all(weights)[0, 0])

    def _of_classes(self, predicted: Array, classes: Array) -> Array:
        """Codes of labels; what is predicted of each class as it is, if it is of these classes."""
        if Response.LABELS in self.metric.responses:
            return codes_of(predicted, classes)
        if predicted.dtype.kind != "f" and TaskKind.REGRESSION in self.metric.tasks:
            # scikit-learn asks a model without probabilities for what a model of numbers predicts: labels.
            raise InputError(
                f"metric '{self.metric.name}' needs probabilities of two classes, and the model predicts labels "
                "only; use a model with predict_proba, such as CalibratedClassifierCV of it.",
                argument="metric",
            )
        columns, expected = predicted.shape[1:], (len(classes),) if len(classes) > 2 else ()
        if columns != expected:
            model_knows = f"{columns[0]} classes" if columns else "2 classes"
            raise InputError(
                f"metric '{self.metric.name}' scores rows of the classes {labels_text(classes)} here, but the "
                f"model predicts {model_knows}; name the classes of all rows: ho.metrics.scorer(..., "
                "classes=[...]), and "
                "let every training part hold all of them.",
                argument="metric",
            )
        return predicted

    def _truth(self, y_true: Array, predicted: Array, pos_label: Any) -> Truth | None:
        if has_fields(y_true) or self.metric.tasks == {TaskKind.SURVIVAL}:
            return Truth(TaskKind.SURVIVAL, survival_target(y_true, may_lack_events=True))
        if self.classes is None and pos_label is None and reads_as_numbers(self.metric, y_true):
            return truth_of(y_true, TaskKind.REGRESSION)
        classes: Any = self.classes
        if classes is None:
            labels = Response.LABELS in self.metric.responses
            classes = np.unique(np.concatenate([y_true, predicted])) if labels else np.unique(y_true)
        # Which of two classes a single one is, the rows do not say.
        if len(classes) < 2:
            return None
        return truth_of(y_true, TaskKind.MULTICLASS, classes=list(classes), pos_label=pos_label)


_ACCURACIES = {
    "KNeighborsClassifier.score",
    "RadiusNeighborsClassifier.score",
    "DummyClassifier.score",
    "CatBoostClassifier.score",
}
"""``score`` methods that are not ClassifierMixin's and equal accuracy."""
_R2S = {"DummyRegressor.score", "CatBoostRegressor.score"}
"""``score`` methods that are not RegressorMixin's and equal R²."""
_OF_LAST_CLASS = {"positive_likelihood_ratio", "negative_likelihood_ratio"}
"""Functions of one class that take no ``pos_label``."""


def metric_from_scorer(scorer: Any, *, survival: bool = False) -> Metric | None:
    """The metric that a scorer of scikit-learn computes, with the scorer's sign and its order of responses.

    None for a scorer that cannot be opened, such as a plain ``callable(estimator, X, y)``: it gives fold scores
    only. With ``survival`` the models are survival models, so that ``predict`` gives risks.

    Examples
    --------
    >>> metric_from_scorer(sklearn.metrics.get_scorer("neg_brier_score")).name
    'neg_brier_score'
    """
    if (model := scoring_model(scorer)) is not None:
        return _metric_of_score_method(model)
    parts = scorer_parts(scorer)
    if parts is None:
        return None
    if isinstance(parts.function, MetricFunction):
        # A copy: two scorers of one metric may receive different weights, which are found by the object.
        return _with_sign(copy(parts.function.metric), parts.sign)
    if not parts.is_its_function:
        return None
    responses = tuple(r for method in parts.methods for r, name in ESTIMATOR_METHODS.items() if name == method)
    metric: Metric | None = _known(parts.function, parts.arguments, responses)
    if metric is None:
        metric = _called(parts, responses)
        if survival and Response.VALUES in metric.responses:
            metric = replace(metric, responses=(Response.RISK,), needs=Needs.PAIR, own_fields=True)
    return _with_sign(metric, parts.sign)


def members_of(scorer: Any) -> Mapping[str, Any]:
    """The scorers of scikit-learn's multi-metric scorer by name; a single scorer as ``score``."""
    members = gathered_scorers(scorer)
    return {"score": scorer} if members is None else members


def title_of(scorer: Any) -> str:
    """The name of a scorer that cannot be opened: scikit-learn's, that of its function or of the model's method.

    "score" where there is none, or where it is that of a scorer of scikit-learn and this is another.

    Examples
    --------
    >>> def hits(model, X, y):
    ...     return (model.predict(X) == y).sum()
    >>> title_of(hits), title_of(sklearn.metrics.get_scorer("f1_macro")), title_of(None)
    ('hits', 'f1_macro', 'score')
    """
    if (model := scoring_model(scorer)) is not None:
        return f"{type(model).__name__}.score"
    names, parts = sklearn.metrics.get_scorer_names(), scorer_parts(scorer)
    if parts is not None:
        for name in names:
            of_name = scorer_parts(sklearn.metrics.get_scorer(name))
            if of_name is not None and of_name[1:] == parts[1:]:
                return name
    function = scorer if parts is None else parts.function
    name = "" if function is None or isinstance(function, Mapping) else name_of(function)
    return name if name.isidentifier() and name not in names else "score"


def scorer_for(scorer: Any, truth: Truth) -> Any:
    """The same scorer, or multi-metric scorer, with the classes and the censoring of all rows.

    Without them a fold that lacks a class would be scored on the others alone. Censoring is estimated on all rows,
    so that folds are scored on the same scale as the estimate.
    """
    if (members := gathered_scorers(scorer)) is not None:
        return with_members(scorer, {name: scorer_for(member, truth) for name, member in members.items()})
    parts = scorer_parts(scorer)
    function = parts.function if parts else None
    of_survival = truth.kind is TaskKind.SURVIVAL
    if not isinstance(function, MetricFunction) or (truth.classes is None and not of_survival):
        return scorer
    if of_survival:
        # A metric of another kind of task is refused later, with a better message.
        fits = truth.kind in function.metric.tasks
        return scorer_with(scorer, replace(function, metric=function.metric.for_truth(truth))) if fits else scorer
    classes: Any = truth.classes
    if function.classes is not None and list(function.classes) != classes.tolist():
        raise InputError(
            f"the scorer of '{function.metric.name}' has `classes={list(function.classes)!r}`, but the classes of "
            f"the target are {labels_text(classes)} in this order; leave classes out, because a search knows them."
        )
    return scorer_with(scorer, replace(function, classes=tuple(classes.tolist())))


def scorer_of_class(scorer: Any, truth: Truth, pos_label: Any = None) -> Any:
    """The same scorer, or multi-metric scorer, of the positive class of the target if the user named it.

    A scorer that names a class itself is unchanged. ``pos_label`` is None where the user named none.

    Raises InputError for a scorer that names another class, or that cannot be of this one.
    """
    if truth.positive is None or truth.classes is None:
        return scorer
    if (members := gathered_scorers(scorer)) is not None:
        of_class = {name: scorer_of_class(member, truth, pos_label) for name, member in members.items()}
        return with_members(scorer, of_class)
    parts = scorer_parts(scorer)
    if parts is None:
        return scorer
    function, arguments = parts.function, parts.arguments
    metric = function.metric if isinstance(function, MetricFunction) else None
    label = arguments.get("pos_label", metric and metric.pos_label)
    if pos_label is None:
        # scikit-learn's Brier scores are the same of either class, and refuse labels for want of one.
        if label is not None or not _is_the_same_of_either(function) or truth.classes.tolist() in ([0, 1], [-1, 1]):
            return scorer
    elif label is not None and not is_one_of(label, (truth.pos_label,)):
        raise InputError(
            f"the scorer '{name_of(function)}' has `pos_label={label!r}`, and `pos_label={pos_label!r}` is passed "
            "beside it; leave one of the two out.",
            argument="pos_label",
        )
    opened = metric_from_scorer(scorer)
    if isinstance(opened, ranking.PartialRocAuc):  # scikit-learn's is of the last class
        return scorer_with(scorer, MetricFunction(opened), {"pos_label": truth.pos_label})
    if asks_for_class(function, arguments):
        return scorer_with(scorer, function, {**arguments, "pos_label": truth.pos_label})
    if name_of(function) in _OF_LAST_CLASS and truth.positive != truth.n_classes - 1:
        raise InputError(
            f"the scorer '{name_of(function)}' of scikit-learn is of the last class, "
            f"{labels_text(truth.classes[-1:])}, got `pos_label={pos_label!r}`; use another scorer.",
            argument="pos_label",
        )
    return scorer


def weights_of(scorer: Any, deciding: str, routed: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The weights that the deciding scorer receives, and those of the scorers that receive others, or None.

    ``routed`` are the parameters that a scorer, or multi-metric scorer, receives beside rows and target.
    """
    weights, members = routed.get("sample_weight"), gathered_scorers(scorer)
    if members is None:
        return weights, {}
    if sklearn.get_config()["enable_metadata_routing"]:
        requests = process_routing(scorer, "score", **routed)
        received = {name: requests[name].score.get("sample_weight") for name in members}
    else:
        received = {name: weights if takes_weights(one) else None for name, one in members.items()}
    return received[deciding], {name: one for name, one in received.items() if one is not received[deciding]}


def asks_for_class(function: Any, arguments: Mapping[str, Any]) -> bool:
    """Whether a function of true values and predictions takes a positive class that the arguments do not name."""
    if name_of(function) in AVERAGED and arguments.get("average", "binary") != "binary":
        return False
    return arguments.get("pos_label") is None and "pos_label" in inspect.signature(function).parameters


def _is_the_same_of_either(function: Any) -> bool:
    return function in (sklearn.metrics.brier_score_loss, getattr(sklearn.metrics, "d2_brier_score", None))


def _metric_of_score_method(estimator: Any) -> Metric | None:
    """The metric behind ``estimator.score`` where scikit-learn defines it as one that we know."""
    estimator = last_step(estimator)  # a Pipeline scores by it
    if scores_concordance(estimator):
        return ConcordanceIndex()
    score = getattr(type(estimator), "score", None)
    if score is BaseSearchCV.score:
        return _metric_of_search(estimator)
    package = getattr(score, "__module__", "").partition(".")[0]
    name = getattr(score, "__qualname__", "") if package in ("sklearn", "catboost") else ""
    if score is ClassifierMixin.score or name in _ACCURACIES:
        return classification.Accuracy()
    return regression.R2() if score is RegressorMixin.score or name in _R2S else None


def _metric_of_search(search: Any) -> Metric | None:
    """The metric behind a search's ``score``: that of its scorer, or of its models' ``score``."""
    model, scoring = search.estimator, search.scoring
    if scoring is None:
        return _metric_of_score_method(model[0][1] if isinstance(model, list | tuple) else model)
    if isinstance(scoring, str) and scoring in sklearn.metrics.get_scorer_names():
        scoring = sklearn.metrics.get_scorer(scoring)
    return None if scorer_parts(scoring) is None else metric_from_scorer(scoring)


def _with_sign(metric: Metric, sign: int) -> Metric:
    if sign > 0 and metric.greater_is_better:
        return metric
    if sign > 0:
        warnings.warn(
            f"this scorer maximises '{metric.name}', but smaller is better for this metric; if that is a "
            "mistake, pass "
            "greater_is_better=False to make_scorer.",
            HeldoutWarning,
            stacklevel=3,
        )
    return Signed(metric, sign)


def _known(function: Any, arguments: dict[str, Any], responses: tuple[Response, ...]) -> Metric | None:
    """The metric with a kernel for a function of scikit-learn, None where there is none."""
    kernel = KERNELS.get(getattr(function, "__name__", ""))
    if kernel is None or getattr(sklearn.metrics, function.__name__, None) is not function:
        return None
    metric = kernel.metric(arguments)
    return None if metric is None else _asking(metric, responses)


def _asking(metric: Metric, responses: tuple[Response, ...]) -> Metric | None:
    """The metric with the scorer's order of responses, None where it cannot be computed from them."""
    usable = tuple(r for r in responses if r in metric.responses)
    if usable == metric.responses:
        return metric
    # "predict" stands for labels or values; anything else that the metric cannot read is another metric.
    of_ranks = ranking.RocAuc | ranking.PartialRocAuc | ranking.AveragePrecision
    if len(usable) < len(responses) or not isinstance(metric, of_ranks):
        return None
    return replace(metric, responses=usable)


def _called(parts: ScorerParts, responses: tuple[Response, ...]) -> CustomMetric:
    """The function itself, on the slow path."""
    function, arguments = parts.function, parts.arguments
    name = name_of(function)
    named = getattr(sklearn.metrics, name, None) is function
    declared = CALLED.get(name) if named else None
    if declared is None:
        declared = Declared(-np.inf, np.inf, parts.sign > 0)
    elif declared.reads is not None:
        responses = tuple(r for r in responses if r not in PREDICTED or r is declared.reads)
    needs, undefined_without, pos_label = _demands(parts, name, declared)
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
        pos_label=pos_label if Response.LABELS in responses else parts.pos_label,
        of_last_class=parts.pos_label is None,
    )


def _demands(parts: ScorerParts, name: str, declared: Declared) -> tuple[Needs, Needs, Any]:
    """What rows must hold under the arguments given, as ``Metric`` explains, and the label to be found."""
    arguments = parts.arguments
    needs, undefined_without = declared.needs, declared.undefined_without
    if name in AVERAGED and declared.needs is Needs.POSITIVE:
        average = arguments.get("average", "binary")
        if isinstance(average, str) and average == "binary":
            return needs, undefined_without, parts.pos_label
        micro = isinstance(average, str) and average == "micro"
        return Needs.ROW if micro else Needs.EVERY_CLASS, undefined_without, None
    if arguments.get("labels") is not None:
        undefined_without = declared.undefined_with_labels
    if arguments.get("force_finite") is False:
        undefined_without = Needs.TWO_VALUES
    return needs, undefined_without, parts.pos_label if needs is Needs.POSITIVE else None


ROWS: dict[str, Callable[..., Any]] = {
    "accuracy": lambda y, labels: (y == labels).all(axis=1),
    "zero_one_loss": lambda y, labels: (y != labels).any(axis=1),
    "hamming_loss": lambda y, labels: (y != labels).mean(axis=1),
    "jaccard_score": lambda y, labels: (
        ((y > 0) & (labels > 0)).sum(axis=1) / np.maximum(((y > 0) | (labels > 0)).sum(axis=1), 1)
    ),
}
"""The score or loss of each row, by the name of the metric that is their mean in scikit-learn."""
_SAMPLES = re.compile(r"jaccard_score\((pos_label=None, )?average='samples'(, zero_division=0(\.0)?)?\)")


@dataclass(frozen=True)
class MeanOverOutputs(AroundMetric):
    """The mean of a regression metric over the columns of the target, as scikit-learn averages them."""

    metric: Metric

    @property
    def name(self) -> str:
        return self.metric.name

    def truth_for_needs(self, truth: Truth) -> Truth:
        return _column(truth, 0)

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        columns = range(truth.values.shape[1])
        parts = [self.metric.statistic(_column(truth, k), predictions[:, :, k]) for k in columns]
        return ranking.MeanOfParts(parts)


def _column(truth: Truth, number: int) -> Truth:
    return Truth(TaskKind.REGRESSION, np.ascontiguousarray(truth.values[:, number], dtype=np.float64))


def metric_of_outputs(scorer: Any) -> Metric | None:
    """The metric behind a scorer of several columns; None where only the scorer knows its score.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> metric_of_outputs(get_scorer("neg_mean_squared_error")).name, metric_of_outputs(get_scorer("f1_macro"))
    ('neg_mean_squared_error', None)
    """
    metric = metric_from_scorer(scorer)
    if metric is None:
        return None
    inner, sign = unsigned(metric), sign_of(metric)
    name = "jaccard_score" if _SAMPLES.fullmatch(inner.name) else inner.name
    if name in ROWS:
        values = (Response.VALUES,)
        inner = CustomLoss(ROWS[name], name, inner.greater_is_better, values, (0.0, 1.0), takes_weights=True)
    elif inner.tasks == {TaskKind.REGRESSION} and not inner.calls_foreign_code:
        inner = MeanOverOutputs(inner)
    else:
        return None
    return Signed(inner, sign) if isinstance(metric, Signed) else inner

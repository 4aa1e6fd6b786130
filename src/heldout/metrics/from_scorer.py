"""From a scikit-learn scorer to a metric.

A scorer of ``get_scorer`` or ``make_scorer`` holds a function, a sign, keyword arguments and the names of the
estimator methods that it calls, in order of preference. If we have a kernel for the function with those arguments,
the scorer becomes that metric; otherwise the function itself is called, which is slower. Tested with scikit-learn
1.6 to 1.9.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.errors import HeldoutWarning, InputError
from heldout.metrics.base import ESTIMATOR_METHODS, Metric, Needs, Response, fitted
from heldout.metrics.classification import Accuracy
from heldout.metrics.custom import CustomMetric, accepts_weights, name_of
from heldout.metrics.metric_function import MetricFunction
from heldout.metrics.operating_points import PartialRocAuc
from heldout.metrics.ranking import AveragePrecision, RocAuc
from heldout.metrics.regression import R2
from heldout.metrics.scikit_learn_functions import AVERAGED, CALLED, KERNELS_OF, PREDICTED, Declared
from heldout.metrics.signed import Signed
from heldout.metrics.survival import ConcordanceIndex
from heldout.metrics.survival_model import last_step, scores_concordance

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
        return _with_sign(parts.function.metric, parts.sign)
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
    """The name of a scorer that cannot be opened: that of its function or of the model's method, else "score".

    Examples
    --------
    >>> def hits(model, X, y):
    ...     return (model.predict(X) == y).sum()
    >>> title_of(hits), title_of(None)
    ('hits', 'score')
    """
    if (model := scoring_model(scorer)) is not None:
        return f"{type(model).__name__}.score"
    name = "" if scorer is None or isinstance(scorer, Mapping) else name_of(scorer)
    return name if name.isidentifier() else "score"


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
        return scorer_with(scorer, replace(function, metric=fitted(function.metric, truth))) if fits else scorer
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
    own = arguments.get("pos_label", metric and metric.pos_label)
    if pos_label is None:
        # scikit-learn's Brier scores are the same of either class, and refuse labels for want of one.
        if own is not None or not _is_the_same_of_either(function) or truth.classes.tolist() in ([0, 1], [-1, 1]):
            return scorer
    elif own is not None and not is_one_of(own, (truth.pos_label,)):
        raise InputError(
            f"the scorer '{name_of(function)}' has `pos_label={own!r}`, and `pos_label={pos_label!r}` is passed "
            "beside it; leave one of the two out.",
            argument="pos_label",
        )
    opened = metric_from_scorer(scorer)
    if isinstance(opened, PartialRocAuc):  # scikit-learn's is of the last class
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
        return Accuracy()
    return R2() if score is RegressorMixin.score or name in _R2S else None


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
    name = getattr(function, "__name__", "")
    builder = KERNELS_OF.get(name)
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

"""Each method's lower bound from one matrix of held-out predictions, with its configuration, or why there is none.

The methods are those of the library, as in ``heldout.estimate(..., alternative="greater")``. All of them share the
matrix and one set of draws, and methods with the same choice share it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from heldout.errors import InputError
from heldout.estimates.base import Method
from heldout.estimates.evidence import Candidates
from heldout.estimates.inputs import Inputs, read_inputs
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.methods.bbc_f import BBCF
from heldout.estimates.methods.naive_bootstrap import NaiveBootstrap
from heldout.estimates.methods.two_part.closed_forms import DeLong, HanleyMcNeil
from heldout.estimates.methods.two_part.template import FirstPart, TwoPart
from heldout.estimates.methods.two_part.tilting import MABT, Tilting
from heldout.estimates.types import Estimate
from heldout.metrics.base import Response
from heldout.metrics.named import metric_named
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout_papers.engine.arguments import checked_names
from heldout_papers.engine.results import Term

TaskName: TypeAlias = Literal["binary", "multiclass", "regression", "survival"]
Floats: TypeAlias = NDArray[np.float64]

SHARE = 0.25
"""Of the rows in the second part."""
TENTH = 0.1
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "bbc": BBC(control=False),  # as published
        "bbc_f": BBCF(),
        "delong": DeLong(evaluation_share=SHARE, within_classes=False),
        "hanley_mcneil": HanleyMcNeil(evaluation_share=SHARE, within_classes=False),
        "tilting": Tilting(evaluation_share=SHARE, within_classes=False),
        "delong_10p": DeLong(TENTH, evaluation_share=SHARE, within_classes=False),
        "hanley_mcneil_10p": HanleyMcNeil(TENTH, evaluation_share=SHARE, within_classes=False),
        "tilting_10p": Tilting(TENTH, evaluation_share=SHARE, within_classes=False),
        "mabt": MABT(TENTH, evaluation_share=SHARE, within_classes=False),
        "naive_bootstrap": NaiveBootstrap(unit="folds"),
    }
)
"""In the order of the article's tables."""
TERMS = {
    "bbc": Term(
        "BBC", "bootstrap bias correction: rows are drawn, and the best on them is scored on those left out"
    ),
    "bbc_f": Term("BBC-F", "the same with folds instead of rows"),
    "delong": Term("DL", "75 % of the rows choose; DeLong's normal interval of the choice on the others"),
    "hanley_mcneil": Term("HM", "the same with Hanley and McNeil's standard error"),
    "tilting": Term("BT", "the same by bootstrap tilting"),
    "delong_10p": Term(
        "DL10p",
        "75 % of the rows choose the best tenth, the others choose the best of these, and DeLong's bound accounts "
        "for that by Šidák's correction",
    ),
    "hanley_mcneil_10p": Term("HM10p", "the same with Hanley and McNeil's standard error"),
    "tilting_10p": Term("BT10p", "the same by bootstrap tilting"),
    "mabt": Term("MABT", "the same by tilting that uses how much the finalists agree"),
    "naive_bootstrap": Term("NB", "the winner's fold scores are bootstrapped as if it were the only configuration"),
}
"""By the article's names."""
SELECTORS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "all rows": ("bbc", "bbc_f"),
        "best of 75 %": ("delong", "hanley_mcneil", "tilting"),
        "best tenth of 75 %": ("delong_10p", "hanley_mcneil_10p", "tilting_10p", "mabt"),
    }
)
"""Methods with the same choice, and so one true performance (section 5; ``naive_bootstrap`` chooses as
``bbc_f``).
"""
OTHERS = (*SELECTORS["best of 75 %"], *SELECTORS["best tenth of 75 %"])
"""The methods of two parts."""
METRICS: Mapping[TaskName, tuple[str, ...]] = MappingProxyType(
    {
        "binary": ("roc_auc", "accuracy", "balanced_accuracy", "f1"),
        "multiclass": ("roc_auc_ovo", "accuracy", "balanced_accuracy"),
        "regression": ("r2",),
        "survival": ("concordance_index",),
    }
)
"""The metrics that a task has; the first by default."""
LEAST_EVENTS = 2
"""Events of each fold of a survival task, on average: a fold without a pair has no concordance."""
OF_LABELS = ("accuracy", "balanced_accuracy", "f1")
TILTING_TIMES = 2
"""Bootstraps of tilting for each of the others: 2000 and 1000, as published."""


class NoBound(StrEnum):
    """Why there is no bound."""

    TOO_FEW_ROWS = "too few rows of a class for two parts"
    NO_SPLIT = "no split leaves each class everywhere"
    FEW_OF_A_CLASS = "one row of a class in the second part"
    PERFECT = "area of 1 in the second part"
    NO_TILT = "no tilting reaches the level"
    NOT_REFITTED = "its choice could not be fitted on all rows"
    REFUSED = "refused"
    UNDEFINED = "undefined"


@dataclass(frozen=True)
class BoundSettings:
    """The settings that all methods of a study share."""

    task: TaskName = "binary"
    methods: tuple[str, ...] = tuple(METHODS)  # Some of ``methods_for(task, metric)``
    n_bootstraps: int = 1000  # Twice as many for tilting
    confidence_level: float = 0.95  # Of the one-sided interval
    other_metric: str = ""  # In place of the first that the task has

    @property
    def metric(self) -> str:
        return self.other_metric or METRICS[self.task][0]


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The result of a method on a matrix."""

    low: float  # The lower bound; NaN where there is none
    value: float  # The point value; NaN where there is none
    selected: int  # The configuration that it is of; -1 where none was chosen
    failure: NoBound | None = None  # Why there is no bound
    why: str = ""  # The same as a sentence, of this matrix
    estimate: Estimate | None = None

    def percentile(self, truth: float) -> float:
        """The share of the method's distribution up to the truth: uniform where the method is calibrated.

        The truth is above the lower bound of level 1 - p where this share is p or more. NaN for tilting, which
        gives a bound and no distribution.
        """
        if self.failure is not None or self.estimate is None:
            return float("nan")
        distribution, error = self.estimate.distribution, self.estimate.standard_error
        if distribution is not None:
            defined = distribution[~np.isnan(distribution)]
            return float((defined <= truth).mean())
        if error is None:
            return float("nan")
        finalists = self.estimate.provenance["n_finalists"]
        # Šidák's: the level at which the bound of the best of m finalists would be the truth.
        return float(1 - (1 - ndtr((truth - self.value) / error)) ** finalists)


def without_bound(failure: NoBound, why: str) -> LowerBound:
    """No bound, and nothing chosen."""
    return LowerBound(float("nan"), float("nan"), -1, failure, why)


def bounds(
    y: NDArray[Any], scores: Floats, folds: NDArray[np.intp], settings: BoundSettings, seed: int
) -> dict[str, LowerBound]:
    """The result of each method on a matrix.

    ``y`` (N,): 0 and 1; codes 0 .. n_classes - 1; numbers; or events with times; ``scores`` (N, C): decisions,
    labels, numbers or risks; or (N, C, n_classes), which need not be probabilities: the area reads ranks alone;
    ``folds`` (N,):
    the fold in which each row was held out; ``seed``: of all draws: that of ``random_state`` in
    ``heldout.estimate``. The results are in the order of ``settings.methods``; a method that refuses the
    matrix is among them, as a failure.

    Examples
    --------
    >>> from heldout_papers.simulation import scores_of_auc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 40)
    >>> scores = scores_of_auc(rng, y, rng.beta(9, 6, 30))
    >>> found = bounds(y, scores, np.arange(80) % 5, BoundSettings(methods=("bbc", "delong")), seed=1)
    >>> print({name: round(each.low, 2) for name, each in found.items()})
    {'bbc': 0.57, 'delong': 0.52}
    """
    try:
        inputs = inputs_of(y, scores, folds, settings, seed)
    except InputError as error:
        return {name: without_bound(NoBound.REFUSED, str(error)) for name in settings.methods}
    found: dict[str, LowerBound] = {}
    first_parts: dict[Any, FirstPart] = {}
    too_few = _too_few(y, folds, settings.task)
    for name in settings.methods:
        method = METHODS[name]
        if isinstance(method, TwoPart) and too_few:
            found[name] = without_bound(NoBound.TOO_FEW_ROWS, too_few)
            continue
        try:
            evidence = inputs.evidence(method)
            refused = method.unfit(evidence)
            if refused is not None:
                found[name] = without_bound(NoBound.REFUSED, refused)
            elif isinstance(method, TwoPart):
                if method.candidates not in first_parts:
                    first_parts[method.candidates] = method.first_part(evidence)
                first = first_parts[method.candidates]
                found[name] = _of_two_parts(method, evidence, _drawn_more(first) if method.draws else first)
            else:
                found[name] = _of_rows(method.estimate(evidence))
        except InputError as error:
            found[name] = without_bound(NoBound.REFUSED, str(error))
    return found


def inputs_of(
    y: NDArray[Any], scores: Floats, folds: NDArray[np.intp], settings: BoundSettings, seed: int
) -> Inputs:
    """The inputs of the methods, as ``heldout.estimate`` reads them."""
    return read_inputs(
        y,
        _predictions(y, scores, settings),
        metric=settings.metric,
        folds=folds,
        aggregate="pooled",
        n_bootstraps=settings.n_bootstraps,
        confidence_level=settings.confidence_level,
        alternative="greater",
        response=_response(settings),
        random_state=seed,
        n_jobs=1,
    )


def _predictions(y: NDArray[Any], scores: NDArray[Any], settings: BoundSettings) -> Any:
    if scores.ndim == 3:
        return _several_classes(y, scores)
    if settings.metric in OF_LABELS and scores.dtype.kind == "f":  # of fits, some of which may have failed
        labels = np.where(np.isnan(scores), UNPREDICTED_LABEL, scores).astype(np.int32)
        names = tuple(f"configuration {j}" for j in range(scores.shape[1]))
        return HeldOutPredictions({Response.LABELS: labels[:, :, None]}, names, classes=np.unique(y), positive=1)
    return scores


def _response(settings: BoundSettings) -> Literal["auto", "decision", "labels"]:
    if settings.metric in OF_LABELS:
        return "labels"
    return "decision" if settings.task == "binary" else "auto"


def _several_classes(y: NDArray[Any], scores: Floats) -> HeldOutPredictions:
    """In place of an array, which would have to hold probabilities."""
    names = tuple(f"configuration {j}" for j in range(scores.shape[1]))
    return HeldOutPredictions({Response.PROBABILITIES: scores[:, :, None, :]}, names, classes=np.unique(y))


def _too_few(y: NDArray[Any], folds: NDArray[np.intp], task: TaskName) -> str:
    """Why two parts are not tried: the first would lack rows of the rarer class for each fold, on average."""
    if task != "binary":
        return ""
    minority, n_folds = int(np.unique(y, return_counts=True)[1].min()), len(np.unique(folds))
    if (1 - SHARE) * minority >= n_folds:
        return ""
    return f"{1 - SHARE:.0%} of {minority} rows of the rarer class are fewer than the {n_folds} folds"


def _of_rows(estimate: Estimate) -> LowerBound:
    if estimate.interval is None or np.isnan(estimate.interval.low):
        return LowerBound(
            float("nan"), estimate.value, estimate.selected, NoBound.UNDEFINED, _flag_text(estimate), estimate
        )
    return LowerBound(estimate.interval.low, estimate.value, estimate.selected, estimate=estimate)


def _of_two_parts(method: TwoPart, evidence: Candidates, first: FirstPart) -> LowerBound:
    if isinstance(first.chosen, str):
        return without_bound(NoBound.NO_SPLIT if first.parts is None else NoBound.UNDEFINED, first.chosen)
    estimate = method.bounded(evidence, first)
    found = _of_rows(estimate)
    if found.failure is None:
        return found
    failure = NoBound.NO_TILT if method.draws else NoBound.UNDEFINED
    if first.chosen.second.lacks():
        failure = NoBound.FEW_OF_A_CLASS
    elif estimate.value == 1:
        failure = NoBound.PERFECT
    return replace(found, failure=failure)


def _drawn_more(first: FirstPart) -> FirstPart:
    """The same choice with the bootstraps of tilting."""
    if isinstance(first.chosen, str):
        return first
    second = first.chosen.second
    settings = replace(second.settings, n_bootstraps=TILTING_TIMES * second.settings.n_bootstraps)
    return first._replace(chosen=first.chosen._replace(second=replace(second, settings=settings)))


def _flag_text(estimate: Estimate) -> str:
    return " ".join(estimate.flags.values())


def methods_for(task: TaskName, metric: str) -> tuple[str, ...]:
    """The methods that bound a metric of a task; those of two parts are for two classes alone.

    Examples
    --------
    >>> methods_for("survival", "concordance_index")
    ('bbc', 'bbc_f', 'naive_bootstrap')
    >>> len(methods_for("binary", "roc_auc")) == len(METHODS)
    True
    """
    found = metric_named(metric)
    return tuple(
        name
        for name, method in METHODS.items()
        if not isinstance(method, TwoPart) or (task == "binary" and method.unfit_metric(found) is None)
    )


def checked_metric(metric: str | None, task: TaskName) -> str:
    """One of the metrics of a task; the first by default."""
    metrics = METRICS[task]
    if metric is not None and metric not in metrics:
        raise InputError(
            f"metric must be {' or '.join(metrics)} for a {task} task, got {metric!r}.", argument="metric"
        )
    return metric or metrics[0]


def checked_methods(
    methods: Sequence[str] | str | None, task: TaskName, metric: str | None = None
) -> tuple[str, ...]:
    """Names of methods that bound the metric, each once, in the order of the article's tables."""
    metric = metric or METRICS[task][0]
    able = methods_for(task, metric)
    of = f" of a {task} task" if metric == METRICS[task][0] else f" of the {metric} of a {task} task"
    listed = able if methods is None else checked_names("methods", methods, able, of=of)
    return tuple(name for name in able if name in listed)


def checked_level(level: Any) -> float:
    """A confidence level above .5 and below 1."""
    number = isinstance(level, float | int | np.floating) and not isinstance(level, bool)
    if not number or not 0.5 < level < 1:
        raise InputError(
            f"confidence_level must be above .5 and below 1, got {level!r}.", argument="confidence_level"
        )
    return float(level)

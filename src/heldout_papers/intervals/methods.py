"""What each method says of one matrix of held-out predictions: a lower bound, of which configuration, or why none.

The methods are those of the library, as ``heldout.estimate(..., alternative="greater")`` answers by them. All of
them share one reading of the matrix and one set of draws, and those that choose alike share the choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from heldout.errors import InputError
from heldout.estimates.base import Evidence, Method
from heldout.estimates.inputs import Inputs, read_inputs
from heldout.estimates.methods.bbc import BBC
from heldout.estimates.methods.bbc_f import BBCF
from heldout.estimates.methods.naive_bootstrap import NaiveBootstrap
from heldout.estimates.methods.two_part.delong import DeLong
from heldout.estimates.methods.two_part.hanley_mcneil import HanleyMcNeil
from heldout.estimates.methods.two_part.mabt import MABT
from heldout.estimates.methods.two_part.template import FirstPart, TwoPart
from heldout.estimates.methods.two_part.tilting import Tilting
from heldout.estimates.types import Estimate
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions

TaskName: TypeAlias = Literal["binary", "multiclass", "regression"]
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
SELECTORS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "all rows": ("bbc", "bbc_f"),
        "best of 75 %": ("delong", "hanley_mcneil", "tilting"),
        "best tenth of 75 %": ("delong_10p", "hanley_mcneil_10p", "tilting_10p", "mabt"),
    }
)
"""Who chooses alike, and so has one true performance (section 5; ``naive_bootstrap`` chooses as ``bbc_f``)."""
OTHERS = (*SELECTORS["best of 75 %"], *SELECTORS["best tenth of 75 %"])
"""The methods of two parts."""
METRICS: Mapping[TaskName, str] = MappingProxyType(
    {"binary": "roc_auc", "multiclass": "roc_auc_ovo", "regression": "r2"}
)
FOR_TASK: Mapping[TaskName, tuple[str, ...]] = MappingProxyType(
    {
        "binary": tuple(METHODS),
        "multiclass": ("bbc", "bbc_f", "naive_bootstrap"),
        "regression": ("bbc", "bbc_f", "naive_bootstrap"),
    }
)
"""The methods that can be asked."""
TILTING_TIMES = 2
"""Bootstraps of tilting for each of the others: 2000 and 1000, as published."""


class Failure(StrEnum):
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
class Settings:
    """What all methods of a study are asked with.

    Attributes
    ----------
    task : "binary", "multiclass" or "regression"
        The area under the ROC curve, Hand and Till's of several classes, or R².
    methods : tuple of str
        Some of ``FOR_TASK[task]``.
    n_bootstraps : int
        Twice as many for tilting.
    confidence_level : float
        Of the one-sided interval.
    """

    task: TaskName = "binary"
    methods: tuple[str, ...] = tuple(METHODS)
    n_bootstraps: int = 1000
    confidence_level: float = 0.95


@dataclass(frozen=True, eq=False)
class Found:
    """What a method says of a matrix.

    Attributes
    ----------
    low : float
        The lower bound; NaN where there is none.
    value : float
        The point value; NaN where there is none.
    selected : int
        The configuration that it is of; -1 where none was chosen.
    failure : Failure or None
        Why there is no bound.
    why : str
        The same as a sentence, of this matrix.
    estimate : Estimate or None
    """

    low: float
    value: float
    selected: int
    failure: Failure | None = None
    why: str = ""
    estimate: Estimate | None = None

    def percentile(self, truth: float) -> float:
        """The share of what the method holds possible that is up to the truth: uniform where it is calibrated.

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


def failed(failure: Failure, why: str) -> Found:
    """No bound, and nothing chosen."""
    return Found(float("nan"), float("nan"), -1, failure, why)


def bounds(
    y: NDArray[Any], scores: Floats, folds: NDArray[np.intp], settings: Settings, seed: int
) -> dict[str, Found]:
    """What each of the methods says of a matrix.

    Parameters
    ----------
    y : ndarray of shape (N,)
        0 and 1; codes 0 .. n_classes - 1; or numbers.
    scores : ndarray of shape (N, C) or (N, C, n_classes)
        Of several classes one a class, which need not be probabilities: the area reads ranks alone.
    folds : ndarray of shape (N,)
        The fold in which each row was held out.
    settings : Settings
    seed : int
        Of all draws: that of ``random_state`` in ``heldout.estimate``.

    Returns
    -------
    dict of str to Found
        In the order of ``settings.methods``. A method that refuses the matrix is among them, as a failure.

    Examples
    --------
    >>> from heldout_papers.simulation import scores_of_auc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 40)
    >>> scores = scores_of_auc(rng, y, rng.beta(9, 6, 30))
    >>> found = bounds(y, scores, np.arange(80) % 5, Settings(methods=("bbc", "delong")), seed=1)
    >>> print({name: round(each.low, 2) for name, each in found.items()})
    {'bbc': 0.57, 'delong': 0.52}
    """
    try:
        asked = asked_of(y, scores, folds, settings, seed)
    except InputError as error:
        return {name: failed(Failure.REFUSED, str(error)) for name in settings.methods}
    found: dict[str, Found] = {}
    first_parts: dict[Any, FirstPart] = {}
    too_few = _too_few(y, folds, settings.task)
    for name in settings.methods:
        method = METHODS[name]
        if isinstance(method, TwoPart) and too_few:
            found[name] = failed(Failure.TOO_FEW_ROWS, too_few)
            continue
        try:
            evidence = asked.evidence(method)
            refused = method.unfit(evidence)
            if refused is not None:
                found[name] = failed(Failure.REFUSED, refused)
            elif isinstance(method, TwoPart):
                if method.candidates not in first_parts:
                    first_parts[method.candidates] = method.first_part(evidence)
                first = first_parts[method.candidates]
                found[name] = _of_two_parts(method, evidence, _drawn_more(first) if method.draws else first)
            else:
                found[name] = _of_rows(method.estimate(evidence))
        except InputError as error:
            found[name] = failed(Failure.REFUSED, str(error))
    return found


def asked_of(y: NDArray[Any], scores: Floats, folds: NDArray[np.intp], settings: Settings, seed: int) -> Inputs:
    """The question as ``heldout.estimate`` puts it.

    Raises
    ------
    InputError
    """
    return read_inputs(
        y,
        _several_classes(y, scores) if settings.task == "multiclass" else scores,
        metric=METRICS[settings.task],
        folds=folds,
        aggregate="pooled",
        n_bootstraps=settings.n_bootstraps,
        confidence_level=settings.confidence_level,
        alternative="greater",
        response="decision" if settings.task == "binary" else "auto",
        random_state=seed,
        n_jobs=1,
    )


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


def _of_rows(estimate: Estimate) -> Found:
    if estimate.interval is None or np.isnan(estimate.interval.low):
        return Found(float("nan"), estimate.value, estimate.selected, Failure.UNDEFINED, _said(estimate), estimate)
    return Found(estimate.interval.low, estimate.value, estimate.selected, estimate=estimate)


def _of_two_parts(method: TwoPart, evidence: Evidence, first: FirstPart) -> Found:
    if isinstance(first.chosen, str):
        return failed(Failure.NO_SPLIT if first.parts is None else Failure.UNDEFINED, first.chosen)
    estimate = method.bounded(evidence, first)
    found = _of_rows(estimate)
    if found.failure is None:
        return found
    failure = Failure.NO_TILT if method.draws else Failure.UNDEFINED
    if first.chosen.second.lacks():
        failure = Failure.FEW_OF_A_CLASS
    elif estimate.value == 1:
        failure = Failure.PERFECT
    return replace(found, failure=failure)


def _drawn_more(first: FirstPart) -> FirstPart:
    """The same choice with the bootstraps of tilting."""
    if isinstance(first.chosen, str):
        return first
    second = first.chosen.second
    settings = replace(second.settings, n_bootstraps=TILTING_TIMES * second.settings.n_bootstraps)
    return first._replace(chosen=first.chosen._replace(second=replace(second, settings=settings)))


def _said(estimate: Estimate) -> str:
    return " ".join(estimate.flags.values())


def checked_methods(methods: Sequence[str] | str | None, task: TaskName) -> tuple[str, ...]:
    """Names of methods that the task has, each once, in the order of the article's tables.

    Raises
    ------
    InputError
    """
    able = FOR_TASK[task]
    listed = list(able) if methods is None else [methods] if isinstance(methods, str) else list(methods)
    stranger = next((name for name in listed if name not in able), None)
    if stranger is not None or not listed:
        raise InputError(
            f"methods of a {task} task must be some of {', '.join(able)}, got {methods!r}.", argument="methods"
        )
    return tuple(name for name in able if name in listed)


def checked_level(level: Any) -> float:
    """A confidence level above .5 and below 1.

    Raises
    ------
    InputError
    """
    number = isinstance(level, float | int | np.floating) and not isinstance(level, bool)
    if not number or not 0.5 < level < 1:
        raise InputError(
            f"confidence_level must be above .5 and below 1, got {level!r}.", argument="confidence_level"
        )
    return float(level)

"""``ho.estimate``: the corrected performance from a matrix of held-out predictions that anyone made."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from heldout._seeding import RandomState, entropy_of
from heldout.columns import array_of
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import method_of
from heldout.estimates.base import Settings
from heldout.estimates.from_arrays import checked_held_out, read_predictions
from heldout.estimates.gather import AGGREGATES, Aggregate, Question, gather
from heldout.estimates.intervals import check_interval_settings
from heldout.estimates.responses import ResponseName
from heldout.estimates.types import Alternative, Estimate
from heldout.kernels.blocks import effective_threads
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric
from heldout.metrics.named import DECLARED
from heldout.predictions import HeldOutPredictions
from heldout.selection import rule_of
from heldout.task import (
    TaskKind,
    Truth,
    checked_groups,
    checked_weights,
    labels_text,
    no_labels,
    target_column,
    truth_of,
)
from heldout.wording import Flag


def estimate(
    y_true: Any,
    predictions: Any,
    *,
    metric: Any,
    method: Any = "bbc",
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    aggregate: Aggregate = "pooled",
    selection: Any = "best",
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    classes: Any = None,
    pos_label: Any = None,
    response: ResponseName = "auto",
    threshold: float | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate the performance of the best of C configurations from their held-out predictions.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        Labels of any one type, or numbers for a regression metric; no missing or masked value.
    predictions : array-like, table or HeldOutPredictions
        (N, C), (N, C, R repeats) or (N, C, R, n_classes), always in that order: what each configuration said of
        each row when it had not seen it. NaN (None for labels) or masked where it was not predicted. Columns and
        tables of pandas and polars will do, here and below.
    metric : str or Metric
        A scikit-learn scorer name (``neg_`` values are negative, as there), a plain function name (``log_loss``,
        ``mean_squared_error``, ...), or ``ho.metrics.custom(...)``.
    method : str or method
        "cv", "tt" or "bbc", or a configured method of ``ho.estimates``.
    folds : array-like of shape (N,) or (N, R), optional
        The fold in which each row was held out; needed by "tt" and by ``aggregate="folds"``.
    groups : array-like of shape (N,), optional
        Rows of one group are drawn together.
    sample_weight : array-like of shape (N,), optional
        Importance weights, of which only the ratios count: they are divided by their mean, and equal ones are none.
    aggregate : "pooled" or "folds"
        The metric over all rows of a repeat, or its mean over folds; then the mean over repeats. "tt" takes the
        mean over folds always.
    selection : str or rule
        How the winner is chosen, on the data and again in every bootstrap.
    n_bootstraps : int
    confidence_level : float
    alternative : "two-sided", "greater" or "less"
        "greater" bounds how bad the performance can be, "less" how good.
    classes : array-like, optional
        The labels in the order of the last axis of ``predictions``; sorted unique ``y_true`` by default.
    pos_label : label, optional
        The positive class of a binary task, which scores point to; the last of ``classes`` by default.
    response : "auto", "labels", "probabilities" or "decision"
        What ``predictions`` are; "auto" asks back where it matters and cannot be told: hard 0 and 1 where the
        first class is positive, numbers beyond [0, 1] that all lie on one side of 0.
    threshold : float, optional
        Where a metric on labels cuts scores: strictly above is positive; .5 for probabilities, 0 for decisions.
    random_state : int, RandomState, Generator or None
        The same seed gives the same bits, for any ``n_jobs``.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    Estimate
        In the metric's own direction and units.

    Raises
    ------
    InputError
        When the input cannot be used as it is, or a setting would do nothing.

    Warns
    -----
    HeldoutWarning
        When configurations failed, or there is no estimate; the flags say so too.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), algorithms 2, 4 and 5.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> guesses = rng.random((200, 50))  # 50 configurations that know nothing
    >>> found = ho.estimate(y, guesses, metric="roc_auc", random_state=0)
    >>> found.uncorrected > 0.55, found.value < 0.55
    (True, True)
    """
    check_interval_settings(n_bootstraps, confidence_level, alternative)
    if aggregate not in AGGREGATES:
        raise InputError(f"aggregate must be one of {', '.join(AGGREGATES)}, got {aggregate!r}.")
    named = metric_named(metric)
    truth = _truth(y_true, named, predictions, classes, pos_label)
    measured = check_fits(named, truth)
    held = _held_out(truth, predictions, measured, response, threshold, folds)
    chosen = method_of(method)
    if chosen.reads == {"fold scores"}:
        if held.folds is None:
            raise InputError(f"method '{chosen.name}' compares scores fold by fold; give folds=, a label a row.")
        aggregate = "folds"  # it corrects the mean over folds, so that is what the winner must be best in
    question = Question(
        metric=measured,
        selected_on={measured.name: measured},
        rule=rule_of(selection),
        aggregate=aggregate,
        settings=Settings(n_bootstraps, confidence_level, alternative, entropy_of(random_state), _threads(n_jobs)),
        groups=checked_groups(groups, truth.n_rows),
        sample_weight=checked_weights(sample_weight, truth.n_rows),
    )
    found = chosen.estimate(gather(truth, held, question))
    for flag in (Flag.FAILED_CONFIGURATIONS, Flag.UNDEFINED, Flag.SELECTION_NOT_REPLAYABLE):
        if flag in found.flags:
            warnings.warn(HeldoutWarning(found.flags[flag]), stacklevel=2)
    return found


def _truth(y_true: Any, metric: Metric, predictions: Any, classes: Any, pos_label: Any) -> Truth:
    if isinstance(predictions, HeldOutPredictions) and predictions.classes is not None:
        return _truth_of_held(y_true, predictions.classes, predictions.positive, classes, pos_label)
    if metric.tasks == {TaskKind.REGRESSION}:
        return truth_of(y_true, TaskKind.REGRESSION, classes=classes, pos_label=pos_label)
    if TaskKind.REGRESSION in metric.tasks:
        return truth_of(y_true, classes=classes, pos_label=pos_label)
    column = target_column(y_true)
    fractions = no_labels(column)
    if classes is None and fractions.any():
        fitting = sorted(known.name for known in DECLARED if TaskKind.REGRESSION in known.tasks)
        raise InputError(
            f"metric '{metric.name}' is for labels, but y_true holds numbers with fractions (such as "
            f"{column[fractions][0]:.6g}); metrics that fit: {', '.join(fitting)}. If they are labels, list "
            "them as classes=."
        )
    return truth_of(column, TaskKind.MULTICLASS, classes=classes, pos_label=pos_label)


def _truth_of_held(y_true: Any, own: Any, positive: int | None, classes: Any, pos_label: Any) -> Truth:
    """The target coded as the predictions are, which a user may repeat but not change."""
    if classes is not None and array_of(classes, "classes").tolist() != np.asarray(own).tolist():
        raise InputError(f"the predictions are of classes {labels_text(own)}, so classes cannot be {classes!r}.")
    if positive is not None:
        label = own[positive]
        if pos_label is not None and (np.ndim(pos_label) or pos_label != label):
            raise InputError(
                f"the predictions point to class {labels_text([label])}, so pos_label cannot be {pos_label!r}."
            )
        pos_label = label
    return truth_of(y_true, TaskKind.MULTICLASS, classes=own, pos_label=pos_label)


def _held_out(
    truth: Truth, predictions: Any, metric: Metric, response: ResponseName, threshold: float | None, folds: Any
) -> HeldOutPredictions:
    read = checked_held_out if isinstance(predictions, HeldOutPredictions) else read_predictions
    return read(truth, predictions, metric, response=response, threshold=threshold, folds=folds)


def _threads(n_jobs: Any) -> int:
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise InputError(f"n_jobs must be None or an integer other than 0, got {n_jobs!r}; -1 uses all cores.")
    return effective_threads(None if n_jobs is None else int(n_jobs))

"""What a search will lack: splits with a score, rows for a bootstrap; and warnings of it before the first fit."""

from __future__ import annotations

import warnings

import numpy as np
from joblib import cpu_count, effective_n_jobs

from heldout.data.task import Task, Truth
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.candidates import check_drawable
from heldout.execution.fit import Scoring
from heldout.execution.inner_split import can_stop
from heldout.execution.search import Search
from heldout.execution.threads import asks_for_threads
from heldout.flags import Flag
from heldout.folds.splits import Folds
from heldout.metrics.base import Metric, Needs, fitted, positive_of


def unscored_splits(metric: Metric | None, truth: Truth, folds: Folds, *, all_of_them: bool = False) -> str:
    """What the metric needs of every split and some lack, as a sentence without its end; empty if none lacks it.

    By default one split that lacks what makes a score mean something is enough; with ``all_of_them`` every split
    must lack what scikit-learn needs for a score. The needs of a scorer that cannot be opened (None) are unknown.

    Examples
    --------
    >>> from heldout.folds.leave_out import leave_one_out
    >>> from heldout.folds.splits import make_folds
    >>> from heldout.metrics import metric_named
    >>> from heldout.data.task import Task, truth_of
    >>> task = Task(np.zeros((6, 1)), truth_of([0, 1] * 3))
    >>> unscored_splits(metric_named("roc_auc"), task.truth, make_folds(task, leave_one_out()))
    'roc_auc needs a row of every class, which 6 of 6 test parts lack'
    >>> unscored_splits(metric_named("accuracy"), task.truth, make_folds(task, leave_one_out()))
    ''
    """
    if metric is None:
        return ""
    bound = fitted(metric, truth)
    needs = bound.undefined_without if all_of_them else bound.needs
    if needs is Needs.ROW:
        return ""  # no split tests nothing
    positive = positive_of(bound, truth)
    lacking = 0
    for split in folds.splits:
        rows = truth.rows(split.test)
        lacking += not needs.met(bound.truth_for_needs(rows), positive, np.ones((1, len(split.test))))[0]
    if lacking < (folds.n_splits if all_of_them else 1):
        return ""
    return f"{metric.name} needs {needs}, which {lacking} of {folds.n_splits} test parts lack"


def too_few_to_draw(task: Task, scoring: Scoring) -> str | None:
    """Why no bootstrap can score this task, in one sentence; None where it can."""
    units = np.arange(task.n_rows) if task.groups is None else np.unique(task.groups, return_inverse=True)[1]
    metrics = [metric for metric in scoring.metrics.values() if metric is not None]
    try:
        check_drawable(task.truth, units, metrics, task.groups is not None)
    except InputError as error:
        return str(error)
    return None


def warn_if_too_small(search: Search) -> bool:
    """Warn, before any fit, if no split has a score or no bootstrap can be drawn; returns whether it warned."""
    reason = too_few_to_draw(search.task, search.scoring) if search.estimation.draws else None
    if search.estimation.method is not None and search.estimation.scale_of_selection == "folds":
        metric = search.scoring.metrics.get(search.scoring.refit_metric)
        reason = unscored_splits(metric, search.task.truth, search.folds, all_of_them=True) or reason
    if reason:
        warnings.warn(HeldoutWarning(f"the search will have no estimate: {reason}"), stacklevel=3)
    return bool(reason)


OF_DATA = (Flag.COPIED_ROWS, Flag.SORTED_ROWS)
"""What rows show, which is said beside the estimate; a setting that was asked for is warned of before it costs."""


def warn_of_settings(search: Search, n_jobs: int | None) -> None:
    """Warn, before any fit, of what its estimate will be flagged for, and of models that are held to one thread."""
    for flag, sentence in search.flags.items():
        if flag not in OF_DATA:
            warnings.warn(HeldoutWarning(sentence), stacklevel=3)
    templates = {id(each.template): each.template for each in search.configurations}.values()
    if n_jobs is None and effective_n_jobs(None) == 1 < cpu_count() and any(map(asks_for_threads, templates)):
        sentence = (
            "every fit runs on one thread, whatever the model's own number of threads says, and the search is one "
            f"job; `n_jobs={cpu_count()!r}` would use all cores of this machine."
        )
        warnings.warn(HeldoutWarning(sentence), stacklevel=3)
    split = search.early_stopping
    if split is not None and not any(can_stop(each.fresh()) for each in search.configurations):
        sentence = f"`early_stopping={split.words}` had no effect: none of the models proposed can stop early."
        warnings.warn(HeldoutWarning(sentence), stacklevel=3)

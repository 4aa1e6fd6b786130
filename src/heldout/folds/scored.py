"""The splits that a metric can score by themselves, checked before any fit."""

from __future__ import annotations

import numpy as np

from heldout.data.task import Truth
from heldout.folds.splits import Folds
from heldout.metrics.base import Metric, fitted, positive_of


def unscored_splits(metric: Metric | None, truth: Truth, folds: Folds, *, all_of_them: bool = False) -> str:
    """What the metric needs of every split and some lack, as a sentence without its end; empty if none lacks it.

    - ``metric``: None for a scorer that cannot be opened: its needs are unknown.
    - ``all_of_them``: whether to tell only of splits that all lack what makes a score, and then of scikit-learn's
      least demands; else one that lacks what makes the score mean something is enough.

    Examples
    --------
    >>> from heldout.folds.plans import leave_one_out
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
    positive = positive_of(bound, truth)
    lacking = 0
    for split in folds.splits:
        rows = truth.rows(split.test)
        lacking += not needs.met(bound.truth_for_needs(rows), positive, np.ones((1, len(split.test))))[0]
    if lacking < (folds.n_splits if all_of_them else 1):
        return ""
    return f"{metric.name} needs {needs}, which {lacking} of {folds.n_splits} test parts lack"

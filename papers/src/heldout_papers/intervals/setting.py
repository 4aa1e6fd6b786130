"""Settings of the simulated part, and a matrix of held-out predictions whose truth is known for each repetition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout.errors import InputError
from heldout_papers.censored import censored_times, risks_of_concordance
from heldout_papers.engine.arguments import checked_beta, checked_sizes
from heldout_papers.intervals.methods import (
    LEAST_EVENTS,
    METRICS,
    OF_LABELS,
    BoundSettings,
    Floats,
    TaskName,
    checked_level,
    checked_methods,
    checked_metric,
)
from heldout_papers.simulation import (
    f1_of_recalls,
    labels_of_recalls,
    predictions_of_r2,
    scores_of_auc,
    scores_of_class_aucs,
)

ROWS = (500, 50)
CONFIGURATIONS = (100, 500)
BETAS = ((24.0, 6.0), (9.0, 6.0))
"""The article's, in the order of its table 2."""
CLASSES = 5
"""Of the multi-class variant."""
PREVALENCES = MappingProxyType(
    {"binary": (0.1, 0.5), "multiclass": (0.1, 1 / CLASSES), "regression": (None,), "survival": (0.3, 0.7)}
)
"""The share of the rarest class, of which the others share the rest; of survival the expected share of events."""


@dataclass(frozen=True)
class IntervalSetting:
    """One row of table 2.

    Attributes
    ----------
    rows, configurations : int
        N and C.
    prevalence : float or None
        The share of the first class (of class 1 of two), or of events; None for numbers.
    beta : (float, float)
        Of the distribution of true performances.
    most_folds : int
        K, where the rarest class has as many rows.
    settings : BoundSettings
        What the methods share.
    """

    rows: int
    configurations: int
    prevalence: float | None
    beta: tuple[float, float]
    most_folds: int
    settings: BoundSettings

    @property
    def task(self) -> TaskName:
        return self.settings.task

    @property
    def outcome(self) -> NDArray[np.intp]:
        """(N,): class codes, sorted; so many of each as its share says, rounded."""
        if self.task == "binary":
            rare = _rounded(self.prevalence, self.rows)
            return np.repeat([0, 1], [self.rows - rare, rare])
        share = float(self.prevalence or 0.0)
        ends = np.cumsum([share, *[(1 - share) / (CLASSES - 1)] * (CLASSES - 1)])
        sizes = np.diff(np.floor(ends * self.rows + 0.5), prepend=0.0)
        return np.repeat(np.arange(CLASSES), sizes.astype(np.intp))

    @property
    def metric(self) -> str:
        return self.settings.metric

    @property
    def rarest(self) -> int:
        """Rows of the rarest class, or what limits the folds where there are none.

        Half of the rows of numbers, as a spread needs two of them, and half of the expected events.
        """
        if self.task == "survival":
            return int(float(self.prevalence or 0.0) * self.rows / LEAST_EVENTS)
        return self.rows // 2 if self.task == "regression" else int(np.bincount(self.outcome).min())

    @property
    def folds(self) -> int:
        """K = min(most folds, rows of the rarest class)."""
        return min(self.most_folds, self.rarest)


def _rounded(share: float | None, rows: int) -> int:
    return int(np.floor(float(share or 0.0) * rows + 0.5))


@dataclass(frozen=True, eq=False)
class IntervalMatrix:
    """One simulated search."""

    y: NDArray[Any]  # (N,)
    scores: NDArray[Any]  # (N, C) or (N, C, n_classes)
    folds: NDArray[np.intp]  # (N,)
    truth: Floats  # (C,): the true performance of each configuration
    seed: int  # Of everything that the methods draw

    @classmethod
    def drawn(cls, setting: IntervalSetting, entropy: int, repetition: int) -> IntervalMatrix:
        """The matrix of a repetition; it does not depend on the methods and their settings."""
        place = [
            str(part)
            for part in (setting.task, setting.rows, setting.configurations, setting.prevalence, setting.beta)
        ]
        # The matrices of a task's first metric are those of earlier versions.
        place += [setting.settings.other_metric] if setting.settings.other_metric else []
        rng = np.random.Generator(np.random.Philox(key=stream(entropy, "study intervals", *place, repetition)))
        y, scores, truth = _simulated(rng, setting)
        # Of rows sorted by class, or by event: i mod K deals the rows of each class out to the folds.
        folds = np.arange(setting.rows) % setting.folds
        return cls(y, scores, folds, truth, stream(entropy, "study intervals draws", *place, repetition))


def _simulated(rng: np.random.Generator, setting: IntervalSetting) -> tuple[NDArray[Any], Floats, Floats]:
    """The outcome, the scores and the truth."""
    n = setting.configurations
    if setting.metric in OF_LABELS:
        return _labels(rng, setting)
    if setting.task == "survival":
        events, truth = float(setting.prevalence or 0.0), rng.beta(*setting.beta, size=n)
        y, risk = censored_times(rng, setting.rows, events)
        order = np.argsort(y["event"], kind="stable")
        y, risk = y[order], risk[order]
        return y, risks_of_concordance(rng, risk, truth, events), truth
    if setting.task == "multiclass":
        areas = rng.beta(*setting.beta, size=(n, CLASSES, CLASSES))
        truth = areas[:, ~np.eye(CLASSES, dtype=bool)].mean(axis=1)
        return setting.outcome, scores_of_class_aucs(rng, setting.outcome, areas), truth
    truth = rng.beta(*setting.beta, size=n)
    if setting.task == "binary":
        return setting.outcome, scores_of_auc(rng, setting.outcome, truth), truth
    numbers = rng.standard_normal(setting.rows)
    return numbers, predictions_of_r2(rng, numbers, truth), truth


def _labels(rng: np.random.Generator, setting: IntervalSetting) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Labels that are right with a probability from Be(a, b), for all rows or for the rows of each class."""
    n, y = setting.configurations, setting.outcome
    n_classes = int(y.max()) + 1
    if setting.metric == "accuracy":
        truth = rng.beta(*setting.beta, size=n)
        return y, labels_of_recalls(rng, y, np.repeat(truth[:, None], n_classes, axis=1)), truth
    recalls = rng.beta(*setting.beta, size=(n, n_classes))
    truth = f1_of_recalls(recalls, float(y.mean())) if setting.metric == "f1" else recalls.mean(axis=1)
    return y, labels_of_recalls(rng, y, recalls), truth


def checked_settings(
    rows: Any,
    configurations: Any,
    prevalence: Any,
    beta: Any,
    *,
    task: str,
    metric: str | None = None,
    folds: int,
    n_bootstraps: int,
    methods: Sequence[str] | str | None,
    confidence_level: float,
) -> tuple[IntervalSetting, ...]:
    """Every setting, in the order of table 2."""
    known = next((name for name in METRICS if name == task), None)
    if known is None:
        raise InputError(f"task must be one of {', '.join(METRICS)}, got {task!r}.", argument="task")
    measured = checked_metric(metric, known)
    named = checked_methods(methods, known, measured)
    (folds,), (n_bootstraps,) = checked_sizes("folds", folds, 2), checked_sizes("n_bootstraps", n_bootstraps, 1)
    level = checked_level(confidence_level)
    sizes = checked_sizes("rows", rows, 4), checked_sizes("configurations", configurations, 2)
    shared = BoundSettings(known, named, n_bootstraps, level, "" if measured == METRICS[known][0] else measured)
    settings = tuple(
        IntervalSetting(n, c, share, pair, folds, shared)
        for pair, n, c, share in product(
            dict.fromkeys(checked_beta(beta)), *sizes, _checked_prevalence(prevalence, known)
        )
    )
    scarce = next((one for one in settings if one.rarest < 2), None)
    if scarce is not None and known == "survival":
        raise InputError(
            f"two folds need {2 * LEAST_EVENTS} events, and with `rows={scarce.rows!r}` and "
            f"`prevalence={scarce.prevalence!r}` {scarce.rarest * LEAST_EVENTS} are expected; take more."
        )
    if scarce is not None:
        raise InputError(
            f"each class needs 2 rows to be in one fold and out of it, and with `rows={scarce.rows!r}` and "
            f"`prevalence={scarce.prevalence!r}` the rarest has {scarce.rarest}; take more of either."
        )
    return settings


def _checked_prevalence(prevalence: Any, task: TaskName) -> tuple[float | None, ...]:
    if prevalence is None:
        return PREVALENCES[task]
    if task == "regression":
        raise InputError(
            f"prevalence is the share of a class, and a regression task has none; got {prevalence!r}.",
            argument="prevalence",
        )
    most = {"binary": 1 / 2, "multiclass": 1 / CLASSES}.get(task, 1.0)
    try:
        shares = np.asarray(prevalence, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if not shares.size or not ((shares > 0) & (shares <= most)).all():
        raise InputError(
            f"prevalence must be above 0 and up to {most:g}, got {prevalence!r}.", argument="prevalence"
        )
    return tuple(dict.fromkeys(float(share) for share in shares))

"""The settings of a bias study, and the check of its arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.metrics.base import Metric
from heldout.metrics.classification import Accuracy
from heldout.metrics.ranking import RocAuc
from heldout.metrics.regression import MeanSquaredError
from heldout_papers.engine.arguments import checked_beta, checked_sizes

ROWS = (20, 40, 60, 80, 100, 500, 1000)
CONFIGURATIONS = (50, 100, 200, 300, 500, 1000, 2000)
BETAS = ((9.0, 6.0), (14.0, 6.0), (24.0, 6.0), (54.0, 6.0))
"""The article's: means of .6, .7, .8 and .9."""
ACCURACY, ROC_AUC, SQUARED_ERROR = "accuracy", "roc_auc", "mean_squared_error"
METRICS: Mapping[str, Metric] = MappingProxyType(
    {ACCURACY: Accuracy(), ROC_AUC: RocAuc(), SQUARED_ERROR: MeanSquaredError()}
)
PREVALENCE = 0.5


@dataclass(frozen=True)
class BiasSetting:
    """One cell of the study's design.

    Attributes
    ----------
    rows, configurations, folds, n_bootstraps : int
        N, C, K and B.
    beta : (float, float)
        Of the distribution of true accuracies, areas or shares of variance explained.
    protocols : tuple of str
    metric : str
        Of ``METRICS``.
    prevalence : float or None
        The share of rows of class 1; None where the metric needs no classes.
    """

    rows: int
    configurations: int
    beta: tuple[float, float]
    folds: int
    n_bootstraps: int
    protocols: tuple[str, ...]
    metric: str = ACCURACY
    prevalence: float | None = None

    @property
    def n_positive(self) -> int:
        """Rows of class 1, as near to the prevalence as whole rows come."""
        return 0 if self.prevalence is None else round(self.rows * self.prevalence)

    @property
    def flattering(self) -> int:
        """1 where more than the truth flatters, -1 where less does."""
        return 1 if METRICS[self.metric].greater_is_better else -1


def checked_settings(
    rows: Any, configurations: Any, beta: Any, folds: Any, n_bootstraps: Any, protocols: tuple[str, ...],
    metric: Any, prevalence: Any,
) -> tuple[BiasSetting, ...]:  # fmt: skip
    """Every combination of beta, rows and configurations."""
    metric = _checked_metric(metric)
    share = _checked_prevalence(prevalence, metric)
    sizes = checked_sizes("rows", rows, 2), checked_sizes("configurations", configurations, 2)
    (folds,) = checked_sizes("folds", folds, 2)
    (n_bootstraps,) = checked_sizes("n_bootstraps", n_bootstraps, 1)
    if min(sizes[0]) < folds:
        got = f"`folds={folds!r}` and `rows={min(sizes[0])!r}`"
        raise InputError(
            f"folds must be at most the number of rows, got {got}.",
            argument="folds",
        )
    settings = tuple(
        BiasSetting(n, c, pair, folds, n_bootstraps, protocols, metric, share)
        for pair, n, c in product(checked_beta(beta), *sizes)
    )
    for setting in settings:
        _check_both_classes(setting)
    return settings


def _check_both_classes(setting: BiasSetting) -> None:
    rarer = min(setting.n_positive, setting.rows - setting.n_positive)
    if setting.prevalence is not None and rarer < setting.folds:
        raise InputError(
            f"every fold must hold both classes, and of `rows={setting.rows!r}` with "
            f"`prevalence={setting.prevalence!r}` only {rarer} are of the rarer one, fewer than "
            f"`folds={setting.folds!r}`; ask for more rows, or for fewer folds."
        )


def _checked_metric(metric: Any) -> str:
    if not isinstance(metric, str) or metric not in METRICS:
        raise InputError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}.", argument="metric")
    return metric


def _checked_prevalence(prevalence: Any, metric: str) -> float | None:
    if metric != ROC_AUC:
        if prevalence is not None:
            raise InputError(
                f"`prevalence={prevalence!r}` is for `metric={ROC_AUC!r}`, whose rows have classes; leave it out.",
                argument="prevalence",
            )
        return None
    if prevalence is None:
        return PREVALENCE
    number = isinstance(prevalence, int | float | np.floating) and not isinstance(prevalence, bool)
    if not number or not 0 < prevalence < 1:
        raise InputError(f"prevalence must be a number between 0 and 1, got {prevalence!r}.", argument="prevalence")
    return float(prevalence)

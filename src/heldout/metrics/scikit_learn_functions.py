"""scikit-learn's functions by name: those that have a kernel, and what is known of those that are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np

from heldout.metrics.agreement import CohenKappa
from heldout.metrics.base import Metric, Needs, Response
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
from heldout.metrics.operating_points import PartialRocAuc
from heldout.metrics.parameters import is_number
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

Builder = Callable[..., Metric | None]

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
    # Without labels scikit-learn makes its scale of those that occur.
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


KERNELS_OF: dict[str, Builder] = {
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

"""A metric as a function of true values and predictions, which is what a scorer of scikit-learn holds."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.arrays import has_fields
from heldout.data.task import TaskKind, Truth, codes_of, labels_text, survival_target, truth_of
from heldout.errors import InputError
from heldout.metrics.base import Metric, Response, fitted, positive_of
from heldout.metrics.by_kind import reads_as_numbers


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
        metric = fitted(self.metric, truth)
        if truth.classes is not None:
            predicted = self._of_classes(predicted, truth.classes)
        once = np.ones((1, truth.n_rows), dtype=np.uint8)
        weights = once if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)[None, :]
        if not metric.undefined_without.met(truth, positive_of(metric, truth), weights)[0]:
            return float("nan")
        return float(metric.statistic(truth, predicted[:, None]).all(weights)[0, 0])

    def _of_classes(self, predicted: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
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

    def _truth(self, y_true: NDArray[Any], predicted: NDArray[Any], pos_label: Any) -> Truth | None:
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

"""True values with held-out predictions of them, as ``ho.read_predictions`` finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from heldout import _defaults
from heldout._record import Shown, TextTable, fields_table
from heldout._text import counted
from heldout._types import Array, Booleans, Codes, Floats
from heldout.data.task import TaskKind, Truth, truth_of
from heldout.errors import InputError
from heldout.estimates.input_arrays import (
    ROUNDING,
    ResponseName,
    check_cuts,
    check_settings,
    checked_held_out,
    cut,
    read_as,
    refuse_labels,
    threshold_of_reading,
    training_rows_of,
)
from heldout.estimates.inputs import truth_for
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response
from heldout.predictions import HeldOutPredictions
from heldout.readers import prediction_columns
from heldout.readers.columns import plain, quoted
from heldout.selection import Rule

OFF_ONE = 0.0201
"""How far from 1 the sum of probabilities lies at most, which may be rounded to two decimals."""
CLOSE = 0.002
"""Probabilities that differ by less may be equal ones that were rounded."""
FEWEST = 5
"""Rows with each of two labels from which these are compared."""
LEAST_AGREEMENT = 0.9
"""The AUC of probabilities by their own labels, 1 where one threshold cut them; thresholds may differ by fold."""


def task_kind(classes: Array | None) -> TaskKind:
    """The kind of a task by its classes, None for numbers."""
    if classes is None:
        return TaskKind.REGRESSION
    return TaskKind.BINARY if len(classes) == 2 else TaskKind.MULTICLASS


def flagged(predictions: HeldOutPredictions, truth: Truth) -> HeldOutPredictions:
    """The predictions of all classes with flags of what contradicts itself; refused are wrong probabilities.

    Labels need not be of the greatest probability: a threshold may have cut them. But rows with one label have
    greater probabilities of it than rows with another, of a pair of classes: an AUC near 1.
    """
    names, flags = predictions.names, {**predictions.flags}
    labels, probabilities = map(predictions.responses.get, (Response.LABELS, Response.PROBABILITIES))
    if probabilities is None:
        return predictions
    check_probabilities(probabilities, names)
    flags |= prediction_columns.exchanged(truth.values, probabilities, names)
    odd = [
        name
        for j, name in enumerate(names)
        if labels is not None and _contradict(labels[:, j], probabilities[:, j])
    ]
    if odd:
        flags |= Flag.LABELS_CONTRADICT_PROBABILITIES.of(lacking=len(odd), total=len(names), which=quoted(odd, 3))
    return replace(predictions, flags=flags)


def of_positive(
    predictions: HeldOutPredictions,
    truth: Truth,
    response: ResponseName = _defaults.RESPONSE,
    threshold: float | None = None,
) -> HeldOutPredictions:
    """From predictions of all classes those whose scores point to the positive class of a target.

    Parameters
    ----------
    response : "auto", "labels" or "probabilities"
        Which of what the tool wrote is used; "auto" keeps both. Labels that it did not write, or that are not used,
        are those of the greatest probability.
    threshold : float, optional
        Cuts the probability of the positive class into labels, in place of those that the tool wrote.
    """
    check_settings(response, threshold)
    responses: dict[Response, Array] = {
        kind: array for kind, array in predictions.responses.items() if response in ("auto", kind)
    }
    probabilities = responses.get(Response.PROBABILITIES)
    for argument, value, fits in (
        ("response", response, bool(responses)),
        ("threshold", threshold, threshold is None or probabilities is not None),
    ):
        if not fits:
            names = sorted("numbers" if kind is Response.VALUES else kind for kind in predictions.responses)
            raise InputError(
                f"`{argument}={value!r}` does not fit a table that holds {' and '.join(names)}; leave it out."
            )
    if probabilities is not None:
        scores = probabilities if truth.positive is None else probabilities[..., truth.positive]
        responses[Response.PROBABILITIES] = scores
        if Response.LABELS not in responses or threshold is not None:
            responses[Response.LABELS] = cut(truth, scores, Response.PROBABILITIES, threshold)
    first = next(iter(responses.values()))
    present = first >= 0 if first.dtype.kind == "i" else ~np.isnan(first)
    tested: Booleans = np.any(present.reshape(*first.shape[:3], -1), axis=(1, 3))
    return replace(
        predictions,
        responses=responses,
        positive=None if Response.VALUES in responses else truth.positive,
        training_rows=training_rows_of(predictions.folds, tested),
    )


def check_probabilities(values: Floats, names: Sequence[str], *, of_classes: bool = True) -> None:
    """Refuse numbers (N, C, R[, K]) beyond [0, 1], and those of K classes that do not sum to 1."""
    if values.ndim == 4:
        values = values[..., ::-1]  # the first of two classes may be 1 minus what the file holds
    beyond = (values < -ROUNDING) | (values > 1 + ROUNDING)
    sums = values.sum(axis=-1) if of_classes and values.ndim == 4 else np.ones(1)
    off = np.abs(sums - 1) > OFF_ONE
    for wrong, what in ((beyond, "has {:.6g} as a probability"), (off, "has probabilities that sum to {:.4g}")):
        if wrong.any():
            row, column = np.argwhere(wrong)[0][:2]
            value = (values if wrong is beyond else sums)[wrong][0]
            raise InputError(
                f"{plain(names[column])} {what.format(value)} in row {row + 1}; probabilities lie in [0, 1], and "
                "those of all classes sum to 1: is a column missing, or the file damaged?"
            )


def _contradict(labels: Codes, probabilities: Floats) -> bool:
    """Whether labels (N, R) do not go with probabilities (N, R, K), for some pair of classes."""
    present = (labels >= 0) & ~np.isnan(probabilities).any(axis=-1)
    labels, probabilities = labels[present], probabilities[present]
    chosen = np.take_along_axis(probabilities, labels[:, None].astype(np.intp), axis=1)[:, 0]
    if (probabilities.max(axis=1, initial=0) - chosen <= CLOSE).all():
        return False
    for one, other in combinations(np.flatnonzero(np.bincount(labels) >= FEWEST), 2):
        rows = (labels == one) | (labels == other)
        share = probabilities[rows, one] - probabilities[rows, other]
        if roc_auc_score(labels[rows] == one, share) < LEAST_AGREEMENT:
            return True
    return False


@dataclass(frozen=True)
class Source:
    """The origin of predictions; its text is one line for people."""

    name: str = "the predictions"
    """The file as the user wrote it, or what the object is."""
    format: str = "wide"
    """The name of the format that was recognised."""
    title: str = "a table with a column for each configuration"
    """The format for people."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """What was found where: such as ``{"truth": "obs", "folds": "Resample"}``."""

    def __str__(self) -> str:
        found = ", ".join(f"{use} {column}" for use, column in self.columns.items())
        return f"{self.name} is read as {self.title}" + (f": {found}." if found else ".")


@dataclass(frozen=True, eq=False)
class PredictionTable(Shown):
    """Predictions that ``ho.read_predictions`` read: of N rows by C configurations in R repeats, with true values.

    Attributes
    ----------
    truth : ndarray of shape (N,)
        Labels, or numbers; a structured array of ``event`` and ``time`` for survival.
    predictions : HeldOutPredictions or ColumnPredictions
        The latter if the source does not say what its columns contain: the metric decides whether they are labels,
        scores or numbers.
    folds : ndarray of shape (N,) or (N, R), or None
    groups, sample_weight : ndarray of shape (N,), or None
    source : Source
        What was recognised; ``str(table.source)`` is one line.
    arrays : HeldOutPredictions or None
        The predictions of all classes, whichever is positive, if the tool says what they are: probabilities of
        shape (N, C, R, K), also of two classes.
    remarks : tuple of str
        Sentences about assumptions that were made.
    """

    truth: Array
    predictions: HeldOutPredictions | prediction_columns.ColumnPredictions
    folds: Array | None = None
    groups: Array | None = None
    sample_weight: Array | None = None
    source: Source = Source()
    arrays: HeldOutPredictions | None = None
    remarks: tuple[str, ...] = ()

    @property
    def held(self) -> HeldOutPredictions | None:
        """The predictions where it is known what they are; None where the metric decides."""
        return self.predictions if isinstance(self.predictions, HeldOutPredictions) else None

    @property
    def columns(self) -> prediction_columns.ColumnPredictions | None:
        """The columns of predictions where the metric decides what they are."""
        return self.predictions if isinstance(self.predictions, prediction_columns.ColumnPredictions) else None

    @property
    def has_probabilities(self) -> bool:
        """Whether the tool wrote probabilities of each class."""
        return self.arrays is not None and Response.PROBABILITIES in self.arrays.responses

    def known_truth(self, pos_label: Any = None) -> Truth | None:
        """The target coded as a tool's predictions are; of two classes the last is positive by default."""
        if self.arrays is None:
            return None
        classes = self.arrays.classes
        return truth_of(self.truth, task_kind(classes), classes=classes, pos_label=pos_label)

    def guessed_metric(self, truth: Truth) -> str:
        """A metric that fits: that of the kind of task, but accuracy of two classes that are given as labels."""
        from heldout.readers.table_task import DEFAULT_METRICS  # which loads the presets

        if truth.kind is not TaskKind.BINARY:
            return DEFAULT_METRICS[truth.kind]
        if self.columns is not None:
            scores = prediction_columns.holds_scores(
                self.columns, prediction_columns.prediction_columns_of(self.columns, truth), truth
            )
        else:
            scores = self.has_probabilities
        return DEFAULT_METRICS[TaskKind.BINARY if scores else TaskKind.MULTICLASS]

    def held_for(
        self, truth: Truth, metric: Metric, rule: Rule, *, response: ResponseName, threshold: float | None
    ) -> tuple[HeldOutPredictions, float | None]:
        """What a metric and a selection rule read, and the threshold where it is applied to averages only.

        Columns that the metric cannot read, or could read in two ways, are refused.
        """
        cut = threshold_of_reading(rule, [metric], threshold)
        averaged = threshold if cut is None else None
        if self.arrays is not None:
            check_cuts(metric, cut)
            return of_positive(self.arrays, truth, response, cut), averaged
        if self.columns is None:
            assert self.held is not None, "predictions are columns, or known"
            return checked_held_out(truth, self.held, metric, response=response, threshold=cut), averaged
        heads = prediction_columns.prediction_columns_of(self.columns, truth)
        prediction_columns.check_kinds(self.columns, heads, truth, metric)
        if not heads.per_class:
            refuse_labels(rule, truth, self.columns.frame, response)
        read = read_as(rule, metric, truth)
        held = prediction_columns.held_out(
            self.columns, self.folds, heads, truth, read, response=response, threshold=cut
        )
        return held, averaged

    def arguments(
        self,
        metric: Metric,
        rule: Rule,
        *,
        classes: Any,
        pos_label: Any,
        response: ResponseName,
        threshold: float | None,
    ) -> dict[str, Any]:
        """The arguments of ``ho.estimate`` that stand for the table, for one metric and selection rule."""
        truth = self.known_truth(pos_label) or truth_for(self.truth, metric, self.held, classes, pos_label)
        held, averaged = self.held_for(truth, metric, rule, response=response, threshold=threshold)
        return {
            "y_true": self.truth,
            "predictions": held,
            "groups": self.groups,
            "sample_weight": self.sample_weight,
            "threshold": averaged,
        }

    def __repr__(self) -> str:
        size = repr(self.held) if self.held is not None else f"{counted(len(self.truth), 'row')}"
        return f"PredictionTable({self.source.name!r}, {self.source.format}: {size})"

    def tables(self) -> list[TextTable]:
        columns = 0 if self.columns is None else self.columns.frame.shape[1]
        size = {"rows": len(self.truth), "columns": columns}
        shown = [fields_table(size, "rows columns")] if self.held is None else self.held.tables()
        return [TextTable(str(self.source)), *shown, TextTable(notes=tuple(self.remarks))]

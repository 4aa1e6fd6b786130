"""True values with held-out predictions of them, as ``ho.read_predictions`` finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from heldout._record import Shown, TextTable, fields_table
from heldout._text import counted
from heldout._types import Array
from heldout.data.task import TaskKind, Truth
from heldout.estimates.input_arrays import checked_held_out, read_as, refuse_labels, threshold_of_reading
from heldout.estimates.inputs import truth_for
from heldout.estimates.responses import ResponseName, check_cuts
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.predictions import HeldOutPredictions
from heldout.readers import prediction_columns
from heldout.readers.columns import quoted
from heldout.readers.prediction_arrays import PredictionArrays, check_probabilities, exchanged
from heldout.selection import Rule


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
    arrays : PredictionArrays or None
        The predictions for either positive class, if the tool says what they are.
    remarks : tuple of str
        Sentences about assumptions that were made.
    """

    truth: Array
    predictions: HeldOutPredictions | prediction_columns.ColumnPredictions
    folds: Array | None = None
    groups: Array | None = None
    sample_weight: Array | None = None
    source: Source = Source()
    arrays: PredictionArrays | None = None
    remarks: tuple[str, ...] = ()

    @classmethod
    def of_arrays(
        cls,
        truth: Array,
        arrays: PredictionArrays,
        source: Source,
        *,
        groups: Array | None = None,
        sample_weight: Array | None = None,
        remarks: tuple[str, ...] = (),
    ) -> PredictionTable:
        """A table of predictions whose kinds are known, with the last of two classes as the positive one."""
        if arrays.probabilities is not None:
            check_probabilities(arrays.probabilities, arrays.names)
            codes = arrays.truth(truth).values
            arrays = replace(arrays, flags={**arrays.flags, **exchanged(codes, arrays.probabilities, arrays.names)})
        if contradictions := arrays.contradictions():
            flag = Flag.LABELS_CONTRADICT_PROBABILITIES.of(
                lacking=len(contradictions), total=len(arrays.names), which=quoted(contradictions, 3)
            )
            arrays = replace(arrays, flags={**arrays.flags, **flag})
        held = arrays.held_out(arrays.truth(truth))
        return cls(truth, held, held.folds, groups, sample_weight, source, arrays, remarks)

    @property
    def held(self) -> HeldOutPredictions | None:
        """The predictions where it is known what they are; None where the metric decides."""
        return self.predictions if isinstance(self.predictions, HeldOutPredictions) else None

    @property
    def columns(self) -> prediction_columns.ColumnPredictions | None:
        """The columns of predictions where the metric decides what they are."""
        return self.predictions if isinstance(self.predictions, prediction_columns.ColumnPredictions) else None

    def guessed_metric(self, truth: Truth) -> str:
        """A metric that fits: ranks for scores, else accuracy or R²."""
        if truth.kind is TaskKind.SURVIVAL:
            return "concordance_index"
        if truth.kind is TaskKind.REGRESSION:
            return "r2"
        if truth.kind is not TaskKind.BINARY:
            return "accuracy"
        if self.columns is not None:
            scores = prediction_columns.holds_scores(
                self.columns, prediction_columns.prediction_columns_of(self.columns, truth), truth
            )
        else:
            scores = self.arrays is not None and self.arrays.probabilities is not None
        return "roc_auc" if scores else "accuracy"

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
            return self.arrays.held_out(truth, response, cut), averaged
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
        if self.arrays is not None:
            truth = self.arrays.truth(self.truth, pos_label)
        else:
            truth = truth_for(self.truth, metric, self.held, classes, pos_label)
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

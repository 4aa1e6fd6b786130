"""The content of the report on a validation, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.metrics.base import Metric, Response, oriented
from heldout.protocols.validation.replicates import Replicates
from heldout.report import validation_words as words
from heldout.report.content import PageContent
from heldout.report.displays.pages import OptimismDisplay
from heldout.report.displays.winner_curves import CalibrationDisplay, DecisionCurveDisplay, RocCurveDisplay
from heldout.report.ranking import FailureGroup
from heldout.scales import Scale


@dataclass(frozen=True)
class ScoredRow:
    """One metric's line in the table: apparent, in bootstrap, on original, optimism, corrected, interval, n."""

    name: str
    metric: Scale
    apparent: float | None
    in_bootstrap: float | None
    on_original: float | None
    out_of_bag: float | None
    optimism: float | None
    corrected: float | None
    low: float | None
    high: float | None
    n: int
    no_information: float | None = None
    """By .632+: the score of predictions without information."""
    weight: float | None = None
    """By .632 and .632+: of the score out of bag in the corrected one."""
    method: str = ""
    """How it was corrected, if not all metrics are by one method."""
    inner_optimism: float | None = None
    """If the optimism is adjusted: the mean optimism by bootstraps of the bootstraps."""
    constant: float | None = None
    """The score of the best constant model; None where there is none."""

    @property
    def title(self) -> str:
        """Of the metric, with its method."""
        return f"{self.metric.title} ({self.method})" if self.method else self.metric.title


@dataclass(frozen=True)
class CandidateRow:
    """One of several models."""

    name: str
    is_selected: bool
    apparent: float | None
    optimism: float | None
    corrected: float | None
    low: float | None
    high: float | None
    failed: int
    """Bootstraps without a model."""
    reason: str = ""
    """Why it is not a candidate; empty if it is one."""


@dataclass(frozen=True)
class CoefficientsPart:
    """The coefficients of the model of all rows, as text."""

    sentence: str
    headings: tuple[str, ...]
    """Of the columns after the name."""
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ValidationContent(PageContent):
    """The content of the report on a validation; the uncorrected score of its headline is the apparent one."""

    table: tuple[ScoredRow, ...]
    """A row per metric."""
    table_sentence: str
    candidates: tuple[CandidateRow, ...] = ()
    """Empty for a single model."""
    candidates_sentence: str = ""
    imputation_sentence: str = ""
    """How missing values were imputed."""
    coefficients: CoefficientsPart | None = None
    curves_sentence: str = ""
    roc: tuple[RocCurveDisplay, ...] = ()
    calibration: tuple[CalibrationDisplay, ...] = ()
    decision: tuple[DecisionCurveDisplay, ...] = ()
    """``roc``, ``calibration``, ``decision``: one, or one per class."""
    optimism: OptimismDisplay | None = None
    failures: tuple[FailureGroup, ...] = ()
    """Bootstraps without a model, by message."""
    failures_sentence: str = ""


MOST_CLASSES = 4
"""Classes that are drawn if there are several."""
MOST_OPTIMISM_BINS = 30
FROM_OWN_SAMPLES = ("optimism", "two_stage")
"""Methods whose optimism is the score on a model's own sample minus the score on all rows."""


def roc_displays(replicates: Replicates) -> tuple[RocCurveDisplay, ...]:
    """The ROC curves of a classification with scores or probabilities, one per class if there are several."""
    truth, recorded = replicates.truth, replicates.on_original.keys()
    if not truth.kind.is_classification or not {Response.DECISION, Response.PROBABILITIES} & recorded:
        return ()
    return tuple(RocCurveDisplay.of_replicates(replicates, of_class=of_class) for of_class in _classes(truth))


def calibration_displays(replicates: Replicates) -> tuple[CalibrationDisplay, ...]:
    """Calibration of probabilities, values, or survival at the middle time; none if rows are too few."""
    needed = {TaskKind.REGRESSION: Response.VALUES, TaskKind.SURVIVAL: Response.SURVIVAL}
    if needed.get(replicates.truth.kind, Response.PROBABILITIES) not in replicates.on_original:
        return ()
    try:
        return tuple(CalibrationDisplay.of_replicates(replicates, **part) for part in _settings(replicates))
    except InputError:  # ten rows or fewer allow no curve
        return ()


def decision_displays(replicates: Replicates) -> tuple[DecisionCurveDisplay, ...]:
    """Decision curves of two classes, or of survival at the middle time."""
    needed = {TaskKind.BINARY: Response.PROBABILITIES, TaskKind.SURVIVAL: Response.SURVIVAL}
    if needed.get(replicates.truth.kind) not in replicates.on_original:
        return ()
    return tuple(DecisionCurveDisplay.of_replicates(replicates, **part) for part in _settings(replicates))


def _settings(replicates: Replicates) -> Sequence[dict[str, Any]]:
    """The arguments of each curve: a class, a time, or none."""
    if replicates.truth.kind is TaskKind.SURVIVAL:
        times = replicates.times
        return [{"time": times[len(times) // 2]}] if times else []
    return [{"of_class": each} for each in _classes(replicates.truth)]


def _classes(truth: Truth) -> Sequence[Any]:
    if truth.kind is not TaskKind.MULTICLASS or truth.classes is None:
        return [None]
    listed: list[Any] = truth.classes.tolist()
    return listed[:MOST_CLASSES]


def optimism_display(replicates: Replicates, metric: Metric, scale: Scale, method: str) -> OptimismDisplay | None:
    """The distribution of the optimism over the bootstraps; None if it is always unknown."""
    scores = replicates.scores(metric)
    own = method in FROM_OWN_SAMPLES
    optimism = oriented(metric, scores.in_bootstrap - (scores.on_original if own else scores.out_of_bag))
    optimism = optimism[np.isfinite(optimism)]
    if not optimism.size:
        return None
    low, high = float(optimism.min()), float(optimism.max())
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(2 * np.sqrt(optimism.size), 5, MOST_OPTIMISM_BINS))
    counts, edges = np.histogram(optimism, bins=bins, range=(low, high))
    return OptimismDisplay(
        metric=scale,
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        mean=float(optimism.mean()),
        caption=words.OPTIMISM_CAPTION if own else words.LEFT_OUT_CAPTION,
    )

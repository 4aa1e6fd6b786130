"""The content of the report on a validation, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

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

"""The content of the report on a validation, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from heldout.estimates.types import json_safe
from heldout.report.content import Citation, Fact, Headline, Parameter
from heldout.report.numbers import Decimals, Scale
from heldout.report.ranking import FailureGroup


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


@dataclass(frozen=True)
class CandidateRow:
    """One of several models.

    Attributes
    ----------
    failed : int
        Bootstraps without a model.
    reason : str
        Why it is not a candidate; empty if it is one.
    """

    name: str
    is_selected: bool
    apparent: float | None
    optimism: float | None
    corrected: float | None
    low: float | None
    high: float | None
    failed: int
    reason: str = ""


@dataclass(frozen=True)
class CoefficientRow:
    """A pooled coefficient; ``missing`` is the share of its variance due to missing values."""

    name: str
    value: float | None
    standard_error: float | None
    low: float | None
    high: float | None
    df: float | None
    missing: float | None
    decimals: Decimals


@dataclass(frozen=True)
class ImputationPart:
    """How missing values were imputed, and the coefficients pooled over the completions."""

    sentence: str
    coefficients_sentence: str = ""
    coefficients: tuple[CoefficientRow, ...] = ()


@dataclass(frozen=True)
class OptimismPicture:
    """Histogram of the optimism of one metric over the bootstraps."""

    metric: Scale
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float
    bootstraps: int
    caption: str


@dataclass(frozen=True)
class RocPicture:
    """A ROC curve, with its areas as text."""

    name: str
    x: tuple[float, ...]
    apparent: tuple[float | None, ...]
    corrected: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    area_apparent: str
    area_corrected: str
    note: str = ""


@dataclass(frozen=True)
class CalibrationPicture:
    """A calibration curve, groups of rows as (predicted, observed), and a histogram of the predictions.

    Attributes
    ----------
    name : str
        The class or time that is predicted; empty for a regression.
    low_end, high_end : float
        The range of both axes: 0 and 1 for probabilities.
    histogram : tuple of int
        Rows by prediction in equal steps of this range.
    caption : str
    """

    name: str
    x: tuple[float, ...]
    apparent: tuple[float | None, ...]
    corrected: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    groups: tuple[tuple[float, float], ...]
    low_end: float
    high_end: float
    histogram: tuple[int, ...]
    caption: str
    note: str = ""


@dataclass(frozen=True)
class DecisionPicture:
    """Net benefit by threshold."""

    name: str
    x: tuple[float, ...]
    apparent: tuple[float | None, ...]
    corrected: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    act_on_all: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class ValidationContent:
    """The content of the report on a validation.

    Attributes
    ----------
    title : str
    headline : Headline
        Its uncorrected score is the apparent one, its winner the validated model.
    facts : tuple of Fact
        Rows, models, bootstraps, fits.
    table : tuple of ScoredRow
        A row per metric.
    table_sentence : str
    candidates : tuple of CandidateRow
        Empty for a single model.
    candidates_sentence : str
    imputation : ImputationPart or None
    curves_sentence : str
    roc, calibration, decision : tuples of pictures
        One, or one per class.
    optimism : OptimismPicture or None
    failures : tuple of FailureGroup
        Bootstraps without a model, by message.
    failures_sentence : str
    parameters : tuple of Parameter
    method : tuple of str
    settings : tuple of Fact
    flags : tuple of str
    citations : tuple of Citation
    command : str
    reproduction : tuple of Fact
    """

    title: str
    headline: Headline
    facts: tuple[Fact, ...]
    table: tuple[ScoredRow, ...]
    table_sentence: str
    candidates: tuple[CandidateRow, ...] = ()
    candidates_sentence: str = ""
    imputation: ImputationPart | None = None
    curves_sentence: str = ""
    roc: tuple[RocPicture, ...] = ()
    calibration: tuple[CalibrationPicture, ...] = ()
    decision: tuple[DecisionPicture, ...] = ()
    optimism: OptimismPicture | None = None
    failures: tuple[FailureGroup, ...] = ()
    failures_sentence: str = ""
    parameters: tuple[Parameter, ...] = ()
    method: tuple[str, ...] = ()
    settings: tuple[Fact, ...] = ()
    flags: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    command: str = ""
    reproduction: tuple[Fact, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = json_safe(asdict(self))
        return plain

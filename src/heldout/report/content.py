"""The content of a report as plain data, which is collected once and can be rendered anywhere.

``report_content`` reads a finished search, ``estimate_content`` an estimate from predictions alone. Both return a
``ReportContent``; parts that the input does not provide are None or empty.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from heldout._record import json_number, json_safe
from heldout._text import ends_text
from heldout._types import Floats
from heldout.errors import InputError
from heldout.methods_text import MethodsText
from heldout.metrics.named import direction_sentence
from heldout.report.algorithms import AlgorithmsSummary
from heldout.report.coefficients import CoefficientList
from heldout.report.columns import DataColumns
from heldout.report.configuration_scores import search_scale
from heldout.report.diagnostics import CurvePoints, Diagnostics
from heldout.report.importance import Importance
from heldout.report.nested import OuterSummary
from heldout.report.race import RaceSummary
from heldout.report.ranking import Ranking
from heldout.report.thresholds import ThresholdTable
from heldout.result import Evaluation
from heldout.scales import Scale


@dataclass(frozen=True)
class OvertuningCurve:
    """The overtuning of a search as it is shown."""

    scale: Scale
    n_configurations: tuple[int, ...]
    uncorrected: tuple[float | None, ...]
    corrected: tuple[float | None, ...]
    """(P,) both: by how much the best of so many is better than the first: on the rows that chose it, and on those
    left out. A second level beside the estimate of the search would answer no question of its own."""
    in_order: bool
    sentences: tuple[str, ...]
    """That further search bought nothing, and on the default configuration, where there is something to say."""


def overtuning_curve_of(evaluation: Evaluation) -> OvertuningCurve | None:
    """What the report shows; None where it is not known, and of fewer than two configurations."""
    try:
        found = evaluation.overtuning
    except InputError:
        return None
    if len(found.n_configurations) < 2:
        return None
    sign = 1 if found.greater_is_better else -1
    return OvertuningCurve(
        search_scale(evaluation, evaluation.refit_metric),
        tuple(found.n_configurations.tolist()),
        _gains(found.uncorrected, sign),
        _gains(found.corrected, sign),
        found.in_order,
        tuple(evaluation.overtuning_sentences),
    )


def _gains(scores: Floats, sign: int) -> tuple[float | None, ...]:
    """By how much each is better than the first."""
    return tuple(json_number(sign * (score - scores[0])) for score in scores.tolist())


@dataclass(frozen=True)
class Headline:
    """The number that the report is about."""

    metric: Scale
    method: str
    value: float | None
    low: float | None
    high: float | None
    interval_label: str
    uncorrected: float | None
    optimism: float | None
    """``value``, ``low``, ``high``, ``uncorrected``, ``optimism``: in the metric's own units; None if unknown."""
    is_corrected: bool
    """False if the value is the winner's uncorrected cross-validated score."""
    winner: str
    sentence: str
    """What the correction means."""
    quote: str
    """The result as a sentence to quote."""
    is_named: bool = False
    """Whether the configuration was named beforehand, so there is nothing to correct."""
    constant: float | None = None
    """The score of the best constant model; None where there is none."""
    coverage: str = ""
    """How often such intervals held the truth, as a sentence; empty where it was not measured."""

    @property
    def label(self) -> str:
        """The kind of the value."""
        return "named beforehand" if self.is_named else "corrected" if self.is_corrected else "uncorrected"

    @property
    def direction(self) -> str:
        """Which way is better."""
        return direction_sentence(self.metric.greater_is_better, self.metric.ideal)

    @property
    def interval_text(self) -> str:
        """Both ends; empty if there is no interval."""
        return ends_text(self.low, self.high, self.metric.decimals)


@dataclass(frozen=True)
class Distribution:
    """The bootstrapped scores as a histogram."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    bootstraps: int


@dataclass(frozen=True)
class MetricRow:
    """One metric's estimate, for searches with several."""

    name: str
    metric: Scale
    value: float | None
    low: float | None
    high: float | None
    uncorrected: float | None
    optimism: float | None
    chose: bool
    constant: float | None = None


@dataclass(frozen=True)
class MethodRow:
    """One method's answer, for reports that compare several."""

    name: str
    title: str
    """The readable name of the method."""
    is_main: bool
    """Whether the report is about this estimate."""
    value: float | None
    low: float | None
    high: float | None
    uncorrected: float | None
    optimism: float | None
    winner: str
    """The selected configuration if it differs from the report's; empty otherwise."""
    notes: tuple[str, ...]
    """Sentences of its flags."""
    how: tuple[str, ...]
    """How the number is computed, and what it estimates."""
    constant: float | None = None


@dataclass(frozen=True)
class Fact:
    """A label and its text."""

    label: str
    text: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of the winner; ``searched`` if the grid set it."""

    name: str
    text: str
    searched: bool
    is_default: bool = False
    """Whether the class of the estimator gives it this value."""


@dataclass(frozen=True)
class SharedRow:
    """Fits that shared one thing, and what that saved, in words."""

    name: str
    fits: int
    seconds: str
    n_bytes: str


@dataclass(frozen=True)
class Citation:
    """The source of a method used here."""

    text: str
    doi: str


@dataclass(frozen=True, kw_only=True)
class PageContent:
    """What the reports on a search, on an estimate and on a validation share."""

    title: str
    headline: Headline
    methods_text: MethodsText
    facts: tuple[Fact, ...]
    """Rows, configurations or models, folds or bootstraps, fits."""
    parameters: tuple[Parameter, ...] = ()
    method: tuple[str, ...] = ()
    """How the number was computed, in sentences."""
    settings: tuple[Fact, ...] = ()
    """How the number was computed, as settings."""
    flags: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    command: str = ""
    """The command line or call; empty if unknown."""
    reproduction: tuple[Fact, ...] = ()
    """Seed, versions, fingerprints."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = json_safe(asdict(self))
        return plain


@dataclass(frozen=True, kw_only=True)
class ReportContent(PageContent):
    """The content of the report on a search or on an estimate."""

    distribution: Distribution | None = None
    metrics: tuple[MetricRow, ...] = ()
    """Empty for a single metric."""
    metrics_sentence: str = ""
    methods: tuple[MethodRow, ...] = ()
    """The estimates of several methods; empty for a single one."""
    methods_sentence: str = ""
    methods_coverage: str = ""
    """What intervals of these methods covered where the truth is known."""
    refused: tuple[Fact, ...] = ()
    """Methods that do not apply, and why."""
    race: RaceSummary | None = None
    """None if no configuration could be dropped."""
    algorithms: AlgorithmsSummary | None = None
    """Of a comparison of algorithms."""
    outer: OuterSummary | None = None
    """The outer folds of nested cross-validation."""
    ranking: Ranking | None = None
    diagnostics: Diagnostics | None = None
    shared: tuple[SharedRow, ...] = ()
    """Fits that were not made alone, by what they shared."""
    delivered: str = ""
    """What the estimate means for the model that is delivered."""
    precision_recall: tuple[CurvePoints, ...] = ()
    thresholds: ThresholdTable | None = None
    no_calibration: str = ""
    """Why calibration is not shown, and what shows it; empty where it is, or does not apply."""
    columns: DataColumns | None = None
    """Of the data; None if they are not known."""
    overtuning: OvertuningCurve | None = None
    """What further search bought; None where it is not known, and of one configuration."""
    importance: Importance | None = None
    coefficients: CoefficientList | None = None
    own_importances: CoefficientList | None = None
    """What the delivered model itself says of its columns, such as the impurity decrease of trees."""

"""What methods gave where the truth is known: a line per cell of the test bed and method.

The file is installed with the library. ``python -m heldout_papers.corrections.advice_evidence`` writes it from kept
runs of that study (papers/pages/study-corrections.md).
"""

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar, get_type_hints

from heldout.data.task import TaskKind
from heldout.estimates.evidence import Candidates, Evidence
from heldout.estimates.types import Alternative, Coverage, Estimate
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response, is_pair_based, unsigned
from heldout.metrics.custom import CustomMetric
from heldout.metrics.named import in_sentence, metric_named, metric_words

Line = TypeVar("Line")

FILE = "coverage.csv"
REFERENCE = "bbc"
"""The method that ratios compare with: as published, with percentiles."""
TABLES, HOLD_OUT = "tables", "hold-out"
"""Parts: real searches by K folds, and rows of a hold-out."""
ONE, ALIKE, VARIED = "one", "alike", "varied"
"""Kinds of candidates: one that was named beforehand, several of one estimator, several estimators."""
LEVEL = 0.95
FAR = 2.0
"""The ratio of rows from which a cell is called far away."""
UNLIKE = frozenset(
    {
        Flag.ADAPTIVE_SEARCH,
        Flag.COPIED_ROWS,
        Flag.DROPPED_CONFIGURATIONS,
        Flag.DROPPING_REPLAYED,
        Flag.EARLY_STOPPING_ON_SCORED_ROWS,
        Flag.GROWING_TRAINING_SETS,
        Flag.NOT_EXCHANGEABLE,
        Flag.ONE_CONFIGURATION_KEPT,
        Flag.ROWS_FOLLOW_TIME,
        Flag.SORTED_ROWS,
    }
)
"""Flags of rows that depend on each other, and of searches whose optimism is not all corrected."""
LEAST = 0.94
"""The coverage below which a cell is reported as one where the interval covers less than its level."""


@dataclass(frozen=True)
class CellEvidence:
    """What one method gave in one cell of the test bed.

    Attributes
    ----------
    part : str
        "tables" (real searches by K folds) or "hold-out".
    kind : str
        "one", "alike" or "varied".
    metric : str
    rows, rarer, configurations : int
        N, how many of these rows are of the rarer class (of survival: have an event; 0 for numbers), and C.
    method : str
        With settings that are not its usual ones: "bbc(interval='sampling')".
    repetitions : int
    bias, bias_error : float
        Positive flatters; with its standard error, as below. In units of the metric, of root mean squared errors in
        units of the target's standard deviation.
    rmse_ratio, rmse_ratio_error : float
        Root mean square error relative to that of ``bbc``.
    intervals : int
        Repetitions with a two-sided 95 % interval.
    coverage, coverage_error : float
        Share of them that hold the truth; NaN without intervals.
    width_ratio : float
        Their mean width relative to the percentile interval of ``bbc``.
    bound_coverage, bound_coverage_error : float
        The same share of one-sided 95 % intervals, which bound how bad the performance can be.
    """

    part: str
    kind: str
    metric: str
    rows: int
    rarer: int
    configurations: int
    method: str
    repetitions: int
    bias: float
    bias_error: float
    rmse_ratio: float
    rmse_ratio_error: float
    intervals: int
    coverage: float
    coverage_error: float
    width_ratio: float
    bound_coverage: float
    bound_coverage_error: float

    @property
    def place(self) -> tuple[str, str, str, int, int]:
        return self.part, self.kind, self.metric, self.rows, self.configurations

    @property
    def where(self) -> str:
        """The cell in words: "400 real searches on 40 rows (14 of the rarer class) with one configuration (F1)"."""
        is_real, n = self.part == TABLES, self.configurations
        kinds = {
            ONE: "one configuration",
            ALIKE: f"{n} configurations of one estimator",
            VARIED: f"{n} configurations of several estimators" if is_real else f"{n} independent configurations",
        }
        where = "real searches on" if is_real else "simulated hold-outs of"
        of_survival = {Response.RISK, Response.SURVIVAL} & set(metric_named(self.metric).responses)
        what = "with an event" if of_survival else "of the rarer class"
        rows = f"{self.rows} rows" + (f" ({self.rarer} {what})" if self.rarer else "")
        title = in_sentence(metric_words(self.metric)[0])
        return f"{self.repetitions:,} {where} {rows} with {kinds[self.kind]} ({title})"

    def coverage_of(self, alternative: Alternative) -> Coverage | None:
        """The share of such intervals that hold the truth; None of those that were not measured."""
        measured = {
            "two-sided": (self.coverage, self.coverage_error),
            "greater": (self.bound_coverage, self.bound_coverage_error),
        }
        share, error = measured.get(alternative, (math.nan, math.nan))
        return Coverage(share, error, self.where) if math.isfinite(share) else None

    @property
    def covers_too_little(self) -> bool:
        """Whether the coverage is below .94 by more than chance explains (1.645 standard errors)."""
        return self.coverage + 1.645 * self.coverage_error < LEAST


def from_csv(kind: type[Line], text: str) -> tuple[Line, ...]:
    """The lines of an installed file, with the columns that the fields of a dataclass name."""
    kinds: dict[Any, Callable[[str], Any]] = {str: str, int: _count, float: _number}
    columns = {name: kinds[hint] for name, hint in get_type_hints(kind).items()}
    return tuple(
        kind(**{name: read(line[name]) for name, read in columns.items()})
        for line in csv.DictReader(io.StringIO(text))
    )


def _count(cell: str) -> int:
    return int(cell or 0)


def _number(cell: str) -> float:
    return float(cell) if cell else math.nan


@cache
def installed_bed() -> tuple[CellEvidence, ...]:
    return from_csv(CellEvidence, (files("heldout.estimates") / FILE).read_text(encoding="utf-8"))


def metric_in_bed(metric: Metric) -> str:
    """The metric of the test bed that is most like a metric: one that reads the same predictions.

    Examples
    --------
    >>> from heldout.metrics.named import in_sentence, metric_named, metric_words
    >>> [metric_in_bed(metric_named(name)) for name in ("f1", "average_precision", "neg_brier_score", "spearman")]
    ['accuracy', 'roc_auc', 'log_loss', 'r2']
    """
    reads = metric.responses
    if is_pair_based(metric) or Response.DECISION in reads:
        return "roc_auc"
    if Response.LABELS in reads:
        return "accuracy"
    if Response.PROBABILITIES in reads or Response.SURVIVAL in reads:
        return "log_loss"
    if Response.RISK in reads:
        return "roc_auc"
    # A metric of numbers with a best value is relative, as R2 is; an open one has the units of the target.
    return "r2" if math.isfinite(metric.range[1]) and metric.greater_is_better else "root_mean_squared_error"


def nearest_cell(
    evidence: Sequence[CellEvidence], method: str, *, part: str, kind: str, metric: str, n_rows: int
) -> CellEvidence | None:
    """The cell of a method, by its label, that is nearest in rows, by their ratio; None where there is none."""
    place = part, kind, metric, method
    lines = [one for one in evidence if (one.part, one.kind, one.metric, one.method) == place]
    # By the ratio of rows, because coverage changes as much from 40 to 80 rows as from 400 to 800; nine decimals
    # let 200 and 800 tie for 400.
    return min(lines, key=lambda one: (round(abs(math.log(one.rows / n_rows)), 9), one.rows), default=None)


def coverage_of(estimate: Estimate, evidence: Evidence, label: str) -> Coverage | None:
    """What intervals like that of an estimate covered where the truth is known; None where nobody knows.

    ``label``: the method with the settings that are not its usual ones.
    """
    interval = estimate.interval
    # The test bed measured 95 % intervals only, and what another level covers does not follow from it.
    if interval is None or interval.confidence_level != LEVEL or not math.isfinite(estimate.value):
        return None
    cell = measured_for(evidence, label)
    return None if cell is None else cell.coverage_of(interval.alternative)


def measured_for(evidence: Evidence, label: str) -> CellEvidence | None:
    """The cell of a method that is nearest to a question; None where none is within a factor ``FAR`` of it."""
    if not isinstance(evidence, Candidates) or _differs(evidence):
        return None
    metric = unsigned(evidence.metric).name
    place = (HOLD_OUT if evidence.is_hold_out else TABLES, metric, label, evidence.n_candidates == 1)
    n_rows, truth = evidence.n_rows_used, evidence.truth
    # Rows of the rarest class; of survival those with an event; 0 of a target of numbers.
    rarer = 0 if truth.classes is None else int(truth.class_counts().min())
    if truth.kind is TaskKind.SURVIVAL:
        rarer = int(truth.values["event"].sum())
    near = [
        cell
        # Rows and the rarer class must both be near: 1000 rows with 10 events behave as few rows.
        for cell in installed_bed()
        if (cell.part, cell.metric, cell.method, cell.kind == ONE) == place
        and max(_ratio(cell.rows, n_rows), _ratio(cell.rarer, rarer)) <= FAR
    ]

    def far(cell: CellEvidence) -> float:
        ratios = (
            _ratio(cell.configurations, evidence.n_candidates),
            _ratio(cell.rows, n_rows),
            _ratio(cell.rarer, rarer),
        )
        # Nine decimals, so that cells at equal distances tie and the first one counts on any machine.
        return round(math.prod(ratios), 9)

    return min(near, key=far, default=None)


def _differs(evidence: Candidates) -> bool:
    """Whether rows, search or metric are unlike any of the test bed: independent rows and the best of all."""
    return (
        evidence.grouped
        or evidence.row_blocks is not None
        or evidence.sample_weight is not None
        or not UNLIKE.isdisjoint(evidence.flags)
        or (evidence.n_candidates > 1 and evidence.selection != "best")
        or evidence.thresholds is not None
        or isinstance(unsigned(evidence.metric), CustomMetric)
    )


def _ratio(one: int, other: int) -> float:
    """The greater of two counts relative to the other; 1 where both are 0."""
    least, greatest = sorted((one, other))
    return greatest / least if least else 1.0 if greatest == 0 else math.inf

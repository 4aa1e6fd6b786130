"""What methods gave where the truth is known: a line per cell of the test bed and method.

The file is installed with the library. ``python -m heldout_papers.corrections.advice_evidence`` writes it from kept
runs of that study (docs/evidence/study-corrections.md).
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from heldout.data.task import TaskKind
from heldout.estimates.evidence import Evidence
from heldout.estimates.types import Alternative
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response
from heldout.metrics.within import is_pair_based

FILE = "coverage.csv"
REFERENCE = "bbc"
"""The method that ratios compare with: as published, with percentiles."""
TABLES, HOLD_OUT = "tables", "hold-out"
"""Parts: real searches by K folds, and rows of a hold-out."""
ONE, ALIKE, VARIED = "one", "alike", "varied"
"""Kinds of candidates: one that was named beforehand, several of one estimator, several estimators."""
LEVEL = 0.95
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
    rows, configurations : int
        N and C.
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
        """The cell."""
        return self.part, self.kind, self.metric, self.rows, self.configurations

    @property
    def where(self) -> str:
        """The cell in words: "400 real searches on 100 rows with one configuration (accuracy)"."""
        is_real, n = self.part == TABLES, self.configurations
        kinds = {
            ONE: "one configuration",
            ALIKE: f"{n} configurations of one estimator",
            VARIED: f"{n} configurations of several estimators" if is_real else f"{n} independent configurations",
        }
        where = "real searches on" if is_real else "simulated hold-outs of"
        return f"{self.repetitions:,} {where} {self.rows} rows with {kinds[self.kind]} ({self.metric})"

    def covered(self, alternative: Alternative) -> float:
        """The share of intervals or of bounds that hold the truth."""
        return self.coverage if alternative == "two-sided" else self.bound_coverage

    @property
    def covers_too_little(self) -> bool:
        """Whether the coverage is below .94 by more than chance explains (1.645 standard errors)."""
        return self.coverage + 1.645 * self.coverage_error < LEAST


def bed_from_csv(text: str) -> tuple[CellEvidence, ...]:
    """The evidence in the text of the installed file."""
    kinds: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": _number}
    return tuple(
        CellEvidence(**{field.name: kinds[str(field.type)](line[field.name]) for field in fields(CellEvidence)})
        for line in csv.DictReader(io.StringIO(text))
    )


def _number(cell: str) -> float:
    return float(cell) if cell else math.nan


@cache
def installed_bed() -> tuple[CellEvidence, ...]:
    """The evidence that is installed with the library."""
    return bed_from_csv((files("heldout.estimates") / FILE).read_text(encoding="utf-8"))


def metric_in_bed(metric: Metric | None, kind: TaskKind | None = None) -> str:
    """The metric of the test bed that is most like a metric: one that reads the same predictions.

    Parameters
    ----------
    metric : Metric, optional
        None for a scorer that cannot be opened; then ``kind`` decides.
    kind : TaskKind, optional

    Examples
    --------
    >>> from heldout.metrics.named import metric_named
    >>> [metric_in_bed(metric_named(name)) for name in ("f1", "average_precision", "neg_brier_score", "spearman")]
    ['accuracy', 'roc_auc', 'log_loss', 'r2']
    """
    if metric is None:
        return "root_mean_squared_error" if kind is TaskKind.REGRESSION else "accuracy"
    reads = metric.responses
    if is_pair_based(metric) or Response.DECISION in reads:
        return "roc_auc"
    if Response.LABELS in reads:
        return "accuracy"
    if Response.PROBABILITIES in reads or Response.SURVIVAL in reads:
        return "log_loss"
    if Response.RISK in reads:
        return "roc_auc"
    return "r2" if math.isfinite(metric.range[1]) and metric.greater_is_better else "root_mean_squared_error"


def nearest_cell(
    evidence: Sequence[CellEvidence], methods: Sequence[str], *, part: str, kind: str, metric: str, n_rows: int
) -> CellEvidence | None:
    """The cell of a method that is nearest in rows, by their ratio; None where there is none.

    ``methods``: labels, the first of which that has such a cell counts.
    """
    for method in methods:
        place = part, kind, metric, method
        lines = [one for one in evidence if (one.part, one.kind, one.metric, one.method) == place]
        if lines:
            return min(lines, key=lambda one: (round(abs(math.log(one.rows / n_rows)), 9), one.rows))
    return None


def measured_for(evidence: Evidence, label: str) -> CellEvidence | None:
    """What a method gave in the cell that is nearest to a question; None where the test bed has none like it.

    ``label``: the method with the settings that are not its usual ones.
    """
    in_blocks = evidence.matrix is not None and evidence.matrix.row_blocks is not None
    if in_blocks or Flag.NOT_EXCHANGEABLE in evidence.flags:
        return None  # rows of the test bed are independent
    part = HOLD_OUT if evidence.n_splits == 1 else TABLES
    kind = ONE if evidence.n_candidates == 1 else VARIED
    metric = metric_in_bed(evidence.metric)
    return nearest_cell(installed_bed(), [label], part=part, kind=kind, metric=metric, n_rows=evidence.n_rows_used)

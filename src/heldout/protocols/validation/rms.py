"""The table of R's ``rms::validate``: its metrics by their names there, its columns, its sign of the optimism.

One number differs: R prints the optimism of ``Emax`` without its sign. Here it is apparent minus corrected in every
row, so below 0 for a distance that the bootstrap finds too small.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from heldout.data.task import TaskKind
from heldout.errors import InputError

RMS = "rms"
"""The value of ``metric`` that stands for all of them."""

_INTERCEPT = "calibration_intercept(given_slope=False)"
RMS_METRICS: Mapping[TaskKind, Mapping[str, str]] = MappingProxyType(
    {
        TaskKind.BINARY: {
            "Dxy": "somers_d", "R2": "nagelkerke_r2", "Intercept": _INTERCEPT, "Slope": "calibration_slope",
            "Emax": "calibration_emax", "D": "discrimination_index", "U": "unreliability_index",
            "Q": "quality_index", "B": "brier_score", "g": "g_index", "gp": "g_index(scale='probability')",
        },
        TaskKind.REGRESSION: {
            "R-square": "r2", "MSE": "mean_squared_error", "g": "g_index", "Intercept": _INTERCEPT,
            "Slope": "calibration_slope",
        },
        TaskKind.SURVIVAL: {
            "Dxy": "somers_d", "R2": "nagelkerke_r2", "Slope": "calibration_slope", "D": "discrimination_index",
            "U": "unreliability_index", "Q": "quality_index", "g": "g_index",
        },
    }
)  # fmt: skip
"""R's name → ours, in the order of ``validate.lrm``, ``validate.ols`` and ``validate.cph``."""


def rms_metrics(kind: TaskKind) -> tuple[str, ...]:
    """The names of the metrics that ``rms::validate`` reports for a kind of task.

    Raises InputError for several classes, which it does not know.

    Examples
    --------
    >>> rms_metrics(TaskKind.REGRESSION)[:2]
    ('r2', 'mean_squared_error')
    """
    if kind not in RMS_METRICS:
        raise InputError(
            f"`metric={RMS!r}` is for two classes, numbers and times to an event, as R's rms::validate, got a "
            f"{kind.value} target; name metrics, or leave it out for the usual ones.",
            argument="metric",
        )
    return tuple(RMS_METRICS[kind].values())


def rms_labels(metrics: Collection[str]) -> Mapping[str, str]:
    """Metric → its name with R's, where all that ``rms::validate`` reports for a kind of task are among them.

    Examples
    --------
    >>> rms_labels(rms_metrics(TaskKind.REGRESSION))["mean_squared_error"], rms_labels(["r2"])
    ('mean_squared_error (MSE)', {})
    """
    for known in RMS_METRICS.values():
        if set(known.values()) <= set(metrics):
            return {ours: f"{ours} ({theirs})" for theirs, ours in known.items()}
    return {}


def rms_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a validation's table (those with ``metric``, ``apparent`` and so on) as ``rms::validate`` has them.

    Metrics that R does not report are left out.
    """
    names = {ours: theirs for metrics in RMS_METRICS.values() for theirs, ours in metrics.items()}
    return [{"": names[row["metric"]], **_cells(row)} for row in rows if row["metric"] in names]


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "index.orig": row["apparent"],
        "training": row["in_bootstrap"],
        "test": row["on_original"],
        "optimism": row["apparent"] - row["corrected"],  # of a loss below 0
        "index.corrected": row["corrected"],
        "n": row["n"],
    }

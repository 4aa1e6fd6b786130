"""The table of a validation: a row for each metric of a model, and the models beside each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Any

from heldout._record import Record, TextTable, cells, rows_table, value_text
from heldout.data.checks import RMS
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.protocols.validation.replicates import Replicates

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


@dataclass(frozen=True)
class ValidationRow(Record):
    """The validation of one model by one metric, in the metric's own direction and units.

    Attributes
    ----------
    metric : str
    apparent : float
        The score of the model fitted on all rows, on these rows.
    in_bootstrap, on_original : float
        Means over the successful replicates: the score of each one's model on its own sample, and on all rows.
    out_of_bag : float
        The score on the rows that the samples left out, as the correction uses it, so that by .632 ``corrected`` is
        .368 ``apparent`` + .632 ``out_of_bag``. It is averaged by row first if each row has its own loss; otherwise
        (and if the correction does not use it) it is the mean over replicates.
    weight : float
        With .632 and .632+, the weight of the out-of-bag score: ``corrected`` is (1 - weight) ``apparent`` + weight
        ``out_of_bag``. NaN with other methods.
    no_information : float
        With .632+, the score of predictions that are independent of the labels. If it is better than
        ``out_of_bag``, it replaces it in ``corrected``. NaN with other methods.
    inner_optimism, adjusted_optimism : float
        With the double bootstrap: the mean optimism estimated inside the samples, and the optimism adjusted by it,
        2 (``in_bootstrap`` - ``on_original``) - ``inner_optimism`` for a score. With ``adjust_optimism=True`` the
        latter is the ``optimism``. NaN without the double bootstrap.
    optimism : float
        Positive if the apparent score is too good: apparent minus corrected for a score, the reverse for a loss.
    corrected : float
    interval : Interval or None
    n_successful : int
        The number of replicates in the means.
    method : str
        The method of this row; with "auto" the one that was used.
    """

    metric: str
    apparent: float
    in_bootstrap: float
    on_original: float
    out_of_bag: float
    optimism: float
    corrected: float
    interval: Interval | None
    n_successful: int
    method: str = ""
    weight: float = float("nan")
    no_information: float = float("nan")
    inner_optimism: float = float("nan")
    adjusted_optimism: float = float("nan")

    _without = "no_information weight inner_optimism adjusted_optimism"
    _columns = (
        "metric apparent in_bootstrap on_original out_of_bag no_information weight inner_optimism adjusted_optimism"
        " optimism corrected interval n=n_successful method"
    )
    _shown = "corrected interval apparent in_bootstrap on_original out_of_bag optimism n=n_successful method"

    @property
    def _title(self) -> str:
        return self.metric

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {**super().to_dict(), **self.of_the_correction}

    @property
    def of_the_correction(self) -> dict[str, float]:
        """What only some corrections are made of."""
        return {name: value for name in self._without.split() if isfinite(value := getattr(self, name))}

    def cells(self) -> dict[str, Any]:
        """A row of a table, without what its correction is not made of."""
        absent = set(self._without.split()) - self.of_the_correction.keys()
        return {name: value for name, value in cells(self, self._columns).items() if name not in absent}


@dataclass(frozen=True, eq=False)
class Candidate(Record):
    """One of several models, validated on the same samples as the others.

    Attributes
    ----------
    name : str
    rows : mapping of str to ValidationRow
        One per metric; empty for a model that could not be fitted on all rows.
    failures : mapping of int to str
        Replicates without a model, and why.
    reason : str
        Why it is not a candidate; empty if it is.
    """

    name: str
    rows: Mapping[str, ValidationRow]
    failures: Mapping[int, str] = field(default_factory=dict)
    reason: str = ""

    _without = "failures"
    _more = "n_failed"

    @property
    def n_failed(self) -> int:
        return len(self.failures)


_OF_SAMPLES = ("in_bootstrap", "on_original")
_OF_WEIGHTS = ("out_of_bag", "no_information", "weight")
_BETWEEN: Mapping[str, tuple[str, ...]] = {
    "optimism": _OF_SAMPLES, "two_stage": _OF_SAMPLES, "632+": _OF_WEIGHTS, "auto": _OF_WEIGHTS,
}  # fmt: skip
"""From which columns, beside the apparent score, a method makes the corrected one; by default ``out_of_bag``."""
SEPARATED = (
    "The model tells the classes of its own rows apart without an error; then the likelihood has no highest point, "
    "and coefficients and probabilities depend on where the fit stopped: use fewer columns, or a penalised model."
)


def score_table(title: str, rows: Mapping[str, ValidationRow], method: str, *, adjusts: bool = False) -> TextTable:
    """A row a metric: what the correction is made of, the corrected score and its interval.

    Metrics that are R's ``rms::validate`` have its names too. ``method`` is that of all rows; by ``auto`` they
    have several, and a column for it.
    """
    between = _BETWEEN.get(method, ("out_of_bag",)) + (("inner_optimism",) if adjusts else ())
    labels = rms_labels(rows)
    listed = [{"label": labels.get(name, name), "row": row} for name, row in rows.items()]
    by_row = " method=row.method" if method == "auto" else ""
    made_of = " ".join(f"{name}=row.{name}" for name in between)
    shown = (
        f"metric=label corrected=row.corrected interval=row.interval apparent=row.apparent {made_of}"
        f" optimism=row.optimism n=row.n_successful{by_row}"
    )
    return rows_table(listed, shown, title)


def candidate_table(candidates: Sequence[Candidate], metrics: Sequence[str]) -> TextTable:
    """A row a model; those that could not be fitted are in the notes, with the reason."""
    rows = tuple(
        (each.name, *(value_text(each.rows[name].corrected) for name in metrics))
        for each in candidates
        if each.rows
    )
    # The reason for a failed fit is too long for a column.
    failed = tuple(
        f"{each.name}: not fitted ({' '.join(each.reason.split())})" for each in candidates if not each.rows
    )
    return TextTable("All models, corrected on the samples that they shared", ("model", *metrics), rows, failed)


def separation_notes(replicates: Replicates) -> list[str]:
    """A note where the model of all rows separates the classes without an error."""
    truth, probabilities = replicates.truth, replicates.apparent.get(Response.PROBABILITIES)
    if not truth.kind.is_classification or probabilities is None:
        return []
    if truth.kind is TaskKind.BINARY:
        positive = truth.values == truth.positive
        separated = (probabilities[positive].min(axis=0) > probabilities[~positive].max(axis=0)).all()
    else:
        separated = (probabilities.argmax(axis=-1) == truth.values[:, None]).all()
    return [SEPARATED] if separated else []


def flag_notes(estimates: Mapping[str, Estimate]) -> list[str]:
    """The flags of the estimates, each once, with the metrics that it is about."""
    found: dict[tuple[Flag, str], dict[str, str]] = {}
    for name, estimate in estimates.items():
        for flag, message in estimate.flags.items():
            if flag is Flag.NO_BOUND and Flag.UNDEFINED in estimate.flags:
                continue  # the reason for no score is the reason for no interval
            # That the model memorises is one finding, whichever metric's name its sentence holds.
            pattern = message if flag is Flag.MEMORISES else message.replace(name, "{}")
            found.setdefault((flag, pattern), {})[name] = message
    with_interval = {name for name, estimate in estimates.items() if estimate.interval is not None}
    return [_note(pattern, messages, with_interval) for (_, pattern), messages in found.items()]


def _note(pattern: str, messages: Mapping[str, str], with_interval: Set[str]) -> str:
    """One sentence for all metrics with this flag; a flag of all intervals needs no names."""
    first, *others = messages
    if "{}" in pattern:
        return messages[first] + (f" So too: {', '.join(others)}." if others else "")
    return pattern if with_interval <= messages.keys() else f"{', '.join(messages)}: {pattern}"

"""What a validation returns: a corrected estimate and a row for each metric, the models beside each other."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal

from numpy.typing import ArrayLike

from heldout._record import Record, TextTable, cells, frame_of, rows_table, value_text
from heldout._text import counted
from heldout.data.checks import RMS
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.imputation.backward import Selection
from heldout.imputation.coefficients import ODDS_RATIO, PooledCoefficients
from heldout.imputation.pooled import PooledModel
from heldout.methods_text import WithMethodsText
from heldout.metrics.base import Metric, check_among
from heldout.protocols.validation.coefficients import FittedCoefficients, separation_notes
from heldout.protocols.validation.curves import (
    CalibrationCurve,
    DecisionCurve,
    RocCurve,
    calibration_curve,
    decision_curve,
    roc_curve,
)
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.words import frequency_sentence
from heldout.spaces.regressions import MODELS

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
            f"{kind.value} target; name metrics, or leave it out for the usual ones."
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


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Record, WithMethodsText):
    """The result of ``ho.bootstrap_validate``: corrected scores, curves, coefficients and the fitted model.

    Attributes
    ----------
    estimates : mapping of str to Estimate
        One per metric, in the given order; the first chooses among several models.
    rows : mapping of str to ValidationRow
        One per metric: apparent, in bootstrap, on original, out of bag, optimism, corrected, successful replicates.
    method : str
        The method of all ``rows``; "auto" if their methods differ.
    n_bootstraps : int
        B, the bootstraps; with "two_stage" those of the first stage.
    selected : int
        Index of the selected model in ``candidates``.
    selected_name : str
        Its name.
    candidates : tuple of Candidate
        All models, validated in the first stage.
    model : estimator
        The model to deploy: the selected one, fitted on all rows; with imputation the pooled one.
    coefficients : FittedCoefficients, PooledCoefficients or None
        Those of a linear ``model``, with Wald intervals unless it is penalised; with imputation by Rubin's rules.
    replicates : Replicates
        The predictions of every replicate, from which estimates and curves are computed.
    failures : mapping of int to str
        Replicates without a model, and why.
    n_fits : int
        All fits, including that of the selected model on all rows; with imputation, all completions of a fit count
        as one.
    metrics : mapping of str to Metric
        The metrics by name, with the range and positive class of this target.
    flags : mapping of Flag to str
        The flags of all metrics.
    settings : mapping
        The arguments of the call.
    n_second_bootstraps : int
        With "two_stage" the samples of the second stage; 0 with other methods.
    """

    estimates: Mapping[str, Estimate]
    rows: Mapping[str, ValidationRow]
    method: str
    n_bootstraps: int
    selected: int
    selected_name: str
    candidates: tuple[Candidate, ...]
    model: Any
    coefficients: FittedCoefficients | PooledCoefficients | None
    replicates: Replicates
    failures: Mapping[int, str]
    n_fits: int
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    flags: Mapping[Flag, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    n_second_bootstraps: int = 0

    @property
    def value(self) -> float:
        """The corrected score, if there is one metric.

        Raises
        ------
        InputError
            If there are several.
        """
        return self._only.value

    @property
    def interval(self) -> Interval | None:
        """The interval of the corrected score, if there is one metric."""
        return self._only.interval

    @property
    def selection(self) -> Selection | None:
        """The terms that backward selection kept in the model of all rows; None without backward selection."""
        return self.model.selection_ if isinstance(self.model, PooledModel) else None

    @property
    def selection_frequency(self) -> Mapping[str, float]:
        """With backward selection: the share of the bootstraps whose models kept each term."""
        return self.replicates.terms

    @property
    def _only(self) -> Estimate:
        if len(self.estimates) > 1:
            raise InputError(
                f"there are {len(self.estimates)} metrics ({', '.join(self.estimates)}), so there is no single "
                f"value; "
                "take .estimates[name]."
            )
        return next(iter(self.estimates.values()))

    def calibration_curve(
        self,
        *,
        at: ArrayLike | None = None,
        time: float | None = None,
        of_class: Any = None,
    ) -> CalibrationCurve:
        """The calibration curve, apparent and corrected for optimism.

        Parameters
        ----------
        at : array-like of shape (m,), optional
            Predictions at which to evaluate the curve, ascending; by default 50 within their range.
        time : float, optional
            For a survival task: one of the times of the predictions, if there are several.
        of_class : label, optional
            For a task of several classes: the class to compare with the others.

        Raises
        ------
        InputError
            When no such predictions were recorded, or a setting cannot be used.
        """
        return calibration_curve(self.replicates, at=at, time=time, of_class=of_class)

    def roc_curve(self, *, of_class: Any = None) -> RocCurve:
        """The ROC curve, apparent and corrected for optimism, with the settings of ``calibration_curve``."""
        return roc_curve(self.replicates, of_class=of_class)

    def decision_curve(
        self,
        *,
        thresholds: ArrayLike | None = None,
        time: float | None = None,
        of_class: Any = None,
    ) -> DecisionCurve:
        """The net benefit by threshold, apparent and corrected for optimism.

        Parameters
        ----------
        thresholds : array-like of shape (m,), optional
            Probabilities from which one acts, ascending; .01, .02 .. .99 by default.
        time, of_class
            As in ``calibration_curve``.

        Raises
        ------
        InputError
            When no probabilities were recorded, or a setting cannot be used.
        """
        return decision_curve(self.replicates, thresholds=thresholds, time=time, of_class=of_class)

    def to_frame(self, *, candidates: bool = False, names: Literal["heldout", "rms"] = "heldout") -> Any:
        """A pandas DataFrame with one row per metric (pandas comes with the extra ``app``).

        Parameters
        ----------
        candidates : bool, default=False
            The rows of every model in the first stage, with the model's name, instead of the selected model's.
        names : {"heldout", "rms"}, default="heldout"
            "rms": the table of R's ``rms::validate``, with its names of rows and columns; its optimism is
            apparent minus corrected, for losses too. Metrics that it does not have are left out.
        """
        check_among("names", names, ("heldout", "rms"))
        if names == "rms":
            if candidates:
                raise InputError(
                    "`names='rms'` is the table of one model; leave `candidates=True` out.", argument="candidates"
                )
            listed = rms_rows(row.cells() for row in self.rows.values())
            if not listed:
                raise InputError(
                    "none of the metrics is one of rms::validate; use `metric='rms'`.", argument="names"
                )
            return frame_of(listed, "Validation.to_frame").set_index("")
        if not candidates:
            return frame_of([row.cells() for row in self.rows.values()], "Validation.to_frame")
        rows = [{"model": each.name, **row.cells()} for each in self.candidates for row in each.rows.values()]
        return frame_of(rows, "Validation.to_frame")

    _without = "model replicates metrics"
    _more = "selection selection_frequency"

    def __repr__(self) -> str:
        shown = "; ".join(
            f"{row.metric} {row.corrected:.4g}{'' if row.interval is None else f' {row.interval}'}"
            f" (apparent {row.apparent:.4g})"
            for row in self.rows.values()
        )
        return f"Validation({self._title}: {shown})"

    def __str__(self) -> str:
        return self.text()

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of the rows, each once."""
        return tuple(dict.fromkeys(row.method for row in self.rows.values()))

    @property
    def adjusts(self) -> bool:
        """Whether the optimism is adjusted by the double bootstrap."""
        return any(estimate.provenance.get("optimism_adjusted") for estimate in self.estimates.values())

    @property
    def _title(self) -> str:
        bootstraps = counted(self.replicates.n_replicates, "bootstrap")
        return f"{self.selected_name} by {' and '.join(self.methods)}, {bootstraps}"

    def tables(self) -> list[TextTable]:
        """The scores, those of other models, the coefficients of a linear model, and caveats."""
        shown = [score_table(self._title, self.rows, self.method, adjusts=self.adjusts)]
        if len(self.candidates) > 1:
            shown.append(candidate_table(self.candidates, tuple(self.rows)))
        if self.coefficients is not None:
            coefficients = self.coefficient_table()
            shown.append(replace(coefficients, notes=(*coefficients.notes, *self._selection_notes())))
        return [*shown, TextTable(notes=tuple(self._remarks()))]

    def coefficient_table(self) -> TextTable:
        """The coefficients as text.

        Raises
        ------
        InputError
            Where there are none.
        """
        if self.coefficients is None:
            raise InputError(f"{self.selected_name} has no coefficients: it is not one linear predictor.")
        shown = self.coefficients.table(float(self.settings.get("confidence_level", 0.95)))
        if len(self.candidates) == 1 or "p" not in shown.headings:
            return shown
        chosen = f"The intervals ignore that the model was chosen among {len(self.candidates)}."
        return replace(shown, notes=(*shown.notes, chosen))

    def _selection_notes(self) -> tuple[str, ...]:
        """What a backward selection kept, and how often the bootstraps did."""
        if self.selection is None:
            return ()
        return (str(self.selection), frequency_sentence(self.selection_frequency))

    def _remarks(self) -> list[str]:
        """What a reader must know of the numbers, each once."""
        found = [] if self.coefficients is not None else [*self._selection_notes()]
        if self.selected_name in MODELS or getattr(self.coefficients, "ratio", "") == ODDS_RATIO:
            found += separation_notes(self.replicates)
        return found + flag_notes(self.estimates)

"""What a validation returns: a corrected estimate for each metric, with the table and the replicates behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from numpy.typing import ArrayLike

from heldout._notebook import Strong, notes, table
from heldout.errors import InputError
from heldout.estimates.types import Estimate, Interval, frame_of, json_number
from heldout.execution.comparison import ShareComparison
from heldout.flags import Flag
from heldout.imputation.backward import Selection
from heldout.imputation.pooled import PooledModel
from heldout.imputation.rubin import PooledCoefficients
from heldout.metrics.base import Metric
from heldout.metrics.parameters import check_among
from heldout.protocols.validation.curves import (
    CalibrationCurve,
    DecisionCurve,
    RocCurve,
    calibration_curve,
    decision_curve,
    roc_curve,
)
from heldout.protocols.validation.curves.base import CONFIDENCE_LEVEL
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.validation.rms import rms_rows


@dataclass(frozen=True)
class ValidationRow:
    """One metric of one model, in the metric's own direction and units.

    Attributes
    ----------
    metric : str
    apparent : float
        Of the model fitted on all rows, on these rows.
    in_bootstrap, on_original : float
        Means over the successful replicates: of each one's model on its own sample, and on all rows.
    out_of_bag : float
        On the rows that the samples left out, as the correction takes it, so that by .632 ``corrected`` is
        .368 ``apparent`` + .632 ``out_of_bag``: by row first where each row has a loss of its own, else (and by a
        correction that does not read it) the mean over replicates.
    weight : float
        By .632 and .632+, of the score out of bag in ``corrected``: (1 - weight) ``apparent`` + weight
        ``out_of_bag``. NaN by other methods.
    no_information : float
        By .632+, the score of predictions that have nothing to do with the labels. Where it is better than
        ``out_of_bag``, it takes its place in ``corrected``. NaN by other methods.
    inner_optimism, adjusted_optimism : float
        By the double bootstrap: the mean optimism that samples of the samples give, and the optimism adjusted by
        it, 2 (``in_bootstrap`` - ``on_original``) - ``inner_optimism`` for a score. With ``adjust_optimism=True``
        the latter is the ``optimism``. NaN without samples of the samples.
    optimism : float
        Positive when flattering: apparent minus corrected for a score, corrected minus apparent for a loss.
    corrected : float
    interval : Interval or None
    n_successful : int
        Replicates that the means rest on.
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
    weight: float = float("nan")
    no_information: float = float("nan")
    inner_optimism: float = float("nan")
    adjusted_optimism: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        numbers = {
            name: json_number(getattr(self, name))
            for name in ("apparent", "in_bootstrap", "on_original", "out_of_bag", "optimism", "corrected")
        }
        interval = None if self.interval is None else self.interval.to_dict()
        return {
            "metric": self.metric,
            **numbers,
            **self.of_the_correction,
            "interval": interval,
            "n_successful": self.n_successful,
        }

    @property
    def of_the_correction(self) -> dict[str, float]:
        """What only some corrections are made of."""
        names = ("no_information", "weight", "inner_optimism", "adjusted_optimism")
        return {name: value for name in names if isfinite(value := getattr(self, name))}

    def cells(self) -> dict[str, Any]:
        """A row of a table."""
        interval = self.interval
        return {
            "metric": self.metric,
            "apparent": self.apparent,
            "in_bootstrap": self.in_bootstrap,
            "on_original": self.on_original,
            "out_of_bag": self.out_of_bag,
            **self.of_the_correction,
            "optimism": self.optimism,
            "corrected": self.corrected,
            "low": float("nan") if interval is None else interval.low,
            "high": float("nan") if interval is None else interval.high,
            "n": self.n_successful,
        }


@dataclass(frozen=True, eq=False)
class Candidate:
    """One of several models, validated on the samples that all of them share.

    Attributes
    ----------
    name : str
    rows : mapping of str to ValidationRow
        By metric; empty for a model that could not be fitted on all rows.
    failures : mapping of int to str
        Replicates without a model, and why.
    reason : str
        Why it is no candidate; empty if it is one.
    """

    name: str
    rows: Mapping[str, ValidationRow]
    failures: Mapping[int, str] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """A validated model.

    Attributes
    ----------
    estimates : mapping of str to Estimate
        By metric, in the given order; the first one chooses among several models.
    rows : mapping of str to ValidationRow
        The table: apparent, in bootstrap, on original, out of bag, optimism, corrected, successful replicates.
    method : str
    n_bootstraps : int
        B; of ``two_stage`` those of the first stage.
    selected : int
    selected_name : str
    candidates : tuple of Candidate
        All models as the first stage has them.
    model : estimator
        The model to deploy: the selected one, fitted on all rows. Where rows were imputed, the pooled one.
    coefficients : PooledCoefficients or None
        By Rubin's rules, of a linear model on imputed rows.
    replicates : Replicates
        The predictions of every replicate, from which estimates and curves are computed.
    failures : mapping of int to str
        Replicates without a model, and why.
    n_fits : int
        All fits, the last one of the selected model on all rows included; where rows were imputed, a fit includes
        one for every completion.
    metrics : mapping of str to Metric
        By name, as they are on this target.
    flags : mapping of Flag to str
        The flags of all metrics.
    settings : mapping
        The arguments of the call.
    share_comparison : ShareComparison or None
        With ``share="check"``: some shared fits beside separate ones.
    n_second_bootstraps : int
        Of ``two_stage`` the samples of the second stage; 0 by other methods.
    """

    estimates: Mapping[str, Estimate]
    rows: Mapping[str, ValidationRow]
    method: str
    n_bootstraps: int
    selected: int
    selected_name: str
    candidates: tuple[Candidate, ...]
    model: Any
    coefficients: PooledCoefficients | None
    replicates: Replicates
    failures: Mapping[int, str]
    n_fits: int
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    flags: Mapping[Flag, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    share_comparison: ShareComparison | None = None
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
        """Its interval, if there is one metric."""
        return self._only.interval

    @property
    def selection(self) -> Selection | None:
        """What backward selection on pooled p-values kept of the model of all rows; None without one."""
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
        span: float = 2 / 3,
        time: float | None = None,
        of_class: Any = None,
        confidence_level: float = CONFIDENCE_LEVEL,
    ) -> CalibrationCurve:
        """The calibration curve, apparent and corrected for optimism.

        Parameters
        ----------
        at : array-like of shape (m,), optional
            Predictions at which to evaluate the curve, increasing; 50 within their range by default.
        span : float
            Share of the rows that each point of the smoother rests on.
        time : float, optional
            For a survival task: one of the times of the predictions, if there are several.
        of_class : label, optional
            For a task of several classes: the class to compare with the others.
        confidence_level : float
            Of the band.

        Raises
        ------
        InputError
            When no such predictions were recorded, or a setting cannot be used.
        """
        return calibration_curve(
            self.replicates, at=at, span=span, time=time, of_class=of_class, confidence_level=confidence_level
        )

    def roc_curve(self, *, of_class: Any = None, confidence_level: float = CONFIDENCE_LEVEL) -> RocCurve:
        """The ROC curve, apparent and corrected for optimism, with the settings of ``calibration_curve``."""
        return roc_curve(self.replicates, of_class=of_class, confidence_level=confidence_level)

    def decision_curve(
        self,
        *,
        thresholds: ArrayLike | None = None,
        time: float | None = None,
        of_class: Any = None,
        confidence_level: float = CONFIDENCE_LEVEL,
    ) -> DecisionCurve:
        """The net benefit by threshold, apparent and corrected for optimism.

        Parameters
        ----------
        thresholds : array-like of shape (m,), optional
            Probabilities from which one acts, increasing; .01, .02 .. .99 by default.
        time, of_class, confidence_level
            As in ``calibration_curve``.

        Raises
        ------
        InputError
            When no probabilities were recorded, or a setting cannot be used.
        """
        return decision_curve(
            self.replicates, thresholds=thresholds, time=time, of_class=of_class, confidence_level=confidence_level
        )

    def to_frame(self, *, candidates: bool = False, names: Literal["heldout", "rms"] = "heldout") -> Any:
        """A row a metric, as a pandas DataFrame (pandas comes with the extra ``app``).

        Parameters
        ----------
        candidates : bool
            The rows of every model in the first stage, with the model's name, in place of the selected one's.
        names : "heldout" or "rms"
            ``rms``: the table of R's ``rms::validate``, with its names of rows and columns; its optimism is
            apparent minus corrected, for losses too. Metrics that it does not have are left out.
        """
        check_among("names", names, ("heldout", "rms"))
        if names == "rms":
            if candidates:
                raise InputError(
                    "names='rms' is the table of one model; leave candidates=True out.", argument="candidates"
                )
            listed = rms_rows(row.cells() for row in self.rows.values())
            return frame_of(listed, "Validation.to_frame").set_index("")
        if not candidates:
            return frame_of([row.cells() for row in self.rows.values()], "Validation.to_frame")
        rows = [{"model": each.name, **row.cells()} for each in self.candidates for row in each.rows.values()]
        return frame_of(rows, "Validation.to_frame")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "method": self.method,
            "n_bootstraps": self.n_bootstraps,
            "n_second_bootstraps": self.n_second_bootstraps,
            "selected": self.selected,
            "selected_name": self.selected_name,
            "estimates": {name: estimate.to_dict() for name, estimate in self.estimates.items()},
            "rows": {name: row.to_dict() for name, row in self.rows.items()},
            "candidates": [
                {
                    "name": each.name,
                    "rows": {name: row.to_dict() for name, row in each.rows.items()},
                    "n_failed": len(each.failures),
                    "reason": each.reason,
                }
                for each in self.candidates
            ],
            "coefficients": None if self.coefficients is None else self.coefficients.to_dict(),
            "selection": None if self.selection is None else self.selection.to_dict(),
            "selection_frequency": dict(self.selection_frequency),
            "failures": {str(number): message for number, message in self.failures.items()},
            "n_fits": self.n_fits,
            "flags": [{"flag": flag.value, "message": message} for flag, message in self.flags.items()],
            "settings": dict(self.settings),
        }

    def __repr__(self) -> str:
        return f"Validation({self})"

    def _repr_html_(self) -> str:
        rows = [
            (
                row.metric, f"{row.apparent:.4g}", f"{row.optimism:.4g}", Strong(f"{row.corrected:.4g}"),
                "none" if row.interval is None else row.interval,
            )
            for row in self.rows.values()
        ]  # fmt: skip
        of_metrics = (estimate.flags for estimate in self.estimates.values())
        flags = dict.fromkeys(message for flags in (self.flags, *of_metrics) for message in flags.values())
        caption = f"{self.selected_name} by {self.method}, {self.replicates.n_replicates} bootstraps"
        return table(rows, head=("", "apparent", "optimism", "corrected", "interval"), caption=caption) + notes(
            flags
        )

    def __str__(self) -> str:
        shown = "; ".join(
            f"{row.metric} {row.corrected:.4g}{'' if row.interval is None else f' {row.interval}'}"
            f" (apparent {row.apparent:.4g})"
            for row in self.rows.values()
        )
        return f"{self.selected_name} by {self.method}, {self.replicates.n_replicates} bootstraps: {shown}"

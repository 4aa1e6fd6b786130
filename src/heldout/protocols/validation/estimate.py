"""What a validation returns: a corrected estimate for each metric, with the table and the replicates behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from heldout._record import Record, TextTable, frame_of
from heldout._text import counted
from heldout.errors import InputError
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.imputation.backward import Selection
from heldout.imputation.coefficients import ODDS_RATIO, PooledCoefficients
from heldout.imputation.pooled import PooledModel
from heldout.methods_text import WithMethodsText
from heldout.metrics.base import Metric, check_among
from heldout.protocols.validation.coefficients import FittedCoefficients
from heldout.protocols.validation.curves.calibration import CalibrationCurve, calibration_curve
from heldout.protocols.validation.curves.decision import DecisionCurve, decision_curve
from heldout.protocols.validation.curves.roc import RocCurve, roc_curve
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.validation.rows import (
    Candidate,
    ValidationRow,
    candidate_table,
    flag_notes,
    rms_rows,
    score_table,
    separation_notes,
)
from heldout.protocols.words import frequency_sentence
from heldout.spaces.regressions import MODELS


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

"""The result of a validation from its replicates: for each metric a row, an estimate and its flags; the model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.data.task import Task, TaskKind
from heldout.errors import InputError
from heldout.estimates.base import final_estimate
from heldout.estimates.data_flags import flag_of_failed, flags_of_groups
from heldout.estimates.evidence import settings_provenance
from heldout.estimates.intervals import Reached, no_interval
from heldout.estimates.question import Settings
from heldout.estimates.types import Estimate, Interval
from heldout.execution.row_flags import flags_of_copies
from heldout.execution.threads import on_one_thread
from heldout.flags import Flag
from heldout.imputation.coefficients import PooledCoefficients
from heldout.metrics.base import Metric, oriented, positive_of
from heldout.metrics.calibration import FittedPart
from heldout.metrics.constant_model import constant_of_rows
from heldout.protocols.validation import intervals
from heldout.protocols.validation.coefficients import FittedCoefficients, calibrates_itself
from heldout.protocols.validation.corrections import (
    CORRECTIONS,
    Automatic,
    CorrectedScore,
    Correction,
    Memorising,
    Optimism,
    corrected_score,
    memorising,
    with_inner_optimism,
)
from heldout.protocols.validation.estimate import Candidate, Validation, ValidationRow
from heldout.protocols.validation.plan import Fits, NoModelError, ValidationPlan
from heldout.protocols.validation.replicates import Replicates, ReplicateScores
from heldout.protocols.words import QUANTITY_OPTIMISM, QUANTITY_OUT_OF_BAG, QUANTITY_POINT632

_QUANTITIES = {"oob": QUANTITY_OUT_OF_BAG, "632": QUANTITY_POINT632, "632+": QUANTITY_POINT632}
_TWO_STAGE_UNCORRECTED = (
    "The model was chosen from {total} models by its corrected score on these rows, and a new bootstrap of the "
    "chosen model does not remove the optimism of the choice: the score is a little optimistic. A search over the "
    "models, passed as the model, repeats the choice in every bootstrap."
)
_CHOSEN_UNCORRECTED = (
    "The model was chosen from {total} models by the scores that are reported here, so the best of them is a "
    "little optimistic. A search over the models, passed as the model, repeats the choice in every bootstrap."
)
_ROWS_OF_GROUPS = "The intervals take rows as independent, and are too narrow where rows of a group are alike."
_NOT_ADJUSTED = "No optimism is subtracted here, so `adjust_optimism=True` has adjusted nothing."
_MEMORISED = "the model memorises its own samples, and its scores there say nothing about new rows"
OFTEN = 0.05
"""An estimate is flagged if a greater share of its replicates failed."""
FEW_ROWS = 20
"""Intervals are flagged below so many rows a column; rows of the rarer class, or with the event."""


@dataclass(frozen=True, eq=False)
class MetricResult:
    """One metric of one model: its scores and their correction."""

    metric: Metric
    scores: ReplicateScores
    corrected: CorrectedScore
    method: str
    """Of the correction; ``two_stage`` for the optimism of two stages."""
    kind: intervals.IntervalKind | None
    """The kind of interval that was wanted."""
    interval: Interval | None
    flags: Mapping[Flag, str]

    @property
    def row(self) -> ValidationRow:
        made_of = self.corrected.provenance
        return ValidationRow(
            metric=self.metric.name,
            apparent=self.scores.apparent,
            **{name: float(made_of.get(name, mean)) for name, mean in self.scores.means.items()},
            optimism=self.optimism,
            corrected=self.corrected.value,
            interval=None if self.interval is None or self.corrected.value not in self.interval else self.interval,
            n_successful=int(self.scores.successful.sum()),
            method=self.method,
            weight=float(made_of.get("weight", np.nan)),
            no_information=float(made_of.get("no_information", np.nan)),
            inner_optimism=float(made_of.get("inner_optimism", np.nan)),
            adjusted_optimism=float(made_of.get("adjusted_optimism", np.nan)),
        )

    @property
    def optimism(self) -> float:
        """Positive when flattering."""
        return float(oriented(self.metric, np.array(self.scores.apparent - self.corrected.value)))


@dataclass(frozen=True, eq=False)
class ValidationConclusion:
    """From the fits of a plan to its validation."""

    plan: ValidationPlan
    interval: str | None
    """Which kind, as the user named it."""
    settings: Settings
    record: Mapping[str, Any]
    """The settings, for the record."""

    def __call__(self, fits: Fits) -> Validation:
        """The validation; runs the stages after the first.

        Raises InputError when no model could be fitted on all rows.
        """
        fits.first()
        found = {j: self._first(fits, j) for j in range(len(self.plan.models))}
        candidates = tuple(candidate for candidate, _ in found.values())
        selected = self._selected(candidates)
        replicates = fits.of_last(selected) if self.plan.two_stages else fits.of_first(selected)
        measured = self._measured(replicates, None, selected) if self.plan.two_stages else found[selected][1]
        doubles, inner_flags = self._doubles(fits, selected, replicates, measured)
        if doubles is not None:
            measured = self._measured(replicates, doubles, selected)
        if self.plan.two_stages:
            # The optimism has another name in the second stage.
            measured = {
                name: replace(one, method="two_stage") if one.method == Optimism.name else one
                for name, one in measured.items()
            }
        failed = _often_failed(list(replicates.failed.values()), replicates.n_replicates)
        unfitted = {number: one.reason for number, one in enumerate(candidates) if one.reason}
        flags = {**inner_flags, **failed, **flag_of_failed([one.name for one in candidates], unfitted)}
        flags |= _flags_of_plan(self.plan, memorising(replicates))
        methods = {result.method for result in measured.values()}
        model, coefficients = self._deployed(selected)
        if isinstance(coefficients, str):
            flags |= Flag.NO_COEFFICIENTS.of(why=coefficients)
            coefficients = None
        # A model that could not be fitted on all rows had no samples.
        n_fits = self.plan.n_cells + 1 - self.plan.n_bootstraps * sum(not one.rows for one in candidates)
        return Validation(
            estimates={name: self._estimate(one, selected, replicates, flags) for name, one in measured.items()},
            rows={name: one.row for name, one in measured.items()},
            method=methods.pop() if len(methods) == 1 else Automatic.name,
            n_bootstraps=self.plan.n_bootstraps,
            n_second_bootstraps=self.plan.n_second,
            selected=selected,
            selected_name=self.plan.models[selected].name,
            candidates=candidates,
            model=model,
            coefficients=coefficients,
            replicates=replicates,
            failures=replicates.failed,
            n_fits=n_fits,
            metrics=self.plan.metrics,
            flags=flags,
            settings=self.record,
        )

    def _correction(self, method: str) -> Correction:
        """The one that a metric was corrected by."""
        return self.plan.correction if method == self.plan.correction.name else CORRECTIONS[method]()

    def _first(self, fits: Fits, model: int) -> tuple[Candidate, dict[str, MetricResult]]:
        name = self.plan.models[model].name
        try:
            replicates = fits.of_first(model)
        except NoModelError as error:
            return Candidate(name, {}, reason=str(error)), {}
        measured = self._measured(replicates, None, model)
        rows = {metric: one.row for metric, one in measured.items()}
        return Candidate(name, rows, replicates.failed), measured

    def _selected(self, found: Sequence[Candidate]) -> int:
        """The model of the best corrected score by the first metric; the first of those that tie."""
        name, metric = next(iter(self.plan.metrics.items()))
        fitted = [j for j, candidate in enumerate(found) if candidate.rows]
        if not fitted:
            reasons = "; ".join(f"{each.name}: {each.reason.rstrip('.')}" for each in found)
            raise InputError(f"no model could be fitted on all rows: {reasons}.")
        if len(found) == 1:
            return fitted[0]
        scores = oriented(metric, np.array([found[j].rows[name].corrected for j in fitted]))
        if np.isnan(scores).all():
            raise InputError(
                f"no model can be chosen, because none has a corrected {name}; name another metric first, or more "
                "n_bootstraps."
            )
        return fitted[int(np.nanargmax(scores))]

    def _measured(
        self, replicates: Replicates, doubles: Mapping[str, Floats] | None, model: int
    ) -> dict[str, MetricResult]:
        found, memorised = {}, memorising(replicates)
        is_calibrated = calibrates_itself(self.plan.models[model].fresh())
        for name, metric in self.plan.metrics.items():
            scores = replicates.scores(metric)
            corrected = corrected_score(self.plan.correction, replicates, scores)
            if doubles is not None and corrected.method == Optimism.name:
                corrected = with_inner_optimism(corrected, scores, doubles[name], adjust=self.plan.adjusts)
            reported = corrected.within(metric)
            kind = intervals.interval_kind(self.interval, corrected.method)
            # Scores on a model's own rows are near perfect where it memorises, and their spread says nothing.
            of_own = corrected.method == Optimism.name or (kind == "location_shifted" and memorised.is_perfect)
            bounded = no_interval(_MEMORISED) if kind and memorised.score and of_own else Reached(None, {})
            if not bounded.flags and (doubles is not None or kind != "double"):
                settings = self.settings
                bounded = intervals.interval_of(
                    kind, scores, reported.value, settings.confidence_level, settings.alternative,
                    doubles=None if doubles is None else doubles[name],
                    is_fixed=is_calibrated and isinstance(metric, FittedPart),
                )  # fmt: skip
            flags = dict[Flag, str]()
            if self.plan.correction.reads_left_out and metric.fits_to_its_rows:
                flags |= Flag.FITS_TO_ITS_ROWS.of(metric=name, method=self.plan.correction.name)
            flags |= {**_undefined_in_some(replicates, scores), **reported.flags, **bounded.flags}
            if self.plan.adjusts and corrected.method != Optimism.name and Flag.MEMORISES in flags:
                flags[Flag.MEMORISES] += f" {_NOT_ADJUSTED}"
            if bounded.interval is not None and kind != "percentile":
                flags |= _flags_of_width(self.plan.task)
            found[name] = MetricResult(metric, scores, corrected, corrected.method, kind, bounded.interval, flags)
        return found

    def _doubles(
        self, fits: Fits, model: int, outer: Replicates, measured: Mapping[str, MetricResult]
    ) -> tuple[dict[str, Floats] | None, dict[Flag, str]]:
        """For each metric the corrected score of every sample, by samples drawn from it; and flags of failures."""
        if not self.plan.n_inner:
            return None, {}
        found = {name: np.full(outer.n_replicates, np.nan) for name in self.plan.metrics}
        failures: list[str] = []
        total = 0
        for b, inner in fits.doubles(model, outer):
            failures += inner.failed.values()
            total += inner.n_replicates
            for name, metric in self.plan.metrics.items():
                correction = self._correction(measured[name].corrected.method)
                found[name][b] = corrected_score(correction, inner, inner.scores(metric)).value
        return found, _often_failed(failures, total)

    def _estimate(
        self, measured: MetricResult, selected: int, replicates: Replicates, flags: Mapping[Flag, str]
    ) -> Estimate:
        metric, task = measured.metric, self.plan.task
        method = measured.corrected.method
        of_interval = () if measured.kind is None else intervals.SOURCES_OF_INTERVAL[measured.kind]
        cited = [*self._correction(method).sources, *of_interval, *self.plan.do.sources, *metric.sources]
        positive = positive_of(metric, task.truth)
        value = measured.corrected.within(metric).value  # rows of the table keep R's arithmetic
        constant = constant_of_rows(metric, task.truth, sample_weight=task.sample_weight)
        return final_estimate(
            metric,
            measured.method,
            value,
            uncorrected=measured.scores.apparent,
            interval=measured.interval,
            standard_error=None,
            selected=selected,
            selected_name=self.plan.models[selected].name,
            n_rows_used=task.n_rows,
            distribution=measured.scores.out_of_bag
            if measured.kind == "percentile"
            else measured.scores.in_bootstrap,
            flags={**flags, **measured.flags},
            constant=constant,
            provenance={
                **settings_provenance(self.settings.entropy),
                "task": str(task.truth.kind),
                "pos_label": task.truth.label_of(positive),
                "quantity": _QUANTITIES.get(method, QUANTITY_OPTIMISM),
                "n_rows": task.n_rows,
                "n_configurations": len(self.plan.models),
                "n_bootstraps": self.plan.n_bootstraps,
                "n_successful": int(measured.scores.successful.sum()),
                "n_redraws": self.plan.last.redraws,
                "training_rows": self._training_rows(replicates, method),
                "grouped": task.groups is not None,
                "weighted": task.sample_weight is not None,
                "interval": measured.kind,
                "sources": list(dict.fromkeys(cited)),
                **measured.corrected.provenance,
                **({"n_second_bootstraps": self.plan.n_second} if self.plan.two_stages else {}),
            },
        )

    def _training_rows(self, replicates: Replicates, method: str) -> float:
        """Training rows of the validated models: all rows; for out-of-bag scores the distinct rows of a sample."""
        if method == "oob" and replicates.kept.size:
            return float(np.count_nonzero(replicates.counts[replicates.kept], axis=1).mean())
        return float(self.plan.task.n_rows)

    def _deployed(self, selected: int) -> tuple[Any, FittedCoefficients | PooledCoefficients | str | None]:
        """The selected model, fitted on all rows like the model of the apparent scores."""
        plan = self.plan
        with on_one_thread():  # like the cell
            model, coefficients = plan.do.deployed(plan.fits, plan.models[selected], plan.all_rows)
        if coefficients is None or isinstance(coefficients, str):
            return model, coefficients
        if plan.task.truth.positive == 0:  # scikit-learn's are of the last class in sorted order
            coefficients = replace(coefficients, values=0.0 - coefficients.values)
            if isinstance(coefficients, FittedCoefficients) and coefficients.of:
                coefficients = replace(coefficients, of=str(plan.task.truth.pos_label))
        if plan.task.groups is not None:
            coefficients = replace(coefficients, caveats=(*coefficients.caveats, _ROWS_OF_GROUPS))
        return model, coefficients


def _flags_of_plan(plan: ValidationPlan, memorised: Memorising) -> dict[Flag, str]:
    """The flags of the rows, the samples and the choice of the model."""
    groups = plan.task.groups
    units = np.arange(plan.task.n_rows) if groups is None else np.unique(groups, return_inverse=True)[1]
    flags = flags_of_copies(plan.task, units, plan.fits.entropy)  # samples leave out each unit by itself
    if len(plan.models) > 1:
        sentence = _TWO_STAGE_UNCORRECTED if plan.two_stages else _CHOSEN_UNCORRECTED
        flags[Flag.SELECTION_UNCORRECTED] = sentence.format(total=len(plan.models))
    redraws = plan.first.redraws + (plan.last.redraws if plan.two_stages else 0)
    if redraws:
        flags |= Flag.REDRAWN.of(redraws=redraws, needs="what the metrics or the model need")
    flags |= flags_of_groups(groups)
    n_columns, n_rows = _n_columns_of(plan.task), plan.task.n_rows
    by_optimism = plan.correction.name in (Optimism.name, Automatic.name) and not memorised.score
    if by_optimism and n_columns > n_rows:
        flags |= Flag.MORE_COLUMNS_THAN_ROWS.of(columns=n_columns, rows=n_rows)
    return {**flags, **plan.do.flags}


def _often_failed(failures: Sequence[str], total: int) -> dict[Flag, str]:
    """The flag of replicates without a model, if there are more than a few."""
    if len(failures) <= OFTEN * total:
        return {}
    return Flag.FAILED_REPLICATES.of(failed=len(failures), total=total, why=failures[0])


def _undefined_in_some(replicates: Replicates, scores: ReplicateScores) -> dict[Flag, str]:
    """The flag of replicates with a model but without a score: a perfectly separated sample has no slope."""
    total = replicates.n_replicates - len(replicates.failed)
    undefined = total - int(scores.successful.sum())
    if not undefined or undefined == total:  # the correction reports the case of no score at all
        return {}
    return Flag.UNDEFINED_BOOTSTRAPS.of(undefined=undefined, total=total, why="")


def _flags_of_width(task: Task) -> dict[Flag, str]:
    """The flag of an interval that is too narrow because there are few rows for the columns."""
    rows, of = task.n_rows, "rows"
    if task.truth.kind is TaskKind.SURVIVAL:
        rows, of = int(task.truth.values["event"].sum()), "events"
    elif task.truth.kind.is_classification:
        rows, of = int(task.truth.class_counts().min()), "rows of the rarest class"
    a_column = rows / max(_n_columns_of(task), 1)
    if a_column >= FEW_ROWS:
        return {}
    return Flag.FEW_ROWS_A_COLUMN.of(rows=a_column, of=of)


def _n_columns_of(task: Task) -> int:
    """The number of columns of the table; 0 if unknown."""
    shape = np.shape(task.X) if not hasattr(task.X, "shape") else task.X.shape
    return int(shape[1]) if len(shape) > 1 else 0

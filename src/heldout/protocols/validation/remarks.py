"""The flags of a validation: of the plan, of the replicates, and of the width of an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heldout.data.task import Task, TaskKind
from heldout.estimates.candidates import FEW_GROUPS, failed_sentence
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.protocols.validation.estimate import Candidate
from heldout.protocols.validation.plan import ValidationPlan
from heldout.protocols.validation.replicates import Replicates, ReplicateScores

TWO_STAGE_UNCORRECTED = (
    "The model was chosen from {total} models by its corrected score on these rows, and a new bootstrap of the "
    "chosen model does not remove the optimism of the choice: the score is a little optimistic. A search over the "
    "models, passed as the model, repeats the choice in every bootstrap."
)
CHOSEN_UNCORRECTED = (
    "The model was chosen from {total} models by the scores that are reported here, so the best of them is a "
    "little optimistic. A search over the models, passed as the model, repeats the choice in every bootstrap."
)


OFTEN = 0.05
"""An estimate is flagged if a greater share of its replicates failed."""
FEW_ROWS = 20
"""Intervals are flagged below so many rows a column; rows of the rarer class, or with the event."""


def flags_of_plan(plan: ValidationPlan) -> dict[Flag, str]:
    """The flags that are known before the first fit."""
    flags: dict[Flag, str] = {}
    if len(plan.models) > 1:
        sentence = TWO_STAGE_UNCORRECTED if plan.two_stages else CHOSEN_UNCORRECTED
        flags[Flag.SELECTION_UNCORRECTED] = sentence.format(total=len(plan.models))
    redraws = plan.first.redraws + (plan.last.redraws if plan.two_stages else 0)
    if redraws:
        needs = "what the metrics or the model need"
        flags[Flag.REDRAWN] = Flag.REDRAWN.filled(redraws=redraws, needs=needs)
    groups = plan.task.groups
    if groups is not None and (n_groups := len(np.unique(groups))) < FEW_GROUPS:
        flags[Flag.FEW_GROUPS] = Flag.FEW_GROUPS.filled(groups=n_groups)
    n_columns, n_rows = n_columns_of(plan.task), plan.task.n_rows
    if plan.correction.name == "optimism" and n_columns > n_rows:
        sentence = Flag.MORE_COLUMNS_THAN_ROWS.filled(columns=n_columns, rows=n_rows)
        flags[Flag.MORE_COLUMNS_THAN_ROWS] = sentence
    return {**flags, **plan.do.flags}


def no_candidates(models: Sequence[Candidate]) -> dict[Flag, str]:
    """The flag of models that could not be fitted on all rows."""
    failed = {number: model.reason for number, model in enumerate(models) if model.reason}
    if not failed:
        return {}
    return {Flag.FAILED_CONFIGURATIONS: failed_sentence([model.name for model in models], failed)}


def flags_of_metric(plan: ValidationPlan, metric: Metric) -> dict[Flag, str]:
    """The flag of a metric that is unsuited to the rows that the correction scores."""
    if not plan.correction.reads_left_out or not metric.fits_to_its_rows:
        return {}
    sentence = Flag.FITS_TO_ITS_ROWS.filled(metric=metric.name, method=plan.correction.name)
    return {Flag.FITS_TO_ITS_ROWS: sentence}


def often_failed(failures: Sequence[str], total: int) -> dict[Flag, str]:
    """The flag of replicates without a model, if there are more than a few."""
    if len(failures) <= OFTEN * total:
        return {}
    sentence = Flag.FAILED_REPLICATES.filled(failed=len(failures), total=total, why=failures[0])
    return {Flag.FAILED_REPLICATES: sentence}


def undefined_in_some(replicates: Replicates, scores: ReplicateScores) -> dict[Flag, str]:
    """The flag of replicates with a model but without a score: a perfectly separated sample has no slope."""
    total = replicates.n_replicates - len(replicates.failed)
    undefined = total - int(scores.successful.sum())
    if not undefined or undefined == total:  # the correction reports the case of no score at all
        return {}
    sentence = Flag.UNDEFINED_BOOTSTRAPS.filled(undefined=undefined, total=total, why="")
    return {Flag.UNDEFINED_BOOTSTRAPS: sentence}


def flags_of_width(task: Task) -> dict[Flag, str]:
    """The flag of an interval that is too narrow because there are few rows for the columns."""
    rows, of = task.n_rows, "rows"
    if task.truth.kind is TaskKind.SURVIVAL:
        rows, of = int(task.truth.values["event"].sum()), "events"
    elif task.truth.kind.is_classification:
        rows, of = int(task.truth.class_counts().min()), "rows of the rarest class"
    a_column = rows / max(n_columns_of(task), 1)
    if a_column >= FEW_ROWS:
        return {}
    return {Flag.FEW_ROWS_A_COLUMN: Flag.FEW_ROWS_A_COLUMN.filled(rows=a_column, of=of)}


def n_columns_of(task: Task) -> int:
    """The number of columns of the table; 0 if unknown."""
    shape = np.shape(task.X) if not hasattr(task.X, "shape") else task.X.shape
    return int(shape[1]) if len(shape) > 1 else 0

"""Whether a validation will fit in memory, asked before a sample is drawn."""

from __future__ import annotations

from heldout.data.memory import MOST_FITS, refuse_beyond_memory, refuse_more_than
from heldout.execution.memory import BYTES_A_CELL, bytes_a_row
from heldout.protocols.validation.plan import ValidationPlan

WHILE_SCORING = 8
"""A metric of all replicates at once takes up to so many numbers a row and replicate besides, as measured."""


def bytes_recorded(plan: ValidationPlan) -> int:
    """Of what all models say of the rows: what a run file holds."""
    return plan.most_fits * _bytes_of_fit(plan)


def check_memory(plan: ValidationPlan, *, keeps_fits: bool) -> None:
    """Refuse a plan whose samples and predictions would take more than half of the machine's memory.

    Parameters
    ----------
    plan : ValidationPlan
    keeps_fits : bool
        Whether what every fit says stays in memory until all is done, as without a store.

    Raises
    ------
    InputError
    """
    n_rows, n_bootstraps = plan.task.n_rows, plan.n_bootstraps
    what = f"fits ({n_bootstraps:,} bootstraps)"
    refuse_more_than(MOST_FITS, plan.most_fits, what, "fewer bootstraps: 200 are usual")
    drawn = plan.most_fits * (n_rows + BYTES_A_CELL)
    kept = bytes_recorded(plan) if keeps_fits else n_bootstraps * _bytes_of_fit(plan)
    gathered = n_bootstraps * max(2 * n_rows * _bytes_a_row(plan), _bytes_of_fit(plan))
    scored = WHILE_SCORING * 8 * n_bootstraps * n_rows
    refuse_beyond_memory(
        drawn + kept + gathered + scored,
        f"the samples and predictions of {plan.most_fits:,} fits on {n_rows:,} rows",
        f"{'a store, ' if keeps_fits else ''}fewer bootstraps or fewer metrics",
    )


def _bytes_of_fit(plan: ValidationPlan) -> int:
    return plan.task.n_rows * plan.do.n_completions * _bytes_a_row(plan)


def _bytes_a_row(plan: ValidationPlan) -> int:
    return bytes_a_row(plan.task.truth, plan.context.scoring)

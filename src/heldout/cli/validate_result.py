"""What ``heldout validate`` found, as a table for people and as one document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from heldout.wording import counted, number_text

if TYPE_CHECKING:
    from heldout.cli.validate_plan import ToValidate
    from heldout.protocols.validation.estimate import Validation, ValidationRow

_HEADINGS = ("metric", "apparent", "in bootstrap", "on original", "optimism", "corrected", "interval", "n")
_OUT_OF_BAG = ("metric", "apparent", "out of bag", "optimism", "corrected", "interval", "n")


def validation_lines(validation: Validation, files: dict[str, str]) -> list[str]:
    """The table as users of rms know it, its notes, and the files."""
    from heldout.estimates.comparison import aligned

    from_samples = validation.method in ("optimism", "two_stage")
    headings = list(_HEADINGS if from_samples else _OUT_OF_BAG)
    level = next((row.interval for row in validation.rows.values() if row.interval is not None), None)
    if level is not None:
        headings[headings.index("interval")] = f"interval ({level.confidence_level * 100:.4g}%)"
    lines = [f"{validation.selected_name} by {validation.method}", ""]
    lines += aligned([tuple(headings), *(_row(row, from_samples) for row in validation.rows.values())])
    if len(validation.candidates) > 1:
        lines += ["", "All models, corrected on the samples that they shared:", *_of_candidates(validation)]
    notes = dict.fromkeys(note for estimate in validation.estimates.values() for note in estimate.flags.values())
    lines += ["", *(f"- {note}" for note in notes)] if notes else []
    failed = f", {counted(len(validation.failures), 'bootstrap')} failed" if validation.failures else ""
    return [*lines, "", f"{counted(validation.n_fits, 'fit')}{failed}", *files.values()]


def _row(row: ValidationRow, from_samples: bool) -> tuple[str, ...]:
    between = (row.in_bootstrap, row.on_original) if from_samples else (row.out_of_bag,)
    numbers = [row.apparent, *between, row.optimism, row.corrected]
    interval = "none"
    if row.interval is not None:
        interval = f"{_number(row.interval.low)} to {_number(row.interval.high)}"
    return (row.metric, *(_number(number) for number in numbers), interval, str(row.n_successful))


def _of_candidates(validation: Validation) -> list[str]:
    from heldout.estimates.comparison import aligned

    metrics = list(validation.rows)
    rows = [("model", *metrics)]
    for each in validation.candidates:
        if each.rows:
            rows.append((each.name, *(_number(each.rows[name].corrected) for name in metrics)))
        else:
            rows.append((each.name, *("" for _ in metrics[1:]), each.reason))
    return aligned(rows)


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "none"
    return number_text(value, 4) if abs(value) < 100 else f"{value:.5g}"


def validation_document(validation: Validation, files: dict[str, str], asked: ToValidate) -> dict[str, Any]:
    """The validation's fields, and beside them what a script wants to know of the run."""
    return {
        **validation.to_dict(),
        "task": asked.plan.task.truth.kind.value,
        "n_rows": asked.plan.task.n_rows,
        "columns": list(asked.found.task.X.columns),
        "set_aside": dict(asked.found.set_aside),
        "files": files,
    }

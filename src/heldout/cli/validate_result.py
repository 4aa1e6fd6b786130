"""The result of ``heldout validate``, as a table for people and as one document."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from heldout._text import counted, number_text
from heldout.flags import Flag

if TYPE_CHECKING:
    from heldout.cli.validate_job import ValidateJob
    from heldout.imputation.rubin import PooledCoefficients
    from heldout.protocols.validation.estimate import Validation, ValidationRow

_OF_SAMPLES = ("in_bootstrap", "on_original")
_BETWEEN: Mapping[str, tuple[str, ...]] = {
    "optimism": _OF_SAMPLES, "two_stage": _OF_SAMPLES, "632+": ("out_of_bag", "no_information", "weight"),
}  # fmt: skip
"""From which columns, beside the apparent score, a method makes the corrected one; by default ``out_of_bag``."""
MOST_COEFFICIENTS = 30


def validation_lines(validation: Validation, files: Mapping[str, str], *, seconds: float) -> list[str]:
    """The table as users of rms know it, its notes, and the files."""
    from heldout.estimates.comparison import aligned
    from heldout.execution.listeners.words import command_words
    from heldout.protocols.words import frequency_sentence

    between = _BETWEEN.get(validation.method, ("out_of_bag",))
    between += ("inner_optimism",) if validation.settings.get("adjust_optimism") else ()
    numbers = ("apparent", *between, "optimism", "corrected")
    headings = ["metric", *(name.replace("_", " ") for name in numbers), "interval", "n"]
    level = next((row.interval for row in validation.rows.values() if row.interval is not None), None)
    if level is not None:
        headings[headings.index("interval")] = f"interval ({level.confidence_level * 100:.4g}%)"
    lines = ["", f"{validation.selected_name} by {validation.method}", ""]
    lines += aligned([tuple(headings), *(_row(row, numbers) for row in validation.rows.values())])
    if len(validation.candidates) > 1:
        lines += ["", "All models, corrected on the samples that they shared:", *_of_candidates(validation)]
    if validation.coefficients is not None:
        confidence = float(validation.settings["confidence_level"])
        lines += ["", *_of_coefficients(validation.coefficients, confidence)]
    if validation.selection is not None:
        lines += ["", str(validation.selection), frequency_sentence(validation.selection_frequency)]
    notes = [*_separation(validation), *validation_notes(validation)]
    lines += ["", *(f"- {note}" for note in notes)] if notes else []
    failed = f", {counted(len(validation.failures), 'bootstrap')} failed" if validation.failures else ""
    fits = f"{counted(validation.n_fits, 'fit')}{failed}"
    return [*lines, "", fits, command_words(seconds), *files.values()]


def _row(row: ValidationRow, numbers: Sequence[str]) -> tuple[str, ...]:
    interval = "none"
    if row.interval is not None:
        interval = f"{_number(row.interval.low)} to {_number(row.interval.high)}"
    return (row.metric, *(_number(getattr(row, name)) for name in numbers), interval, str(row.n_successful))


def _of_candidates(validation: Validation) -> list[str]:
    from heldout.estimates.comparison import aligned

    metrics = list(validation.rows)
    rows = [("model", *metrics)]
    rows += [
        (each.name, *(_number(each.rows[name].corrected) for name in metrics))
        for each in validation.candidates
        if each.rows
    ]
    # The reason for a failed fit is too long for a column.
    return aligned(rows) + [
        f"{each.name}: not fitted ({' '.join(each.reason.split())})"
        for each in validation.candidates
        if not each.rows
    ]


def _of_coefficients(pooled: PooledCoefficients, level: float) -> list[str]:
    from heldout.estimates.comparison import aligned

    n = len(pooled.names)
    title = f"Coefficients of the model of all rows, pooled over {pooled.n_imputations} imputations"
    if n > MOST_COEFFICIENTS:
        return [f"{title}: {n}, listed in validation.json."]
    columns = (pooled.values, pooled.standard_errors, *pooled.intervals(level).T, pooled.variance_from_missing)
    rows = [("", "value", "standard error", f"interval ({level * 100:.4g}%)", "variance from missing")]
    for name, value, error, low, high, share in zip(pooled.names, *columns, strict=True):
        interval = f"{_number(low)} to {_number(high)}"
        rows.append((name, _number(value), _number(error), interval, f"{share:.0%}"))
    return [f"{title}:", *aligned(rows)]


def _separation(validation: Validation) -> list[str]:
    """A note where an unpenalised model separates the classes without an error."""
    from heldout.data.task import TaskKind
    from heldout.metrics.base import Response
    from heldout.spaces.regressions import MODELS

    truth = validation.replicates.truth
    probabilities = validation.replicates.apparent.get(Response.PROBABILITIES)
    if validation.selected_name not in MODELS or not truth.kind.is_classification or probabilities is None:
        return []
    if truth.kind is TaskKind.BINARY:
        positive = truth.values == truth.positive
        if not (probabilities[positive].min(axis=0) > probabilities[~positive].max(axis=0)).all():
            return []
    elif not (probabilities.argmax(axis=-1) == truth.values[:, None]).all():
        return []
    return [
        "The model tells the classes of its own rows apart without an error; then the likelihood has no highest "
        "point, and coefficients and probabilities depend on where the fit stopped: use fewer --predictor, or a "
        "penalised model in a file."
    ]


def validation_notes(validation: Validation) -> list[str]:
    """The flags of the estimates, each once, with the metrics that it is about."""
    found: dict[tuple[Flag, str], dict[str, str]] = {}
    for name, estimate in validation.estimates.items():
        for flag, message in estimate.flags.items():
            if flag is Flag.NO_BOUND and Flag.UNDEFINED in estimate.flags:
                continue  # the reason for no score is the reason for no interval
            found.setdefault((flag, message.replace(name, "{}")), {})[name] = message
    with_interval = {name for name, estimate in validation.estimates.items() if estimate.interval is not None}
    return [_note(pattern, messages, with_interval) for (_, pattern), messages in found.items()]


def _note(pattern: str, messages: Mapping[str, str], with_interval: Set[str]) -> str:
    """One sentence for all metrics with this flag; a flag of all intervals needs no names."""
    first, *others = messages
    if "{}" in pattern:
        return messages[first] + (f" So too: {', '.join(others)}." if others else "")
    return pattern if with_interval <= messages.keys() else f"{', '.join(messages)}: {pattern}"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "none"
    return number_text(value, 4) if abs(value) < 100 else f"{value:.5g}"


def validation_document(
    validation: Validation, files: Mapping[str, str], job: ValidateJob, *, seconds: float
) -> dict[str, Any]:
    """The fields of the validation and of the run."""
    return {
        **validation.to_dict(),
        "task": job.plan.task.truth.kind.value,
        "n_rows": job.plan.task.n_rows,
        "columns": list(job.found.task.X.columns),
        "set_aside": dict(job.found.excluded),
        "seconds": {"command": seconds},
        "files": dict(files),
    }

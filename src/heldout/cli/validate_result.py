"""The result of ``heldout validate``, as text for people and as one document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heldout._text import counted

if TYPE_CHECKING:
    from heldout.cli.validate_job import ValidateJob
    from heldout.protocols.validation.estimate import Validation


def validation_lines(validation: Validation, files: Mapping[str, str], *, seconds: float) -> list[str]:
    """The tables and notes of the validation, and the files."""
    from heldout.execution.listeners.words import command_words

    failed = f", {counted(len(validation.failures), 'bootstrap')} failed" if validation.failures else ""
    fits = f"{counted(validation.n_fits, 'fit')}{failed}"
    return ["", *str(validation).splitlines(), "", fits, command_words(seconds), *files.values()]


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

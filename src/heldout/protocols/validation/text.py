"""A validation as text: the table as users of ``rms`` know it, and the notes below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from heldout._text_table import TextTable, cell_interval, cell_number
from heldout.data.task import TaskKind
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.validation.rms import rms_labels
from heldout.protocols.validation.rows import Candidate, ValidationRow

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
    numbers = ("apparent", *between, "optimism", "corrected")
    interval = next((row.interval for row in rows.values() if row.interval is not None), None)
    heading = "interval" if interval is None else f"interval ({interval.confidence_level * 100:.4g}%)"
    by_row = ("method",) if method == "auto" else ()
    headings = ("metric", *by_row, *(name.replace("_", " ") for name in numbers), heading, "n")
    labels = rms_labels(rows)
    cells = (
        (labels.get(name, row.metric), *(getattr(row, each) for each in by_row), *_score_cells(row, numbers))
        for name, row in rows.items()
    )
    return TextTable(title, headings, tuple(cells))


def _score_cells(row: ValidationRow, numbers: Sequence[str]) -> tuple[str, ...]:
    interval = "none" if row.interval is None else cell_interval(row.interval.low, row.interval.high)
    return (*(cell_number(getattr(row, name)) for name in numbers), interval, str(row.n_successful))


def candidate_table(candidates: Sequence[Candidate], metrics: Sequence[str]) -> TextTable:
    """A row a model; those that could not be fitted are in the notes, with the reason."""
    rows = tuple(
        (each.name, *(cell_number(each.rows[name].corrected) for name in metrics))
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

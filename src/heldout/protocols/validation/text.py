"""A validation as text: the table as users of ``rms`` know it, the coefficients, and the notes.

The same cells make the table of a terminal, of a notebook and of the report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._text import in_python, number_text
from heldout.data.task import TaskKind
from heldout.estimates.comparison import aligned
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.imputation.coefficients import INTERCEPT
from heldout.imputation.rubin import PooledCoefficients
from heldout.kernels.reference import Floats
from heldout.metrics.base import Response
from heldout.protocols.validation.coefficients import FittedCoefficients
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.validation.rows import Candidate, ValidationRow

_OF_SAMPLES = ("in_bootstrap", "on_original")
_BETWEEN: Mapping[str, tuple[str, ...]] = {
    "optimism": _OF_SAMPLES, "two_stage": _OF_SAMPLES, "632+": ("out_of_bag", "no_information", "weight"),
}  # fmt: skip
"""From which columns, beside the apparent score, a method makes the corrected one; by default ``out_of_bag``."""
MOST_COEFFICIENTS = 30
ROUNDED = 1e-9
"""Below it a number is what rounding leaves of 0, as the calibration intercept of a model on its own rows."""
SEPARATED = (
    "The model tells the classes of its own rows apart without an error; then the likelihood has no highest point, "
    "and coefficients and probabilities depend on where the fit stopped: use fewer columns, or a penalised model."
)


@dataclass(frozen=True)
class TextTable:
    """Cells as text; the first of each row is its name.

    Attributes
    ----------
    title : str
    headings : tuple of str
    rows : tuple of tuple of str
    notes : tuple of str
        Sentences below it.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """As lines of a terminal, below an empty one."""
        return ["", f"{self.title}:", *aligned([self.headings, *self.rows]), *self.notes]


def score_table(title: str, rows: Mapping[str, ValidationRow], method: str, *, adjusts: bool = False) -> TextTable:
    """A row a metric: what the correction is made of, the corrected score and its interval."""
    between = _BETWEEN.get(method, ("out_of_bag",)) + (("inner_optimism",) if adjusts else ())
    numbers = ("apparent", *between, "optimism", "corrected")
    interval = next((row.interval for row in rows.values() if row.interval is not None), None)
    heading = "interval" if interval is None else f"interval ({interval.confidence_level * 100:.4g}%)"
    headings = ("metric", *(name.replace("_", " ") for name in numbers), heading, "n")
    return TextTable(title, headings, tuple(_score_cells(row, numbers) for row in rows.values()))


def _score_cells(row: ValidationRow, numbers: Sequence[str]) -> tuple[str, ...]:
    interval = "none" if row.interval is None else _interval(row.interval.low, row.interval.high)
    return (row.metric, *(_number(getattr(row, name)) for name in numbers), interval, str(row.n_successful))


def candidate_table(candidates: Sequence[Candidate], metrics: Sequence[str]) -> TextTable:
    """A row a model; those that could not be fitted are in the notes, with the reason."""
    rows = tuple(
        (each.name, *(_number(each.rows[name].corrected) for name in metrics)) for each in candidates if each.rows
    )
    # The reason for a failed fit is too long for a column.
    failed = tuple(
        f"{each.name}: not fitted ({' '.join(each.reason.split())})" for each in candidates if not each.rows
    )
    return TextTable("All models, corrected on the samples that they shared", ("model", *metrics), rows, failed)


def coefficient_table(
    found: FittedCoefficients | PooledCoefficients, level: float, *, n_models: int = 1
) -> TextTable:
    """A row a coefficient: its value and uncertainty, and its odds or hazard ratio with the interval of that.

    ``n_models``: among how many models it was chosen.
    """
    has_intervals = bool(np.isfinite(found.standard_errors).any())
    columns = {"value": [_number(value) for value in found.values.tolist()]}
    if has_intervals:
        columns["standard error"] = [_number(error) for error in found.standard_errors.tolist()]
    shown = [bool(not found.ratio or name != INTERCEPT) for name in found.names]
    if found.ratio:
        ratios = zip(_exp(found.values), shown, strict=True)
        columns[found.ratio] = [_number(ratio) if there else "" for ratio, there in ratios]
    if has_intervals:
        ends = found.intervals(level)
        pairs = _exp(ends) if found.ratio else ends.tolist()
        columns[f"interval ({level * 100:.4g}%)"] = [
            _interval(*pair) if there else "" for pair, there in zip(pairs, shown, strict=True)
        ]
        columns["p"] = [_p_value(value) for value in found.p_values.tolist()]
    if isinstance(found, PooledCoefficients):
        columns["df"] = [f"{df:.1f}" for df in found.df.tolist()]
        columns["variance from missing"] = [f"{share:.0%}" for share in found.variance_from_missing.tolist()]
    rows = tuple(zip(found.names, *columns.values(), strict=True))
    notes = _coefficient_notes(found)
    if has_intervals and n_models > 1:
        notes += (f"The intervals ignore that the model was chosen among {n_models}.",)
    if len(rows) > MOST_COEFFICIENTS:
        where = in_python(".coefficients.to_frame()", "validation.json")
        notes = (f"... and {len(rows) - MOST_COEFFICIENTS} more, in {where}.", *notes)
    return TextTable(_coefficient_title(found), ("", *columns), rows[:MOST_COEFFICIENTS], notes)


def _coefficient_title(found: FittedCoefficients | PooledCoefficients) -> str:
    if isinstance(found, PooledCoefficients):
        return f"Coefficients of the model of all rows, pooled over {found.n_imputations} imputations"
    log_odds = f" (log-odds of {found.of})" if found.of else " (log hazards)" if found.ratio else ""
    return f"Coefficients of the model of all rows{log_odds}"


def _coefficient_notes(found: FittedCoefficients | PooledCoefficients) -> tuple[str, ...]:
    if isinstance(found, PooledCoefficients):
        return ()
    notes = []
    if found.references:
        listed = ", ".join(f"{level} ({column})" for column, level in found.references.items())
        notes.append(f"Levels of text are compared with {listed}.")
    if found.rescaled_by:
        notes.append(f"They are in the units that {', '.join(found.rescaled_by)} makes, not in those of the table.")
    if (test := found.likelihood_ratio) is not None:
        p = _p_value(test.p_value)
        p = p if p.startswith("<") else f"= {p}"
        notes.append(f"Likelihood ratio χ² = {_number(test.statistic)}, {test.df} degrees of freedom, p {p}.")
    if found.reason:
        notes.append(f"No intervals: {found.reason[0].lower()}{found.reason[1:]}.")
    return tuple(notes)


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
            found.setdefault((flag, message.replace(name, "{}")), {})[name] = message
    with_interval = {name for name, estimate in estimates.items() if estimate.interval is not None}
    return [_note(pattern, messages, with_interval) for (_, pattern), messages in found.items()]


def _note(pattern: str, messages: Mapping[str, str], with_interval: Set[str]) -> str:
    """One sentence for all metrics with this flag; a flag of all intervals needs no names."""
    first, *others = messages
    if "{}" in pattern:
        return messages[first] + (f" So too: {', '.join(others)}." if others else "")
    return pattern if with_interval <= messages.keys() else f"{', '.join(messages)}: {pattern}"


def _exp(values: Floats) -> list[Any]:
    with np.errstate(over="ignore"):
        listed: list[Any] = np.exp(values).tolist()
    return listed


def _interval(low: float, high: float) -> str:
    return f"{_number(low)} to {_number(high)}"


def _p_value(value: float) -> str:
    return "none" if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "none"
    if abs(value) < ROUNDED:
        return "0"
    return number_text(value, 4) if abs(value) < 100 else f"{value:.5g}"

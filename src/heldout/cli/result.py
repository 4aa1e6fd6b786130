"""An estimate as the few lines that end a command, its numbers to the digits that the report shows too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.wording import number_text

if TYPE_CHECKING:
    from heldout.estimates.types import Estimate, Interval


def estimate_rows(estimate: Estimate) -> list[tuple[str, str]]:
    """Labels and what they say."""
    from heldout.report.numbers import scale_of

    rows = [("metric", str(estimate.metric))]
    decimals = scale_of(str(estimate.metric), True, estimate).decimals
    if estimate.method == "cv":
        rows.append(("uncorrected", _number(estimate.uncorrected, decimals)))
    else:
        rows += [
            ("corrected", f"{_number(estimate.value, decimals)} by {estimate.method}"),
            ("interval", "none" if estimate.interval is None else _interval(estimate.interval, decimals)),
            ("uncorrected", _number(estimate.uncorrected, decimals)),
            ("optimism", _number(estimate.optimism, decimals)),
        ]
    notes = list(estimate.flags.values())
    return rows + ([("note" if len(notes) == 1 else "notes", "\n".join(notes))] if notes else [])


def _number(value: float, decimals: int) -> str:
    return number_text(value, decimals) if math.isfinite(value) else "none"


def _interval(interval: Interval, decimals: int) -> str:
    sides = "" if interval.alternative == "two-sided" else f", {interval.alternative}"
    low, high = (
        number_text(end, decimals) if math.isfinite(end) else str(end) for end in (interval.low, interval.high)
    )
    return f"{low} to {high} ({interval.confidence_level * 100:.4g}% confidence{sides})"

"""An estimate as the few lines that end a command."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heldout.estimates.types import Estimate, Interval


def estimate_rows(estimate: Estimate) -> list[tuple[str, str]]:
    """Labels and what they say."""
    rows = [("metric", str(estimate.metric))]
    if estimate.method == "cv":
        rows.append(("uncorrected", f"{estimate.uncorrected:.4g}"))
    else:
        rows += [
            ("corrected", f"{_number(estimate.value, 4)} by {estimate.method}"),
            ("interval", "none" if estimate.interval is None else _interval(estimate.interval)),
            ("uncorrected", _number(estimate.uncorrected, 4)),
            ("optimism", _number(estimate.optimism, 2)),
        ]
    notes = list(estimate.flags.values())
    return rows + ([("note" if len(notes) == 1 else "notes", "\n".join(notes))] if notes else [])


def _number(value: float, digits: int) -> str:
    return "none" if math.isnan(value) else f"{value:.{digits}g}"


def _interval(interval: Interval) -> str:
    sides = "" if interval.alternative == "two-sided" else f", {interval.alternative}"
    return f"{interval.low:.4g} to {interval.high:.4g} ({interval.confidence_level:.0%} confidence{sides})"

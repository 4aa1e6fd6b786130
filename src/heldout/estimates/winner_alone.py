"""The winner as if it had been named beforehand: what methods that take it so say and conclude."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from heldout.estimates.base import Method, conclude, no_value
from heldout.estimates.evidence import Evidence
from heldout.estimates.spread import Spread, interval_around
from heldout.estimates.types import Estimate
from heldout.flags import Flag

QUANTITY = (
    "the expected performance, over training sets of the size of a fold's training part, of the winner as if it "
    "had been chosen beforehand; the interval is of this score and does not include the choice"
)


def flags_of_winner_alone(evidence: Evidence) -> dict[Flag, str]:
    """What to know of a winner that was selected, where neither value nor interval pays for it."""
    if not evidence.was_selected:
        return {}
    return {
        Flag.UNCORRECTED: Flag.UNCORRECTED.filled(chosen_from=evidence.chosen_from),
        Flag.SELECTION_IGNORED: Flag.SELECTION_IGNORED.filled(),
    }


def estimate_around(
    evidence: Evidence,
    method: Method,
    spread: Spread,
    *,
    flags: Mapping[Flag, str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Estimate:
    """The estimate of a winner alone: its score, and the interval around it.

    Where there is no standard error, the ends are NaN, and a flag gives the reason of ``spread``.
    """
    metric, settings = evidence.metric, evidence.settings
    if math.isnan(spread.center):
        return no_value(evidence, method, f"{metric.name} has no value", uncorrected=spread.center)
    said = flags_of_winner_alone(evidence) | dict(flags or {})
    has_error = math.isfinite(spread.standard_error)
    if not has_error:
        reason = spread.reason or f"the {metric.name} of the winner has no finite standard error"
        said[Flag.NO_BOUND] = Flag.NO_BOUND.filled(reason=reason)
        spread = spread._replace(standard_error=math.nan)
    return conclude(
        evidence,
        method,
        spread.center,
        uncorrected=spread.center,
        interval=interval_around(spread, metric, settings.confidence_level, settings.alternative),
        standard_error=spread.standard_error if has_error else None,
        flags=said,
        provenance={"quantity": QUANTITY, **(provenance or {})},
    )

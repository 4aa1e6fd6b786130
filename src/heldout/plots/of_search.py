"""The plot of a result that says most."""

from __future__ import annotations

from typing import Any

from heldout._registry import registered
from heldout.estimates.types import Estimate
from heldout.plots.corrected_score import CorrectedScoreDisplay
from heldout.plots.ranking import RankingDisplay


@registered("plot")
def most_useful_plot(result: Any, ax: Any = None, **kwargs: Any) -> CorrectedScoreDisplay | RankingDisplay:
    """The corrected score of an estimate, a search or its evaluation; without an estimate the configurations."""
    drawn: CorrectedScoreDisplay | RankingDisplay
    if isinstance(result, Estimate):
        drawn = CorrectedScoreDisplay.from_estimate(result, ax=ax, **kwargs)
    else:
        estimate = result.estimate_ if hasattr(result, "estimate_") else result.estimate
        display = RankingDisplay if estimate is None else CorrectedScoreDisplay
        drawn = display.from_search(result, ax=ax, **kwargs)
    return drawn

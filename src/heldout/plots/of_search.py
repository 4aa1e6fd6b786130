"""The plot of a search that says most."""

from __future__ import annotations

from typing import Any

from heldout.plots.corrected_score import CorrectedScoreDisplay
from heldout.plots.ranking import RankingDisplay


def most_useful_plot(search: Any, ax: Any = None, **kwargs: Any) -> CorrectedScoreDisplay | RankingDisplay:
    """The corrected score of a search or its evaluation; without an estimate the ranking of its configurations."""
    estimate = search.estimate_ if hasattr(search, "estimate_") else search.estimate
    display = RankingDisplay if estimate is None else CorrectedScoreDisplay
    drawn: CorrectedScoreDisplay | RankingDisplay = display.from_search(search, ax=ax, **kwargs)
    return drawn

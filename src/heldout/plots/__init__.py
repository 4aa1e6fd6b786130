"""Plots of what a search, an estimate or a validation found, as scikit-learn's Display classes.

A plot is made by ``from_search``, ``from_estimate``, ``from_validation`` or ``from_predictions`` of its class. The
display that these return keeps the numbers that are drawn, and draws them again by ``plot``. matplotlib comes with
the extra ``plot``.
"""

from heldout.plots.corrected_score import CorrectedScoreDisplay
from heldout.plots.history import SearchHistoryDisplay
from heldout.plots.optimism import OptimismCurveDisplay
from heldout.plots.parameters import ParameterPlaneDisplay, ParameterSliceDisplay
from heldout.plots.race import RaceDisplay
from heldout.plots.ranking import RankingDisplay
from heldout.plots.threshold import ThresholdChoiceDisplay
from heldout.plots.winner_curves import (
    CalibrationDisplay,
    DecisionCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
)

__all__ = [
    "CalibrationDisplay",
    "CorrectedScoreDisplay",
    "DecisionCurveDisplay",
    "OptimismCurveDisplay",
    "ParameterPlaneDisplay",
    "ParameterSliceDisplay",
    "PrecisionRecallDisplay",
    "RaceDisplay",
    "RankingDisplay",
    "RocCurveDisplay",
    "SearchHistoryDisplay",
    "ThresholdChoiceDisplay",
]

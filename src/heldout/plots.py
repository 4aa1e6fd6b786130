"""Plots of what a search, an estimate or a validation found, as scikit-learn's Display classes.

A plot is made by ``from_search``, ``from_estimate``, ``from_validation`` or ``from_predictions`` of its class. The
display that these return keeps the numbers that are drawn: ``plot`` draws them again, ``frame`` returns them as a
table. Reports draw the same displays. matplotlib comes with the extra ``plot``.
"""

from heldout.report.displays.corrected_score import CorrectedScoreDisplay
from heldout.report.displays.curves import (
    CalibrationDisplay,
    DecisionCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
)
from heldout.report.displays.history import OptimismCurveDisplay, SearchHistoryDisplay
from heldout.report.displays.parameters import ParameterPlaneDisplay, ParameterSliceDisplay
from heldout.report.displays.race import RaceDisplay
from heldout.report.displays.ranking import LeaderboardDisplay, RankingDisplay
from heldout.report.displays.threshold import ThresholdChoiceDisplay

__all__ = [
    "CalibrationDisplay",
    "CorrectedScoreDisplay",
    "DecisionCurveDisplay",
    "LeaderboardDisplay",
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

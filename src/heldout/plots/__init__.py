"""Plots of what a search, an estimate or a validation found, as scikit-learn's Display classes.

A plot is made by ``from_search``, ``from_estimate``, ``from_validation`` or ``from_predictions`` of its class. The
display that these return keeps the numbers that are drawn, and draws them again by ``plot``. matplotlib comes with
the extra ``plot``.
"""

from heldout.plots.calibration import CalibrationDisplay
from heldout.plots.corrected_score import CorrectedScoreDisplay
from heldout.plots.decision import DecisionCurveDisplay
from heldout.plots.history import SearchHistoryDisplay
from heldout.plots.optimism import OptimismCurveDisplay
from heldout.plots.parameter_plane import ParameterPlaneDisplay
from heldout.plots.parameter_slice import ParameterSliceDisplay
from heldout.plots.precision_recall import PrecisionRecallDisplay
from heldout.plots.race import RaceDisplay
from heldout.plots.ranking import RankingDisplay
from heldout.plots.roc import RocCurveDisplay
from heldout.plots.threshold import ThresholdChoiceDisplay

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

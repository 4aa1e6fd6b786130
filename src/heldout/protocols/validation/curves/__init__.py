"""Whole curves corrected for optimism, point by point: calibration, ROC, net benefit."""

from heldout.protocols.validation.curves.calibration import CalibrationCurve, CalibrationPoint, calibration_curve
from heldout.protocols.validation.curves.decision import DecisionCurve, decision_curve
from heldout.protocols.validation.curves.roc import RocCurve, roc_curve

__all__ = [
    "CalibrationCurve",
    "CalibrationPoint",
    "DecisionCurve",
    "RocCurve",
    "calibration_curve",
    "decision_curve",
    "roc_curve",
]

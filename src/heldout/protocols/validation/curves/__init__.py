"""Whole curves corrected for optimism, point by point: calibration, ROC, net benefit."""

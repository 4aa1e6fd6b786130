"""Paired questions: configurations compared with each other on the same matrix of held-out predictions."""

from heldout.estimates.paired.compare import ConfigurationComparison, compare_configurations
from heldout.estimates.paired.confidence_set import ConfidenceSet
from heldout.estimates.paired.optimism_curve import OptimismCurve
from heldout.estimates.paired.scores import Difference

__all__ = ["ConfidenceSet", "ConfigurationComparison", "Difference", "OptimismCurve", "compare_configurations"]

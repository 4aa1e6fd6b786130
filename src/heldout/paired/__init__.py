"""Paired questions: configurations compared with each other on the same matrix of held-out predictions."""

from heldout.paired.compare import ConfigurationComparison, compare_configurations
from heldout.paired.confidence_set import ConfidenceSet
from heldout.paired.difference import Difference
from heldout.paired.optimism_curve import OptimismCurve

__all__ = ["ConfidenceSet", "ConfigurationComparison", "Difference", "OptimismCurve", "compare_configurations"]

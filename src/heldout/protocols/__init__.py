"""Protocols: procedures that need fits of their own, beyond those of one search."""

from heldout.folds.plans import (
    auto_folds,
    bootstrap,
    hold_out,
    k_folds,
    leave_one_out,
    paired_hold_out,
    repeated,
    repeated_hold_out,
)
from heldout.imputation.backward import BackwardSelection
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.coefficients import PooledCoefficients
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.pooled import PooledModel
from heldout.imputation.settings import Imputation
from heldout.protocols.algorithms.comparison import (
    AlgorithmComparison,
    AlgorithmDifference,
    AlgorithmSelections,
    ComparedAlgorithm,
    FitCosts,
)
from heldout.protocols.algorithms.protocol import compare_algorithms
from heldout.protocols.algorithms.relevance import Relevance
from heldout.protocols.learning_curve import CurvePoint, LearningCurve, learning_curve
from heldout.protocols.nested.estimate import Agreement, NestedEstimate, OuterFold
from heldout.protocols.nested.intervals import BatesHastieTibshirani
from heldout.protocols.nested.protocol import nested_cv
from heldout.protocols.pooled_performance import PooledScore, pool_scores, pooled_performance
from heldout.protocols.power_law import PowerLaw
from heldout.protocols.search_bootstrap import SearchBootstrap, SearchBootstrapEstimate, bootstrap_search
from heldout.protocols.validation.arguments import bootstrap_validate
from heldout.protocols.validation.coefficients import FittedCoefficients
from heldout.protocols.validation.curves import CalibrationCurve, DecisionCurve, RocCurve
from heldout.protocols.validation.estimate import Candidate, Validation, ValidationRow

__all__ = [
    "Agreement",
    "AlgorithmComparison",
    "AlgorithmDifference",
    "AlgorithmSelections",
    "BackwardSelection",
    "BatesHastieTibshirani",
    "CalibrationCurve",
    "Candidate",
    "ChainedImputer",
    "ComparedAlgorithm",
    "CurvePoint",
    "DecisionCurve",
    "FitCosts",
    "FittedCoefficients",
    "Imputation",
    "ImputedModel",
    "LearningCurve",
    "NestedEstimate",
    "OuterFold",
    "PooledCoefficients",
    "PooledModel",
    "PooledScore",
    "PowerLaw",
    "Relevance",
    "RocCurve",
    "SearchBootstrap",
    "SearchBootstrapEstimate",
    "Validation",
    "ValidationRow",
    "auto_folds",
    "bootstrap",
    "bootstrap_search",
    "bootstrap_validate",
    "compare_algorithms",
    "hold_out",
    "k_folds",
    "learning_curve",
    "leave_one_out",
    "nested_cv",
    "paired_hold_out",
    "pool_scores",
    "pooled_performance",
    "repeated",
    "repeated_hold_out",
]

"""Missing values: complete them several times, and pool the models fitted on each completion."""

from heldout.imputation.backward import BackwardSelection, RemovedTerm, Selection
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.coefficients import Coefficients, coefficients_of
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.pooled import PooledModel
from heldout.imputation.pooled_scores import PooledScore, pool_scores
from heldout.imputation.rubin import PooledCoefficients, pool_coefficients
from heldout.imputation.settings import Imputation
from heldout.imputation.tables import has_missing

__all__ = [
    "BackwardSelection",
    "ChainedImputer",
    "Coefficients",
    "Imputation",
    "ImputedModel",
    "PooledCoefficients",
    "PooledModel",
    "PooledScore",
    "RemovedTerm",
    "Selection",
    "coefficients_of",
    "has_missing",
    "pool_coefficients",
    "pool_scores",
]

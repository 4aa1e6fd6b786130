"""Ready configuration spaces: models worth trying on a table, the preprocessing that they need, and Cox models."""

from heldout.spaces.boosted_linear import BoostedLinear
from heldout.spaces.cox import CoxRegression
from heldout.spaces.cox_statsmodels import StatsmodelsCox
from heldout.spaces.glvq import GLVQ
from heldout.spaces.lvq1 import LVQ1
from heldout.spaces.preprocessing import default_preprocessing
from heldout.spaces.presets import PRESETS, Entry, preset, quick, standard
from heldout.spaces.random_subspace_knn import RandomSubspaceKNN
from heldout.spaces.ses import SES
from heldout.spaces.shrinkage_discriminant import ShrinkageDiscriminant

__all__ = [
    "GLVQ",
    "LVQ1",
    "PRESETS",
    "SES",
    "BoostedLinear",
    "CoxRegression",
    "Entry",
    "RandomSubspaceKNN",
    "ShrinkageDiscriminant",
    "StatsmodelsCox",
    "default_preprocessing",
    "preset",
    "quick",
    "standard",
]

"""Ready configuration spaces: models worth trying on a table, the preprocessing that they need, and Cox models."""

from heldout.spaces.cox import CoxRegression
from heldout.spaces.cox_statsmodels import StatsmodelsCox
from heldout.spaces.preprocessing import default_preprocessing
from heldout.spaces.presets import PRESETS, Entry, preset, quick, standard

__all__ = [
    "PRESETS",
    "CoxRegression",
    "Entry",
    "StatsmodelsCox",
    "default_preprocessing",
    "preset",
    "quick",
    "standard",
]

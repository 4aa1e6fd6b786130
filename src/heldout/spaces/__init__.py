"""Ready configuration spaces: models worth trying on a table, the preprocessing that they need, and Cox models."""

from heldout.spaces.boosted_linear import BoostedLinear
from heldout.spaces.constant_without_columns import ConstantWithoutColumns
from heldout.spaces.cox import CoxRegression
from heldout.spaces.cox_statsmodels import StatsmodelsCox
from heldout.spaces.elastic_net_logistic import ElasticNetLogistic
from heldout.spaces.glvq import GLVQ
from heldout.spaces.lvq1 import LVQ1
from heldout.spaces.preprocessing import default_preprocessing
from heldout.spaces.presets import PRESETS, Entry, preset, quick, standard
from heldout.spaces.random_subspace_knn import RandomSubspaceKNN
from heldout.spaces.ses import SES
from heldout.spaces.shrinkage_discriminant import ShrinkageDiscriminant
from heldout.spaces.square_root_forest import SquareRootForest
from heldout.spaces.tsamardinos2018 import tsamardinos2018
from heldout.spaces.wainer_cawley import wainer_cawley2021

__all__ = [
    "GLVQ",
    "LVQ1",
    "PRESETS",
    "SES",
    "BoostedLinear",
    "ConstantWithoutColumns",
    "CoxRegression",
    "ElasticNetLogistic",
    "Entry",
    "RandomSubspaceKNN",
    "ShrinkageDiscriminant",
    "SquareRootForest",
    "StatsmodelsCox",
    "default_preprocessing",
    "preset",
    "quick",
    "standard",
    "tsamardinos2018",
    "wainer_cawley2021",
]

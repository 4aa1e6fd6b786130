"""Ready configuration spaces with their preprocessing, and Cox models."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from heldout.spaces.cox import CoxRegression
from heldout.spaces.cox_statsmodels import StatsmodelsCox
from heldout.spaces.native_categories import NativeCategories
from heldout.spaces.preprocessing import default_preprocessing
from heldout.spaces.presets import PRESETS, Entry, boosted, preset, quick, standard
from heldout.spaces.procedure import TuningProcedure
from heldout.spaces.published import PUBLISHED, published_name, published_space
from heldout.spaces.submodels.check import check_submodels
from heldout.spaces.submodels.registry import register_submodels

# The spaces of published experiments, and the estimators that only they need, are in heldout_papers.
_OF_PAPERS = {
    "GLVQ": "glvq",
    "LVQ1": "lvq1",
    "SES": "ses",
    "BoostedLinear": "boosted_linear",
    "ConstantWithoutColumns": "constant_without_columns",
    "ElasticNetLogistic": "elastic_net_logistic",
    "LeastSquaresSVM": "least_squares_svm",
    "RandomSubspaceKNN": "random_subspace_knn",
    "ShrinkageDiscriminant": "shrinkage_discriminant",
    "SquareRootForest": "square_root_forest",
    "cawley_talbot2010": "cawley_talbot",
    **{name: space.module for name, space in PUBLISHED.items()},
}

__all__ = [
    "PRESETS",
    "PUBLISHED",
    "CoxRegression",
    "Entry",
    "NativeCategories",
    "StatsmodelsCox",
    "TuningProcedure",
    "boosted",
    "check_submodels",
    "default_preprocessing",
    "preset",
    "published_name",
    "published_space",
    "quick",
    "register_submodels",
    "standard",
    *_OF_PAPERS,
]


def __getattr__(name: str) -> Any:
    if name in _OF_PAPERS:
        return getattr(import_module(f"heldout_papers.spaces.{_OF_PAPERS[name]}"), name)
    raise AttributeError(f"module 'heldout.spaces' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

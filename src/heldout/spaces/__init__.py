"""Ready configuration spaces with their preprocessing, and Cox models; heldout-papers adds those of articles."""

from typing import Any

from heldout._papers import attribute_of_papers, names_of_papers
from heldout.spaces.cox import CoxRegression, StatsmodelsCox
from heldout.spaces.preprocessing import NativeCategories, default_preprocessing
from heldout.spaces.presets import PRESETS, Entry, boosted, preset, published_name, published_space, quick, standard
from heldout.spaces.procedure import TuningProcedure
from heldout.spaces.submodels.check import check_submodels
from heldout.spaces.submodels.registry import register_submodels

__all__ = [
    "PRESETS",
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
]


def __getattr__(name: str) -> Any:
    return attribute_of_papers(__name__, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *names_of_papers(__name__)])

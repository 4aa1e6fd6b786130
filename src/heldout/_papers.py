"""What the distribution heldout-papers adds to heldout, found by its entry points.

Their groups are ``heldout.commands``, with a command by its name, and ``heldout.studies`` and ``heldout.spaces``,
with a module that has the names which these two have from it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from heldout.errors import MissingPapersError

# Names that are not on these lists do not exist, with or without heldout-papers: programs ask modules for many.
_NAMES: Mapping[str, str] = {
    "heldout.spaces": "GLVQ LVQ1 PUBLISHED SES BoostedLinear ConstantWithoutColumns ElasticNetLogistic "
    "LeastSquaresSVM RandomSubspaceKNN ShrinkageDiscriminant SquareRootForest cawley_talbot2010 tsamardinos2018 "
    "wainer_cawley2021",
    "heldout.studies": "AdaptiveSetting AdaptiveStudy BiasSetting BiasStudy CorrectionsStudy FlatVsNestedSetting "
    "FlatVsNestedStudy IntervalSetting IntervalStudy IntervalsOnTables SearchSetting SearchStudy TimingSetting "
    "TimingStudy adaptive bias corrections flat_vs_nested intervals intervals_on_tables search timing",
}


@cache
def of_papers(group: str) -> dict[str, Any]:
    """What a group holds, by name; nothing without heldout-papers."""
    from importlib.metadata import entry_points  # which takes longer to import than a command needs for its help

    return {entry.name: entry.load() for entry in entry_points(group=group)}


def names_of_papers(module: str) -> list[str]:
    """The names that a module of heldout has from heldout-papers; none without it."""
    return _NAMES[module].split() if of_papers(module) else []


def attribute_of_papers(module: str, name: str) -> Any:
    """What a module of heldout has from heldout-papers, for its ``__getattr__``."""
    if name not in _NAMES[module].split():
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    extension = next(iter(of_papers(module).values()), None)
    if extension is None:
        raise MissingPapersError(f"{module}.{name}")
    return getattr(extension, name)


def is_installed() -> bool:
    """Whether heldout-papers is; it is not imported, which takes seconds."""
    from importlib.metadata import entry_points

    return bool(entry_points(group="heldout.spaces"))

"""Studies: the experiments of the literature, on its settings or on yours."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout_papers.adaptive import AdaptiveSetting, AdaptiveStudy, adaptive
    from heldout_papers.bias import BiasSetting, BiasStudy, bias
    from heldout_papers.corrections import CorrectionsStudy, corrections
    from heldout_papers.flat_vs_nested import FlatVsNestedSetting, FlatVsNestedStudy, flat_vs_nested
    from heldout_papers.intervals import (
        IntervalSetting,
        IntervalsOnTables,
        IntervalStudy,
        intervals,
        intervals_on_tables,
    )
    from heldout_papers.search import SearchSetting, SearchStudy, search
    from heldout_papers.timing import TimingSetting, TimingStudy, timing

__all__ = [
    "AdaptiveSetting",
    "AdaptiveStudy",
    "BiasSetting",
    "BiasStudy",
    "CorrectionsStudy",
    "FlatVsNestedSetting",
    "FlatVsNestedStudy",
    "IntervalSetting",
    "IntervalStudy",
    "IntervalsOnTables",
    "SearchSetting",
    "SearchStudy",
    "TimingSetting",
    "TimingStudy",
    "adaptive",
    "bias",
    "corrections",
    "flat_vs_nested",
    "intervals",
    "intervals_on_tables",
    "search",
    "timing",
]

# Loaded when first asked for: ``heldout study --help`` needs no study.
_HOMES = {
    "AdaptiveSetting": "adaptive",
    "AdaptiveStudy": "adaptive",
    "BiasSetting": "bias",
    "BiasStudy": "bias",
    "CorrectionsStudy": "corrections",
    "FlatVsNestedSetting": "flat_vs_nested",
    "FlatVsNestedStudy": "flat_vs_nested",
    "IntervalSetting": "intervals",
    "IntervalStudy": "intervals",
    "IntervalsOnTables": "intervals",
    "SearchSetting": "search",
    "SearchStudy": "search",
    "TimingSetting": "timing",
    "TimingStudy": "timing",
    "intervals_on_tables": "intervals",
}


class _Studies(ModuleType):
    """A study is a function, and its package has the same name: once imported, the package must not replace it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Studies


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'heldout_papers' has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"heldout_papers.{_HOMES.get(name, name)}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)

"""Studies: the experiments of the literature, on its settings or on yours."""

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

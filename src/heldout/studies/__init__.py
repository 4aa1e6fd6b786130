"""Studies: the experiments of the literature, on its settings or on yours."""

from heldout.studies.bias import BiasSetting, BiasStudy, bias
from heldout.studies.flat_vs_nested import FlatVsNestedSetting, FlatVsNestedStudy, flat_vs_nested
from heldout.studies.intervals import (
    IntervalSetting,
    IntervalsOnTables,
    IntervalStudy,
    intervals,
    intervals_on_tables,
)
from heldout.studies.search import SearchSetting, SearchStudy, search
from heldout.studies.timing import TimingSetting, TimingStudy, timing

__all__ = [
    "BiasSetting",
    "BiasStudy",
    "FlatVsNestedSetting",
    "FlatVsNestedStudy",
    "IntervalSetting",
    "IntervalStudy",
    "IntervalsOnTables",
    "SearchSetting",
    "SearchStudy",
    "TimingSetting",
    "TimingStudy",
    "bias",
    "flat_vs_nested",
    "intervals",
    "intervals_on_tables",
    "search",
    "timing",
]

"""Studies: the experiments of the literature, on its settings or on yours."""

from heldout.studies.bias import BiasSetting, BiasStudy, bias
from heldout.studies.intervals import IntervalSetting, IntervalStudy, intervals
from heldout.studies.timing import TimingSetting, TimingStudy, timing

__all__ = [
    "BiasSetting",
    "BiasStudy",
    "IntervalSetting",
    "IntervalStudy",
    "TimingSetting",
    "TimingStudy",
    "bias",
    "intervals",
    "timing",
]

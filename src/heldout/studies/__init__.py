"""Studies: the experiments of the literature, on its settings or on yours."""

from heldout.studies.bias import BiasSetting, BiasStudy, bias
from heldout.studies.timing import TimingSetting, TimingStudy, timing

__all__ = ["BiasSetting", "BiasStudy", "TimingSetting", "TimingStudy", "bias", "timing"]

"""How often one-sided intervals hold the truth, and how tight they are, where the truth is known."""

from heldout.studies.intervals.methods import METHODS, SELECTORS
from heldout.studies.intervals.setting import IntervalSetting
from heldout.studies.intervals.study import IntervalStudy, intervals, intervals_plan

__all__ = ["METHODS", "SELECTORS", "IntervalSetting", "IntervalStudy", "intervals", "intervals_plan"]

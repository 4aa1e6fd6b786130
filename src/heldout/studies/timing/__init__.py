"""How long BBC and BBC-F take."""

from heldout.studies.timing.problem import TimingSetting
from heldout.studies.timing.study import TimingStudy, timing, timing_plan

__all__ = ["TimingSetting", "TimingStudy", "timing", "timing_plan"]

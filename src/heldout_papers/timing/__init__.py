"""How long BBC and BBC-F take."""

from heldout_papers.timing.problem import TimingSetting
from heldout_papers.timing.study import TimingStudy, timing, timing_plan

__all__ = ["TimingSetting", "TimingStudy", "timing", "timing_plan"]

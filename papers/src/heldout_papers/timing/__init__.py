"""How long BBC and BBC-F take."""

from heldout_papers.timing.problem import TimingSetting
from heldout_papers.timing.study import TimingStudy, timing

__all__ = ["TimingSetting", "TimingStudy", "timing"]

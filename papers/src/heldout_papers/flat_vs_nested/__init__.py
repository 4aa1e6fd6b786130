"""What nested cross-validation gains over flat when an algorithm is chosen, on many tables."""

from heldout_papers.flat_vs_nested.result import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.study import FlatVsNestedSetting, flat_vs_nested

__all__ = ["FlatVsNestedSetting", "FlatVsNestedStudy", "flat_vs_nested"]

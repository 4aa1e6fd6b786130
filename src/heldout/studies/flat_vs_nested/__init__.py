"""What nested cross-validation gains over flat when an algorithm is chosen, on many tables."""

from heldout.studies.flat_vs_nested.result import FlatVsNestedStudy

__all__ = ["FlatVsNestedStudy"]

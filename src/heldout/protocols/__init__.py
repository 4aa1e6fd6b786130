"""Protocols: procedures that need fits of their own, beyond those of one search."""

from heldout.protocols.nested import nested_cv
from heldout.protocols.nested_estimate import Agreement, NestedEstimate, OuterFold

__all__ = ["Agreement", "NestedEstimate", "OuterFold", "nested_cv"]

"""Protocols: procedures that need fits of their own, beyond those of one search."""

from heldout.fold_plans import hold_out, k_folds, leave_one_out, repeated, repeated_hold_out
from heldout.protocols.bootstrap_search import bootstrap_search
from heldout.protocols.bootstrap_search_estimate import Bootstrap, SearchBootstrapEstimate
from heldout.protocols.nested import nested_cv
from heldout.protocols.nested_estimate import Agreement, NestedEstimate, OuterFold

__all__ = [
    "Agreement",
    "Bootstrap",
    "NestedEstimate",
    "OuterFold",
    "SearchBootstrapEstimate",
    "bootstrap_search",
    "hold_out",
    "k_folds",
    "leave_one_out",
    "nested_cv",
    "repeated",
    "repeated_hold_out",
]

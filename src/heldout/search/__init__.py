"""Searches for scikit-learn's users: they choose like its own, and estimate how good their winner is."""

from heldout.search.grid import HeldOutRandomizedSearchCV, HeldOutSearchCV

__all__ = ["HeldOutRandomizedSearchCV", "HeldOutSearchCV"]

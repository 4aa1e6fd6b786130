"""Searches that Optuna proposes, and an objective for studies of one's own: ``ho.optuna``.

The package Optuna itself (the extra ``optuna``) is imported when a search begins.
"""

from heldout.search.optuna.feedback import CrossFitting
from heldout.search.optuna.objective import objective

__all__ = ["CrossFitting", "objective"]

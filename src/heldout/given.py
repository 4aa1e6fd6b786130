"""What users hand over in scikit-learn's terms, as our nouns: a target, scorers, a store, a random state."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from heldout._seeding import RandomState, entropy_of
from heldout.errors import InputError
from heldout.store.base import Store
from heldout.store.memory import MemoryStore
from heldout.survival_target import has_fields
from heldout.task import TaskKind, Truth, target_column, truth_of


def target_given(y: Any, asker: str) -> Any:
    """The target as one column, left as it is where it is one.

    Parameters
    ----------
    asker : str
        What asks for it, after "this".

    Raises
    ------
    InputError
        When there is none, it holds missing, complex or infinite values, or is a survival target.
    """
    if y is None:
        raise InputError(
            f"This {asker} requires y to be passed, but the target y is None; without it there is no score to "
            "estimate."
        )
    if has_fields(y):
        raise InputError(
            f"This {asker} does not search survival models yet, and the target holds events and times; predict the "
            "held-out risks yourself, and correct them by ho.estimate(y, risks, metric='concordance_index')."
        )
    column = y if getattr(y, "ndim", 0) == 1 else column_or_1d(y, warn=True)
    values = target_column(column)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: the target must be real numbers or labels.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64'). Every row needs a finite target."
        )
    return column


def truth_given(model: Any, y: Any) -> Truth:
    """The target as a model of its kind reads it."""
    if is_classifier(model):
        check_classification_targets(y)
        return truth_of(y, TaskKind.MULTICLASS)
    return truth_of(y, TaskKind.REGRESSION if is_regressor(model) else None)


def deciding_scorer(scorers: Any, scoring: Any, refit: Any) -> str:
    """The name of the scorer that chooses the winner, of scorers as scikit-learn has gathered them."""
    if hasattr(scorers, "_scorers"):
        return refit if isinstance(refit, str) else str(next(iter(scorers._scorers)))
    # A callable may turn out to return several scores; ``refit`` then names one of them.
    return refit if callable(scoring) and isinstance(refit, str) else "score"


def store_given(store: Any) -> Store:
    """A store from a path, a store, or None for the memory."""
    if store is None:
        return MemoryStore()
    if isinstance(store, str | os.PathLike):
        from heldout.store.sqlite import SQLiteStore

        return SQLiteStore(Path(store))
    opened: Store = store
    return opened


def entropy_given(random_state: RandomState, store: Store) -> int:
    """Of the random state; without one that of the run that the store holds, or else the system's."""
    stored = store.stored_entropy() if random_state is None else None
    return entropy_of(random_state) if stored is None else stored

"""What users hand over in scikit-learn's terms, as our nouns: a target, scorers, a store, a random state."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import get_scorer_names
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from heldout._random import RandomState, entropy_of
from heldout.configurations import DRAW_FIRST
from heldout.data.survival_target import has_fields, has_two_columns, survival_target, with_fields
from heldout.data.task import TaskKind, Truth, target_column, truth_of
from heldout.errors import ArgumentError, InputError
from heldout.execution.store.base import Store
from heldout.execution.store.memory import MemoryStore
from heldout.metrics.survival_model import last_step
from heldout.metrics.to_scorer import scorer

Init = ParamSpec("Init")


def tries_all_of_a_grid(init: Callable[Init, None]) -> Callable[Init, None]:
    """The ``__init__`` of a search over a grid, which says what to do instead of a random one."""

    @wraps(init)
    def checked(*args: Init.args, **given: Init.kwargs) -> None:
        for name in ("n_iter", "param_distributions"):
            if name in given:
                raise ArgumentError(
                    f"{name}= is of a random search, and this one tries a whole grid; {DRAW_FIRST}."
                )
        init(*args, **given)

    return checked


def target_given(model: Any, y: Any, asker: str) -> Any:
    """The target as one column, left as it is where it is one; of events and times as a structured array.

    Parameters
    ----------
    model : estimator
        What is to learn it. Two columns are events and times to all but classifiers and regressors.
    asker : str
        What asks for it, after "this".

    Raises
    ------
    InputError
        When there is none, or it holds missing, complex or infinite values, or it is no target of such a model.
    """
    if y is None:
        raise InputError(
            f"This {asker} requires y to be passed, but the target y is None; without it there is no score to "
            "estimate."
        )
    of_numbers = is_classifier(model) or is_regressor(model)
    if has_fields(y) or (not of_numbers and has_two_columns(y)):
        kind = type(last_step(model))
        if of_numbers and kind.__module__.startswith("sklearn."):
            raise InputError(
                f"the target holds events and times, which {kind.__name__} cannot learn; give a survival model "
                "(scikit-survival's, or ho.spaces.CoxRegression), or the one column to predict."
            )
        # Survival models want the event as booleans; what the user calls the two is left.
        target = survival_target(y)
        return with_fields(target, y.dtype.names) if has_fields(y) else target
    column = y if getattr(y, "ndim", 0) == 1 else _one_column(y)
    values = target_column(column)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: the target must be real numbers or labels.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64'). Every row needs a finite target."
        )
    # scikit-learn cannot take rows of pandas' own arrays (``y.values`` of text that Arrow keeps).
    return values if hasattr(column, "_from_sequence") else column


def rows_of(X: Any, y: Any) -> tuple[Any, Any]:
    """Data and target that can be indexed by row and have as many rows.

    Raises
    ------
    InputError
    """
    try:
        checked, target = indexable(X, y)
    except (ValueError, TypeError) as error:
        raise InputError(f"X and y cannot be used as rows: {error}.") from None
    return checked, target


def _one_column(y: Any) -> Any:
    try:
        return column_or_1d(y, warn=True)
    except (ValueError, TypeError) as error:
        raise InputError(f"the target must be one column of labels or numbers: {error}") from None


def truth_given(model: Any, y: Any) -> Truth:
    """The target as a model of its kind reads it."""
    if has_fields(y):
        return truth_of(y, TaskKind.SURVIVAL)
    if is_classifier(model):
        try:
            with np.errstate(invalid="ignore"):  # it casts amounts to whole numbers to see what they are
                check_classification_targets(y)
        except (ValueError, TypeError) as error:
            raise InputError(f"{str(error).rstrip('.')}. Give labels, or a regressor.") from None
        return truth_of(y, TaskKind.MULTICLASS)
    return truth_of(y, TaskKind.REGRESSION if is_regressor(model) else None)


def scoring_given(scoring: Any) -> Any:
    """What scikit-learn's searches take as ``scoring``: names that it lacks are metrics of ours, as scorers.

    Raises
    ------
    InputError
        For a name that neither knows.

    Examples
    --------
    >>> scoring_given("r2"), scoring_given({"r2": "r2", "c": "concordance_index"})["c"]._score_func.__name__
    ('r2', 'concordance_index')
    """
    if isinstance(scoring, str):
        return scoring if scoring in get_scorer_names() else scorer(scoring)
    if isinstance(scoring, Mapping):
        return {name: scoring_given(one) for name, one in scoring.items()}
    if isinstance(scoring, list | tuple | set) and all(isinstance(name, str) for name in scoring):
        foreign = set(scoring) - set(get_scorer_names())
        return {name: scoring_given(name) for name in scoring} if foreign else scoring
    return scoring


def scorers_of(search: BaseSearchCV) -> tuple[Any, Any]:
    """The scorers of a search as scikit-learn gathers them, and what chooses.

    Raises
    ------
    InputError
        When ``scoring`` or ``refit`` is nothing that it knows.
    """
    try:
        scorers: tuple[Any, Any] = BaseSearchCV._get_scorers(search)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"scoring={search.scoring!r} with refit={search.refit!r} cannot be used: {said}."
        ) from error
    return scorers


def deciding_scorer(scorers: Any, scoring: Any, refit: Any) -> str:
    """The name of the scorer that chooses the winner, of scorers as scikit-learn has gathered them."""
    if hasattr(scorers, "_scorers"):
        return refit if isinstance(refit, str) else str(next(iter(scorers._scorers)))
    # A callable may turn out to return several scores; ``refit`` then names one of them.
    return refit if callable(scoring) and isinstance(refit, str) else "score"


def store_given(store: Any) -> Store:
    """A store from a path, a store, or None for the memory.

    Raises
    ------
    InputError
        For anything else.
    """
    if store is None:
        return MemoryStore()
    if isinstance(store, str | os.PathLike):
        from heldout.execution.store.sqlite import SQLiteStore

        return SQLiteStore(Path(store))
    if not hasattr(store, "open"):
        raise InputError(
            f"store must be the path of a run file, a store such as SQLiteStore(path), or None, got {store!r}."
        )
    opened: Store = store
    return opened


def entropy_given(random_state: RandomState, store: Store) -> int:
    """Of the random state; without one that of the run that the store holds, or else the system's."""
    stored = store.stored_entropy() if random_state is None else None
    return entropy_of(random_state) if stored is None else stored

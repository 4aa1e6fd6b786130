"""What a fitted model says of its columns: the coefficients of a linear one, and importances of its own."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import SVC, NuSVC

from heldout._types import Floats
from heldout.execution.fold_models import FoldModels
from heldout.report.entries import Facts

MOST_COEFFICIENTS = 100


def coefficients_of(model: Any, fold_models: FoldModels | None, classes: tuple[str, ...]) -> Facts | None:
    """The coefficients of a fitted linear model; None for a model without coefficients.

    ``classes``: the labels of a classification in the order of the model's.
    """
    return _listed(model, fold_models, "coef_", classes)


def own_importances_of(model: Any, fold_models: FoldModels | None) -> Facts | None:
    """The ``feature_importances_`` of a fitted model: of scikit-learn's trees the mean decrease of the impurity.

    None for a model without any.
    """
    return _listed(model, fold_models, "feature_importances_")


def _listed(
    model: Any, fold_models: FoldModels | None, attribute: str, classes: tuple[str, ...] = ()
) -> Facts | None:
    known = _values(model, attribute)
    if known is None:
        return None
    names, values = known
    found = [_values(each, attribute) for each in fold_models.values()] if fold_models else []
    others = [each for each in found if each is not None]
    same = [other for other_names, other in others if other_names == names and other.shape == values.shape]
    spreads = np.std(same, axis=0) if len(same) > 1 else None
    entries = [
        Facts(
            name=name,
            of_class=of_class,
            value=float(values[k, j]),
            spread=None if spreads is None else float(spreads[k, j]),
        )
        for k, of_class in enumerate(_spoken_for(model, classes, len(values)))
        for j, name in enumerate(names)
    ]
    entries.sort(key=lambda entry: -abs(entry.value))
    return Facts(
        listed=tuple(entries[:MOST_COEFFICIENTS]),
        total=len(entries),
        splits=len(same) if spreads is not None else 0,
    )


def _spoken_for(model: Any, classes: tuple[str, ...], rows: int) -> tuple[str, ...]:
    """The class, or the one of a pair, that positive coefficients of each row speak for; empty texts if unknown."""
    if len(classes) == 2 and rows == 1:
        return classes[1:]
    pairs = tuple(f"{one} against {other}" for one, other in combinations(classes, 2))
    if isinstance(_last_step(model), SVC | NuSVC) and rows == len(pairs):
        return pairs
    return classes if rows == len(classes) else ("",) * rows


def _last_step(model: Any) -> Any:
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else model


def _values(model: Any, attribute: str) -> tuple[tuple[str, ...], Floats] | None:
    """The names of the columns that reach a model, and an attribute of it (outputs, columns)."""
    if not isinstance(model, BaseEstimator):
        return None
    if hasattr(model, "regressor_"):
        return _values(model.regressor_, attribute)
    last = _last_step(model)
    if last is not model and hasattr(last, "regressor_"):
        last = last.regressor_
    try:
        values = getattr(last, attribute)
    except AttributeError:
        return None
    values = np.atleast_2d(values.toarray() if hasattr(values, "toarray") else np.asarray(values, dtype=float))
    if values.ndim != 2 or not np.isfinite(values).all():
        return None
    return _names_reaching(model, last, values.shape[1]), values


def _names_reaching(model: Any, last: Any, n: int) -> tuple[str, ...]:
    """The names of the columns after the steps before the last one; "column 0" and so on where they have none."""
    names: Any = getattr(last, "feature_names_in_", None)
    if names is None and len(getattr(model, "steps", ())) > 1:
        try:
            names = model[:-1].get_feature_names_out()
        except (AttributeError, ValueError, TypeError):
            names = None
    if names is None or len(names) != n:
        return tuple(f"column {place}" for place in range(n))
    return tuple(str(name) for name in names)

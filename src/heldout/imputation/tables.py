"""A table of any type with missing values: their places, and the same table with them filled.

Only missing values are written, and each column keeps its type, so a completed table is otherwise unchanged.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout._types import Array, Booleans, Floats
from heldout.data.task import array_of, missing
from heldout.errors import InputError

Holes = Booleans
"""(N, p): true where a value is missing."""


def is_frame(X: Any) -> bool:
    """Whether it is a pandas table (or another with its ways of reading and writing columns)."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def holes_of(X: Any) -> Holes:
    """Where values are missing: NaN, None, pandas' NA and NaT.

    Raises InputError when ``X`` is sparse and has some, or is no table.

    Examples
    --------
    >>> holes_of([[1.0, None], [2.0, 3.0]]).tolist()
    [[False, True], [False, False]]
    """
    if is_frame(X):
        return np.asarray(X.isna().to_numpy(), dtype=bool)
    if hasattr(X, "tocsr"):
        if np.isnan(X.tocsr().data).any():
            raise InputError("a sparse X with missing values cannot be imputed; convert it with X.toarray().")
        return np.zeros((X.shape[0], 0), dtype=bool)
    table = array_of(X, "X")
    if table.ndim != 2:
        raise InputError(f"X must be a table of shape (N, columns), got shape {table.shape}.", argument="X")
    return missing(table)


def has_missing(X: Any) -> bool:
    """Whether anything in the table is missing.

    Examples
    --------
    >>> has_missing([[1.0, None], [2.0, 3.0]]), has_missing([[1.0], [2.0]])
    (True, False)
    """
    return bool(holes_of(X).any())


def missing_counts(X: Any) -> dict[str, int] | None:
    """How many cells a table has, how many values are missing, and how many rows and columns lack some.

    None for what is no table, or was not kept.

    Examples
    --------
    >>> missing_counts([[1.0, None], [2.0, 3.0]])
    {'cells': 4, 'values': 1, 'rows': 1, 'columns': 1}
    >>> missing_counts(["a text", "another"]), missing_counts(None)
    (None, None)
    """
    if len(np.shape(X)) != 2:
        return None
    if hasattr(X, "tocsr"):
        stored = X.tocoo()
        at = np.flatnonzero(np.isnan(stored.data)) if stored.data.dtype.kind == "f" else np.empty(0, dtype=np.intp)
        rows, columns = stored.row[at], stored.col[at]
    else:
        rows, columns = np.nonzero(holes_of(X))
    n_rows, n_columns = np.shape(X)
    found = {"values": len(rows), "rows": len(np.unique(rows)), "columns": len(np.unique(columns))}
    return {"cells": n_rows * n_columns, **found}


def writable(X: Any) -> Any:
    """The table as a pandas table or an array.

    Raises InputError for a table of another library.
    """
    if is_frame(X):
        return X
    if hasattr(X, "columns"):
        raise InputError(
            f"a table of {type(X).__module__.split('.')[0]} with missing values cannot be imputed; convert it with "
            "X.to_pandas()."
        )
    return array_of(X, "X")


def columns_named(X: Any) -> list[Any]:
    """The columns' names, or their numbers where they have none."""
    return list(X.columns) if is_frame(X) else list(range(X.shape[1]))


def column_at(X: Any, j: int) -> Array:
    """One column's values."""
    return np.asarray(X.iloc[:, j].to_numpy() if is_frame(X) else X[:, j])


def with_columns(X: Any, extra: Floats) -> Any:
    """The table with columns of numbers appended at its right."""
    if not is_frame(X):
        return np.hstack([X, extra.astype(X.dtype if X.dtype.kind in "fO" else np.float64)])
    wider = X.copy()
    for j, name in enumerate(_new_names(X.columns, extra.shape[1])):
        wider[name] = extra[:, j]
    return wider


def _new_names(taken: Any, n: int) -> Sequence[str]:
    """Names of text that no column has."""
    prefix = "outcome"
    while any(str(name).startswith(prefix) for name in taken):
        prefix = f"_{prefix}"
    return [f"{prefix}_{j}" for j in range(n)]


def stacked(tables: Sequence[Any]) -> Any:
    """Tables of the same columns, one under the other.

    Examples
    --------
    >>> stacked([np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    if not is_frame(tables[0]):
        return np.concatenate([np.asarray(table) for table in tables])
    import pandas as pd

    return pd.concat(tables, ignore_index=True)


def filled(X: Any, holes: Holes, answer: Any, imputer: Any) -> Any:
    """A copy of ``X`` with its holes filled from the answer of an imputer, which has at least as many columns.

    Raises InputError when the imputer leaves some.
    """
    whole = X.copy()
    for j in np.flatnonzero(holes.any(axis=0)).tolist():
        rows = np.flatnonzero(holes[:, j])
        values = column_at(answer, j)[rows]
        if is_frame(X):
            column = X.iloc[:, j].copy()
            column.iloc[rows] = _of_type(values, column.dtype)
            whole.isetitem(j, column)
        else:
            whole[rows, j] = _of_type(values, X.dtype)
    if (left := holes_of(whole)).any():
        kind, name = type(imputer).__name__, columns_named(X)[int(left.any(axis=0).argmax())]
        raise InputError(f"the imputer {kind} left missing values in column {name!r}; it must fill all.")
    return whole


def _of_type(values: Array, dtype: Any) -> Any:
    """Drawn values as a column of this type holds them: the nearest, of whole numbers and of true and false."""
    if dtype.kind not in "fiub":
        # Objects, so that a column of text or categories gets its own values and not NumPy's.
        return values.astype(object)
    numbers = values.astype(np.float64)
    if dtype.kind == "f":
        return numbers.astype(getattr(dtype, "numpy_dtype", dtype))
    return np.rint(numbers).astype(bool if dtype.kind == "b" else np.int64)

"""Rows that several configurations read and none may change."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse as sp


class UnknownContainerError(TypeError):
    """Rows in a container that cannot be protected."""


def protected(rows: Any) -> Any:
    """Rows to keep: an array becomes read-only.

    Raises
    ------
    UnknownContainerError
        When a reader could change them.
    """
    if isinstance(rows, np.ndarray):
        view = rows.view()
        view.flags.writeable = False
        return view
    if sp.issparse(rows) or _package_of_table(rows) or isinstance(rows, list):
        return rows
    raise UnknownContainerError(f"rows in a {type(rows).__name__}")


def for_reader(rows: Any) -> Any:
    """Protected rows for one reader: arrays as they are, a copy of everything that can be changed in place."""
    return rows if isinstance(rows, np.ndarray) else own_copy(rows)


def own_copy(rows: Any) -> Any:
    """Rows that their reader may change, in the same order in memory."""
    if isinstance(rows, np.ndarray):
        return np.array(rows, order="K", copy=True)
    if _package_of_table(rows) == "polars":
        return rows.clone()
    return rows.copy() if hasattr(rows, "copy") else rows


def size_of(rows: Any) -> int:
    """Bytes of rows."""
    if sp.issparse(rows):
        parts = (getattr(rows, name, None) for name in ("data", "indices", "indptr", "row", "col"))
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
    package = _package_of_table(rows)
    if package == "polars":
        return int(rows.estimated_size())
    return int(np.sum(rows.memory_usage(index=False))) if package else int(getattr(rows, "nbytes", 0))


KEEPS_ROWS = ("sklearn", "heldout", "heldout_papers", "xgboost", "lightgbm", "catboost")
"""Packages whose estimators change no rows, unless a parameter allows it."""
_FUNCTIONS_KEEP_ROWS = (*KEEPS_ROWS, "numpy", "scipy", "builtins")


def changes_its_rows(estimator: Any) -> bool:
    """Whether an estimator may change its rows: a parameter such as ``copy=False`` allows it, or it is unknown.

    A function of a user within it is unknown too.
    """
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return False
    params = estimator.get_params(deep=True)
    members = (estimator, *(value for value in params.values() if hasattr(value, "get_params")))
    functions = (value for value in params.values() if callable(value) and not hasattr(value, "get_params"))
    return (
        any(_package_of(type(member)) not in KEEPS_ROWS for member in members)
        or any(_package_of_function(function) not in _FUNCTIONS_KEEP_ROWS for function in functions)
        or any(name.rpartition("__")[2].startswith("copy") and value is False for name, value in params.items())
    )


def _package_of(thing: Any) -> str:
    return str(getattr(thing, "__module__", None)).partition(".")[0]


def _package_of_function(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, np.ufunc):
        return "numpy"
    return _package_of(function if hasattr(function, "__name__") else type(function))


def apart_from(output: Any, rows: Any) -> Any:
    """An output that stays as it is when its reader changes the rows that it was made from.

    Raises
    ------
    UnknownContainerError
        When it cannot be copied.
    """
    alone = isinstance(rows, np.ndarray) or (isinstance(output, np.ndarray) and output.base is None)
    return protected(output) if alone else protected(own_copy(protected(output)))


def _package_of_table(rows: Any) -> str:
    """The package of a data frame; empty for anything else."""
    package = type(rows).__module__.partition(".")[0]
    return package if type(rows).__name__ in ("DataFrame", "Series") and package in ("pandas", "polars") else ""

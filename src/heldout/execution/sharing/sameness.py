"""Whether parameters are so equal that fits with them are the same fit.

The canonical form of a parameter recognises a stored run. It takes a list for a tuple, and functions of one name
for the same function where their source cannot be read. Here a wrong match gives wrong numbers, so more must agree.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from heldout.configurations import NotHashableError, canonical_form


def form_of(value: Any) -> Any:
    """A JSON value: equal forms mean equal parameters in this process.

    Classes and functions go by identity. Raises NotHashableError for what cannot be compared.
    """
    return [canonical_form(value), _details(value)]


def _details(value: Any) -> Any:
    """What the canonical form leaves out."""
    if value is None or type(value) in (bool, int, float, str):
        return None
    if isinstance(value, list | tuple):
        return [_name(value), [_details(item) for item in value]]
    if isinstance(value, Mapping):
        return [_name(value), [[str(key), _details(key), _details(item)] for key, item in value.items()]]
    if isinstance(value, np.ndarray):
        return [_name(value), repr(value.dtype), list(value.strides)]
    if isinstance(value, np.generic | set | frozenset):
        return _name(value)
    if isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc):
        return id(value)  # copies of a configuration keep these objects
    if isinstance(value, MethodType):
        return [id(value.__func__), _details(value.__self__)]
    if type(value) is functools.partial:
        return [_details(part) for part in (value.func, value.args, value.keywords, vars(value))]
    if hasattr(value, "get_params"):
        return [id(type(value)), beside_parameters(value), _details(value.get_params(deep=False))]
    if inspect.isroutine(value) or isinstance(value, functools.partial) or _has_slots(value):
        raise NotHashableError(f"a parameter of type {type(value).__name__} cannot be compared: {value!r}")
    return [id(type(value)), _details(getattr(value, "__dict__", None))]


def beside_parameters(estimator: Any) -> Any:
    """What an estimator holds beside its parameters: the container of its output, and requests of metadata."""
    container, requests = (
        getattr(estimator, f"_{name}", None) for name in ("sklearn_output_config", "metadata_request")
    )
    return [container, str(requests)]


def _has_slots(value: Any) -> bool:
    return any(vars(kind).get("__slots__") for kind in type(value).__mro__)


def _name(value: Any) -> str:
    return type(value).__name__

"""Estimates: methods that need only the held-out matrix or the fold scores, one a file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from heldout.errors import InputError
from heldout.estimates.base import Evidence, Method, Settings
from heldout.estimates.bbc import BBC
from heldout.estimates.cv import CV
from heldout.estimates.tt import TT
from heldout.estimates.types import Estimate, Interval
from heldout.wording import Flag

METHODS: Mapping[str, type[CV] | type[TT] | type[BBC]] = MappingProxyType({"cv": CV, "tt": TT, "bbc": BBC})

__all__ = [
    "BBC",
    "CV",
    "METHODS",
    "TT",
    "Estimate",
    "Evidence",
    "Flag",
    "Interval",
    "Method",
    "Settings",
    "method_of",
]


def method_of(method: Any) -> Method:
    """A method from its name or from itself.

    Raises
    ------
    InputError
        For anything else.
    """
    if isinstance(method, str) and method in METHODS:
        named: Method = METHODS[method]()
        return named
    if hasattr(method, "estimate") and hasattr(method, "reads") and not isinstance(method, type):
        configured: Method = method
        return configured
    raise InputError(f"method must be one of {', '.join(METHODS)} or a method of ho.estimates, got {method!r}.")

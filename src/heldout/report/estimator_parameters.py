"""All parameters of an estimator, and which of them have their default."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from heldout.report.entries import Facts
from heldout.scales import plain

_CONTAINERS = ("steps", "transformers", "transformer_list", "estimators")


def parameters_of(estimator: Any) -> tuple[Facts, ...]:
    """All parameters of an estimator, except those that contain others."""
    whole = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return tuple(
        Facts(name=name, text=plain(whole[name]), searched=False, is_default=_is_default(estimator, whole, name))
        for name in sorted(whole)
        if not (hasattr(whole[name], "get_params") or name.rpartition("__")[2] in _CONTAINERS)
    )


def _is_default(estimator: Any, whole: Mapping[str, Any], name: str) -> bool:
    """Whether a parameter has the value that its class gives it."""
    owner, _, own_name = name.rpartition("__")
    holder = whole.get(owner) if owner else estimator
    if holder is None or isinstance(holder, str):
        return False
    try:
        declared = inspect.signature(type(holder)).parameters.get(own_name)
    except (TypeError, ValueError):
        return False
    return declared is not None and declared.default is not declared.empty and (
        plain(declared.default) == plain(whole[name])
    )  # fmt: skip

"""The family and the parameters of a configuration, as plain values, and all parameters of an estimator."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from heldout._types import Floats, Indices
from heldout.configurations import Configuration
from heldout.report.entries import Facts
from heldout.scales import plain

MOST_VALUES = 12
"""Of more distinct numbers, the best is looked for in each eighth of them."""
_DECADES, _DECADES_OF_HALF = 1.5, 0.6
"""Decades that all values, and the middle half of them, span at least on a logarithmic axis."""


def is_logarithmic(values: Floats) -> bool:
    """Whether numbers are positive and spread over so many orders of magnitude that a logarithmic axis suits them.

    Examples
    --------
    >>> is_logarithmic(np.array([0.01, 0.1, 1.0, 10.0])), is_logarithmic(np.array([0.001, 0.5, 0.6, 0.7, 1.0]))
    (True, False)
    """
    distinct = np.unique(values)
    if distinct[0] <= 0:
        return False
    first, third = distinct[len(distinct) // 4], distinct[(3 * len(distinct) - 1) // 4]
    is_wide = math.log10(distinct[-1] / distinct[0]) >= _DECADES
    return is_wide and math.log10(third / first) >= _DECADES_OF_HALF


def eighths_of(values: Floats) -> Indices | None:
    """The eighth of each number, of equally many each, so that the best of one is not better by their count alone.

    None of at most ``MOST_VALUES`` distinct numbers: each is a step of its own.
    """
    return equal_groups(values, 8) if len(np.unique(values)) > MOST_VALUES else None


def equal_groups(values: Floats, n: int) -> Indices:
    """Numbers in n groups of about equal size, equal ones together."""
    ranks = np.searchsorted(np.sort(values), values)
    return np.asarray(ranks * n // len(values), dtype=np.intp)


ParameterValue: TypeAlias = bool | int | float | str | None

_NAME = re.compile(r"(?P<family>.*?) \((?P<parameters>\w+=.*)\)", re.DOTALL)
_NEXT = re.compile(r", (?=\w+=)")


@dataclass(frozen=True)
class ConfigurationParts:
    """What a configuration is a case of, and the values that distinguish it from others of its family."""

    family: str
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)


def parts_of(configurations: Sequence[Configuration]) -> tuple[ConfigurationParts, ...]:
    """Families and parameters of configurations; a parameter is named by its last part if that is unambiguous."""
    names: dict[str, set[str]] = {}
    for configuration in configurations:
        names.setdefault(configuration.family, set()).update(configuration.own_params)
    short = {family: _short_names(keys) for family, keys in names.items()}
    return tuple(
        ConfigurationParts(
            family := configuration.family,
            {short[family][key]: parameter_value(value) for key, value in configuration.own_params.items()},
        )
        for configuration in configurations
    )


def parts_in_name(name: str) -> ConfigurationParts:
    """The family and the parameters that a name such as "forest (max_features=0.5, min_samples_leaf=3)" holds.

    A name of another form is a family without parameters.

    Examples
    --------
    >>> parts_in_name("forest (max_features=0.5, criterion=gini)").parameters
    {'max_features': 0.5, 'criterion': 'gini'}
    >>> parts_in_name("my model").family
    'my model'
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return ConfigurationParts(name)
    pairs = (part.split("=", 1) for part in _NEXT.split(found["parameters"]))
    return ConfigurationParts(found["family"], {key: _value_of_text(text) for key, text in pairs})


def parameter_value(value: Any) -> ParameterValue:
    """A parameter as a plain number where it is one, else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return plain(value)


def _short_names(keys: set[str]) -> dict[str, str]:
    """Each key by its last part, or whole where several end alike."""
    last = [key.rpartition("__")[2] for key in keys]
    return {key: end if last.count(end) == 1 else key for key, end in zip(keys, last, strict=True)}


def _value_of_text(text: str) -> ParameterValue:
    if text in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[text]
    for kind in (int, float):
        try:
            return parameter_value(kind(text))
        except ValueError:
            continue
    return text


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

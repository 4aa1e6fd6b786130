"""Complexity: what makes one configuration simpler than another, for rules that prefer the simpler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError, NoExit
from heldout.kernels.reference import Floats
from heldout.selection.base import first_greatest, scalar, tie_exactly


def frozen_complexity(complexity: Any) -> Any:
    """As a rule holds it: numbers as a tuple, so that equal rules are equal and have a hash.

    Raises
    ------
    InputError
        When it is none of what a complexity may be.
    """
    if complexity is None or isinstance(complexity, str) or callable(complexity):
        return complexity
    try:
        numbers = np.asarray(complexity, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 1 or not numbers.size or np.isnan(numbers).any():
        raise InputError(
            "complexity must be the name of a parameter, a function of the parameters, a number for each "
            f"configuration (greater = more complex), or None for the order given; got {complexity!r}.",
            argument="complexity",
        )
    return tuple(numbers.tolist())


def complexities(complexity: Any, n_configurations: int, params: Sequence[Mapping[str, Any]]) -> Floats:
    """(C,): a number for each configuration, the least for the simplest.

    Raises
    ------
    InputError
        Where a parameter is missing or no number, a function gives none, or the numbers are not C.

    Examples
    --------
    >>> grid = [{"depth": 5}, {"depth": 1}]
    >>> complexities("depth", 2, grid).tolist(), complexities(lambda params: -params["depth"], 2, grid).tolist()
    ([5.0, 1.0], [-5.0, -1.0])
    >>> complexities(None, 2, grid).tolist()
    [0.0, 1.0]
    """
    if complexity is None:
        return np.arange(n_configurations, dtype=np.float64)
    if not isinstance(complexity, str) and not callable(complexity):
        if len(complexity) != n_configurations:
            raise InputError(
                f"complexity must have a number for each of the {n_configurations} configurations, got "
                f"{len(complexity)}.",
                argument="complexity",
            )
        return np.asarray(complexity, dtype=np.float64)
    if not params or not any(params):
        raise InputError(
            "complexity reads the parameters of the configurations, which are known in a search only; give a "
            "number for each configuration, or None for the order given."
        )
    return np.array([_one(complexity, mine) for mine in params])


def _one(complexity: Any, params: Mapping[str, Any]) -> float:
    if isinstance(complexity, str):
        if complexity not in params:
            raise InputError(
                f"complexity='{complexity}' is no parameter of the configuration {dict(params)}; name one that all "
                "have, or give a function of the parameters."
            )
        value, source = params[complexity], f"the parameter '{complexity}'"
    else:
        try:
            with NoExit():
                value, source = complexity(params), "the complexity function"
        except Exception as error:
            raise InputError(
                f"the complexity function failed on {dict(params)}: {type(error).__name__}: {error}."
            ) from error
    if not scalar(value) or np.isnan(value):
        raise InputError(
            f"complexity must be a number, but {source} is {value!r} in {dict(params)}; give a function that makes "
            "it one.",
            argument="complexity",
        )
    return float(value)


def simplest_of(within: NDArray[np.bool_], scores: Floats, order: Floats) -> NDArray[np.intp]:
    """(B,): the simplest of those ``within`` (B, C); of equally simple ones the best, then the first."""
    least = np.where(within, order, np.inf).min(axis=1, keepdims=True)
    return first_greatest(np.where(within & (order == least), tie_exactly(scores), np.nan))

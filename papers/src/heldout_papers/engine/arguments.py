"""The checks of arguments that several studies have: sizes, names and distributions."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from heldout.errors import InputError


def checked_sizes(name: str, values: Any, least: int) -> tuple[int, ...]:
    """Whole numbers of at least ``least``, each once."""
    listed = list(values) if isinstance(values, list | tuple | range | np.ndarray) else [values]
    whole = all(isinstance(one, int | np.integer) and not isinstance(one, bool) and one >= least for one in listed)
    if not listed or not whole:
        wanted = "whole numbers" if isinstance(values, list | tuple | range | np.ndarray) else "a whole number"
        shown = values[0] if isinstance(values, tuple) and len(values) == 1 else values
        raise InputError(f"{name} must be {wanted} from {least} on, got {shown!r}.", argument=name)
    return tuple(dict.fromkeys(int(one) for one in listed))


def checked_names(argument: str, values: Any, known: Iterable[str], of: str = "") -> tuple[str, ...]:
    """Some of the known names, each once; ``of`` follows the argument in the message: " of a binary task"."""
    able, listed = tuple(known), [values] if isinstance(values, str) else list(values)
    if not listed or any(name not in able for name in listed):
        raise InputError(f"{argument}{of} must be some of {', '.join(able)}, got {values!r}.", argument=argument)
    return tuple(dict.fromkeys(listed))


def checked_beta(beta: Any) -> tuple[tuple[float, float], ...]:
    """Pairs of numbers above 0."""
    try:
        pairs = np.asarray(beta, dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        pairs = np.empty((0, 2))
    if not len(pairs) or not np.isfinite(pairs).all() or (pairs <= 0).any():
        raise InputError(
            f"beta must be pairs of numbers above 0, such as 9 and 6, got {beta!r}.",
            argument="beta",
        )
    return tuple((float(a), float(b)) for a, b in pairs)

"""The spaces of published experiments as presets, by name, with their own parameters.

They are in ``heldout_papers``, which is imported by name, when one of them is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from heldout._text import is_one_of
from heldout.data.calls import call_in, check_known
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.spaces.presets import PRESETS, Entry


@dataclass(frozen=True)
class PublishedSpace:
    """A function of X and y in ``heldout_papers.spaces``, which returns a list of (name, estimator, grid)."""

    module: str
    kinds: tuple[TaskKind, ...]
    """Of the targets that it is for."""
    parameters: tuple[str, ...] = ()


PUBLISHED: Mapping[str, PublishedSpace] = MappingProxyType(
    {
        "tsamardinos2018": PublishedSpace("tsamardinos2018", (TaskKind.BINARY,), ("n_trees",)),
        "wainer_cawley2021": PublishedSpace("wainer_cawley", (TaskKind.BINARY, TaskKind.MULTICLASS), ("small",)),
    }
)
"""By the names of the functions."""


def published_name(text: str) -> tuple[str, dict[str, Any]] | None:
    """The name and the parameters of a published space in the text of a preset; None for a preset of our own.

    Parameters
    ----------
    text : str

    Returns
    -------
    (str, dict) or None

    Raises
    ------
    InputError
        For an unknown name or parameter.

    Examples
    --------
    >>> published_name("tsamardinos2018(n_trees=100)"), published_name("quick")
    (('tsamardinos2018', {'n_trees': 100}), None)
    """
    name, given = call_in(text) or (text, {})
    if name in PUBLISHED:
        check_known("preset", name, given, PUBLISHED[name].parameters)
        return name, given
    if not is_one_of(text, PRESETS):
        raise InputError(
            f"preset must be one of {', '.join((*PRESETS, *PUBLISHED))}, got {text!r}.", argument="preset"
        )
    return None


def published_space(text: str, X: Any, y: Any, kind: TaskKind) -> list[Entry] | None:
    """The space of a published experiment for these data; None for a preset of our own.

    Parameters
    ----------
    text : str
        Its name, or its name with parameters: "wainer_cawley2021(small=True)".
    X : table or array of shape (N, p)
    y : array-like of shape (N,)
    kind : TaskKind

    Returns
    -------
    list of (name, estimator, grid), or None
        None for a preset of our own.

    Raises
    ------
    InputError
        For an unknown name or parameter, and for a target that the space is not for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> [name for name, _, _ in published_space("wainer_cawley2021", X, y, TaskKind.MULTICLASS)][:4]
    ['bst', 'gbm', 'knn', 'lvq']
    """
    found = published_name(text)
    if found is None:
        return None
    name, given = found
    kinds = PUBLISHED[name].kinds
    if kind not in kinds:
        raise InputError(
            f"preset '{name}' is for {' or '.join(f'{each} classification' for each in kinds)}, and the target is "
            f"{kind}; use preset 'standard'.",
            argument="preset",
        )
    make = getattr(import_module(f"heldout_papers.spaces.{PUBLISHED[name].module}"), name)
    try:
        entries: list[Entry] = make(X, y, **given)
    except InputError as error:
        if error.argument not in given:
            raise
        raise InputError(f"preset '{text}': {error}", argument="preset") from error
    return entries

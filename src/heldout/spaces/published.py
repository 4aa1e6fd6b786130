"""The spaces of published experiments, which heldout-papers adds, as presets by name with their own parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heldout._papers import attribute_of_papers, of_papers
from heldout._text import is_one_of
from heldout.data.checks import call_in, check_known
from heldout.data.task import TaskKind
from heldout.errors import INSTALL_PAPERS, InputError
from heldout.spaces.presets import PRESETS, Entry


@dataclass(frozen=True)
class PublishedSpace:
    """What is known of a function of X and y, by its name, that returns a list of (name, estimator, grid)."""

    kinds: tuple[TaskKind, ...]
    """Of the targets that it is for."""
    parameters: tuple[str, ...] = ()


_SPACES = "heldout.spaces"


def published_spaces() -> Mapping[str, PublishedSpace]:
    """The spaces of articles by their names; none without heldout-papers."""
    return {name: space for module in of_papers(_SPACES).values() for name, space in module.PUBLISHED.items()}


def preset_names() -> str:
    """All presets that there are, and how to have those of articles, for a sentence."""
    published = published_spaces()
    more = "" if published else f" or, after {INSTALL_PAPERS}, the space of an article"
    return ", ".join((*PRESETS, *published)) + more


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
    >>> published_name("tsamardinos2018(n_trees=100)")  # with heldout-papers  # doctest: +SKIP
    ('tsamardinos2018', {'n_trees': 100})
    >>> published_name("quick") is None
    True
    """
    if is_one_of(text, PRESETS):
        return None
    published = published_spaces()
    name, given = call_in(text) or (text, {})
    if name not in published:
        raise InputError(f"preset must be one of {preset_names()}, got {text!r}.", argument="preset")
    check_known("preset", name, given, published[name].parameters)
    return name, given


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
    >>> space = published_space("wainer_cawley2021", X, y, TaskKind.MULTICLASS)  # doctest: +SKIP
    >>> [name for name, _, _ in space][:4]  # with heldout-papers  # doctest: +SKIP
    ['bst', 'gbm', 'knn', 'lvq']
    >>> published_space("quick", X, y, TaskKind.MULTICLASS) is None
    True
    """
    found = published_name(text)
    if found is None:
        return None
    name, given = found
    kinds = published_spaces()[name].kinds
    if kind not in kinds:
        raise InputError(
            f"preset '{name}' is for {' or '.join(f'{each} classification' for each in kinds)}, and the target is "
            f"{kind}; use preset 'standard'.",
            argument="preset",
        )
    make = attribute_of_papers(_SPACES, name)
    try:
        entries: list[Entry] = make(X, y, **given)
    except InputError as error:
        if error.argument not in given:
            raise
        raise InputError(f"preset '{text}': {error}", argument="preset") from error
    return entries

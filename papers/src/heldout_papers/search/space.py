"""The space of a study: by its name, as a list of estimators with grids, or as a function of the rows."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout.configurations import Configurations, NotHashableError, canonical_form, make_configurations
from heldout.errors import InputError
from heldout.spaces import quick, standard
from heldout_papers.spaces.tsamardinos2018 import tsamardinos2018

SPACES: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {"tsamardinos2018": tsamardinos2018, "quick": quick, "standard": standard}
)


@dataclass(frozen=True)
class Space:
    """What is searched, on every sub-sample anew."""

    name: str
    digest: str  # Of what it is made of
    most: int | None  # How many configurations are taken of it, at equal distances; all where None
    source: Any = field(repr=False, compare=False)  # ``callable(X, y)`` gives such a list

    def configurations(self, X: Any, y: Any) -> Configurations:
        """Of some rows."""
        return thinned(make_configurations(self.source(X, y) if callable(self.source) else self.source), self.most)


def thinned(configurations: Configurations, most: int | None) -> Configurations:
    """At most so many of them, at equal distances, numbered anew.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> nine = make_configurations(KNeighborsClassifier(), {"n_neighbors": list(range(1, 10))})
    >>> [member.params["n_neighbors"] for member in thinned(nine, 3)]
    [2, 5, 8]
    """
    n = len(configurations)
    if most is None or most >= n:
        return configurations
    places = (2 * np.arange(most) + 1) * n // (2 * most)
    return Configurations(
        tuple(replace(configurations[place], position=number) for number, place in enumerate(places.tolist()))
    )


def _name_of_partial(space: Any) -> str:
    """As ``tsamardinos2018(n_trees=20)``."""
    function, settings = getattr(space, "func", None), getattr(space, "keywords", {})
    if function is None:
        return "space of yours"
    return f"{function.__name__}({', '.join(f'{name}={value}' for name, value in settings.items())})"


def space_of(space: Any, most: int | None, named: Mapping[str, Callable[[Any, Any], Any]] = SPACES) -> Space:
    """A space from the user's argument.

    ``named``: the names that there are. Raises InputError for another name, or for a space that cannot be
    recognised when the study is resumed.
    """
    if most is not None and (isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 2):
        raise InputError(
            f"configurations must be a whole number from 2 on, got {most!r}; leave it out for all.",
            argument="configurations",
        )
    if isinstance(space, str):
        if space not in named:
            raise InputError(f"space must be one of {', '.join(named)}, got {space!r}.", argument="space")
        return Space(space, "", most, named[space])
    if not callable(space):
        make_configurations(space)
    try:
        text = json.dumps(canonical_form(space), sort_keys=True)
    except NotHashableError as error:
        raise InputError(
            f"space must be a list of (name, estimator, grid) or a function of a module that gives one, so that "
            f"the study can be resumed; {error}.",
            argument="space",
        ) from None
    name = getattr(space, "__name__", "") or _name_of_partial(space)
    return Space(name, hashlib.sha256(text.encode()).hexdigest()[:16], most, space)

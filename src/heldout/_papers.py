"""What the distribution heldout-papers adds to heldout, found by its entry points.

Their groups are ``heldout.commands``, with a command by its name, and ``heldout.studies`` and ``heldout.spaces``,
with modules whose public names those of heldout have too.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

from heldout.errors import MissingPapersError


@cache
def of_papers(group: str) -> dict[str, Any]:
    """What a group holds, by name; nothing without heldout-papers."""
    from importlib.metadata import entry_points  # which takes longer to import than a command needs for its help

    return {entry.name: entry.load() for entry in entry_points(group=group)}


def names_of_papers(module: str) -> list[str]:
    """The public names that a module of heldout has from heldout-papers."""
    return [name for extension in of_papers(module).values() for name in extension.__all__]


def attribute_of_papers(module: str, name: str) -> Any:
    """What a module of heldout has from heldout-papers, for its ``__getattr__``."""
    if not name.startswith("_"):
        extensions: list[ModuleType] = [*of_papers(module).values()]
        for extension in extensions:
            if name in extension.__all__:
                return getattr(extension, name)
        if not extensions:
            raise MissingPapersError(f"{module}.{name}, unless it is misspelt,")
    raise AttributeError(f"module {module!r} has no attribute {name!r}")

"""The experiments of the literature, on its settings or on yours: what the distribution heldout-papers brings."""

from typing import Any

from heldout._papers import attribute_of_papers, names_of_papers


def __getattr__(name: str) -> Any:
    return attribute_of_papers(__name__, name)


def __dir__() -> list[str]:
    return sorted(names_of_papers(__name__))

"""The sentences on software and seed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from heldout._streams import DrawnSeed
from heldout.methods_text import cited
from heldout.references import PACKAGE
from heldout.report.paper.data import listed
from heldout.report.paper.space import steps_of

_NAMES = {"numpy": "NumPy", "python": "Python"}
_WORKS = {"heldout": (PACKAGE,), "scikit-learn": ("pedregosa2011",)}
_LISTED = {"sklearn", "heldout", "heldout_papers", "numpy", "builtins", "__main__"}
"""Modules whose versions are listed anyway, or that have none."""


def software_sentence(versions: Mapping[str, Any], model: Any) -> str:
    """The packages with their versions: heldout, those of the model, scikit-learn, NumPy and Python."""
    known = {"heldout": "", **packages_of(model), "scikit-learn": "", "numpy": "", "python": "", **versions}
    texts = [
        f"{_NAMES.get(name, name)} {number}{cited(_WORKS.get(name, ()))}"
        for name, number in known.items()
        if number
    ]
    return f"The software was {listed(texts)}." if texts else ""


def packages_of(model: Any) -> dict[str, str]:
    """The packages other than scikit-learn that a model and its parts come from, with their versions."""
    tops = dict.fromkeys(
        type(each).__module__.partition(".")[0] for each in steps_of([] if model is None else [model])
    )
    return {top: number for top in tops if top not in _LISTED and (number := _version_of(top))}


def _version_of(module: str) -> str:
    number = getattr(sys.modules.get(module), "__version__", None)
    if isinstance(number, str):
        return number
    try:
        return version(module)
    except PackageNotFoundError:
        return ""


def seed_sentence(entropy: Any) -> str:
    """The seed, and whether the user set it.

    Examples
    --------
    >>> seed_sentence(7)
    'The seed was 7.'
    >>> seed_sentence(DrawnSeed(7))
    'No seed was set; the random numbers came from the seed 7, which the run recorded.'
    """
    if entropy is None:
        return ""
    if isinstance(entropy, DrawnSeed):
        return f"No seed was set; the random numbers came from the seed {int(entropy)}, which the run recorded."
    return f"The seed was {entropy}."


def unseeded_sentence(model: Any) -> str:
    """Which parts of a model have no seed; empty where each part that can take one has it."""
    unseeded = [
        type(each).__name__
        for each in steps_of([] if model is None else [model])
        if "random_state" in each.get_params(deep=False) and each.get_params(deep=False)["random_state"] is None
    ]
    names = listed(list(dict.fromkeys(unseeded)))
    return f"No seed was set for {names} (random_state=None)." if names else ""

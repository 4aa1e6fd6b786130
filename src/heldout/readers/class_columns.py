"""Columns of class probabilities, by their names: ``.pred_A`` and ``.pred_B``, or ``A`` and ``B``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MOST_CLASSES = 50
"""Numbers of more different values are amounts."""


def texts_of_classes(target: Any) -> list[str]:
    """The classes of a target column as text; none of one that holds amounts."""
    if target.dtype.kind == "f" and (target != target.round()).any():
        return []
    values = sorted(target.unique().tolist(), key=str)
    return [] if len(values) > MOST_CLASSES else [str(value) for value in values]


def columns_of_classes(names: Sequence[str], classes: Sequence[str]) -> list[dict[str, str]]:
    """Every set of columns that are named alike but for a class, one for each: the class of each column.

    Examples
    --------
    >>> columns_of_classes([".pred_class", ".pred_no", ".pred_yes", "penalty"], ["no", "yes"])
    [{'.pred_no': 'no', '.pred_yes': 'yes'}]
    """
    if len(classes) < 2:
        return []
    by_lower = {name.lower(): name for name in names}
    first = classes[0].lower()
    found: list[dict[str, str]] = []
    for lower in by_lower:
        place = lower.find(first)
        while place >= 0:
            head, tail = lower[:place], lower[place + len(first) :]
            own = [by_lower.get(f"{head}{label.lower()}{tail}") for label in classes]
            if all(name is not None for name in own) and len({*own}) == len(classes):
                found.append({str(name): label for name, label in zip(own, classes, strict=True)})
            place = lower.find(first, place + 1)
    return found

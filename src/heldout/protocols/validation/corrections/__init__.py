"""Corrections of an apparent score: each is one file, and reads nothing but the replicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from heldout.data.checks import usual_name
from heldout.errors import InputError
from heldout.protocols.validation.corrections.base import CorrectedScore, Correction
from heldout.protocols.validation.corrections.left_out import OutOfBag, Point632, Point632Plus
from heldout.protocols.validation.corrections.optimism import Automatic, Optimism

CORRECTIONS: Mapping[str, Callable[[], Correction]] = MappingProxyType(
    {"optimism": Optimism, "632": Point632, "632+": Point632Plus, "oob": OutOfBag}
)
"""Every correction by its name, as it is by default; ``Automatic`` chooses among them."""

__all__ = [
    "CORRECTIONS",
    "Automatic",
    "CorrectedScore",
    "Correction",
    "Optimism",
    "OutOfBag",
    "Point632",
    "Point632Plus",
    "correction_named",
]


def correction_named(method: Any) -> Correction:
    """A correction from its name or from itself.

    Raises InputError for anything else, naming the corrections.

    Examples
    --------
    >>> correction_named(".632+"), correction_named(OutOfBag()).name
    (Point632Plus(), 'oob')
    """
    if isinstance(method, str):
        method = usual_name("method", method)
        if method in (Automatic.name, *CORRECTIONS):
            return Automatic() if method == Automatic.name else CORRECTIONS[method]()
    if hasattr(method, "corrected") and hasattr(method, "name") and not isinstance(method, type):
        configured: Correction = method
        return configured
    if isinstance(method, type) and hasattr(method, "corrected"):
        raise InputError(
            f"method must be a correction and not its class; write {method.__name__}(), got {method!r}.",
            argument="method",
        )
    raise InputError(
        f"method must be one of auto, {', '.join(CORRECTIONS)}, two_stage, or an object with a name and a method "
        f"corrected(replicates, scores), got {method!r}.",
        argument="method",
    )

"""What a rule may be configured with."""

from __future__ import annotations

from typing import Any

import numpy as np

from heldout.errors import InputError


def checked_count(what: str, value: Any) -> None:
    """Refuse anything but an integer of at least 1.

    Raises
    ------
    InputError
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{what} must be an integer of at least 1, got {value!r}.")

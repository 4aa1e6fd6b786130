"""Randomness: one 64-bit entropy a run, and a named stream for each purpose.

A seed belongs to the piece of work (a cell, a bootstrap), never to a worker, so that results do not depend
on which worker did it, or in which order.
"""

import hashlib
import secrets
from typing import TypeAlias

import numpy as np

from heldout.errors import InputError

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None


class DrawnSeed(int):
    """Entropy that the system drew because no seed was given; else as any integer."""


def entropy_of(random_state: RandomState) -> int:
    """64 bits of entropy: an int is itself, a generator gives one draw, None takes the system's."""
    if random_state is None:
        return DrawnSeed(secrets.randbits(64))
    if isinstance(random_state, np.random.RandomState):
        high, low = random_state.randint(0, 2**32, size=2, dtype=np.uint64)
        return int(high) << 32 | int(low)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise InputError(f"random_state must be from 0 to 2**64 - 1, got {random_state}.")
        return random_state if isinstance(random_state, DrawnSeed) else int(random_state)
    raise InputError(
        f"random_state must be an integer, a numpy RandomState or Generator, or None, got {random_state!r}."
    )


def stream(entropy: int, domain: str, *parts: int | str) -> int:
    """The 64-bit seed of one purpose: the first eight bytes of a hash of (entropy, domain, parts)."""
    text = "\x1f".join([f"{entropy:016x}", domain, *(str(part) for part in parts)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def numpy_seed(entropy: int, domain: str, *parts: int | str) -> int:
    """A stream's seed as scikit-learn's ``random_state`` takes it: below 2**32."""
    return stream(entropy, domain, *parts) >> 32

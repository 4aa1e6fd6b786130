"""Where a search keeps its results: in memory, or in a file that outlives the process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout._registry import registered
from heldout._streams import DrawnSeed, RandomState, entropy_of
from heldout.errors import InputError
from heldout.execution.store.base import MemoryStore, Store

if TYPE_CHECKING:
    from heldout.execution.store.sqlite import SQLiteStore

__all__ = ["SQLiteStore", "entropy_of_run", "store_of"]


@registered("store")
def store_of(store: Any) -> Store:
    """A store from a path, a store, or None for the memory.

    Raises InputError for anything else.
    """
    if store is None:
        return MemoryStore()
    if isinstance(store, str | os.PathLike):
        from heldout.execution.store.sqlite import SQLiteStore

        return SQLiteStore(Path(store))
    if not hasattr(store, "open"):
        raise InputError(
            f"store must be the path of a run file, a store such as SQLiteStore(path), or None, got {store!r}.",
            argument="store",
        )
    opened: Store = store
    return opened


def entropy_of_run(random_state: RandomState, store: Store) -> int:
    """Of the random state; without one that of the run that the store holds, or else the system's."""
    stored = store.stored_entropy() if random_state is None else None
    return entropy_of(random_state) if stored is None else DrawnSeed(stored)


def __getattr__(name: str) -> Any:
    if name == "SQLiteStore":  # loaded at the first use: a search without a run file needs no SQLite
        from heldout.execution.store.sqlite import SQLiteStore

        return SQLiteStore
    raise AttributeError(f"module 'heldout.execution.store' has no attribute {name!r}")

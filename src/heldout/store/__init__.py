"""Where a search keeps what it has done: nowhere beyond its process, or in a file that outlives it."""

from heldout.store.base import Run, RunIdentity, Store
from heldout.store.memory import MemoryStore
from heldout.store.sqlite import SQLiteStore

__all__ = ["MemoryStore", "Run", "RunIdentity", "SQLiteStore", "Store"]

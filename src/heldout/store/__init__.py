"""Where a search keeps what it has done: nowhere beyond its process, or in a file that outlives it."""

from heldout.store.sqlite import SQLiteStore

__all__ = ["SQLiteStore"]

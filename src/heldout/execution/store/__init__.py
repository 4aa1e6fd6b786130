"""Where a search keeps its results: in memory, or in a file that outlives the process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout.execution.store.sqlite import SQLiteStore

__all__ = ["SQLiteStore"]


def __getattr__(name: str) -> Any:
    if name == "SQLiteStore":  # loaded when first asked for: a search without a run file needs no SQLite
        from heldout.execution.store.sqlite import SQLiteStore

        return SQLiteStore
    raise AttributeError(f"module 'heldout.execution.store' has no attribute {name!r}")

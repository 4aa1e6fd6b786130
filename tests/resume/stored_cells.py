"""The cells of a run file, read without heldout."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any


def stored_cells(run_file: Path) -> Iterator[tuple[tuple[int, int, int], dict[str, Any]]]:
    """(key of the configuration, repeat, fold), and state, attempts, message, seconds and block of each cell."""
    if not run_file.exists():
        return
    # Without a log nobody writes; "immutable" makes no file beside it.
    mode = "mode=ro" if run_file.with_name(f"{run_file.name}-wal").exists() else "mode=ro&immutable=1"
    with closing(sqlite3.connect(f"file:{run_file}?{mode}", uri=True, timeout=10)) as connection:
        try:
            blocks = connection.execute("SELECT number, cells FROM block").fetchall()
        except sqlite3.OperationalError:  # its tables are not made yet
            return
    for number, text in blocks:
        cells = json.loads(text)
        for c, configuration in enumerate(cells["configurations"]):
            for s, (repeat, fold) in enumerate(cells["places"]):
                columns = {
                    name: cells[name][c]
                    for name in ("state", "attempts", "message", "fit_seconds", "score_seconds")
                }
                # What is the same on all splits is there once.
                values = {name: column[s if len(column) > 1 else 0] for name, column in columns.items()}
                yield (configuration, repeat, fold), {**values, "block": number}


def stored_seconds(run_file: Path) -> dict[tuple[int, int, int], tuple[float, float]]:
    """(key of the configuration, repeat, fold) → seconds of fitting and scoring; none where there are no tables."""
    return {key: (cell["fit_seconds"], cell["score_seconds"]) for key, cell in stored_cells(run_file)}


def positions_of(run_file: Path) -> dict[int, int]:
    """Position of each configuration of the only run, by its key."""
    with closing(sqlite3.connect(run_file)) as connection:
        return dict(connection.execute("SELECT number, position FROM configuration").fetchall())

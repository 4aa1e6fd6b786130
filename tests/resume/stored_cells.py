"""The cells of a run file, read without heldout: single rows, and those that blocks hold."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

CELLS = "SELECT configuration, repeat, fold, fit_seconds, score_seconds FROM cell"
BLOCKS = """SELECT cells, fit.blob, score.blob FROM block
    JOIN block_array AS fit ON fit.block = number AND fit.kind = 'seconds' AND fit.name = 'fit'
    JOIN block_array AS score ON score.block = number AND score.kind = 'seconds' AND score.name = 'score'"""


def stored_seconds(run_file: Path) -> dict[tuple[int, int, int], tuple[float, float]]:
    """(key of the configuration, repeat, fold) → seconds of fitting and scoring; none where there are no tables."""
    if not run_file.exists():
        return {}
    try:
        # Without a log nobody writes; "immutable" makes no file beside it.
        mode = "mode=ro" if run_file.with_name(f"{run_file.name}-wal").exists() else "mode=ro&immutable=1"
        with closing(sqlite3.connect(f"file:{run_file}?{mode}", uri=True)) as connection:
            found = {(j, *place): (fit, score) for j, *place, fit, score in connection.execute(CELLS)}
            for text, *blobs in connection.execute(BLOCKS):
                found |= _of_block(json.loads(text), *(np.frombuffer(blob) for blob in blobs))
            return found
    except sqlite3.OperationalError:  # its tables are not made yet
        return {}


def _of_block(cells: dict[str, Any], fit: Any, score: Any) -> dict[tuple[int, int, int], tuple[float, float]]:
    keys = [(j, *place) for j in cells["configurations"] for place in cells["places"]]
    return dict(zip(keys, zip(fit.tolist(), score.tolist(), strict=True), strict=True))

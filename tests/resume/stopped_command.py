"""Commands that are stopped while they fit, and the cells that their run files hold meanwhile."""

import time
from pathlib import Path

import pytest
from forked import Forked
from sklearn.datasets import make_classification
from stored_cells import stored_seconds

for needed in ("click", "rich", "pandas", "pyarrow", "skops", "matplotlib"):
    pytest.importorskip(needed)

HELDOUT = """
import sys
from heldout.cli import main

main(sys.argv[1:])
"""

# Each fit takes a moment, as what took less than 50 ms is acknowledged later. After as many as the first word says
# the next one never ends: however slow the test is, the command cannot be done before it is stopped.
HELD = """
import functools, itertools, sys, time
from sklearn.linear_model import LogisticRegression

numbers, most, fit = itertools.count(), int(sys.argv.pop(1)), LogisticRegression.fit


@functools.wraps(fit)
def held(*arguments, **more):
    time.sleep(0.02 if next(numbers) < most else 600)
    return fit(*arguments, **more)


LogisticRegression.fit = held
"""


def written_table(path: Path) -> Path:
    """60 rows of four numbers and the labels 0 and 1, ``y``."""
    X, y = make_classification(60, 4, flip_y=0.3, random_state=0)
    rows = [",".join(map(repr, [*map(float, row), int(label)])) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,y", *rows]))
    return path


def cells(out: Path) -> dict[tuple[int, int, int], tuple[float, float]]:
    """The seconds of each cell in the run file: one that is fitted again takes other seconds."""
    return stored_seconds(out / "run.db")


def begun(words: list[str], out: Path, n_cells: int) -> Forked:
    """The process of a command that has acknowledged so many cells, and a few later ones at most."""
    process = Forked(HELD + HELDOUT, n_cells - len(cells(out)) + 4, *words)
    while len(cells(out)) < n_cells and process.poll() is None:
        time.sleep(0.005)
    return process


def stopped_at(n_cells: int, how: int, words: list[str], out: Path) -> tuple[int, str]:
    """Stop a command by a signal once so many cells are acknowledged; its exit code and what it said."""
    process = begun(words, out, n_cells)
    try:
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.close()
    return process.returncode, said

"""Run files: bits, lengths, rows and types that a ``run.db`` can have come to have."""

import atexit
import json
import shutil
import sqlite3
from contextlib import chdir, closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
from bad_values import JSON, NUMBERS, TEXTS, Generator, damaged, pick
from oracle import Case, Ended, command, fault_of_printed, light

TUNE = [
    "tune", "t.csv", "--target", "y", "--n-bootstraps", "10", "--cv", "2", "--n-jobs", "1", "--out", "out", "--json"
]  # fmt: skip


@cache
def finished() -> Path:
    """A folder with a table and the folder ``out`` of its finished run; made once a process."""
    folder = Path(mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    rng = np.random.default_rng(0)
    a = rng.normal(size=24)
    frame = pd.DataFrame({"a": a, "b": rng.random(24), "y": (a + rng.normal(size=24) > 0).astype(int)})
    with chdir(folder), light():
        frame.to_csv("t.csv", index=False)
        ended = command(*TUNE)
        assert ended.code == 0, ended.err
        (folder / "printed.json").write_text(ended.out)
    return folder


def copied(folder: Path) -> None:
    """The finished run in a folder of its own."""
    shutil.copytree(finished() / "out", folder / "out")
    shutil.copy(finished() / "t.csv", folder / "t.csv")


def make(rng: Generator, folder: Path) -> Case:
    """A run file that is changed, then resumed or looked at."""
    copied(folder)
    file = folder / "out" / "run.db"
    words = _by_bytes(rng, file) if rng.random() < 0.35 else _by_sql(rng, file)
    if rng.random() < 0.2:
        return Case(f"estimate of a run file with {words}", lambda: command("estimate", "out", "--json"), _document)
    if rng.random() < 0.2:
        (folder / "out" / "report.json").unlink()
        return Case(f"report of a run file with {words}", lambda: command("report", "out"), _nothing)
    if rng.random() < 0.4:
        return Case(f"status of a run file with {words}", lambda: command("status", "out", "--json"), _document)
    return Case(f"tune --resume of a run file with {words}", lambda: command(*TUNE, "--resume"), _as_before)


def _nothing(ended: Ended) -> None:
    return None


def _document(ended: Ended) -> str | None:
    json.loads(ended.out)
    return None


def _as_before(ended: Ended) -> str | None:
    before, after = json.loads((finished() / "printed.json").read_text()), json.loads(ended.out)
    for name in ("value", "interval", "uncorrected", "selected", "winner"):
        if before[name] != after[name]:
            return f"{name} was {before[name]} and became {after[name]}"
    return fault_of_printed(ended)


def _by_bytes(rng: Generator, file: Path) -> str:
    if rng.random() < 0.1:
        file.unlink()
        if rng.random() < 0.5:
            file.mkdir()
        return "nothing, or a folder, in its place"
    content, words = damaged(rng, file.read_bytes())
    file.write_bytes(content)
    return words


def _by_sql(rng: Generator, file: Path) -> str:
    words = []
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(int(rng.integers(1, 3))):
            statement, values = _statement(rng, connection, pick(rng, tables))
            try:
                connection.execute(statement, values)
                words.append(f"{statement} {values!r:.100}")
            except sqlite3.Error as error:
                words.append(f"({statement}: {error})")
    return "; ".join(words)


def _statement(rng: Generator, connection: Any, table: str) -> tuple[str, tuple[Any, ...]]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    if not columns:  # a table that an earlier statement dropped
        return "PRAGMA user_version = 2", ()
    column = pick(rng, columns)
    one = (
        f'WHERE rowid = (SELECT rowid FROM "{table}" LIMIT 1 OFFSET {int(rng.integers(4))})'
        if rng.random() < 0.6
        else ""
    )
    act = pick(rng, ("update", "update", "update", "update", "delete", "drop", "pragma", "column", "copy", "deep"))
    if act == "update":
        return f'UPDATE OR IGNORE "{table}" SET "{column}" = ? {one}', (_value(rng),)
    if act == "deep":
        return f'UPDATE OR IGNORE "{table}" SET "{column}" = ? {one}', ("[" * 100_000,)
    if act == "delete":
        return f'DELETE FROM "{table}" {one}', ()
    if act == "drop":
        return f'DROP TABLE "{table}"', ()
    if act == "column":
        return f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "x{column}"', ()
    if act == "copy":
        kept = ", ".join(f'"{name}"' for name in columns if name != "number")
        return f'INSERT OR IGNORE INTO "{table}" ({kept}) SELECT {kept} FROM "{table}"', ()
    return f"PRAGMA {pick(rng, ('user_version', 'application_id'))} = {pick(rng, (0, 1, 2, 3, 99, -1))}", ()


def _value(rng: Generator) -> Any:
    odd = None, b"", b"\xff\x00", "9" * 5000, '{"test": {}}', "[1, 2]", "{}", "2020-01-01T00:00:00"
    value = pick(rng, (*NUMBERS, *TEXTS, *JSON, *odd))
    if isinstance(value, list | dict):
        return json.dumps(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value if not isinstance(value, int) or abs(value) < 2**63 else str(value)

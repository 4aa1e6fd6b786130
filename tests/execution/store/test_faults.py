"""A file that cannot be used is refused with one sentence, and what was acknowledged stays."""

import os
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from forked import Forked

from heldout.errors import StoreError
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.store import RunIdentity
from heldout.execution.store.runs import SCHEMA_VERSION
from heldout.execution.store.sqlite import SQLiteStore
from heldout.metrics.base import Response

IDENTITY = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
CONFIGURATIONS = [(f"id {i}", "{}") for i in range(400)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


def open_(path, **more):
    return SQLiteStore(path, **more).open(IDENTITY, CONFIGURATIONS, resume=True)


def fill(path, n_cells=400):
    with open_(path) as run:
        for configuration in range(n_cells):
            run.record(
                CellResult(
                    CellKey(configuration, 0, 0),
                    CellState.DONE,
                    test_scores={"score": 0.5},
                    predictions={Response.VALUES: np.full(100, 1.0 * configuration)},
                )
            )


def refusal(path):
    with pytest.raises(StoreError) as caught:
        open_(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    return sentence


# Not ours


def test_a_file_of_another_kind(path):
    path.write_bytes(b"PK\x03\x04 something else, longer than a header is")
    assert "is not a run file of heldout (it begins with b'PK" in refusal(path)
    with pytest.raises(StoreError, match="is not a run file"):
        SQLiteStore(path).stored_entropy()
    assert path.read_bytes().startswith(b"PK")


def test_a_database_of_another_program_stays_untouched(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE run (mine TEXT)")
    before = path.read_bytes()
    assert "an SQLite database of another program" in refusal(path)
    assert path.read_bytes() == before


def test_a_newer_schema_stays_untouched(path):
    fill(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    found = refusal(path)
    assert f"has schema 99, written by a newer heldout; this one reads schema {SCHEMA_VERSION}: upgrade" in found


def test_a_folder_in_place_of_a_file(tmp_path):
    assert f"name a file in it, for instance {tmp_path / 'run.db'}" in refusal(tmp_path)


def test_a_folder_that_does_not_exist(tmp_path):
    assert "does not exist or is no folder" in refusal(tmp_path / "nowhere" / "run.db")


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "out").write_text("")
    assert "does not exist or is no folder" in refusal(tmp_path / "out" / "run.db")


def test_an_empty_file_becomes_a_run_file(path):
    path.write_bytes(b"")
    assert SQLiteStore(path).stored_entropy() is None
    fill(path, 1)
    assert SQLiteStore(path).stored_entropy() == 7


def test_a_database_without_tables_becomes_a_run_file(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert path.stat().st_size > 0
    fill(path, 1)
    assert SQLiteStore(path).stored_entropy() == 7


# Damaged


def everything(path):
    """Open the file and read all of it."""
    with open_(path) as run:
        return list(run.results())


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.99])
def test_a_truncated_file(path, share):
    fill(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(StoreError, match=r"is damaged .* restore a copy of it, or move it away and start again"):
        everything(path)


def test_a_file_cut_inside_its_header(path):
    fill(path, 1)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(StoreError, match="is damaged"):
        everything(path)


@pytest.mark.parametrize("page", range(2, 12))
def test_a_page_of_rubbish(path, page):
    fill(path)
    content = bytearray(path.read_bytes())
    content[4096 * (page - 1) : 4096 * page] = np.random.default_rng(page).bytes(4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"):
        everything(path)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE block SET cells = replace(cells, '<f8', '|O')",
        "UPDATE block SET cells = replace(cells, '[100, 2]', '[7]')",
        "UPDATE block SET data = substr(data, 1, 20)",
        "UPDATE block SET cells = replace(cells, 'values', 'other')",
        "UPDATE block SET cells = '{'",
        "UPDATE block SET cells = '{}'",
        "UPDATE block SET cells = replace(cells, 'done', 'half')",
        "UPDATE run SET entropy = 'x'",
        "UPDATE run SET versions = '7'",
        "DROP TABLE block",
    ],
)
def test_rows_of_rubbish(path, damage):
    fill(path, 2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    with pytest.raises(StoreError, match="is damaged"):
        everything(path)


def test_no_pickle_is_read(path):
    """A blob that is a pickle is just bytes of a wrong length."""
    fill(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE block SET data = ?", (b"\x80\x04cposix\nsystem\n.",))
        connection.commit()
    with pytest.raises(StoreError, match="is damaged"):
        everything(path)


# Not writable


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    try:
        assert "cannot be written" in refusal(folder / "run.db")
    finally:
        folder.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_is_read_only(path):
    fill(path, 1)
    path.chmod(0o400)
    assert "cannot be written" in refusal(path)


def test_a_file_system_that_refuses_to_make_the_file():
    """As root too: no file can be made in Linux's process table."""
    if not Path("/proc/self").is_dir():
        pytest.skip("needs Linux")
    sentence = refusal(Path("/proc/self/run.db"))
    assert "cannot be written (unable to open database file); make the file and its folder writable" in sentence


def test_a_connection_that_may_only_read(path, monkeypatch):
    """What SQLite says of a read-only file, without needing one: also where the tests run as root."""
    fill(path, 1)
    connect = sqlite3.connect

    def read_only(target, **more):
        return connect(target.replace("mode=rwc", "mode=ro"), **more)

    monkeypatch.setattr("heldout.execution.store.opening.sqlite3.connect", read_only)
    assert "cannot be written (attempt to write a readonly database)" in refusal(path)


def test_a_full_disk_says_what_is_safe_and_keeps_it(path):
    with pytest.raises(StoreError) as caught, open_(path) as run:
        for configuration in range(3):
            run.record(CellResult(CellKey(configuration, 0, 0), CellState.DONE))
        run.commit()
        (pages,) = run._connection.execute("PRAGMA page_count").fetchone()
        run._connection.execute(f"PRAGMA max_page_count = {pages + 4}")
        for configuration in range(3, 5):
            run.record(
                CellResult(
                    CellKey(configuration, 0, 0), CellState.DONE, predictions={Response.VALUES: np.zeros(100_000)}
                )
            )
        run.commit()
    sentence = str(caught.value)
    assert "database or disk is full" in sentence
    assert "free some space and resume the run" in sentence
    assert "Cells that are safe: 3; that must be done again: 2." in sentence
    with open_(path) as run:
        assert run.acknowledged() == {CellKey(i, 0, 0) for i in range(3)}
        for configuration in range(3, 5):
            run.record(
                CellResult(
                    CellKey(configuration, 0, 0), CellState.DONE, predictions={Response.VALUES: np.zeros(100_000)}
                )
            )
        run.commit()
        assert len(run.acknowledged()) == 5


def test_a_disk_that_is_full_when_the_run_ends(path):
    """The commit of closing fails too: the caller must hear of it."""
    run = open_(path)
    (pages,) = run._connection.execute("PRAGMA page_count").fetchone()
    run._connection.execute(f"PRAGMA max_page_count = {pages}")
    run.record(CellResult(CellKey(0, 0, 0), CellState.DONE, predictions={Response.VALUES: np.zeros(100_000)}))
    with pytest.raises(StoreError, match="database or disk is full"), run:
        pass
    with open_(path) as again:
        assert again.acknowledged() == frozenset()


# One writer

HOLD = """
import sys, time
from heldout.execution.cells import *
from heldout.execution.store import *
from heldout.execution.store.sqlite import *
identity = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
with SQLiteStore(sys.argv[1]).open(identity, [("id 0", "{}")], resume=True) as run:
    run.record(CellResult(CellKey(0, 0, 0), CellState.DONE))
    run.commit()
    print("open", flush=True)
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        run.record(CellResult(CellKey(0, 0, 0), CellState.DONE))
        run.commit()
"""


@pytest.fixture
def holder(path):
    """Another process that commits to the file all the time."""
    process = Forked(HOLD, path, 30)
    assert process.stdout.readline() == "open\n"
    yield process
    process.kill()
    process.wait()
    process.close()


def test_a_second_process_is_refused_with_the_firsts_name(path, holder):
    for _ in range(5):  # the first gives its lock away for moments, between one commit and the next
        sentence = refusal(path)
        assert re.search(rf"is in use by process {holder.pid} on \S+ since \d{{4}}-", sentence)
    assert holder.poll() is None


def test_reading_the_entropy_does_not_disturb_the_writer(path, holder):
    assert SQLiteStore(path).stored_entropy() == 7
    assert holder.poll() is None


def test_a_dead_owner_is_taken_over(path, holder):
    holder.kill()
    holder.wait()
    with SQLiteStore(path).open(IDENTITY, [("id 0", "{}")], resume=True) as run:
        assert run.acknowledged() == {CellKey(0, 0, 0)}
        assert run._connection.execute("SELECT owner_pid FROM run").fetchone() == (os.getpid(),)


def test_a_second_run_in_one_process_is_refused(path):
    with open_(path), pytest.raises(StoreError, match=f"in use by process {os.getpid()} on .*, which is this one"):
        open_(path)
    with open_(path) as run:
        assert run.acknowledged() == frozenset()


def test_another_program_that_writes(path):
    fill(path, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "is in use by another process" in refusal(path)


def test_two_that_start_at_once_get_one_file(path):
    """One of them makes the tables; the other is refused or comes after."""
    processes = [Forked(HOLD, path, 0.2) for _ in range(2)]
    errors = [process.communicate()[1] for process in processes]
    assert sorted(process.returncode for process in processes) in ([0, 0], [0, 1])
    assert all("StoreError" in error for error in errors if error)
    started = time.monotonic()
    with open_(path) as run:
        assert run.acknowledged() == {CellKey(0, 0, 0)}
    assert time.monotonic() - started < 10

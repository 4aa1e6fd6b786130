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
from heldout.execution.store.file_status import FileState, file_status
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


def test_files_of_others_stay_untouched(path):
    contents = {b"PK\x03\x04 something else, longer than a header is": "a run file of heldout (it begins with b'PK"}
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE run (mine TEXT)")
    contents[path.read_bytes()] = "an SQLite database of another program"
    for content, said in contents.items():
        path.write_bytes(content)
        assert said in refusal(path)
        for act in (file_status, lambda path: SQLiteStore(path).stored_entropy()):
            with pytest.raises(StoreError, match=r"is not a run file|another program"):
                act(path)
        assert path.read_bytes() == content


def test_a_newer_schema_stays_untouched(path):
    fill(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    found = refusal(path)
    assert f"has schema 99, written by a newer heldout; this one reads schema {SCHEMA_VERSION}: upgrade" in found


def test_places_where_no_file_can_be(tmp_path):
    assert f"name a file in it, for instance {tmp_path / 'run.db'}" in refusal(tmp_path)
    (tmp_path / "out").write_text("")
    for folder in ("nowhere", "out"):
        assert "does not exist or is no folder" in refusal(tmp_path / folder / "run.db")
    with pytest.raises(StoreError, match="is a folder"):
        file_status(tmp_path)


@pytest.mark.parametrize("kind", ["empty", "without tables"])
def test_a_file_that_holds_nothing_becomes_a_run_file(path, kind):
    path.write_bytes(b"")
    if kind == "without tables":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        assert path.stat().st_size > 0
    else:
        assert SQLiteStore(path).stored_entropy() is None
    fill(path, 1)
    assert SQLiteStore(path).stored_entropy() == 7


# Damaged


def everything(path):
    """Open the file and read all of it."""
    with open_(path) as run:
        return list(run.results())


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The bytes of a file of 400 cells."""
    path = tmp_path_factory.mktemp("content") / "run.db"
    fill(path)
    return path.read_bytes()


@pytest.mark.parametrize("page", range(2, 12))
def test_a_page_of_rubbish(path, content, page):
    rubbish = np.random.default_rng(page).bytes(4096)
    path.write_bytes(content[: 4096 * (page - 1)] + rubbish + content[4096 * page :])
    with pytest.raises(StoreError, match=r"is damaged .* restore a copy of it, or move it away and start again"):
        everything(path)


# Not writable


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_and_a_file_that_are_read_only(path, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    try:
        assert "cannot be written" in refusal(folder / "run.db")
    finally:
        folder.chmod(0o700)
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


def test_a_second_process_is_refused_with_the_firsts_name_and_takes_over_when_that_is_dead(path):
    holder = Forked(HOLD, path, 30)  # it commits to the file all the time
    try:
        assert holder.stdout.readline() == "open\n"
        for _ in range(5):  # the first gives its lock away for moments, between one commit and the next
            sentence = refusal(path)
            assert re.search(rf"is in use by process {holder.pid} on \S+ since \d{{4}}-", sentence)
            assert SQLiteStore(path).stored_entropy() == 7
        assert holder.poll() is None
    finally:
        holder.kill()
        holder.wait()
        holder.close()
    with SQLiteStore(path).open(IDENTITY, [("id 0", "{}")], resume=True) as run:
        assert run.acknowledged() == {CellKey(0, 0, 0)}
        assert run._connection.execute("SELECT owner_pid FROM run").fetchone() == (os.getpid(),)


def test_a_second_run_in_one_process_is_refused(path):
    with open_(path), pytest.raises(StoreError, match=f"in use by process {os.getpid()} on .*, which is this one"):
        assert file_status(path).state is FileState.RUNNING
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

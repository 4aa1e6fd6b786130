"""Copies, flipped bits, full disks: refused, or resumed with the numbers that were written and nothing else."""

import ast
import json
import random
import shutil
import sqlite3
import zlib
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np
import pytest
from forked import Forked

import heldout.execution.store
from heldout.errors import StoreError
from heldout.execution.cells import CellKey, CellResult, CellState, each_cell
from heldout.execution.store import RunIdentity
from heldout.execution.store.file_status import file_status
from heldout.execution.store.runs import checksum
from heldout.execution.store.sqlite import SQLiteStore
from heldout.metrics.base import Response

IDENTITY = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7, {"heldout": "1"})
CONFIGURATIONS = [(f"id {i}", "{}") for i in range(60)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


def cell(configuration):
    return CellResult(
        CellKey(configuration, 0, 0),
        CellState.DONE,
        fit_seconds=0.5,
        test_scores={"score": configuration / 7},
        predictions={Response.VALUES: np.random.default_rng(configuration).normal(size=50)},
    )


def open_(path):
    return SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=True)


def filled(path, n_cells=60):
    with open_(path) as run:
        for configuration in range(n_cells):
            run.record(cell(configuration))
            run.commit()


def read(path):
    """The cells of a file, each of which must be as it was written."""
    with open_(path) as run:
        results = list(each_cell(run.results()))
        assert run.acknowledged() == {found.key for found in results}
    for found in results:
        written = cell(found.key.configuration)
        assert found.key == written.key
        assert (found.state, found.test_scores, found.fit_seconds) == (
            written.state,
            written.test_scores,
            written.fit_seconds,
        )
        assert found.predictions[Response.VALUES].tobytes() == written.predictions[Response.VALUES].tobytes()
    return len(results)


# Copies, taken while the run goes on


def copied(path, to, names):
    to.mkdir()
    for name in names:
        shutil.copy(path.with_name(name), to)
    return to / "run.db"


def test_a_copy_with_its_log_has_all_that_was_acknowledged(path, tmp_path):
    with open_(path) as run:
        for configuration in range(10):
            run.record(cell(configuration))
            run.commit()
        copy = copied(path, tmp_path / "copy", ["run.db", "run.db-wal"])
        assert file_status(copy).runs[0].n_done == 10
        assert read(copy) == 10
        # The copy is another file: the lock of the first one does not hold it, nor the other way round.
        run.record(cell(10))
        run.commit()
        assert len(run.acknowledged()) == 11


def test_a_copy_without_its_log_has_what_was_in_the_file(path, tmp_path, monkeypatch):
    """A whole run, only shorter; or nothing begun, and then it begins."""
    monkeypatch.setattr("heldout.execution.store.sqlite._CHECKPOINT_BYTES", 100_000)
    counts = []
    with open_(path) as run:
        for configuration in range(60):
            run.record(cell(configuration))
            run.commit()
            if configuration % 7 == 0:
                counts.append(read(copied(path, tmp_path / str(configuration), ["run.db"])))
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1] < 60


def test_a_log_that_was_cut_off_ends_earlier(path, tmp_path):
    with open_(path) as run:
        for configuration in range(20):
            run.record(cell(configuration))
            run.commit()
        copy = copied(path, tmp_path / "copy", ["run.db", "run.db-wal"])
    log = copy.with_name("run.db-wal")
    file, content = copy.read_bytes(), log.read_bytes()
    found = []
    for share in (0.0, 0.3, 0.5, 0.999, 1.0):
        copy.write_bytes(file)
        log.write_bytes(content[: int(share * len(content))])
        found.append(read(copy))
    assert found == sorted(found) and found[0] == 0 < found[2] < found[-1] == 20


def test_a_file_cut_anywhere_is_refused(path):
    filled(path)
    content = path.read_bytes()
    for length in (1, 17, 50, 99, 512, 4095, 4096, 4097, 8192, 60_000, -4096, -1):
        path.write_bytes(content[:length])
        for act in (read, file_status) if 0 < length < 10_000 else (read,):
            with pytest.raises(StoreError, match=r"is damaged|is not a run file"):
                act(path)


# Flipped bits


N_FLIPPED = 8
"""Cells of the file whose bits are flipped: the fewer they are, the less room of it is not used."""


def flips(path, seed, n_flips):
    """Flip bits, one at a time: how often the file was refused, and how often its numbers came back as written."""
    content = path.read_bytes()
    generator = random.Random(seed)
    refused = 0
    for _ in range(n_flips):
        changed = bytearray(content)
        changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        path.with_name("run.db-wal").unlink(missing_ok=True)
        path.with_name("run.db-shm").unlink(missing_ok=True)
        try:
            n_cells = read(path)
        except StoreError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            # Where the bit said which run it is, the cells are another run's; but never some of them.
            assert n_cells in (0, N_FLIPPED)
    return refused


def test_a_flipped_bit_gives_no_wrong_number(path):
    filled(path, N_FLIPPED)
    refused = flips(path, seed=0, n_flips=100)
    assert 15 < refused < 100  # much of a file is room that is not used


@pytest.mark.slow
def test_two_thousand_flipped_bits_give_no_wrong_number(path):
    filled(path, N_FLIPPED)
    assert flips(path, seed=1, n_flips=2000) > 300


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE block SET data = (SELECT data FROM block WHERE number = 1) WHERE number = 2",
        "UPDATE configuration SET run = 2 WHERE number = 2",
        "DELETE FROM configuration WHERE number = 2",
    ],
)
def test_rows_of_others_and_without_their_configuration_are_refused(path, damage):
    filled(path, 3)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    with pytest.raises(StoreError, match="is damaged"):
        open_(path)


# Nothing is unpickled


def test_no_module_of_the_store_can_unpickle():
    """Nor call what would: joblib, NumPy's load, shelve, marshal, eval."""
    forbidden = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
    calls = {"load", "loads", "eval", "exec", "fromstring"}
    modules = sorted(Path(heldout.execution.store.__file__).parent.glob("*.py"))
    assert len(modules) > 5
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Import):
                assert not forbidden & {name.name.split(".")[0] for name in node.names}, module
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in forbidden, module
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                is_json = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "json"
                assert name not in calls or is_json, f"{module}: {ast.unparse(node)}"


def test_a_malicious_blob_is_not_run(path, tmp_path):
    """A pickle that makes a file when it is loaded, in place of predictions, under checksums that are right."""
    trap = tmp_path / "was run"
    bomb = f"cpathlib\nPath.touch\n(cpathlib\nPath\n(V{trap}\ntRtR.".encode()
    for kind in ("<f8", "O", "|O", "|O8"):
        filled(path, 1)
        with closing(sqlite3.connect(path)) as connection:
            ((text,),) = connection.execute("SELECT cells FROM block").fetchall()
            cells = json.loads(text) | {"data": zlib.crc32(bomb), "predictions": {"values": [kind, [1]]}}
            row = 1, 1, 1, json.dumps(cells)
            connection.execute(
                "INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum(*row), bomb)
            )
            connection.commit()
        with pytest.raises(StoreError, match="is damaged") if kind != "<f8" else nullcontext():
            open_(path).close()
        path.unlink()
    assert not trap.exists()


# A disk that takes no more, as the system says it

UNTIL_FULL = """
import resource, signal, sys
import numpy as np
from heldout.execution.cells import *
from heldout.errors import StoreError
from heldout.metrics.base import Response
from heldout.execution.store import *
from heldout.execution.store.sqlite import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
identity = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7, {"heldout": "1"})


def fill(path, limit):
    n_safe = 0
    try:
        with SQLiteStore(path).open(identity, [(f"id {i}", "{}") for i in range(60)], resume=True) as run:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            for i in range(len(run.acknowledged()), 60):
                values = np.random.default_rng(i).normal(size=50)
                scores = {"score": i / 7}
                predictions = {Response.VALUES: values}
                run.record(CellResult(CellKey(i, 0, 0), CellState.DONE, "", 0.5, 0.0, scores, {}, predictions))
                run.commit()
                n_safe = i + 1
    except StoreError as error:
        print(n_safe)
        print(error)


for limit in sys.argv[2:]:
    fill(f"{sys.argv[1]}/{limit}.db", int(limit))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""
LIMITS = (70_000, 150_001, 251_234)


@pytest.fixture(scope="module")
def full_disks(tmp_path_factory):
    """A folder with a file for each limit, and the two lines that its writer printed."""
    pytest.importorskip("resource")
    folder = tmp_path_factory.mktemp("full")
    process = Forked(UNTIL_FULL, folder, *LIMITS)
    printed, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    lines = printed.splitlines()
    assert len(lines) == 2 * len(LIMITS)
    return folder, dict(zip(LIMITS, zip(lines[::2], lines[1::2], strict=True), strict=True))


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_of_the_system_loses_nothing_that_was_acknowledged(full_disks, limit):
    folder, printed = full_disks
    path = folder / f"{limit}.db"
    n_safe, sentence = printed[limit]
    assert (1 if limit > 100_000 else 0) <= int(n_safe) < 60
    assert "the disk is full or failing; what was acknowledged before is safe" in sentence
    assert f"Cells that are safe: {n_safe}; that must be done again: 1." in sentence
    # With room again it goes on from there.
    assert read(path) == int(n_safe)
    filled(path)
    assert read(path) == 60


def test_a_copy_of_the_file_alone_knows_its_run_from_the_beginning(tmp_path):
    """What is only in the log is lost with it; that there was a run is not."""
    path, alone = tmp_path / "run.db", tmp_path / "alone.db"
    identity = RunIdentity(rows="r", folds="f", configurations="c", settings="{}", entropy=7)
    with SQLiteStore(path).open(identity, [("id of the first", "{}")], resume=True):
        shutil.copyfile(path, alone)
    assert SQLiteStore(alone).stored_entropy() == 7

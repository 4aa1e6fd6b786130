"""Folders of runs whose process was killed are removed, and nothing else is."""

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import heldout as ho
from heldout.errors import InputError
from heldout.execution.executors.local import _held, remove_abandoned, shared_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="whether a process lives shows on POSIX only")
LOCK = f"{platform.node()}.lock"


def left(where: Path, name: str = "heldout-abcd_123", lock: str = LOCK) -> Path:
    """A folder of a process that has ended: nothing holds its lock."""
    folder = where / name
    folder.mkdir()
    (folder / "0.work").write_bytes(b"data")
    (folder / lock).touch()
    return folder


def test_a_folder_is_the_runs_and_gone_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with shared_folder() as folder:
        assert folder.parent == tmp_path and [path.name for path in folder.iterdir()] == [LOCK]
        with shared_folder() as other:  # of the same process
            assert other != folder and folder.is_dir()
    assert not list(tmp_path.iterdir())


def test_those_of_dead_processes_are_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = left(tmp_path)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with shared_folder() as mine:
        assert not folder.exists() and mine.exists()


HOLDS = """
import sys
from pathlib import Path
from heldout.execution.executors.local import _held
with _held(Path(sys.argv[1])):
    print("held", flush=True)
    input()
"""


def test_a_folder_stays_as_long_as_its_process_lives_and_no_longer(tmp_path: Path) -> None:
    folder = left(tmp_path)
    (folder / LOCK).unlink()
    command = [sys.executable, "-c", HOLDS, str(folder / LOCK)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    remove_abandoned(tmp_path)
    assert folder.exists()
    process.kill()
    process.communicate()
    remove_abandoned(tmp_path)
    assert not folder.exists()


def test_a_lock_has_its_name_only_while_it_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or another process would remove the folder before its own has locked it, or where no lock can be taken."""

    def fails(*_: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr("fcntl.flock", fails)
    with pytest.raises(OSError, match="no locks"), _held(tmp_path / LOCK):
        pass
    assert not (tmp_path / LOCK).exists()


def test_folders_without_a_lock_of_the_living_of_other_machines_and_of_other_names_stay(tmp_path: Path) -> None:
    kept = [
        left(tmp_path, "heldout-00000000", "elsewhere.lock"),
        left(tmp_path, "heldout-00000001", f"{platform.node()}.new"),
        left(tmp_path, "heldout-results"),
        left(tmp_path, "mine"),
        left(tmp_path),
    ]
    with _held(kept[-1] / LOCK):
        remove_abandoned(tmp_path)
        remove_abandoned(tmp_path / "nowhere")
    assert all((folder / "0.work").exists() for folder in kept)


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = left(elsewhere, "precious")
    (tmp_path / "heldout-linked_1").symlink_to(target)
    inside = left(tmp_path)
    (inside / "link").symlink_to(target)
    lock_is_a_link = left(tmp_path, "heldout-linked_2")
    (lock_is_a_link / LOCK).unlink()
    (lock_is_a_link / LOCK).symlink_to(target / LOCK)
    waiting = left(tmp_path, "heldout-waiting_")
    (waiting / LOCK).unlink()
    os.mkfifo(waiting / LOCK)

    remove_abandoned(tmp_path)

    assert (target / "0.work").exists() and (tmp_path / "heldout-linked_1").is_symlink()
    assert not inside.exists() and lock_is_a_link.exists() and waiting.exists()


def test_folders_of_another_user_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    remove_abandoned(tmp_path)
    assert folder.exists()


def searched() -> ho.HeldOutSearchCV:
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    settings = {"n_jobs": 2, "cv": 2, "n_bootstraps": 10, "scoring": "accuracy"}
    return ho.HeldOutSearchCV(DummyClassifier(), {"constant": [0, 1]}, random_state=0, **settings).fit(X, y)


def test_temporary_files_may_lie_in_a_folder_with_a_space_and_letters_of_other_languages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "für später"
    folder.mkdir()
    monkeypatch.delenv("JOBLIB_TEMP_FOLDER", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert searched().best_score_ == 0.5
    assert not list(folder.glob("heldout-*"))


def test_a_folder_of_joblibs_that_it_cannot_use_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "für später"
    folder.mkdir()
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(folder))
    with pytest.raises(InputError, match=r"für später, because it accepts only ASCII names; name another"):
        searched()
    assert not list(folder.iterdir())

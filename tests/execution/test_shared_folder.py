"""Folders of runs whose process was killed are removed, and nothing else is."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import heldout as ho
from heldout.errors import InputError
from heldout.execution.executors.local import Owner, _began, _where, remove_abandoned, shared_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="whether a process lives shows on POSIX only")


@pytest.fixture(scope="module")
def dead() -> Owner:
    """A process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = Owner(_where(), process.pid, _began(process.pid))
    assert not owner.is_dead()
    process.communicate(b"\n")
    assert owner.is_dead()
    return owner


def left(where: Path, owner: Any, name: str = "heldout-abcd_123") -> Path:
    folder = where / name
    folder.mkdir()
    (folder / "0.work").write_bytes(b"data")
    (folder / "owner").write_text(owner if isinstance(owner, str) else json.dumps(asdict(owner)))
    return folder


def test_a_folder_is_the_runs_and_gone_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with shared_folder() as folder:
        assert folder.parent == tmp_path and Owner(**json.loads((folder / "owner").read_text())) == Owner.me()
        with shared_folder() as other:  # of the same process
            assert other != folder and folder.is_dir()
    assert not list(tmp_path.iterdir())


def test_those_of_dead_processes_are_removed_at_the_next_start(
    dead: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = left(tmp_path, dead)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with shared_folder() as mine:
        assert not folder.exists() and mine.exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="since when a process runs shows on Linux")
def test_a_number_that_another_process_has_now_is_no_life(tmp_path: Path) -> None:
    folder = left(tmp_path, replace(Owner.me(), began="1 of another start"))
    remove_abandoned(tmp_path)
    assert not folder.exists()


@pytest.mark.parametrize(
    "owner",
    ["", "null", '{"process": 1}', "[" * 3000, '{"where": "", "process": "x", "began": ""}'],
)
def test_folders_that_say_nothing_of_use_stay(owner: str, tmp_path: Path) -> None:
    folder = left(tmp_path, owner)
    remove_abandoned(tmp_path)
    assert folder.exists()


def test_folders_of_the_living_of_other_machines_and_of_other_names_stay(dead: Owner, tmp_path: Path) -> None:
    kept = [
        left(tmp_path, Owner.me()),
        left(tmp_path, replace(dead, where="elsewhere"), "heldout-00000000"),
        left(tmp_path, dead, "heldout-results"),
        left(tmp_path, dead, "mine"),
        *(left(tmp_path, replace(dead, process=number), f"heldout-{k}2345678") for k, number in enumerate((0, -1))),
    ]
    remove_abandoned(tmp_path)
    remove_abandoned(tmp_path / "nowhere")
    assert all((folder / "0.work").exists() for folder in kept)


def test_links_are_not_followed(dead: Owner, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = left(elsewhere, dead, "precious")
    (tmp_path / "heldout-linked_1").symlink_to(target)
    inside = left(tmp_path, dead)
    (inside / "link").symlink_to(target)
    owner_is_a_link = left(tmp_path, dead, "heldout-linked_2")
    (owner_is_a_link / "owner").unlink()
    (owner_is_a_link / "owner").symlink_to(target / "owner")
    waiting = left(tmp_path, dead, "heldout-waiting_")
    (waiting / "owner").unlink()
    os.mkfifo(waiting / "owner")

    remove_abandoned(tmp_path)

    assert (target / "0.work").exists() and (tmp_path / "heldout-linked_1").is_symlink()
    assert not inside.exists() and owner_is_a_link.exists() and waiting.exists()


def test_folders_of_another_user_stay(dead: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left(tmp_path, dead)
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

"""Where nothing can be fitted or written, it is said in one sentence before the work."""

import errno
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

Refused = Callable[[str], str]
TUNE = "tune data.csv --target outcome"

pytestmark = pytest.mark.usefixtures("files")


@pytest.fixture(autouse=True)
def nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr("heldout.cli.tune_job.evaluated", work)
    monkeypatch.setattr("heldout.estimates.methods.answer", work)


def test_zero_configurations(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.spaces.preset", lambda *_: [])
    assert "no model of the preset can be scored by roc_auc" in refused(TUNE)


def test_a_read_only_folder_a_full_disk_and_a_file_in_the_place(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
        assert "0 MB free, but this run needs about" in refused(TUNE)
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.NamedTemporaryFile", deny)  # whoever runs the tests may be allowed everything
        assert "cannot be written to (permission denied)" in refused(TUNE)
    assert Path("taken").is_file()
    said = refused("estimate scores.csv --target truth --fold fold --out taken")
    assert "cannot be written to (it is a file)" in said

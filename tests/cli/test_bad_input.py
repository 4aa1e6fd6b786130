"""Bad input: exit code 2, one clear sentence on stderr, no traceback, nothing fitted."""

import errno
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

Command = Callable[..., Any]
Write = Callable[..., Path]


def refused(ended: Any, said: str) -> None:
    assert ended.code == 2, ended
    assert "Traceback" not in ended.err
    assert ended.last.startswith("Error: "), ended.err
    assert said in ended.last, ended.last
    assert ended.last.endswith(".") or ended.last.endswith("?"), ended.last


@pytest.fixture(autouse=True)
def nothing_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: Any, **__: Any) -> None:
        raise AssertionError("a search was started")

    monkeypatch.setattr("heldout.cli.tune_job.evaluated", fit)


def test_zero_configurations(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.spaces.preset", lambda *_: [])

    refused(command("tune", table(), "--target", "outcome"), "no model of the preset can be scored by roc_auc")


def test_a_read_only_output_folder(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", deny)  # whoever runs the tests may be allowed everything

    refused(command("tune", table(), "--target", "outcome"), "cannot be written to (permission denied)")


def test_a_full_disk_before_the_work(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))

    refused(command("tune", table(), "--target", "outcome"), "0 MB free, but this run needs about")


def test_where_nothing_can_be_written_is_said_before_the_work(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def estimated(*_: Any, **__: Any) -> None:
        raise AssertionError("the work was done")

    monkeypatch.setattr("heldout.estimates.methods.answer", estimated)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"truth": np.arange(40) % 2, "a": rng.random(40), "b": rng.random(40)})
    frame.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "taken").write_text("a file")

    refused(
        command("estimate", "p.csv", "--target", "truth", "--out", "taken"), "cannot be written to (it is a file)"
    )
    refused(command("estimate", "p.csv", "--target", "truth", "--seed", "-1"), "--seed must be from 0 to 2**64 - 1")

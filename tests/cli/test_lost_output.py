"""A stdout that takes nothing: the work goes on, and nobody is told that all is well when words were lost."""

import errno
import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from heldout.execution.events import StageStarted
from heldout.execution.listeners.lines import ProgressLines

Write = Callable[..., Path]


class Failing(io.StringIO):
    """A stream that fails from its second line on."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        if "\n" in self.getvalue():
            raise self.error
        return super().write(text)


def tune(path: Path, stdout: io.StringIO) -> tuple[int, str]:
    from heldout.cli.group import heldout

    options = ["--target", "outcome", "--n-jobs", "1", "--n-bootstraps", "50", "--out", "out"]
    stderr = io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.raises(SystemExit) as end:
        heldout.main(["tune", str(path), *options], prog_name="heldout")
    return int(end.value.code or 0), stderr.getvalue()


@pytest.mark.usefixtures("tiny_space")
def test_a_run_goes_on_when_its_reader_has_gone(
    table: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    code, _ = tune(table(), Failing(BrokenPipeError(errno.EPIPE, "Broken pipe")))

    assert code == 0
    assert (tmp_path / "out" / "report.html").exists()


def test_a_run_is_not_watched_for_a_reader_that_has_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from heldout.cli.group import heldout

    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.db").touch()  # a run that never begins
    with redirect_stdout(Failing(BrokenPipeError(errno.EPIPE, "Broken pipe"))), pytest.raises(SystemExit) as end:
        heldout.main(["status", ".", "--watch"], prog_name="heldout")
    assert end.value.code == 0


@pytest.mark.usefixtures("tiny_space")
def test_a_full_stdout_is_called_so_after_the_work(
    table: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    code, said = tune(table(), Failing(OSError(errno.ENOSPC, "No space left on device")))

    assert code == 2
    assert said.splitlines()[-1] == (
        "Error: the output could not be written to standard output (no space left on device); the files are in out."
    )
    assert (tmp_path / "out" / "report.html").exists()


def test_lines_of_progress_never_stop_a_search() -> None:
    stream = Failing(BrokenPipeError())
    lines = ProgressLines(stream)

    lines(StageStarted("refit"))
    lines(StageStarted("estimate"))

    assert stream.getvalue().count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["--help"], ["estimate", "--help"]])
def test_help_that_cannot_be_printed_is_a_sentence(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        ended: Any = subprocess.run(
            [sys.executable, "-m", "heldout", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert ended.returncode == 2
    assert ended.stderr == "Error: the output could not be written (no space left on device).\n"

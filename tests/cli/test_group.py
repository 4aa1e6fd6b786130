"""The group of commands: how each way of ending ends, and that help is quick."""

import errno
from collections.abc import Callable
from typing import Any

import pytest

from heldout.cli.runs import Interruption

Command = Callable[..., Any]


def ending(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_it(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("heldout.readers.tables.read_table", raise_it)


def test_a_fault_of_ours_is_code_1_with_how_to_report_it(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ending(RuntimeError("kernel panic"), monkeypatch)

    ended = command("tune", "x.csv", "--target", "y")

    assert ended.code == 1
    assert "heldout failed with RuntimeError: kernel panic" in ended.err
    assert "heldout --debug" in ended.err and "Traceback" not in ended.err


def test_debug_prints_the_traceback(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ending(RuntimeError("kernel panic"), monkeypatch)

    ended = command("--debug", "tune", "x.csv", "--target", "y")

    assert ended.code == 1 and "Traceback" in ended.err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "out/model.skops"), "out/model.skops: the disk is full"),
        (OSError(errno.EROFS, "Read-only file system", "out"), "out: it cannot be written to"),
        (MemoryError(), "out of memory"),
    ],
)
def test_what_the_machine_lacks_is_code_2(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str
) -> None:
    ending(error, monkeypatch)

    ended = command("tune", "x.csv", "--target", "y")

    assert ended.code == 2 and said in ended.err and "Traceback" not in ended.err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interruption("Interrupted.")])
def test_an_interrupt_is_code_130(command: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    ending(error, monkeypatch)

    ended = command("tune", "x.csv", "--target", "y")

    assert ended.code == 130 and "Interrupted." in ended.err and "Traceback" not in ended.err


def test_version_says_kernels_python_and_scikit_learn(command: Command) -> None:
    import platform

    import sklearn

    said = command("--version").out

    assert "kernels" in said and platform.python_version() in said and sklearn.__version__ in said

"""Names and messages that hold what a terminal obeys: no command prints any of it, and no page shows it."""

import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from heldout.cli.console import Console, echo
from heldout.errors import HeldoutWarning
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.store import RunIdentity
from heldout.execution.store.sqlite import SQLiteStore

Command = Callable[..., Any]
Write = Callable[..., Path]

HOSTILE = "a\x1b[31m\x1b]0;title\x07\x9b2J\u202eb\r\nc"
SHOWN = r"a\x1b[31m\x1b]0;title\x07\x9b2J\u202eb\r\nc"
FILE = "a\x1b[31m\x1b]0;title\x07b\nc"
"""Without letters that a system may not know in names of files."""
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def check(ended: Any, code: int = 0) -> str:
    said = str(ended.out + ended.err)
    assert ended.code == code, ended
    assert not OBEYED.search(said), ascii(said)
    return said


@pytest.fixture
def hostile(frame: pd.DataFrame, tmp_path: Path) -> Path:
    renamed = frame.rename(columns={"a": HOSTILE, "constant": f"{HOSTILE}=1"})
    renamed = renamed.assign(outcome=renamed["outcome"].map({"no": HOSTILE, "yes": "well"}))
    renamed.to_parquet(tmp_path / f"{FILE}.parquet")
    return Path(f"{FILE}.parquet")


@pytest.mark.skipif(sys.platform == "win32", reason="no such names of files")
@pytest.mark.draws_report
@pytest.mark.usefixtures("tiny_space")
def test_commands_show_names_escaped(command: Command, hostile: Path, tmp_path: Path) -> None:
    out = f"out {FILE}"
    said = check(command("tune", hostile, "--target", "outcome", "--out", out, "--n-jobs", 1, "--n-bootstraps", 50))
    assert f"{SHOWN}=1" in said and f"{repr(FILE)[1:-1]}.parquet" in said
    check(command("status", out))
    check(command("report", out))
    check(command("estimate", f"{out}/predictions.parquet", "--method", "all"))
    quick = ("--n-bootstraps", 4, "--n-jobs", 1, "--out", "valid", "--metric", "roc_auc")
    check(command("validate", hostile, "--target", "outcome", *quick))
    for page in (tmp_path / out / "report.html", tmp_path / "valid" / "report.html"):
        text = page.read_text(encoding="utf-8")
        assert not OBEYED.search(text.replace("\t", "")) and SHOWN in text


@pytest.mark.parametrize(
    "words",
    [
        ["tune", "{table}", "--target", HOSTILE + "?"],
        ["status", HOSTILE],
        ["estimate", "{table}", "--target", HOSTILE + "?"],
        ["validate", "{table}", "--target", "outcome", "--model", HOSTILE],
        ["validate", "{table}", "--target", "outcome", "--predictor", HOSTILE + "?"],
    ],
    ids=["tune", "status", "estimate", "validate-model", "validate-predictor"],
)
@pytest.mark.skipif(sys.platform == "win32", reason="no such names of files")
def test_refusals_show_names_escaped_in_one_line(command: Command, hostile: Path, words: list[str]) -> None:
    ended = command(*(word.replace("{table}", str(hostile)) for word in words))
    said = check(ended, code=2)
    assert r"\x1b" in said and ended.last.startswith("Error: ")


def test_messages_of_a_run_are_escaped(command: Command, tmp_path: Path) -> None:
    identity = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
    with SQLiteStore(tmp_path / "run.db").open(identity, [(HOSTILE, "{}")], resume=False) as run:
        run.record(CellResult(CellKey(0, 0, 0), CellState.FAILED, message=HOSTILE))
        run.commit()
    assert r"1 x a\x1b[31m\x1b]0;title\x07\x9b2J\u202eb c" in check(command("status", "run.db"))


def test_the_console_escapes_whatever_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.say(HOSTILE)
    console.note(HOSTILE)
    console.lines([HOSTILE])
    console.table([(HOSTILE, HOSTILE), ("several", [HOSTILE, "second"])])
    with console.noting_warnings():
        import warnings

        warnings.warn(HeldoutWarning("of " + HOSTILE), stacklevel=1)
    printed = capsys.readouterr()
    width = len(SHOWN)
    assert printed.out.splitlines() == [
        SHOWN,
        SHOWN,
        f"{SHOWN}  {SHOWN}",
        f"{'several':<{width}}  {SHOWN}",
        " " * (width + 2) + "second",
    ]
    one_line = SHOWN.replace("\\r\\n", " ")  # a warning is one line
    assert printed.err.splitlines() == [f"Note: {SHOWN}", f"Note: of {one_line}"]


def test_a_stream_that_lacks_characters_gets_them_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", newline="\n")
    monkeypatch.setattr("sys.stdout", stream)
    echo("0.8 – Größe")
    stream.flush()
    assert stream.buffer.getvalue() == b"0.8 \\u2013 Gr\xf6\xdfe\n"  # type: ignore[attr-defined]

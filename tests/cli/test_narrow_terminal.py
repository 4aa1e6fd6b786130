"""A terminal of few columns: no line breaks inside a word or number, and what is said stays the same."""

import io
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

Write = Callable[..., Path]
COLUMNS = 50


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def said(*arguments: str, stream: type[io.StringIO]) -> tuple[list[str], list[str]]:
    """The lines on standard output, without what makes labels bold, and on standard error."""
    from heldout.cli.group import heldout

    out, err = stream(), stream()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit):
        heldout.main(list(arguments), prog_name="heldout")
    return re.sub(r"\x1b\[\d+m", "", out.getvalue()).splitlines(), err.getvalue().splitlines()


def words(lines: list[str]) -> list[str]:
    """Without the seconds, which differ between two runs."""
    return re.sub(r"[\d.]+ s\b|\d+ min", "", " ".join(lines)).split()


@pytest.fixture
def narrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("TERM", "dumb")  # lines in place of the bar


@pytest.mark.usefixtures("narrow", "tiny_space")
def test_lines_end_between_words(table: Write) -> None:
    tune = ["tune", str(table()), "--target", "outcome", "--n-jobs", "1", "--n-bootstraps", "50", "--share", "no"]
    broken, lines = said(*tune, "--out", "out", stream=Terminal)
    whole, _ = said(*tune, "--out", "one", stream=io.StringIO)

    assert max(map(len, whole)) > COLUMNS
    assert all(len(line) <= COLUMNS for line in [*broken, *lines])
    assert [word.replace("one/", "out/") for word in words(whole)] == words(broken)


@pytest.mark.usefixtures("narrow", "tiny_space")
def test_the_result_comes_before_what_is_said_of_shared_fits_in_one_line(table: Write) -> None:
    tune = ["tune", str(table()), "--target", "outcome", "--n-jobs", "1", "--n-bootstraps", "50"]
    labels = [line.split("  ")[0] for line in said(*tune, stream=io.StringIO)[0]]
    assert labels.index("corrected") < labels.index("interval (95%)") < labels.index("shared")
    assert labels[labels.index("shared") + 1]  # one line


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    "arguments", [("tune", "nowhere.csv", "--target", "y"), ("validate", "a.csv", "--n-bootstraps")]
)
def test_errors_end_between_words(arguments: tuple[str, ...]) -> None:
    (_, broken), (_, whole) = said(*arguments, stream=Terminal), said(*arguments, stream=io.StringIO)

    assert max(map(len, whole)) > COLUMNS
    assert all(len(line) <= COLUMNS for line in broken)
    assert words(broken) == words(whole)

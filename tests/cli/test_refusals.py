"""Commands that are refused: exit code 2, one sentence in the words of the options, and nothing is fitted.

``refusals.txt`` holds command lines, each with the sentence that refuses it. After a change of sentences

    HELDOUT_RENEW=yes pytest tests/cli/test_refusals.py

writes them anew; the difference shows what users will read.
"""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from sections import renew, sections_in

from heldout.cli import advise, estimate, tune, validate
from heldout.cli.options import options_by_argument

FILE = Path(__file__).with_name("refusals.txt")
SECTIONS = sections_in(FILE)
COMMANDS: dict[str, click.Command] = {
    "tune": tune.command, "validate": validate.command, "estimate": estimate.command, "advise": advise.command,
}  # fmt: skip


@pytest.fixture
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    def fitted(*_: Any, **__: Any) -> None:
        raise AssertionError("a cell was fitted")

    monkeypatch.setattr("heldout.execution.executors.local.do_task", fitted)


def cases(section: str) -> list[tuple[str, str]]:
    """Command lines and sentences."""
    return re.findall(r"^\$ (.*)\n((?!\$).*\n)?", SECTIONS[section], flags=re.MULTILINE)


@pytest.mark.usefixtures("entries", "files", "nothing_fits", "tiny_space")
@pytest.mark.parametrize("section", SECTIONS)
def test_every_command_line_is_refused_with_its_sentence(command: Callable[..., Any], section: str) -> None:
    written = ""
    for line, _ in cases(section):
        ended = command(*shlex.split(line))
        assert ended.code == 2 and ended.last.startswith("Error: "), (line, ended)
        assert "Traceback" not in ended.err and ended.last[-1] in ".?", (line, ended)
        written += f"$ {line}\n{ended.last.removeprefix('Error: ')}\n"
    renew(FILE, SECTIONS, SECTIONS, section, written)
    assert written == SECTIONS[section].strip("\n") + "\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_value_of_every_option_is_refused_with_its_name(name: str) -> None:
    """And a sentence names no argument of the library."""
    options = [one for one in COMMANDS[name].params if isinstance(one, click.Option) and not one.is_flag]
    names = {option.opts[0] for option in options}
    arguments = "|".join(one for one in options_by_argument(COMMANDS[name]) if "_" in one)
    refused = set()
    for line, sentence in cases(f"A wrong value of each option of {name}"):
        (option, _), *_ = re.findall(r"(--[\w-]+)[ =](\S+)", line.removesuffix(" --"))
        said_by_use = re.search(r"has no column 'none' to use as (the|a|one) ", sentence)
        assert option in sentence or said_by_use, sentence
        assert not re.search(rf"(?<![\w-])({arguments}|(cv|folds|groups|interval|method|aggregate)=)", sentence)
        refused.add(option)
    assert refused == names

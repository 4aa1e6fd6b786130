"""What commands say to people: whole conversations stand in ``said.txt``, one folder for each section.

A line with $ is a command, > is standard output, ! standard error, and ? the code of a command that is refused.
Numbers with decimals, which the tests of the commands' documents check, are shown as #. After a change of words

    HELDOUT_RENEW=yes pytest tests/cli/test_said.py

writes the answers anew; the difference shows what users will read.
"""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sections import renew, sections_in

FILE = Path(__file__).with_name("said.txt")
NUMBER = r"-?\d[\d,]*(\.\d+(e[-+]?\d+)?|e[-+]\d+)|(?<=  )-?0(?=  )"
SECTIONS = sections_in(FILE)


OF_THE_RUN = re.compile(
    r"(shared|all fits|last kept|rate|time|file) +\S|\d+ of \d+ fits \(|fits, estimate and refit took"
)
"""How lines begin that tell times and sizes, or appear when a run takes long."""


def lines_of(text: str, mark: str) -> str:
    """Without what differs from one run or machine to another."""
    lines = (re.sub(r"  +", "  ", line) for line in text.splitlines() if line and not OF_THE_RUN.match(line))
    return "".join(f"{mark} {re.sub(NUMBER, '#', line)}\n" for line in lines)


@pytest.mark.usefixtures("entries", "files", "tiny_space")
@pytest.mark.parametrize("section", SECTIONS)
def test_every_command_says_what_the_file_says(command: Callable[..., Any], section: str) -> None:
    said = ""
    for line in re.findall(r"^\$ (.*)", SECTIONS[section], flags=re.MULTILINE):
        ended = command(*shlex.split(line))
        assert "Traceback" not in ended.err, ended
        code = f"? {ended.code}\n" if ended.code else ""
        said += f"$ {line}\n{code}{lines_of(ended.out, '>')}{lines_of(ended.err, '!')}"
    renew(FILE, SECTIONS, SECTIONS, section, said)
    assert said == SECTIONS[section].strip("\n") + "\n"

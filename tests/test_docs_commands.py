"""Every command line that a page shows names a command, and options and values that this takes.

The pages of commands and studies have tests of their own that run their lines.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_lines import check_read

LINE = re.compile(r"^\s*\$ (heldout (?:.*\\\n)*.*)$", flags=re.MULTILINE)
ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINES = list(
    dict.fromkeys(
        (page.name, re.sub(r"\s*(#.*|[|&>] .*)$", "", line.replace("\\\n", " ")))
        for page in PAGES
        if page.exists()
        for line in LINE.findall(page.read_text(encoding="utf-8"))
    )
)


def test_there_are_command_lines() -> None:
    assert len({page for page, _ in LINES}) > 10


@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_command_line_can_be_read(page: str, line: str) -> None:
    check_read(line)

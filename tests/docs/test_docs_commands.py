"""Every command line that a page shows names a command, and options and values that this takes.

The pages of commands have tests of their own that run their lines; the lines of studies are tested with these.
"""

import pytest
from command_lines import check_read, lines_of_pages

LINES = [(page, line) for page, line in lines_of_pages() if not line.startswith("heldout study ")]


def test_there_are_command_lines() -> None:
    assert len({page for page, _ in LINES}) > 10


@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_command_line_can_be_read(page: str, line: str) -> None:
    check_read(line)

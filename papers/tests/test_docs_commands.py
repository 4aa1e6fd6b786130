"""Every ``heldout study`` that a page shows names a study, and options and values that this takes."""

import pytest
from command_lines import check_read, lines_of_pages

LINES = [(page, line) for page, line in lines_of_pages() if line.startswith("heldout study ")]


def test_each_page_of_a_study_has_command_lines() -> None:
    assert len({page for page, _ in LINES if page.startswith("study-")}) == 8


@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_command_line_can_be_read(page: str, line: str) -> None:
    check_read(line)

"""What is shared with the tests of heldout-papers, and what a source distribution lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["suite"]

HAS_PAGES = (Path(__file__).parents[1] / "docs").is_dir()
if not HAS_PAGES:  # a source distribution; these modules read pages while they are imported
    collect_ignore = [
        "estimates/test_estimates_page.py", "test_docs_commands.py", "test_docs_paths.py", "test_dropping_table.py",
        "test_readme.py", "test_site.py",
    ]  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not HAS_PAGES and item.get_closest_marker("pages"):
            item.add_marker(pytest.mark.skip(reason="a source distribution holds no docs"))

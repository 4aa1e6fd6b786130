"""The command of docs/start.md does what the page says.

``test_pages_that_teach.py`` runs the Python of these pages.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
START = DOCS / "start.md"
SMALL = ["--models", "neighbours", "--cv", "2", "--n-bootstraps", "5", "--n-jobs", "1"]
"""Of options that are named twice the last counts."""

pytestmark = pytest.mark.pages


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def test_the_command_of_the_first_page(command: Callable[..., Any], tmp_path: Path) -> None:
    page = text_of("start.md")
    table = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0]
    exec(compile(table, START.name, "exec"), {})  # writes the file
    (line,) = re.findall(r"^\$ heldout (.*)$", page, flags=re.MULTILINE)
    ended = command(*shlex.split(line), *SMALL)

    assert ended.code == 0, ended.err
    assert "4 columns to predict from" in ended.out
    assert "Excluded 'patient' (whole numbers that count the rows" in ended.err
    assert {"report.html", "model.skops", "predictions.parquet", "methods.md"} <= {
        path.name for path in (tmp_path / "demo").iterdir()
    }

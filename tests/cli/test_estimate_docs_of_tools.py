"""The page on predictions of more tools: its commands do what they say, on real exports."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "how-to" / "other-tools.md"
EXPORTS = TESTS / "readers" / "exports"
NAMES = {
    "h2o": "h2o/models", "mljar": "mljar/two_classes", "autogluon": "autogluon/cells", "openml": "openml/runs",
    "orange.tab": "orange/iris.tab", "cells.csv": "cells.csv", "fit.rds": "r/fit.rds",
    "tuned.rds": "r/tidymodels.rda",
}  # fmt: skip
"""The exports by their names in the page."""


@pytest.mark.pages
def test_the_commands_of_the_page(command: Callable[..., Any], tmp_path: Path) -> None:
    for name, export in NAMES.items():
        origin = EXPORTS / export
        shutil.copytree(origin, tmp_path / name) if origin.is_dir() else shutil.copy(origin, tmp_path / name)
    (tmp_path / "weka").mkdir()
    for k in (1, 5, 15):
        shutil.copy(EXPORTS / "weka" / f"ibk{k}.csv", tmp_path / "weka")
    page = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ heldout (.*)\n(?=(.*))", page, flags=re.MULTILINE)

    for line, printed in commands:
        ended = command(*shlex.split(line), "--n-bootstraps", "10")
        assert ended.code == 0, (line, ended.err)
        first = ended.out.splitlines()[0]
        assert " is read as " in first
        assert first == printed or printed.startswith(("$", "```")), first
    assert len(commands) == 9

"""The page on estimating from a file: its commands do what they say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "file.md"


@pytest.mark.pages
def test_the_commands_of_the_page(command: Command, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for snippet in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(compile(snippet, "page", "exec"), names)
    commands = re.findall(r"^\$ heldout (.*)$", page, flags=re.MULTILINE)

    for line in commands:
        ended = command(*shlex.split(line))
        assert ended.code == 0, (line, ended.err)
    assert len(commands) == 8
    assert {path.name for path in (tmp_path / "found").iterdir()} >= {"estimate.json", "comparison.json"}

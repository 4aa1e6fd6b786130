"""The page on ``heldout validate``: its commands do what they say."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "validate-command.md"


@pytest.mark.pages
def test_the_commands_of_the_page(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # of ridge.py, whose folder is looked at below
    page = PAGE.read_text(encoding="utf-8")
    _, study, models = re.findall(r"```python.*?\n(.*?)```", page, flags=re.DOTALL)
    exec(compile(study, "page", "exec"), {})
    (tmp_path / "ridge.py").write_text(models)
    commands = re.findall(r"^\$ heldout (.*)$", page, flags=re.MULTILINE)

    for line in commands:  # of options that are named twice the last counts
        ended = command(*shlex.split(line), "--bootstraps", "3", "--n-jobs", "1")
        assert ended.code == 0, (line, ended.err)
    assert len(commands) == 4
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"texture", "filled", "imputed", "both"}
    sys.modules.pop("ridge", None)

"""The page on ``heldout tune``: its commands do what they say."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "docs" / "tune-command.md"
BOOTSTRAPS = ["--n-bootstraps", "10"]
FEW = ["--n-jobs", "1", *BOOTSTRAPS, "--cv", "2"]


@pytest.mark.skipif(not PAGE.exists(), reason="a source distribution holds no docs")
def test_the_commands_of_the_page(
    command: Command, table: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    page = PAGE.read_text(encoding="utf-8")
    (models,) = re.findall(r"```python\n# models.py\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "models.py").write_text(models)
    table("weighted.csv", y=np.arange(60) % 2, w=1 + np.arange(60) % 3)
    (printed,) = re.findall(r"```\n(example.*?)```", page, flags=re.DOTALL)
    commands = re.findall(r"^    \$ heldout (.*)$", page, flags=re.MULTILINE)

    planned = printed.replace("x 5 folds = 200 fits", "x 2 folds = 4 fits").replace("Plan: 40", "Plan: 2")
    for line, said in zip(
        commands, (planned, "", "saved model", ""), strict=True
    ):  # of options that are named twice the last counts
        few = ["--n-iter", "2"] if "random" in line else []
        ended = command(*shlex.split(line), *(FEW if line.startswith("tune") else BOOTSTRAPS), *few)
        assert ended.code == 0, (line, ended.err)
        assert said in ended.out
    assert {path.name for path in tmp_path.iterdir() if (path / "estimate.json").exists()} == {
        "drawn",
        "own",
        "weighted",
    }
    sys.modules.pop("models", None)

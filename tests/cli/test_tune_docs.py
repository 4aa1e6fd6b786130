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
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "tune-command.md"
BOOTSTRAPS = ["--n-bootstraps", "5"]


def fewer(line: str) -> list[str]:
    """Options that make a command of the page small; of options that are named twice the last counts."""
    if not line.startswith("tune"):
        return BOOTSTRAPS
    folds = [] if "--cv" in line else ["--cv", "2"]
    return ["--n-jobs", "1", *BOOTSTRAPS, *folds, *(["--n-iter", "2"] if "random" in line else [])]


@pytest.mark.pages
def test_the_commands_of_the_page(
    command: Command, table: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    page = PAGE.read_text(encoding="utf-8")
    (models,) = re.findall(r"```python\n# models.py\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "models.py").write_text(models)
    table("weighted.csv", y=np.arange(60) % 2, w=1 + np.arange(60) % 3)
    (printed,) = re.findall(r"```text no-run\n(example.*?)```", page, flags=re.DOTALL)
    commands = re.findall(r"^\$ heldout (.*)$", page, flags=re.MULTILINE)

    planned = printed.replace("x 5 folds = 200 fits", "x 2 folds = 4 fits").replace("Plan: 40", "Plan: 2")
    said = (
        planned,
        "",
        "Plan: 6 configurations (DecisionTreeClassifier) x 5 folds x 3 repeats = 90 fits",
        "the search is repeated for each of 6 outer folds, 91 fits in all.",  # 6 · 2 · 6 + 6 + 2 · 6 + 1
        "inner means",
        "the winner of a search on the other rows is tested once, 8 fits in all.",  # 6 + 1 + 1
        "Bootstrap of the search: it is repeated on each of 5 samples, 114 fits in all.",  # (6 · 3 + 1) (5 + 1)
        "saved model",
        "",
    )
    for line, expected in zip(commands, said, strict=True):
        ended = command(*shlex.split(line), *fewer(line))
        assert ended.code == 0, (line, ended.err)
        assert expected in ended.out, (line, ended.out)
    written = {path.name for path in tmp_path.iterdir() if (path / "estimate.json").exists()}
    assert written == {"drawn", "own", "repeated", "nested", "across", "parts", "samples", "weighted"}
    sys.modules.pop("models", None)

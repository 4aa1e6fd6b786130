"""docs/guide/survival.md: what its example prints is what it says, and its metrics exist."""

import re
from pathlib import Path

import pytest

from heldout.data.task import TaskKind
from heldout.metrics import metric_named

ROOT = next(parent for parent in Path(__file__).parents if (parent / "pyproject.toml").exists())
PAGE = (ROOT / "docs" / "guide" / "survival.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    exec(compile(example, "survival.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)$", example, flags=re.MULTILINE)


def test_the_metrics_that_it_names_are_of_survival() -> None:
    scoring = PAGE.split("## Scoring")[1].split("and the others")[0]
    names = re.findall(r"`((?:concordance|somers|brier|integrated)[^`]*)`", scoring)
    assert len(names) == 5
    for name in names:
        assert TaskKind.SURVIVAL in metric_named(name).tasks

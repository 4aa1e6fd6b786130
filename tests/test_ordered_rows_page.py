"""docs/guide/ordered-rows.md: its examples print what it shows."""

import re
from pathlib import Path

import pytest

ROOT = next(parent for parent in Path(__file__).parents if (parent / "pyproject.toml").exists())
PAGE = (ROOT / "docs" / "guide" / "ordered-rows.md").read_text(encoding="utf-8")


def test_the_examples_print_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    examples = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "ordered-rows.md", "exec"), names)
        assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)$", example, flags=re.MULTILINE)

"""The README's Python runs as printed, and what it says it prints is what it prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.fixture
def where_tune_has_run(tmp_path, monkeypatch):
    """A folder with the model that ``heldout tune`` leaves."""
    from sklearn.linear_model import LogisticRegression

    from heldout.cli.files import OutputFolder, write_model

    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    write_model(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]), OutputFolder(tmp_path / "demo"))


@pytest.mark.usefixtures("where_tune_has_run")
@pytest.mark.parametrize("code", BLOCKS, ids=["model", "scikit-learn", "predictions", "advice"])
def test_examples_run(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"print\(.*?\)  # ([\d.]+)", code)
    for line, number in zip(printed, promised, strict=False):
        assert line.startswith(number), (line, number)


def test_setting_up_is_two_commands():
    commands = re.findall(r"^python3 -m venv .*$", README.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(commands) == 2
    assert "heldout tune example:breast_cancer --target target --out demo" in commands[0]
    assert commands[1].endswith("&& .venv/bin/pytest -n 2")

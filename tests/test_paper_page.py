"""The page on papers shows what its code prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "paper.md"
PART = re.compile(r"```python\n(.*?)```(?:\n\n```(?:text|markdown)\n(.*?)\n```)?", flags=re.DOTALL)
VERSION = re.compile(r"\d+\.\d+\.\d+[\w.]*")


def test_the_output_is_what_the_code_prints() -> None:
    names: dict[str, object] = {}
    shown = 0
    for code, output in PART.findall(PAGE.read_text(encoding="utf-8")):
        if "log_to_mlflow" in code:  # needs its extra
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, PAGE.name, "exec"), names)
        assert VERSION.sub("V", printed.getvalue()).strip() == VERSION.sub("V", output).strip()
        shown += bool(output)
    assert shown == 3

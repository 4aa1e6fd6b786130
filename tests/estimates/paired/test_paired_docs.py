"""The page on comparing configurations runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "comparing-configurations.md"


def test_the_page_runs(capsys) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL))
    exec(compile(code, PAGE.name, "exec"), {})
    printed = capsys.readouterr().out
    assert "is better than configuration 0 by" in printed
    assert "cannot be distinguished from the best (at 90%)" in printed

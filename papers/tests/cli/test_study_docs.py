"""The page on ``heldout study bias``: its commands and its Python do what they say."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "pages" / "study-bias.md"
EVIDENCE = Path(__file__).parents[2] / "evidence"


@pytest.mark.slow
@pytest.mark.pages
def test_the_commands_of_the_page(command: Command, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    commands = re.findall(r"^    \$ heldout (.*)$", page, flags=re.MULTILINE)

    for line in commands:  # of options that are named twice the last counts
        ended = command(
            *shlex.split(line), "--repetitions", 2, "--bootstraps", 5, "--rows", "50,60", "--configurations", 50,
            "--n-jobs", 1,
        )  # fmt: skip
        assert ended.code == 0, (line, ended.err)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block.replace("papers/evidence", str(EVIDENCE)), "page", "exec"), names)

    assert (len(commands), len(blocks)) == (4, 2)
    for folder in ("quick", "mine", "areas", "all"):
        found = {path.name for path in (tmp_path / folder).iterdir()}
        assert found == {"batches", "bias.parquet", "bias.csv", "moments.parquet", "study.json", "report.html"}
    assert list(names["table"]["rows"]) == [60] * 5 + [200] * 5
    assert len(names["claims"]) == 27

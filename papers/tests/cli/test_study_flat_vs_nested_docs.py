"""The page on ``heldout study flat-vs-nested``: its commands and its Python do what they say."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_breast_cancer

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "pages" / "study-flat-vs-nested.md"


@pytest.mark.slow
@pytest.mark.pages
@pytest.mark.usefixtures("small_top3")
def test_the_commands_of_the_page(command: Command, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    commands = re.findall(r"^    \$ heldout (.*)$", page, flags=re.MULTILINE)
    cancer = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 30]]
    Path("FOLDER").mkdir()
    for place, name in enumerate(["credit", "diabetes"]):
        cancer.iloc[place::12].to_csv(f"FOLDER/{name}.csv", index=False)
    Path("models.py").write_text(blocks[0].partition("study =")[0])

    for line in commands:  # of options that are named twice the last counts
        ended = command(
            *shlex.split(line), "--scenario", "top3", "--small", "--max-rows", 40, "--folds", 2, "--repetitions", 1,
            "--n-jobs", 1, "--tables", "credit",
        )  # fmt: skip
        assert ended.code == 0, (line, ended.err)
    names: dict[str, Any] = {}
    quicker = blocks[0].replace("random_state=0", "repetitions=1, folds=2, random_state=0")
    exec(compile(quicker, "page", "exec"), names)
    names["each"].to_parquet("flat-vs-nested.parquet")
    exec(compile(blocks[1], "page", "exec"), names)

    assert (len(commands), len(blocks)) == (7, 2)
    for folder in ("quick", "mine", "light", "all", "ranked", "own", "kernels"):
        found = {path.name for path in (tmp_path / folder).iterdir()}
        assert found == {"batches", "flat-vs-nested.parquet", "flat-vs-nested.csv", "study.json", "report.html"}
    assert names["each"].algorithm.tolist() == ["linear", "trees"] * 2
    assert set(names["table"].scenario) == {"asked"}
    assert names["claims"] == ()

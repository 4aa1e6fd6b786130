"""The page on ``heldout study corrections``: its commands and its Python do what they say."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from real_tables import few_configurations, write_tables

from heldout_papers import corrections
from heldout_papers.corrections.summary import rows_of_cell

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "pages" / "study-corrections.md"
FEW = {"repetitions": 12, "n_bootstraps": 40, "n_jobs": 1}

pytestmark = pytest.mark.pages


@pytest.mark.slow
def test_commands(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = re.findall(r"^    \$ heldout (study .*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    write_tables(Path("FOLDER"))
    few_configurations(monkeypatch)

    assert len(lines) == 6
    for place, line in enumerate(lines):
        typed = [word.replace("b100,r100", "b40,r40") for word in shlex.split(line)]
        small = ["--repetitions", 3, "--bootstraps", 20, "--n-jobs", 1, "--out", f"out-{place}"]
        if "choosing" in line:
            small += ["--designs", "r40", "--metrics", "r2"]
        elif "--methods shrinkage,bbc,tt" in line:
            small += ["--metrics", "r2"]
        if "correlated" in line:
            small += ["--rows", 40, "--configurations", 10, "--variants", "plain", "--metrics", "accuracy"]
        ended = command(*typed, *small)
        assert ended.code == 0, ended.err


def test_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    first = re.sub(r"repetitions=\d+", "repetitions=3, n_bootstraps=20, n_jobs=1", "\n".join(blocks[:2]))
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(first, names)
    study = names["study"]
    (tmp_path / "scored").mkdir()
    study.to_frame().to_parquet("scored/cells.parquet")
    exec(blocks[2], names)

    assert study.methods == ("cv", "bbc", "half_way")
    assert names["claims"] == ()


def test_the_columns_that_the_page_explains_are_those_of_the_table() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## What the columns mean")[1].split("An RMSE")[0]
    study = corrections(rows=40, configurations=5, beta=[(9, 6)], methods=["cv", "bbc"], random_state=0, **FEW)
    known = set(rows_of_cell(study.cells[0], study.methods, study.columns[0])[0])

    named = " ".join(re.findall(r"^\|(.*?)\|", table, flags=re.MULTILINE))
    explained = set(re.findall(r"`(\w+)`", named))

    assert explained <= known | {"half", "design", "size", "rarer"}
    assert isinstance(study.to_frame(), pd.DataFrame)

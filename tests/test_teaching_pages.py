"""The command of docs/start.md does what the page says, and figures that pages quote are those of kept runs.

``test_pages_that_teach.py`` runs the Python of these pages.
"""

from __future__ import annotations

import re
import runpy
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
START = DOCS / "start.md"
SMALL = ["--models", "neighbours", "--cv", "2", "--n-bootstraps", "5", "--n-jobs", "1"]
"""Of options that are named twice the last counts."""

pytestmark = pytest.mark.pages


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def test_the_command_of_the_first_page(command: Callable[..., Any], tmp_path: Path) -> None:
    page = text_of("start.md")
    table = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[0]
    exec(compile(table, START.name, "exec"), {})  # writes the file
    (line,) = re.findall(r"^\$ heldout (.*)$", page, flags=re.MULTILINE)
    ended = command(*shlex.split(line), *SMALL)

    assert ended.code == 0, ended.err
    assert "4 columns to predict from" in ended.out
    assert "Excluded 'patient' (whole numbers that count the rows" in ended.err
    assert {"report.html", "model.skops", "predictions.parquet", "methods.md"} <= {
        path.name for path in (tmp_path / "demo").iterdir()
    }


@pytest.fixture(scope="module")
def cells() -> Callable[..., Any]:
    """Cells of the kept runs of the test bed."""
    if not (DOCS / "evidence" / "corrections-tables.parquet").exists():
        pytest.skip("the runs of the test bed are not there")
    return runpy.run_path(str(DOCS / "evidence" / "write_intervals.py"))["cells"]


def test_the_biases_of_the_first_page(cells: Callable[..., Any]) -> None:
    section = " ".join(text_of("start.md").split("## 5. Was it right?")[1].split("\n## ")[0].split())
    place = {"part": "tables", "kind": "varied", "metric": "accuracy", "design": "b100"}
    uncorrected, corrected = (cells(method, **place) for method in ("cv", "shrinkage"))
    n = f"{int(uncorrected['repetitions'].item())} searches of {int(uncorrected['configurations'].item())}"

    assert f"{n} configurations on 100 rows" in section
    too_high = [f"{one['bias'].item():.3f}".removeprefix("0") for one in (uncorrected, corrected)]
    assert f"uncorrected accuracy was {too_high[0]} too high" in section
    assert f"the corrected one {too_high[1]} " in section


def test_the_coverages_of_the_page_on_intervals(cells: Callable[..., Any]) -> None:
    section = text_of("understand/intervals.md").split("## How often they hold in real searches")[1]
    rows = re.findall(r"^\| `(\w+)`[^|]*\| (\.\d+) \| (\.\d+) \|$", section, flags=re.MULTILINE)

    assert len(rows) == 4
    for method, *written in rows:
        found = cells(method, part="tables")
        means = [
            found[found["metric"].isin(metrics)]["coverage_95"].mean()
            for metrics in (["accuracy", "roc_auc", "log_loss"], ["r2", "root_mean_squared_error"])
        ]
        assert written == [f"{mean:.3f}".removeprefix("0") for mean in means], method

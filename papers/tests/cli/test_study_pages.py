"""The pages on the studies of times and of intervals on tables: their commands and Python do what they say."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout_papers import IntervalsOnTables, TimingStudy
from heldout_papers.intervals.tables_claims import tables_claims
from heldout_papers.timing.claims import timing_claims

Command = Callable[..., Any]
EVIDENCE = Path(__file__).parents[2] / "evidence"
no_docs = pytest.mark.pages


def commands_and_python(page: str) -> tuple[list[list[str]], str]:
    text = (EVIDENCE.parent / "pages" / page).read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    return [shlex.split(line) for line in re.findall(r"^    \$ heldout (.*)$", text, flags=re.MULTILINE)], block


@pytest.mark.slow
@no_docs
def test_the_page_on_times(command: Command) -> None:
    commands, block = commands_and_python("study-timing.md")
    for line in commands:  # of options that are named twice the last counts
        ended = command(*line, "--repetitions", 1, "--bootstraps", 5, "--quiet")
        assert ended.code == 0, (line, ended.err)
    names: dict[str, Any] = {}
    exec(compile(block, "page", "exec"), names)

    assert [line[-1] for line in commands] == ["quick", "mine", "all"]
    sizes = pd.read_csv("mine/timing.csv")[["rows", "configurations", "folds"]].drop_duplicates()
    assert sizes.to_numpy().tolist() == [
        [100, 40, 10], [1000, 40, 10], [200, 10, 10], [200, 400, 10], [200, 40, 5], [200, 40, 50],
    ]  # fmt: skip
    assert len(pd.read_csv("all/timing.csv")) == 17 * 4
    assert list(names["table"]["way"]) == ["bbc", "bbc_f"] * 3


@pytest.mark.slow
@no_docs
def test_the_page_on_intervals_on_tables(command: Command) -> None:
    Path("tables").mkdir()
    rng = np.random.default_rng(0)
    for name in ("credit-g", "adult"):
        y = np.arange(220) % 2
        frame = pd.DataFrame(rng.normal(size=(220, 2)) + y[:, None], columns=["a", "b"]).assign(target=y)
        frame.to_csv(f"tables/{name}.csv", index=False)
    few = ["--repetitions", 1, "--bootstraps", 5, "--configurations", 2, "--n-jobs", 1, "--quiet"]
    commands, block = commands_and_python("study-intervals-on-tables.md")
    for line in commands:
        ended = command(*line, *few)
        assert ended.code == 0, (line, ended.err)
    names: dict[str, Any] = {}
    exec(compile(block.replace("=20", "=1").replace("n_jobs=-1", "n_jobs=1"), "page", "exec"), names)

    assert [line[-1] for line in commands] == ["quick", "mine", "all"]
    assert set(pd.read_csv("mine/intervals-on-tables.csv")["train_rows"]) == {80}
    assert set(names["table"]["train_rows"]) == {100} and len(names["table"]) == 20


@no_docs
def test_the_kept_runs_test_the_claims_that_the_pages_tell() -> None:
    times = TimingStudy.from_frame(pd.read_parquet(EVIDENCE / "timing.parquet"))
    bounds = IntervalsOnTables.from_frame(pd.read_parquet(EVIDENCE / "intervals-tables.parquet"))
    of_speed = {claim.text: claim for claim in timing_claims(times)}
    of_bounds = [claim.text for claim in tables_claims(bounds)]

    assert len(of_speed) == 10
    text = "BBC-F is consistently faster than BBC by 1-2 orders of magnitude"
    assert not of_speed[f"{text} (heldout's code)."].holds
    assert "faster in all" in of_speed[f"{text} (plain code)."].difference
    assert len(bounds.places) == 10 and len(of_bounds) == 18

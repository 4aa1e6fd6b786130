"""``heldout tune`` with methods that bound on a second part of the rows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
Write = Callable[..., Path]

pytestmark = [pytest.mark.usefixtures("tiny_space"), pytest.mark.draws_report]


def test_delong_in_the_table_the_file_and_the_report(command: Command, table: Write, tmp_path: Path) -> None:
    ended = command(
        "tune", table(), "--target", "outcome", "--out", "out", "--n-jobs", "1", "--method", "delong",
        "--alternative", "greater", "--confidence-level", "0.9",
    )  # fmt: skip
    assert ended.code == 0, ended
    assert " by delong" in ended.out and "\ninterval (90%, greater)  " in ended.out
    estimate = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert estimate["method"] == "delong" and estimate["interval"]["high"] == 1
    assert estimate["provenance"]["n_rows_evaluated"] == 15
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "DeLong, E. R." in report and "of the held-out predictions the configuration was selected" in report


def test_a_lower_bound_is_asked_for_before_anything_is_read(command: Command, tmp_path: Path) -> None:
    ended = command("tune", "absent.csv", "--target", "outcome", "--method", "tilting")
    assert ended.code == 2
    assert "needs --alternative greater, got 'two-sided'" in ended.last

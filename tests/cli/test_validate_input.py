"""What ``heldout validate`` refuses: one sentence in the words of its options, before anything is fitted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Command = Callable[..., Any]
Write = Callable[..., Path]


def test_a_model_that_cannot_be_fitted_ends_before_the_bootstraps(
    command: Command, table: Write, frame: pd.DataFrame
) -> None:
    days = np.arange(len(frame)) + 1.0
    path = table(days=days, seen=1, half=frame["site"] / 2, drop=["outcome", "text"])
    ended = command(
        "validate", path, "--target", "days", "--event", "seen", "--n-bootstraps", "40", "--n-jobs", "1"
    )  # 'half' is a multiple of 'site'

    assert ended.code == 2
    assert ended.last.startswith("Error: no model could be fitted on all rows: cox: CoxRegression finds")
    assert "single best coefficient of half:" in ended.last and ".." not in ended.last
    status = command("status", "heldout-out").out
    assert "1 of 41 done (2%), 1 failed, 40 left" in status


def test_a_folder_that_holds_a_run(command: Command, table: Write) -> None:
    options = ["--target", "outcome", "--n-jobs", "1", "--n-bootstraps", "2", "--metric", "roc_auc"]
    assert command("validate", table(), *options).code == 0
    again = command("validate", table(), *options)
    assert again.code == 2 and "already holds a run; continue it with --resume" in again.last
    other = command("validate", table(), *options, "--resume", "--seed", "7")
    assert other.code == 2

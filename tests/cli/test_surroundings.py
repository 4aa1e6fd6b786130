"""The command works in whatever surroundings it is started, and says the same there."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest

POOR = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "TZ": "Asia/Kolkata", "COLUMNS": "20"}


@pytest.mark.skipif(os.name != "posix", reason="locales and masks of POSIX")
def test_no_home_no_locale_no_stdin_no_terminal_and_a_path_of_many_letters(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a folder für später"
    folder.mkdir()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    table = pd.DataFrame({"truth": y, "modèle 1": rng.random(40), "modèle 2": 0.3 * y + rng.random(40)})
    table.to_csv(folder / "größe.csv", index=False)
    asked = "estimate größe.csv --target truth --metric roc_auc --seed 3 --n-bootstraps 50 --out"
    there = subprocess.run(
        [sys.executable, "-m", "heldout", *asked.split(), "out"],
        cwd=folder,
        env=POOR
        | {
            "MPLCONFIGDIR": matplotlib.get_cachedir(),
            "OMP_NUM_THREADS": "1",
        },  # as without a home it looks for fonts anew
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        umask=0o077,
    )
    monkeypatch.chdir(folder)
    here = command(*asked.split(), "here")

    assert there.returncode == here.code == 0, there.stderr
    assert not there.stderr, there.stderr
    told = here.out.encode()
    assert len(there.stdout.splitlines()) == len(told.splitlines()) and "modèle 2".encode() in told
    written = [(folder / name / "estimate.json").read_bytes() for name in ("out", "here")]
    assert written[0] == written[1]
    assert (folder / "out" / "estimate.json").stat().st_mode & 0o077 == 0

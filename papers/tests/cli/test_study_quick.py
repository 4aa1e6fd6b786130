"""``heldout study NAME --quick`` of every study ends well and leaves its files.

The short version replaces some of the settings of ``--quick`` by smaller ones; the slow one is as a user types it.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from heldout_papers.cli import STUDIES

Command = Callable[..., Any]
SMALLER = {
    "adaptive": ["--worlds", "noise", "--trials", "8", "--centre", "40,8", "--repetitions", "1"],
    "bias": ["--rows", "20,100", "--configurations", "50,500", "--repetitions", "4", "--bootstraps", "50"],
    "corrections": ["--rows", "40", "--configurations", "10", "--repetitions", "4", "--bootstraps", "50"],
    "flat-vs-nested": ["--max-rows", "24", "--folds", "2", "--scenario", "top3"],
    "intervals": ["--rows", "50", "--configurations", "100", "--repetitions", "3", "--bootstraps", "100"],
    "intervals-on-tables": ["--repetitions", "1", "--configurations", "4", "--bootstraps", "50"],
    "search": ["--rows", "40", "--configurations", "3", "--folds", "3", "--bootstraps", "50"],
    "timing": ["--rows", "50,250", "--folds", "3,10", "--repetitions", "2", "--bootstraps", "50"],
}
WITH_A_TEST_OF_THEIR_OWN = {"adaptive", "search", "intervals", "intervals-on-tables", "flat-vs-nested"}
"""Studies whose tests run ``--quick`` too."""
OF_TABLES = {"search", "intervals-on-tables", "flat-vs-nested"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tables: measurements of cells, and numbers with a category and gaps."""
    place = tmp_path_factory.mktemp("tables")
    load_breast_cancer(as_frame=True).frame.to_csv(place / "cells.csv", index=False)
    X, y = make_classification(400, 6, n_informative=3, random_state=0)
    frame = pd.DataFrame(X.round(3), columns=list("abcdef")).assign(target=np.where(y == 1, "yes", "no"))
    frame["a"] = np.where(frame["a"] > 0, "high", "low")
    frame.loc[::10, "b"] = np.nan
    frame.to_csv(place / "mixed.csv", index=False)
    return place


@pytest.mark.parametrize(
    ("name", "smaller"),
    [
        pytest.param(
            name,
            smaller,
            marks=[] if smaller and name not in WITH_A_TEST_OF_THEIR_OWN else pytest.mark.slow,
            id=f"{name}-{'smaller' if smaller else 'as typed'}",
        )
        for name in STUDIES
        for smaller in (True, False)
    ],
)
def test_quick_is_a_whole_study(name: str, smaller: bool, command: Command, tables: Path) -> None:
    folder = [tables] if name in OF_TABLES else []
    ended = command("study", name, *folder, "--quick", *([*SMALLER[name], "--n-jobs", "1"] if smaller else []))

    assert ended.code == 0, ended.err
    document = json.loads(Path("heldout-study/study.json").read_text(encoding="utf-8"))
    assert document["study"] == name
    assert document["rows"]
    assert document["claims_sentence"] in ended.out
    each = pd.read_parquet(f"heldout-study/{name}.parquet")
    assert len(each) >= len(document["rows"]) // 2
    own = {"corrections": "What a correction must reach", "adaptive": "What we claim"}
    heading = own.get(name, "What the article claims")
    assert heading in Path("heldout-study/report.html").read_text(encoding="utf-8")

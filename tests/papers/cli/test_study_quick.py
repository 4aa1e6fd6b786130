"""``heldout study NAME --quick`` as anybody would type it, of every study: it ends well and leaves its files."""

from __future__ import annotations

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


@pytest.mark.parametrize("name", list(STUDIES))
def test_quick_is_a_whole_study(name: str, command: Command, tables: Path) -> None:
    ended = command("study", name, *([tables] if name in OF_TABLES else []), "--quick")

    assert ended.code == 0, ended.err
    document = json.loads(Path("heldout-study/study.json").read_text(encoding="utf-8"))
    assert document["study"] == name
    assert document["rows"]
    assert document["claims_sentence"] in ended.out
    each = pd.read_parquet(f"heldout-study/{name}.parquet")
    assert len(each) >= len(document["rows"]) // 2
    assert "What the article claims" in Path("heldout-study/report.html").read_text(encoding="utf-8")

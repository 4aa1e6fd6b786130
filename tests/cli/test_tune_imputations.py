"""``heldout tune --imputations``: every fit imputes, as in the library."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.readers.saved_model import load_model

Command = Callable[..., Any]
Write = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("tiny_space")
QUICK = ["--n-jobs", "1", "--n-bootstraps", "50", "--cv", "3"]


def tune(command: Command, path: Path, *options: object, out: str = "out") -> Any:
    ended = command("tune", path, "--target", "outcome", "--out", out, *QUICK, *options)
    assert ended.code == 0, ended
    return ended


def test_every_fit_imputes(command: Command, table: Write, frame: pd.DataFrame, tmp_path: Path) -> None:
    gaps = {"text": frame["text"].where(np.arange(len(frame)) % 7 != 0)}
    ended = tune(command, table(**gaps), "--imputations", "2")

    assert "x 3 folds = 6 fits, each of 2 imputations, seed 0" in ended.out
    model = load_model(tmp_path / "out" / "model.skops")
    assert type(model).__name__ == "ImputedModel" and len(model.pooled_.members) == 2
    rows = frame.assign(**gaps)[["a", "text", "site"]]
    assert rows.isna().to_numpy().any() and np.isfinite(model.predict_proba(rows)).all()
    imputed = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert str(imputed["selected_name"]).startswith("logistic (")
    tune(command, table(**gaps), out="plain")
    plain = json.loads((tmp_path / "plain" / "estimate.json").read_text())
    assert plain["value"] != imputed["value"]


def test_nested_cross_validation_imputes_too(command: Command, table: Write, tmp_path: Path) -> None:
    tune(command, table(), "--imputations", "2", "--method", "nested", "--cv", "holdout", "--inner", "holdout")
    assert len(json.loads((tmp_path / "out" / "estimate.json").read_text())["outer_folds"]) == 1
    assert type(load_model(tmp_path / "out" / "model.skops")).__name__ == "ImputedModel"


def test_a_table_without_gaps_is_noted(command: Command, table: Write, frame: pd.DataFrame) -> None:
    ended = tune(command, table(a=frame["a"].fillna(0.0)), "--imputations", "2")
    assert "No value was missing, so nothing was imputed." in ended.err

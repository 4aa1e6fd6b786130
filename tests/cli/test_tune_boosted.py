"""``heldout tune --preset boosted``: a table with categories, from the file to the saved model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import heldout as ho


def test_boosted_models_of_a_table_with_text(
    command: Callable[..., Any], table: Callable[..., Path], tmp_path: Path, frame: pd.DataFrame
) -> None:
    out = tmp_path / "run"
    options = ["--preset", "boosted", "--models", "hist boosting", "--search", "random", "--n-iter", "2"]
    ended = command(
        "tune", table(), "--target", "outcome", "--cv", "2", "--n-bootstraps", "20", "--out", out, *options
    )

    assert ended.code == 0, ended.err
    assert "2 configurations drawn at random (hist boosting)" in ended.out
    estimate = json.loads((out / "estimate.json").read_text())
    assert estimate["selected_name"].startswith("hist boosting (")
    trust = ["functools.partial", "sklearn.utils.validation.check_array"]  # of scikit-learn's own categories
    model = ho.load_model(out / "model.skops", trust=trust)
    new = frame.drop(columns=["outcome"]).assign(text="never seen")
    assert set(np.unique(model.predict(new[list(model.feature_names_in_)]))) <= {"yes", "no"}

"""A folder of small tables for tests of real searches, and spaces of few configurations."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout_papers.corrections import space


def write_tables(folder: Path, rows: int = 420) -> Path:
    """Two tables of two classes and two of numbers, one of each for either half, and one with groups."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for place, name in enumerate(("a_classes", "b_classes", "c_numbers", "d_numbers", "e_groups")):
        rng = np.random.default_rng(place)
        y = np.arange(rows) % 2
        X = rng.standard_normal((rows, 3)) + y[:, None]
        is_class = "numbers" not in name
        frame = pd.DataFrame(X.round(3), columns=list("abc"))
        frame["target"] = np.where(y == 1, "yes", "no") if is_class else X @ [1.0, 2.0, 3.0] + y
        if name == "e_groups":
            frame["group"] = np.arange(rows) // 5
        frame.to_parquet(folder / f"{name}.parquet")
        task = "classification" if is_class else "regression"
        listed.append({"name": name, "task": task, "n": rows, "p": 3, "n_classes": 2.0 if is_class else np.nan})
    pd.DataFrame(listed).to_csv(folder / "MANIFEST.csv", index=False)
    return folder


def few_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten that are alike, and the last of each parameter's two values of neighbours."""

    def first_of(make: Any) -> Any:
        def few(X: Any, many: bool) -> list[Any]:
            alike, (name, model, grid) = make(X, many=many)[:2]
            return [alike, (name, model, {parameter: values[-2:] for parameter, values in grid.items()})]

        return few

    for name in ("classifiers", "regressors"):
        monkeypatch.setattr(space, name, first_of(getattr(space, name)))

"""Runs of MLJAR 1.3 on cells.csv and sugar.csv, of which only the files that matter are kept."""

import shutil
from pathlib import Path

import pandas as pd
from supervised.automl import AutoML

ALL = ("Baseline", "Decision Tree", "Linear")
KEPT = (
    "predictions_out_of_folds.csv",
    "predictions_ensemble.csv",
    "framework.json",
    "params.json",
    "data_info.json",
)


def run(name: str, X: pd.DataFrame, y: pd.Series, algorithms: tuple[str, ...] = ALL, repeats: int = 1) -> None:
    shutil.rmtree(f"mljar/{name}", ignore_errors=True)
    folds = {"validation_type": "kfold", "k_folds": 3, "shuffle": True, "stratify": y.dtype == object}
    automl = AutoML(
        results_path=f"mljar/{name}",
        algorithms=list(algorithms),
        mode="Explain",
        explain_level=0,
        train_ensemble=len(algorithms) > 1,
        validation_strategy=folds | ({"repeats": repeats} if repeats > 1 else {}),
        total_time_limit=60,
        n_jobs=1,
        verbose=0,
    )
    automl.fit(X, y)
    print(name, (Path("mljar") / name / "leaderboard.csv").read_text())
    for path in sorted(Path("mljar", name).rglob("*")):
        if path.is_file() and path.name not in KEPT and "validation_indices" not in path.name:
            path.unlink()


Path("mljar").mkdir(exist_ok=True)
cells = pd.read_csv("cells.csv")
X, y = cells.iloc[:, :4], cells["diagnosis"].astype(object)
run("two_classes", X, y)
run("repeated", X, y, ("Decision Tree",), repeats=2)
run("numbered_classes", X, (y == "malignant").astype(int), ("Decision Tree",))
run("three_classes", X, y.where(cells.index % 4 > 0, "unknown"))
run("copied_rows", X, y.where(cells.index % 3 > 0, "unknown"), ("Decision Tree",))  # 19 rows are malignant
sugar = pd.read_csv("sugar.csv")
run("numbers", sugar.iloc[:, :4], sugar["progression"])

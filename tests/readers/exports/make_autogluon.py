"""Predictions of AutoGluon 1.6 on cells.csv and sugar.csv, a file for each model as the documentation says."""

import shutil
import tempfile
from pathlib import Path

import pandas as pd
from autogluon.tabular import TabularPredictor

MODELS = {"GBM": [{"num_boost_round": 20}, {"num_boost_round": 5, "ag_args": {"name_suffix": "Short"}}], "KNN": {}}


def fit(train: pd.DataFrame, label: str) -> TabularPredictor:
    predictor = TabularPredictor(label, path=tempfile.mkdtemp(), verbosity=0).fit(
        train, hyperparameters=MODELS, num_bag_folds=3, num_bag_sets=1, num_stack_levels=0, num_cpus=1,
        ag_args_ensemble={"fold_fitting_strategy": "sequential_local"},
    )  # fmt: skip
    print(predictor.leaderboard()[["model", "score_val"]])
    return predictor


shutil.rmtree("autogluon", ignore_errors=True)
for table, label in (("cells", "diagnosis"), ("sugar", "progression")):
    train = pd.read_csv(f"{table}.csv").sample(frac=1, random_state=1)
    predictor = fit(train, label)
    predictions = predictor.predict_proba_multi() if table == "cells" else predictor.predict_multi()
    folder = Path("autogluon", table)
    folder.mkdir(parents=True)
    for model, predicted in predictions.items():
        frame = predicted if table == "cells" else predicted.to_frame("prediction")
        frame.assign(**{label: train[label]}).to_csv(folder / f"{model}.csv")

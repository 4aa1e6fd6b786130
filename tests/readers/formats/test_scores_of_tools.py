"""Every configuration of a real export has the score that its tool computed from the same predictions."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import heldout as ho
from heldout.data.task import TaskKind
from heldout.flags import Flag

EXPORTS = Path(__file__).parents[1] / "exports"
RMSE = "root_mean_squared_error"

# What each tool printed while the scripts beside the exports made them, to as many digits as it printed.
PRINTED = [
    ("weka/ibk", None, "accuracy", 1e-12, {"ibk1": 67 / 92, "ibk15": 65 / 92, "ibk5": 66 / 92}),
    ("weka/ibk", None, "roc_auc", 6e-4, {"ibk1": 0.655, "ibk15": 0.784, "ibk5": 0.817}),
    ("weka/cpu.csv", None, RMSE, 6e-4, {"cpu": 149.1305}),
    ("h2o/models", "diagnosis", "roc_auc", 1e-12, {"gbm": 0.908068783068783, "glm": 0.9517195767195767}),
    ("h2o/models", "diagnosis", "log_loss", 1e-7, {"gbm": 0.45630208181714205, "glm": 0.255274429365587}),
    ("h2o/numbered_classes.csv", "ill", "roc_auc", 1e-12, {"numbered_classes": 0.908068783068783}),
    ("h2o/numbers.csv", "progression", RMSE, 1e-9, {"numbers": 73.93630299030858}),
    (
        "mljar/two_classes", None, "log_loss", 3e-7,
        {"1_Baseline": 0.6423646807670593, "3_Linear": 0.3112516701221466},
    ),
    (
        "mljar/three_classes", None, "log_loss", 3e-7,
        {"1_Baseline": 1.0405076742172241, "3_Linear": 0.8652320504188538},
    ),
    (
        "mljar/numbers", "target", RMSE, 1e-9,
        {"1_Baseline": 80.77142260634561, "2_DecisionTree": 64.70668438518491, "3_Linear": 65.41036519025742},
    ),
    (
        "autogluon/cells", "diagnosis", "accuracy", 5e-7,
        {"KNeighbors_BAG_L1": 0.853659, "LightGBMShort_BAG_L1": 0.658537, "LightGBM_BAG_L1": 0.853659},
    ),
    (
        "autogluon/sugar", "progression", RMSE, 5e-5,
        {"KNeighbors_BAG_L1": 66.790184, "LightGBMShort_BAG_L1": 73.154335, "LightGBM_BAG_L1": 66.317302},
    ),
    ("orange/iris.tab", None, "accuracy", 1e-12, {"logistic regression": 0.96, "naive bayes": 0.9, "tree": 0.96}),
    (
        "orange/iris_without_types.csv", "iris", "accuracy", 1e-12,
        {"logistic regression": 0.96, "naive bayes": 0.9, "tree": 0.96},
    ),
    (
        "openml/runs", None, "accuracy", 1e-12,
        {"nearest_1": 142 / 150, "nearest_40": 84 / 150, "nearest_7": 145 / 150},
    ),
    ("openml/numbers", None, RMSE, 1e-12, {"numbers": 0.18370991626293157}),
    ("r/fit.rds", None, "accuracy", 5e-8, {"k=1": 0.4166667, "k=5": 0.5833333, "k=9": 0.55}),
    ("r/pred.rda", None, "accuracy", 5e-8, {"k=1": 0.4166667, "k=5": 0.5833333, "k=9": 0.55}),
    ("r/tidymodels.rda", None, RMSE, 1e-9, {"Preprocessor1_Model1": 57.171157213878}),
    (
        "mlr3/grid.csv", None, "roc_auc", 1e-12,
        {"nr=1": 0.926256613757, "nr=2": 0.943783068783, "nr=3": 0.837962962963},
    ),
    (
        "tidymodels/grid.csv", None, "roc_auc", 1e-12,
        {
            "pre0_mod1_post0 (neighbors=1)": 0.820105820106,
            "pre0_mod2_post0 (neighbors=3)": 0.944113756614,
            "pre0_mod3_post0 (neighbors=9)": 0.939153439153,
        },
    ),
]  # fmt: skip


def source(name: str) -> Any:
    return [EXPORTS / "weka" / f"ibk{k}.csv" for k in (1, 5, 15)] if name == "weka/ibk" else EXPORTS / name


def scores(table: ho.PredictionTable, metric: str) -> dict[str, float]:
    """The score of each configuration, over the rows of all folds together."""
    held = table.predictions
    found = {}
    for place, name in enumerate(held.names):
        responses = {kind: array[:, [place]] for kind, array in held.responses.items()}
        one = replace(held, responses=responses, names=(name,))
        estimate = ho.estimate(table.truth, one, metric=metric, method="cv", aggregate="pooled", n_bootstraps=2)
        found[name] = estimate.value
    return found


@pytest.mark.parametrize(("name", "target", "metric", "close", "printed"), PRINTED)
def test_every_configuration_has_the_score_that_its_tool_printed(
    name: str, target: str | None, metric: str, close: float, printed: dict[str, float]
) -> None:
    table = ho.read_predictions(source(name), target=target)

    assert table.source.format == {
        "r/fit.rds": "caret",
        "r/pred.rda": "caret",
        "r/tidymodels.rda": "tidymodels",
    }.get(name, name.split("/")[0])
    assert {*printed} <= {*table.predictions.names}
    assert "WeightedEnsemble_L2" not in table.predictions.names and "Ensemble" not in table.predictions.names
    found = scores(table, metric)
    assert_allclose([found[model] for model in printed], list(printed.values()), rtol=0, atol=close)


def test_orange_says_which_numbers_of_a_regression_are_predictions_only_by_their_names() -> None:
    path = EXPORTS / "orange" / "housing.csv"
    with pytest.raises(ho.InputError, match=r"such as `prediction=\['linear regression', 'mean'\]`"):
        ho.read_predictions(path)
    table = ho.read_predictions(path, prediction=["linear regression", "mean"])
    assert scores(table, RMSE) == pytest.approx({"linear regression": 6.10406513, "mean": 8.94525986}, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "n_folds", "sizes"),
    [
        ("weka/ibk", 5, [18, 18, 18, 19, 19]),
        ("weka/printed.txt", 3, [50, 50, 50]),
        ("h2o/models", 3, None),
        ("mljar/three_classes", 3, None),
        ("orange/iris.tab", 3, [16, 17, 17]),
        ("openml/numbers", 3, [25, 25, 25]),
        ("r/fit.rds", 5, [12] * 5),
    ],
)
def test_folds_are_those_of_the_tool(name: str, n_folds: int, sizes: list[int] | None) -> None:
    table = ho.read_predictions(source(name), target="diagnosis" if name.startswith("h2o") else None)
    found = np.bincount(table.folds[:, 0])
    assert len(found) == n_folds and found.sum() == len(table.truth)
    assert sizes is None or sorted(found) == sizes
    assert Flag.FOLDS_UNKNOWN not in table.predictions.flags


def test_a_baseline_of_mljar_predicts_one_value_in_each_fold() -> None:
    """Its model knows the training rows' shares only, so this checks the folds, and the order of the rows."""
    table = ho.read_predictions(EXPORTS / "mljar" / "three_classes")
    baseline = table.predictions.responses["probabilities"][:, 0, 0]
    values = [np.unique(baseline[table.folds[:, 0] == fold], axis=0) for fold in range(3)]
    assert [len(each) for each in values] == [1, 1, 1]
    training = [np.mean(table.truth[table.folds[:, 0] != fold] == "malignant") for fold in range(3)]
    assert_allclose([each[0, 1] for each in values], training, atol=1e-7)


def test_repeats_of_openml_are_repeats() -> None:
    table = ho.read_predictions(EXPORTS / "openml" / "runs")
    assert table.folds.shape == (75, 2)
    assert (np.bincount(table.folds[:, 1]) == 25).all() and (table.folds[:, 0] != table.folds[:, 1]).any()


def test_what_is_lost_or_optimistic_is_flagged() -> None:
    flags = ho.read_predictions(EXPORTS / "mljar" / "repeated").predictions.flags
    assert "2 repeats" in flags[Flag.AVERAGED_REPEATS] and Flag.FOLDS_UNKNOWN in flags
    table = ho.read_predictions(EXPORTS / "autogluon" / "cells", target="diagnosis")
    flags = ho.estimate(table, metric="roc_auc", n_bootstraps=20).flags
    assert Flag.FOLDS_UNKNOWN in flags
    assert "LightGBMShort_BAG_L1" in flags[Flag.STOPPED_ON_PREDICTED_ROWS]
    assert "KNeighbors" not in flags[Flag.STOPPED_ON_PREDICTED_ROWS]
    assert table.remarks == (
        "Left out: 'WeightedEnsemble_L2', because AutoGluon fitted the weights of its ensembles on these rows.",
    )


def test_a_search_of_mljar_that_climbs_hills_is_adaptive(tmp_path: Path) -> None:
    run = Path(shutil.copytree(EXPORTS / "mljar" / "two_classes", tmp_path / "run"))
    assert not ho.read_predictions(run).predictions.adaptive
    settings = json.loads((run / "params.json").read_text())
    (run / "params.json").write_text(json.dumps(settings | {"hill_climbing_steps": 2}))
    assert ho.read_predictions(run).predictions.adaptive


def test_trees_that_mljar_stopped_early_are_flagged_and_what_could_not_be_checked_is_said(tmp_path: Path) -> None:
    run = Path(shutil.copytree(EXPORTS / "mljar" / "two_classes", tmp_path / "run"))
    path = run / "2_DecisionTree" / "framework.json"
    path.write_text(path.read_text().replace('"model_type": "Decision Tree"', '"model_type": "LightGBM"'))
    (run / "data_info.json").unlink()
    table = ho.read_predictions(run)
    flag = table.predictions.flags[Flag.STOPPED_ON_PREDICTED_ROWS]
    assert flag.startswith("MLJAR stops the training of '2_DecisionTree' by the score on the rows")
    assert table.remarks[0].startswith("Without data_info.json it is not known whether MLJAR appended copies")
    assert Flag.STOPPED_ON_PREDICTED_ROWS not in ho.read_predictions(run / "3_Linear").predictions.flags


# In memory: what the tools' own objects give.


class Predictor:
    """What ``read_predictions`` uses of AutoGluon's ``TabularPredictor``."""

    problem_type = "binary"

    def __init__(self, frames: dict[str, pd.DataFrame]) -> None:
        self._frames = frames

    def predict_proba_multi(self) -> dict[str, pd.DataFrame]:
        return self._frames


class FrameOfH2O:
    """What ``read_predictions`` uses of an ``H2OFrame``."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self.columns = list(frame.columns)

    def as_data_frame(self) -> pd.DataFrame:
        return self._frame


def of_autogluon(name: str) -> dict[str, pd.DataFrame]:
    return {path.stem: pd.read_csv(path, index_col=0) for path in sorted((EXPORTS / "autogluon" / name).iterdir())}


def test_autogluon_in_memory_is_matched_by_the_index_of_the_true_values() -> None:
    frames = {name: frame.drop(columns="diagnosis") for name, frame in of_autogluon("cells").items()}
    y = pd.read_csv(EXPORTS / "cells.csv")["diagnosis"]
    expected = scores(ho.read_predictions(EXPORTS / "autogluon" / "cells", target="diagnosis"), "roc_auc")
    one = next(iter(frames.values()))
    assert not one.index.equals(y.index)

    for given, truth in (
        (frames, y),
        (frames, y.sample(frac=1, random_state=3)),
        (frames, y.loc[one.index].to_numpy()),
        (Predictor(frames), y),
        ({name: frame.sample(frac=1, random_state=len(name)) for name, frame in frames.items()}, y),
    ):
        assert scores(ho.read_predictions(given, target=truth), "roc_auc") == pytest.approx(expected, abs=1e-12)
    alone = ho.read_predictions(frames["KNeighbors_BAG_L1"], "autogluon", target=y)
    assert [*scores(alone, "roc_auc").values()] == [expected["KNeighbors_BAG_L1"]]
    labels = {name: frame.idxmax(axis=1) for name, frame in frames.items()}
    table = ho.read_predictions(labels, target=y)
    assert scores(table, "accuracy")["KNeighbors_BAG_L1"] == pytest.approx(0.853659, abs=5e-7)
    numbers = {name: frame["prediction"] for name, frame in of_autogluon("sugar").items()}
    table = ho.read_predictions(numbers, target=pd.read_csv(EXPORTS / "sugar.csv")["progression"])
    assert scores(table, RMSE)["LightGBM_BAG_L1"] == pytest.approx(66.317302, abs=5e-5)


def test_frames_of_h2o_take_the_true_values_and_folds_that_are_given_apart() -> None:
    whole = {path.stem: pd.read_csv(path) for path in sorted((EXPORTS / "h2o" / "models").iterdir())}
    y = whole["gbm"]["diagnosis"]
    bare = {name: frame.drop(columns="diagnosis") for name, frame in whole.items()}
    expected = {"gbm": 0.908068783068783, "glm": 0.9517195767195767}

    of_file = f"{EXPORTS / 'cells.csv'}:diagnosis"
    for target in (y, y.to_list(), FrameOfH2O(y.to_frame()), of_file):
        frames = {name: FrameOfH2O(frame) for name, frame in bare.items()} if target is not of_file else bare
        table = ho.read_predictions(frames, target=target)
        assert table.source.format == "h2o"
        assert scores(table, "roc_auc") == pytest.approx(expected, abs=1e-12)
    without = {name: frame.drop(columns="fold_assignment") for name, frame in bare.items()}
    table = ho.read_predictions(without, "h2o", target=y)
    assert table.folds is None and Flag.FOLDS_UNKNOWN in table.predictions.flags
    folds = whole["gbm"]["fold_assignment"].to_numpy()
    assert_array_equal(ho.read_predictions(without, "h2o", target=y, fold=folds).folds[:, 0], folds)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_the_matrices_of_tabrepo(tmp_path: Path, n_classes: int, dtype: str) -> None:
    rng = np.random.default_rng(n_classes)
    models, n_rows = ["CatBoost_c1_BAG_L1", "LightGBM_r3_BAG_L1"], 40
    truth = rng.integers(0, n_classes, n_rows) if n_classes else rng.normal(size=n_rows)
    scores_of = rng.random((2, n_rows, n_classes)) if n_classes else rng.normal(size=(2, n_rows))
    values = scores_of / scores_of.sum(axis=2, keepdims=True) if n_classes else scores_of
    written = values[..., 1] if n_classes == 2 else values
    folder = task_of_tabrepo(tmp_path, models, written.astype(dtype))
    labels = pd.Series(truth, index=rng.permutation(100)[:n_rows])

    if n_classes == 2:
        assert_array_equal(ho.read_predictions(folder, target=truth.astype(bool)).truth, truth)
    for target, file in ((truth, False), (None, True)):
        if file:
            labels.to_csv(folder / "label-val.csv.zip")
        for given in (folder, folder / "pred-val.dat"):
            table = ho.read_predictions(given, target=target)
            assert table.source.format == "tabrepo"
            held = table.predictions
            assert held.names == tuple(models) and Flag.FOLDS_UNKNOWN in held.flags
            assert_array_equal(table.truth, truth)
            kind = "probabilities" if n_classes else "values"
            assert_array_equal(held.responses[kind][:, :, 0], written.astype(dtype).astype(float).swapaxes(0, 1))
            kinds = {0: TaskKind.REGRESSION, 2: TaskKind.BINARY, 3: TaskKind.MULTICLASS}
            known = table.known_truth()
            assert known is not None and known.kind is kinds[n_classes]


def task_of_tabrepo(folder: Path, models: list[str], values: np.ndarray) -> Path:
    """The files of a task, written as TabRepo's code writes them."""
    task = folder / "Australian" / "0"
    task.mkdir(parents=True)
    about = {
        "models": models, "dataset": "Australian", "fold": 0, "pred_val_shape": values.shape,
        "pred_test_shape": values.shape, "dtype": values.dtype.name,
    }  # fmt: skip
    (task / "metadata.json").write_text(json.dumps(about))
    written = np.memmap(task / "pred-val.dat", dtype=values.dtype, mode="w+", shape=values.shape)
    written[:] = values
    written.flush()
    return task

"""Rows that are missing, repeated or moved, numbers that are none of a probability, and columns that contradict."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import heldout as ho
from heldout.flags import Flag
from heldout.readers.tables import read_table

EXPORTS = Path(__file__).parents[1] / "exports"
RNG = np.random.default_rng(5)


def copied(name: str, folder: Path) -> Path:
    """A copy of the folder of an export."""
    return Path(shutil.copytree(EXPORTS / name, folder / Path(name).name))


def scores(table: Any) -> dict[str, float]:
    """The ROC AUC of each configuration."""
    return {
        name: round(roc_auc_score(table.truth, table.predictions.responses["probabilities"][:, j, 0]), 12)
        for j, name in enumerate(table.predictions.names)
    }


def lines_moved(path: Path, order: Callable[[int], Iterable[int]]) -> None:
    head, *rows = path.read_text().splitlines(keepends=True)
    path.write_text(head + "".join(rows[i] for i in order(len(rows))))


# WEKA.
@pytest.mark.parametrize(
    ("order", "said"),
    [
        (
            lambda n: np.sort(np.random.default_rng(0).permutation(n)[27:]),
            "WEKA counts the rows of each fold from 1",
        ),
        (lambda n: np.random.default_rng(0).permutation(n), "WEKA counts the rows of each fold from 1"),
        (lambda n: np.r_[0, 0:n], "WEKA counts the rows of each fold from 1|differ by one at most"),
        (lambda n: np.r_[1:n], "inst# 2 follows 0"),
        (lambda n: np.r_[: n - 2], "one fold has 17 rows and another 19"),
    ],
    ids=["missing", "shuffled", "repeated", "first", "last"],
)
def test_files_of_weka_changed_alike_are_refused(tmp_path: Path, order: Callable[[int], Any], said: str) -> None:
    folder = copied("weka", tmp_path)
    files = [folder / "ibk1.csv", folder / "ibk5.csv"]
    for path in files:
        lines_moved(path, order)
    with pytest.raises(ho.InputError, match=said):
        ho.read_predictions(files)


# MLJAR.
def test_a_row_of_mljar_in_two_folds_and_rows_that_are_missing_are_told(tmp_path: Path) -> None:
    run = copied("mljar/two_classes", tmp_path)
    n_rows = len(ho.read_predictions(run).truth)
    about = json.loads((run / "data_info.json").read_text())
    (run / "data_info.json").write_text(json.dumps(about | {"rows": n_rows + 7}))
    flags = ho.read_predictions(run).predictions.flags
    assert f"no prediction of 7 of {n_rows + 7} rows" in flags[Flag.ROWS_NOT_HELD_OUT]
    path = sorted((run / "folds").glob("*validation*.npy"))[1]
    np.save(path, np.r_[np.load(path), np.load(path)[:1]])
    with pytest.raises(ho.InputError, match="hold row 0, counted from 0, a second time"):
        ho.read_predictions(run)


def test_a_probability_of_six_is_refused_with_its_configuration(tmp_path: Path) -> None:
    run = copied("mljar/two_classes", tmp_path)
    path = run / "3_Linear" / "predictions_out_of_folds.csv"
    frame = pd.read_csv(path)
    frame.iloc[4, frame.columns.get_loc(next(name for name in frame if name.startswith("prediction")))] = 6.0
    frame.to_csv(path, index=False)
    with pytest.raises(ho.InputError, match=r"3_Linear has 6 as a probability in row 5"):
        ho.read_predictions(run)


def beyond(frame: pd.DataFrame, columns: tuple[str, str]) -> pd.DataFrame:
    one, other = columns
    return frame.assign(
        **{one: frame[one].where(frame.index != 3, 1.5), other: frame[other].where(frame.index != 3, -0.5)}
    )


def of_classes(n: int = 60, k: int = 2) -> pd.DataFrame:
    """A table of two configurations of a tool, with labels that follow from its probabilities."""
    rng = np.random.default_rng(1)
    rows = np.tile(np.arange(1, n + 1), k)
    truth = np.where(np.tile(rng.random(n), k) < 0.4, "yes", "no")
    share = np.clip(np.where(truth == "yes", 0.65, 0.35) + 0.2 * rng.normal(size=n * k), 0.01, 0.99)
    return pd.DataFrame(
        {
            "row": rows, "k": np.repeat(np.arange(1, k + 1), n), "truth": truth, "fold": rows % 5 + 1,
            "yes": share, "no": 1 - share, "label": np.where(share > 0.5, "yes", "no"),
        }
    )  # fmt: skip


TOOLS: dict[str, dict[str, str]] = {
    "caret": {"row": "rowIndex", "truth": "obs", "label": "pred", "fold": "Resample"},
    "tidymodels": {
        "row": ".row", "truth": "outcome", "label": ".pred_class", "yes": ".pred_yes", "no": ".pred_no",
        "fold": "id", "k": ".config",
    },
    "mlr3": {
        "row": "row_ids", "label": "response", "yes": "prob.yes", "no": "prob.no", "fold": "iteration",
        "k": "learner_id",
    },
}  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_that_number_their_rows(tool: str) -> None:
    names = TOOLS[tool]
    frame = of_classes()
    whole = frame.rename(columns=names)
    read = ho.read_predictions(whole)
    assert read.source.format == tool and not read.predictions.flags
    expected = scores(read)
    assert scores(ho.read_predictions(whole.sample(frac=1, random_state=2))) == expected

    missing = whole[~frame["row"].isin([7, 8, 31])]
    assert "of 3 of 60 rows" in ho.read_predictions(missing).predictions.flags[Flag.ROWS_NOT_HELD_OUT]
    with pytest.raises(ho.InputError, match="in two lines"):
        ho.read_predictions(pd.concat([whole, whole.iloc[[4]]]))
    with pytest.raises(ho.InputError, match=r"1 has .* as a probability in row 4"):
        ho.read_predictions(beyond(frame, ("yes", "no")).rename(columns=names))


# Labels against probabilities.
def test_labels_that_contradict_their_probabilities_name_the_configuration() -> None:
    frame = of_classes()
    names, second = TOOLS["caret"], frame["k"] == 2
    moved = np.where(second, frame["label"].shift(1).bfill(), frame["label"])
    flag = Flag.LABELS_CONTRADICT_PROBABILITIES
    for changed, which in (
        (frame.assign(label=moved), "1 of 2 configurations contradict each other ('k=2')"),
        (frame.assign(yes=frame["yes"].where(~second, frame["no"]), no=frame["no"].where(~second, frame["yes"])),
         "1 of 2 configurations contradict each other ('k=2')"),
        (frame.rename(columns={"yes": "no", "no": "yes"}),
         "2 of 2 configurations contradict each other ('k=1', 'k=2')"),
    ):  # fmt: skip
        table = ho.read_predictions(changed.rename(columns=names))
        assert which in table.predictions.flags[flag]
        assert flag in ho.estimate(table, metric="accuracy", n_bootstraps=10, random_state=0).flags


@pytest.mark.parametrize("threshold", [0.1, 0.9])
def test_labels_cut_at_another_threshold_contradict_nothing(threshold: float) -> None:
    frame = of_classes()
    frame["label"] = np.where(frame["yes"] > threshold + 0.05 * (frame["fold"] % 2), "yes", "no")
    assert not ho.read_predictions(frame.rename(columns=TOOLS["caret"])).predictions.flags


def test_classes_of_three_whose_columns_were_exchanged_are_flagged() -> None:
    rng = np.random.default_rng(3)
    shares = rng.dirichlet((2, 2, 2), 80)
    frame = pd.DataFrame(shares, columns=["a", "b", "c"]).assign(
        rowIndex=np.arange(1, 81),
        obs=rng.choice(list("abc"), 80),
        pred=np.array(list("abc"))[shares.argmax(axis=1)],
    )
    assert Flag.LABELS_CONTRADICT_PROBABILITIES not in ho.read_predictions(frame).predictions.flags
    exchanged = frame.rename(columns={"a": "b", "b": "a"})
    assert Flag.LABELS_CONTRADICT_PROBABILITIES in ho.read_predictions(exchanged).predictions.flags


# AutoGluon and TabRepo: an index that is there.
def test_the_index_of_autogluon_is_used_and_its_gaps_are_flagged(tmp_path: Path) -> None:
    folder = copied("autogluon/cells", tmp_path)
    whole = ho.read_predictions(folder, target="diagnosis")
    assert Flag.ROWS_NOT_HELD_OUT not in whole.predictions.flags
    y = pd.read_csv(EXPORTS / "cells.csv")["diagnosis"]
    bare = copied("autogluon/cells", tmp_path / "bare")
    for path in bare.iterdir():
        pd.read_csv(path, index_col=0).drop(columns="diagnosis").to_csv(path)
    for target in (y, y.sample(frac=1, random_state=0), f"{EXPORTS / 'cells.csv'}:diagnosis"):
        assert scores(ho.read_predictions(bare, target=target)) == scores(whole)
    for path in folder.iterdir():
        pd.read_csv(path, index_col=0).iloc[5:].to_csv(path)
    lacking = ho.read_predictions(folder, target="diagnosis")
    assert "no prediction of 5 of 82 rows" in lacking.predictions.flags[Flag.ROWS_NOT_HELD_OUT]
    half = {path.stem: pd.read_csv(path, index_col=0).iloc[:30] for path in bare.iterdir()}
    read = ho.read_predictions(half, target=y)
    assert "no prediction of 52 of 82 rows" in read.predictions.flags[Flag.ROWS_NOT_HELD_OUT]
    known = ho.read_predictions(half, target=y.loc[half["LightGBM_BAG_L1"].index])
    assert Flag.ROWS_NOT_HELD_OUT not in known.predictions.flags


def of_tabrepo(folder: Path) -> tuple[Path, np.ndarray]:
    """A task of two models and 40 rows, and its labels."""
    y, values = RNG.integers(0, 2, 40), RNG.random((2, 40)).astype(np.float32)
    about = {"models": ["a", "b"], "pred_val_shape": [2, 40], "dtype": "float32"}
    (folder / "metadata.json").write_text(json.dumps(about))
    (folder / "pred-val.dat").write_bytes(values.tobytes())
    return folder, y


def test_the_index_of_the_labels_of_tabrepo_is_used(tmp_path: Path) -> None:
    task, y = of_tabrepo(tmp_path)
    labels = pd.Series(y, index=np.arange(40) * 3 + 1, name="y")
    labels.to_csv(task / "label-val.csv.zip")
    read = ho.read_predictions(task)
    assert {*read.predictions.flags} == {Flag.FOLDS_UNKNOWN}
    np.testing.assert_array_equal(ho.read_predictions(task, target=labels[::-1]).truth, read.truth)
    weights = pd.Series(np.arange(1.0, 41), index=labels.index)
    np.testing.assert_array_equal(
        ho.read_predictions(task, weight=weights[::-1]).sample_weight,
        ho.read_predictions(task, weight=weights.to_numpy()).sample_weight,
    )
    labels.sample(frac=1, random_state=0).to_csv(task / "label-val.csv.zip")
    assert Flag.ROWS_OUT_OF_ORDER in ho.read_predictions(task).predictions.flags
    labels.set_axis(np.arange(40) // 2).to_csv(task / "label-val.csv.zip")
    with pytest.raises(ho.InputError, match="holds 20 rows of 1 labels"):
        ho.read_predictions(task)


# Tables and arrays that no tool is known by.
def test_true_values_are_matched_with_the_rows_of_tables_and_mappings_of_series() -> None:
    names = [f"p{i}" for i in range(50)]
    y = pd.Series(RNG.integers(0, 2, 50), index=names)
    frame = pd.DataFrame({"a": 0.5 * y + RNG.random(50), "b": RNG.random(50)}, index=names)
    expected = ho.estimate(y, frame, metric="roc_auc", method="cv").uncorrected
    for source, target in (
        (frame, y),
        (frame, y[::-1]),
        (frame.sample(frac=1, random_state=1), y),
        ({"a": frame["a"], "b": frame["b"]}, y),
        ({"a": frame["a"][::-1], "b": frame["b"].sample(frac=1, random_state=2)}, y),
        ({"a": frame["a"].to_numpy(), "b": frame["b"]}, y),
    ):
        table = ho.read_predictions(source, target=target)
        assert table.source.format in ("wide", "scikit_learn")
        assert ho.estimate(table, metric="roc_auc", method="cv").uncorrected == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ho.InputError, match="counts from 0"):
        ho.read_predictions(frame.reset_index(drop=True), target=y.set_axis(RNG.permutation(50)))
    with pytest.raises(ho.InputError, match=r"source\['b'\] have different row labels"):
        ho.read_predictions({"a": frame["a"], "b": frame["b"].set_axis([*names[1:], "q"])}, target=y)


def test_rows_that_the_user_numbers_are_counted() -> None:
    y = np.arange(40) % 2
    frame = pd.DataFrame({"row": np.arange(40), "y": y, "a": y + RNG.random(40), "b": RNG.random(40)})
    for numbers, n_missing in ((frame["row"], 0), (frame["row"] + 1, 0), (frame["row"] * 7 + 1000, 0)):
        read = ho.read_predictions(frame.assign(row=numbers), target="y", row="row")
        estimate = ho.estimate(read, metric="roc_auc", method="cv")
        assert (Flag.ROWS_NOT_HELD_OUT in estimate.flags) == bool(n_missing)
    read = ho.read_predictions(frame.drop(index=[3, 9, 20]), target="y", row="row")
    assert "of 3 of 40 rows" in ho.estimate(read, metric="roc_auc", method="cv").flags[Flag.ROWS_NOT_HELD_OUT]


def test_counts_with_predictions_that_have_decimals_are_numbers() -> None:
    counts = RNG.poisson(2.5, 80)
    mapping = {"a": pd.Series(counts + RNG.normal(size=80)), "b": pd.Series(2.5 + RNG.normal(size=80))}
    table = ho.read_predictions(mapping, target=pd.Series(counts))
    assert table.source.format == "scikit_learn"
    assert ho.estimate(table, metric="r2", method="cv").selected_name == "a"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_configuration_whose_columns_of_classes_were_exchanged_is_named(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    y, labels = rng.integers(0, n_classes, 90), list("xyz"[:n_classes])
    frame = pd.DataFrame({"y": np.array(labels)[y]})
    for name, strength in (("weak", 0.5), ("middle", 1.0), ("strong", 2.0), ("other", 1.5)):
        power = np.exp(strength * np.eye(n_classes)[y] + rng.normal(size=(90, n_classes)))
        frame[[f"{name}[{label}]" for label in labels]] = power / power.sum(axis=1, keepdims=True)
    asked: dict[str, Any] = {"metric": "accuracy", "method": "cv"}
    flag = Flag.CLASSES_EXCHANGED
    assert flag not in ho.estimate(ho.read_predictions(frame, target="y"), **asked).flags
    changed = frame.rename(columns={"strong[x]": "strong[y]", "strong[y]": "strong[x]"})
    assert "1 of 4 configurations" in ho.estimate(ho.read_predictions(changed, target="y"), **asked).flags[flag]
    parts = {
        name: changed[[f"{name}[{label}]" for label in labels]].set_axis(labels, axis=1)
        for name in ("weak", "middle", "strong", "other")
    }
    assert "('strong')" in ho.read_predictions(parts, target=frame["y"]).predictions.flags[flag]


def test_columns_of_noise_and_constants_are_not_said_to_be_exchanged() -> None:
    rng = np.random.default_rng(0)
    for _ in range(12):  # a constant model that never saw the row has an AUC of 0
        y = rng.permutation(np.arange(60) % 2)
        columns = {"constant": (y.sum() - y) / 59, **{f"m{j}": rng.random(60) for j in range(6)}}
        parts = {name: pd.DataFrame({0: 1 - share, 1: share}) for name, share in columns.items()}
        read = ho.read_predictions(parts, target=y)
        assert Flag.CLASSES_EXCHANGED not in read.predictions.flags  # at most .5 % of such tables should raise it


def test_old_runs_of_openml_take_the_true_values_of_the_whole_data_set() -> None:
    lines = ho.read_predictions(EXPORTS / "openml" / "numbers" / "predictions.arff")
    frame = read_table(EXPORTS / "openml" / "numbers" / "predictions.arff").frame
    y = frame.groupby("row_id")["truth"].first()
    old = frame.drop(columns="truth").rename(columns={"row_id": "rowid"})
    for given in (y.to_numpy(), y):
        read = ho.read_predictions(old, "openml", target=given)
        np.testing.assert_array_equal(read.truth, lines.truth)
        np.testing.assert_array_equal(read.folds, lines.folds)
    for changed, target, said in (
        (old, None, "target is needed"),
        (old, y.to_numpy()[1:], "row_id goes from 0 to 74 .* must number the 74 true values from 0"),
        (
            old.assign(rowid=old["rowid"] + 0.5),
            y.to_numpy(),
            "column 'rowid' of the table must number the rows from 0, got 0.5",
        ),
    ):
        with pytest.raises(ho.InputError, match=said):
            ho.read_predictions(changed, "openml", target=target)

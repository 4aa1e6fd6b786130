"""Damaged, contradictory and incomplete exports of tools: one sentence each, in Python and on the command line."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

EXPORTS = Path(__file__).parents[1] / "exports"
DAMAGED = Path(__file__).with_name("damaged_exports.json")


def copied(name: str, folder: Path) -> Path:
    """A copy of a file, or of a folder with all that is in it."""
    origin, target = EXPORTS / name, folder / Path(name).name
    for path in [origin] if origin.is_file() else [each for each in origin.rglob("*") if each.is_file()]:
        place = target / path.relative_to(origin) if origin.is_dir() else target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
    return target


CHANGES: dict[str, Callable[..., str]] = {
    "replace": lambda text, old, new: text.replace(old, new, 1),
    "cut": lambda text: text[: len(text) // 2],
    "until last comma": lambda text: text[: text.rindex(",")],
    "all": lambda text, new: new,
    "first lines": lambda text, number: "".join(text.splitlines(True)[:number]),
    "without line": lambda text, place: "".join(np.delete(text.splitlines(True), place)),
    "line twice": lambda text, place: "".join(np.insert(lines := text.splitlines(True), place, lines[place])),
    "entries": lambda text, new: json.dumps(json.loads(text) | new),
    # of a model of MLJAR, whose first column is the target
    "targets": lambda text, zero, one: re.sub("(?m)^[01],", lambda it: f"{one if it[0] == '1,' else zero},", text),
}


LONG = {
    "_DIGITS_": "9" * 5000, "_LETTERS_": "x" * 140_000, "_LISTS_": "[" * 200_000 + "]" * 200_000,
    "_OBJECTS_": '{"a":' * 200_000 + "1" + "}" * 200_000,
}  # fmt: skip


def long(text: str) -> str:
    for name, written in LONG.items():
        text = text.replace(name, written)
    return text


def test_a_changed_export_is_refused(tmp_path: Path) -> None:
    """``damaged_exports.json`` has an export, what is changed in it, and the sentence, on a line.

    After a change of sentences HELDOUT_RENEW=yes writes them anew; read the difference.
    """
    written = []
    for number, case in enumerate(json.loads(DAMAGED.read_text(encoding="utf-8"))):
        source = copied(case["export"], tmp_path / str(number))
        if "change" in case:
            path, (change, *settings) = source / case.get("file", ""), case["change"]
            before = path.read_text(encoding="utf-8")
            path.write_text(long(CHANGES[change](before, *settings)), encoding="utf-8")
            assert path.read_text(encoding="utf-8") != before, case
        with pytest.raises(ho.InputError) as refused:
            ho.read_predictions(source, target=case.get("target"), **case.get("settings", {}))
        sentence = str(refused.value).replace(f"{tmp_path / str(number)}{os.sep}", "")
        sentence = re.sub(r"(?<=read as JSON: )(maximum recursion|Exceeds the limit).*\)", "...", sentence)
        written.append(json.dumps(case | {"sentence": sentence}, ensure_ascii=False))
    text = "[\n " + ",\n ".join(written) + "\n]\n"
    if os.environ.get("HELDOUT_RENEW"):
        DAMAGED.write_text(text, encoding="utf-8")
    assert text == DAMAGED.read_text(encoding="utf-8")


def test_files_of_weka_with_rows_in_other_places_are_refused_by_the_attributes_that_they_print(
    tmp_path: Path,
) -> None:
    one, other = EXPORTS / "weka" / "ibk5.csv", EXPORTS / "weka" / "other_seed"
    with pytest.raises(
        ho.InputError, match=r"row 1\.\d+ has two values of the (target|attributes \(column 'preg'\))"
    ):
        ho.read_predictions([one, other], "weka")
    with pytest.raises(ho.InputError, match="all files must be of the same data"):
        ho.read_predictions([one, EXPORTS / "weka" / "printed.txt"])
    remarks = ho.read_predictions([one, EXPORTS / "weka" / "ibk1.csv"]).remarks
    assert [remark[:46] for remark in remarks] == ["The rows of the 2 files were matched by fold a"]
    assert "-decimals 9" in ho.read_predictions(EXPORTS / "weka" / "rounded.csv").remarks[0]
    assert "-distribution" in ho.read_predictions(EXPORTS / "weka" / "printed.txt").remarks[0]


@pytest.mark.parametrize(
    ("name", "group", "said"),
    [
        (
            "openml/numbers/predictions.arff",
            np.arange(3),
            "group must be a column, or one value for each of the 75 lines of .* got shape .3,.",
        ),
        ("weka/ibk5.csv", np.arange(3), "group must be a column, or one value for each of the 92 lines"),
        ("orange/iris.tab", np.arange(3), "group must be a column, or one value for each of the 50 lines"),
    ],
)
def test_groups_that_a_table_of_a_tool_does_not_have_are_refused(name: str, group: Any, said: str) -> None:
    with pytest.raises(ho.InputError, match=said):
        ho.read_predictions(EXPORTS / name, group=group)


def test_two_files_of_one_name_are_refused_and_a_mapping_names_them(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "ibk.csv" for folder in ("a", "b")]
    for path, k in zip(paths, (1, 5), strict=True):
        path.parent.mkdir()
        path.write_bytes((EXPORTS / "weka" / f"ibk{k}.csv").read_bytes())
    assert ho.read_predictions(paths).predictions.names == ("a", "b")
    with pytest.raises(ho.InputError, match="two files of the list have the name 'a', which names a configuration"):
        ho.read_predictions([paths[0], paths[0]])
    named = ho.read_predictions({"k=1": paths[0], "k=5": str(paths[1])})
    assert named.predictions.names == ("k=1", "k=5")


def test_files_of_tabrepo_that_lack_something_are_refused(tmp_path: Path) -> None:
    task, y = tabrepo(tmp_path)
    for target, said in (
        (None, "target is needed: .*without label-val.csv.zip"),
        (y[1:], "one value for each of the 40 lines of .*, got shape .39,."),
        (np.where(y == 0, "no", "yes"), "nothing says of which class of 'true values'"),
        (np.where(y == 0, np.nan, 1.0), "has .* missing values in 40 rows|missing"),
    ):
        with pytest.raises(ho.InputError, match=said):
            ho.read_predictions(task, target=target)
    with pytest.raises(ho.InputError, match=r"holds 1 task, each with other training rows; give the folder of one"):
        ho.read_predictions(tmp_path, target=y)
    (task / "label-val.csv.zip").write_bytes(b"PK")
    with pytest.raises(
        ho.InputError, match=r"read as a table of labels: File is not a zip file \(BadZipFile\); is the copy"
    ):
        ho.read_predictions(task)
    pd.Series(y[1:]).to_csv(task / "label-val.csv.zip")
    with pytest.raises(ho.InputError, match=r"holds 39 rows of 1 labels, .* predicts 40 rows"):
        ho.read_predictions(task)
    (task / "metadata.json").write_text("{")
    with pytest.raises(ho.InputError, match="cannot be read as JSON"):
        ho.read_predictions(task, target=y)
    task, y = tabrepo(tmp_path / "other", values=np.full((2, 40), 1.5, dtype=np.float32))
    with pytest.raises(ho.InputError, match=r"a has 1\.5 as a probability in row 1"):
        ho.read_predictions(task, target=y)


def tabrepo(folder: Path, values: np.ndarray | None = None) -> tuple[Path, np.ndarray]:
    """A task of two models and 40 rows, and its labels."""
    rng = np.random.default_rng(0)
    written = rng.random((2, 40)).astype(np.float32) if values is None else values
    task = folder / "Australian" / "0"
    task.mkdir(parents=True)
    about = {
        "models": ["a", "b"],
        "pred_val_shape": [2, 40],
        "dtype": "float32",
        "dataset": "Australian",
        "fold": 0,
    }
    (task / "metadata.json").write_text(json.dumps(about))
    (task / "pred-val.dat").write_bytes(written.tobytes())
    return task, np.r_[0, 1, rng.integers(0, 2, 38)]


def test_what_autogluon_gives_without_predictions_or_classes_is_refused() -> None:
    y = pd.Series(["a", "b", "a", "b"], index=[3, 1, 2, 0])
    shares = pd.DataFrame({"a": [0.9, 0.2, 0.6, 0.4], "b": [0.1, 0.8, 0.4, 0.6]}, index=[3, 1, 2, 0])
    leaderboard = pd.DataFrame({"model": ["m"], "score_val": [0.9], "stack_level": [1]})
    for source, target, said in (
        (leaderboard, y, "is a leaderboard of AutoGluon, which has one score for each model and no predictions"),
        ({"m": shares}, None, "target is needed: name the column of true values"),
        ({"m": shares}, y.rename({0: 9}), "different row labels .9, 0 in one only"),
        ({"WeightedEnsemble_L2": shares["a"], "m": shares["a"]}, y, "nothing says of which class of 'true values'"),
        ({"m": shares[["a"]]}, y.map({"a": 0, "b": 1}), "nothing says of which class"),
        ({"m": shares, "n": shares.iloc[1:]}, y, "n of the dict has 3 lines and m has 4"),
        ({"m": shares, "n": shares.rename(columns={"b": "c"})}, y, "have different columns .'b', 'c'"),
        ({"m": pd.concat([shares, shares])}, y, "row 0 is in two lines, 4 and 8; .*index of the table"),
        ({"m": shares.assign(b=0.5)}, y, "sum to 0.9 in row 1"),
        ({"m": shares.assign(age=[30.0, 40.0, 50.0, 60.0])}, y, "sum to"),
    ):
        with pytest.raises(ho.InputError, match=said):
            ho.read_predictions(source, target=target)


def test_ensembles_alone_are_refused(tmp_path: Path) -> None:
    folder = copied("autogluon/cells", tmp_path)
    for path in folder.iterdir():
        if not path.name.startswith("Weighted"):
            path.unlink()
    with pytest.raises(ho.InputError, match="holds only 'WeightedEnsemble_L2', and AutoGluon fitted the weights"):
        ho.read_predictions(folder, target="diagnosis")


def test_columns_of_the_data_may_have_the_names_that_readers_use(tmp_path: Path) -> None:
    named = copied("weka/ibk5.csv", tmp_path)
    named.write_text(named.read_text().replace("preg,plas", "fold,row"))
    plain = ho.read_predictions(EXPORTS / "weka" / "ibk5.csv")
    np.testing.assert_array_equal(ho.read_predictions(named).folds, plain.folds)
    table = copied("orange/iris.tab", tmp_path)
    table.write_text(table.read_text().replace("sepal length", "row").replace("sepal width", "model"))
    assert len(ho.read_predictions(table).truth) == 50
    frame = pd.read_csv(EXPORTS / "h2o" / "models" / "gbm.csv").rename(columns={"diagnosis": "row"})
    assert ho.read_predictions(frame, target="row").truth[0] == "malignant"


def test_numbers_of_rows_in_orange_tell_the_lines_of_random_sampling_apart(tmp_path: Path) -> None:
    lines = (EXPORTS / "orange" / "random_sampling.tab").read_text().splitlines()
    numbers: dict[str, int] = {}
    of_row = [numbers.setdefault("\t".join(line.split("\t")[-4:]), len(numbers)) for line in lines[3:]]
    added = ["number", "continuous", "meta", *map(str, of_row)]
    path = tmp_path / "numbered.tab"
    path.write_text("\n".join(f"{line}\t{cell}" for line, cell in zip(lines, added, strict=True)))
    table = ho.read_predictions(path, row="number")
    assert table.predictions.n_repeats == 5 and len(table.truth) == len(numbers) and table.remarks == ()


# The command line.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["weka/rounded.csv"], "weka/rounded.csv is read as predictions of WEKA"),
        (["h2o/models", "--target", "cells.csv:diagnosis", "--exclude", "diagnosis"], "truth true values"),
        (["mljar/two_classes"], "is read as the out-of-fold predictions of MLJAR"),
        (["orange/iris.tab"], "truth iris, rows row, folds Fold"),
        (["autogluon/sugar", "--target", "progression"], "as predict_proba_multi() of AutoGluon gives"),
        (["openml/runs"], "is read as predictions of runs on OpenML"),
        (["r/tidymodels.rda"], "is read as collect_predictions() of tidymodels"),
    ],
)
def test_one_command_recognises_each_export_says_so_in_a_line_and_estimates(
    arguments: list[str], said: str, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXPORTS)
    ended = command("estimate", *arguments, "--n-bootstraps", "20")
    assert ended.code == 0, ended.err
    first = ended.out.splitlines()[0]
    assert said in first
    assert "corrected" in ended.out


def test_the_command_refuses_with_a_sentence_and_code_2(
    command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXPORTS)
    for arguments, said in (
        (["h2o/models"], "or give --target FILE:COL"),
        (["h2o/models", "--target", "cells.csv:diagnos"], "the nearest name is 'diagnosis'"),
        (["autogluon"], "autogluon is not of a known format"),
    ):
        ended = command("estimate", *arguments)
        assert ended.code == 2 and said in ended.last, ended.err


def test_a_row_that_two_folds_of_mljar_hold_is_refused(tmp_path: Path) -> None:
    run = copied("mljar/two_classes", tmp_path)
    one, other = (run / "folds" / f"fold_{number}_validation_indices.npy" for number in (0, 1))
    np.save(one, np.concatenate([np.load(one), np.load(other)[:3]]))
    with pytest.raises(ho.InputError, match="a second time; each row is held out once: are the files of one run"):
        ho.read_predictions(run)


def test_a_class_column_of_orange_keeps_its_values_whatever_its_name(tmp_path: Path) -> None:
    text = (EXPORTS / "orange" / "iris.tab").read_text(encoding="utf-8")
    path = tmp_path / "iris.tab"
    path.write_text(text.replace("iris\t", "prediction\t", 1), encoding="utf-8")
    plain, found = ho.read_predictions(EXPORTS / "orange" / "iris.tab"), ho.read_predictions(path)
    np.testing.assert_array_equal(found.truth, plain.truth)


def test_columns_of_the_file_can_be_left_out() -> None:
    table = ho.read_predictions(EXPORTS / "orange" / "iris.tab", exclude=["naive bayes"])
    assert "naive bayes" not in table.predictions.names
    with pytest.raises(ho.InputError, match="no column 'nothing' to use as one to leave out"):
        ho.read_predictions(EXPORTS / "orange" / "iris.tab", exclude=["nothing"])
    assert ho.read_predictions(EXPORTS / "weka" / "ibk5.csv", exclude=["error"]).predictions.n_configurations == 1


def test_a_folder_without_files_of_the_tool_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ho.InputError, match="empty holds no file of"):
        ho.read_predictions(tmp_path / "empty", format="h2o", target=np.arange(3))


def test_a_format_that_the_user_names_refuses_what_is_not_of_it() -> None:
    with pytest.raises(
        ho.InputError, match="is not a long table of scores, as evalstats reads: it lacks columns of"
    ):
        ho.read_predictions(EXPORTS / "caret-cv.csv", format="evalstats")
    with pytest.raises(ho.InputError, match="the predictions of m must be a data frame or Series, got ndarray"):
        ho.read_predictions({"m": np.ones(3)}, format="autogluon", target=np.arange(3))


def test_a_mapping_of_files_of_autogluon_is_read() -> None:
    files = {"m": EXPORTS / "autogluon" / "cells" / "KNeighbors_BAG_L1.csv"}
    table = ho.read_predictions(files, format="autogluon", target="diagnosis")
    assert table.predictions.names == ("m",) and len(table.truth) == 82


def test_blanks_around_the_labels_of_orange_mean_nothing(tmp_path: Path) -> None:
    path = copied("orange/iris.tab", tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace("\tIris-setosa\t", "\t Iris-setosa \t"))
    plain, found = ho.read_predictions(EXPORTS / "orange" / "iris.tab"), ho.read_predictions(path)
    np.testing.assert_array_equal(found.truth, plain.truth)


@pytest.mark.parametrize("damage", [np.nan, 77])
def test_a_damaged_setting_of_caret_is_found_in_the_configuration_that_lacks_one_row(damage: float) -> None:
    frame = pd.read_csv(EXPORTS / "caret-cv.csv").astype({"k": float})
    assert (frame.loc[17, "rowIndex"], frame.loc[17, "k"]) == (8, 5)
    frame.loc[17, "k"] = damage
    with pytest.raises(ho.InputError, match=r"row 8 of configuration k=5(\.0)? is in no line"):
        ho.read_predictions(frame)


def test_columns_of_h2o_that_hold_no_numbers_are_named() -> None:
    frame = pd.read_csv(EXPORTS / "h2o" / "models" / "gbm.csv")
    with pytest.raises(ho.InputError, match=r"column 'note' of the table holds no probabilities .*`exclude=`"):
        ho.read_predictions(frame.assign(note="x"), target="diagnosis")
    with pytest.raises(ho.InputError, match="column 'predict' of the table holds labels, without probabilities"):
        ho.read_predictions(frame, target="diagnosis", exclude=["benign", "malignant"])


def test_folds_of_rows_that_the_predictions_lack_are_refused(tmp_path: Path) -> None:
    run = copied("mljar/two_classes", tmp_path)
    for path in run.glob("*/predictions_out_of_folds.csv"):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([*lines[:3], *lines[4:]]))
    with pytest.raises(ho.InputError, match="hold numbers of more than 81 rows"):
        ho.read_predictions(run)


@pytest.mark.parametrize(
    "params", [None, [], 3, "a", {"learner": []}, {"learner": {"model_type": [1]}, "ml_task": {}}]
)
def test_json_whose_parts_have_another_shape_says_nothing_of_the_model(tmp_path: Path, params: object) -> None:
    run = copied("mljar/numbers", tmp_path)
    path = run / "3_Linear" / "framework.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"params": params}))
    assert "3_Linear" in ho.read_predictions(run).predictions.names


@pytest.mark.parametrize("change", ["encrypted", "compression", "version", "damaged"])
def test_archives_that_python_cannot_open(tmp_path: Path, change: str) -> None:
    import pandas as pd

    about = {"models": ["a", "b"], "pred_val_shape": [2, 40], "dtype": "float32"}
    (tmp_path / "metadata.json").write_text(json.dumps(about))
    (tmp_path / "pred-val.dat").write_bytes(np.full((2, 40), 0.5, dtype=np.float32).tobytes())
    path = tmp_path / "label-val.csv.zip"
    pd.Series(np.arange(40) % 2).to_csv(path)
    content = bytearray(path.read_bytes())
    central = content.rfind(b"PK\x01\x02")
    if change == "encrypted":
        content[6] = content[central + 8] = 1
    elif change == "compression":
        content[8] = content[central + 10] = 99
    elif change == "version":
        content[central + 6] = 255
    else:
        content[45:60] = b"\xff" * 15
    path.write_bytes(content)
    with pytest.raises(ho.InputError, match=r"zip cannot be read as a table of labels: .*; is the copy complete\?"):
        ho.read_predictions(tmp_path)

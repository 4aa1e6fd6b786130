"""Files that cannot be what they are called: one sentence each, with exit code 2, never a traceback."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import heldout as ho

EXPORTS = Path(__file__).parents[1] / "exports"
DIGITS, LONG = "9" * 5000, "x" * 140_000


def copied(name: str, folder: Path) -> Path:
    origin, place = EXPORTS / name, folder / Path(name).name
    return Path(shutil.copytree(origin, place) if origin.is_dir() else shutil.copy(origin, place))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("[" * 200_000 + "]" * 200_000, "cannot be read as JSON"),
        ('{"a":' * 200_000 + "1" + "}" * 200_000, "cannot be read as JSON"),
        (f'{{"rows": {DIGITS}}}', "cannot be read as JSON"),
        ("[1, 2]", "holds no object"),
        ("null", "holds no object"),
    ],
    ids=["lists", "objects", "digits", "list", "null"],
)
@pytest.mark.parametrize("file", ["3_Linear/framework.json", "data_info.json", "params.json"])
def test_json_of_another_shape(tmp_path: Path, file: str, document: str, said: str) -> None:
    run = copied("mljar/two_classes", tmp_path)
    (run / file).write_text(document)
    with pytest.raises(ho.InputError, match=said):
        ho.read_predictions(run)


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


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("weka/ibk5.csv", "\n1,1:", f"\n{LONG},1:", "where a number was expected"),
        ("weka/ibk5.csv", "\n2,1:", f"\n{DIGITS},1:", "inst# inf follows 1"),
        ("weka/ibk5.csv", "\n2,1:", f"\n2,{DIGITS}:", "where WEKA writes NUMBER:CLASS"),
        ("orange/iris.tab", "0.957697", LONG, "where a number was expected"),
        (
            "openml/numbers/predictions.arff",
            "\n0,0,10,",
            f"\n0,0,{DIGITS},",
            "must number or name the rows, got inf",
        ),
        ("caret-repeats.csv", "Fold1.Rep1", f"Fold1.Rep{DIGITS}", "is in no line, but others predicted it"),
    ],
    ids=["long field", "digits", "digits of a class", "orange", "openml", "caret"],
)
def test_fields_and_numbers_of_any_length(tmp_path: Path, name: str, old: str, new: str, said: str) -> None:
    path = copied(name, tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ho.InputError, match=said):
        ho.read_predictions(path)


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

"""``heldout predict``: a saved model on the rows of a new table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import heldout as ho

Command = Callable[..., Any]
N = 40


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "patient": [f"p{number}" for number in range(N)],
            "age": rng.integers(20, 80, N),
            "grade": rng.choice(["1", "2", "unknown"], N),
            "weight": np.where(rng.random(N) < 0.1, np.nan, rng.normal(70, 10, N).round(1)),
        }
    )


@pytest.fixture
def model(frame: pd.DataFrame, tmp_path: Path) -> Path:
    """Of a classifier on numbers with gaps, and on codes that are text in one row."""
    X = frame[["age", "grade", "weight"]]
    fitted = make_pipeline(ho.spaces.default_preprocessing(X), LogisticRegression())
    fitted.fit(X, np.where(frame["age"] > 50, "ill", "well"))
    ho.save_model(fitted, tmp_path / "model.skops")
    return tmp_path / "model.skops"


def written(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
    return path


def test_it_writes_what_the_model_predicts_beside_the_other_columns(
    command: Command, frame: pd.DataFrame, model: Path, tmp_path: Path
) -> None:
    data = written(frame[["weight", "patient", "grade", "age"]], tmp_path / "new.csv")
    ended = command("predict", model, data, "--out", tmp_path / "found.csv")
    assert (ended.code, ended.err) == (0, ""), ended
    assert ended.out.endswith("found.csv: 40 rows, with prediction, probability ill, probability well.\n")
    found = pd.read_csv(tmp_path / "found.csv")
    fitted, X = ho.load_model(model), frame[["age", "grade", "weight"]]
    assert list(found.columns) == ["patient", "prediction", "probability ill", "probability well"]
    assert found["prediction"].tolist() == fitted.predict(X).tolist()
    np.testing.assert_allclose(found["probability well"], fitted.predict_proba(X)[:, 1], rtol=1e-12)


def test_codes_that_look_like_numbers_stay_categories(
    command: Command, frame: pd.DataFrame, model: Path, tmp_path: Path
) -> None:
    """Without the row "unknown" the column reads as numbers, and with a gap as numbers with a point."""
    codes = frame[frame["grade"] != "unknown"].reset_index(drop=True)
    gap = codes.astype({"grade": object}).copy()
    gap.loc[0, "grade"] = None
    for number, rows in enumerate((codes, gap)):
        out = tmp_path / f"{number}.parquet"
        ended = command("predict", model, written(rows, tmp_path / "new.csv"), "--out", out)
        assert (ended.code, ended.err) == (0, ""), ended
        expected = ho.load_model(model).predict_proba(rows[["age", "grade", "weight"]])[:, 0]
        np.testing.assert_allclose(pd.read_parquet(out)["probability ill"], expected, rtol=1e-12)


def test_unknown_categories_are_said(command: Command, frame: pd.DataFrame, model: Path, tmp_path: Path) -> None:
    frame.loc[3, "grade"] = "3"
    ended = command("predict", model, written(frame, tmp_path / "new.csv"), "--out", tmp_path / "found.csv")
    assert ended.code == 0
    assert "'grade' holds values that the model does not know ('3')" in ended.err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda one: one.drop(columns="age"), "lacks 1 column that the model was fitted on: 'age'"),
        (
            lambda one: one.assign(age=[*one["age"].astype(str)[:2], "fifty", *one["age"].astype(str)[3:]]),
            "column 'age' of new.csv holds 'fifty' in row 3, and the model was fitted on numbers",
        ),
    ],
)
def test_columns_of_another_kind_are_refused(
    command: Command, frame: pd.DataFrame, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    change: Callable[[pd.DataFrame], pd.DataFrame], sentence: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    written(change(frame), tmp_path / "new.csv")
    ended = command("predict", model, "new.csv")
    assert ended.code == 2 and sentence in ended.last
    assert not (tmp_path / "predicted.csv").exists()


def test_a_file_is_replaced_only_when_asked(
    command: Command, frame: pd.DataFrame, model: Path, tmp_path: Path
) -> None:
    data, out = written(frame, tmp_path / "new.csv"), tmp_path / "found.csv"
    out.write_text("mine")
    ended = command("predict", model, data, "--out", out)
    assert ended.code == 2 and "is there already; replace it with --overwrite" in ended.last
    assert out.read_text() == "mine"
    assert command("predict", model, data, "--out", out, "--overwrite", "--quiet").code == 0
    assert len(pd.read_csv(out)) == N


def test_other_kinds_of_file_and_model_are_refused(
    command: Command, frame: pd.DataFrame, model: Path, tmp_path: Path
) -> None:
    data = written(frame, tmp_path / "new.csv")
    ended = command("predict", model, data, "--out", tmp_path / "found.txt")
    assert ended.code == 2 and "must end in .csv or .parquet" in ended.last
    ended = command("predict", tmp_path / "none.skops", data, "--out", tmp_path / "found.csv")
    assert (
        ended.code == 2
        and f"there is no file {tmp_path / 'none.skops'}; give the path of a saved model" in ended.last
    )


def test_a_model_without_names_takes_all_columns(command: Command, tmp_path: Path) -> None:
    """And a name that is taken gets a number; the folder of a model stands for the model."""
    rows = np.arange(12.0).reshape(6, 2)
    ho.save_model(LinearRegression().fit(rows, rows.sum(axis=1)), tmp_path / "model.skops")
    data = written(pd.DataFrame(rows, columns=["a", "b"]), tmp_path / "new.csv")
    ended = command("predict", tmp_path, data, "--out", tmp_path / "found.csv", "--json")
    assert ended.code == 0 and '"n_rows": 6' in ended.out
    assert pd.read_csv(tmp_path / "found.csv")["prediction"].tolist() == pytest.approx(rows.sum(axis=1))
    ended = command("predict", tmp_path, written(pd.DataFrame({"a": [1.0]}), data), "--out", tmp_path / "b.csv")
    assert ended.code == 2 and "the model was fitted on 2 columns without names" in ended.last


def test_a_model_pooled_over_imputations_fills_the_gaps_of_new_rows(
    command: Command, frame: pd.DataFrame, tmp_path: Path
) -> None:
    """Rows without gaps have the predictions that they have without the others."""
    frame["ill"] = np.where(frame["age"] > 50, "ill", "well")
    data, folder = written(frame.drop(columns=["patient", "grade"]), tmp_path / "data.csv"), tmp_path / "run"
    options = ("--model", "logistic", "--imputations", "2", "--n-bootstraps", "2", "--n-jobs", "1", "--quiet")
    ended = command("validate", data, "--target", "ill", "--out", folder, *options)
    assert ended.code == 0, ended
    complete = written(frame.dropna(), tmp_path / "new.csv")
    assert command("predict", folder, complete, "--out", tmp_path / "found.csv").code == 0
    of_complete = pd.read_csv(tmp_path / "found.csv")["probability well"]
    assert len(of_complete) == len(frame.dropna())
    assert command("predict", folder, data, "--out", tmp_path / "gaps.csv").code == 0
    found = pd.read_csv(tmp_path / "gaps.csv")["probability well"]
    has_gap = frame["weight"].isna()
    assert has_gap.any() and found.notna().all()
    assert found[~has_gap].tolist() == of_complete.tolist()


def test_a_model_that_takes_no_gaps_names_them(command: Command, frame: pd.DataFrame, tmp_path: Path) -> None:
    X = frame[["age", "weight"]]
    fitted = LogisticRegression().fit(X.fillna(70.0), np.where(X["age"] > 50, "ill", "well"))
    ho.save_model(fitted, tmp_path / "model.skops")
    row = int(X["weight"].isna().to_numpy().argmax()) + 1
    ended = command("predict", tmp_path, written(X, tmp_path / "new.csv"), "--out", tmp_path / "found.csv")
    assert ended.code == 2
    assert f"the model takes no missing values, and there are some in 'weight' (row {row}); fill" in ended.last


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    """Of a regression on one column, ``a``."""
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    ho.save_model(LinearRegression().fit(X, X["a"]), tmp_path / "simple.skops")
    return tmp_path / "simple.skops"


def test_other_columns_come_out_as_the_text_of_the_file(command: Command, simple: Path, tmp_path: Path) -> None:
    """Also with the decimal sign and delimiter of the file."""
    data, out = tmp_path / "new.csv", tmp_path / "found.CSV"
    rows = "007;1,0;12345678901234567;NA;1,10;TRUE\n08;2,5;;NULL;2,50;FALSE\n"
    data.write_text("patient;a;long;gap; price;yes\n" + rows)
    ended = command("predict", simple, data, "--out", out)
    assert ended.code == 0, ended
    found = pd.read_csv(out, dtype=str, keep_default_na=False).drop(columns="prediction")
    assert list(found.columns) == ["patient", "long", "gap", "price", "yes"]
    assert found.to_numpy().tolist() == [
        ["007", "12345678901234567", "NA", "1,10", "TRUE"],
        ["08", "", "NULL", "2,50", "FALSE"],
    ]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_other_columns_of_parquet_keep_their_types(
    command: Command, simple: Path, tmp_path: Path, ending: str
) -> None:
    """A whole number of 17 digits is no float, also beside a gap."""
    data, out = tmp_path / "new.parquet", tmp_path / f"found.{ending}"
    rows = pa.table(
        {
            "long": pa.array([12345678901234567, None]),
            "a": [1.0, 2.0],
            "patient": ["007", "NA"],
            "ward": pa.array(["b", "a"]).dictionary_encode(),
            "dose": pa.array([0.1, None], pa.float32()),
        }
    )
    pq.write_table(rows, data)
    assert command("predict", simple, data, "--out", out).code == 0
    if ending == "csv":
        lines = [line.rsplit(",", 1)[0] for line in out.read_text().splitlines()]
        assert lines == ["long,patient,ward,dose", "12345678901234567,007,b,0.1", ",NA,a,"]
    else:
        assert pq.read_table(out).drop_columns("prediction").to_pylist() == rows.drop_columns("a").to_pylist()


@pytest.mark.parametrize("codes", [["01", "02", "01"], ["1.50", "", "1.50"], ["TRUE", "FALSE", "TRUE"]])
def test_codes_of_text_keep_their_zeros(command: Command, tmp_path: Path, codes: list[str]) -> None:
    X = pd.DataFrame({"code": ["A1", "01", "02", "1.50", "TRUE", "FALSE"] * 3})
    X.loc[6, "code"] = np.nan
    y = X["code"].map({"A1": 1.0, "01": 2.0, "02": 3.0, "1.50": 4.0, "TRUE": 5.0, "FALSE": 6.0}).fillna(7.0)
    fitted = make_pipeline(ho.spaces.default_preprocessing(X), LinearRegression()).fit(X, y)
    ho.save_model(fitted, tmp_path / "model.skops")
    data, out = written(pd.DataFrame({"row": "x", "code": codes}), tmp_path / "new.csv"), tmp_path / "found.csv"
    ended = command("predict", tmp_path, data, "--out", out)
    assert (ended.code, ended.err) == (0, ""), ended
    expected = fitted.predict(pd.DataFrame({"code": codes}).replace("", np.nan))
    np.testing.assert_allclose(pd.read_csv(out)["prediction"], expected)


@pytest.mark.parametrize(
    ("numeric", "coded"),
    [
        ([0], [False, True, False]),
        (slice(0, 1), slice("code", "code")),
        (np.array([True, False, False]), np.array([1])),
        (["age"], ["code"]),
    ],
)
def test_a_model_of_ones_own_gets_its_text(command: Command, tmp_path: Path, numeric: Any, coded: Any) -> None:
    """Columns by position, mask, slice or name; pipelines inside; text that the model reads itself."""
    X = pd.DataFrame({"age": [20.0, 30.0, np.nan, 50.0], "code": ["A1", "01", "02", "01"], "note": list("abab")})
    X["note"] = X["note"].map({"a": "fever cough", "b": "no fever"})
    prepared = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
            (
                "codes",
                make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")),
                coded,
            ),
            ("words", CountVectorizer(), "note"),
        ]
    )
    fitted = make_pipeline(prepared, LinearRegression()).fit(X, [1.0, 2.0, 3.0, 4.0])
    ho.save_model(fitted, tmp_path / "model.skops")
    new = X[X["code"] != "A1"].reset_index(drop=True)
    ended = command("predict", tmp_path, written(new, tmp_path / "new.csv"), "--out", tmp_path / "found.csv")
    assert (ended.code, ended.err) == (0, ""), ended
    np.testing.assert_allclose(pd.read_csv(tmp_path / "found.csv")["prediction"], fitted.predict(new))
    strange = written(new.assign(age=["old", "1", "2"]), tmp_path / "new.csv")
    ended = command("predict", tmp_path, strange, "--out", tmp_path / "none.csv")
    assert ended.code == 2 and "holds 'old' in row 1, and the model was fitted on numbers" in ended.last


def test_several_outputs_are_several_columns(command: Command, tmp_path: Path) -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    data, out = written(X, tmp_path / "new.csv"), tmp_path / "found.csv"
    y = np.column_stack([X["a"] > 1, X["a"] > 2]).astype(int)
    for fitted in (LinearRegression().fit(X, y), KNeighborsClassifier(1).fit(X, y)):
        ho.save_model(fitted, tmp_path / "model.skops")
        ended = command("predict", tmp_path, data, "--out", out, "--overwrite")
        assert ended.code == 0, ended
        assert ("their probabilities are left out" in ended.err) == hasattr(fitted, "predict_proba")
        found = pd.read_csv(out)
        assert list(found.columns) == ["prediction 1", "prediction 2"]
        np.testing.assert_allclose(found, fitted.predict(X), atol=1e-12)
    ho.save_model(LinearRegression().fit(X, y[:, :1]), tmp_path / "model.skops")
    assert command("predict", tmp_path, data, "--out", out, "--overwrite").code == 0
    assert list(pd.read_csv(out).columns) == ["prediction"]


def test_numbers_as_text_are_numbers(command: Command, frame: pd.DataFrame, model: Path, tmp_path: Path) -> None:
    data, out = tmp_path / "new.parquet", tmp_path / "found.csv"
    frame["weight"] = frame["weight"].map(str, na_action="ignore").astype(object)
    frame.to_parquet(data)
    ended = command("predict", model, data, "--out", out)
    assert ended.code == 0, ended
    X = frame[["age", "grade", "weight"]].astype({"weight": "float64"})
    np.testing.assert_allclose(
        pd.read_csv(out)["probability ill"], ho.load_model(model).predict_proba(X)[:, 0], rtol=1e-12
    )


def test_the_data_are_never_replaced(command: Command, simple: Path, tmp_path: Path) -> None:
    data = written(pd.DataFrame({"a": [1.0]}), tmp_path / "new.csv")
    before = data.read_bytes()
    ended = command("predict", simple, data, "--out", data, "--overwrite")
    assert ended.code == 2 and "is DATA, which would be lost; name another file with --out" in ended.last
    assert data.read_bytes() == before

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

Run = Callable[..., Any]
N = 40
USED = ["age", "grade", "weight"]
PREDICT = "predict model.skops new.csv --out found.csv"


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


def saved(model: Any) -> Any:
    ho.save_model(model, "model.skops")
    return model


@pytest.fixture
def model(command: Run, frame: pd.DataFrame) -> Any:
    """A saved classifier on numbers with gaps, and on codes that are text in one row."""
    X = frame[USED]
    fitted = make_pipeline(ho.spaces.default_preprocessing(X), LogisticRegression())
    return saved(fitted.fit(X, np.where(frame["age"] > 50, "ill", "well")))


@pytest.fixture
def simple(command: Run) -> Any:
    """A saved regression on one column, ``a``."""
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    return saved(LinearRegression().fit(X, X["a"]))


def written(frame: pd.DataFrame, name: str = "new.csv") -> None:
    frame.to_csv(name, index=False)


def found(name: str = "found.csv") -> pd.DataFrame:
    return pd.read_csv(name)


def refused(command: Run, line: str, said: str) -> None:
    ended = command(*line.split())
    assert ended.code == 2 and said in ended.last, ended


def test_it_writes_what_the_model_predicts_beside_the_other_columns(
    run: Run, frame: pd.DataFrame, model: Any
) -> None:
    written(frame[["weight", "patient", "grade", "age"]])
    ended = run(PREDICT)
    assert ended.err == ""
    assert ended.out.endswith("found.csv: 40 rows, with prediction, probability ill, probability well.\n")
    assert list(found().columns) == ["patient", "prediction", "probability ill", "probability well"]
    assert found()["prediction"].tolist() == model.predict(frame[USED]).tolist()
    np.testing.assert_allclose(found()["probability well"], model.predict_proba(frame[USED])[:, 1], rtol=1e-12)


def test_codes_that_look_like_numbers_stay_categories(run: Run, frame: pd.DataFrame, model: Any) -> None:
    """Without the row "unknown" the column reads as numbers, and with a gap as numbers with a point."""
    codes = frame[frame["grade"] != "unknown"].reset_index(drop=True)
    gap = codes.astype({"grade": object}).copy()
    gap.loc[0, "grade"] = None
    for rows in (codes, gap):
        written(rows)
        assert run("predict model.skops new.csv --out found.parquet --overwrite").err == ""
        expected = model.predict_proba(rows[USED])[:, 0]
        np.testing.assert_allclose(pd.read_parquet("found.parquet")["probability ill"], expected, rtol=1e-12)
    frame.loc[3, "grade"] = "3"
    written(frame)
    assert "'grade' holds values that the model does not know ('3')" in run(PREDICT).err


@pytest.mark.usefixtures("model")
def test_columns_of_another_kind_are_refused(command: Run, frame: pd.DataFrame) -> None:
    written(frame.drop(columns="age"))
    refused(command, PREDICT, "lacks 1 column that the model was fitted on: 'age'")
    written(frame.assign(age=[*frame["age"].astype(str)[:2], "fifty", *frame["age"].astype(str)[3:]]))
    said = "column 'age' of new.csv holds 'fifty' in row 3, and the model was fitted on numbers"
    refused(command, PREDICT, said)
    assert not Path("found.csv").exists()


@pytest.mark.usefixtures("model")
def test_a_file_is_replaced_only_when_asked_and_never_the_data(command: Run, run: Run, frame: pd.DataFrame) -> None:
    written(frame)
    Path("found.csv").write_text("mine")
    refused(command, PREDICT, "is there already; replace it with --overwrite")
    assert Path("found.csv").read_text() == "mine"
    run(f"{PREDICT} --overwrite --quiet")
    assert len(found()) == N
    before = Path("new.csv").read_bytes()
    said = "is DATA, which would be lost; name another file with --out"
    refused(command, "predict model.skops new.csv --out new.csv --overwrite", said)
    assert Path("new.csv").read_bytes() == before
    refused(command, "predict model.skops new.csv --out found.txt", "must end in .csv or .parquet")
    said = "there is no file none.skops; give the path of a saved model"
    refused(command, "predict none.skops new.csv", said)


def test_a_model_without_names_takes_all_columns(command: Run, run: Run) -> None:
    """And the folder of a model stands for the model."""
    rows = np.arange(12.0).reshape(6, 2)
    saved(LinearRegression().fit(rows, rows.sum(axis=1)))
    written(pd.DataFrame(rows, columns=["a", "b"]))
    assert '"n_rows": 6' in run("predict . new.csv --out found.csv --json").out
    assert found()["prediction"].tolist() == pytest.approx(rows.sum(axis=1))
    written(pd.DataFrame({"a": [1.0]}))
    refused(command, "predict . new.csv --out b.csv", "the model was fitted on 2 columns without names")


def test_a_model_pooled_over_imputations_fills_the_gaps_of_new_rows(run: Run, frame: pd.DataFrame) -> None:
    """Rows without gaps have the predictions that they have without the others."""
    frame["ill"] = np.where(frame["age"] > 50, "ill", "well")
    written(frame.drop(columns=["patient", "grade"]), "data.csv")
    run("validate data.csv --target ill --out out --model logistic --imputations 2 --n-bootstraps 2 --n-jobs 1")
    written(frame.dropna())
    run("predict out new.csv --out found.csv")
    run("predict out data.csv --out gaps.csv")
    of_complete, every = found()["probability well"], found("gaps.csv")["probability well"]
    has_gap = frame["weight"].isna()
    assert has_gap.any() and every.notna().all()
    assert every[~has_gap].tolist() == of_complete.tolist()


def test_a_model_that_takes_no_gaps_names_them(command: Run, frame: pd.DataFrame) -> None:
    X = frame[["age", "weight"]]
    saved(LogisticRegression().fit(X.fillna(70.0), np.where(X["age"] > 50, "ill", "well")))
    row = int(X["weight"].isna().to_numpy().argmax()) + 1
    written(X)
    refused(
        command, PREDICT, f"the model takes no missing values, and there are some in 'weight' (row {row}); fill"
    )


@pytest.mark.usefixtures("simple")
def test_other_columns_come_out_as_the_text_of_the_file(run: Run) -> None:
    """Also with the decimal sign and delimiter of the file."""
    rows = "007;1,0;12345678901234567;NA;1,10;TRUE\n08;2,5;;NULL;2,50;FALSE\n"
    Path("new.csv").write_text("patient;a;long;gap; price;yes\n" + rows)
    run("predict model.skops new.csv --out found.CSV")
    shown = pd.read_csv("found.CSV", dtype=str, keep_default_na=False).drop(columns="prediction")
    assert list(shown.columns) == ["patient", "long", "gap", "price", "yes"]
    assert shown.to_numpy().tolist() == [
        ["007", "12345678901234567", "NA", "1,10", "TRUE"],
        ["08", "", "NULL", "2,50", "FALSE"],
    ]


@pytest.mark.usefixtures("simple")
def test_other_columns_of_parquet_keep_their_types(run: Run) -> None:
    """A whole number of 17 digits is no float, also beside a gap."""
    columns = {
        "long": pa.array([12345678901234567, None]),
        "a": [1.0, 2.0],
        "patient": ["007", "NA"],
        "ward": pa.array(["b", "a"]).dictionary_encode(),
        "dose": pa.array([0.1, None], pa.float32()),
    }
    rows = pa.table(columns)
    pq.write_table(rows, "new.parquet")
    for ending in ("csv", "parquet"):
        run(f"predict model.skops new.parquet --out found.{ending}")
    lines = [line.rsplit(",", 1)[0] for line in Path("found.csv").read_text().splitlines()]
    assert lines == ["long,patient,ward,dose", "12345678901234567,007,b,0.1", ",NA,a,"]
    kept = pq.read_table("found.parquet").drop_columns("prediction")
    assert kept.to_pylist() == rows.drop_columns("a").to_pylist()


@pytest.mark.parametrize("codes", [["01", "02", "01"], ["1.50", "", "1.50"], ["TRUE", "FALSE", "TRUE"]])
def test_codes_of_text_keep_their_zeros(run: Run, codes: list[str]) -> None:
    X = pd.DataFrame({"code": ["A1", "01", "02", "1.50", "TRUE", "FALSE"] * 3})
    X.loc[6, "code"] = np.nan
    y = X["code"].map({"A1": 1.0, "01": 2.0, "02": 3.0, "1.50": 4.0, "TRUE": 5.0, "FALSE": 6.0}).fillna(7.0)
    fitted = saved(make_pipeline(ho.spaces.default_preprocessing(X), LinearRegression()).fit(X, y))
    written(pd.DataFrame({"row": "x", "code": codes}))
    assert run(PREDICT).err == ""
    expected = fitted.predict(pd.DataFrame({"code": codes}).replace("", np.nan))
    np.testing.assert_allclose(found()["prediction"], expected)


@pytest.mark.parametrize(
    ("numeric", "coded"),
    [
        ([0], [False, True, False]),
        (slice(0, 1), slice("code", "code")),
        (np.array([True, False, False]), np.array([1])),
        (["age"], ["code"]),
    ],
)
def test_a_model_of_ones_own_gets_its_text(command: Run, run: Run, numeric: Any, coded: Any) -> None:
    """Columns by position, mask, slice or name; pipelines inside; text that the model reads itself."""
    X = pd.DataFrame({"age": [20.0, 30.0, np.nan, 50.0], "code": ["A1", "01", "02", "01"], "note": list("abab")})
    X["note"] = X["note"].map({"a": "fever cough", "b": "no fever"})
    codes = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    prepared = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
            ("codes", codes, coded),
            ("words", CountVectorizer(), "note"),
        ]
    )
    fitted = saved(make_pipeline(prepared, LinearRegression()).fit(X, [1.0, 2.0, 3.0, 4.0]))
    new = X[X["code"] != "A1"].reset_index(drop=True)
    written(new)
    assert run(PREDICT).err == ""
    np.testing.assert_allclose(found()["prediction"], fitted.predict(new))
    written(new.assign(age=["old", "1", "2"]))
    said = "holds 'old' in row 1, and the model was fitted on numbers"
    refused(command, "predict . new.csv --out none.csv", said)


def test_several_outputs_are_several_columns(run: Run) -> None:
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    written(X)
    y = np.column_stack([X["a"] > 1, X["a"] > 2]).astype(int)
    for fitted in (LinearRegression().fit(X, y), KNeighborsClassifier(1).fit(X, y)):
        saved(fitted)
        ended = run(f"{PREDICT} --overwrite")
        assert ("their probabilities are left out" in ended.err) == hasattr(fitted, "predict_proba")
        assert list(found().columns) == ["prediction 1", "prediction 2"]
        np.testing.assert_allclose(found(), fitted.predict(X), atol=1e-12)
    saved(LinearRegression().fit(X, y[:, :1]))
    run(f"{PREDICT} --overwrite")
    assert list(found().columns) == ["prediction"]


def test_numbers_as_text_are_numbers(run: Run, frame: pd.DataFrame, model: Any) -> None:
    expected = model.predict_proba(frame[USED])[:, 1]
    frame["weight"] = frame["weight"].map(str, na_action="ignore").astype(object)
    frame.to_parquet("new.parquet")
    run("predict model.skops new.parquet --out found.csv")
    np.testing.assert_allclose(found()["probability well"], expected, rtol=1e-12)

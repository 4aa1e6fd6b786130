"""The study of a folder of tables: what it uses, draws, keeps and refuses."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.errors import InputError
from heldout_papers import FlatVsNestedStudy, flat_vs_nested
from heldout_papers.flat_vs_nested.result import ACCURACIES, SECONDS
from heldout_papers.flat_vs_nested.study import small_tables
from heldout_papers.tables import tables_in

OWN: list[Any] = [
    (
        "knn",
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 5, 9]},
    ),
    ("linear", make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.01, 1.0]}),
    ("constant", DummyClassifier(), {}),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    cancer = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 4, 8, 30]]
    cancer.iloc[100:300].to_csv(place / "cancer.csv", index=False)
    rng = np.random.default_rng(1)
    mixed = pd.DataFrame(
        {"a": rng.normal(size=80), "b": rng.choice(["x", "y", "z"], 80), "target": np.arange(80) % 2}
    )
    mixed.loc[::9, "a"] = np.nan
    mixed.to_parquet(place / "mixed.parquet")
    pd.DataFrame({"a": np.arange(60.0), "target": (np.arange(60) < 5).astype(int)}).to_csv(
        place / "rare.csv", index=False
    )
    load_iris(as_frame=True).frame.to_csv(place / "iris.csv", index=False)
    return place


def study(tables: Path, **how: Any) -> FlatVsNestedStudy:
    return flat_vs_nested(tables, **{"algorithms": OWN, "repetitions": 2, "random_state": 4, **how})


def without_seconds(found: FlatVsNestedStudy) -> pd.DataFrame:
    frame: pd.DataFrame = found.to_frame(each=True).drop(columns=list(SECONDS))
    return frame


def test_a_row_a_table_repetition_and_algorithm(folder: Path) -> None:
    found = study(folder, max_rows=120, folds=3)
    frame = found.to_frame(each=True)
    assert frame[["table", "repetition", "algorithm"]].apply(tuple, axis=1).tolist() == [
        (table, repetition, name)
        for table in ("cancer", "mixed")
        for repetition in (0, 1)
        for name in ("knn", "linear", "constant")
    ]
    assert frame.groupby("table")[["rows", "columns"]].first().to_dict("list") == {
        "rows": [120, 80],
        "columns": [4, 2],
    }
    assert frame.n_configurations.tolist() == [3, 2, 1] * 4
    by_name = frame[frame.table == "cancer"].set_index("algorithm")
    assert by_name.loc["linear", list(ACCURACIES)].to_numpy(dtype=float).min() > 0.7
    assert (by_name.loc["constant", "flat"] == by_name.loc["constant", "nested"]).all()
    # A column of text is beyond a pipeline that only scales: its failure, and nobody else's.
    failed = frame[(frame.table == "mixed") & (frame.algorithm != "constant")]
    assert failed[list(ACCURACIES)].isna().all(axis=None)
    assert failed.reason.str.contains("could not convert string to float").all()
    assert frame[frame.algorithm == "constant"].reason.tolist() == [""] * 4
    assert found.left_out == {
        "iris": "its target is multiclass",
        "rare": "its rarer class has 5 rows",
    }
    again = FlatVsNestedStudy.from_frame(frame, entropy=4, max_rows=120)
    pd.testing.assert_frame_equal(again.to_frame(each=True), frame)
    assert again.parameters() == found.parameters()


def test_it_is_the_same_beside_any_tables_and_for_any_number_of_processes(folder: Path, tmp_path: Path) -> None:
    small = partial(study, max_rows=60, folds=3)
    found = without_seconds(small(folder))
    kept = small(folder, n_jobs=2, folder=tmp_path)
    pd.testing.assert_frame_equal(without_seconds(kept), found)
    alone = without_seconds(small(folder, names=["cancer"], repetitions=1))
    first = found[(found.table == "cancer") & (found.repetition == 0)]
    pd.testing.assert_frame_equal(alone, first.reset_index(drop=True))
    assert not first[list(ACCURACIES)].equals(
        found[(found.table == "cancer") & (found.repetition == 1)][list(ACCURACIES)]
    )
    again = small(folder, folder=tmp_path)  # nothing is done again: the seconds are those of the first time
    pd.testing.assert_frame_equal(again.to_frame(each=True), kept.to_frame(each=True))
    other = [*OWN[:2], ("constant", DummyClassifier(strategy="prior"), {"strategy": ["stratified"]})]
    changed = without_seconds(small(folder, names=["cancer"], repetitions=1, folder=tmp_path, algorithms=other))
    assert not changed.equals(alone)


def test_the_twelve_on_a_table_with_gaps_and_categories(folder: Path) -> None:
    found = flat_vs_nested(folder, names=["mixed"], repetitions=1, max_rows=40, small=True, folds=2, random_state=0)
    frame = found.to_frame(each=True)
    assert len(frame) == 12
    assert frame.reason.tolist() == [""] * 12
    # Nothing can be predicted there; 20 rows are scored: 12 algorithms stay within 5 standard errors of a half.
    assert frame.future.between(0, 1).all() and abs(frame.future.mean() - 0.5) < 5 * np.sqrt(0.25 / 20)
    assert (frame.n_configurations >= 3).all()
    some = flat_vs_nested(
        folder, names=["mixed"], algorithms=["nb", "svmRadial"], repetitions=1, max_rows=40, small=True, folds=2,
        random_state=0,
    )  # fmt: skip
    pd.testing.assert_frame_equal(
        without_seconds(some),
        frame[frame.algorithm.isin(["nb", "svmRadial"])].drop(columns=list(SECONDS)).reset_index(drop=True),
    )
    top3 = flat_vs_nested.job(folder, names=["mixed"], algorithms="top3").plan.settings[0].algorithms
    assert top3 == ("rf", "svmRadial", "gbm")


def test_one_and_many_length_scales_on_a_table_with_gaps_and_categories(folder: Path) -> None:
    found = flat_vs_nested(
        folder, names=["mixed"], algorithms="ard", repetitions=1, max_rows=40, small=True, folds=2, random_state=0
    )
    frame = found.to_frame(each=True)
    assert frame.algorithm.tolist() == ["lssvm", "lssvmARD"]
    assert frame.reason.tolist() == ["", ""]
    assert frame.n_configurations.tolist() == [15, 105]
    # The second has all configurations of the first, on the same folds.
    assert frame.flat[1] >= frame.flat[0]
    assert found.rows()[0]["scenario"] == "ard"


@pytest.mark.slow
def test_flat_chooses_many_hyper_parameters_where_they_are_of_no_use(tmp_path: Path) -> None:
    """Cawley and Talbot (2010): all columns matter alike, so a length scale for each can only fit the folds."""
    for k in range(4):
        rng = np.random.default_rng(k)
        X = rng.normal(size=(120, 10))
        y = (X**2).sum(axis=1) + rng.normal(0, 3, 120) > 9.5
        names = [f"x{j}" for j in range(10)]
        pd.DataFrame(X, columns=names).assign(target=y.astype(int)).to_csv(tmp_path / f"t{k}.csv", index=False)

    found = flat_vs_nested(tmp_path, algorithms="ard", small=True, repetitions=6, folds=3, random_state=0)

    means = found.to_frame(each=True).groupby("algorithm")[list(ACCURACIES)].mean()
    one, many = means.loc["lssvm"], means.loc["lssvmARD"]
    assert many.flat > one.flat and many.nested < one.nested and many.future < one.future
    assert many.flat - many.future > one.flat - one.future + 0.03
    assert found.rows()[0]["mean_gain"] > 0


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"algorithms": "all"}, "algorithms must be 'top3' or 'full' or 'ard' \\(in Python also names, a list of"),
        ({"algorithms": ["rf", "svm"]}, "algorithms must be some of bst, gbm, .*, got 'svm'"),
        ({"algorithms": []}, "the list of estimators is empty"),
        (
            {"algorithms": [("one", DummyClassifier(constant=object()), {})]},
            "an algorithm cannot be recognised again",
        ),
        ({"names": ["rare"]}, "table rare cannot be used: its rarer class has 5 rows"),
        ({"names": ["cancer"], "max_rows": 20}, "table cancer cannot be used: its rarer class would have 8 of 20"),
        ({"max_rows": 19}, "max_rows must be a whole number from 20 on"),
        ({"repetitions": 0}, "repetitions must be a whole number from 1 on"),
        ({"folds": 1}, "folds must be a whole number from 2 on"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_cannot_be_studied_is_refused(folder: Path, how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        flat_vs_nested.job(folder, **{"algorithms": OWN, **how})


def test_the_smallest_tables_of_a_folder(folder: Path) -> None:
    assert small_tables(folder, 1) == ["mixed"]
    assert small_tables(folder, 5) == ["mixed", "cancer"]
    assert small_tables(folder, 5, max_rows=20) == ["mixed"]  # the other has 8 of 20 rows of the rarer class
    found = tables_in(folder, least_minority=10, most=1)
    assert [table.name for table in found.tables] == ["mixed"]
    assert set(found.left_out) == {"rare", "iris"}  # whose files are smaller; cancer was not even read
    (folder / "cancer.csv").rename(folder / "cancer.txt")
    assert tables_in(folder, least_minority=10, most=1) == found
    (folder / "cancer.txt").rename(folder / "cancer.csv")
    with pytest.raises(InputError, match="holds no table that fits: a column 'class' with two classes"):
        small_tables(folder, 1, target="class")


def test_a_frame_without_a_column_is_refused() -> None:
    with pytest.raises(InputError, match="needs a column 'table'"):
        FlatVsNestedStudy.from_frame(pd.DataFrame({"rows": [1]}))

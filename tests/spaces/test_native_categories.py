"""Categories as boosted models read them, worked by hand; fixed by the training rows."""

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout.spaces import NativeCategories
from heldout.spaces.preprocessing import plain_names, text_columns

TRAIN = pd.DataFrame(
    {
        "text": ["u", "v", None, "u", "w"],
        "kind": pd.Categorical([3, 1, 1, 3, 3]),
        "flag": [True, False, True, True, False],
        "whole": pd.array([1, 2, None, 4, 5], dtype="Int64"),
        "amount": [0.5, np.nan, 1.5, 2.5, 3.5],
    }
)


def test_text_and_categories_become_categories_and_the_rest_numbers() -> None:
    found = NativeCategories().fit_transform(TRAIN)

    assert found["text"].tolist() == ["u", "v", "(missing)", "u", "w"]
    assert list(found["text"].cat.categories) == ["u", "v", "w", "(other)", "(missing)"]
    assert found["kind"].tolist() == ["3", "1", "1", "3", "3"]
    for name, numbers in (
        ("flag", [1, 0, 1, 1, 0]), ("whole", [1, 2, np.nan, 4, 5]), ("amount", [0.5, np.nan, 1.5, 2.5, 3.5])
    ):  # fmt: skip
        assert found[name].dtype == np.float64
        np.testing.assert_array_equal(found[name], numbers)


def test_categories_are_those_of_the_training_rows_in_other_rows_too() -> None:
    fitted = NativeCategories().fit(TRAIN)
    new = TRAIN.assign(text=["new", "v", None, "w", "u"], kind=[1, 2, 3, 4, 1])

    found = fitted.transform(new)
    assert found["text"].tolist() == ["(other)", "v", "(missing)", "w", "u"]
    assert found["kind"].tolist() == ["1", "(other)", "3", "(other)", "1"]
    assert found["text"].dtype == fitted.transform(TRAIN)["text"].dtype


def test_rare_values_share_a_category() -> None:
    table = pd.DataFrame({"text": [*(f"v{i:03}" for i in range(202)), "v201", None]})
    found = NativeCategories().fit_transform(table)["text"].tolist()
    assert found[198:] == ["v198", "(other)", "(other)", "v201", "v201", "(missing)"]


def test_values_called_missing_are_missing() -> None:
    table = pd.DataFrame({"a": ["(missing)", None, "(other)"]})
    assert NativeCategories().fit_transform(table)["a"].tolist() == ["(missing)", "(missing)", "(other)"]


def test_names_are_plain_and_distinct() -> None:
    assert plain_names(["a b", "a_b", "a[b]", 3, "é"]) == ["a_b", "a_b_2", "a_b_", "3", "é"]
    table = pd.DataFrame([[1.0, 2.0]], columns=["x [m]", "x {m}"])
    fitted = NativeCategories().fit(table)
    assert list(fitted.transform(table).columns) == list(fitted.get_feature_names_out()) == ["x_m_", "x_m__2"]


def test_other_columns_are_refused() -> None:
    fitted = NativeCategories().fit(TRAIN)
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(TRAIN.rename(columns={"text": "other"}))
    with pytest.raises(InputError, match="dates or nested values"):
        NativeCategories().fit(pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])}))


def test_polars_tables_give_the_same() -> None:
    polars = pytest.importorskip("polars")
    table = TRAIN.drop(columns="kind")
    found = NativeCategories().fit_transform(polars.from_pandas(table))
    pd.testing.assert_frame_equal(found, NativeCategories().fit_transform(table))
    assert text_columns(polars.from_pandas(table)) == ["text"]

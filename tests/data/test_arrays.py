"""From whatever a user hands over to an array: nothing masked comes back, nothing is turned into text."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from heldout._text import counted
from heldout.data.task import array_of, column_of, distinct, missing, numbers_of
from heldout.errors import InputError


@pytest.mark.parametrize(
    "values, kind",
    [
        (np.array([True, False], dtype=object), "b"),
        (np.array([1, 2], dtype=object), "i"),
        (np.array([1, np.nan], dtype=object), "O"),  # whole numbers with gaps may be labels
        (np.array([1.5, None], dtype=object), "f"),
        (np.array([Decimal("1.5"), 2], dtype=object), "f"),
        (pd.array([1, 2], dtype="Int64"), "i"),
        (pd.Series([1.5, None], dtype="Float64"), "f"),
        (pd.array([True, False], dtype="boolean"), "b"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0.5, 1.5]}), "f"),
        (pd.array([True, None], dtype="boolean"), "O"),
        ([10**30, 1], "O"),
        (["a", "b"], "U"),
        (["a", None], "O"),
        (["a", np.nan], "O"),
        (pd.Series(["a", "b"], dtype="category"), "O"),
    ],
)
def test_objects_become_what_they_all_are(values, kind):
    array = array_of(values, "values")
    assert array.dtype.kind == kind
    assert missing(array).tolist() == pd.isna(np.asarray(values, dtype=object)).tolist()


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, object, "U3"])
def test_masked_values_are_missing_and_the_others_as_they_were(dtype):
    data = np.array([[1, 0], [0, 1]]).astype(dtype)
    array = array_of(np.ma.masked_array(data, mask=[[True, False], [False, False]]), "predictions")
    assert missing(array).tolist() == [[True, False], [False, False]]
    assert (array[~missing(array)] == data[[0, 1, 1], [1, 0, 1]]).all()
    unmasked = array_of(np.ma.masked_array(data), "predictions")
    np.testing.assert_array_equal(unmasked, data)


def test_what_is_missing_among_objects():
    values = np.array([None, np.nan, pd.NA, pd.NaT, Decimal("NaN"), np.float32("nan"), "nan", [1], 0], dtype=object)
    assert missing(values).tolist() == [True] * 6 + [False] * 3


@pytest.mark.parametrize("values", [["0.3"], [object()], [b"1"], [1 + 1j]])
def test_what_is_no_number_is_not_made_one(values):
    with pytest.raises(InputError, match="predictions must be numbers, got values like"):
        numbers_of(np.array(values, dtype=object), "predictions")


def test_numbers_of_objects():
    found = numbers_of(np.array([[1, None], [Decimal("0.5"), pd.NA]], dtype=object), "predictions")
    np.testing.assert_array_equal(found, [[1, np.nan], [0.5, np.nan]])


def test_distinct_values_keep_the_shape():
    values, which = distinct(np.array([["b", "a"], ["b", "b"]]), "labels")
    assert values.tolist() == ["a", "b"] and which.tolist() == [[1, 0], [1, 1]]


def test_a_table_of_one_column_is_a_column():
    assert column_of(pd.DataFrame({"a": [1, 2]}), "folds").tolist() == [1, 2]
    assert counted(1, "row") == "1 row" and counted(0, "row") == "0 rows"


def test_columns_of_polars():
    pl = pytest.importorskip("polars")
    assert array_of(pl.Series([1, None]), "y").tolist()[0] == 1.0
    assert missing(array_of(pl.Series(["a", None]), "y")).tolist() == [False, True]
    assert array_of(pl.Series(["a", "b"], dtype=pl.Categorical), "y").tolist() == ["a", "b"]
    assert array_of(pl.DataFrame({"a": [1.5, None], "b": [2, 3]}), "y").dtype.kind == "f"


def test_an_error_shows_only_the_beginning_of_what_it_got():
    with pytest.raises(InputError) as raised:
        numbers_of(np.array([{"a": np.arange(500)}], dtype=object), "scores")

    assert len(str(raised.value)) < 160
    assert "scores must be numbers, got values like {'a': array([ 0, 1, 2" in str(raised.value)

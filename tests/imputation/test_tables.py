"""Filling gaps of a table leaves all else as it was, its types included."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from heldout.errors import InputError
from heldout.imputation.tables import filled, has_missing, holes_of, with_columns, writable

pd = pytest.importorskip("pandas")


def test_gaps_of_every_type_are_found() -> None:
    table = pd.DataFrame(
        {
            "number": [1.0, np.nan],
            "text": ["a", None],
            "whole": pd.array([1, None], dtype="Int64"),
            "truth": pd.array([True, None], dtype="boolean"),
            "category": pd.Categorical(["u", None]),
            "date": pd.to_datetime(["2020-01-01", None]),
        }
    )
    assert holes_of(table).tolist() == [[False] * 6, [True] * 6]
    assert holes_of(np.array([["a", None], ["b", "c"]], dtype=object)).tolist() == [[False, True], [False, False]]
    assert not has_missing(csr_array([[0.0, 1.0]]))


def test_a_sparse_table_with_gaps_is_refused() -> None:
    with pytest.raises(InputError, match="toarray"):
        has_missing(csr_array([[np.nan, 1.0]]))


def test_types_index_and_columns_of_the_same_name_stay() -> None:
    table = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, None, False], dtype="boolean"),
            "category": pd.Categorical(["u", None, "v"], categories=["v", "u", "w"]),
            "text": pd.array(["a", None, "b"], dtype="string"),
            "small": np.array([1.0, np.nan, 2.0], dtype=np.float32),
        },
        index=[7, 7, 9],
    )
    table.columns = ["a", "a", "b", "c", "d"]
    answer = np.array([[None] * 5, [1.6, 0.2, "u", "b", 1.25], [None] * 5], dtype=object)
    whole = filled(table, holes_of(table), answer, None)
    assert whole.dtypes.tolist() == table.dtypes.tolist()
    assert whole.index.equals(table.index) and whole.columns.equals(table.columns)
    assert whole.iloc[1].tolist() == [2, False, "u", "b", 1.25]  # the nearest whole number, and truth
    assert whole.iloc[[0, 2]].equals(table.iloc[[0, 2]])
    assert holes_of(table)[1].all()  # the given table is as it was


def test_appended_columns_have_names_of_their_own() -> None:
    table = pd.DataFrame({"outcome_0": [1.0, 2.0], "b": [3.0, 4.0]})
    wider = with_columns(table, np.array([[5.0], [6.0]]))
    assert wider.columns.is_unique
    assert wider.iloc[:, 2].tolist() == [5.0, 6.0]
    assert list(table.columns) == ["outcome_0", "b"]


def test_tables_of_other_libraries_are_refused_by_name() -> None:
    class Frame:
        columns = ("a",)

    Frame.__module__ = "polars.dataframe"
    with pytest.raises(InputError, match=r"a table of polars .*to_pandas"):
        writable(Frame())

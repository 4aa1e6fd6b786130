"""The columns of the data and their missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from heldout.report.columns import MOST_COLUMNS, ColumnSummary, columns_of


def test_a_table_by_hand() -> None:
    table = pd.DataFrame(
        {
            "age": [30.5, np.nan, 50.0, 40.0],
            "count": [1, 2, 2, 5],
            "town": ["Ulm", None, "Bonn", "Ulm"],
            "seen": [True, False, True, True],
            "mixed": np.array([1, 2.5, None, 1], dtype=object),
            "nullable": pd.array([1, pd.NA, 3, 4], dtype="Int64"),
            "day": pd.to_datetime(["2020-01-01", None, "2020-01-02", "2020-01-01"]),
        }
    )
    found = columns_of(table)
    assert found is not None
    assert (found.rows, found.total, found.missing, found.columns_with_gaps, found.rows_with_gaps) == (
        4,
        7,
        5,
        5,
        2,
    )
    assert found.listed == (
        ColumnSummary("age", "numbers", 1, 3, 30.5, 40.0, 50.0),
        ColumnSummary("count", "whole numbers", 0, 3, 1.0, 2.0, 5.0),
        ColumnSummary("town", "categories", 1, 2, most_common="Ulm"),
        ColumnSummary("seen", "yes or no", 0, 2, most_common="True"),
        ColumnSummary("mixed", "numbers", 1, 2, 1.0, 1.0, 2.5),
        ColumnSummary("nullable", "whole numbers", 1, 3, 1.0, 3.0, 4.0),
        ColumnSummary("day", "times", 1, 2),
    )


def test_wide_data_list_the_columns_with_gaps() -> None:
    X = np.zeros((3, MOST_COLUMNS + 50))
    X[0, -1] = np.nan
    found = columns_of(X)
    assert found is not None and len(found.listed) == MOST_COLUMNS
    assert found.listed[-1].name == f"column {MOST_COLUMNS + 49}" and found.listed[-1].missing == 1


@pytest.mark.parametrize("X", [["a text", "another"], np.zeros((0, 3)), np.zeros(4)])
def test_data_without_columns(X: object) -> None:
    assert columns_of(X) is None


def test_sparse_data_have_a_size() -> None:
    found = columns_of(csr_matrix(np.array([[0.0, np.nan], [0.0, 2.0]])))
    assert found is not None and (found.rows, found.total, found.missing, found.listed) == (2, 2, 1, ())


def test_infinite_numbers_are_not_in_the_range() -> None:
    found = columns_of(np.array([[np.inf], [1.0], [-np.inf]]))
    assert found is not None and (found.listed[0].low, found.listed[0].high) == (1.0, 1.0)

"""The columns of the data and their missing values."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr

from heldout.report.columns import BINS, MOST_COLUMNS, columns_of


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
    sizes = (found.rows, found.total, found.missing, found.columns_with_gaps, found.rows_with_gaps)
    assert sizes == (4, 7, 5, 5, 2)
    names = ("name", "kind", "missing", "distinct", "low", "median", "high", "most_common")
    assert [tuple(each[name] for name in names) for each in found.listed] == [
        ("age", "numbers", 1, 3, 30.5, 40.0, 50.0, ""),
        ("count", "whole numbers", 0, 3, 1.0, 2.0, 5.0, ""),
        ("town", "categories", 1, 2, None, None, None, "Ulm"),
        ("seen", "yes or no", 0, 2, None, None, None, "True"),
        ("mixed", "numbers", 1, 2, 1.0, 1.0, 2.5, ""),
        ("nullable", "whole numbers", 1, 3, 1.0, 3.0, 4.0, ""),
        ("day", "times", 1, 2, None, None, None, ""),
    ]


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


def test_distributions_count_every_known_value() -> None:
    table = pd.DataFrame({"x": [0.0, 0.05, 1.2, np.nan, np.inf], "kind": ["a", "b", "b", None, "b"], "same": 1})
    found = columns_of(table)
    x, kind, same = found.listed
    assert x.counts == (2, *[0] * (BINS - 2), 1)
    assert kind.counts == (3, 1) and same.counts == ()


def test_a_column_goes_with_the_one_of_the_largest_rank_correlation() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 4)), columns=list("abcd"))
    table["a"] = -np.exp(table["b"]) + 0.1 * table["c"]
    table["same"], table["is_c"], table["town"] = 7, table["c"] > 0, "Ulm"
    found = columns_of(table)
    listed = {each.name: each.correlation for each in found.listed}
    for name, other in (("a", "b"), ("b", "a"), ("c", "is_c"), ("is_c", "c")):
        correlation = listed[name]
        assert correlation is not None and correlation.column == other
        assert correlation.coefficient == pytest.approx(spearmanr(table[name], table[other]).statistic)
    assert listed["same"] is None and listed["town"] is None
    table.loc[table.index % 5 == 0, "b"] = np.nan  # ranks of "a" are still those among all of its values
    gaps = columns_of(table)
    assert gaps is not None and gaps.listed[0].correlation is not None
    known = table["b"].notna()
    expected = np.corrcoef(table["a"].rank()[known], table["b"].rank()[known])[0, 1]
    assert gaps.listed[0].correlation.coefficient == pytest.approx(expected)

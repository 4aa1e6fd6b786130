"""Preprocessing: worked by hand on small tables, and never a look at held-out rows."""

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout.spaces import default_preprocessing
from heldout.spaces.preprocessing import MOST_CATEGORIES, column_kinds


def test_numbers_get_their_median_an_indicator_and_a_scale() -> None:
    X = pd.DataFrame({"a": [0.0, np.nan, 2.0, 4.0], "b": [1, 1, 3, 3]})

    filled = default_preprocessing(X, scale=False).fit_transform(X)
    scaled = default_preprocessing(X).fit_transform(X)

    np.testing.assert_array_equal(filled, [[0, 1, 0], [2, 1, 1], [2, 3, 0], [4, 3, 0]])
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(scaled.std(axis=0), 1)


def test_categories_become_indicators_with_missing_as_one_of_them() -> None:
    X = pd.DataFrame({"t": ["u", np.nan, "v", "u"], "f": [True, False, True, True]})

    encoded = default_preprocessing(X).fit_transform(X)

    # u, v, missing; False, True
    np.testing.assert_array_equal(encoded, [[1, 0, 0, 0, 1], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1], [1, 0, 0, 0, 1]])


def test_a_category_that_training_never_saw_is_no_error() -> None:
    train, test = pd.DataFrame({"t": ["u", "v"] * 3}), pd.DataFrame({"t": ["new", "u", None]})

    encoded = default_preprocessing(train).fit(train).transform(test)

    np.testing.assert_array_equal(encoded, [[0, 0], [1, 0], [0, 0]])


def test_rare_categories_beyond_the_limit_share_an_indicator() -> None:
    X = pd.DataFrame({"t": [f"c{i}" for i in range(50)] * 2})

    assert default_preprocessing(X).fit_transform(X).shape == (100, MOST_CATEGORIES)


def test_a_column_that_is_missing_in_all_training_rows_keeps_its_place() -> None:
    train = pd.DataFrame({"a": [np.nan, np.nan, np.nan], "b": [1.0, 2.0, 3.0]})
    test = pd.DataFrame({"a": [5.0], "b": [2.0]})

    fitted = default_preprocessing(train).fit(train)

    assert fitted.transform(test).shape[1] == fitted.transform(train).shape[1]
    assert np.isfinite(fitted.transform(test)).all()


def test_an_array_has_numbers_only() -> None:
    assert column_kinds(np.zeros((3, 2))).numeric == [0, 1]
    assert column_kinds(np.zeros((3, 2))).categorical == []


def test_dates_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="'when'"):
        column_kinds(pd.DataFrame({"a": [1, 2], "when": pd.date_range("2020", periods=2)}))


@pytest.mark.parametrize(("given", "got"), [([[1.0, 2.0]], "a list"), (np.zeros(3), r"shape \(3,\)")])
def test_what_is_no_table_is_refused(given: object, got: str) -> None:
    with pytest.raises(InputError, match=f"shape \\(N, p\\), got {got}"):
        default_preprocessing(given)

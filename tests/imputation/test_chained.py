"""Chained equations on tables of every kind."""

from typing import Any

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.imputation.chained import ChainedImputer


def test_both_numbers_and_categories_follow_the_others() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=600)
    X = np.empty((600, 3), dtype=object)
    X[:, 0] = x
    X[:, 1] = np.where(x > 0.5, "high", np.where(x > -0.5, "middle", "low"))
    X[:, 2] = 2 * x + 1 + 0.1 * rng.normal(size=600)
    truth, gaps = X.copy(), rng.random((600, 3)) < [0.0, 0.25, 0.25]
    X[gaps] = None
    whole = ChainedImputer(random_state=0).fit_transform(X)
    drawn = whole[gaps[:, 1], 1]
    assert set(drawn) == {"high", "middle", "low"}
    assert (drawn == truth[gaps[:, 1], 1]).mean() > 0.75  # it says two thirds less often by chance
    error = (whole[gaps[:, 2], 2] - truth[gaps[:, 2], 2]).astype(float)
    assert error.std() == pytest.approx(0.1 * np.sqrt(2), rel=0.3)  # the noise of what is missing, and of the draw
    assert (whole[~gaps] == truth[~gaps]).all()


def test_two_distinct_numbers_are_categories_and_more_are_not() -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(50, 3)).astype(float)
    X[:, 2] = np.arange(50) % 4
    X[::5] = np.nan
    X[::5, 0] = 1.0
    whole = ChainedImputer(random_state=1).fit_transform(X)
    assert whole.dtype == np.float64
    assert set(whole[:, 1]) == {0.0, 1.0}
    assert len(set(whole[:, 2])) > 4
    declared = ChainedImputer(categorical=[2], random_state=1).fit_transform(X)
    assert set(declared[:, 2]) == {0.0, 1.0, 2.0, 3.0}


def test_pandas_categories_of_codes_are_categories() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"grade": pd.Categorical([1, 2, 3, None] * 10), "x": np.arange(40.0)})
    assert set(ChainedImputer(random_state=0).fit_transform(table)[:, 0]) == {1.0, 2.0, 3.0}
    named = ChainedImputer(categorical=["x"], max_categories=50, random_state=0).fit(table)
    assert hasattr(named.columns_[1], "labels")


def test_draws_may_leave_the_observed_range_or_be_kept_within_it() -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(300, 2))
    X[::2, 1] = np.nan
    free = ChainedImputer(random_state=0).fit_transform(X)
    cut = ChainedImputer(within_observed_range=True, random_state=0).fit_transform(X)
    assert free[:, 1].max() > 1
    assert np.nanmin(X[:, 1]) <= cut[:, 1].min() and cut[:, 1].max() <= np.nanmax(X[:, 1])


def test_the_same_seed_draws_the_same_and_transform_fills_other_rows() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 3))
    X[:, 2] = X[:, 0] - X[:, 1] + 0.01 * rng.normal(size=80)
    new = X[:20].copy()
    X[60:, 1] = np.nan
    imputer = ChainedImputer(random_state=3)
    whole = imputer.fit_transform(X)
    assert (whole == ChainedImputer(random_state=3).fit_transform(X)).all()
    assert (whole != ChainedImputer(random_state=4).fit_transform(X)).any()
    gappy = new.copy()
    gappy[:, 2] = np.nan  # complete when fitted, and yet it has an equation
    filled = imputer.transform(gappy)
    assert (filled == imputer.transform(gappy)).all()
    assert np.abs(filled[:, 2] - new[:, 2]).max() < 0.2
    assert (filled[:, :2] == new[:, :2]).all()


def test_a_category_that_was_never_seen_stays_and_informs_nothing() -> None:
    X = np.array([["a", 1.0], ["b", 2.0], ["a", 1.5], ["b", None], ["c", 2.5]], dtype=object)
    imputer = ChainedImputer(random_state=0).fit(X)
    filled = imputer.transform(np.array([["new", None], [None, 2.0]], dtype=object))
    assert filled[0, 0] == "new" and np.isfinite(filled[0, 1])
    assert filled[1, 0] in {"a", "b", "c"}


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([None] * 6, "column 1 has no value at all in these 6 rows"),
        (["a", "b", "c", "d", "e", None], "column 1 has 5 categories, more than 4: .*max_categories allows more"),
        ([[1], [2], [3], [4], [5], None], "column 1 holds values of type list"),
    ],
    ids=["empty", "many", "lists"],
)
def test_columns_that_cannot_be_drawn_are_named(column: list[Any], said: str) -> None:
    X = np.empty((6, 2), dtype=object)
    X[:, 0] = np.arange(6.0)
    for i, value in enumerate(column):
        X[i, 1] = value
    with pytest.raises(InputError, match=said):
        ChainedImputer(max_categories=4, random_state=0).fit(X)


def test_infinite_numbers_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="column 'a' holds infinite values"):
        ChainedImputer().fit(pd.DataFrame({"a": [1.0, np.inf, None], "b": ["u", "v", "v"]}))
    with pytest.raises(ValueError, match="infinity"):
        ChainedImputer().fit([[1.0, 2.0], [np.inf, 3.0]])


def test_dates_and_unknown_declarations_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    dates = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None, "2020-01-03"]), "x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="'when' holds"):
        ChainedImputer().fit(dates)
    with pytest.raises(InputError, match="categorical names column 'z', which the table lacks"):
        ChainedImputer(categorical=["z"]).fit(dates[["x"]])
    with pytest.raises(InputError, match="categorical must be a list"):
        ChainedImputer(categorical="x").fit(dates[["x"]])
    with pytest.raises(InputError, match="n_iterations must be"):
        ChainedImputer(n_iterations=0).fit(dates[["x"]])


@pytest.mark.parametrize("seed", range(5))
def test_small_bootstrap_samples_are_drawn(seed: int) -> None:
    """Constant columns, categories of one row, and fewer rows than columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 15)).astype(object)
    X[:, 3] = 1.0
    X[:, 4] = np.where(np.arange(12) == 2, "rare", "often")
    X[rng.random(X.shape) < 0.15] = None
    X[0] = [0.5] * 4 + ["often"] + [0.5] * 10
    drawn = X[rng.integers(0, 12, size=12)]
    drawn[0] = X[0]
    whole = ChainedImputer(random_state=seed).fit_transform(drawn)
    assert all(np.isfinite(whole[:, j].astype(float)).all() for j in range(15) if j != 4)
    assert set(whole[:, 3]) == {1.0} or set(whole[:, 3]) <= {0.5, 1.0}

"""Rows of pandas are paired by their labels, by position where labels say nothing, and else refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, train_test_split

import heldout as ho

N = 60
RNG = np.random.default_rng(0)
NAMES = [f"p{i}" for i in range(N)]
ORDER = RNG.permutation(N)
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"], index=NAMES)
Y = (X["a"] + 0.5 * RNG.normal(size=N) > 0).astype(int)
PREDICTIONS = pd.DataFrame({"a": X["a"], "both": X["a"] + X["b"]})
GROUPS = pd.Series(np.arange(N) // 2, index=NAMES)
FOLDS = pd.Series(np.arange(N) // 2 % 3, index=NAMES)
WEIGHTS = pd.Series(RNG.random(N) + 0.1, index=NAMES)
ASKED: dict[str, Any] = {"metric": "roc_auc", "random_state": 0, "n_bootstraps": 20}
GRID = {"C": [0.01, 1.0]}
SHUFFLED: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda rows: rows[::-1],
    "any": lambda rows: rows.iloc[ORDER],
}


def estimate(y: Any, predictions: Any, **arrays: Any) -> ho.Estimate:
    return ho.estimate(y, predictions, **arrays, **ASKED)


@pytest.mark.parametrize("shuffled", SHUFFLED.values(), ids=SHUFFLED)
@pytest.mark.parametrize("what", ["predictions", "folds", "groups", "sample_weight"])
def test_the_same_labels_in_another_order_are_matched_to_y(what: str, shuffled: Callable[[Any], Any]) -> None:
    arrays = {"predictions": PREDICTIONS, "folds": FOLDS, "groups": GROUPS, "sample_weight": WEIGHTS}
    expected = estimate(Y, **arrays)
    found = estimate(Y, **{**arrays, what: shuffled(arrays[what])})
    assert (found.value, found.interval) == (expected.value, expected.interval)


def test_the_comparisons_match_rows_too() -> None:
    moved = PREDICTIONS.iloc[ORDER]
    for compared in (
        ho.compare_configurations,
        lambda *given, **asked: ho.compare_estimates(*given, **asked)["bbc"],
    ):
        expected, found = compared(Y, PREDICTIONS, **ASKED), compared(Y, moved, **ASKED)
        assert str(found) == str(expected)


@pytest.mark.parametrize(
    "fitted",
    [
        lambda X, y, groups: (
            ho.HeldOutSearchCV(LogisticRegression(), GRID, cv=GroupKFold(3), n_bootstraps=20, random_state=0)
            .fit(X, y, groups=groups)
            .estimate_
        ),
        lambda X, y, groups: ho.nested_cv(
            LogisticRegression(), X, y, GRID, cv=2, inner=2, groups=groups, random_state=0
        ),
        lambda X, y, groups: ho.bootstrap_search(
            LogisticRegression(), X, y, GRID, cv=2, groups=groups, n_bootstraps=2, random_state=0
        ),
        lambda X, y, groups: ho.bootstrap_validate(
            LogisticRegression(), X, y, groups=groups, n_bootstraps=4, random_state=0
        ),
    ],
    ids=["search", "nested", "bootstrap", "validate"],
)
def test_whatever_fits_matches_columns_and_groups_to_the_target(fitted: Callable[..., Any]) -> None:
    assert str(fitted(X.iloc[ORDER], Y, GROUPS[::-1])) == str(fitted(X, Y, GROUPS))
    with pytest.raises(
        ho.InputError, match=r"^y and X have different row labels \('q0', 'q1', 'q2' … in one only\)"
    ):
        fitted(X.set_axis([f"q{i}" for i in range(N)]), Y, None)


@pytest.mark.parametrize("event", [Y.astype(bool), Y.to_numpy(dtype=bool)], ids=["of both", "of the time alone"])
def test_times_are_matched_to_events(event: Any) -> None:
    asked = {**ASKED, "metric": "concordance_index"}
    expected = ho.estimate((event, WEIGHTS), PREDICTIONS, **asked).value
    time = WEIGHTS[::-1] if isinstance(event, pd.Series) else WEIGHTS
    assert ho.estimate((event, time), PREDICTIONS.iloc[ORDER], **asked).value == expected


@pytest.mark.parametrize(
    "labels",
    [
        pd.IntervalIndex.from_arrays(np.arange(N), np.arange(N) + 2),
        pd.Index([np.nan, *np.arange(5.0, N + 4)]),
    ],
    ids=["overlapping", "missing"],
)
def test_labels_that_overlap_or_are_missing_are_matched(labels: pd.Index[Any]) -> None:
    found = estimate(Y.set_axis(labels), PREDICTIONS.set_axis(labels).iloc[ORDER])
    assert found.value == estimate(Y, PREDICTIONS).value


def test_labels_that_may_be_lost_are_refused_with_both_remedies() -> None:
    shuffled = Y.set_axis(ORDER)
    for y, predictions in (
        (shuffled, PREDICTIONS.reset_index(drop=True)),
        (shuffled.reset_index(drop=True), PREDICTIONS.set_axis(ORDER)),
    ):
        with pytest.raises(ho.InputError, match="one of them counts from 0") as error:
            estimate(y, predictions)
        assert error.value.argument == "predictions"
        assert "predictions.to_numpy()" in str(error.value) and "predictions.reindex(y.index)" in str(error.value)
    assert estimate(shuffled, PREDICTIONS.to_numpy()).value == estimate(Y, PREDICTIONS).value


def test_other_labels_are_refused_and_name_three() -> None:
    other = PREDICTIONS.set_axis([*NAMES[:-1], "stranger"])
    with pytest.raises(ho.InputError, match=r"different row labels \('stranger', 'p59' in one only\)"):
        estimate(Y, other)
    repeated = [f"p{i // 2}" for i in range(N)]
    with pytest.raises(ho.InputError, match=r"repeat row labels \('p29'\) and are not in the same order"):
        estimate(Y.set_axis(repeated), PREDICTIONS.set_axis(repeated[::-1]))


def test_rows_are_taken_by_position_where_labels_are_equal_absent_or_say_nothing() -> None:
    expected = estimate(Y, PREDICTIONS).value
    repeated = [f"p{i // 2}" for i in range(N)]
    pairs = [(f"p{i % 7}", i) for i in range(N)]
    for y, predictions in (
        (Y, PREDICTIONS.to_numpy()),
        (Y.to_numpy(), PREDICTIONS),
        (Y, PREDICTIONS.reset_index(drop=True)),
        (Y.reset_index(drop=True), PREDICTIONS),
        (Y.set_axis(repeated), PREDICTIONS.set_axis(repeated)),
        (Y.set_axis(ORDER), PREDICTIONS.set_axis(ORDER.astype(float))),
        (Y.reset_index(drop=True), PREDICTIONS.set_axis(pd.MultiIndex.from_tuples(pairs))),
        (Y.to_list(), PREDICTIONS.set_axis(ORDER)),
    ):
        assert estimate(y, predictions).value == expected
    halves = train_test_split(X.reset_index(drop=True), Y.reset_index(drop=True), random_state=0)
    search = ho.HeldOutSearchCV(LogisticRegression(), GRID, random_state=0, n_bootstraps=20)
    assert (
        search.fit(halves[0], halves[2]).estimate_.value
        == search.fit(halves[0], halves[2].to_numpy()).estimate_.value
    )


def test_scores_of_splits_are_matched_with_their_repeats() -> None:
    scores = pd.DataFrame(RNG.random((6, 3)), index=list("abcdef"))
    repeats = pd.Series([0, 0, 0, 1, 1, 1], index=list("abcdef"))
    asked: dict[str, Any] = {"greater_is_better": True, "method": "bbc_f", "random_state": 0, "n_bootstraps": 20}
    expected = ho.estimate_from_scores(scores, repeats=repeats, **asked)
    found = ho.estimate_from_scores(scores, repeats=repeats.iloc[[3, 0, 4, 1, 5, 2]], **asked)
    assert found.value == expected.value
    assert_array_equal(found.distribution, expected.distribution)

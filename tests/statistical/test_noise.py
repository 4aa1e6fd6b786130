"""Searches where nothing can be learnt: whatever is selected is right half of the time.

Labels are independent of the columns, and a configuration says whether its column is positive. The expectation of
an estimate that the search does not flatter is exactly .5. A mean fails at four of its standard errors; the best
score, which the search does flatter, is farther away than that in every test, so that a leak of test rows would
show. tests/slow/statistical has these simulations at length, and with models that learn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from known_truth import Column, covers, standard_error
from numpy.typing import NDArray

import heldout as ho


def repetitions(
    protocol: Callable[..., Any], n: int, n_columns: int, times: int, **settings: Any
) -> NDArray[np.float64]:
    """(times, 3): value, uncorrected score, and whether the interval contains .5."""
    lines = []
    for seed in range(times):
        rng = np.random.default_rng([n, n_columns, seed])
        X, y = rng.normal(size=(n, n_columns)), rng.permutation(np.arange(n) % 2)
        grid = {"column": list(range(n_columns))}
        estimate = protocol(
            Column(), X, y, grid, refit=False, random_state=seed, **{"scoring": "accuracy"} | settings
        )
        lines.append(
            [estimate.value, estimate.uncorrected, estimate.interval is not None and 0.5 in estimate.interval]
        )
    return np.array(lines)


def assert_unbiased(lines: NDArray[np.float64]) -> None:
    assert abs(lines[:, 0].mean() - 0.5) < 4 * standard_error(lines[:, 0])
    assert lines[:, 1].mean() - 0.5 > 4 * standard_error(lines[:, 1])


def test_nested_cross_validation_is_not_flattered_by_its_search() -> None:
    assert_unbiased(repetitions(ho.nested_cv, 24, 6, 14, cv=3, interval=None))


def test_one_configuration_across_all_outer_folds_is_as_flattered_as_an_uncorrected_score() -> None:
    """Exactly, where nothing is learned: the inner folds of all outer ones test every row equally often."""
    lines = repetitions(ho.nested_cv, 24, 8, 4, cv=3, interval=None, across="all")
    np.testing.assert_allclose(lines[:, 0], lines[:, 1], rtol=0, atol=1e-12)
    assert lines[:, 0].mean() > 0.6


def test_the_bootstrap_of_a_search_is_not_flattered_by_it() -> None:
    for settings in ({"scheme": "models", "n_bootstraps": 5}, {"cv": 2, "n_bootstraps": 2}):
        assert_unbiased(repetitions(ho.bootstrap_search, 20, 6, 12, **settings))


def test_intervals_of_a_hold_out_inside_a_hold_out_cover() -> None:
    """Of 24 intervals of .9 fewer than 14 contain .5 in 1 of 10 000 runs; of .55 half of the time."""
    for scoring in ("accuracy", "roc_auc"):
        lines = repetitions(
            ho.nested_cv, 90, 5, 24, scoring=scoring, cv=ho.protocols.hold_out(1 / 3), inner="holdout",
            confidence_level=0.9,
        )  # fmt: skip
        assert covers(lines[:, 2].astype(bool), 0.9)


def test_the_number_of_the_deployed_algorithm_flatters_less_than_the_best_nested_score() -> None:
    """Four algorithms of three columns each. The best of four nested scores is .04 too high, .01 by chance."""
    values, best = [], []
    for seed in range(10):
        rng = np.random.default_rng([41, seed])
        X, y = rng.normal(size=(40, 12)), rng.permutation(np.arange(40) % 2)
        algorithms = [(name, Column(), {"column": [j, j + 4, j + 8]}) for j, name in enumerate("abcd")]
        comparison = ho.compare_algorithms(algorithms, X, y, cv=4, refit=False, n_bootstraps=40, random_state=seed)
        values.append(comparison.overall.value)
        best.append(comparison[comparison.deployed].nested)
    assert np.mean(best) - np.mean(values) > 0.01
    assert np.mean(values) - 0.5 < 0.02 + 4 * standard_error(np.array(values))

"""Sums over repetitions, each worked out by hand."""

from math import comb, isnan, sqrt

import numpy as np
import pytest
from corrections_rows import columns_of

from heldout_papers.corrections.matrix import BedCell
from heldout_papers.corrections.summary import CountedShare, ratio_of_roots, results_of, rows_of_cell

NAN = float("nan")
ACCURACY = BedCell("independent", "Be(9, 6)", "accuracy", 40, 10)


def test_bias_error_and_ratio_by_hand() -> None:
    # Errors .1, -.1, .2 and .2, .2, .4 of the reference.
    columns = columns_of(
        2, value=[[0.8, 0.9], [0.6, 0.9], [0.9, 1.1]], truth=[[0.7, 0.7]] * 3, seconds=[[0.3, 0.1]] * 3
    )

    mine, bbc = rows_of_cell(ACCURACY, ["mine", "bbc"], columns)

    assert mine["bias"] == pytest.approx(0.2 / 3)
    assert mine["bias_error"] == pytest.approx(np.std([0.1, -0.1, 0.2], ddof=1) / sqrt(3))
    assert mine["rmse"] == pytest.approx(sqrt(0.06 / 3))
    assert mine["rmse_ratio"] == pytest.approx(sqrt(0.06 / 0.24))
    assert bbc["rmse_ratio"] == 1.0
    assert bbc["rmse_ratio_error"] == pytest.approx(0.0)
    assert (mine["seconds"], bbc["seconds"]) == (0.3, 0.1)
    assert mine["repetitions"] == 3


def test_the_error_of_a_ratio_is_that_of_the_delta_method() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 4000, 300))
    second = second + first

    ratios = [ratio_of_roots(first[:, k], second[:, k]).value for k in range(300)]
    told = [ratio_of_roots(first[:, k], second[:, k]).error for k in range(300)]

    assert np.mean(told) == pytest.approx(np.std(ratios), rel=0.15)


def test_of_a_loss_too_small_an_estimate_flatters() -> None:
    loss = BedCell("tables", "one", "log_loss", 40, 1)

    (row,) = rows_of_cell(loss, ["bbc"], columns_of(1, value=[[0.4], [0.5]], truth=[[0.6], [0.5]]))

    assert row["bias"] == pytest.approx(0.1)


def test_coverage_width_and_bounds_by_hand() -> None:
    columns = columns_of(
        1,
        value=[[0.7]] * 4,
        truth=[[0.5], [0.6], [0.8], [0.9]],
        low_95=[[0.6], [0.6], [0.6], [NAN]],
        high_95=[[0.8], [0.8], [0.6], [NAN]],
        bound_95=[[0.55], [0.55], [0.85], [0.55]],
    )

    (row,) = rows_of_cell(ACCURACY, ["bbc"], columns, levels=[0.95])

    assert row["coverage_95"] == pytest.approx(1 / 3)
    assert (row["intervals_95"], row["no_width_95"]) == (3, 1)
    assert row["width_95"] == pytest.approx(0.4 / 3)
    assert row["coverage_bound_95"] == pytest.approx(2 / 4)
    assert row["width_bound_95"] == pytest.approx(np.mean([-0.05, 0.05, -0.05, 0.35]))


def test_of_a_loss_a_bound_holds_from_above() -> None:
    loss = BedCell("tables", "one", "log_loss", 40, 1)
    columns = columns_of(1, value=[[0.5]] * 2, truth=[[0.5], [0.8]], bound_95=[[0.7], [0.7]])

    (row,) = rows_of_cell(loss, ["bbc"], columns, levels=[0.95])

    assert row["coverage_bound_95"] == 0.5


def test_errors_are_divided_by_the_scale_and_catastrophes_are_moderated() -> None:
    # In units of the target's deviation, 10: .5 and .6; then .5 and 50, which counts as 2.
    cell = BedCell("tables", "varied", "root_mean_squared_error", 40, 58)
    columns = columns_of(1, value=[[5.0], [5.0]], truth=[[6.0], [500.0]], scale=[[10.0], [10.0]])

    (row,) = rows_of_cell(cell, ["bbc"], columns)

    assert row["bias"] == pytest.approx((0.1 + 1.5) / 2)
    assert row["plain_bias"] == pytest.approx((0.1 + 49.5) / 2)
    assert row["catastrophes"] == 1


def test_what_is_missing_is_counted() -> None:
    columns = columns_of(1, value=[[0.7], [NAN]], truth=[[0.7], [NAN]])

    (row,) = rows_of_cell(ACCURACY, ["bbc"], columns)

    assert (row["repetitions"], row["no_value"]) == (1, 1)
    assert isnan(row["bias_error"])
    assert len(results_of("accuracy", columns, 0).errors) == 2


def test_the_binomial_test_is_exact() -> None:
    p = sum(comb(400, k) * 0.94**k * 0.06 ** (400 - k) for k in range(360))

    assert CountedShare(359, 400).p_below(0.94) == pytest.approx(p)
    assert CountedShare(400, 400).p_below(0.94) == 1.0


def test_a_share_of_all_has_an_error_too() -> None:
    assert CountedShare(400, 400).error == pytest.approx(sqrt(402 / 404 * 2 / 404 / 404))

"""Flags for rows that decide a score by themselves."""

import numpy as np
import pytest

import heldout as ho
from heldout.estimates.data_flags import ENOUGH, FEWEST_SHARE, effective_errors

RNG = np.random.default_rng(0)
N = 60
Y = np.tile([0, 1, 1], N // 3)
SURE = np.where(RNG.random((N, 3)) < 0.9, Y[:, None], 1 - Y[:, None]).astype(float)
FOLDS = np.arange(N) // 10
FAST = {"random_state": 0, "folds": FOLDS}
VALUES = RNG.normal(size=N)
HEAVY = VALUES[:, None] + np.r_[30.0, np.zeros(N - 1)][:, None] + RNG.normal(size=(N, 3))


@pytest.mark.parametrize("method", ["bbc", "tt"])
def test_clipped_losses_are_counted_for_every_method(method):
    found = ho.estimate(Y, SURE, metric="log_loss", method=method, **FAST)
    wrong = int((SURE[:, found.selected] != Y).sum())
    assert wrong > 0
    assert (
        f"For {wrong} of {N} predictions of {found.selected_name} this constant"
        in found.flags["clipped_probabilities"]
    )
    for metric, table in (("brier_score", SURE), ("log_loss", np.clip(SURE, 1e-9, 1 - 1e-9))):
        assert "clipped_probabilities" not in ho.estimate(Y, table, metric=metric, method=method, **FAST).flags


def test_a_winner_without_clipped_rows_hides_none_of_those_that_bootstraps_choose():
    table = np.c_[Y.astype(float), SURE]
    found = ho.estimate(Y, table, metric="log_loss", **FAST)
    clipped = int(np.median((table != Y[:, None]).sum(axis=0)))
    assert found.selected == 0 and found.uncorrected < 1e-12
    assert f"{clipped} of {N} predictions of the median configuration" in found.flags["clipped_probabilities"]


def test_probabilities_of_1_for_the_true_class_are_no_matter():
    found = ho.estimate(Y, Y[:, None].astype(float), metric="log_loss", **FAST)
    assert found.value < 1e-12 and "clipped_probabilities" not in found.flags
    slope = ho.estimate(Y, SURE[:, :1], metric="calibration_slope", method="cv")
    assert f"{N} of {N} predictions" in slope.flags["clipped_probabilities"]  # all log-odds are that constant
    values = ho.estimate(VALUES, HEAVY[:, :1], metric="calibration_slope", method="cv")
    assert "clipped_probabilities" not in values.flags


def test_clipping_of_several_classes_repeats_and_averages():
    y = np.tile([0, 1, 2], 20)
    table = np.eye(3)[np.where(RNG.random((60, 2)) < 0.8, y[:, None], (y[:, None] + 1) % 3)]
    found = ho.estimate(y, table[:, :, None, :], metric="neg_log_loss", random_state=0)
    wrong = int((table[:, found.selected].argmax(axis=1) != y).sum())
    assert f"{wrong} of 60 " in found.flags["clipped_probabilities"]
    twice = ho.estimate(Y, np.stack([SURE, SURE], axis=2), metric="log_loss", random_state=0)
    n_wrong = 2 * int((SURE[:, twice.selected] != Y).sum())
    assert f"{n_wrong} of {2 * N} " in twice.flags["clipped_probabilities"]
    opposite = np.c_[SURE[:, 0], 1 - SURE[:, 0]]
    average = ho.estimate(
        Y, opposite, metric="log_loss", selection="top_k(k=2)", response="probabilities", random_state=0
    )
    assert average.uncorrected == pytest.approx(np.log(2)) and "clipped_probabilities" not in average.flags


def test_rows_of_weight_0_are_not_counted():
    weights = np.where((SURE != Y[:, None]).any(axis=1), 0.0, 1.0)
    found = ho.estimate(Y, SURE, metric="log_loss", sample_weight=weights, random_state=0)
    assert "clipped_probabilities" not in found.flags


@pytest.mark.parametrize(("metric", "method"), [("r2", "bbc"), ("neg_root_mean_squared_error", "tt")])
def test_few_rows_that_carry_squared_errors_are_flagged(metric, method):
    found = ho.estimate(VALUES, HEAVY, metric=metric, method=method, **FAST)
    assert f"as if 1 of {N} rows made all of them" in found.flags["few_rows_carry"]
    usual = ho.estimate(VALUES[1:], HEAVY[1:], metric=metric, method=method, folds=FOLDS[1:], random_state=0)
    assert "few_rows_carry" not in usual.flags
    assert "few_rows_carry" not in ho.estimate(VALUES, HEAVY, metric="mean_absolute_error", **FAST).flags


def test_a_winner_without_the_large_error_of_all_others_is_flagged_too():
    table = np.c_[HEAVY, VALUES + RNG.normal(size=N)]
    found = ho.estimate(VALUES, table, metric="r2", random_state=0)
    assert found.selected == 3 and "the median configuration" in found.flags["few_rows_carry"]


def test_many_rows_are_enough_at_any_share():
    errors = RNG.standard_t(4, size=20_000)
    assert ENOUGH < effective_errors(errors**2) < FEWEST_SHARE * len(errors) * 2
    found = ho.estimate(
        np.zeros(20_000), errors[:, None], metric="mean_squared_error", n_bootstraps=20, random_state=0
    )
    assert "few_rows_carry" not in found.flags


@pytest.mark.parametrize("n_rows", [10, 30, 100, 300])
def test_normal_errors_are_flagged_in_less_than_1_percent_of_samples(n_rows):
    """Of 4000 samples at most 60 may be flagged: more would be so by chance once in 900 at 1 %."""
    squares = np.random.default_rng(n_rows).normal(size=(4000, n_rows)) ** 2
    effective = np.array([effective_errors(each) for each in squares])
    assert (effective < min(FEWEST_SHARE * n_rows, ENOUGH)).sum() <= 60


def test_errors_that_are_0_or_infinite_carry_nothing():
    assert np.isnan(effective_errors(np.zeros(5))) and np.isnan(effective_errors(np.array([1.0, np.inf])))
    perfect = ho.estimate(VALUES, VALUES[:, None], metric="r2", random_state=0)
    assert "few_rows_carry" not in perfect.flags

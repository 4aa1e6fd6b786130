"""Blocks of consecutive rows, against plain loops, the draws of single rows, and variances that are known."""

import numpy as np
import pytest

from heldout.kernels.dispatch import draw_units
from heldout.selection.bootstrap_draws import Draws, RowBlocks, always

SEED = 11


def words(b, attempt, purpose, size):
    key, counter = np.array([SEED, b], dtype=np.uint64), np.array([0, 0, attempt, purpose], dtype=np.uint64)
    return [int(word) for word in np.random.Philox(key=key, counter=counter).random_raw(size)]


def drawn_one_by_one(length, kind, b, attempt, n):
    """The specification: block after block, row after row, in exact integers."""
    counts, left, place = [0] * n, n, 0
    while left:
        start = words(b, attempt, 0, place + 1)[place] * (n - length + 1 if kind == "moving" else n) // 2**64
        size = length
        if kind == "stationary" and length > 1:
            uniform = ((words(b, attempt, 1, place + 1)[place] >> 11) + 1) / 2**53
            size = min(1 + int(np.floor(np.log(uniform) / np.log1p(-1 / length))), n)
        for row in range(start, start + min(size, left)):
            counts[row % n] += 1
        left -= min(size, left)
        place += 1
    return counts


@pytest.mark.parametrize("kind", ["moving", "stationary"])
@pytest.mark.parametrize(("length", "n"), [(3, 10), (5, 10), (2, 31), (7, 100)])
def test_counts_are_those_of_a_plain_loop(kind, length, n):
    bootstraps = np.array([0, 1, 5, 2**40], dtype=np.uint64)

    counts = RowBlocks(length, kind).counts(SEED, bootstraps, 2, n)

    assert counts.dtype == np.uint8
    assert counts.tolist() == [drawn_one_by_one(length, kind, int(b), 2, n) for b in bootstraps]
    assert (counts.sum(axis=1) == n).all()


@pytest.mark.parametrize("kind", ["moving", "stationary"])
def test_blocks_of_one_row_are_the_draws_of_single_rows(kind):
    bootstraps = np.arange(40, dtype=np.uint64)

    assert (RowBlocks(1, kind).counts(SEED, bootstraps, 3, 57) == draw_units(SEED, bootstraps, 3, 57)).all()


def test_an_undefined_draw_is_drawn_again_in_blocks():
    draws = Draws(SEED, 40, np.arange(20), lambda c: c[:, 0] > 0, always, row_blocks=RowBlocks(5, "moving"))
    counts, redraws = draws.block(0, 40)

    assert redraws > 0
    assert (counts[:, 0] > 0).all()
    first = RowBlocks(5, "moving").counts(SEED, np.arange(40, dtype=np.uint64), 0, 20)
    kept = first[:, 0] > 0
    assert (counts[kept] == first[kept]).all()


def test_the_first_and_last_rows_are_drawn_as_often_only_by_the_stationary_kind():
    bootstraps = np.arange(5_000, dtype=np.uint64)
    stationary = RowBlocks(5, "stationary").counts(SEED, bootstraps, 0, 20).mean(axis=0)
    moving = RowBlocks(5, "moving").counts(SEED, bootstraps, 0, 20).mean(axis=0)

    assert np.abs(stationary - 1).max() < 0.08  # four standard errors
    assert moving[0] == pytest.approx(4 / 16, abs=0.06)  # one of 16 starts holds it, in 4 blocks


def test_the_variance_of_a_stationary_mean_is_that_of_politis_and_romano():
    """Equation 6: (1/n) Σ over lags of (1 - k/n) (1 - 1/L)^k times the circular autocovariance, both sides of 0."""
    rng, n, length = np.random.default_rng(0), 40, 6
    values = np.cumsum(rng.normal(size=n))
    errors = values - values.mean()
    circular = np.array([errors @ np.roll(errors, -lag) for lag in range(n)]) / n
    lags = np.arange(1, n)
    known = (circular[0] + 2 * ((1 - lags / n) * (1 - 1 / length) ** lags) @ circular[1:]) / n

    counts = RowBlocks(length, "stationary").counts(SEED, np.arange(5_000, dtype=np.uint64), 0, n)

    assert (counts @ values / n).var() == pytest.approx(known, rel=0.08)  # 4 √(2/5000)


def test_the_variance_of_a_moving_mean_is_that_of_the_means_of_blocks():
    rng, n, length = np.random.default_rng(1), 42, 6
    values = np.cumsum(rng.normal(size=n))
    of_blocks = np.convolve(values, np.ones(length) / length, mode="valid")
    known = of_blocks.var() / (n / length)

    counts = RowBlocks(length, "moving").counts(SEED, np.arange(5_000, dtype=np.uint64), 0, n)

    assert (counts @ values / n).mean() == pytest.approx(of_blocks.mean(), abs=4 * np.sqrt(known / 5_000))
    assert (counts @ values / n).var() == pytest.approx(known, rel=0.08)

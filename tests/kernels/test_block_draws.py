"""Draws from a table in blocks, and sums over bins: both kinds of kernels, by definition and by distribution."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from heldout.kernels import reference_blocks
from heldout.kernels.block_draws import BlockDraws
from heldout.kernels.dispatch import draw_units


@pytest.fixture(params=["numpy", "compiled"])
def blocks(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "numpy":
        return reference_blocks
    try:
        importlib.import_module("heldout.kernels._core").split_draws  # noqa: B018
    except (ImportError, AttributeError):
        pytest.skip("this installation was built without a C++ compiler")
    return importlib.import_module("heldout.kernels.compiled")


def digits(seed: int, b: int, attempt: int):
    """The split's stream, digit by digit in Python's integers; each step begins at a new word."""
    stream = np.random.Philox(
        key=np.array([seed, b], dtype=np.uint64), counter=np.array([0, 0, attempt, 2**63], dtype=np.uint64)
    )

    def take(n: int) -> list[int]:
        words = [int(word) for word in np.atleast_1d(stream.random_raw(-(-n // 64)))]
        return [words[i // 64] >> (i % 64) & 1 for i in range(n)]

    return take


def split_by_definition(seed: int, b: int, attempt: int, sizes: list[int]) -> list[int]:
    """Each draw spells a binary fraction until it is known to lie below the share of the first half or not."""
    take = digits(seed, b, attempt)

    def among(sizes: list[int], draws: int) -> list[int]:
        if len(sizes) == 1:
            return [draws]
        half = len(sizes) // 2
        part, whole = sum(sizes[:half]), sum(sizes)
        undecided, below = draws, 0
        while undecided and part:
            digit, part = divmod(2 * part, whole)
            drawn = take(undecided)
            below += sum(one < digit for one in drawn)
            undecided = sum(one == digit for one in drawn)
        return among(sizes[:half], below) + among(sizes[half:], draws - below)

    return among(sizes, sum(sizes))


@pytest.mark.parametrize(("n", "block"), [(10, 10), (10, 3), (1, 1), (64, 32), (65, 64), (129, 1), (1000, 77)])
def test_a_split_follows_its_definition(blocks: ModuleType, n: int, block: int) -> None:
    sizes = [min(block, n - first) for first in range(0, n, block)]
    bootstraps = np.array([0, 5, 2**40], dtype=np.uint64)
    for attempt in (0, 3):
        totals = blocks.split_draws(2**63 + 1, bootstraps, attempt, n, block)
        assert totals.tolist() == [split_by_definition(2**63 + 1, int(b), attempt, sizes) for b in bootstraps]


def test_the_split_of_a_published_estimate_stays_the_same(blocks: ModuleType) -> None:
    assert blocks.split_draws(20180709, np.arange(2, dtype=np.uint64), 0, 100, 30).tolist() == [
        [34, 29, 30, 7],
        [31, 36, 24, 9],
    ]


def test_draws_within_a_block_are_philox_with_the_number_of_the_block(blocks: ModuleType) -> None:
    bootstraps, totals = np.array([0, 9], dtype=np.uint64), np.array([13, 0])
    counts = blocks.draw_block(4, bootstraps, 2, 7, totals, 5)
    stream = np.random.Philox(
        key=np.array([4, 0], dtype=np.uint64), counter=np.array([0, 0, 2, 7], dtype=np.uint64)
    )
    expected = np.bincount([int(raw) * 5 >> 64 for raw in stream.random_raw(13)], minlength=5)
    assert counts.tolist() == [expected.tolist(), [0] * 5]


def test_more_draws_of_a_row_than_a_byte_holds_are_refused(blocks: ModuleType) -> None:
    with pytest.raises(OverflowError, match="255"):
        blocks.draw_block(4, np.zeros(1, dtype=np.uint64), 0, 0, np.array([256]), 1)
    assert blocks.draw_block(4, np.zeros(1, dtype=np.uint64), 0, 0, np.array([255]), 1).tolist() == [[255]]


def test_a_table_of_one_block_has_the_draws_of_a_table_in_memory() -> None:
    draws, b = BlockDraws(seed=11, n_rows=97), np.arange(6, dtype=np.uint64)
    for attempt in (0, 1):
        counts = draws.counts(0, b, attempt, draws.totals(b, attempt)[:, 0])
        assert np.array_equal(counts, draw_units(11, b, attempt, 97))


def test_counts_over_blocks_are_multinomial() -> None:
    """Of 20 rows in blocks of 8, 8 and 4: chi-square tests of how often each row is drawn (19 degrees of freedom),
    of the variance of a row's count, and of the covariance of rows of one block and of two. Each fails for one seed
    in 1000, so all of them for at most one in 200; the seed is fixed."""
    draws, n, B = BlockDraws(seed=5, n_rows=20, block_rows=8), 20, 20_000
    b = np.arange(B, dtype=np.uint64)
    totals = draws.totals(b, 0)
    counts = np.concatenate([draws.counts(k, b, 0, totals[:, k]) for k in range(3)], axis=1).astype(float)
    assert (counts.sum(axis=1) == n).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 0.001
    centred = counts - 1
    limit = stats.norm.isf(0.0005)
    spread = (centred**2).sum(axis=1)
    assert abs(spread.mean() - (n - 1)) < limit * spread.std() / np.sqrt(B)
    for rows in ((0, 7), (0, 12), (9, 19)):  # one block, two whole ones, one of them short
        product = centred[:, rows[0]] * centred[:, rows[1]]
        assert abs(product.mean() + 1 / n) < limit * product.std() / np.sqrt(B)


def test_totals_have_the_moments_of_a_binomial() -> None:
    """Of 3 million rows in blocks of 65 536, 200 bootstraps: the standardised totals of the whole blocks are 9000
    numbers of mean 0 and variance 1 (each within four standard errors, which one seed in 8000 is not)."""
    n = 3_000_000
    totals = BlockDraws(seed=6, n_rows=n).totals(np.arange(200, dtype=np.uint64), 0)
    share = 65_536 / n
    z = (totals[:, :-1] - n * share) / np.sqrt(n * share * (1 - share))
    assert (totals.sum(axis=1) == n).all()
    assert abs(z.mean()) < 4 / np.sqrt(200)  # totals of one bootstrap share a sum, so they are not independent
    assert abs((z**2).mean() - 1) < 4 * np.sqrt(2 / z.size)


@pytest.mark.parametrize("n_cuts", [1, 2, 3, 7, 8, 100])
def test_a_bin_is_the_number_of_cuts_not_above(blocks: ModuleType, n_cuts: int) -> None:
    rng = np.random.default_rng(n_cuts)
    values = rng.normal(size=(500, 3)).round(1)
    cuts = np.sort(rng.normal(size=(3, n_cuts)).round(1), axis=1)
    cuts[1, n_cuts // 2 :] = np.inf
    by_definition = (cuts[None, :, :] <= values[:, :, None]).sum(axis=2)
    assert np.array_equal(blocks.find_bins(values, cuts), by_definition)


@pytest.mark.parametrize("n_lanes", [1, 64, 70])
def test_sums_over_bins_are_counts_and_numbers_of_rows(blocks: ModuleType, n_lanes: int) -> None:
    rng = np.random.default_rng(n_lanes)
    counts = rng.poisson(1.0, (n_lanes, 300)).astype(np.uint8)
    counts[0] = 255  # 16 bits hold 257 of them
    cells = rng.integers(0, 5, (300, 2)).astype(np.uint16)
    in_bag, out_of_bag = np.ones((2, 5, n_lanes), dtype=np.uint32), np.zeros((2, 5, n_lanes), dtype=np.uint32)
    blocks.add_bin_sums(counts, cells, in_bag, out_of_bag)
    for j in range(2):
        for cell in range(5):
            rows = cells[:, j] == cell
            assert in_bag[j, cell].tolist() == (1 + counts[:, rows].sum(axis=1, dtype=int)).tolist()
            assert out_of_bag[j, cell].tolist() == (counts[:, rows] == 0).sum(axis=1).tolist()


def test_cells_that_have_no_sum_are_refused() -> None:
    compiled = pytest.importorskip("heldout.kernels.compiled")
    counts, sums = np.ones((1, 2), dtype=np.uint8), np.zeros((1, 3, 1), dtype=np.uint32)
    with pytest.raises(ValueError, match="a cell must be from 0 to 2, got 3"):
        compiled.add_bin_sums(counts, np.array([[0], [3]], dtype=np.uint16), sums, sums.copy())
    with pytest.raises(ValueError, match="sums must have shape"):
        compiled.add_bin_sums(counts, np.zeros((2, 2), dtype=np.uint16), sums, sums.copy())

"""Bootstrap draws: redraws, groups, strata, and blocks spread over threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from twins import counts_by_definition

from heldout.selection import bootstrap_draws as draws_module
from heldout.selection.bootstrap_draws import MOST_ATTEMPTS, Draws, UndefinedDrawsError, map_blocks, out_of_bag


def always(counts: np.ndarray) -> np.ndarray:
    return np.ones(len(counts), dtype=bool)


def rows(n: int, seed: int = 3, defined=always) -> Draws:
    return Draws(seed, 100, np.arange(n), defined_in_bag=defined, defined_out_of_bag=always)


def test_blocks_of_any_size_give_the_same_draws() -> None:
    whole, _ = rows(20).block(0, 100)
    assert (whole.sum(axis=1) == 20).all()
    for size in (1, 7, 64):
        parts = [rows(20).block(first, min(first + size, 100))[0] for first in range(0, 100, size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_redrawing_one_bootstrap_moves_no_other() -> None:
    freely, no_redraws = rows(6).block(0, 100)
    # Undefined without row 0: about a third of the draws, each of which must go to its own next attempt.
    bound, redraws = rows(6, defined=lambda counts: counts[:, 0] > 0).block(0, 100)
    kept = freely[:, 0] > 0
    assert no_redraws == 0
    assert redraws >= (~kept).sum() > 0
    np.testing.assert_array_equal(bound[kept], freely[kept])
    assert (bound[:, 0] > 0).all()
    first_redrawn = int(np.flatnonzero(~kept)[0])
    attempts = [counts_by_definition(3, first_redrawn, attempt, 6) for attempt in range(1, 50)]
    assert bound[first_redrawn].tolist() == next(counts for counts in attempts if counts[0] > 0)


def test_the_left_out_rows_must_be_defined_too() -> None:
    draws = Draws(3, 100, np.arange(5), defined_in_bag=always, defined_out_of_bag=lambda left: left[:, 1] > 0)
    counts, _ = draws.block(0, 100)
    assert (counts[:, 1] == 0).all()


def test_a_draw_that_is_never_defined_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def never(counts: np.ndarray) -> np.ndarray:
        asked.append(len(counts))
        return np.zeros(len(counts), dtype=bool)

    with pytest.raises(UndefinedDrawsError, match=f"bootstrap 40 .* {MOST_ATTEMPTS} attempts") as caught:
        rows(3, defined=never).block(40, 42)
    assert caught.value.bootstrap == 40
    assert len(asked) == draws_module.MOST_ATTEMPTS


def test_groups_are_drawn_whole() -> None:
    groups = np.array([0, 1, 1, 2, 2, 2])
    counts, _ = Draws(5, 50, groups, defined_in_bag=always, defined_out_of_bag=always).block(0, 50)
    units, _ = rows(3, seed=5).block(0, 50)
    np.testing.assert_array_equal(counts, units[:, groups])


def test_out_of_bag_is_one_where_nothing_was_drawn() -> None:
    assert out_of_bag(np.array([[0, 3, 1, 0]], dtype=np.uint8)).tolist() == [[1, 0, 0, 1]]


def stratified(strata: list[int], seed: int = 3, defined=always, n_bootstraps: int = 60) -> Draws:
    codes = np.array(strata)
    return Draws(seed, n_bootstraps, np.arange(len(codes)), defined, always, stratum_of_unit=codes)


def counts_of_stratum(seed: int, b: int, attempt: int, stratum: int, n: int) -> list[int]:
    return counts_by_definition(seed, b, attempt + 2**32 * stratum, n)


def test_each_stratum_is_drawn_from_its_own_stream() -> None:
    strata = [0, 2, 1, 0, 2, 2, 0, 0]
    counts, redraws = stratified(strata).block(0, 60)
    assert redraws == 0
    for stratum, size in ((0, 4), (1, 1), (2, 3)):
        mine = counts[:, np.array(strata) == stratum]
        assert (mine.sum(axis=1) == size).all()
        assert mine.tolist() == [counts_of_stratum(3, b, 0, stratum, size) for b in range(60)]


def test_a_stratified_redraw_is_the_next_attempt_of_every_stratum() -> None:
    strata = [0, 0, 1, 1, 1]
    counts, _ = stratified(strata, defined=lambda counts: counts[:, 4] > 0).block(0, 60)
    for b in range(60):
        attempt = next(a for a in range(1000) if counts_of_stratum(3, b, a, 1, 3)[2] > 0)
        expected = counts_of_stratum(3, b, attempt, 0, 2) + counts_of_stratum(3, b, attempt, 1, 3)
        assert counts[b].tolist() == expected


def test_groups_are_drawn_whole_within_strata() -> None:
    groups, strata = np.array([0, 1, 1, 2, 2, 2]), np.array([0, 0, 1])
    counts, _ = Draws(5, 50, groups, always, always, stratum_of_unit=strata).block(0, 50)
    units, _ = stratified([0, 0, 1], seed=5).block(0, 50)
    np.testing.assert_array_equal(counts, units[:, groups])
    assert (counts[:, 3:] == 1).all()  # the one group of its stratum is drawn always


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_bootstraps(n_threads: int) -> None:
    found = map_blocks(lambda first, last: list(range(first, last)), 23, n_threads=n_threads, block=4)
    assert [len(part) for part in found] == [4, 4, 4, 4, 4, 3]
    assert [b for part in found for b in part] == list(range(23))


def test_blocks_run_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=30)
    assert map_blocks(lambda first, last: together.wait() >= 0, 2, n_threads=2, block=1) == [True, True]


def test_one_thread_is_the_callers_own() -> None:
    caller = threading.get_ident()
    assert set(map_blocks(lambda first, last: threading.get_ident(), 4, n_threads=1, block=1)) == {caller}


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_first_block_that_fails_is_the_one_reported(
    n_threads: int, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, cancelled = [], threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, *arguments: Any, **settings: Any) -> None:
            if settings.get("cancel_futures"):
                super().shutdown(*arguments, **settings)
                cancelled.set()
            super().shutdown()

    def fail(first: int, last: int) -> None:
        begun.append(first)
        if first > 1:
            assert cancelled.wait(timeout=60)  # or the other thread could be done with all blocks before
        if first >= 1:
            raise error(f"block {first}")

    monkeypatch.setattr(draws_module, "ThreadPoolExecutor", Pool)
    with pytest.raises(error, match=r"block 1$"):
        map_blocks(fail, 1000, n_threads=n_threads, block=1)
    assert len(begun) <= 2 + n_threads  # the rest was cancelled


def test_no_bootstraps_no_blocks() -> None:
    assert map_blocks(lambda first, last: 1, 0, n_threads=2) == []
    with pytest.raises(ValueError, match="at least 1, got 0"):
        map_blocks(lambda first, last: 1, 10, n_threads=1, block=0)

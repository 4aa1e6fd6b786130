from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import joblib
import pytest

from heldout.kernels import blocks
from heldout.kernels.blocks import effective_threads, map_blocks


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_bootstraps(n_threads: int) -> None:
    blocks = map_blocks(lambda first, last: list(range(first, last)), 23, n_threads=n_threads, block=4)
    assert [len(part) for part in blocks] == [4, 4, 4, 4, 4, 3]
    assert [b for part in blocks for b in part] == list(range(23))


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

    monkeypatch.setattr(blocks, "ThreadPoolExecutor", Pool)
    with pytest.raises(error, match=r"block 1$"):
        map_blocks(fail, 1000, n_threads=n_threads, block=1)
    assert len(begun) <= 2 + n_threads  # the rest was cancelled


def test_no_bootstraps_no_blocks() -> None:
    assert map_blocks(lambda first, last: 1, 0, n_threads=2) == []
    with pytest.raises(ValueError, match="at least 1, got 0"):
        map_blocks(lambda first, last: 1, 10, n_threads=1, block=0)


def test_threads_are_counted_as_joblib_counts_jobs() -> None:
    assert effective_threads(None) == 1
    assert effective_threads(1) == 1
    assert effective_threads(-1) == joblib.cpu_count()
    assert effective_threads(10**6) == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=2):
        assert effective_threads(None) == min(2, joblib.cpu_count())


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_worker_has_one_thread(backend: str) -> None:
    tasks = (joblib.delayed(effective_threads)(n_jobs) for n_jobs in (-1, None, 2))
    assert joblib.Parallel(n_jobs=2, backend=backend)(tasks) == [1, 1, 1]

"""One thread a cell: limits for BLAS, OpenMP and joblib while cells run side by side."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from joblib import parallel_config
from threadpoolctl import ThreadpoolController


@contextmanager
def on_one_thread() -> Iterator[None]:
    """One thread for BLAS, OpenMP and joblib."""
    # Cells run side by side. An estimator with its own workers (a forest with n_jobs=-1, a search in the search)
    # would start n_jobs times as many as there are cores. And a forest adds the votes of its trees in the order in
    # which its threads finish, so that the last digits would depend on their number.
    with single_threaded(), parallel_config("sequential", n_jobs=1):
        yield


@contextmanager
def single_threaded() -> Iterator[None]:
    """One thread for BLAS and OpenMP, until the last user of this limit leaves."""
    controller = _controller(len(sys.modules))
    # Each thread has its own limit for OpenMP, but the process has one for BLAS: a cell that ends must not lift it
    # for the cells beside it.
    with controller.select(user_api="openmp").limit(limits=1):
        _BLAS.enter(controller)
        try:
            yield
        finally:
            _BLAS.leave()


class _LimitOfBlas:
    """One thread for BLAS while at least one user needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._limited: ThreadpoolController | None = None
        self._limits = ExitStack()

    def enter(self, controller: ThreadpoolController) -> None:
        with self._lock:
            if controller is not self._limited:  # the first user, or a library was loaded meanwhile
                self._limits.enter_context(controller.select(user_api="blas").limit(limits=1))
                self._limited = controller
            self._n_inside += 1

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if not self._n_inside:
                self._limited = None
                self._limits.close()


_BLAS = _LimitOfBlas()


@functools.lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    # A search for libraries takes milliseconds; there are new ones only after an import.
    return ThreadpoolController()

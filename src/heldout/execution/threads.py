"""One thread a cell: limits for BLAS, OpenMP and joblib while cells run side by side.

LightGBM, XGBoost and CatBoost start the threads that their own parameter says, whatever the limits are. So it is
set on the model that a cell fits, and on models inside it.
"""

import functools
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import Any

from joblib import parallel_config
from threadpoolctl import ThreadpoolController

BOOSTERS: Mapping[str, str] = MappingProxyType(
    {"lightgbm": "n_jobs", "xgboost": "n_jobs", "catboost": "thread_count"}
)
"""The packages whose models take no limit from outside, and the parameter that says how many threads they start."""
THREAD_PARAMETERS = frozenset({"n_jobs", "nthread", "nthreads", "num_thread", "num_threads", "thread_count"})
"""This parameter by all its names."""


def with_one_thread(model: Any, but: Collection[str] = ()) -> Any:
    """The unfitted model, with one thread for each booster inside; ``but``: parameters to leave as they are."""
    held = {name: 1 for name in threads_of_boosters(model) if name not in but}
    return model.set_params(**held) if held else model


def threads_of_boosters(model: Any) -> dict[str, Any]:
    """The parameters for the threads of boosters, also those inside of pipelines, and their values."""
    # Of two views Python walks through the shorter; it would ask each of some thousand modules of the dictionary.
    if BOOSTERS.keys().isdisjoint(sys.modules.keys()):
        return {}
    params = model.get_params(deep=True).items()
    parts = {f"{name}__": part for name, part in params if hasattr(part, "get_params")}
    found: dict[str, Any] = {}
    for front, part in {"": model, **parts}.items():
        if isinstance(part, type):
            continue
        packages = {base.__module__.partition(".")[0] for base in type(part).__mro__} & BOOSTERS.keys()
        for package in packages:
            values = part.get_params(deep=False)
            for name in {BOOSTERS[package]} | (THREAD_PARAMETERS & values.keys()):
                found[front + name] = values.get(name)
    return found


def asks_for_threads(model: Any) -> bool:
    """Whether a model, or a part of it, would take several threads if a cell let it."""
    boosters = threads_of_boosters(model)
    given = model.get_params(deep=True).items()
    others = [value for name, value in given if name not in boosters and name.rpartition("__")[2] == "n_jobs"]
    return any(value != 1 for value in boosters.values()) or any(value not in (None, 1) for value in others)


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

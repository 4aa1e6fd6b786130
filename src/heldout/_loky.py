"""The private names of joblib and its loky that heldout reads: imports and attributes. No other file reads one.

All were read in joblib 1.4 to 1.5, which brings loky 3.4 to 3.5. Tests end, kill and fork such
workers; tests/contracts/test_private_names.py says which name is missing.
"""

from collections.abc import Callable
from typing import Any

from joblib.externals.loky.backend import resource_tracker
from joblib.externals.loky.backend.context import LokyContext
from joblib.externals.loky.process_executor import ShutdownExecutorError

WORKERS_ENDED = ShutdownExecutorError
"""Raised for tasks of workers that another thread has ended. If it goes: RuntimeError, from which it derives."""


def gives_results_one_by_one(parallel: Any) -> bool:
    """Whether results come as they are made; not so of Ray. If it goes: ``return_as`` with an error caught."""
    return bool(getattr(parallel._backend, "supports_return_generator", False))


def set_first_call(parallel: Any, function: Callable[..., None], *args: Any) -> None:
    """What the workers of an entered ``Parallel`` do first, where they are children of this process.

    The pool stays the one that other users of joblib share; an initializer that is passed to joblib would replace
    it. Workers that a server forks are not our children. If it goes: workers outlive a killed parent by loky's
    timeout.
    """
    pool: Any = getattr(parallel._backend, "_workers", None)
    if isinstance(getattr(pool, "_context", None), LokyContext) and pool._initializer is None:
        pool._initializer, pool._initargs = function, args


def track_folder(folder: str) -> None:
    """Have loky's tracker remove a folder when this process ends. If it goes: the next run removes the folder."""
    resource_tracker.register(folder, "folder")


def forget_folder(folder: str) -> None:
    """Undo ``track_folder``."""
    resource_tracker.unregister(folder, "folder")

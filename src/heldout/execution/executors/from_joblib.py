"""The executor of every run: cells run on joblib's active backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from heldout import _defaults
from heldout.data.checks import check_jobs, check_timeout
from heldout.errors import InputError
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.executors.base import Executor
from heldout.execution.executors.local import Elsewhere, Here, Processes, Threads
from heldout.execution.fit import Work

_PROCESSES = ("LokyBackend", "MultiprocessingBackend")
_DASK = "DaskDistributedBackend"
_MOST_JOBS = 10_000


class JoblibExecutor:
    """Does cells with the joblib backend that is active when it is entered.

    - ``n_jobs``, ``pre_dispatch``: as for ``joblib.Parallel``. One job runs in the calling process.
    - ``fit_timeout``: seconds after which a cell is stopped and recorded as failed: by an exception, or if that has
      no effect by ending its worker. It needs worker processes; with one job it uses one. A cluster tries a cell
      whose worker ended a few times more before the cell fails.

    Raises InputError when ``n_jobs`` is no number of jobs, ``fit_timeout`` is not above 0, or there are no worker
    processes for it.

    Examples
    --------
    >>> JoblibExecutor(n_jobs=2, fit_timeout=60)
    JoblibExecutor(n_jobs=2, fit_timeout=60)
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        pre_dispatch: int | str = _defaults.PRE_DISPATCH,
        fit_timeout: float | None = None,
    ) -> None:
        check_timeout(fit_timeout)
        check_jobs(n_jobs)
        if n_jobs is not None and n_jobs > _MOST_JOBS:
            raise InputError(
                f"n_jobs must be at most {_MOST_JOBS:,}, got {n_jobs}; -1 uses every core.", argument="n_jobs"
            )
        self.n_jobs = n_jobs
        self.pre_dispatch = pre_dispatch
        self.fit_timeout = None if fit_timeout is None else float(fit_timeout)
        self._engine: Executor | None = None
        self._results: Iterator[CellResult] = iter(())

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``; close it if it is not exhausted, which ends the workers."""
        assert self._engine is not None, "an executor is a context manager"
        self._results = self._engine.run(work, cells)
        return self._results

    def __enter__(self) -> JoblibExecutor:
        self._engine = self._engine_of(get_active_backend()[0])
        self._engine.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._engine is None:
            return
        try:
            # A caller that was interrupted while it handled a result has not closed the results.
            getattr(self._results, "close", lambda: None)()
        finally:
            self._engine.__exit__(*error)
            self._engine, self._results = None, iter(())

    def _engine_of(self, backend: Any) -> Executor:
        name = type(backend).__name__
        if name == _DASK:
            from heldout.execution.executors.dask import Cluster

            return Cluster(backend.client, self.fit_timeout)
        if self.fit_timeout is not None and name != "LokyBackend":
            raise InputError(
                f"`fit_timeout={self.fit_timeout:g}` needs worker "
                f"processes that can be ended, and joblib's active backend is {name}; use its processes (loky) or "
                "Dask, or leave `fit_timeout` out.",
                argument="fit_timeout",
            )
        if effective_n_jobs(self.n_jobs) == 1 and self.fit_timeout is None:
            return Here()
        if name in _PROCESSES:
            return Processes(self.n_jobs, self.pre_dispatch, self.fit_timeout)
        if getattr(backend, "uses_threads", False):
            return Threads(self.n_jobs, self.pre_dispatch)
        return Elsewhere(self.n_jobs, self.pre_dispatch)

    def __repr__(self) -> str:
        limit = "" if self.fit_timeout is None else f", fit_timeout={self.fit_timeout:g}"
        return f"JoblibExecutor(n_jobs={self.n_jobs}{limit})"

"""Engines on one machine: this process, its threads, or processes beside it, all by joblib."""

from __future__ import annotations

import math
import os
import platform
import re
import shutil
import stat
import tempfile
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self
from uuid import uuid4

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from heldout import _defaults
from heldout._loky import WORKERS_ENDED, forget_folder, gives_results_one_by_one, track_folder
from heldout.data.checks import check_timeout
from heldout.data.limits import check_jobs
from heldout.errors import InputError
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.executors import Executor, WorkersLostError, worker
from heldout.execution.executors.payload import ArrayPayload, FilePayload, payload_array, write_payload
from heldout.execution.fit import Work
from heldout.execution.interrupts import one_ctrl_c_at_a_time
from heldout.execution.split_fits import do_task, task_results
from heldout.execution.threads import single_threaded

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_PREFIX = "heldout-"
_MADE_BY_TEMPFILE = re.compile(_PREFIX + r"[a-z0-9_]{8}")


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder for this run, removed even if this process is killed; abandoned ones are removed first."""
    # Absolute, because older workers may have another working folder.
    where = Path(os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()).absolute()
    remove_abandoned(where)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=where, ignore_cleanup_errors=True) as folder:
        if is_tracked := folder.isascii():  # the tracker knows no other names
            track_folder(folder)
        try:
            with ExitStack() as lock:
                with suppress(OSError):  # the code below reports a full disk
                    lock.enter_context(_held(_lock_in(Path(folder))))
                yield Path(folder)
        finally:
            if is_tracked:
                forget_folder(folder)


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    """Hold a lock, which the system frees when this process dies for any reason."""
    # It gets its name when it is locked, because a free one says that its process is dead.
    with lock.with_suffix(".new").open("wb") as file:
        _take(file)
        Path(file.name).rename(lock)
        yield


def _take(lock: IO[bytes]) -> None:
    """Lock an open file until it is closed; raises OSError where another process holds it, and on Windows."""
    if fcntl is None:
        raise OSError("the locks of this system are others")
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_in(folder: Path) -> Path:
    # A folder may be shared by machines, and a lock need not be seen on another one than that which took it.
    return folder / f"{platform.node()}.lock"


def remove_abandoned(where: Path) -> None:
    """Remove this user's folders of runs whose process is dead; links are neither followed nor removed."""
    with suppress(OSError):
        for path in where.iterdir():
            if _MADE_BY_TEMPFILE.fullmatch(path.name) and _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        found, lock = folder.lstat(), _lock_in(folder)
        # Another user's folder, or a link to anything, must never be removed; a pipe would block.
        if not stat.S_ISDIR(found.st_mode) or not stat.S_ISREG(lock.lstat().st_mode):
            return False
        with lock.open("r+b") as file:
            _take(file)
        return found.st_uid == os.geteuid()
    except OSError:  # its process lives, it was removed meanwhile, or it is not ours
        return False


MOST_UNEXPLAINED = 3
"""Losses in a row for which no cell is to blame; after so many the machine is at fault."""


class Here:
    """Cells run one after another in the calling process."""

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``."""
        return (result for task in work.tasks(cells, n_workers=1) for result in do_task(work, task))

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *error: object) -> None: ...


class _Workers:
    """joblib's workers, kept from round to round."""

    def __init__(self, n_jobs: int | None, pre_dispatch: int | str, batch_size: int | str = "auto") -> None:
        # Ray's backend cannot give results one by one.
        self._parallel: Any = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, batch_size=batch_size)
        if gives_results_one_by_one(self._parallel):
            self._parallel = Parallel(
                n_jobs=n_jobs, pre_dispatch=pre_dispatch, batch_size=batch_size, return_as="generator_unordered"
            )
        self._open = ExitStack()
        self._n_workers = effective_n_jobs(n_jobs)

    def _results(self, calls: Iterable[Any]) -> Generator[CellResult]:
        """Results as they come; closing it ends the running cells."""
        results = iter(self._parallel(calls))
        try:
            for of_task in results:
                yield from of_task
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # joblib warns that some results were not fetched
                getattr(results, "close", lambda: None)()

    def __enter__(self) -> Self:
        self._open.enter_context(self._parallel)
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()


class Threads(_Workers):
    """Cells run in threads of this process, which share its memory."""

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``."""
        # Each cell limits itself to one thread; one that ends must not lift the limit of the others.
        with single_threaded():
            tasks = work.tasks(cells, self._n_workers)
            yield from self._results(delayed(task_results)(work, task) for task in tasks)


class Elsewhere(_Workers):
    """Cells run on a joblib backend of another package."""

    _sent: tuple[Work, ArrayPayload] | None = None

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``."""
        if self._sent is None or self._sent[0] is not work.to_send:
            self._sent = work.to_send, ArrayPayload(uuid4().hex, payload_array(work.to_send))
        payload = self._sent[1]
        tasks = work.tasks(cells, self._n_workers)
        yield from self._results(
            delayed(worker.do_sent_task)(payload, task, worker.Terms(), work.addition) for task in tasks
        )


class Processes(_Workers):
    """Cells run in processes of this machine, which map the work from one file into memory."""

    def __init__(self, n_jobs: int | None, pre_dispatch: int | str, fit_timeout: float | None) -> None:
        if effective_n_jobs(n_jobs) == 1:
            # A process that may be ended must not be the user's own. joblib has no pool of one: one of two works.
            super().__init__(2, pre_dispatch=1, batch_size=1)
        else:
            super().__init__(n_jobs, pre_dispatch)
        # 0 makes each cell a task of its own: a time limit must hit one cell only.
        self._n_workers = 0 if fit_timeout is not None else effective_n_jobs(n_jobs)
        self._fit_timeout = fit_timeout
        self._folder = Path()
        self._sent: tuple[Work, FilePayload] | None = None
        self._unexplained = 0

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``."""
        payload = self._payload_of(work.to_send)
        terms = worker.Terms(self._fit_timeout, str(self._folder), parent=os.getpid())
        left = dict.fromkeys(cells)
        while left:
            worker.end_workers_with_this_process(self._parallel)  # the pool is another one after a death
            try:
                tasks = work.tasks(list(left), self._n_workers)
                calls = (delayed(worker.do_sent_task)(payload, task, terms, work.addition) for task in tasks)
                for result in self._results(calls):
                    # After the death of a worker joblib may return results of an earlier round late.
                    if result.key not in left:
                        continue
                    del left[result.key]
                    self._unexplained = 0
                    yield result
            except (BrokenExecutor, RuntimeError) as error:
                if not isinstance(error, BrokenExecutor):
                    if not isinstance(error.__context__, WORKERS_ENDED):
                        raise
                    # Another thread ended the pool, which all threads of this process share.
                    worker.take_marks(self._folder)
                    self._count_unexplained("joblib's pool was shut down", error)
                    continue
                # Marks say which cells ran when the pool broke; only those can be to blame.
                running = {
                    cell: seconds for cell, seconds in worker.take_marks(self._folder).items() if cell in left
                }
                most = math.inf if self._fit_timeout is None else self._fit_timeout + worker.GRACE_SECONDS
                overdue = [cell for cell, seconds in running.items() if seconds >= most]
                if not running:
                    self._count_unexplained(_how_they_died(error), error)
                elif not overdue:
                    raise WorkersLostError(list(running), _how_they_died(error)) from error
                # Their watchdogs ended these processes, and joblib then ended all others.
                for cell in overdue:
                    assert self._fit_timeout is not None
                    del left[cell]
                    yield worker.timeout_result(work, cell, self._fit_timeout, running[cell])

    def _count_unexplained(self, reason: str, error: Exception) -> None:
        """Workers died while doing no cell: all cells run again, a few times."""
        self._unexplained += 1
        if self._unexplained < MOST_UNEXPLAINED:
            return
        raise InputError(
            f"worker processes died {MOST_UNEXPLAINED} times before they did anything ({reason}); there may be "
            "too little memory for them. Use a smaller n_jobs, or threads (joblib.parallel_config('threading'))."
        ) from error

    def _payload_of(self, work: Work) -> FilePayload:
        if self._sent is None or self._sent[0] is not work:
            token = uuid4().hex
            path = self._folder / f"{token}.work"
            try:
                write_payload(work, path)
            except OSError as error:
                raise InputError(
                    f"the data could not be written to {self._folder}, from where worker processes read it "
                    f"({error.strerror}); make room there, or name another folder in JOBLIB_TEMP_FOLDER."
                ) from error
            self._sent = work, FilePayload(token, str(path))
        return self._sent[1]

    def __enter__(self) -> Self:
        self._open.enter_context(one_ctrl_c_at_a_time())
        self._folder = self._open.enter_context(shared_folder())
        try:
            super().__enter__()
        except UnicodeEncodeError as error:
            self._open.close()
            raise InputError(
                f"joblib cannot start worker processes with temporary files in {self._folder.parent}, because "
                "it accepts only ASCII names; name another folder in JOBLIB_TEMP_FOLDER."
            ) from error
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._sent = None


def _how_they_died(error: BrokenExecutor) -> str:
    codes = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
    if codes is None:
        return f"its worker process was lost ({type(error).__name__})"
    signals = ", ".join(sorted(set(codes[1].split(", "))))
    memory = "; the system does that when memory runs out" if "SIGKILL" in signals else ""
    return f"its worker process died with {signals}{memory}"


_PROCESSES = ("LokyBackend", "MultiprocessingBackend")
_DASK = "DaskDistributedBackend"
_MOST_JOBS = 10_000


def joblib_executor(
    n_jobs: int | None = None,
    pre_dispatch: int | str = _defaults.PRE_DISPATCH,
    fit_timeout: float | None = None,
) -> Executor:
    """The executor on the joblib backend that is active now.

    - ``n_jobs``, ``pre_dispatch``: as for ``joblib.Parallel``. One job runs in the calling process.
    - ``fit_timeout``: seconds after which a cell is stopped and recorded as failed: by an exception, or if that has
      no effect by ending its worker. It needs worker processes; with one job it uses one. A cluster tries a cell
      whose worker ended a few times more before the cell fails.

    Raises InputError when ``n_jobs`` is no number of jobs, ``fit_timeout`` is not above 0, or there are no worker
    processes for it.
    """
    check_timeout(fit_timeout)
    # Of other types of number the timer of a process takes some only.
    fit_timeout = None if fit_timeout is None else float(fit_timeout)
    check_jobs(n_jobs)
    if n_jobs is not None and n_jobs > _MOST_JOBS:
        raise InputError(f"n_jobs must be at most {_MOST_JOBS:,}, got {n_jobs}; -1 uses every core.")
    backend = get_active_backend()[0]
    name = type(backend).__name__
    if name == _DASK:
        from heldout.execution.executors.dask import Cluster

        return Cluster(backend.client, fit_timeout)
    if fit_timeout is not None and name != "LokyBackend":
        raise InputError(
            f"`fit_timeout={fit_timeout:g}` needs worker "
            f"processes that can be ended, and joblib's active backend is {name}; use its processes (loky) or "
            "Dask, or leave `fit_timeout` out."
        )
    if effective_n_jobs(n_jobs) == 1 and fit_timeout is None:
        return Here()
    if name in _PROCESSES:
        return Processes(n_jobs, pre_dispatch, fit_timeout)
    if getattr(backend, "uses_threads", False):
        return Threads(n_jobs, pre_dispatch)
    return Elsewhere(n_jobs, pre_dispatch)

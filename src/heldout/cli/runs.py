"""What the commands that fit models share: the engine, the run file, progress, and an end by Ctrl-C."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from heldout.cli.console import stdout_to_stderr
from heldout.cli.options import LOCAL, THREADS, RunOptions
from heldout.errors import InputError, MissingExtraError
from heldout.execution.interrupts import Stop

if TYPE_CHECKING:
    from heldout.cli.console import Console
    from heldout.cli.files import OutputFolder
    from heldout.execution.events import Listener
    from heldout.execution.run import RunSettings

_SECONDS_TO_CONNECT = 10


class Interruption(KeyboardInterrupt):
    """The user stopped the command; the text says how to continue."""


@contextmanager
def stops_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM (of a scheduler) and SIGHUP (of a closed terminal) end the command as Ctrl-C does.

    By default Python dies of them at once and leaves its workers behind. A signal that is ignored already stays
    ignored (``nohup``). After the first signal has ended the command, others are ignored while the process ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    stop = Stop([number for number in known if signal.getsignal(number) is not signal.SIG_IGN])
    stop.listen()
    try:
        yield
    except KeyboardInterrupt:
        (stop.ignore if stop.is_requested else stop.restore)()
        raise
    except BaseException:
        stop.restore()
        raise
    stop.restore()


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a moment; processes started meanwhile ignore it permanently."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def run_context(console: Console) -> Iterator[None]:
    """Print warnings as notes, and end by SIGTERM as by Ctrl-C.

    What code of the user's prints here goes to stderr with --json, because stdout is the document's alone.
    """
    apart = stdout_to_stderr() if console.as_json else nullcontext()
    with apart, console.noting_warnings(), stops_like_ctrl_c():
        yield


@contextmanager
def resumable(folder: OutputFolder, n_bytes: int, command: str, resuming: bool) -> Iterator[None]:
    """Check that the folder can hold the files, and say how to continue when the user interrupts the work.

    ``n_bytes`` is the room that the files need, ``command`` the command as the user typed it.
    """
    folder.check_new(resuming)
    folder.check_writable()
    folder.check_room(n_bytes)
    try:
        yield
    except KeyboardInterrupt:
        raise Interruption(_how_to_continue(folder, command, resuming)) from None


def _how_to_continue(folder: OutputFolder, command: str, resuming: bool) -> str:
    if not folder.holds_run:
        return "Interrupted before the first fit; nothing was kept."
    return (
        f"Interrupted. All finished fits are kept in {folder.run_file}; to continue:\n  "
        f"{command}{'' if resuming else ' --resume'}"
    )


@contextmanager
def run_session(
    options: RunOptions, folder: OutputFolder, console: Console, *listeners: Listener
) -> Iterator[RunSettings]:
    """How a command fits: with its engine, into the run file of its folder, showing progress."""
    from heldout.execution.listeners import progress_listeners
    from heldout.execution.run import RunSettings
    from heldout.execution.store.sqlite import SQLiteStore

    # Workers inherit it; their warnings would tear the progress bar.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    if options.resume and not folder.holds_run:
        console.note(f"{folder.path} holds no run yet, so there is nothing to resume; a new one begins.")
    store = SQLiteStore(
        folder.run_file, accept_changed_code=options.accept_changed_code, one_run=True, terms=options.terms
    )
    verbose = 0 if options.quiet else 1 + options.verbose
    with fitting_with(options.engine, options.n_jobs):
        yield RunSettings(
            store=store,
            resume=options.resume,
            n_jobs=options.n_jobs,
            fit_timeout=options.fit_timeout,
            listeners=[*progress_listeners(verbose, sys.stderr), *listeners],
        )


@contextmanager
def fitting_with(engine: str, n_jobs: int) -> Iterator[None]:
    """Let joblib fit with this engine."""
    from joblib import parallel_config

    if engine == LOCAL:
        _start_workers(n_jobs)
        yield
    elif engine == THREADS:
        with parallel_config("threading"):
            yield
    else:
        client = _connected(engine)
        try:
            with parallel_config("dask", client=client):
                yield
        finally:
            client.close()


def _start_workers(n_jobs: int) -> None:
    """Start the processes that the search will use, which ignore the Ctrl-C that a terminal sends to them too.

    This process ends them, and it alone prints something then.
    """
    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    from heldout.execution.executors.worker import end_workers_with_this_process

    workers = effective_n_jobs(n_jobs)
    if workers > 1:
        with Parallel(n_jobs=n_jobs, return_as="generator") as parallel:
            end_workers_with_this_process(parallel)
            with interrupts_ignored():  # the call starts the processes
                answers = parallel(delayed(abs)(0) for _ in range(workers))
            list(answers)


def _connected(address: str) -> Any:
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise MissingExtraError(f"--engine {address}", "dask") from None
    # Our own sentences report its errors; its log would tear the progress bar.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=_SECONDS_TO_CONNECT)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"--engine {address}: no Dask scheduler answers there within {_SECONDS_TO_CONNECT} s "
            f"({type(error).__name__}); start one (dask scheduler) and its workers (dask worker {address}), or use "
            "--engine local."
        ) from None
    try:
        client.wait_for_workers(1, timeout=_SECONDS_TO_CONNECT)
    except TimeoutError:
        client.close()
        raise InputError(
            f"--engine {address}: the cluster has no workers; start some (dask worker {address}), or use --engine "
            "local."
        ) from None
    return client

"""Where ``heldout tune`` fits: joblib's backend for the time of a search."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from heldout.cli.group import interrupts_ignored

LOCAL, THREADS = "local", "threads"
_ADDRESSES = ("tcp://", "tls://")
_SECONDS_TO_CONNECT = 10


def check_engine(engine: str, fit_timeout: float | None) -> None:
    """Refuse an engine that there is not, or that does not go with the other options.

    Raises
    ------
    InputError
    """
    from heldout.errors import InputError
    from heldout.execution.executors.from_joblib import check_fit_timeout

    if engine not in (LOCAL, THREADS) and not engine.startswith(_ADDRESSES):
        raise InputError(
            f"--engine must be local, threads, or the address of a Dask scheduler, tcp://HOST:PORT or "
            f"tls://HOST:PORT, got {engine!r}."
        )
    check_fit_timeout(fit_timeout)
    if fit_timeout is not None and engine == THREADS:
        raise InputError(
            "--fit-timeout needs worker processes, which can be ended, and --engine threads has none; use --engine "
            "local, or leave --fit-timeout out."
        )


@contextmanager
def fitting_with(engine: str, n_jobs: int) -> Iterator[None]:
    """Let joblib fit there meanwhile.

    Raises
    ------
    InputError
        When nobody answers at the address.
    MissingExtraError
        When there is an address, but not the package that could use it.
    """
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
    """Start the processes that the search will use, deaf to the Ctrl-C that a terminal sends to them too.

    They are ended by this process, which alone has something to say of it.
    """
    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    workers = effective_n_jobs(n_jobs)
    if workers > 1:
        with interrupts_ignored():  # the call starts the processes, before anything is asked of them
            answers = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(abs)(0) for _ in range(workers))
        list(answers)


def _connected(address: str) -> Any:
    from heldout.errors import InputError, MissingExtraError

    try:
        distributed = import_module("distributed")
    except ImportError:
        raise MissingExtraError(f"--engine {address}", "dask") from None
    # What goes wrong there is said in our own words; its remarks would tear the progress bar.
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

"""The limits of this machine: memory, threads, and the greatest size of a run.

They are asked before the work, so that what cannot be done is refused in one sentence and not by the system, hours
later.
"""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

from heldout.errors import InputError

SHARE = 0.5
BYTES_A_NUMBER = 12
"""The least memory of an estimate for each number of its matrix: 8 bytes, and half of that temporarily."""
FEWER = "a sample of the rows, or fewer columns: with millions of rows there is nothing to correct"
MOST_CONFIGURATIONS = 1_000_000
MOST_SPLITS = 100_000
MOST_FITS = 10_000_000
MOST_BOOTSTRAPS = 10_000_000
"""More than any run can finish: 10 million fits of a millisecond take three hours, and of a second four months."""

_CGROUPS = Path("/sys/fs/cgroup")
_UNLIMITED = 2**60
"""Of a control group: the first version writes "no limit" as a number near 2**63."""


class Memory(NamedTuple):
    """Bytes that this process may use, and the source of this limit, as the end of a sentence."""

    n_bytes: int
    words: str


def memory_there() -> Memory | None:
    """The least that the machine, the control group and the limits of the process allow; None if none is known."""
    # The least of all limits holds, whichever it is.
    found = [*_of_machine(), *_of_control_group(), *_of_process()]
    return min(found, default=None)


def refuse_beyond_memory(needed: int, what: str, remedy: str, share: float = SHARE) -> None:
    """Refuse a request for more than a share of the memory.

    Parameters
    ----------
    needed : int
        Bytes.
    what, remedy : str
        In the plural what needs them, and what to use instead.

    Examples
    --------
    >>> refuse_beyond_memory(2**70, "the predictions", "fewer rows")
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: the predictions need 1,099,511,627,776.0 GiB, more than half of ...; use fewer rows.
    """
    there = memory_there()
    if there is not None and needed > share * there.n_bytes:
        part = "half of " if share == SHARE else ""
        raise InputError(f"{what} need {needed / 2**30:,.1f} GiB, more than {part}{there.words}; use {remedy}.")


def refuse_more_than(most: int, number: int, what: str, remedy: str) -> None:
    """Refuse a number that is greater than any run needs.

    Examples
    --------
    >>> refuse_more_than(MOST_FITS, 10**12, "fits (repeats=10**9)", "fewer repeats: 10 are usual")
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: 1,000,000,000,000 fits (repeats=10**9) are more than the 10,000,000 that ...
    """
    if number > most:
        shown = f"{number:,}" if number < 10**30 else "more than 10**30"
        raise InputError(f"{shown} {what} are more than the {most:,} that heldout takes; use {remedy}.")


def check_fits(n_configurations: int, n_splits: int) -> None:
    """Refuse more fits than any run can finish."""
    what = f"fits ({n_configurations:,} configurations on {n_splits:,} splits)"
    refuse_more_than(MOST_FITS, n_configurations * n_splits, what, "fewer configurations, folds or repeats")


def check_room(array: Any, what: str = "predictions") -> None:
    """Refuse a matrix that cannot be read, as 8 bytes a number, beside what is computed from it.

    An array without a shape is in memory already, as objects, which take more.
    """
    number = math.prod(getattr(array, "shape", ()))
    refuse_beyond_memory(number * BYTES_A_NUMBER, f"{number:,} {what} and what is computed from them", FEWER, 1.0)


@contextmanager
def enough_memory(what: str, remedy: str) -> Iterator[None]:
    """Turn a memory error that could not be foreseen into a sentence."""
    try:
        yield
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        raise InputError(f"{what} did not fit in memory{said}; use {remedy}.") from error


def _of_machine() -> Iterator[Memory]:
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return
    yield Memory(there, f"this machine's {_gib(there)}")


def _of_control_group() -> Iterator[Memory]:
    """Both versions of control groups; the limits of the groups above hold too."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, group = line.split(":", 2)
        if number == "0":
            base, name = _CGROUPS, "memory.max"
        elif "memory" in controllers.split(","):
            base, name = _CGROUPS / "memory", "memory.limit_in_bytes"
        else:
            continue
        own = base / group.strip("/")
        # In a container the group may have a name that only the machine outside knows.
        # The limit of any folder above holds as well.
        for folder in {own, *(above for above in own.parents if above.is_relative_to(base)), base}:
            yield from _of_file(folder / name)


def _of_file(path: Path) -> Iterator[Memory]:
    try:
        limit = int(path.read_text())
    except (OSError, ValueError):  # "max" is no limit
        return
    if limit < _UNLIMITED:
        yield Memory(limit, f"the {_gib(limit)} that the control group of this process allows")


def _of_process() -> Iterator[Memory]:
    """The remaining limits that a shell sets by ``ulimit``."""
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    used = _pages_used()
    # Address space counts all that is mapped, data only what is the process's own.
    for number, option, pages in ((resource.RLIMIT_AS, "-v", used[0]), (resource.RLIMIT_DATA, "-d", used[-1])):
        limit, _ = resource.getrlimit(number)
        if limit != resource.RLIM_INFINITY:
            left = max(limit - pages * resource.getpagesize(), 0)
            yield Memory(left, f"the {_gib(left)} that 'ulimit {option}' leaves to this process")


def _pages_used() -> tuple[int, int]:
    """Pages of address space and of data; none if the system does not tell."""
    try:
        size, *_, data, _ = map(int, Path("/proc/self/statm").read_text().split())
    except (OSError, ValueError):
        return 0, 0
    return size, data


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.1f} GiB"


def check_jobs(n_jobs: object) -> None:
    """Raise InputError unless ``n_jobs`` is a whole number other than 0, or None."""
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InputError(f"n_jobs must be a number of processes, -1 for every core, or None, got {n_jobs!r}.")


def effective_threads(n_jobs: int | None) -> int:
    """The number of threads for ``n_jobs`` as joblib counts: at most the cores, and 1 inside a joblib worker.

    A worker is already one of many, and the size of a cluster is not a number of threads of this machine.
    """
    from joblib import cpu_count, effective_n_jobs  # which takes longer to import than a command needs to refuse
    from joblib.parallel import get_active_backend

    check_jobs(n_jobs)
    backend, _ = get_active_backend()
    # Within a worker of joblib, threads of each would multiply.
    if getattr(backend, "nesting_level", 0):
        return 1
    return max(1, min(int(effective_n_jobs(n_jobs)), int(cpu_count())))

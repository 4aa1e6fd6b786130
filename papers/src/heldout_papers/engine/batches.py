"""Settings times repetitions, in batches that any process can run, in any order, and that are kept.

A batch is some repetitions of one setting. What it draws depends on the seed of the study, the setting and the
number of the repetition alone: a study is the same for any number of processes, and a longer one begins with the
repetitions of a shorter one.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, cast
from zipfile import BadZipFile

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from heldout._version import __version__
from heldout.data.limits import check_jobs
from heldout.errors import StoreError
from heldout.execution.executors.worker import end_with, end_workers_with_this_process
from heldout.execution.threads import single_threaded

Setting = TypeVar("Setting")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)
Arguments = ParamSpec("Arguments")
Columns: TypeAlias = Mapping[str, NDArray[Any]]
"""Results of some repetitions: arrays whose first axis is the repetition."""
BatchCallback: TypeAlias = Callable[[int, int, float], None]
"""Receives the number of finished batches, the number of all batches, and the seconds since the first began."""


@dataclass(frozen=True)
class Batch(Generic[Setting]):
    """Repetitions ``first .. last - 1`` of a setting."""

    setting: Setting
    first: int
    last: int


@dataclass(frozen=True)
class StudyPlan(Generic[Setting]):
    """What is repeated, how often, and by which function."""

    name: str
    settings: tuple[Setting, ...]  # Frozen dataclasses of plain values, whose ``repr`` identifies them
    repetitions: int
    entropy: int
    # From a batch and the entropy to its columns. Importable, because other processes call it.
    do: Callable[[Batch[Setting], int], Columns]

    def batches(self, size: int) -> list[Batch[Setting]]:
        """All repetitions in batches of ``size``, the last of each setting perhaps smaller."""
        return [
            Batch(setting, first, min(first + size, self.repetitions))
            for setting in self.settings
            for first in range(0, self.repetitions, size)
        ]

    def fingerprint(self, batch: Batch[Setting]) -> str:
        """Identifies a kept batch."""
        text = repr([self.name, __version__, self.entropy, batch])
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class StudyJob(Generic[Setting, Result]):
    """The checked arguments of a study, before anything runs."""

    plan: StudyPlan[Setting]
    result: Callable[[list[Columns]], Result]  # From the columns of every setting to the result
    batch_size: int = 1  # No result depends on it, but kept batches are found again by it
    left_out: Mapping[str, str] = field(default_factory=dict)  # Tables that are not studied, with the reason
    n_jobs: int | None = None  # Of joblib
    # Where each finished batch is kept in a file of its own; a batch that is there is not repeated
    folder: str | os.PathLike[str] | None = None
    told: BatchCallback | None = None

    def run(self) -> Result:
        """Do what is not kept yet.

        Raises InputError when ``n_jobs`` is not a number of processes, and StoreError when the folder cannot be
        written to or holds a file that cannot be read.
        """
        check_jobs(self.n_jobs)
        plan, batches = self.plan, self.plan.batches(self.batch_size)
        kept = None if self.folder is None else _opened(Path(self.folder))
        found = {n: columns for n, batch in enumerate(batches) if (columns := _read(kept, plan.fingerprint(batch)))}
        missing = [n for n in range(len(batches)) if n not in found]
        began = time.monotonic()
        for n, columns in _done(plan, batches, missing, self.n_jobs):
            found[n] = columns
            if kept is not None:
                _keep(kept, plan.fingerprint(batches[n]), columns)
            if self.told is not None:
                self.told(len(found), len(batches), time.monotonic() - began)
        each = len(batches) // len(plan.settings)
        return self.result([_joined([found[s * each + k] for k in range(each)]) for s in range(len(plan.settings))])


class StudyFunction(Protocol[Arguments, Result_co]):
    """A study as a function; ``job`` takes the same arguments, and checks them only."""

    job: Callable[Arguments, StudyJob[Any, Any]]

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result_co: ...


def study(
    result: type[Result],
) -> Callable[[Callable[Arguments, StudyJob[Any, Result]]], StudyFunction[Arguments, Result]]:
    """Make a study of a function that checks the arguments; its documentation is that of the study."""

    def decorated(job: Callable[Arguments, StudyJob[Any, Result]]) -> StudyFunction[Arguments, Result]:
        @wraps(job)
        def function(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            return job(*args, **kwargs).run()

        public = cast(Any, function)
        public.job, public.__signature__ = job, signature(job).replace(return_annotation=result.__name__)
        return cast(StudyFunction[Arguments, Result], public)

    return decorated


def _done(
    plan: StudyPlan[Setting], batches: Sequence[Batch[Setting]], numbers: Sequence[int], n_jobs: int | None
) -> Iterator[tuple[int, Columns]]:
    jobs = (delayed(_do)(plan, batches[n], n, os.getpid()) for n in numbers)
    with Parallel(n_jobs=n_jobs, return_as="generator_unordered") as parallel:
        end_workers_with_this_process(parallel)
        yield from parallel(jobs)


def _do(plan: StudyPlan[Setting], batch: Batch[Setting], number: int, parent: int) -> tuple[int, Columns]:
    end_with(parent)
    with single_threaded():
        return number, plan.do(batch, plan.entropy)


def _joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _opened(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if folder.is_file() else (error.strerror or str(error)).lower()
        raise StoreError(
            f"the folder of the study, {folder}, cannot be written to ({why}); choose another."
        ) from None
    return folder


def _read(folder: Path | None, name: str) -> Columns | None:
    path = None if folder is None else folder / f"{name}.npz"
    if path is None or not path.exists():
        return None
    try:
        # Opened here, because NumPy leaves a file open that is not an archive.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            return {column: file[column] for column in file.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        # NumPy's own words for a damaged file are about pickles.
        why = (getattr(error, "strerror", None) or "it is damaged").lower()
        raise StoreError(f"{path} cannot be read ({why}); remove it, and the batch is repeated.") from error


def _keep(folder: Path, name: str, columns: Columns) -> None:
    """Write a batch under a temporary name, then give it its own: it is there whole or not at all."""
    partial = folder / f".{name}.partial.npz"
    try:
        np.savez(partial, **{column: np.asarray(values) for column, values in columns.items()})  # type: ignore[arg-type]
        partial.replace(folder / f"{name}.npz")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise StoreError(f"the folder of the study, {folder}, cannot be written to ({why}).") from None
    finally:
        partial.unlink(missing_ok=True)

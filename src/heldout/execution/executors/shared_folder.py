"""The folder from which worker processes map their work: removed at the end, and after a kill at the next start.

A folder says in its file ``owner`` which process made it. Whoever makes another removes those whose owner is dead.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from joblib.externals.loky.backend import resource_tracker

_PREFIX = "heldout-"
_MADE_BY_TEMPFILE = re.compile(_PREFIX + r"[a-z0-9_]{8}")
_OWNER = "owner"
_MOST_BYTES = 4096


@dataclass(frozen=True)
class Owner:
    """A process, told from all others that have had or will have its number.

    Attributes
    ----------
    where : str
        The machine and, on Linux, its namespace of processes: numbers mean nothing elsewhere.
    process : int
    began : str
        Since when it runs, and since which start of the machine; empty where the system does not tell.
    """

    where: str
    process: int
    began: str

    @classmethod
    def me(cls) -> Self:
        """This process."""
        return cls(_where(), os.getpid(), _began(os.getpid()))

    def is_dead(self) -> bool:
        """Whether it has certainly ended; not of a process elsewhere."""
        if self.where != _where() or os.name != "posix":
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except OSError:  # it is somebody else's, which may have the number of a dead one
            return False
        return self.began != _began(self.process)


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder for this run, removed even if this process is killed; those that others left are removed first."""
    # Absolute: workers that were there before may stand in another folder.
    where = Path(os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir()).absolute()
    remove_abandoned(where)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=where, ignore_cleanup_errors=True) as folder:
        if is_tracked := folder.isascii():  # the tracker knows no other names
            resource_tracker.register(folder, "folder")
        try:
            with suppress(OSError):  # a full disk is found out by what follows
                (Path(folder) / _OWNER).write_text(json.dumps(asdict(Owner.me())), encoding="utf-8")
            yield Path(folder)
        finally:
            if is_tracked:
                resource_tracker.unregister(folder, "folder")


def remove_abandoned(where: Path) -> None:
    """Remove this user's folders of runs whose process is dead; links are neither followed nor removed."""
    with suppress(OSError):
        for path in where.iterdir():
            if _MADE_BY_TEMPFILE.fullmatch(path.name) and _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        owner = Owner(**json.loads(_text_of(folder / _OWNER)))
        return type(owner.process) is int and 0 < owner.process < 2**31 and owner.is_dead()
    except (OSError, AttributeError, ValueError, TypeError, RecursionError):
        return False  # it is gone by now, or it was not made by us


def _text_of(path: Path) -> str:
    """What a file holds that is no link and nothing that waits for a writer."""
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(number, "rb") as file:
        return file.read(_MOST_BYTES).decode("utf-8")


def _where() -> str:
    try:
        return f"{platform.node()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


def _began(process: int) -> str:
    """Empty where the system does not tell, and of a process that has ended and only waits to be noted."""
    try:
        state, *_ = fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZX" else f"{fields[19]} {boot}"

"""The folder from which worker processes map their work; removed at the end, or after a kill at the next start.

Its file ``owner`` names the process that made it. A process that makes a new folder removes those of dead owners.
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

from heldout._loky import forget_folder, track_folder

_PREFIX = "heldout-"
_MADE_BY_TEMPFILE = re.compile(_PREFIX + r"[a-z0-9_]{8}")
_OWNER = "owner"
_MOST_BYTES = 4096


@dataclass(frozen=True)
class Owner:
    """A process, distinct from earlier and later ones with the same number."""

    where: str
    """The machine and, on Linux, its namespace of processes: numbers mean nothing elsewhere."""
    process: int
    began: str
    """When it began, and the start of the machine; empty if unknown."""

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
        except OSError:  # it is another user's, which may have the number of a dead process
            return False
        return self.began != _began(self.process)


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
            with suppress(OSError):  # the code below reports a full disk
                (Path(folder) / _OWNER).write_text(json.dumps(asdict(Owner.me())), encoding="utf-8")
            yield Path(folder)
        finally:
            if is_tracked:
                forget_folder(folder)


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
        return False  # it was removed meanwhile, or is not ours


def _text_of(path: Path) -> str:
    """The text of a regular file: links are refused, and pipes do not block."""
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(number, "rb") as file:
        return file.read(_MOST_BYTES).decode("utf-8")


def _where() -> str:
    try:
        return f"{platform.node()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


def _began(process: int) -> str:
    """When a process began; empty if unknown, and for a zombie."""
    try:
        state, *_ = fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZX" else f"{fields[19]} {boot}"

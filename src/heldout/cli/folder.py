"""The output folder: checked before the work, and each file in it either whole or absent."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.errors import InputError, StoreError

SPARE_BYTES = 32 * 2**20


@dataclass(frozen=True)
class OutputFolder:
    """Where a command leaves its files."""

    path: Path

    @property
    def run_file(self) -> Path:
        return self.path / "run.db"

    def check_writable(self) -> None:
        """Make the folder and write to it once.

        Raises
        ------
        InputError
            When that cannot be done.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.path, prefix=".heldout-") as probe:
                probe.write(b"heldout")
                probe.flush()
        except OSError as error:
            why = "it is a file" if self.path.is_file() else (error.strerror or str(error)).lower()
            raise InputError(
                f"the output folder {self.path} cannot be written to ({why}); choose another one with --out, or "
                "make room or permissions."
            ) from None

    def check_room(self, wanted: int) -> None:
        """Refuse before the work what would not fit on the disk.

        Raises
        ------
        InputError
        """
        free = shutil.disk_usage(self.path).free
        if free < wanted + SPARE_BYTES:
            raise InputError(
                f"the disk of {self.path} has {_megabytes(free)} free, but this run needs about "
                f"{_megabytes(wanted + SPARE_BYTES)}; free some space, or choose another folder with --out."
            )

    def write(self, name: str, writer: Callable[[Path], object]) -> Path:
        """Have a file written under a temporary name, then give it its own: a reader never sees half of it.

        Raises
        ------
        InputError
            When the name is that of a folder, pipe or device, which a file would take the place of.
        """
        final = self.path / name
        if final.exists() and not final.is_file():
            what = "a folder" if final.is_dir() else "a pipe or device"
            raise InputError(f"{final} is {what}, in whose place no file is written; name a file.")
        partial = self.path / f".{name}.partial"
        try:
            writer(partial)
            partial.replace(final)
        finally:
            partial.unlink(missing_ok=True)
        return final

    def write_json(self, name: str, document: Mapping[str, Any] | Sequence[Any]) -> Path:
        """Write what JSON can hold."""
        text = json.dumps(document, indent=2, allow_nan=False)
        return self.write(name, lambda path: path.write_text(text + "\n", encoding="utf-8"))


def path_named(text: str, option: str) -> Path:
    """The folder or file that was named; nothing is not taken for the present folder.

    Raises
    ------
    InputError
    """
    if not text.strip():
        raise InputError(f"{option} is empty, got {text!r}; name a folder, or . for the one you are in.")
    return Path(text)


def folder_for(out: str, resume: bool) -> OutputFolder:
    """The folder of a command, which holds no run yet unless that is to be gone on with.

    Raises
    ------
    InputError, StoreError
    """
    folder = OutputFolder(path_named(out, "--out"))
    if folder.run_file.exists() and not resume:
        raise StoreError(
            f"{folder.path} holds a run already; go on with it (--resume), or choose another folder with --out."
        )
    return folder


def how_to_go_on(folder: OutputFolder, again: str, resuming: bool) -> str:
    """What is said of a run that was interrupted."""
    if not folder.run_file.exists():
        return "Interrupted before the first fit; nothing was kept."
    return (
        f"Interrupted. What was finished is kept in {folder.run_file}; to go on:\n  "
        f"{again}{'' if resuming else ' --resume'}"
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"

"""The output folder and its files: the folder is checked before the work, and no file is ever half written."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.cli.options import OUT, all_in_options
from heldout.errors import HeldoutError, InputError, StoreError, reason_of

if TYPE_CHECKING:
    from heldout.cli.console import Console
    from heldout.cli.options import OptionText
    from heldout.metrics.base import Metric
    from heldout.report.entries import Facts
    from heldout.result import Evaluation

SPARE_BYTES = 32 * 2**20


@dataclass(frozen=True)
class OutputFolder:
    """The folder that receives the files of a command."""

    path: Path
    options: Mapping[str, OptionText] = field(default_factory=dict)
    """The options of the command, which texts name in place of arguments."""

    @property
    def run_file(self) -> Path:
        return self.path / "run.db"

    @property
    def samplers_file(self) -> Path:
        """The runs of the samplers beside a search by Optuna."""
        return self.path / "samplers.db"

    @property
    def holds_run(self) -> bool:
        return self.run_file.exists() or self.samplers_file.exists()

    def check_new(self, resume: bool) -> None:
        """Refuse a folder that holds a run already, unless the run is resumed."""
        if self.holds_run and not resume:
            raise StoreError(
                f"{self.path} already holds a run; continue it with --resume, or choose another folder with --out."
            )

    def check_writable(self) -> None:
        """Make the folder and write to it once; refuse one that cannot be written to."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.path, prefix=".heldout-") as probe:
                probe.write(b"heldout")
                probe.flush()
        except OSError as error:
            why = "it is a file" if self.path.is_file() else (error.strerror or str(error)).lower()
            raise InputError(
                f"the output folder {self.path} cannot be written to ({why}); choose another one with --out, "
                "free space, or change its permissions."
            ) from None

    def check_room(self, n_bytes: int) -> None:
        """Refuse a run whose files would not fit on the disk, before the work."""
        free = shutil.disk_usage(self.path).free
        if free < n_bytes + SPARE_BYTES:
            raise InputError(
                f"the disk of {self.path} has {_megabytes(free)} free, but this run needs about "
                f"{_megabytes(n_bytes + SPARE_BYTES)}; free some space, or choose another folder with --out."
            )

    def write(self, name: str, writer: Callable[[Path], object]) -> Path:
        """Write a file under a temporary name, then rename it: a reader never sees half of it."""
        final = self.path / name
        if final.exists() and not final.is_file():
            what = "a folder" if final.is_dir() else "a pipe or device"
            raise InputError(f"{final} is {what}, and cannot be replaced by a file; name a file.")
        partial = self.path / f".{name}.partial"
        try:
            writer(partial)
            partial.replace(final)
        finally:
            partial.unlink(missing_ok=True)
        return final

    def write_json(self, name: str, document: Mapping[str, Any] | Sequence[Any]) -> Path:
        document = all_in_options(document, self.options)
        return self.write_text(name, json.dumps(document, indent=2, allow_nan=False) + "\n")

    def write_text(self, name: str, text: str) -> Path:
        return self.write(name, lambda path: path.write_text(text, encoding="utf-8"))


def path_named(text: str, option: str) -> Path:
    """The path of this name; an empty name is refused, not read as the current folder."""
    if not text.strip():
        raise InputError(f"{option} is empty, got {text!r}; name a folder, or . for the one you are in.")
    return Path(text)


def run_file_in(path: Path) -> Path:
    """The run file of a folder, or the file itself."""
    if not path.exists():
        raise InputError(
            f"there is no folder or run file {path}; name what `heldout tune --out DIR` or"
            " `heldout validate --out DIR` writes to."
        )
    if not path.is_dir():
        return path
    if not (path / "run.db").exists():
        raise InputError(f"the folder {path} holds no run file (run.db); name the folder or the run file of a run.")
    return path / "run.db"


def is_run(path: Path) -> bool:
    """Whether a path is a database, as a run file is, or a folder that holds one."""
    from heldout.execution.store.opening import is_database

    return is_database(path) or is_database(path / "run.db")


def folder_for(out: str, resume: bool, console: Console) -> OutputFolder:
    """The output folder of a command; one that holds a run already is refused unless the run is resumed.

    The usual folder was not typed: what was typed is checked first, and that folder when the work begins.
    """
    folder = OutputFolder(path_named(out, "--out"), console.options)
    if out != OUT:
        folder.check_new(resume)
    return folder


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"


def write_model(model: Any, folder: OutputFolder, note: Mapping[str, Any] | None = None) -> tuple[Path, list[str]]:
    """Write ``model.skops`` and, for reading only, ``model.trusted.json``: the reviewed types that it holds.

    ``note``: on the table on which it was fitted, for ``heldout predict``.

    Returns the path, and the types in the model that are not reviewed.
    """
    from heldout.readers.saved_model import not_reviewed, packed, reviewed

    data, types = packed(model, note)
    path = folder.write("model.skops", lambda partial: partial.write_bytes(data))
    folder.write_json("model.trusted.json", sorted(reviewed(types)))
    return path, not_reviewed(model, types)


def save_model(
    model: Any, folder: OutputFolder, console: Console, note: Mapping[str, Any] | None = None
) -> dict[str, Path]:
    """The model by its kind of file; where skops cannot save it, a note, so that the other files are written."""
    try:
        path, strangers = write_model(model, folder, note)
    except (HeldoutError, OSError):
        raise
    except Exception as error:
        text = reason_of(error)
        console.note(f"The model could not be saved as model.skops ({type(error).__name__}: {text}).")
        return {}
    if strangers:
        console.note(
            f"model.skops holds types that heldout has not reviewed: {', '.join(strangers)}; to load it, review "
            f"each and call ho.load_model(path, trust={list(strangers)})."
        )
    return {"model": path}


def write_report_files(content: Facts, folder: OutputFolder) -> dict[str, Path]:
    """The texts for a paper and a repository, and the report, by their kind.

    ``report.json`` and ``report.html`` are the last files of a command: they show that all others are there.
    """
    from heldout.report import write_report
    from heldout.report.render import card_of

    content = all_in_options(content, folder.options)
    files = {
        "methods": folder.write_text("methods.md", content.methods_text.to_markdown()),
        "card": folder.write_text("card.md", card_of(content)),
    }
    folder.write_json("report.json", content.to_dict())
    return {**files, "report": folder.write("report.html", lambda path: write_report(content, path))}


ROWS_A_GROUP = 100_000
"""Rows of ``predictions.parquet`` that are in memory as a table at a time."""


def write_predictions(
    evaluation: Evaluation,
    metric: Metric,
    target: str,
    folder: OutputFolder,
    *,
    event: str | None = None,
) -> Path:
    """``predictions.parquet``, which ``heldout estimate`` reads without any options."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from heldout.readers.formats.own import table_of_predictions

    task, predictions = evaluation.task, evaluation.predictions

    def group(first: int) -> tuple[Any, dict[str, Any]]:
        rows = slice(first, first + ROWS_A_GROUP)
        return table_of_predictions(task, predictions, metric, target, event, rows=rows)

    of_first, roles = group(0)
    schema = pa.Schema.from_pandas(of_first, preserve_index=False)
    label = schema.field(roles["target"]).type
    for place, one in enumerate(schema):
        if pa.types.is_null(one.type):  # labels that a configuration lacks here, and may have below
            schema = schema.set(place, one.with_type(label))
    schema = schema.with_metadata({**(schema.metadata or {}), b"heldout": json.dumps(roles).encode()})

    def write(partial: Path) -> None:
        with pq.ParquetWriter(partial, schema) as file:
            for first in range(0, predictions.n_rows, ROWS_A_GROUP):
                frame = group(first)[0] if first else of_first
                file.write_table(pa.Table.from_pandas(frame, schema, preserve_index=False))

    return folder.write("predictions.parquet", write)

"""Text files that are not read by pandas: lines below a header of a tool's own form, and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.readers.columns import damage_refused, reads_as_number
from heldout.readers.csv_table import NO_TEXT, check_length, long_fields

COMPLETE = "is the file complete?"
_OPENING = 1 << 16


def opening_lines(path: Path | None, n_lines: int | None = None) -> list[str]:
    """The first lines of a text file, at most 64 KB, without their ends; none of what is no text file."""
    if path is None or not path.is_file():
        return []
    try:
        with path.open("rb") as stream:
            start = stream.read(_OPENING)
    except OSError:
        return []
    if b"\0" in start:
        return []
    return start.decode("utf-8-sig", "replace").splitlines()[:n_lines]


def all_lines(path: Path) -> list[str]:
    """The lines of a text file, without their ends; a file that is not text in UTF-8 is refused."""
    with damage_refused(path, "text", NO_TEXT):
        return path.read_bytes().decode("utf-8-sig").splitlines()


def records(
    name: Any, lines: Iterable[str], delimiter: str = ",", *, width: int | None = None, first: int = 1
) -> list[list[str]]:
    """The fields of each line of delimited text, of any length.

    Lines that have not ``width`` fields are refused; ``first`` is the number of the first line in the file.
    """
    try:
        with long_fields():
            rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"a line cannot be divided into fields ({error}); is the file damaged?") from None
    for number, row in enumerate(rows, start=first):
        if row:
            check_length(name, (number, number), row, width)
    return rows


def numbers_of(where: str, cells: Sequence[str | None]) -> Floats:
    """The numbers in cells of text, NaN for None; ``where`` names the column or file."""
    strange = next((cell for cell in cells if cell is not None and not reads_as_number(cell)), None)
    if strange is not None:
        raise InputError(f"{where} holds {shortened(strange)} where a number was expected; {COMPLETE}")
    return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file, whose entries may be of any type."""
    content: dict[str, Any] = json_of(path, dict)
    return content


def json_of(path: Path, kind: type) -> Any:
    """The object or list in a JSON file."""
    with damage_refused(path, "JSON"):
        content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, kind):
        raise InputError(f"{path} holds no {'list' if kind is list else 'object'}; is the file complete?")
    return content


def entry(document: Any, *keys: str) -> Any:
    """What objects in objects hold under these keys; None where there is no such object or key."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def json_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one a line."""
    objects = []
    with path.open(encoding="utf-8") as file:
        for place, line in enumerate(file, start=1):
            with damage_refused(f"line {place} of {path}", "JSON"):
                objects += [json.loads(line)] if line.strip() else []
    return objects

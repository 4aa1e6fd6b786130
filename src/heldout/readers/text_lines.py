"""Text files that are not read by pandas: lines below a header of a tool's own form, and JSON."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.readers.columns import check_names, damage_refused, reads_as_number
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


def json_of(path: Path, kind: type = dict) -> Any:
    """The object or list in a JSON file, whose entries may be of any type."""
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


_QUOTED = r"""'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)\""""
_NAME = re.compile(rf"(?:{_QUOTED}|([^\s{{]+))\s*(.*)")
_FIELD = re.compile(rf"\s*(?:{_QUOTED}|([^,\t'\"][^,\t]*?|))\s*(,|\t|$)")
_ESCAPED = re.compile(r"\\(.)")
_NUMBERS, _TEXTS = ("numeric", "real", "integer"), ("{", "string", "date")


def read_arff(path: Path) -> Any:
    """The table of an ARFF file as a pandas data frame: numbers for numeric attributes, text for all others.

    Missing values (``?``) are NaN in numbers and None in text. Refused are a file that ends in its header, and a
    line with more or fewer values than attributes, as those of sparse rows have.
    """
    import pandas as pd

    lines = _lines(path)
    attributes = _header(path, lines)
    check_names(path, [name for name, _ in attributes])
    rows = [_values(path, number, line, len(attributes)) for number, line in lines]
    columns: Any = zip(*rows, strict=True) if rows else [()] * len(attributes)
    return pd.DataFrame(
        {
            name: _numbers(path, name, column) if is_numeric else np.array(column, dtype=object)
            for (name, is_numeric), column in zip(attributes, columns, strict=True)
        }
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are neither blank nor comments, with their numbers from 1."""
    for number, line in enumerate(all_lines(path), start=1):
        text = line.strip()
        if text and not text.startswith("%"):
            yield number, text


def _header(path: Path, lines: Iterator[tuple[int, str]]) -> list[tuple[str, bool]]:
    """The attributes, and whether each is numeric; the next of the lines is the first of values."""
    attributes: list[tuple[str, bool]] = []
    for number, line in lines:
        word, *rest = line.split(maxsplit=1)
        match = _NAME.fullmatch(rest[0]) if rest and word.lower() == "@attribute" else None
        kind = "" if match is None else match[4].strip().lower()
        if match is not None and (kind in _NUMBERS or kind.startswith(_TEXTS)):
            attributes.append((_text(*match.groups()[:3]) or "", kind in _NUMBERS))
        elif word.lower() == "@data" and attributes:
            return attributes
        elif word.lower() != "@relation":
            raise InputError(
                f"{path} cannot be read as ARFF: line {number} is {shortened(line)}, where @data was expected, or "
                f"@attribute with a name and the type numeric, string, date or {{value, value}}; {COMPLETE}"
            )
    raise InputError(f"{path} cannot be read as ARFF: it ends before @data; {COMPLETE}")


def _values(path: Path, number: int, line: str, n_attributes: int) -> Sequence[str | None]:
    values = _fields(line)
    if values is None:
        raise InputError(f"{path} cannot be read as ARFF: line {number} has an open quotation mark; close it.")
    check_length(path, (number, number), values, n_attributes)
    return values


def _fields(line: str) -> list[str | None] | None:
    """The values of a line, None where one is missing (``?``); None if a quotation mark is open."""
    # Most lines have no quotation marks, and are divided many times faster.
    if "'" not in line and '"' not in line and "\\" not in line:
        return [None if part == "?" else part for part in map(str.strip, re.split(r"[,\t]", line))]
    values: list[str | None] = []
    place = 0
    while True:
        found = _FIELD.match(line, place)
        if found is None:
            return None
        single, double, bare, end = found.groups()
        values.append(_text(single, double, None if bare == "?" else bare))
        place = found.end()
        if not end:
            return values


def _text(single: str | None, double: str | None, bare: str | None) -> str | None:
    """A value without its quotation marks and escapes."""
    text = single if single is not None else double
    return bare if text is None else _ESCAPED.sub(r"\1", text)


def _numbers(path: Path, name: str, values: Sequence[str | None]) -> Any:
    numbers = numbers_of(f"attribute {name!r} of {path}", values)
    # Labels 0 and 1 must read as whole numbers, and stay floats where float64 has no digit for them.
    whole = all(value is not None and value.lstrip("+-").isdecimal() for value in values)
    return numbers.astype(np.int64) if whole and (np.abs(numbers) < 2**53).all() else numbers

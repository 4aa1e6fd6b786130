"""Tables from text files: finds delimiter, encoding and decimal sign, and checks the number of fields in each line.

A file that could be read in two ways is refused; assumptions are reported as remarks.
"""

import codecs
import csv
import gzip
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

import numpy as np

from heldout.errors import InputError
from heldout.readers.columns import check_names, damage_refused, first_line, named_columns

DELIMITERS = ",;\t|"
MISSING_TOKENS = (
    "", "?", ".", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "NULL", "null", "None", "NaN", "nan",
    "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Read as missing: those of pandas, and two more."""
NO_TEXT = "is the file complete, and text? Save it as UTF-8."
NO_ANSWER = ("k.A.", "k. A.", "n.a.", "n. a.")
"""Words for a missing value that are read as one with a remark, in a table to predict from."""

_SAMPLE_BYTES = 1 << 18
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_DECIMAL_POINT = re.compile(r"-?\d+\.\d+")
_MARKED_COMMA = re.compile(r"-?\d{1,3}(\.\d{3})+,\d+")
_MARKED = re.compile(r"-?\d{1,3}((\.\d{3})+,|(,\d{3})+\.)\d+")
_POINT_OF_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}\.\d{3}")
_MAYBE_THOUSANDS = re.compile(r"-?[1-9]\d{0,2},\d{3}")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Dialect:
    """How a text file writes a table."""

    path: Path
    encoding: str
    delimiter: str
    decimal: str = "."

    @property
    def zipped(self) -> bool:
        return self.path.suffix.lower() == ".gz"

    def opened(self) -> IO[str]:
        """The text, with its line ends unchanged."""
        if self.zipped:
            return gzip.open(self.path, "rt", encoding=self.encoding, newline="")
        return self.path.open("r", encoding=self.encoding, newline="")


@dataclass(frozen=True)
class CellFormat:
    """How the cells of a table were read; a model keeps it for the tables that it predicts."""

    missing: Sequence[str] = ()
    """Further texts that stand for a missing value."""
    not_missing: Sequence[str] = ()
    """Those of ``MISSING_TOKENS`` and ``NO_ANSWER`` that are values."""
    decimal_comma: bool = False
    signs: Mapping[str, str] = field(default_factory=dict)
    """The decimal signs of columns whose numbers have marks between thousands."""


DECIMAL_COMMA = "Numbers are written with a decimal comma."


def read_csv(
    path: Path, not_missing: Sequence[str] = (), like: CellFormat | None = None
) -> tuple[Any, tuple[str, ...]]:
    """The table of a text file as pandas reads it, and remarks on assumptions.

    ``not_missing``: those of ``MISSING_TOKENS`` that are values in this file. ``like``: how an earlier table of the
    same kind was written, which decides what this one leaves open.

    A file that is not text, has lines of different lengths or two columns of one name, or can be read in two ways
    is refused.
    """
    with damage_refused(path, "text", NO_TEXT):
        like = like or CellFormat()
        dialect, remarks = _dialect_of(path, like.decimal_comma)
        names = _names_and_lengths(dialect)
        check_names(path, named_columns(names))
        tokens = [token for token in MISSING_TOKENS if token not in not_missing]
        as_text = {place: str for place, name in enumerate(names) if name in like.signs}
        frame = _frame(dialect, keep_default_na=False, na_values=tokens, dtype=as_text)
    frame.columns = named_columns(names)
    unnamed = next((place for place, name in enumerate(names) if not name), None)
    if unnamed is not None and frame.iloc[:, unnamed].tolist() == list(range(len(frame))):
        frame = frame.drop(columns=frame.columns[unnamed])
        remarks.append("The column without a name holds row numbers and was excluded.")
    for name in frame.columns[[dtype.kind not in "iufb" for dtype in frame.dtypes]]:
        frame[name] = _long_numbers(frame[name])
    return frame, tuple(remarks)


def read_cells(path: Path) -> Any:
    """The table of a file that ``read_csv`` reads, with the text of every cell as the file has it."""
    dialect, _ = _dialect_of(path)
    frame = _frame(dialect, dtype=str, na_filter=False)
    frame.columns = named_columns([name.strip() for name in frame.columns])
    return frame


def _dialect_of(path: Path, comma: bool = False) -> tuple[Dialect, list[str]]:
    sample, encoding, remarks = _sample_of(path)
    with long_fields():
        delimiter = _delimiter_of(sample)
        decimal = _decimal_of(path, sample, delimiter, comma)
    if decimal == ",":
        remarks.append(DECIMAL_COMMA)
    return Dialect(path, encoding, delimiter, decimal), remarks


def _names_and_lengths(dialect: Dialect) -> list[str]:
    """The names in the first line; a line with more or fewer fields is refused, as pandas fills up short ones."""
    names: list[str] | None = None
    with dialect.opened() as stream, long_fields():
        rows = csv.reader(_without_nul(dialect.path, stream), delimiter=dialect.delimiter, skipinitialspace=True)
        before = 0
        for fields in rows:
            blank = not fields or (len(fields) == 1 and not fields[0].strip())
            if names is None:
                names = names if blank else [name.strip() for name in fields]
            elif not blank:
                check_length(dialect.path, (before + 1, rows.line_num), fields, len(names))
            before = rows.line_num
    if names is None:
        raise InputError(f"{dialect.path} holds one quoted blank; close or remove its quotation mark.")
    return names


def check_length(name: Any, lines: tuple[int, int], fields: Sequence[Any], width: int | None) -> None:
    """Refuse a record, from one line to another, that has not ``width`` fields."""
    if width is None or len(fields) == width:
        return
    where = f"line {lines[1]}" if lines[0] == lines[1] else f"the record from line {lines[0]} to line {lines[1]}"
    what = "close the quotation mark that was opened there"
    if lines[0] == lines[1]:
        what = "name every column in the first line, and quote fields that hold the delimiter"
        if len(fields) < width:
            what = "write every field, leaving empty what is missing (is the file complete?)"
    raise InputError(
        f"{name} cannot be read as a table: {where} has {len(fields)} fields where {width} were expected; {what}."
    )


def _without_nul(path: Path, lines: IO[str]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise InputError(
                f"{path} contains a NUL character in line {number}, which text does not; save it as UTF-8."
            )
        yield line


def _frame(dialect: Dialect, **more: Any) -> Any:
    import pandas as pd

    # Before 3.1 pandas' own parser of numbers could be off by the last bit, which would change a run's identity.
    older = tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1)
    exact = {"float_precision": "round_trip"} if older else {}
    try:
        with warnings.catch_warnings():
            # index_col=False keeps a first column that lacks a name; a row longer than the header warns then.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                dialect.path,
                sep=dialect.delimiter,
                encoding=dialect.encoding,
                compression="gzip" if dialect.zipped else None,
                decimal=dialect.decimal,
                index_col=False,
                skipinitialspace=True,
                low_memory=False,
                **exact,
                **more,
            )
    except UnicodeDecodeError:
        raise
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError, ValueError) as error:
        if "out of memory" in str(error):
            raise MemoryError from None
        raise InputError(f"{dialect.path} cannot be read as a table: {_why(error)}") from None


def _sample_of(path: Path) -> tuple[str, str, list[str]]:
    """The beginning of a text file, cut at the end of a line if possible, with its encoding and remarks."""
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
        raw = stream.read(_SAMPLE_BYTES)
        is_cut = bool(stream.read(1))
    encoding, remarks = "utf-8-sig", []
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        encoding = "utf-32"
    elif raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif b"\0" in raw:
        raise InputError(f"{path} is neither text nor Parquet; save it as CSV (in UTF-8) or Parquet.")
    try:
        sample = codecs.getincrementaldecoder(encoding)().decode(raw, final=not is_cut)
    except UnicodeDecodeError:
        if encoding != "utf-8-sig":
            raise
        encoding = "cp1252"
        sample = raw.decode(encoding, errors="replace")
        remarks.append("The file is not UTF-8 and was read as Windows-1252; check accented letters.")
    if not sample.strip():
        raise InputError(f"{path} holds only blank lines; a table needs column names and rows.")
    if is_cut and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    return sample, encoding, remarks


def _delimiter_of(sample: str) -> str:
    """The delimiter that divides the first lines into equally many fields; of several, the one with most fields."""
    lines = _LINE_END.split(sample.lstrip(), maxsplit=50)[:50]

    def agreement(delimiter: str) -> tuple[float, int]:
        lengths = [
            len(fields) for fields in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if fields
        ]
        width = lengths[0]
        return (sum(length == width for length in lengths) / len(lengths) if width > 1 else 0.0, width)

    return max(DELIMITERS, key=agreement)


def _decimal_of(path: Path, sample: str, delimiter: str, comma: bool) -> str:
    """A comma if numbers have commas and none has a point, else a point; refused if commas could mark thousands.

    ``comma``: whether an earlier table had decimal commas, so that signs that could be either are read as there.
    """
    if delimiter == ",":
        return "."
    rows = csv.reader(_LINE_END.split(sample), delimiter=delimiter, skipinitialspace=True)
    columns = [[field.strip() for field in column] for column in zip_longest(*rows, fillvalue="")]
    # A column with 1.234,56 or 1,234.56 shows what its own signs mean, and says nothing of a sign alone elsewhere.
    fields = [field for column in columns if not any(map(_MARKED.fullmatch, column)) for field in column]
    with_comma = [field for field in fields if _DECIMAL_COMMA.fullmatch(field)]
    with_point = [field for field in fields if _DECIMAL_POINT.fullmatch(field)]
    marked_comma = any(_MARKED_COMMA.fullmatch(field) for column in columns for field in column)
    if with_point and not ((marked_comma or comma) and all(map(_POINT_OF_THOUSANDS.fullmatch, with_point))):
        return "."
    either = with_point[:1]
    if not with_point and not marked_comma and all(map(_MAYBE_THOUSANDS.fullmatch, with_comma)):
        either = with_comma[:1]
    if either and not comma:
        sign = "point" if with_point else "comma"
        raise InputError(
            f"{path} holds {either[0]!r}, whose {sign} can mark thousands or decimals; write numbers like 1234.5."
        )
    return "," if marked_comma or with_comma or with_point else "."


def _long_numbers(column: Any) -> Any:
    """Convert whole numbers too long for an integer type, which pandas leaves as objects, to floats."""
    present = column.dropna()
    if not all(_WHOLE.fullmatch(str(value).strip()) for value in present):
        return column
    numbers = present.map(lambda value: float(str(value))).reindex(column.index).astype("float64")
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        first = int(infinite.argmax())
        raise InputError(
            f"column {column.name!r} holds a whole number of over 308 digits in row {first + 1}, but the "
            "largest number is 1.8e308; scale the numbers, or if they are labels write them as text (such as n123)."
        )
    return numbers


@contextmanager
def long_fields() -> Iterator[None]:
    """Let Python's csv module read fields of any length; by default it stops at 131 072 characters."""
    before = csv.field_size_limit(sys.maxsize if sys.maxsize < 2**31 else 2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _why(error: Exception) -> str:
    if "EOF inside string" in str(error):
        return "a quotation mark is opened and never closed; close or remove it."
    return f"{first_line(error)}."

"""Tables from files: CSV, Parquet, or one of the sets that scikit-learn ships.

A table comes with what was assumed while reading it (``remarks``), so that nothing is decided in silence.
What a column is used for is decided later, in ``table_task`` and ``table_predictions``.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.adapters.own_roles import OwnRoles, roles_of_metadata
from heldout.errors import InputError, MissingExtraError

EXAMPLES = ("breast_cancer", "diabetes", "digits", "iris", "wine")
DELIMITERS = ",;\t|"
MISSING_TOKENS = ["?", "."]
"""Read as missing besides pandas' own (empty, NA, N/A, NaN, null, None and their like)."""

_SAMPLE_BYTES = 1 << 18
_DECIMAL_COMMA = re.compile(r"(?:^|;)\s*-?\d+,\d+\s*(?:;|$)", re.MULTILINE)
_DECIMAL_POINT = re.compile(r"(?:^|;)\s*-?\d+\.\d+\s*(?:;|$)", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read.

    Attributes
    ----------
    name : str
        For sentences: the file as the user wrote it, or ``example:NAME``.
    frame : pandas.DataFrame
        Rows numbered from 0; at least one row; distinct column names, all text.
    remarks : tuple of str
        What was assumed, each a sentence.
    roles : OwnRoles or None
        What the columns are, where the file says it (predictions that heldout wrote).
    """

    name: str
    frame: Any
    remarks: tuple[str, ...] = ()
    roles: OwnRoles | None = None

    def column(self, name: str, purpose: str) -> Any:
        """A column by name, as a pandas Series.

        Raises
        ------
        InputError
            When there is none of that name; the sentence names the nearest.
        """
        if name in self.frame.columns:
            return self.frame[name]
        raise InputError(f"{self.name} has no column {name!r} to use as {purpose}; {self._nearest(name)}")

    def _nearest(self, name: str) -> str:
        names = list(self.frame.columns)
        by_lower = {known.lower(): known for known in names}
        close = difflib.get_close_matches(name.lower(), list(by_lower), n=3, cutoff=0.5)
        if close:
            found = [by_lower[match] for match in close]
            return f"the nearest {'names are' if len(found) > 1 else 'name is'} {quoted(found)}."
        if all(reads_as_number(known) for known in names):
            return (
                f"its first line, {quoted(names)}, looks like data; the first line of a table must hold the "
                "column names."
            )
        return f"its columns are {quoted(names, 12)}."


def quoted(names: Sequence[Any], most: int = 5) -> str:
    """Names for a sentence: the first few, and how many more."""
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def read_table(source: str | Path) -> Table:
    """Read a table.

    Parameters
    ----------
    source : str or Path
        A CSV file (delimiter found among comma, semicolon, tab and bar; may be gzipped), a Parquet file, or
        ``example:NAME`` with a name of ``EXAMPLES``.

    Raises
    ------
    InputError
        When the file is missing, empty, not readable as a table, or has columns of the same name.

    Examples
    --------
    >>> read_table("example:iris").frame.shape
    (150, 5)
    """
    text = str(source)
    if text.startswith("example:"):
        return _example(text.removeprefix("example:"))
    path = Path(source)
    _check_file(path)
    with path.open("rb") as stream:
        is_parquet = stream.read(4) == b"PAR1" or path.suffix.lower() in (".parquet", ".pq")
    table = _read_parquet(path) if is_parquet else _read_csv(path)
    if not len(table.frame):
        raise InputError(f"{text} has column names but no rows; a table needs at least one row.")
    return table


def _check_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a CSV or Parquet file in it.")
        if not path.exists():
            near = _nearest_files(path)
            raise InputError(
                f"there is no file {path}; give a CSV or Parquet file, or example:breast_cancer.{near}"
            )
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty (0 bytes); a table needs column names and rows.")
        with path.open("rb"):
            pass
    except PermissionError:
        raise InputError(f"{path} cannot be read: permission denied; change its permissions.") from None


def _nearest_files(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f" The folder {folder} does not exist either."
    close = difflib.get_close_matches(path.name, [entry.name for entry in folder.iterdir()], n=1, cutoff=0.75)
    return f" Did you mean {folder / close[0]}?" if close else ""


def _example(name: str) -> Table:
    if name not in EXAMPLES:
        close = difflib.get_close_matches(name, EXAMPLES, n=1)
        hint = f" Did you mean example:{close[0]}?" if close else ""
        raise InputError(f"there is no example {name!r}; the examples are {', '.join(EXAMPLES)}.{hint}")
    _pandas()
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = bunch.frame.copy()
    if "target_names" in bunch and name != "digits":
        frame["target"] = [str(bunch.target_names[code]) for code in bunch.target]
    return Table(f"example:{name}", frame)


def _read_parquet(path: Path) -> Table:
    pd = _pandas()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrow = pq.read_table(path)
        roles = roles_of_metadata(arrow.schema.metadata, str(path))
        _check_names(path, list(arrow.schema.names))
        frame = arrow.to_pandas()
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} cannot be read as Parquet: {_first_line(error)}; is the file complete?") from None
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    frame.columns = [str(name) for name in frame.columns]
    _check_names(path, list(frame.columns))
    return Table(str(path), _plain_types(frame), roles=roles)


def _read_csv(path: Path) -> Table:
    pd = _pandas()
    sample, encoding, remarks = _sample_of(path)
    delimiter = _delimiter_of(sample)
    _check_names(path, _header(sample, delimiter))
    decimal = "."
    if delimiter == ";" and _DECIMAL_COMMA.search(sample) and not _DECIMAL_POINT.search(sample):
        decimal = ","
        remarks.append("Numbers are written with a decimal comma.")
    # Before 3.1 pandas' own way of reading a number could be off by the last bit, and other data is another run.
    older = tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1)
    exact = {"float_precision": "round_trip"} if older else {}
    try:
        with warnings.catch_warnings():
            # index_col=False keeps a first column that lacks a name; a row longer than the header warns then.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                path,
                sep=delimiter,
                encoding=encoding,
                decimal=decimal,
                index_col=False,
                na_values=MISSING_TOKENS,
                skipinitialspace=True,
                low_memory=False,
                **exact,
            )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise InputError(f"{path} cannot be read as a table: {_why(error)}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not text in {encoding} (byte {error.object[error.start]:#04x}); save it as UTF-8."
        ) from None
    except (pd.errors.EmptyDataError, ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read as a table: {_first_line(error)}.") from None
    frame.columns = [str(name).strip() for name in frame.columns]
    unnamed = [name for name in frame.columns if name.startswith("Unnamed: ")]
    if unnamed and frame[unnamed[0]].tolist() == list(range(len(frame))):
        frame = frame.drop(columns=unnamed[0])
        remarks.append("The column without a name holds row numbers and was set aside.")
    return Table(str(path), _plain_types(frame), tuple(remarks))


def _sample_of(path: Path) -> tuple[str, str, list[str]]:
    """The beginning of a text file, cut at a line's end, with its encoding."""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
            raw = stream.read(_SAMPLE_BYTES)
            rest = stream.read(1)
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {_first_line(error)}.") from None
    encoding, remarks = "utf-8-sig", []
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif b"\0" in raw:
        raise InputError(f"{path} is neither text nor Parquet; save it as CSV or Parquet.")
    if rest and b"\n" in raw:
        raw = raw[: raw.rindex(b"\n") + 1]
    try:
        sample = raw.decode(encoding, errors="ignore" if encoding == "utf-16" else "strict")
    except UnicodeDecodeError:
        encoding = "cp1252"
        sample = raw.decode(encoding, errors="replace")
        remarks.append("The file is not UTF-8 and was read as Windows-1252; check accented letters.")
    if not sample.strip():
        raise InputError(f"{path} holds only blank lines; a table needs column names and rows.")
    return sample, encoding, remarks


def _delimiter_of(sample: str) -> str:
    """The delimiter that cuts the first lines into the same number of fields, the more the better."""
    lines = sample.lstrip().splitlines()[:50]

    def agreement(delimiter: str) -> tuple[float, int]:
        lengths = [
            len(fields) for fields in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if fields
        ]
        width = lengths[0]
        return (sum(length == width for length in lengths) / len(lengths) if width > 1 else 0.0, width)

    return max(DELIMITERS, key=agreement)


def _header(sample: str, delimiter: str) -> list[str]:
    rows = csv.reader(sample.lstrip().splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True)
    return [name.strip() for name in next(rows)]


def _check_names(path: Path, names: Sequence[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise InputError(
            f"{path} has more than one column called {quoted(twice)}; give every column a name of its own"
            + (" (does its first line hold the names?)." if reads_as_number(twice[0]) else ".")
        )


def _plain_types(frame: Any) -> Any:
    """Types that scikit-learn takes: numbers, bool, text; pandas' nullable and category types are unpacked."""
    pd = _pandas()
    plain = {}
    for name in frame.columns:
        column = frame[name]
        dtype = column.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            column = column.astype(dtype.categories.dtype if not column.isna().any() else object)
            dtype = column.dtype
        if pd.api.types.is_extension_array_dtype(dtype) and pd.api.types.is_numeric_dtype(dtype):
            if pd.api.types.is_bool_dtype(dtype):
                column = column.astype(object if column.isna().any() else bool)
            else:
                column = column.astype("float64" if column.isna().any() else column.to_numpy().dtype)
        if column.dtype == object or pd.api.types.is_string_dtype(column.dtype):
            column = _plain_objects(column)
        plain[name] = column
    return pd.DataFrame(plain, index=pd.RangeIndex(len(frame)))


def _plain_objects(column: Any) -> Any:
    """Objects with NaN for whatever is missing; as text where their types differ."""
    present = column.dropna()
    kinds = {type(value) for value in present}
    if kinds and all(issubclass(kind, int | float | Decimal) and kind is not bool for kind in kinds):
        return column.astype("float64")
    if len(kinds) > 1 and all(issubclass(kind, str | int | float | bool) for kind in kinds):
        present = present.map(str)
    return present.astype(object).reindex(column.index)


def text_of(column: Any) -> NDArray[np.str_]:
    """A column of text as an array of NumPy's own.

    Raises
    ------
    InputError
        Where two texts would become one: NumPy drops NUL characters at a text's end.
    """
    objects = column.to_numpy()
    text = objects.astype(str)
    if len(set(text.tolist())) < len(set(map(str, objects))):
        raise InputError(
            f"column {column.name!r} holds texts that differ only in NUL characters at their end, which would be "
            "one label; remove these characters, or write the labels otherwise."
        )
    return np.asarray(text)


def _pandas() -> Any:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401  (Parquet, and so that the lack of it is said before the work)
    except ImportError:
        raise MissingExtraError("Reading tables", "app") from None
    return pd


def _why(error: Exception) -> str:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found:
        expected, line, saw = found.groups()
        return f"line {line} has {saw} fields where {expected} were expected; quote fields that hold the delimiter."
    if "Length of header" in str(error):
        return "its rows have more fields than the first line has names; name every column."
    if "EOF inside string" in str(error):
        return "a quotation mark is opened and never closed; close or remove it."
    return f"{_first_line(error)}."


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")


def reads_as_number(value: Any) -> bool:
    """Whether a value is a number, or text that a person would read as one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True

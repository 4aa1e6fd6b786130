"""Tables from files: CSV, Parquet, ARFF, R's, or one of the data sets that scikit-learn ships.

A table comes with the assumptions made while reading it (``remarks``). The use of each column is decided later, in
``table_task`` and ``predictions``.
"""

from __future__ import annotations

import difflib
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np

from heldout._text import is_one_of
from heldout.data.limits import FEWER, enough_memory, refuse_beyond_memory
from heldout.data.row_labels import row_labels
from heldout.errors import InputError, MissingExtraError, no_file, shown_path
from heldout.readers.columns import check_names, damage_refused, named_columns, quoted, reads_as_number
from heldout.readers.csv_table import MISSING_TOKENS, NO_ANSWER, CellFormat, read_cells, read_csv
from heldout.readers.r_file import R_SUFFIXES, read_r
from heldout.readers.text_lines import read_arff

_OF_CELLS = (str, bool, int, float, np.generic, Decimal, date, time, timedelta)
EXAMPLES = ("breast_cancer", "diabetes", "digits", "iris", "wine")


@dataclass(frozen=True, eq=False)
class Table:
    """A table read from a file."""

    name: str
    """The file as the user wrote it, or ``example:NAME``, for sentences."""
    frame: Any
    """At least one row, numbered from 0; distinct column names, all text."""
    remarks: tuple[str, ...] = ()
    """Sentences about assumptions that were made."""
    metadata: bytes | None = None
    """What a Parquet file that heldout wrote says of its columns, as JSON."""
    labels: Any = None
    """The labels of the rows of a data frame of pandas: its index."""
    written: bool = False
    """Whether its file holds text without types."""
    format: CellFormat = field(default_factory=CellFormat)
    """How ``cleaned`` read its cells."""

    def column(self, name: str, purpose: str) -> Any:
        """A column by name, as a pandas Series; the error for an unknown name suggests the nearest."""
        if name in self.frame.columns:
            return self.frame[name]
        raise InputError(f"{self.name} has no column {name!r} to use as {purpose}; {self._nearest(name)}")

    def purposes(self, uses: Mapping[str, Any]) -> dict[str, str]:
        """What each column is for, from the names of one or several columns for each purpose.

        A column that is missing, or has two uses, is refused.
        """
        purposes: dict[str, str] = {}
        for purpose, names in uses.items():
            for name in (names,) if isinstance(names, str) else names or ():
                self.column(name, purpose)
                if purposes.get(name) == purpose:
                    raise InputError(f"column {name!r} is named twice as {purpose}; name it once.")
                if name in purposes:
                    raise InputError(
                        f"column {name!r} cannot be both {purposes[name]} and {purpose}; name two columns."
                    )
                purposes[name] = purpose
        return purposes

    def _nearest(self, name: str) -> str:
        names = list(self.frame.columns)
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and all(part in names for part in parts):
            return f"it has {quoted(parts)}: give each by itself (on the command line, the option once for each)."
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


def read_table(source: str | Path, *, not_missing: Sequence[str] = (), like: CellFormat | None = None) -> Table:
    """Read a CSV file (delimiter found among comma, semicolon, tab and bar; may be gzipped), Parquet or ARFF file,
    a file of R (.rds, .rda), or ``example:NAME`` with a name of ``EXAMPLES``.

    ``not_missing``: texts such as None or NA that are values in a CSV file, and not missing ones. ``like``: how an
    earlier table was written; what it says of missing values has been checked.

    Examples
    --------
    >>> read_table("example:iris").frame.shape
    (150, 5)
    """
    text, path = str(source), Path(source)
    is_example = text.startswith("example:")
    if not is_example:
        check_file(path)
    kind = "example" if is_example else kind_of_file(path)
    read_as_missing = NO_ANSWER + (MISSING_TOKENS if kind == "text" else ())
    wrong = next((word for word in not_missing if word not in read_as_missing), None)
    if wrong is not None:
        raise InputError(
            f"--not-missing {wrong}: the text is read as a value in {text} anyway; leave the option out."
        )
    if is_example:
        return _example(text.removeprefix("example:"))
    _pandas()
    remarks: tuple[str, ...] = ()
    metadata = None
    with enough_memory(f"the table in {path}", FEWER):
        if kind == "parquet":
            frame, metadata = read_parquet(path)
        elif kind == "r":
            frame, remarks = read_r(path)
        elif kind == "arff":
            frame = read_arff(path)
        else:
            frame, remarks = read_csv(path, not_missing if like is None else like.not_missing, like)
        return with_rows(Table(text, _plain_types(frame), remarks, metadata, written=kind == "text"))


def kind_of_file(path: Path) -> Literal["parquet", "r", "arff", "text"]:
    """By which reader a file is read."""
    suffix = path.suffix.lower()
    with path.open("rb") as stream:
        if stream.read(4) == b"PAR1" or suffix in (".parquet", ".pq"):
            return "parquet"
    if suffix in R_SUFFIXES:
        return "r"
    return "arff" if suffix == ".arff" else "text"


def missing_as_written(table: Table, name: str) -> list[str]:
    """How the file of a table writes the missing cells of a column, where it does not leave them empty."""
    path = Path(table.name)
    if table.name.startswith("example:") or not path.is_file() or kind_of_file(path) != "text":
        return []
    return sorted({*read_cells(path)[name][table.frame[name].isna().to_numpy()]} - {""})


def table_of_frame(frame: Any, name: str = "the table") -> Table:
    """A data frame of pandas or polars as a table; an index with names becomes columns.

    Examples
    --------
    >>> import pandas as pd
    >>> table_of_frame(pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="row"))).frame.shape
    (2, 2)
    """
    pd = _pandas()
    labels = row_labels(frame)
    if not isinstance(frame, pd.DataFrame):
        frame = frame.to_pandas()
    named = [level for level in frame.index.names if level is not None]
    frame = frame.reset_index(drop=not named)
    frame.columns = named_columns(frame.columns)
    check_names(name, list(frame.columns))
    return with_rows(Table(name, _plain_types(frame), labels=labels))


def with_rows(table: Table) -> Table:
    if not len(table.frame):
        raise InputError(f"{table.name} has column names but no rows; a table needs at least one row.")
    return table


def check_file(path: Path) -> None:
    """Refuse a path that is not a readable file, with a sentence for each reason."""
    shown = shown_path(path)
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            raise InputError(f"{shown} is a folder; name a CSV or Parquet file in it.")
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{shown} is not a file but a pipe or device; write the table to a file first.")
        if found.st_size == 0:
            raise InputError(f"{shown} is empty (0 bytes); a table needs column names and rows.")
        with path.open("rb"):
            pass
    except InputError:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise no_file(path, "a CSV or Parquet file, or example:breast_cancer") from None
    except (OSError, ValueError) as error:  # a name that is too long, holds a NUL character, or leads in a circle
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{shown!r} cannot be read ({why.lower()}); give a CSV or Parquet file.") from None


def _example(name: str) -> Table:
    if not is_one_of(name, EXAMPLES):
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


def _plain_types(frame: Any) -> Any:
    """The columns in types that scikit-learn accepts: numbers, bool, text, without pandas' nullable types."""
    types = {name: dtype for name, dtype in frame.dtypes.items() if dtype == np.float16 or not _is_of_numpy(dtype)}
    plain = {name: _plain_type(frame[name]) for name in types}
    columns = {name: plain.get(name, frame[name]) for name in frame}  # `assign` takes no column called self
    return _pandas().DataFrame(columns, index=frame.index).set_axis(_pandas().RangeIndex(len(frame)))


def _is_of_numpy(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iufbmM"


def _plain_type(column: Any) -> Any:
    pd = _pandas()
    dtype = column.dtype
    if dtype == np.float16:
        return column.astype("float64")
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
    return column


def _plain_objects(column: Any) -> Any:
    """Objects with NaN for missing values; as text if their types differ."""
    pd = _pandas()
    if pd.api.types.infer_dtype(column, skipna=True) == "string":
        objects = column.astype(object)
        return objects.where(objects.notna(), np.nan) if objects.isna().any() else objects
    present = column.dropna()
    kinds = {type(value) for value in present}
    if kinds and all(issubclass(kind, int | float | Decimal) and kind is not bool for kind in kinds):
        return column.astype("float64")
    strange = [kind for kind in kinds if not issubclass(kind, _OF_CELLS)]
    if len(kinds) > 1 and all(issubclass(kind, str | int | float | bool) for kind in kinds):
        present = present.map(str)
    elif len(kinds) > 1 or strange:
        held = " and ".join(sorted(kind.__name__ for kind in strange or kinds))
        raise InputError(
            f"column {column.name!r} holds cells of type {held}; the cells of a column must be all numbers, all "
            "text or all dates: leave the column out, or write its parts as columns of their own."
        )
    return present.astype(object).reindex(column.index)


def _pandas() -> Any:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401  (needed for Parquet: its absence is reported before the work)
    except ImportError:
        raise MissingExtraError("Reading tables", "app") from None
    return pd


METADATA_KEY = b"heldout"
"""Of the metadata of a Parquet file."""


def read_parquet(path: Path) -> tuple[Any, bytes | None]:
    """The table of a Parquet file as pandas reads it, and what it says of its columns if heldout wrote it.

    A damaged file, two columns of one name, columns of lists or other compound values, and more rows than fit in
    memory are refused.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    with damage_refused(path, "Parquet", "is the file complete? If it is, save it as CSV."):
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        check_names(path, list(schema.names))
        # Two copies: the one that is read, and that of pandas. Text has no width, but at least a pointer.
        bits = [field.type.bit_width if pa.types.is_primitive(field.type) else 64 for field in schema]
        a_row = sum(max(width // 8, 1) for width in bits)
        what = f"the {metadata.num_rows:,} rows of {len(schema):,} columns in {path}"
        refuse_beyond_memory(2 * metadata.num_rows * a_row, what, FEWER, 1.0)
        frame = pq.read_table(path).to_pandas()
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    frame.columns = named_columns(frame.columns)
    check_names(path, list(frame.columns))
    return frame, (schema.metadata or {}).get(METADATA_KEY)

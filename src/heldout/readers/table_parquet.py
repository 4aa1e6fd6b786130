"""Tables from Parquet files: columns of numbers, text and dates, and what the file's writer says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heldout.errors import InputError
from heldout.readers.own_roles import OwnRoles, roles_of_metadata
from heldout.readers.table_words import check_names, first_line, plain, quoted


def read_parquet(path: Path) -> tuple[Any, OwnRoles | None]:
    """The table of a Parquet file as pandas reads it, and what heldout wrote of its columns.

    Raises
    ------
    InputError
        When the file is damaged, has columns of one name, or columns of lists and other things with parts.
    """
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
        check_names(path, list(schema.names))
        _check_types(path, schema)
        roles = roles_of_metadata(schema.metadata, str(path))
        arrow = pq.read_table(path)
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {first_line(error)}; is the file complete?") from None
    try:
        frame = arrow.to_pandas()
    except MemoryError:
        raise
    except Exception as error:  # pandas' metadata is anybody's too, and decoding it can raise anything
        raise InputError(
            f"{path} cannot be read as a table: its types or its metadata 'pandas' do not fit its columns "
            f"({type(error).__name__}: {first_line(error)}); write the file again, or save it as CSV."
        ) from None
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
    frame.columns = [str(name) for name in frame.columns]
    check_names(path, list(frame.columns))
    return frame, roles


def _check_types(path: Path, schema: Any) -> None:
    odd = {field.name: field.type for field in schema if not _is_plain(field.type)}
    if odd:
        name, kind = next(iter(odd.items()))
        every = f" (as do {quoted(list(odd)[1:])})" if len(odd) > 1 else ""
        raise InputError(
            f"column {name!r} of {path} holds {plain(kind)}{every}, and a cell must hold one number, text or "
            "date; write the file without it, or its parts as columns of their own."
        )


def _is_plain(kind: Any) -> bool:
    import pyarrow as pa

    of = pa.types
    if of.is_dictionary(kind):
        return _is_plain(kind.value_type)
    checks = (
        of.is_integer, of.is_floating, of.is_boolean, of.is_decimal, of.is_string, of.is_large_string,
        of.is_string_view, of.is_null, of.is_date, of.is_timestamp, of.is_time, of.is_duration,
    )  # fmt: skip
    return any(check(kind) for check in checks)

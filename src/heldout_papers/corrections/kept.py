"""Searches in a file: what was searched on samples of real tables, kept so that any method can be scored on it.

The file is Parquet, a row a search. Probabilities have four decimals and are kept as whole numbers of ten
thousandths; numbers have 12 bits of mantissa, which 32-bit floats hold. So the file gives the very predictions
whose true scores were computed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError, MissingExtraError
from heldout_papers.corrections.distribution import Floats
from heldout_papers.corrections.table_search import DECIMALS, METRICS, Kind, TableSearch

MISSING = 65_535
"""In place of the probability of a failed fit."""
BITS_OF_TRUTH = 17
"""Of the mantissa of a true score: a relative 1e-5."""
COLUMNS = ("kind", "rows", "number", "table", "y", "folds", "probabilities", "numbers")
KINDS: tuple[Kind, ...] = ("classification", "regression")


@dataclass(frozen=True, eq=False)
class KeptSearch:
    """A search on a sample of a table.

    Attributes
    ----------
    kind : "classification" or "regression"
    rows : int
        N.
    number : int
        Of the repetition: the searches of one kind and size are counted through.
    table : str
    search : TableSearch
    """

    kind: Kind
    rows: int
    number: int
    table: str
    search: TableSearch


@dataclass(frozen=True)
class SearchGroup:
    """Searches of one kind and size in a file."""

    kind: Kind
    rows: int
    repetitions: int  # One more than the greatest number
    tables: int


@dataclass(frozen=True)
class SearchFile:
    """A file of searches; by what it holds and not by its place kept results are recognised."""

    digest: str
    groups: tuple[SearchGroup, ...]
    path: str = field(repr=False)


def write_searches(searches: Iterable[KeptSearch], path: str | os.PathLike[str]) -> Path:
    """Write searches, each kind and size as a group of rows of its own."""
    pa, pq = _pyarrow("write_searches")
    ordered = sorted(searches, key=lambda one: (one.kind, one.rows, one.number))
    if not ordered:
        raise InputError("there is no search to keep; at least one must have run to its end.")
    with pq.ParquetWriter(
        os.fspath(path),
        _schema(pa),
        compression="zstd",
        compression_level=19,
        use_dictionary=["kind", "table", "probabilities.list.element"],
        use_byte_stream_split=["numbers.list.element", *(f"{name}.list.element" for name in _truth_names())],
    ) as writer:
        for _, group in groupby(ordered, key=lambda one: (one.kind, one.rows)):
            rows = [_row_of(one) for one in group]
            writer.write_table(pa.Table.from_pylist(rows, schema=_schema(pa)))
    return Path(path)


def search_file(path: str | os.PathLike[str]) -> SearchFile:
    """What a file holds.

    Raises
    ------
    InputError
        When there is no such file, or it is no file of searches.
    """
    _, pq = _pyarrow("search_file")
    place = Path(path)
    if not place.is_file():
        raise InputError(f"searches must be a file of kept searches, and {place} is none.", argument="searches")
    try:
        heads = pq.read_table(place, columns=["kind", "rows", "number", "table"]).to_pylist()
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{place} is no file of kept searches ({type(error).__name__}); give one that this study wrote.",
            argument="searches",
        ) from None
    groups = []
    for kind in KINDS:
        for rows in sorted({head["rows"] for head in heads if head["kind"] == kind}):
            of = [head for head in heads if (head["kind"], head["rows"]) == (kind, rows)]
            most = max(head["number"] for head in of) + 1
            groups.append(SearchGroup(kind, rows, most, len({head["table"] for head in of})))
    if not groups:
        raise InputError(f"{place} holds no search.", argument="searches")
    return SearchFile(hashlib.sha256(place.read_bytes()).hexdigest()[:16], tuple(groups), str(place.absolute()))


@lru_cache(maxsize=1)
def searches_in(file: SearchFile, kind: Kind, rows: int) -> Mapping[int, KeptSearch]:
    """The searches of a kind and size, by their numbers."""
    _, pq = _pyarrow("searches_in")
    table = pq.read_table(file.path, filters=[("kind", "=", kind), ("rows", "=", rows)])
    return {row["number"]: _search_of(row) for row in table.to_pylist()}


def all_searches(path: str | os.PathLike[str]) -> list[KeptSearch]:
    """Every search of a file."""
    file = search_file(path)
    return [one for group in file.groups for one in searches_in(file, group.kind, group.rows).values()]


def as_codes(probabilities: Floats) -> NDArray[np.uint16]:
    """Probabilities as whole numbers of ten thousandths.

    Examples
    --------
    >>> as_codes(np.array([0.5, 0.1234, np.nan])).tolist()
    [5000, 1234, 65535]
    """
    codes = np.round(probabilities * 10**DECIMALS)
    return np.where(np.isnan(codes), MISSING, codes).astype(np.uint16)


def as_probabilities(codes: NDArray[np.uint16]) -> Floats:
    """And back."""
    return np.where(codes == MISSING, np.nan, np.round(codes / 10**DECIMALS, DECIMALS))


def rounded_truths(values: Floats) -> Floats:
    """To ``BITS_OF_TRUTH`` bits of the mantissa."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(mantissa * 2.0**BITS_OF_TRUTH), exponent - BITS_OF_TRUTH))


def _truth_names() -> list[str]:
    return [f"{word}_{metric}" for kind in KINDS for metric in METRICS[kind] for word in ("truth", "of_folds")]


def _schema(pa: Any) -> Any:
    kinds = {
        "kind": pa.string(),
        "rows": pa.int32(),
        "number": pa.int32(),
        "table": pa.string(),
        "y": pa.list_(pa.float64()),
        "folds": pa.list_(pa.uint8()),
        "probabilities": pa.list_(pa.uint16()),
        "numbers": pa.list_(pa.float32()),
    }
    truths = {name: pa.list_(pa.float32()) for name in _truth_names()}
    return pa.schema([(name, kind) for name, kind in (kinds | truths).items()])


def _row_of(one: KeptSearch) -> dict[str, Any]:
    search, predictions = one.search, one.search.predictions.ravel()
    is_class = one.kind == "classification"
    truths = {
        f"{word}_{metric}": rounded_truths(scores[metric]).astype(np.float32)
        for word, scores in (("truth", search.truths), ("of_folds", search.truths_of_folds))
        for metric in METRICS[one.kind]
    }
    return {
        "kind": one.kind,
        "rows": one.rows,
        "number": one.number,
        "table": one.table,
        "y": search.y,
        "folds": search.folds.astype(np.uint8),
        "probabilities": as_codes(predictions) if is_class else None,
        "numbers": None if is_class else predictions.astype(np.float32),
        **truths,
    }


def _search_of(row: Mapping[str, Any]) -> KeptSearch:
    kind: Kind = row["kind"]
    if kind == "classification":
        flat = as_probabilities(np.array(row["probabilities"], dtype=np.uint16))
    else:
        flat = np.array(row["numbers"], dtype=np.float64)
    truths, of_folds = (
        {metric: np.array(row[f"{word}_{metric}"], dtype=np.float64) for metric in METRICS[kind]}
        for word in ("truth", "of_folds")
    )
    found = TableSearch(
        np.array(row["y"], dtype=np.float64),
        np.array(row["folds"], dtype=np.int32),
        flat.reshape(row["rows"], -1),
        truths,
        of_folds,
    )
    return KeptSearch(kind, row["rows"], row["number"], row["table"], found)


def _pyarrow(feature: str) -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError(feature, "app") from None
    return pa, pq


def of_tables(searches: Iterable[KeptSearch], names: Sequence[str]) -> list[KeptSearch]:
    """Those on some tables only."""
    return [one for one in searches if one.table in set(names)]

"""A Parquet file of predictions, read in blocks of rows, with only a few blocks in memory.

Blocks are counted in rows of the table, so the file's row groups and the size of batches do not change them. A
reader holds the path, and opens the file on the worker that receives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument
from heldout.data.task import TaskKind, Truth, codes_of, labels_text, no_labels, truth_of
from heldout.errors import InputError, MissingExtraError
from heldout.estimates.out_of_core import Block
from heldout.kernels.block_draws import BLOCK_ROWS
from heldout.metrics.base import Metric
from heldout.readers.columns import first_line, quoted
from heldout.readers.own_metadata import ColumnRoles, roles_of_metadata
from heldout.readers.predictions import NO_CONFIGURATION
from heldout.readers.tables import check_file

FEWEST_BLOCKS, MOST_BLOCKS = 8, 32
"""Blocks of a range that is read at once."""
READ_AHEAD = 1 << 20
"""Bytes of a column that are read at once."""


@dataclass(frozen=True, eq=False)
class ParquetBlocks:
    """A ``BlockSource``."""

    path: str
    target: str
    """The column of true values."""
    names: tuple[str, ...]
    """The columns that are configurations."""
    n_rows: int
    kind: TaskKind
    classes: NDArray[Any] | None = None
    """The labels of the whole file."""
    positive: int | None = None
    adaptive: bool = False
    """Whether the configurations are those of an adaptive search, as in ``HeldOutPredictions``."""
    block_rows: int = BLOCK_ROWS
    batch_rows: int = BLOCK_ROWS
    """``block_rows``, ``batch_rows``: rows of a block, and rows that are decoded at once."""

    @property
    def name(self) -> str:
        return self.path

    def no_rows(self) -> Truth:
        """The target with no rows: its kind and classes."""
        return Truth(self.kind, np.zeros(0, dtype=np.int32), self.classes, self.positive)

    def ranges(self) -> list[tuple[int, int]]:
        """Ranges that begin near the start of a row group, because a group is decoded from its start."""
        n_blocks = -(-self.n_rows // self.block_rows)
        with _open(self.path) as file:
            starts = [0, *np.cumsum(_group_rows(file)).tolist()]
        ends = [0]
        for start in starts[1:-1]:
            block = -(-start // self.block_rows)
            if block - ends[-1] >= FEWEST_BLOCKS and n_blocks - block >= FEWEST_BLOCKS:
                ends.append(block)
        ends.append(n_blocks)
        ranges = []
        for first, last in pairwise(ends):
            parts = -(-(last - first) // MOST_BLOCKS)
            cuts = [first + (last - first) * part // parts for part in range(parts + 1)]
            ranges += list(pairwise(cuts))
        return ranges

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Blocks ``first .. last - 1``; missing values and labels that the target lacks are refused."""
        begin, end = first * self.block_rows, min(last * self.block_rows, self.n_rows)
        pieces: list[Block] = []
        held = 0
        for row, batch in self._batches(begin, end):
            taken = 0
            while taken < batch.num_rows:
                wanted = min(self.block_rows - held, batch.num_rows - taken)
                pieces.append(self._piece(batch.slice(taken, wanted), row + taken))
                held, taken = held + wanted, taken + wanted
                if held == self.block_rows or row + taken == end:
                    yield _joined(pieces)
                    pieces, held = [], 0

    def _batches(self, begin: int, end: int) -> Iterator[tuple[int, Any]]:
        """Record batches of rows ``begin .. end - 1`` with the number of their first row."""
        with _open(self.path) as file:
            starts = np.concatenate([[0], np.cumsum(_group_rows(file))])
            groups = np.flatnonzero((starts[:-1] < end) & (starts[1:] > begin))
            row = int(starts[groups[0]])
            columns = [self.target, *self.names]
            for batch in file.iter_batches(self.batch_rows, groups.tolist(), columns, use_threads=False):
                low, high = max(begin - row, 0), min(end - row, batch.num_rows)
                if low < high:
                    yield row + low, batch.slice(low, high - low)
                row += batch.num_rows
                if row >= end:
                    return

    def _piece(self, batch: Any, row: int) -> Block:
        columns = [batch.column(batch.schema.get_field_index(name)) for name in (self.target, *self.names)]
        for name, column in zip((self.target, *self.names), columns, strict=True):
            if column.null_count:
                place = row + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
                raise InputError(
                    f"{self.path}: column {name!r} has a missing value in row {place} (counted from 0); a table "
                    "that is read in blocks must be complete: leave out that row or configuration."
                )
        target, *predictions = columns
        truth = Truth(self.kind, self._target(target, row), self.classes, self.positive)
        if _is_text(predictions[0].type):
            return Block(truth, np.stack([self._codes(column) for column in predictions], axis=1), coded=True)
        numbers = [_numbers(column) for column in predictions]
        array = np.empty((len(target), len(numbers)), dtype=np.result_type(*numbers))
        for j, column in enumerate(numbers):
            array[:, j] = column
        return Block(truth, array)

    def _target(self, column: Any, row: int) -> NDArray[Any]:
        if self.kind.is_classification:
            return self._codes(column)
        values = _numbers(column).astype(np.float64)
        if not np.isfinite(values).all():
            place = row + int((~np.isfinite(values)).argmax())
            raise InputError(f"{self.path}: the target {self.target!r} in row {place} is {values[place - row]}.")
        return values

    def _codes(self, column: Any) -> NDArray[np.int32]:
        """Class codes of labels."""
        assert self.classes is not None, "labels are of a classification"
        if not _is_text(column.type):
            return codes_of(_numbers(column), self.classes)
        encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
        labels = np.array(encoded.dictionary.to_pylist(), dtype=object)
        codes = codes_of(labels, self.classes)
        taken: NDArray[np.int32] = codes[encoded.indices.to_numpy(zero_copy_only=False)]
        if (taken < 0).any():
            raise InputError(
                f"{self.path}: predictions hold labels that the target lacks: {labels_text(labels[codes < 0])}; "
                f"its classes are {labels_text(self.classes)}."
            )
        return taken


def open_blocks(
    path: str | Path,
    target: str,
    metric: Metric,
    *,
    configurations: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    pos_label: Any = None,
    block_rows: int = BLOCK_ROWS,
    batch_rows: int = BLOCK_ROWS,
) -> ParquetBlocks:
    """A reader of a file, whose columns and labels of the target are checked first."""
    with _open(str(path)) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        roles = roles_of_metadata(schema.metadata, str(path))
        _check_one_repeat(file, roles, str(path))
    names = _configurations(str(path), schema, target, configurations, exclude)
    kind = TaskKind.REGRESSION
    classes, positive = None, None
    if metric.tasks != {TaskKind.REGRESSION}:
        labels = _labels(str(path), target, metric)
        truth = truth_of(labels, TaskKind.MULTICLASS, pos_label=pos_label)
        kind, classes, positive = truth.kind, truth.classes, truth.positive
    elif pos_label is not None:
        raise InputError(
            f"{argument('pos_label', pos_label)} is for labels, but {metric.name} compares numbers; leave it out.",
            argument="pos_label",
        )
    adaptive = roles is not None and roles.adaptive
    return ParquetBlocks(
        str(path), target, names, n_rows, kind, classes, positive, adaptive, block_rows, batch_rows
    )


def _check_one_repeat(file: Any, roles: ColumnRoles | None, path: str) -> None:
    """Refuse heldout's own table of several repeats: read in blocks, every line counts as a row of its own."""
    if roles is None or "repeat" not in file.schema_arrow.names:
        return
    for batch in file.iter_batches(BLOCK_ROWS, columns=["repeat"], use_threads=False):
        if len(batch.column(0).unique()) > 1 or batch.column(0)[0].as_py() != 0:
            raise InputError(
                f"{path} holds several repeats of the same rows, which would count as different rows where a table "
                "is read in blocks; read it whole (heldout estimate without --out-of-core), or give a file of "
                "one repeat."
            )


def _configurations(
    path: str, schema: Any, target: str, wanted: Sequence[str] | None, exclude: Sequence[str]
) -> tuple[str, ...]:
    known = list(schema.names)
    if isinstance(wanted, str):
        raise InputError(
            f"configurations must be a list of columns, got the text {wanted!r}; write [{wanted!r}].",
            argument="configurations",
        )
    names = [name for name in known if name not in (target, *exclude)] if wanted is None else list(wanted)
    for name in (target, *names, *exclude):
        if known.count(name) != 1:
            has = "has no column" if name not in known else "has several columns"
            raise InputError(f"{path} {has} {name!r}; its columns are {quoted(known, 12)}.")
    if not names or target in names:
        raise InputError(
            f"configurations must be columns of {path} other than the target {target!r}, got {names}.",
            argument="configurations",
        )
    if wanted is None:
        _refuse_other_columns(path, names)
    of_text = [name for name in names if _is_text(schema.field(name).type)]
    for name in (target, *names):
        if not (_is_text(schema.field(name).type) or _is_number(schema.field(name).type)):
            raise InputError(
                f"{path}: column {name!r} holds {schema.field(name).type}, neither numbers nor labels; list the "
                "columns that are configurations."
            )
    if of_text and len(of_text) < len(names):
        number = next(name for name in names if name not in of_text)
        raise InputError(
            f"{path}: column {of_text[0]!r} holds text and {number!r} numbers; configurations must be of one kind: "
            "list those that are."
        )
    return tuple(names)


def _refuse_other_columns(path: str, names: Sequence[str]) -> None:
    for name in names:
        if name.lower() in NO_CONFIGURATION:
            raise InputError(
                f"{path}: column {name!r} does not look like a configuration; list those that are (folds, groups "
                "and weights are not used where a table is read in blocks)."
            )
        if name.endswith("]") and "[" in name:
            raise InputError(
                f"{path}: column {name!r} looks like the probability of one class of several; where a table is "
                "read in blocks, a configuration has one column."
            )


def _labels(path: str, target: str, metric: Metric) -> NDArray[Any]:
    """The distinct values of the target."""
    found: set[Any] = set()
    with _open(path) as file:
        for batch in file.iter_batches(BLOCK_ROWS, columns=[target], use_threads=False):
            column = batch.column(0)
            if not column.null_count:
                found |= set(column.unique().to_pylist())
    labels = np.array(sorted(found), dtype=object if any(isinstance(value, str) for value in found) else None)
    fractions = no_labels(labels)
    if fractions.any():
        raise InputError(
            f"metric '{metric.name}' is for labels, but column {target!r} of {path} holds numbers with fractions "
            f"(such as {labels[fractions][0]:.6g}); use a metric of numbers, or name another target."
        )
    return labels


def _joined(pieces: list[Block]) -> Block:
    if len(pieces) == 1:
        return pieces[0]
    first = pieces[0].truth
    values = np.concatenate([piece.truth.values for piece in pieces])
    truth = Truth(first.kind, values, first.classes, first.positive)
    return Block(truth, np.concatenate([piece.predictions for piece in pieces]), pieces[0].coded)


def _open(path: str) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("reading a Parquet file in blocks", "app") from None
    check_file(Path(path))
    try:
        # Read a little of each column at a time, not a whole row group in advance.
        return pq.ParquetFile(path, buffer_size=READ_AHEAD, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {first_line(error)}; is the file complete?") from None


def _group_rows(file: Any) -> list[int]:
    return [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type)
    checks = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    return any(check(kind) for check in checks)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    checks = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
    return any(check(kind) for check in checks)


def _numbers(column: Any) -> NDArray[Any]:
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    array: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return array

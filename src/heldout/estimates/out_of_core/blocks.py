"""Where rows come from, a block at a time: a first look at the table, and what a metric reads of a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.errors import InputError
from heldout.estimates.responses import ResponseName, check_settings, read_response, response_of
from heldout.metrics.base import Metric, Response


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows of a table of predictions."""

    truth: Truth  # of n rows: every block has the classes of the whole table
    # (n, C): numbers as they were written, or class codes (int32) where labels were written as text
    predictions: NDArray[Any]
    coded: bool = False  # whether they are those codes


class BlockSource(Protocol):
    """A table of predictions that is read in blocks; it is sent to workers, so it holds a path and no rows.

    Attributes
    ----------
    name : str
        For sentences.
    names : sequence of str
        Of the C configurations.
    n_rows, block_rows : int
        Block k holds rows ``k block_rows .. (k + 1) block_rows - 1``, the last block what is left.
    adaptive : bool
        Whether the configurations are those of an adaptive search.
    """

    @property
    def name(self) -> str: ...
    @property
    def names(self) -> Sequence[str]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def block_rows(self) -> int: ...
    @property
    def adaptive(self) -> bool: ...

    def ranges(self) -> list[tuple[int, int]]:
        """All blocks, divided into ranges ``first .. last - 1`` that are well read in one go."""

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Blocks ``first .. last - 1``, one after another."""


@dataclass(frozen=True, eq=False)
class BlockReading:
    """What a metric reads of a block."""

    metric: Metric  # as it is on the table's target
    response: Response
    threshold: float | None = None

    def of(self, block: Block) -> NDArray[Any]:
        """(n, C), in the response that the metric reads."""
        if block.truth.kind is TaskKind.REGRESSION:
            return np.asarray(block.predictions, dtype=np.float64)
        if block.coded:
            return block.predictions
        array = block.predictions[:, :, None, None]
        response: Any = self.response.value
        _, held = read_response(block.truth, array, self.metric, response, self.threshold)
        return held[:, :, 0]


def refuse_unusable(block: Block, first_row: int, source: BlockSource) -> None:
    """Refuse what is missing or infinite, naming its place."""
    numbers = block.predictions
    if numbers.dtype.kind != "f" or np.isfinite(numbers).all():
        return
    row, column = (int(found) for found in np.argwhere(~np.isfinite(numbers))[0])
    what = "missing" if np.isnan(numbers[row, column]) else "infinite"
    raise InputError(
        f"{source.name}: the prediction of {source.names[column]!r} in row {first_row + row} (counted from 0) is "
        f"{what}; a table that is read in blocks must be complete and finite: leave out that row or configuration."
    )


SAMPLED = 131_072
"""Rows that are looked at more closely, in even steps from every block; all of a smaller table."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What was found in some blocks."""

    class_counts: NDArray[np.intp]  # (n_classes,): empty for a regression
    # least, greatest (C,): ends of the predictions
    least: NDArray[Any]
    greatest: NDArray[Any]
    other: NDArray[Any]  # (C,): a prediction that is no class of the target, where there is one; otherwise any
    sample: Block


def survey_range(source: BlockSource, first: int, last: int) -> Survey:
    """Look at blocks ``first .. last - 1``."""
    wanted = max(1, SAMPLED // -(-source.n_rows // source.block_rows))
    found = []
    for k, block in enumerate(source.blocks(first, last), first):
        refuse_unusable(block, k * source.block_rows, source)
        rows = np.arange(0, block.truth.n_rows, max(1, -(-block.truth.n_rows // wanted)))
        found.append(_survey(block, rows))
    return joined(found)


def _survey(block: Block, rows: NDArray[np.intp]) -> Survey:
    truth, numbers = block.truth, block.predictions
    other = numbers[0]
    if truth.classes is not None and truth.classes.dtype.kind in "iufb":
        known = np.isin(numbers, truth.classes)
        other = numbers[known.argmin(axis=0), np.arange(numbers.shape[1])]
    counts = truth.class_counts() if truth.classes is not None else np.zeros(0, dtype=np.intp)
    sample = Block(truth.rows(rows), numbers[rows], block.coded)
    return Survey(counts, numbers.min(axis=0), numbers.max(axis=0), other, sample)


def joined(parts: Sequence[Survey]) -> Survey:
    """What was found in all of them."""
    first = parts[0]
    truth = first.sample.truth
    values = np.concatenate([part.sample.truth.values for part in parts])
    predictions = np.concatenate([part.sample.predictions for part in parts])
    others = np.stack([part.other for part in parts])
    other = others[0]
    if truth.classes is not None and truth.classes.dtype.kind in "iufb":
        other = others[np.isin(others, truth.classes).argmin(axis=0), np.arange(others.shape[1])]
    return Survey(
        np.sum([part.class_counts for part in parts], axis=0),
        np.min([part.least for part in parts], axis=0),
        np.max([part.greatest for part in parts], axis=0),
        other,
        Block(Truth(truth.kind, values, truth.classes, truth.positive), predictions, first.sample.coded),
    )


def block_reading(survey: Survey, metric: Metric, response: ResponseName, threshold: float | None) -> BlockReading:
    """What the metric reads of every block, decided as for a table in memory."""
    check_settings(response, threshold)
    truth = survey.sample.truth
    if truth.kind is TaskKind.REGRESSION:
        if response != "auto" or threshold is not None:
            raise InputError(
                f"response and threshold are for classifications, but {metric.name} compares numbers here; leave "
                "them out."
            )
        return BlockReading(metric, Response.VALUES)
    if survey.sample.coded:
        if Response.LABELS not in metric.responses or threshold is not None or response not in ("auto", "labels"):
            raise InputError(
                f"the predictions are text, and so labels, but {metric.name} was to read "
                f"{' or '.join(metric.responses) if Response.LABELS not in metric.responses else 'scores'}; "
                "name the columns of those as configurations."
            )
        return BlockReading(metric, Response.LABELS)
    # The ends of every column and a value that is no label decide as the whole column would.
    extremes = np.stack([survey.least, survey.greatest, survey.other])[:, :, None, None]
    kind = response_of(truth, extremes, metric, threshold) if response == "auto" else Response(response)
    return BlockReading(metric, kind, threshold)


def check_classes(survey: Survey) -> None:
    """Refuse a class of which a bootstrap cannot draw a row and leave one out."""
    classes = survey.sample.truth.classes
    if classes is None:
        return
    for code in np.flatnonzero(survey.class_counts < 2).tolist():
        raise InputError(
            f"class {labels_text(classes[code : code + 1])} has {counted(int(survey.class_counts[code]), 'row')}, "
            "and a bootstrap needs at least 2, one to draw and one to leave out; gather more rows of it."
        )

"""A cell of work: one configuration on one split, and its result.

A search plans cells, its workers do them, and its store acknowledges them one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth
from heldout.errors import StoreError
from heldout.execution.fold_models import FittedModel
from heldout.folds.splits import Place
from heldout.metrics.base import Response
from heldout.predictions import UNPREDICTED_LABEL


class CellKey(NamedTuple):
    """Which cell: positions of the configuration and of the split's repeat and fold."""

    configuration: int
    repeat: int
    fold: int

    @property
    def place(self) -> Place:
        """Of its split."""
        return self.repeat, self.fold

    def __str__(self) -> str:
        return f"the cell of configuration {self.configuration}, repeat {self.repeat}, fold {self.fold}"


def is_among(
    key: CellKey, repeats: Collection[int] | None = None, configurations: Collection[int] | None = None
) -> bool:
    """Whether a cell is of some repeats and configurations; None means all."""
    return (repeats is None or key.repeat in repeats) and (
        configurations is None or key.configuration in configurations
    )


class CellState(StrEnum):
    """How a cell ended."""

    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"
    """Never fitted: its configuration was dropped before."""


class Saving(NamedTuple):
    """What sharing saved one fit: in a group all parts are equal, and their sum is what was really saved."""

    seconds: float | None
    """What a fit by itself would have taken longer; None where nothing tells how long that is."""
    n_bytes: float = 0.0
    """The output of shared steps that was read and not made again."""


@dataclass(frozen=True, eq=False)
class CellResult:
    """The result of a cell.

    ``test_scores``, ``train_scores``: as the scorers return them (greater = better); empty where not requested or
    failed.
    """

    key: CellKey
    state: CellState
    message: str = ""
    """Why it failed: the exception's type and text, or which response was not finite; empty when done."""
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    test_scores: Mapping[str, float] = field(default_factory=dict)
    train_scores: Mapping[str, float] = field(default_factory=dict)
    predictions: Mapping[Response, NDArray[Any]] = field(default_factory=dict)
    """Of the split's test rows, in their order: (n_test,) or (n_test, n_classes), as ``HeldOutPredictions`` holds
    them."""
    attempts: int = 1
    ahead_seconds: float = 0.0
    """Spent on steps that it shared, beyond its part of them, so that others find them made; not stored."""
    n_following: int = 0
    """Results that arrive together with it and after it; not stored."""
    shared: Mapping[str, Saving] = field(default_factory=dict)
    """What it shared with other configurations and what that saved: "steps", or a class of which one fit served
    several models or steps."""
    complexity: Mapping[str, float] = field(default_factory=dict)
    """How many of each unit of ``execution.complexity`` its model has, where the selection reads that; of a model
    that selected terms, 1 for each that it has and 0 for the others."""
    model: FittedModel | None = None
    """The model that made the predictions, where models are kept; not stored."""


def check_predictions(
    cell: str,
    predictions: Mapping[Response, NDArray[Any]],
    truth: Truth,
    n_times: int,
    rows: Sequence[int],
    middle: tuple[int, ...] = (),
) -> None:
    """Refuse predictions in a store that no cell can have written.

    Predictions of another shape would be broadcast over rows, and a code beyond the classes would index beyond
    them. The checksum of a record finds chance damage only: someone who changes it can write a new checksum.

    - ``cell``: names the cell, or the block, in words.
    - ``n_times``: of survival probabilities.
    - ``rows``: the numbers of rows that are allowed.
    - ``middle``: the axes between rows and outputs: H completions of the rows, or C configurations of a block.
    """
    for response, values in predictions.items():
        shapes = [(n, *middle, *outputs_of(response, truth, n_times)) for n in rows]
        if values.shape not in shapes:
            raise damaged_record(cell, f"{response} of shape {values.shape} where {shapes[0]} is due")
        if values.dtype.kind not in ("iu" if response is Response.LABELS else "f"):
            raise damaged_record(cell, f"{response} of type {values.dtype}")
        if response is not Response.LABELS or not values.size:
            continue
        if not UNPREDICTED_LABEL <= values.min() <= values.max() < truth.n_classes:
            raise damaged_record(
                cell, f"labels coded {values.min()} to {values.max()} of {truth.n_classes} classes"
            )


def outputs_of(response: Response, truth: Truth, n_times: int) -> tuple[int, ...]:
    """The shape of a response for one row: () for one number."""
    if response is Response.SURVIVAL:
        return (n_times,)
    if truth.kind is TaskKind.OTHER:
        return truth.values.shape[1:]
    by_class = response in (Response.PROBABILITIES, Response.DECISION) and truth.n_classes > 2
    return (truth.n_classes,) if by_class else ()


def damaged_record(cell: str, why: str) -> StoreError:
    """The error for a cell, or a block of them, that holds what none can hold."""
    return StoreError(
        f"the run file is damaged ({cell} holds {why}) and cannot be resumed; restore a copy of it, or move it "
        "away and start again."
    )


@dataclass(frozen=True, eq=False)
class CellBlock:
    """The results of C configurations on S splits; every cell is done, at the first attempt and without a message.

    Attributes
    ----------
    configurations : tuple of int
    places : tuple of (repeat, fold)
    sizes : tuple of int
        Test rows of each split.
    predictions : mapping of Response to ndarray of shape (sum of sizes, C) or (sum of sizes, C, outputs)
        The test rows of one split after those of another.
    test_scores : mapping of str to ndarray of shape (C, S)
        By scorer, greater = better.
    fit_seconds, score_seconds : ndarray of shape (C, S)
    shared : tuple of mapping
        What each configuration shared, as in ``CellResult``; on every split the same.
    """

    configurations: tuple[int, ...]
    places: tuple[Place, ...]
    sizes: tuple[int, ...]
    predictions: Mapping[Response, NDArray[Any]]
    test_scores: Mapping[str, NDArray[np.float64]]
    fit_seconds: NDArray[np.float64]
    score_seconds: NDArray[np.float64]
    shared: tuple[Mapping[str, Saving], ...]

    @property
    def n_cells(self) -> int:
        return len(self.configurations) * len(self.places)

    @property
    def columns(self) -> Mapping[str, Any]:
        """The fields of ``CellResult`` that are one value a cell and kept: (C, S), (C, 1), or the same for all."""
        return {
            "state": CellState.DONE,
            "message": "",
            "fit_seconds": self.fit_seconds,
            "score_seconds": self.score_seconds,
            "attempts": 1,
            "shared": np.array(self.shared, dtype=object)[:, None],
            "complexity": np.array([[{}]], dtype=object),
        }

    @property
    def keys(self) -> Iterator[CellKey]:
        """Of its cells, configuration by configuration and split by split."""
        return (CellKey(j, *place) for j in self.configurations for place in self.places)

    def has_any_of(self, repeats: Collection[int] | None, configurations: Collection[int] | None = None) -> bool:
        """Whether a cell of it is of these repeats and configurations; None means all."""
        is_of_repeats = repeats is None or any(repeat in repeats for repeat, _ in self.places)
        return is_of_repeats and (configurations is None or not set(configurations).isdisjoint(self.configurations))

    def check(self, sizes: Sequence[int], truth: Truth, n_times: int) -> None:
        """Refuse predictions in a store that no block can have written; ``sizes``: test rows of its splits."""
        if list(self.sizes) != list(sizes):
            raise damaged_record(str(self), f"predictions of {sum(self.sizes)} rows where {sum(sizes)} are due")
        check_predictions(
            str(self), self.predictions, truth, n_times, [sum(self.sizes)], (len(self.configurations),)
        )

    def cells(self) -> Iterator[CellResult]:
        """Its cells one by one, in the order of ``keys``."""
        ends = np.cumsum(self.sizes)
        for c, configuration in enumerate(self.configurations):
            for s, place in enumerate(self.places):
                rows = slice(ends[s] - self.sizes[s], ends[s])
                yield CellResult(
                    CellKey(configuration, *place),
                    CellState.DONE,
                    fit_seconds=float(self.fit_seconds[c, s]),
                    score_seconds=float(self.score_seconds[c, s]),
                    test_scores={name: float(scores[c, s]) for name, scores in self.test_scores.items()},
                    predictions={response: values[rows, c] for response, values in self.predictions.items()},
                    shared=self.shared[c],
                )

    def __str__(self) -> str:
        return f"the block of {len(self.configurations)} configurations on {len(self.places)} splits"


def likeness(result: CellResult) -> Hashable | None:
    """What the cells of a split must have in common for one block; None for a cell that is a record by itself."""
    # A failure, a retry or training scores have fields of their own, for which a block has no column.
    plain = result.state is CellState.DONE and result.attempts == 1 and not result.message
    if not plain or not result.shared or result.train_scores:
        return None
    arrays = tuple((response, values.dtype, values.shape) for response, values in result.predictions.items())
    return result.key.place, arrays, tuple(result.test_scores)


def block_of(alike: Sequence[CellResult]) -> CellBlock:
    first = alike[0]
    return CellBlock(
        configurations=tuple(cell.key.configuration for cell in alike),
        places=(first.key.place,),
        sizes=(len(next(iter(first.predictions.values()), ())),),
        predictions={
            response: np.stack([cell.predictions[response] for cell in alike], axis=1)
            for response in first.predictions
        },
        test_scores={name: _column([cell.test_scores[name] for cell in alike]) for name in first.test_scores},
        fit_seconds=_column([cell.fit_seconds for cell in alike]),
        score_seconds=_column([cell.score_seconds for cell in alike]),
        shared=tuple(cell.shared for cell in alike),
    )


def _column(numbers: Sequence[float]) -> NDArray[np.float64]:
    return np.array(numbers, dtype=np.float64)[:, None]


def each_cell(results: Iterable[CellResult | CellBlock]) -> Iterator[CellResult]:
    for result in results:
        if isinstance(result, CellBlock):
            yield from result.cells()
        else:
            yield result


COLUMNS: Mapping[str, Any] = {
    "state": object,
    "message": object,
    "fit_seconds": np.float64,
    "score_seconds": np.float64,
    "attempts": np.intp,
    "shared": object,
    "complexity": object,
}
"""The fields of ``CellResult`` that are one value a cell and kept, and their types."""


@dataclass(frozen=True, eq=False)
class ScoreColumn:
    """The scores of one scorer (C, S): NaN where ``given`` says that a cell has none."""

    values: NDArray[np.float64]
    given: NDArray[np.bool_]

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> ScoreColumn:
        return cls(np.full(shape, np.nan), np.zeros(shape, dtype=bool))

    def put(self, at: Any, scores: Any) -> None:
        """Put scores in their places; None for none."""
        self.values[at], self.given[at] = (np.nan, False) if scores is None else (scores, True)

    def of_splits(self, columns: Sequence[int]) -> ScoreColumn:
        """Copies of the columns of some splits."""
        return ScoreColumn(self.values[:, columns], self.given[:, columns])

    def filled(self, lacking: Any) -> NDArray[np.float64]:
        """The scores, with another value (or an array of them) where there is none."""
        return np.where(self.given, self.values, lacking)


@dataclass(frozen=True, eq=False)
class CellTable(Sequence[CellResult]):
    """Results without their predictions, configuration by configuration and split by split.

    Attributes
    ----------
    places : tuple of (repeat, fold)
        Of the S splits.
    columns : structured ndarray of shape (C, S)
        See ``COLUMNS``; the state is None where there is no result yet.
    test_scores, train_scores : dict of str to ScoreColumn
        By scorer.
    """

    places: tuple[Place, ...]
    columns: NDArray[Any]
    test_scores: dict[str, ScoreColumn]
    train_scores: dict[str, ScoreColumn]

    @classmethod
    def empty(cls, n_configurations: int, places: Iterable[Place]) -> CellTable:
        """A table without results."""
        places = tuple(places)
        return cls(places, np.empty((n_configurations, len(places)), dtype=list(COLUMNS.items())), {}, {})

    def put(self, split: int, result: CellResult) -> None:
        """Put a result in its place; ``split`` is the number of its split."""
        at = result.key.configuration, split
        self.columns[at] = tuple(getattr(result, name) for name in COLUMNS)
        self._put_scores(at, result.test_scores, result.train_scores)

    def put_block(self, splits: Sequence[int], block: CellBlock) -> None:
        """Put the results of a block in their places; ``splits`` are the numbers of its splits."""
        at = np.ix_(block.configurations, splits)
        for name, values in block.columns.items():
            self.columns[name][at] = values
        self._put_scores(at, block.test_scores, {})

    def _put_scores(self, at: Any, test: Mapping[str, Any], train: Mapping[str, Any]) -> None:
        for columns, scores in ((self.test_scores, test), (self.train_scores, train)):
            for name in dict.fromkeys((*columns, *scores)):
                columns.setdefault(name, ScoreColumn.empty(self.columns.shape)).put(at, scores.get(name))

    def of_splits(self, places: Sequence[Place], skipped: Mapping[int, Collection[Place]]) -> CellTable:
        """The results on some splits, in their order.

        ``skipped``: by configuration the splits before which it was dropped; these cells count as not done, even if
        a store holds them.
        """
        number = {place: s for s, place in enumerate(self.places)}
        splits = [number[place] for place in places]
        test, train = (
            {name: column.of_splits(splits) for name, column in columns.items()}
            for columns in (self.test_scores, self.train_scores)
        )
        part = CellTable(tuple(places), self.columns[:, splits], test, train)
        for s, place in enumerate(places):
            for j in (j for j, theirs in skipped.items() if place in theirs):
                part.put(s, CellResult(CellKey(j, *place), CellState.DROPPED))
        return part

    def is_in(self, state: CellState) -> NDArray[np.bool_]:
        """(C, S): which cells ended so."""
        return np.asarray(self.columns["state"] == state, dtype=bool)

    @property
    def n_fits(self) -> int:
        """Cells that are not dropped."""
        return len(self) - int(self.is_in(CellState.DROPPED).sum())

    def __len__(self) -> int:
        return int(self.columns.size)

    @overload
    def __getitem__(self, index: int) -> CellResult: ...
    @overload
    def __getitem__(self, index: slice) -> list[CellResult]: ...
    def __getitem__(self, index: int | slice) -> CellResult | list[CellResult]:
        number = range(len(self))[index]
        return self._cell(number) if isinstance(number, int) else [self._cell(each) for each in number]

    def _cell(self, number: int) -> CellResult:
        configuration, split = divmod(number, len(self.places))
        return CellResult(
            CellKey(configuration, *self.places[split]),
            **dict(zip(COLUMNS, self.columns[configuration, split].item(), strict=True)),
            test_scores=self._scores(self.test_scores, (configuration, split)),
            train_scores=self._scores(self.train_scores, (configuration, split)),
        )

    @staticmethod
    def _scores(columns: Mapping[str, ScoreColumn], at: tuple[int, int]) -> dict[str, float]:
        return {name: float(column.values[at]) for name, column in columns.items() if column.given[at]}

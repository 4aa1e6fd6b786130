"""A cell of work: one configuration on one split, and its result.

A search plans cells, its workers do them, and its store acknowledges them one by one.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, overload

import numpy as np

from heldout._text import counted
from heldout._types import Array, Booleans, Floats
from heldout.data.task import TaskKind, Truth
from heldout.errors import StoreError, text_of
from heldout.folds.splits import Place
from heldout.metrics.base import Response
from heldout.predictions import UNPREDICTED_LABEL

try:
    from cloudpickle import dumps as dumps  # type: ignore[import-untyped,unused-ignore]
except ImportError:  # joblib before 1.6 contains its own
    from joblib.externals.cloudpickle import dumps as dumps


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


@dataclass(frozen=True)
class SharedFits:
    """Fits that shared one thing, and what that saved them together.

    Attributes
    ----------
    n_fits : int
    seconds : float or None
        What separate fits would have taken longer. For steps: the measured seconds of every step, as often as it
        was not made again. For models: estimated from the seconds of the fit that served them; None where nothing
        tells how long a separate fit takes.
    n_bytes : int
        The output of steps, for training and test rows, as often as it was read and not made again.
    """

    n_fits: int
    seconds: float | None
    n_bytes: int


def shared_fits(savings: Iterable[Mapping[str, Saving]]) -> dict[str, SharedFits]:
    """From what single fits shared to each thing that was shared, the most frequent first.

    >>> shared_fits([{"steps": Saving(1.0, 80.0)}, {"steps": Saving(2.0, 80.0), "SVC": Saving(None)}, {}])
    {'steps': SharedFits(n_fits=2, seconds=3.0, n_bytes=160), 'SVC': SharedFits(n_fits=1, seconds=None, n_bytes=0)}
    """
    found: dict[str, list[Saving]] = {}
    for fit in savings:
        for what, saving in fit.items():
            found.setdefault(what, []).append(saving)
    return {what: _in_all(each) for what, each in sorted(found.items(), key=lambda item: -len(item[1]))}


def _in_all(savings: Sequence[Saving]) -> SharedFits:
    known = [saving.seconds for saving in savings if saving.seconds is not None]
    seconds = math.fsum(known) if len(known) == len(savings) else None
    return SharedFits(len(savings), seconds, round(math.fsum(saving.n_bytes for saving in savings)))


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A model that made held-out predictions.

    Attributes
    ----------
    estimator : estimator or None
        None if it could not be sent here.
    problem : str
        Why it could not.
    n_bytes_sent : int
        Its size in the process that received it; 0 where it was fitted.
    """

    estimator: Any
    problem: str = ""
    n_bytes_sent: int = 0

    @property
    def n_bytes(self) -> int:
        """About the memory that it takes; 0 if nothing tells."""
        if self.n_bytes_sent or self.estimator is None:
            return self.n_bytes_sent
        arrays: list[pickle.PickleBuffer] = []
        try:
            rest = dumps(self.estimator, protocol=5, buffer_callback=arrays.append)
        except Exception:
            return 0
        return len(rest) + sum(array.raw().nbytes for array in arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        # An error here would reach the pool, which takes it for one of the whole batch.
        try:
            return _received, (dumps(self.estimator, protocol=5),)
        except Exception as error:
            return FittedModel, (None, f"it cannot be sent between processes ({_line(error)}); use `n_jobs=1`")


def _received(packed: bytes) -> FittedModel:
    try:
        return FittedModel(pickle.loads(packed), n_bytes_sent=len(packed))
    except Exception as error:
        return FittedModel(None, f"it cannot be read from another process ({_line(error)}); use `n_jobs=1`")


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {text_of(error)}"


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
    predictions: Mapping[Response, Array] = field(default_factory=dict)
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

    def at(self, position: int) -> CellResult:
        """The same result under another number of its configuration."""
        return replace(self, key=self.key._replace(configuration=position))


def check_predictions(
    cell: str,
    predictions: Mapping[Response, Array],
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


SCORE = np.dtype([("value", np.float64), ("given", np.bool_)], align=True)
"""The score of a cell by one scorer; where it has none, NaN that is not ``given``."""
NO_SCORE = np.array((np.nan, False), SCORE)


def given_scores(values: Floats) -> Array:
    """The scores of cells that all have one."""
    scores = np.empty(values.shape, SCORE)
    scores["value"], scores["given"] = values, True
    return scores


@dataclass(frozen=True, eq=False)
class CellTable(Sequence[CellResult]):
    """The results of C configurations on S splits, configuration by configuration and split by split.

    A run collects its cells in one. Those that one formula served are one from the start, with their predictions,
    and the store keeps cells in such blocks.

    Attributes
    ----------
    configurations : sequence of int
    places : tuple of (repeat, fold)
    columns : structured ndarray of shape (C, S)
        See ``COLUMNS``; the state is None where there is no result yet.
    test_scores, train_scores : dict of str to structured ndarray of shape (C, S)
        By scorer; see ``SCORE``.
    predictions : mapping of Response to ndarray of shape (sum of sizes, C) or (sum of sizes, C, outputs)
        The test rows of one split after those of another; empty where ``HeldOutPredictions`` has them.
    sizes : tuple of int
        Test rows of each split, where there are predictions.
    """

    configurations: Sequence[int]
    places: tuple[Place, ...]
    columns: Array
    test_scores: dict[str, Array] = field(default_factory=dict)
    train_scores: dict[str, Array] = field(default_factory=dict)
    predictions: Mapping[Response, Array] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()

    @classmethod
    def empty(cls, configurations: Sequence[int], places: Iterable[Place], **more: Any) -> CellTable:
        """A table without results; ``more``: its predictions and their sizes."""
        places = tuple(places)
        shape = len(configurations), len(places)
        return cls(configurations, places, np.empty(shape, dtype=list(COLUMNS.items())), **more)

    @classmethod
    def of_split(cls, cells: Sequence[CellResult]) -> CellTable:
        """Cells of one split whose predictions are alike, with these."""
        first = cells[0]
        predictions = {
            response: np.stack([cell.predictions[response] for cell in cells], axis=1)
            for response in first.predictions
        }
        sizes = (len(next(iter(first.predictions.values()), ())),)  # 0 of cells that failed
        configurations = [cell.key.configuration for cell in cells]
        table = cls.empty(configurations, [first.key.place], predictions=predictions, sizes=sizes)
        for number, cell in enumerate(cells):
            table.put((number, 0), cell)
        return table

    def put(self, at: Any, cells: CellResult | CellTable) -> None:
        """Put results in their places, without predictions; ``at`` is the index of these."""
        if isinstance(cells, CellTable):
            self.columns[at] = cells.columns
        else:
            self.columns[at] = tuple([getattr(cells, name) for name in COLUMNS])
        for columns, scores in (
            (self.test_scores, cells.test_scores),
            (self.train_scores, cells.train_scores),
        ):
            for name in dict.fromkeys((*columns, *scores)):
                score: Any = scores.get(name, NO_SCORE)
                column = columns.setdefault(name, np.full(self.columns.shape, NO_SCORE))
                column[at] = score if isinstance(score, np.ndarray) else (score, True)

    def at(self, positions: Mapping[int, int] | Sequence[int]) -> CellTable:
        """The same results under other numbers of their configurations."""
        return replace(self, configurations=[positions[j] for j in self.configurations])

    def of_splits(self, places: Sequence[Place], skipped: Mapping[int, Collection[Place]]) -> CellTable:
        """The results on some splits, in their order.

        ``skipped``: by configuration the splits before which it was dropped; these cells count as not done, even if
        a store holds them.
        """
        number = {place: s for s, place in enumerate(self.places)}
        splits = [number[place] for place in places]
        test, train = (
            {name: column[:, splits] for name, column in columns.items()}
            for columns in (self.test_scores, self.train_scores)
        )
        part = CellTable(self.configurations, tuple(places), self.columns[:, splits], test, train)
        for s, place in enumerate(places):
            for j in (j for j, theirs in skipped.items() if place in theirs):
                part.put((j, s), CellResult(CellKey(j, *place), CellState.DROPPED))
        return part

    def check(self, sizes: Sequence[int], truth: Truth, n_times: int) -> None:
        """Refuse predictions in a store that no cells can have written; ``sizes``: test rows of its splits."""
        if self.predictions and list(self.sizes) != list(sizes):
            raise damaged_record(str(self), f"predictions of {sum(self.sizes)} rows where {sum(sizes)} are due")
        check_predictions(
            str(self), self.predictions, truth, n_times, [sum(self.sizes)], (len(self.configurations),)
        )

    def is_in(self, state: CellState) -> Booleans:
        """(C, S): which cells ended so."""
        return np.asarray(self.columns["state"] == state, dtype=bool)

    @property
    def n_fits(self) -> int:
        """Cells that are not dropped."""
        return len(self) - int(self.is_in(CellState.DROPPED).sum())

    @property
    def keys(self) -> Iterator[CellKey]:
        """Of its cells, in their order."""
        return (CellKey(j, *place) for j in self.configurations for place in self.places)

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
        at = configuration, split = divmod(number, len(self.places))
        return CellResult(
            CellKey(self.configurations[configuration], *self.places[split]),
            **dict(zip(COLUMNS, self.columns[at].item(), strict=True)),
            test_scores=self._scores(self.test_scores, at),
            train_scores=self._scores(self.train_scores, at),
            predictions={
                response: values[self._rows[split], configuration] for response, values in self.predictions.items()
            },
        )

    @cached_property
    def _rows(self) -> list[slice]:
        """The rows of its predictions, by split."""
        return [slice(end - size, end) for end, size in zip(accumulate(self.sizes), self.sizes, strict=True)]

    @staticmethod
    def _scores(columns: Mapping[str, Array], at: tuple[int, int]) -> dict[str, float]:
        scores = {name: column[at].item() for name, column in columns.items()}
        return {name: value for name, (value, given) in scores.items() if given}

    def __str__(self) -> str:
        configurations = counted(len(self.configurations), "configuration")
        return f"the block of {configurations} on {counted(len(self.places), 'split')}"


def each_cell(results: Iterable[CellResult | CellTable]) -> Iterator[CellResult]:
    for result in results:
        if isinstance(result, CellTable):
            yield from result
        else:
            yield result

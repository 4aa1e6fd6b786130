"""The results of all cells of a race as columns: an array of configurations times splits for each number.

A race may have many thousand cells. What reads all of them reads the columns; an item is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from heldout.execution.blocks import CellBlock
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.folds.splits import Place

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

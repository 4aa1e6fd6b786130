"""The columns of many cells give back every cell as it was put."""

from dataclasses import fields, replace

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.errors import StoreError
from heldout.execution.cells import COLUMNS, CellKey, CellResult, CellState, CellTable, Saving, given_scores
from heldout.metrics.base import Response

PLACES = ((0, 0), (0, 1), (1, 0))


def cells() -> list[CellResult]:
    """Two configurations on three splits, no two cells alike."""
    return [
        CellResult(CellKey(0, 0, 0), CellState.DONE, "", 0.5, 0.25, {"a": 1.0, "b": float("nan")}, {"a": 0.75}),
        CellResult(CellKey(0, 0, 1), CellState.FAILED, "it failed", 1.5, attempts=3),
        CellResult(CellKey(0, 1, 0), CellState.DONE, "b: no", 2.5, test_scores={"a": 2.0}),
        CellResult(CellKey(1, 0, 0), CellState.DONE, shared={"steps": Saving(1.0, 8.0)}, test_scores={"b": -0.0}),
        CellResult(CellKey(1, 0, 1), CellState.DONE, test_scores={"a": 3.0, "b": 4.0}),
        CellResult(CellKey(1, 1, 0), CellState.DROPPED),
    ]


def table(results: list[CellResult]) -> CellTable:
    made = CellTable.empty((0, 1), PLACES)
    for result in results:
        made.put((result.key.configuration, PLACES.index(result.key.place)), result)
    return made


def same(one: CellResult, other: CellResult) -> bool:
    return all(repr(getattr(one, each.name)) == repr(getattr(other, each.name)) for each in fields(CellResult))


def test_every_field_but_places_scores_and_predictions_is_a_column() -> None:
    beside = {"key", "test_scores", "train_scores", "predictions"}
    not_kept = {"ahead_seconds", "n_following", "model"}
    assert {each.name for each in fields(CellResult)} == beside | not_kept | COLUMNS.keys()


@pytest.mark.parametrize("order", [1, -1])
def test_cells_come_back_configuration_by_configuration(order: int) -> None:
    found = table(cells()[::order])
    assert len(found) == 6
    assert all(same(one, other) for one, other in zip(found, cells(), strict=True))
    assert same(found[-1], cells()[-1])
    assert [cell.key for cell in found[2:4]] == [(0, 1, 0), (1, 0, 0)]
    with pytest.raises(IndexError):
        found[6]


def test_a_score_that_is_lacking_is_not_one_that_is_nan() -> None:
    column = table(cells()).test_scores["b"]
    filled = np.where(column["given"], column["value"], 9.0)
    assert np.array_equal(filled, [[np.nan, 9.0, 9.0], [0.0, 4.0, 9.0]], equal_nan=True)


def test_splits_in_another_order_and_those_of_dropped_configurations() -> None:
    found = table(cells()).of_splits([(1, 0), (0, 0)], {0: {(1, 0)}})
    assert [cell.key for cell in found] == [(0, 1, 0), (0, 0, 0), (1, 1, 0), (1, 0, 0)]
    assert same(found[0], CellResult(CellKey(0, 1, 0), CellState.DROPPED))
    assert same(found[1], cells()[0])


def test_a_table_is_put_as_its_cells_one_by_one() -> None:
    block = CellTable.empty(
        (1, 0),
        ((1, 0), (0, 1)),
        predictions={Response.VALUES: np.arange(6.0).reshape(3, 2)},
        sizes=(2, 1),
        test_scores={"a": given_scores(np.array([[1.0, 2.0], [3.0, 4.0]]))},
    )
    block.columns[...] = np.array((CellState.DONE, "", 0.1, 0.0, 1, {}, {}), dtype=block.columns.dtype)
    block.columns["fit_seconds"] = [[0.1, 0.2], [0.3, 0.4]]
    one, other = table(cells()), table(cells())
    one.put(np.ix_([1, 0], [2, 1]), block)
    for cell in block:
        other.put((cell.key.configuration, PLACES.index(cell.key.place)), cell)
    assert all(same(mine, theirs) for mine, theirs in zip(one, other, strict=True))
    assert [cell.key for cell in block] == list(block.keys) == [(1, 1, 0), (1, 0, 1), (0, 1, 0), (0, 0, 1)]
    assert [cell.predictions[Response.VALUES].tolist() for cell in block] == [[0, 2], [4], [1, 3], [5]]


def test_a_block_of_splits_of_other_sizes_is_refused() -> None:
    labels = {Response.LABELS: np.zeros((3, 2), dtype=np.int32)}
    good = CellTable.empty((0, 1), PLACES[:2], predictions=labels, sizes=(2, 1))
    good.check([2, 1], truth_of([0, 1]), 0)
    with pytest.raises(
        StoreError, match=r"the block of 2 configurations on 2 splits holds .* 2 rows where 3 are due"
    ):
        replace(good, sizes=(1, 1)).check([2, 1], truth_of([0, 1]), 0)

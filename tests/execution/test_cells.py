"""A cell's key and result."""

import pickle

import numpy as np

from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.metrics.base import Response


def test_keys_are_places_and_sort_by_configuration() -> None:
    keys = [CellKey(1, 0, 0), CellKey(0, 1, 0), CellKey(0, 0, 1)]
    assert sorted(keys) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert {CellKey(1, 2, 3)} == {(1, 2, 3)}


def test_a_result_travels_between_processes() -> None:
    result = CellResult(
        CellKey(1, 0, 2),
        CellState.DONE,
        test_scores={"score": 0.1 + 0.2},
        predictions={Response.LABELS: np.arange(3)},
    )
    copied = pickle.loads(pickle.dumps(result))
    assert copied.key == result.key and copied.state is CellState.DONE
    assert copied.test_scores["score"] == 0.1 + 0.2
    np.testing.assert_array_equal(copied.predictions[Response.LABELS], np.arange(3))


def test_an_empty_result_says_nothing() -> None:
    failed = CellResult(CellKey(0, 0, 0), CellState.FAILED, "ValueError: no")
    assert not failed.test_scores and not failed.train_scores and not failed.predictions
    assert str(failed.state) == "failed"

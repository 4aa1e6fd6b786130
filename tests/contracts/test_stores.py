"""What every store promises: what is recorded and committed comes back, to the last bit."""

import struct

import numpy as np
import pytest

from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellKey, CellResult, CellState, Saving
from heldout.execution.store import MemoryStore, PlanNote, RunIdentity
from heldout.execution.store.sqlite import SQLiteStore
from heldout.metrics.base import Response

IDENTITY = RunIdentity(
    rows="a" * 64,
    folds="b" * 64,
    configurations="c" * 64,
    settings='{"scoring":"roc_auc"}',
    entropy=2**64 - 1,
    versions={"heldout": "0.1.0"},
)
CONFIGURATIONS = [(f"{position:064x}", f'{{"C":{position}}}') for position in range(4)]


@pytest.fixture(params=["memory", "sqlite"])
def store(request, tmp_path):
    return MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "run.db")


@pytest.fixture
def run(store):
    with store.open(IDENTITY, CONFIGURATIONS, resume=False) as run:
        yield run


def bits(value):
    return struct.pack("<d", value)


def assert_same(got, expected):
    assert got.key == expected.key
    assert isinstance(got.key, CellKey)
    assert (got.state, got.message, got.attempts) == (expected.state, expected.message, expected.attempts)
    assert isinstance(got.state, CellState)
    assert bits(got.fit_seconds) == bits(expected.fit_seconds)
    assert bits(got.score_seconds) == bits(expected.score_seconds)
    for mine, theirs in ((got.test_scores, expected.test_scores), (got.train_scores, expected.train_scores)):
        assert list(mine) == list(theirs)
        assert [bits(score) for score in mine.values()] == [bits(score) for score in theirs.values()]
    assert (got.shared, list(got.shared)) == (expected.shared, list(expected.shared))
    assert all(isinstance(saving, Saving) for saving in got.shared.values())
    assert list(got.predictions) == list(expected.predictions)
    for response, array in expected.predictions.items():
        mine = got.predictions[response]
        assert isinstance(response, Response)
        assert (mine.dtype, mine.shape) == (array.dtype, array.shape)
        assert mine.tobytes() == array.tobytes()


AWKWARD = np.array([np.nan, -0.0, 0.0, np.inf, -np.inf, 5e-324, 0.1, 1 / 3, np.nextafter(1, 2), -1.7e308])


def done(*key, **parts):
    return CellResult(CellKey(*key), CellState.DONE, **parts)


PAYLOAD = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)
SAVINGS = {"steps": Saving(0.1 + 0.2, 4096.0), "SVC": Saving(None), "PCA": Saving(-1e-300, 1 / 3)}
RESULTS = {
    "plain": done(
        0, 0, 0, fit_seconds=0.1, score_seconds=1e-9, test_scores={"roc_auc": 2 / 3},
        predictions={Response.DECISION: np.linspace(-1, 1, 7)},
    ),
    "numbers that text and SQLite lose": done(
        1, 2, 3, test_scores={f"scorer {i}": float(value) for i, value in enumerate(AWKWARD)},
        train_scores={"scorer 0": float("nan")},
        predictions={Response.VALUES: AWKWARD, Response.PROBABILITIES: AWKWARD.reshape(2, 5)},
    ),
    "NaN with a payload": done(1, 0, 0, predictions={Response.VALUES: PAYLOAD}),
    "codes": done(2, 0, 1, predictions={Response.LABELS: np.array([0, 3, -1, 2**31 - 1], dtype=np.int32)}),
    "half the precision": done(2, 1, 1, predictions={Response.VALUES: np.array([0.1, -0.0], dtype=np.float32)}),
    "columns first": done(
        2, 1, 2, predictions={Response.PROBABILITIES: np.asfortranarray(np.arange(12.0).reshape(4, 3))}
    ),
    "no rows": done(
        3, 0, 0, predictions={Response.DECISION: np.empty(0), Response.PROBABILITIES: np.empty((0, 3))}
    ),
    "shared with others": done(2, 1, 3, shared=SAVINGS),
    "failed, and says why": CellResult(
        CellKey(3, 0, 1), CellState.FAILED, attempts=3,
        message="ValueError: Straße 東京 \N{SNOWMAN} 'quotes' \"double\"\nsecond line\x00after a zero",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_comes_back_to_the_last_bit(run, name):
    run.record(RESULTS[name])
    run.commit()
    (got,) = run.results()
    assert_same(got, RESULTS[name])


def test_results_come_back_in_the_order_of_their_recording(run):
    expected = list(RESULTS.values())
    for result in reversed(expected):
        run.record(result)
    run.commit()
    for got, result in zip(run.results(), reversed(expected), strict=True):
        assert_same(got, result)


def test_results_of_some_repeats_come_alone_and_in_order(run):
    for result in RESULTS.values():
        run.record(result)
    run.commit()
    wanted = [result for result in RESULTS.values() if result.key.repeat in (1, 2)]
    assert 1 < len(wanted) < len(RESULTS)
    for got, result in zip(run.results({2, 1, 7}), wanted, strict=True):
        assert_same(got, result)
    assert list(run.results(())) == []


def test_notes_change_neither_results_nor_what_is_acknowledged(run):
    run.note_plan(PlanNote(4, 2, 8, "score", title="roc_auc", n_rows=7, names=("a", "b", "c", "d")))
    run.record(RESULTS["plain"])
    run.note_barrier([(0, 0), (0, 1)], Barrier(1, 7, 4, 0, (Dropped(1, 1, 0.995, "why"),), 0.01))
    run.commit()
    run.note_plan(PlanNote(4, 3, 12, "score"))
    (got,) = run.results()
    assert_same(got, RESULTS["plain"])
    assert run.acknowledged() == {CellKey(0, 0, 0)}


def test_committed_cells_are_acknowledged_failed_ones_too(run):
    assert run.acknowledged() == frozenset()
    run.record(RESULTS["plain"])
    run.record(RESULTS["failed, and says why"])
    run.commit()
    assert run.acknowledged() == {CellKey(0, 0, 0), CellKey(3, 0, 1)}


def test_a_cell_recorded_again_replaces_the_former(run):
    key = CellKey(0, 0, 0)
    first = CellResult(key, CellState.FAILED, message="once", predictions={})
    second = CellResult(key, CellState.DONE, predictions={Response.VALUES: np.arange(3.0)}, attempts=2)
    third = CellResult(key, CellState.DONE, predictions={Response.DECISION: np.arange(2.0)}, attempts=3)
    for result in (first, second, third):
        run.record(result)
        run.commit()
    (got,) = run.results()
    assert_same(got, third)


def test_predictions_that_come_back_can_be_written_to(run):
    run.record(RESULTS["plain"])
    run.commit()
    (got,) = run.results()
    got.predictions[Response.DECISION][:] = 0


def test_the_entropy_is_that_of_the_run(run):
    assert run.entropy == 2**64 - 1


def test_an_error_inside_the_run_goes_through(store):
    with pytest.raises(ZeroDivisionError), store.open(IDENTITY, CONFIGURATIONS, resume=False):
        raise ZeroDivisionError


def test_a_new_store_knows_no_entropy(store):
    assert store.stored_entropy() is None


def test_a_store_is_a_value(store):
    import pickle

    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert hash(again) == hash(store)

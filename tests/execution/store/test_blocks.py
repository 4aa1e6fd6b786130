"""A block of cells in a run file comes back to the last bit; one that was changed is refused in one sentence."""

import json
import sqlite3
import warnings
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.errors import StoreError
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable, Saving, each_cell, given_scores
from heldout.execution.store import AddedConfiguration, PlanNote, RunIdentity
from heldout.execution.store.file_status import file_status
from heldout.execution.store.runs import checksum
from heldout.execution.store.sqlite import SQLiteStore
from heldout.metrics.base import Response

IDENTITY = RunIdentity(rows="r", folds="f", configurations="c", settings="{}", entropy=7)
CONFIGURATIONS = [(f"id {position}", "{}") for position in range(4)]
BLOCK = CellTable.empty(
    (2, 0),
    ((0, 1), (0, 0), (1, 0)),
    predictions={
        Response.PROBABILITIES: np.linspace(0, 1, 24).reshape(4, 2, 3),
        Response.LABELS: np.arange(8, dtype=np.int32).reshape(4, 2) % 3,
    },
    sizes=(2, 1, 1),
    test_scores={"accuracy": given_scores(np.array([[0.5, np.nan, -0.0], [1.0, 0.1, 0.2]]))},
)
BLOCK.columns[...] = np.array((CellState.DONE, "", 0.1, 0.0, 1, {}, {}), dtype=BLOCK.columns.dtype)
BLOCK.columns["score_seconds"] = np.linspace(0, 1, 6).reshape(2, 3)
BLOCK.columns["shared"][0] = {"Ridge by formula": Saving(None)}
BLOCK.columns["shared"][1] = {"steps": Saving(0.5, 64.0)}


def written(path: Path, *results: Any) -> Path:
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=True) as run:
        for result in results:
            run.record(result)
    return path


def read(path: Path, configurations: Any = CONFIGURATIONS) -> list[Any]:
    with SQLiteStore(path).open(IDENTITY, configurations, resume=True) as run:
        return list(run.results())


def check_same(one: CellResult, other: CellResult, positions: Any = None) -> None:
    key = other.key if positions is None else other.key._replace(configuration=positions[other.key.configuration])
    assert one.key == key
    assert (one.state, one.shared, one.fit_seconds, one.score_seconds) == (
        other.state, other.shared, other.fit_seconds, other.score_seconds
    )  # fmt: skip
    assert (one.attempts, one.message) == (other.attempts, other.message)
    assert repr(one.test_scores) == repr(other.test_scores)
    for response, values in other.predictions.items():
        mine = one.predictions[response]
        assert (mine.dtype, mine.shape, mine.tobytes()) == (values.dtype, values.shape, values.tobytes())


def test_it_comes_back_to_the_last_bit(tmp_path: Path) -> None:
    alone = CellResult(CellKey(1, 0, 0), CellState.FAILED, "no")
    found = read(written(tmp_path / "run.db", BLOCK, alone))
    assert isinstance(found[0], CellTable)
    for one, other in zip(found[0], BLOCK, strict=True):
        check_same(one, other)
    check_same(found[1], alone)
    with SQLiteStore(tmp_path / "run.db").open(IDENTITY, CONFIGURATIONS, resume=True) as run:
        assert run.acknowledged() == frozenset([*BLOCK.keys, alone.key])
        assert len(list(run.results({1}))) == 1
        assert list(run.results({5})) == []


def test_configurations_may_come_in_another_order(tmp_path: Path) -> None:
    found = read(written(tmp_path / "run.db", BLOCK), CONFIGURATIONS[::-1])
    for one, other in zip(each_cell(found), BLOCK, strict=True):
        check_same(one, other, positions=[3, 2, 1, 0])


def test_the_status_counts_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=True) as run:
        run.note_plan(PlanNote(4, 3, 12, "accuracy", names=("a", "b", "c", "d")))
        run.record(BLOCK)
    (status,) = file_status(path).runs
    assert (status.n_done, status.n_left, status.n_failed) == (6, 6, 0)
    assert status.best is not None and status.best.name == "a"
    assert status.seconds == pytest.approx(0.6 + 3.0)


CHANGES: dict[str, tuple[str, Any]] = {
    "a score": ("UPDATE block SET cells = replace(cells, '0.1', ?)", "0.9"),
    "no cells": ("UPDATE block SET cells = ?", "{}"),
    "no JSON": ("UPDATE block SET cells = ?", "["),
    "deep JSON": ("UPDATE block SET cells = ?", "[" * 100_000),
    "a number of cells": ("UPDATE block SET n_cells = ?", 7),
    "a checksum": ("UPDATE block SET checksum = ?", 1),
    "a number": ("UPDATE block SET number = ?", 2),
}
OF_PREDICTIONS: dict[str, tuple[str, Any]] = {
    "predictions": ("UPDATE block SET data = ?", b"\0" * 224),
    "no predictions": ("UPDATE block SET data = ?", b""),
    "text for bytes": ("UPDATE block SET data = ?", "text"),
}


def check_refused(path: Path, change: tuple[str, Any], *acts: Any) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute(change[0], (change[1],))
    for act in acts:
        with pytest.raises(StoreError, match="damaged") as refused:
            act(path)
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 600


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_block_is_refused(name: str, tmp_path: Path) -> None:
    check_refused(written(tmp_path / "run.db", BLOCK), CHANGES[name], read, file_status)


@pytest.mark.parametrize("name", OF_PREDICTIONS)
def test_changed_predictions_are_refused(name: str, tmp_path: Path) -> None:
    check_refused(written(tmp_path / "run.db", BLOCK), OF_PREDICTIONS[name], read)


def forged(path: Path, change: Any, number: int = 1) -> Path:
    """Write a block with a change of its JSON, and with checksums that are right."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        _, run, n_cells, text, _, data = file.execute("SELECT * FROM block WHERE number = 1").fetchone()
        row = number, run, n_cells, json.dumps(change(json.loads(text)))
        file.execute("INSERT OR REPLACE INTO block VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum(*row), data))
    return path


def test_a_cell_that_is_stored_twice_is_refused(tmp_path: Path) -> None:
    path = forged(written(tmp_path / "run.db", BLOCK), dict, number=2)
    with pytest.raises(StoreError, match="stored twice"):
        read(path)


@pytest.mark.parametrize("at_once", [True, False], ids=["before one commit", "in a resumed run"])
def test_a_cell_that_is_recorded_again_leaves_the_others_of_its_block(at_once: bool, tmp_path: Path) -> None:
    again = CellResult(CellKey(0, 1, 0), CellState.FAILED, "worse")
    path = written(tmp_path / "run.db", BLOCK, *([again] if at_once else []))
    if not at_once:
        written(path, again)
    cells = {cell.key: cell for cell in each_cell(read(path))}
    assert cells.keys() == set(BLOCK.keys)
    for cell in BLOCK:
        check_same(cells[cell.key], again if cell.key == again.key else cell)


FORGED: dict[str, Any] = {
    "configurations": {"configurations": [1, 2, 3]},
    "sizes": {"sizes": [2, 1]},
    "scores": {"test": {"accuracy": [[0.0, 0.0]] * 3}},
    "seconds": {"fit_seconds": [[0.1, 0.1], [0.1]]},
    "a type": {"predictions": {"values": ["|O8", [1]]}},
    "a shape": {"predictions": {"values": ["<f8", [-1]]}},
    "more than there is": {"predictions": {"values": ["<f8", [10**6]]}},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_block_of_another_shape_with_a_new_checksum_is_refused(name: str, tmp_path: Path) -> None:
    path = forged(written(tmp_path / "run.db", BLOCK), lambda cells: cells | FORGED[name])
    with pytest.raises(StoreError, match="damaged"):
        read(path)


def alike(configuration: int, fold: int = 0, **changes: Any) -> CellResult:
    result = CellResult(
        CellKey(configuration, 0, fold),
        CellState.DONE,
        fit_seconds=configuration / 7,
        score_seconds=-0.0,
        test_scores={"a": configuration / 3, "b": float("nan")},
        predictions={Response.VALUES: np.full(5, configuration / 11)},
        shared={"KNeighborsRegressor": Saving(configuration / 13)},
    )
    return replace(result, **changes)


def count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as file:
        return int(file.execute("SELECT count(*) FROM block").fetchone()[0])


def test_cells_that_are_alike_are_one_record_of_a_split(tmp_path: Path) -> None:
    results = [
        *(alike(configuration, fold) for fold in (0, 1) for configuration in (3, 0)),
        alike(2, 0, attempts=2),
        alike(2, 1, message="one scorer raised"),
        alike(1, 0, shared={}),
        alike(1, 1, state=CellState.FAILED, message="no", test_scores={}, predictions={}),
    ]
    path = written(tmp_path / "run.db", *results)
    assert count(path) == 3
    found = {cell.key: cell for cell in each_cell(read(path))}
    assert len(found) == 8
    for result in results:
        check_same(found[result.key], result)


@pytest.mark.parametrize(
    "other",
    [
        {"train_scores": {"a": 1.0}},
        {"test_scores": {"a": 1.0}},
        {"predictions": {Response.VALUES: np.zeros(5, dtype=np.float32)}},
        {"predictions": {}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_cell_that_is_not_alike_is_a_record_by_itself(other: dict[str, Any], tmp_path: Path) -> None:
    results = [alike(0), alike(1), alike(2, **other)]
    path = written(tmp_path / "run.db", *results)
    assert count(path) == 2
    found = {cell.key: cell for cell in each_cell(read(path))}
    for result in results:
        check_same(found[result.key], result)


def test_arrays_may_be_used_again_after_recording(tmp_path: Path) -> None:
    array = np.zeros(5)
    with SQLiteStore(tmp_path / "run.db").open(IDENTITY, CONFIGURATIONS, resume=True) as run:
        for configuration in (0, 1):
            array[:] = configuration
            run.record(alike(configuration, predictions={Response.VALUES: array}))
    cells = list(each_cell(read(tmp_path / "run.db")))
    assert [cell.predictions[Response.VALUES].tolist() for cell in cells] == [[0.0] * 5, [1.0] * 5]


class Interrupting(dict[Any, Any]):
    """Stops the process between the commit and the notes on it."""

    def update(self, *_: Any) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_after_the_commit_stores_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    run = SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=True)
    run.record(alike(0))
    run.record(alike(1, 1))
    run.record(alike(2, 1))
    run._blocks = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        run.commit()
    run.record(alike(3))
    run.record(alike(3, 1))
    run.close()
    cells = sorted(each_cell(read(path)), key=lambda cell: cell.key)
    assert [cell.key for cell in cells] == [(0, 0, 0), (1, 0, 1), (2, 0, 1), (3, 0, 0), (3, 0, 1)]
    for cell in cells:
        check_same(cell, alike(cell.key.configuration, cell.key.fold))


def test_a_configuration_added_again_with_another_note_keeps_its_row(tmp_path: Path) -> None:
    identity = replace(IDENTITY, is_adaptive=True)
    for note in ("first", "second", "third"):
        with SQLiteStore(tmp_path / "run.db").open(identity, [], resume=True) as run:
            run.add([AddedConfiguration("x", "{}", "name", note)])
    with SQLiteStore(tmp_path / "run.db").open(identity, [], resume=True) as run:
        assert run.notes() == ["first"]


def test_two_configurations_that_fail_on_a_split(tmp_path: Path) -> None:
    """Their cells are one block without predictions: the search ends, and resumes, as without a store."""
    X, y = load_iris(return_X_y=True)
    grid = {"n_neighbors": [1, 3, -1, -2, 5]}
    found = []
    for store in (None, tmp_path / "run.db", tmp_path / "run.db"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the failures
            search = ho.HeldOutSearchCV(
                KNeighborsClassifier(), grid, cv=3, n_bootstraps=20, store=store, random_state=0
            )
            found.append(search.fit(X, y))
    scores = [each.cv_results_["mean_test_score"] for each in found]
    assert np.isnan(scores[0]).tolist() == [False, False, True, True, False]
    for other in scores[1:]:
        np.testing.assert_array_equal(other, scores[0])
    assert found[2].estimate_.to_dict() == found[1].estimate_.to_dict()

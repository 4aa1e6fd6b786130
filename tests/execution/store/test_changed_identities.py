"""A run file whose runs or configurations are changed is refused as damaged: cells would get another's name."""

import sqlite3
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.errors import StoreError
from heldout.execution.store.sqlite import SQLiteStore

X, Y = load_iris(return_X_y=True)
MODELS = [("tree", DecisionTreeClassifier(max_depth=1), {}), ("logistic", LogisticRegression(max_iter=500), {})]


def searched(path: Path, **settings: Any) -> Any:
    given = {"cv": 3, "n_bootstraps": 50, "random_state": 0} | settings
    return ho.HeldOutSearchCV(MODELS, store=path, **given).fit(X, Y)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a finished search."""
    path = tmp_path_factory.mktemp("finished") / "run.db"
    searched(path)
    return path.read_bytes()


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(statement)


def exchanged(*columns: str) -> list[str]:
    """Statements that exchange columns of the first two configurations."""
    names = ", ".join(columns)
    return [
        f"CREATE TEMP TABLE kept AS SELECT number AS old, {names} FROM configuration ORDER BY number LIMIT 2",
        "UPDATE configuration SET id = 'first' WHERE number = (SELECT min(old) FROM kept)" if "id" in columns else
        "SELECT 1",
        *(
            f"UPDATE configuration SET ({names}) = "
            f"(SELECT {names} FROM kept WHERE old = (SELECT {other}(old) FROM kept)) "
            f"WHERE number = (SELECT {one}(old) FROM kept)"
            for one, other in (("max", "min"), ("min", "max"))
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param(exchanged("id", "json", "name"), id="two configurations exchanged"),
        pytest.param(exchanged("id"), id="two identities exchanged"),
        pytest.param(exchanged("name"), id="two names exchanged"),
        pytest.param(exchanged("json"), id="parameters exchanged"),
        pytest.param(exchanged("position"), id="positions exchanged"),
        pytest.param(["UPDATE configuration SET name = 'the best' WHERE position = 0"], id="a name"),
        pytest.param(["UPDATE configuration SET json = replace(json, '1', '2')"], id="parameters"),
        pytest.param(["UPDATE configuration SET note = '{}'"], id="a note"),
        pytest.param(["UPDATE configuration SET checksum = NULL"], id="no checksum"),
        pytest.param(["UPDATE run SET entropy = '00000000000000ff'"], id="the seed"),
        pytest.param(["UPDATE run SET folds = rows"], id="the folds"),
        pytest.param(["UPDATE run SET rows = folds"], id="the rows"),
        pytest.param(["UPDATE run SET settings = settings || ' '"], id="the settings"),
        pytest.param(["UPDATE run SET configurations = rows"], id="the configurations"),
        pytest.param(["UPDATE run SET versions = '[{\"heldout\": \"9\"}]'"], id="the versions"),
        pytest.param(["UPDATE run SET checksum = checksum + 1"], id="the checksum"),
    ],
)  # fmt: skip
def test_a_changed_row_is_damage(tmp_path: Path, finished: bytes, statements: list[str]) -> None:
    path = tmp_path / "run.db"
    path.write_bytes(finished)
    changed(path, *statements)
    for attempt in (lambda: searched(path), SQLiteStore(path).estimate_so_far):
        with pytest.raises(StoreError, match=r"is damaged \(the row of .* is not as it was written\)") as refused:
            attempt()
        assert "\n" not in str(refused.value)


def test_what_the_library_changes_itself_is_no_damage(tmp_path: Path) -> None:
    """Other orders, names, further configurations and runs, and a search that grows."""
    path = tmp_path / "run.db"
    first = searched(path)
    assert searched(path).n_fits_ == first.n_fits_ == 6
    backwards = ho.HeldOutSearchCV(MODELS[::-1], store=path, cv=3, n_bootstraps=50, random_state=0).fit(X, Y)
    assert backwards.best_score_ == first.best_score_
    searched(path, random_state=1)
    searched(path)
    with ho.open_search(X, Y, store=tmp_path / "grown.db", cv=3, n_bootstraps=50, random_state=0) as grown:
        for depth in (1, 2, 3):
            grown.evaluate(DecisionTreeClassifier(max_depth=depth, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert SQLiteStore(tmp_path / "grown.db").estimate_so_far() is not None
    changed(tmp_path / "grown.db", "UPDATE configuration SET name = 'another' WHERE position = 1")
    with pytest.raises(StoreError, match="damaged"):
        SQLiteStore(tmp_path / "grown.db").estimate_so_far()

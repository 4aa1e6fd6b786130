"""Small tables, a space small enough for a test, and command lines that are expected to work."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refused_files import write_files
from scipy.stats import loguniform, randint
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from heldout.data.task import TaskKind
from heldout.spaces.presets import _on_scaled

N = 60


@pytest.fixture
def run(command: Callable[..., Any]) -> Callable[..., Any]:
    """Run a command line, and say how it ended."""

    def run(line: str, *more: object) -> Any:
        ended = command(*shlex.split(line), *more)
        assert ended.code == 0, ended
        return ended

    return run


@pytest.fixture
def refused(command: Callable[..., Any]) -> Callable[[str], str]:
    """The sentence that refuses a command line."""

    def refused(line: str) -> str:
        ended = command(*shlex.split(line))
        assert ended.code == 2 and "Traceback" not in ended.err, ended
        return str(ended.last)

    return refused


@pytest.fixture
def document(run: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """What a command line prints with ``--json``."""
    return lambda line, *more: dict(json.loads(run(line, "--json", *more).out))


@pytest.fixture
def as_estimate_prints() -> Callable[[Any], Any]:
    """A document of the library as ``heldout estimate`` prints it: with options in place of arguments."""
    from heldout.cli.estimate import command
    from heldout.cli.options import all_in_options, options_by_argument

    return lambda document: all_in_options(document, options_by_argument(command))


@pytest.fixture(autouse=True)
def page(request: pytest.FixtureRequest) -> None:
    """The page of a report is drawn only where a test is marked, or asks for its words alone."""
    if request.node.get_closest_marker("draws_report") or "page_of_words" in request.fixturenames:
        return
    request.getfixturevalue("short_page")


@pytest.fixture
def tiny_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two linear configurations in place of a preset, or a distribution of them."""

    def tiny(name: str, X: Any, kind: TaskKind, *, distributions: bool = False) -> list[Any]:
        values = loguniform(0.01, 1.0) if distributions else [0.01, 1.0]
        if kind is TaskKind.REGRESSION:
            return [("ridge", _on_scaled(Ridge())(X), {"fit__alpha": [0.1, 10.0]})]
        return [("logistic", _on_scaled(LogisticRegression())(X), {"fit__C": values})]

    monkeypatch.setattr("heldout.spaces.preset", tiny)


@pytest.fixture
def bare_space(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two trees, or a distribution of them, for tables without text: nothing is prepared, so fits are quick."""

    def bare(name: str, X: Any, kind: TaskKind, *, distributions: bool = False) -> list[Any]:
        leaves = {"max_leaf_nodes": randint(2, 20)} if distributions else {"max_depth": [1, 3]}
        return [("tree", DecisionTreeClassifier(random_state=0), leaves)]

    monkeypatch.setattr("heldout.spaces.preset", bare)


def small_frame() -> pd.DataFrame:
    """Numbers with gaps, text, a constant, groups and targets of three kinds."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=N)
    return pd.DataFrame(
        {
            "a": np.where(rng.random(N) < 0.1, np.nan, a),
            "text": rng.choice(["u", "v"], N),
            "constant": 1,
            "site": np.repeat(np.arange(10), N // 10),
            "outcome": np.where(a + rng.normal(size=N) > 0, "yes", "no"),
        }
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    return small_frame()


@pytest.fixture(scope="session")
def files_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of ``refused_files.py``, written once."""
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_files(small_frame())
    return folder


@pytest.fixture
def files(files_made: Path, command: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The current folder holds these files; what commands import from there is forgotten."""
    shutil.copytree(files_made, ".", dirs_exist_ok=True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for module in ("own_space", "other", "broken"):
        sys.modules.pop(module, None)


@pytest.fixture
def table(tmp_path: Path, frame: pd.DataFrame) -> Callable[..., Path]:
    """Write the frame with some columns changed."""

    def write(name: str = "data.csv", drop: list[str] | None = None, **columns: Any) -> Path:
        path = tmp_path / name
        changed = frame.assign(**columns).drop(columns=drop or [])
        changed.to_parquet(path) if name.endswith("parquet") else changed.to_csv(path, index=False)
        return Path(name)

    return write

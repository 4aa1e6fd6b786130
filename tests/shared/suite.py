"""What holds for every test of both distributions, and a command line to call in this process."""

import gc
import hashlib
import io
import multiprocessing.util
import os
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

# Before anything imports NumPy: processes that share the cores (pytest -n) must not each start a thread per core.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import numpy as np
import pytest
import sklearn
from forked import PRELOADED
from joblib.externals.loky.backend import context as loky

from heldout._papers import of_papers

# Looking for circles among the objects of all modules, every few thousand new objects, took a fifth of the time.
gc.set_threshold(200_000, 20, 50)

# A test that passes once always passes, and no property test asserts a time: a busy machine is slow now and then.
hypothesis.settings.register_profile("heldout", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("short", deadline=None, derandomize=True, max_examples=8)  # under sanitizers
hypothesis.settings.register_profile("long", deadline=None, max_examples=1000)  # pytest --hypothesis-profile=long
hypothesis.settings.load_profile("heldout")


_DRAWS: dict[Any, list[tuple[np.random.Generator, Any, Any]]] = {}
"""The generators of each module of tests, with their states for fixtures and for the test itself."""


def pytest_collection_finish(session: pytest.Session) -> None:
    for module in {item.module for item in session.items if isinstance(item, pytest.Function)}:
        generators = [each for each in vars(module).values() if isinstance(each, np.random.Generator)]
        bits: list[tuple[np.random.Generator, Any]] = [(each, each.bit_generator) for each in generators]
        _DRAWS[module] = [(each, of.state, of.jumped().state) for each, of in bits]


def _draw_again(item: pytest.Item, *, is_fixture: bool) -> None:
    for generator, of_fixture, of_test in _DRAWS.get(getattr(item, "module", None), ()):
        generator.bit_generator.state = of_fixture if is_fixture else of_test


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fixtures and tests draw the same numbers, whichever tests ran before in this process."""
    _draw_again(item, is_fixture=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    _draw_again(item, is_fixture=False)


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[str, Any]]]:
    """What is installed beside heldout: the groups of entry points, with names and objects; nothing at first."""
    groups: dict[str, dict[str, Any]] = {}

    def entry_points(*, group: str) -> list[Any]:
        named = groups.get(group, {}).items()
        return [SimpleNamespace(name=name, load=lambda thing=thing: thing) for name, thing in named]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    of_papers.cache_clear()
    yield groups
    of_papers.cache_clear()


_OF_A_TERMINAL = ("CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TTY_COMPATIBLE")


@pytest.fixture(autouse=True, scope="session")
def a_terminal_like_any_other() -> Iterator[None]:
    """What the tests, and programs they start, find out about the terminal is not what somebody has set."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _OF_A_TERMINAL:
            patch.delenv(name, raising=False)
        patch.setenv("TERM", "xterm")
        yield


@pytest.fixture(autouse=True, scope="session")
def heldout_comes_from_an_index() -> Iterator[None]:
    """Sentences on missing packages name no folder of this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heldout.errors.repository_of", lambda: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def worker_processes_start_at_once() -> None:
    """joblib's workers are forked from a process that has imported heldout, as importing it takes each seconds.

    Programs that tests start have them started as users do.
    """
    if os.name == "posix":
        multiprocessing.util.get_temp_dir()  # not in the folder of the test that happens to start that process
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
        loky.set_start_method("forkserver", force=True)


def of_its_class(question: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """The question, asked of one object of each class."""
    answers = WeakKeyDictionary[type, bool]()

    def answer(thing: Any) -> bool:
        if type(thing) not in answers:
            answers[type(thing)] = question(thing)
        return answers[type(thing)]

    return answer


@pytest.fixture(autouse=True, scope="session")
def what_never_changes_is_asked_once() -> Iterator[None]:
    """The parameters of a class, and whether it is one of tables: with small models an eighth of the time."""
    from sklearn.base import BaseEstimator

    names, names_of = WeakKeyDictionary[type, list[str]](), BaseEstimator._get_param_names.__func__

    def known_names(kind: type) -> list[str]:
        if kind not in names:
            names[kind] = names_of(kind)
        return [*names[kind]]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseEstimator, "_get_param_names", classmethod(known_names))
        with suppress(ImportError):  # scikit-learn before 1.9 asks nothing of narwhals
            from narwhals.stable.v2 import dependencies

            for name in ("is_into_dataframe", "is_into_series"):
                patch.setattr(dependencies, name, of_its_class(getattr(dependencies, name)))
        yield


def pytest_configure(config: pytest.Config) -> None:
    """scikit-learn 1.8 warns of ``C=inf`` as if it were the ``penalty=None`` that it makes of it."""
    if sklearn.__version__.startswith("1.8."):
        config.addinivalue_line("filterwarnings", "ignore:Setting penalty=None will ignore the C:UserWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names of tests that differ between processes: ``pytest -n 2`` needs the same ones in each.

    The tests that must run one after another come first, because they take longest.
    """
    for item in items:
        if re.search(r" at 0x|\{<", item.nodeid):
            raise pytest.UsageError(f"{item.nodeid} holds an address or a set; give its parameters ids.")
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(0))  # the limit of pyproject.toml is for tests that hang
    items.sort(key=lambda item: unit_of(item.path) != "processes")


@cache
def unit_of(module: Path) -> str:
    """What one process runs as a whole: a module, or all modules with the mark ``processes``."""
    return "processes" if "pytest.mark.processes" in module.read_text(encoding="utf-8") else str(module)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute these units in the order of collection, whatever ``--dist`` is."""
    from xdist.scheduler import LoadScopeScheduling

    class ByUnit(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(config.rootpath / nodeid.split("::")[0])

    config.option.loadscopereorder = False
    return ByUnit(config, log)


@pytest.fixture(autouse=True)
def what_is_drawn_belongs_to_the_test(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls without ``random_state`` draw entropy that differs from call to call and is the same in every run."""
    test, calls = f"{request.node.path.name}::{request.node.name}", count()  # wherever pytest was started

    def randbits(bits: int) -> int:
        drawn = hashlib.sha256(f"{test} {next(calls)}".encode()).digest()
        return int.from_bytes(drawn, "big") >> (8 * len(drawn) - bits)

    monkeypatch.setattr("heldout._streams.secrets", SimpleNamespace(randbits=randbits))


def write_short_page(content: Any, path: Path) -> Path:
    path.write_text("<title>A page that this test does not read</title>", encoding="utf-8")
    return path


@pytest.fixture
def short_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the page of a report, whose pictures take longer than a small search."""
    monkeypatch.setattr("heldout.report.write_report", write_short_page)


@pytest.fixture
def page_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of reports with empty pictures, which take most of their time."""
    for module in ("render", "exploration"):
        monkeypatch.setattr(f"heldout.report.{module}.embedded", lambda *_, **__: "<svg></svg>")


@dataclass(frozen=True)
class Ended:
    """The exit code of a command and what it printed."""

    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        """The last line on stderr."""
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Call ``heldout`` in a folder of its own."""
    from heldout.cli.group import heldout

    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Ended:
        # Not click's CliRunner: it keeps stderr apart in versions from 8.2 only.
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
            heldout.main([str(argument) for argument in arguments], prog_name="heldout")
        return Ended(int(end.value.code or 0), out.getvalue(), err.getvalue())

    return call

"""Sizes that no machine takes are refused at once, in a sentence with the size."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import LeavePOut, RepeatedKFold

import heldout as ho
from heldout.cli.group import heldout
from heldout.data import limits
from heldout.data.limits import Memory, effective_threads, enough_memory, memory_there, refuse_beyond_memory
from heldout.data.task import Task, truth_of
from heldout.dropping import drop_rule_of
from heldout.errors import InputError
from heldout.execution.fit import make_scoring
from heldout.execution.plan import check_memory
from heldout.folds.splits import make_folds

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.arange(60) % 2
HUGE = 10**12
MODEL, GRID = LogisticRegression(), {"C": [0.1, 1.0]}


def search(grid: Any = GRID, **settings: Any) -> Any:
    return ho.HeldOutSearchCV(MODEL, grid, random_state=0, **{"n_bootstraps": 20, **settings}).fit(X, Y)


def halves() -> Any:
    return ((np.arange(30), np.arange(30, 60)) for _ in itertools.count())


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "repeats": (lambda: search(repeats=10**9), "5,000,000,000 splits are more than the 100,000"),
    "bootstraps": (lambda: search(n_bootstraps=HUGE), "1,000,000,000,000 bootstraps are more than the 10,000,000"),
    "RepeatedKFold": (lambda: search(cv=RepeatedKFold(n_repeats=10**9)), "5,000,000,000 splits are more"),
    "LeavePOut": (lambda: search(cv=LeavePOut(20)), "4,191,844,505,805,495 splits are more"),
    "no end": (lambda: search(cv=halves()), "100,001 splits are more"),
    "a plan": (lambda: search(cv=ho.protocols.repeated_hold_out(10**9, 0.5)), "1,000,000,000 splits are more"),
    "a value": (lambda: search(grid={"C": range(10**9)}), "1,000,000,000 configurations of a grid are more than"),
    "a grid": (lambda: search(grid={name: range(1, 3000) for name in ("C", "tol", "max_iter")}), "of a grid are"),
    "fits": (
        lambda: search(grid={"C": range(1, 300)}, repeats=10**4),
        "14,950,000 fits .299 configurations",
    ),
    "dropping": (
        lambda: drop_rule_of(f"bootstrap(n_bootstraps={HUGE})"),
        "bootstraps of a rule of dropping are more",
    ),
    "nested": (lambda: ho.nested_cv(MODEL, X, Y, GRID, repeats=10**9), "5,000,000,000 splits are more"),
    "inner": (
        lambda: ho.nested_cv(MODEL, X, Y, GRID, inner=RepeatedKFold(n_repeats=10**9)),
        "5,000,000,000 splits",
    ),
    "bootstrap search": (
        lambda: ho.bootstrap_search(MODEL, X, Y, GRID, n_bootstraps=10**6),
        "5,000,000 splits are",
    ),
    "its models": (
        lambda: ho.bootstrap_search(MODEL, X, Y, GRID, n_bootstraps=10**6, scheme="models"),
        "1,000,000 splits are more",
    ),
    "validation": (lambda: ho.bootstrap_validate(MODEL, X, Y, n_bootstraps=10**7), "10,000,002 fits .* are more"),
    "learning curve": (
        lambda: ho.protocols.learning_curve(MODEL, X, Y, GRID, n_subsamples=10**9),
        "7,000,000,000 splits are more",
    ),
    "estimate": (lambda: ho.estimate(Y, X, metric="roc_auc", n_bootstraps=HUGE), "bootstraps are more than"),
    "predictions": (
        lambda: ho.estimate(Y, np.broadcast_to(0.5, (60, 10**12)), metric="roc_auc"),
        "60,000,000,000,000 predictions and what is computed from them need .* GiB, more than",
    ),
    "scores": (
        lambda: ho.estimate_from_scores(np.broadcast_to(0.5, (60, 10**12)), method="tt", greater_is_better=True),
        "60,000,000,000,000 scores and what is computed from them need",
    ),
}


@pytest.mark.parametrize(
    "options", [("--repeats", 10**9), ("--cv", "repeated_holdout:1000000000:0.5"), ("--n-bootstraps", HUGE)]
)
def test_a_command_that_would_hang_is_refused_at_once(options: tuple[str, Any], tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    table.write_text("x,y\n" + "".join(f"{number / 7},{number % 2}\n" for number in range(60)))
    arguments = ["tune", table, "--target", "y", "--out", tmp_path / "out", *options]
    ended = CliRunner().invoke(heldout, [str(argument) for argument in arguments])
    assert ended.exit_code == 2 and " are more than the 10" in ended.output


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_a_size_that_would_hang_is_refused_at_once(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "; use " in str(caught.value) and "\n" not in str(caught.value)


def test_large_work_that_people_do_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    there = Memory(16 * 2**30, "this machine's 16.0 GiB")
    monkeypatch.setattr(limits, "memory_there", lambda: there)
    task = Task(X, truth_of(Y))
    folds = make_folds(task, 5, repeats=100, n_configurations=10_000)  # 5 million fits
    scoring = make_scoring(task.truth, get_scorer("roc_auc"))
    check_memory(task.truth, 10_000, folds, scoring, keeps_predictions=False)
    check_memory(task.truth, 1_000, folds, scoring)
    limits.check_room(np.broadcast_to(0.5, (100_000, 10_000)))  # 7.5 GiB


def test_the_least_limit_holds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "_CGROUPS", tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    without = memory_there()
    (tmp_path / "memory.max").write_text(f"{2**28}\n")
    there = memory_there()
    if Path("/proc/self/cgroup").exists() and "0::" in Path("/proc/self/cgroup").read_text():
        assert there == (2**28, "the 0.2 GiB that the control group of this process allows") and without != there
        with pytest.raises(InputError, match=r"need 0.5 GiB, more than half of the 0.2 GiB that the control group"):
            refuse_beyond_memory(2**29, "they", "fewer")


def test_a_limit_of_the_process_counts_what_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    allowed = {resource.RLIMIT_AS: 2**40, resource.RLIMIT_DATA: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda number: (allowed[number], allowed[number]))
    monkeypatch.setattr(limits, "_pages_used", lambda: ((2**40 - 2**26) // resource.getpagesize(), 0))
    assert memory_there() == (2**26, "the 0.1 GiB that 'ulimit -v' leaves to this process")


def test_both_versions_of_control_groups_and_those_above_are_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(limits, "_CGROUPS", tmp_path)
    monkeypatch.setattr(limits, "Path", _paths(tmp_path, "4:cpu,memory:/a/b\n0::/c/d\n"))
    for folder, name, limit in (
        ("memory/a", "memory.limit_in_bytes", 2**31), ("memory/a/b", "memory.limit_in_bytes", 2**63 - 4096),
        ("c", "memory.max", 2**30), ("c/d", "memory.max", "max"),
    ):  # fmt: skip
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_text(f"{limit}\n")
    found = {each.n_bytes for each in limits._of_control_group()}
    assert found == {2**31, 2**30}


def _paths(folder: Path, groups: str) -> Callable[[str], Path]:
    (folder / "cgroup").write_text(groups)
    return lambda path: folder / "cgroup" if path == "/proc/self/cgroup" else Path(path)


def test_an_unforeseen_lack_of_memory_is_an_error_too() -> None:
    message = r"copies of it did not fit in memory \(std::bad_alloc\); use less"
    with pytest.raises(InputError, match=message), enough_memory("copies of it", "less"):
        raise MemoryError("std::bad_alloc")


def test_threads_are_counted_as_joblib_counts_jobs() -> None:
    assert effective_threads(None) == 1
    assert effective_threads(1) == 1
    assert effective_threads(-1) == joblib.cpu_count()
    assert effective_threads(10**6) == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=2):
        assert effective_threads(None) == min(2, joblib.cpu_count())


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_worker_has_one_thread(backend: str) -> None:
    tasks = (joblib.delayed(effective_threads)(n_jobs) for n_jobs in (-1, None, 2))
    assert joblib.Parallel(n_jobs=2, backend=backend)(tasks) == [1, 1, 1]

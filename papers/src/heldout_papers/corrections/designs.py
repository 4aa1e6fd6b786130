"""Designs of real searches: how many rows of a table are searched, by which folds, and over which space.

Every design has its tables, halved by their names: one half chooses the form of a method, the other judges it. All
that is drawn has a seed made of what it is for, so that a draw is the same whatever else is drawn.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, LeaveOneOut

from heldout._sklearn import rows_at
from heldout.errors import InputError
from heldout.metrics.named import metric_named
from heldout.spaces import standard
from heldout.spaces.preprocessing import column_kinds
from heldout_papers.corrections import space
from heldout_papers.tables import read_task

DesignKind: TypeAlias = Literal["binary", "three", "number", "survival"]
Size: TypeAlias = Literal["one", "ten", "all"]
HALVES = ("choosing", "judging")
MANIFEST = "MANIFEST.csv"
COLUMNS = ("name", "task", "n", "p", "n_classes")
MOST_COLUMNS, LEAST_TABLE = 220, 400
LEAST_REST, LEAST_REST_OF_EVENTS = 9, 3
"""The rest has at least so many times the rows of a sample, so that it adds at most a twentieth to the errors."""
LEAST_EXPECTED = 12
"""Rows of the rarest of three classes, or with an event, that a sample holds on average."""
LEAST_OF_TWO, LEAST_OF_THREE, LEAST = 5, 6, 10
"""Rows of the rarer of two classes and of the rarest of three that a sample has; of groups, and of events."""
IN_GROUP, POOL = 5, 2000
"""Rows of a group, which resemble each other, and rows among which they are looked for."""
TRIES = 1000

OF_KINDS: Mapping[DesignKind, tuple[str, ...]] = {
    "binary": (
        "accuracy", "balanced_accuracy", "roc_auc", "log_loss", "brier_score", "average_precision", "f1",
        "matthews_corrcoef",
    ),
    "three": ("accuracy", "balanced_accuracy", "log_loss", "roc_auc_ovr", "f1_macro", "matthews_corrcoef"),
    "number": ("r2", "root_mean_squared_error", "mean_absolute_error"),
    "survival": ("concordance_index",),
}  # fmt: skip
METRICS = tuple(dict.fromkeys(metric for of_kind in OF_KINDS.values() for metric in of_kind))


@dataclass(frozen=True)
class Design:
    """Searches of one kind.

    Attributes
    ----------
    name : str
    kind : "binary", "three", "number" or "survival"
        Two classes, three classes, numbers, or times with events.
    rows : int
    prevalence : float
        The expected share of the rarer of two classes.
    folds : int
        As many as there are rows: leave-one-out.
    repeats : int
    has_groups : bool
        Whether five rows each that resemble each other are a group.
    is_wide : bool
        Whether two hundred configurations are searched, in place of some sixty.
    """

    name: str
    kind: DesignKind
    rows: int
    prevalence: float = 0.5
    folds: int = 5
    repeats: int = 1
    has_groups: bool = False
    is_wide: bool = False

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those of the kind; R² needs two rows of a fold."""
        return tuple(one for one in OF_KINDS[self.kind] if self.folds < self.rows or one != "r2")

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Which parts of the space are scored as searches of their own."""
        if self.is_wide:
            return ("all",)
        return ("one", "all") if self.kind == "survival" else ("one", "ten", "all")

    @property
    def is_usual(self) -> bool:
        """Whether rows and folds are those of a search without settings, so that its figures speak for others."""
        return self.folds == 5 and self.repeats == 1 and not self.has_groups

    @property
    def cv(self) -> Any:
        if self.folds == self.rows:
            return LeaveOneOut()
        return GroupKFold(self.folds) if self.has_groups else self.folds

    def entries(self, X: Any, y: NDArray[Any]) -> Any:
        """The space that is searched on a sample."""
        if self.kind == "survival":
            return standard(X, y)
        make = space.regressors if self.kind == "number" else space.classifiers
        return make(X, many=self.is_wide)


DESIGNS: Mapping[str, Design] = {
    design.name: design
    for design in (
        Design("b40", "binary", 40),
        Design("b100", "binary", 100),
        Design("b300", "binary", 300),
        Design("b1000", "binary", 1000),
        Design("i100_10", "binary", 100, 0.1),
        Design("i300_10", "binary", 300, 0.1),
        Design("i300_03", "binary", 300, 0.03),
        Design("i1000_10", "binary", 1000, 0.1),
        Design("i1000_03", "binary", 1000, 0.03),
        Design("r40", "number", 40),
        Design("r100", "number", 100),
        Design("r300", "number", 300),
        Design("r1000", "number", 1000),
        Design("w100", "binary", 100, is_wide=True),
        Design("w300", "binary", 300, is_wide=True),
        Design("rw100", "number", 100, is_wide=True),
        Design("t100", "three", 100),
        Design("t300", "three", 300),
        Design("s100", "survival", 100),
        Design("s300", "survival", 300),
        Design("b100k2", "binary", 100, folds=2),
        Design("b100k10", "binary", 100, folds=10),
        Design("b100rep3", "binary", 100, repeats=3),
        Design("b100groups", "binary", 100, has_groups=True),
        Design("b40loo", "binary", 40, folds=40),
        Design("b100loo", "binary", 100, folds=100),
        Design("r100k10", "number", 100, folds=10),
        Design("r40loo", "number", 40, folds=40),
    )
}


def scorer_of(metric: str) -> str:
    """The ``scoring`` of a search with a metric."""
    return metric if metric_named(metric).greater_is_better else f"neg_{metric}"


def seed_of(*parts: Any) -> int:
    """A seed of 64 bits for one purpose."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big")


@cache
def half_of_tables(folder: Path, half: str) -> dict[str, list[str]]:
    """Names of the tables of a half by their task: every second one in the order of names."""
    import pandas as pd
    import pyarrow.parquet as pq

    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(
            f"tables must be a folder with {MANIFEST} (columns {', '.join(COLUMNS)}) and a Parquet file for each "
            f"name, and {path} is no file.",
            argument="tables",
        )
    listed = pd.read_csv(path)
    found: dict[str, list[str]] = {}
    for task in ("classification", "regression", "survival"):
        fit = listed[(listed["task"] == task) & (listed["p"] <= MOST_COLUMNS)]
        if task == "classification":
            fit = fit[(fit["n"] >= LEAST_TABLE) | (fit["n_classes"] == 3)]
        # Rows of a table with groups depend on each other, and a sample of them would hide that.
        names = sorted(
            name for name in fit["name"] if "group" not in pq.read_schema(folder / f"{name}.parquet").names
        )
        found[task] = names[HALVES.index(half) :: 2]
    return found


def tables_of(design: Design, folder: Path, half: str) -> tuple[Path, ...]:
    """The tables of a half that have enough rows for a design."""
    task = {"number": "regression", "survival": "survival"}.get(design.kind, "classification")
    paths = (folder / f"{name}.parquet" for name in half_of_tables(folder, half)[task])
    return tuple(path for path in paths if _fits(design, path))


def _fits(design: Design, path: Path) -> bool:
    y = _target(path, design.kind)
    if y is None:
        return False
    n, times = design.rows, 1 + LEAST_REST
    if design.kind == "number":
        return len(y) >= times * n and bool(np.isfinite(y).all())
    if design.kind == "survival":
        times = times if n > 100 else 1 + LEAST_REST_OF_EVENTS
        return bool(len(y) >= times * n and y["event"].mean() * n >= LEAST_EXPECTED)
    counts = np.bincount(y)
    if design.kind == "three":
        return bool(len(counts) == 3 and len(y) >= times * n and counts.min() / len(y) * n >= LEAST_EXPECTED)
    return bool((counts >= np.array([1 - design.prevalence, design.prevalence]) * n * times).all())


@cache
def _target(path: Path, kind: DesignKind) -> NDArray[Any] | None:
    """None for a table that cannot be read."""
    try:
        return arrays_of(path, kind)[1]
    except InputError:
        return None


@lru_cache(maxsize=2)
def arrays_of(path: Path, kind: DesignKind) -> tuple[Any, NDArray[Any]]:
    """Columns and target of a table; of two classes 1 is the rarer, of more than three the three largest stay."""
    if kind == "survival":
        import pandas as pd

        frame = pd.read_parquet(path)
        y = np.empty(len(frame), dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = frame["event"], frame["time"]
        return frame.drop(columns=["time", "event"]), y
    task = read_task(path, "target")
    X = task.X if column_kinds(task.X).categorical else task.X.to_numpy(dtype=np.float64)
    if kind == "number":
        return X, task.truth.values.astype(np.float64)
    y = task.truth.values.astype(np.intp)
    if kind == "binary":
        return X, _two_classes(y)
    largest = np.sort(np.argsort(-np.bincount(y))[:3])
    kept = np.flatnonzero(np.isin(y, largest))
    return rows_at(X, kept), np.searchsorted(largest, y[kept])


def _two_classes(y: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rarer class is 1; more than two classes become two of about the same size."""
    counts = np.bincount(y)
    if len(counts) > 2:
        side, total = np.zeros(len(counts), dtype=np.intp), [0, 0]
        for label in np.argsort(-counts):
            side[label] = int(total[1] < total[0])
            total[side[label]] += counts[label]
        y = side[y]
    zeros, ones = np.bincount(y, minlength=2)
    return y if ones <= zeros else 1 - y


def sample_of(
    design: Design, X: Any, y: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp] | None] | None:
    """Rows of a sample and their groups; None where no sample holds enough of each class."""
    if design.kind == "binary" and not design.has_groups:
        return _sample_by_class(design, y, rng), None
    scaled = _scaled_columns(X) if design.has_groups else None
    for _ in range(TRIES):
        if scaled is None:
            rows, groups = rng.permutation(len(y))[: design.rows], None
        else:
            rows = _in_groups(scaled, design.rows // IN_GROUP, rng)
            groups = np.repeat(np.arange(design.rows // IN_GROUP), IN_GROUP)
        if _holds_enough(design, y[rows]):
            return rows, groups
    return None


def _holds_enough(design: Design, y: NDArray[Any]) -> bool:
    """Of each class, or of rows with an event."""
    if design.kind == "number":
        return True
    n_classes = 3 if design.kind == "three" else 2
    there = y["event"].sum() if design.kind == "survival" else np.bincount(y, minlength=n_classes).min()
    return bool(there >= (LEAST_OF_THREE if design.kind == "three" else LEAST))


def _sample_by_class(design: Design, y: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
    for _ in range(TRIES):
        n_ones = int(rng.binomial(design.rows, design.prevalence))
        if min(n_ones, design.rows - n_ones) >= LEAST_OF_TWO:
            break
    ones, zeros = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    return rng.permutation(np.r_[ones[:n_ones], zeros[: design.rows - n_ones]])


def _in_groups(scaled: NDArray[np.float64], n_groups: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows of a random pool and those nearest to each of them."""
    pool = rng.permutation(len(scaled))[:POOL]
    left, rows = np.arange(len(pool)), []
    for _ in range(n_groups):
        centre = pool[left[rng.integers(len(left))]]
        distances = ((scaled[pool[left]] - scaled[centre]) ** 2).sum(axis=1)
        near = left[np.argsort(distances, kind="stable")[:IN_GROUP]]
        rows.append(pool[near])
        left = left[~np.isin(left, near)]
    return np.concatenate(rows)


def _scaled_columns(X: Any) -> NDArray[np.float64]:
    if not isinstance(X, np.ndarray):
        import pandas as pd

        X = pd.get_dummies(X).to_numpy(float)
    centred = X - np.nanmean(X, axis=0)
    return np.nan_to_num(centred / np.maximum(np.nanstd(X, axis=0), 1e-9))

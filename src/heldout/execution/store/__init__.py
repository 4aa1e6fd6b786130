"""Where a search keeps its results: in memory, or in a file that outlives the process.

A search needs this of a store: recognise a run, acknowledge cells, return their results.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from heldout._registry import registered
from heldout._streams import DrawnSeed, RandomState, entropy_of
from heldout._types import Array
from heldout.errors import InputError
from heldout.execution.cells import CellKey, CellResult, CellTable, is_among
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier
    from heldout.execution.store.sqlite import SQLiteStore

__all__ = ["SQLiteStore", "entropy_of_run", "store_of"]


@dataclass(frozen=True)
class RunIdentity:
    """The identity of a run.

    ``rows``, ``folds``, ``configurations``: fingerprints (sha256) of the task, the splits and the ids of the
    configurations.
    """

    rows: str
    folds: str
    configurations: str
    settings: str
    """Canonical JSON of the other settings that decide the cells: scorers, responses, error_score."""
    entropy: int
    """64 bits that seed everything."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """heldout, scikit-learn, NumPy, Python."""
    terms: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The parts in words ("rows": "150"), and options as the user wrote them ("--preset": "quick"). They decide
    nothing; a refusal names with them what differs."""
    is_adaptive: bool = field(default=False, compare=False)
    """Whether configurations are added while the run is open; ``configurations`` is then a fingerprint of what
    proposes them."""


class AddedConfiguration(NamedTuple):
    """A configuration that is added to an open run."""

    id: str
    json: str
    """Canonical JSON; id and JSON as ``Store.open`` takes them."""
    name: str
    note: str = ""
    """JSON of what an adaptive search must know to propose it again."""


@dataclass(frozen=True)
class PlanNote:
    """The plan of a run, for people who inspect it."""

    n_configurations: int
    n_splits: int
    n_cells: int
    """Fits if none is dropped."""
    metric: str
    """The scorer that decides; greater = better."""
    title: str = ""
    """The name of the metric, where the name of the scorer is not it."""
    n_rows: int | None = None
    names: tuple[str, ...] = ()
    """Of the configurations."""


@dataclass(frozen=True, eq=False)
class SearchNote:
    """What the estimate of a search reads besides its cells, for an estimate from the run alone.

    - ``text``: JSON, written and read by ``store.unfinished_search``.
    - ``arrays``: the target, groups, weights and rows of splits, by name.
    """

    text: str
    arrays: Mapping[str, Array]


class Run:
    """An open run of a store, as a context manager that commits and closes.

    What a run does not override is nothing to do: one that nobody inspects needs no notes.
    """

    entropy: int
    """The entropy that the run was started with."""

    def __init__(self, entropy: int) -> None:
        self.entropy = entropy

    def acknowledged(self) -> frozenset[CellKey]:
        """Cells that need no work any more."""
        raise NotImplementedError

    def results(
        self, repeats: Collection[int] | None = None, configurations: Collection[int] | None = None
    ) -> Iterator[CellResult | CellTable]:
        """Their results, one by one or in blocks.

        With ``repeats`` only those of these repeats, with ``configurations`` only those of these positions; a block
        comes whole if any of its cells is of them.
        """
        raise NotImplementedError

    def record(self, result: CellResult | CellTable) -> None:
        """Keep a result, or a block of cells that are not recorded yet.

        It is acknowledged by the next ``commit`` (or at once).
        """
        raise NotImplementedError

    def commit(self) -> None:
        """Acknowledge everything that was recorded."""

    def notes(self) -> list[str]:
        """The notes on configurations that an earlier process added, in the order in which they were added."""
        return []

    def add(self, configurations: Sequence[AddedConfiguration]) -> list[int]:
        """Add configurations behind the others; the next ``commit`` keeps them.

        Returns how many cells of each an earlier process left; these are acknowledged from now on.
        """
        return [0] * len(configurations)

    def note_plan(self, note: PlanNote, search: SearchNote | None = None) -> None:
        """Note the plan of the run for inspection; deletes earlier notes on barriers.

        ``search``: what the estimate reads besides the cells, in place of an earlier note.
        """

    def note_end(self, n_configurations: int, n_more: int = 0) -> None:
        """Note that a search ends with so many configurations, which may be fewer than an adaptive one planned.

        ``n_more``: fits that follow those of its splits.
        """

    def note_barrier(self, race: Sequence[Place], barrier: Barrier) -> None:
        """Note the record of a barrier for inspection; kept by the next ``commit``.

        A resumed run does not read it: it decides again from its cells, by its own rule.

        ``race``: the splits of the race in the order in which they run; no other race has them.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...


class Store(Protocol):
    """Where runs are kept."""

    def stored_entropy(self) -> int | None:
        """The entropy of the latest run, or None where there is none."""

    def open(self, identity: RunIdentity, configurations: Sequence[tuple[str, str]], *, resume: bool) -> Run:
        """Start a run, or resume the one of the same identity.

        - ``configurations``: in order of position, the ids distinct.
        - ``resume``: whether an existing run of this identity may be resumed; if there is none, a new one starts.

        Raises StoreError when the file is of other data, another schema, damaged, locked, or not writable.
        """


class MemoryRun(Run):
    """Results in a dictionary, where one that is recorded is as safe as it will be."""

    keeps_predictions = True
    """False where whoever opened the run takes the predictions of each result as it comes."""

    def __init__(self, entropy: int) -> None:
        super().__init__(entropy)
        self._results: dict[CellKey, CellResult | CellTable] = {}

    def acknowledged(self) -> frozenset[CellKey]:
        return frozenset(self._results)

    def results(
        self, repeats: Collection[int] | None = None, configurations: Collection[int] | None = None
    ) -> Iterator[CellResult | CellTable]:
        found = (result for key, result in self._results.items() if is_among(key, repeats, configurations))
        yield from dict.fromkeys(found)  # a block has several keys

    def record(self, result: CellResult | CellTable) -> None:
        if not self.keeps_predictions:
            result = replace(result, predictions={})
        keys = result.keys if isinstance(result, CellTable) else (result.key,)
        self._results.update(dict.fromkeys(keys, result))


@dataclass(frozen=True)
class MemoryStore:
    """A run that lives as long as its process."""

    def stored_entropy(self) -> int | None:
        return None

    def open(self, identity: RunIdentity, configurations: Sequence[tuple[str, str]], *, resume: bool) -> MemoryRun:
        return MemoryRun(identity.entropy)


@registered("store")
def store_of(store: Any) -> Store:
    """A store from a path, a store, or None for the memory.

    Raises InputError for anything else.
    """
    if store is None:
        return MemoryStore()
    if isinstance(store, str | os.PathLike):
        from heldout.execution.store.sqlite import SQLiteStore

        return SQLiteStore(Path(store))
    if not hasattr(store, "open"):
        raise InputError(
            f"store must be the path of a run file, a store such as SQLiteStore(path), or None, got {store!r}."
        )
    opened: Store = store
    return opened


def entropy_of_run(random_state: RandomState, store: Store) -> int:
    """Of the random state; without one that of the run that the store holds, or else the system's."""
    stored = store.stored_entropy() if random_state is None else None
    return entropy_of(random_state) if stored is None else DrawnSeed(stored)


def __getattr__(name: str) -> Any:
    if name == "SQLiteStore":  # loaded at the first use: a search without a run file needs no SQLite
        from heldout.execution.store.sqlite import SQLiteStore

        return SQLiteStore
    raise AttributeError(f"module 'heldout.execution.store' has no attribute {name!r}")

"""The store that keeps nothing beyond the search itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from heldout.execution.blocks import CellBlock
from heldout.execution.cells import CellKey, CellResult, is_among
from heldout.execution.store.base import AddedConfiguration, PlanNote, RunIdentity, SearchNote
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier


class MemoryRun:
    """Results in a dictionary."""

    def __init__(self, entropy: int) -> None:
        self.entropy = entropy
        self._results: dict[CellKey, CellResult] = {}
        self._blocks: list[CellBlock] = []

    def acknowledged(self) -> frozenset[CellKey]:
        return frozenset(self._results).union(*(block.keys for block in self._blocks))

    def results(
        self, repeats: Collection[int] | None = None, configurations: Collection[int] | None = None
    ) -> Iterator[CellResult | CellBlock]:
        yield from (block for block in self._blocks if block.has_any_of(repeats, configurations))
        for key, result in self._results.items():
            if is_among(key, repeats, configurations):
                yield result

    def record(self, result: CellResult | CellBlock) -> None:
        if isinstance(result, CellBlock):
            self._blocks.append(result)
        else:
            self._results[result.key] = result

    def commit(self) -> None:
        """Nothing to do: a recorded result is as safe as it will be."""

    def notes(self) -> list[str]:
        return []

    def add(self, configurations: Sequence[AddedConfiguration]) -> list[int]:
        """No earlier process left cells of them."""
        return [0] * len(configurations)

    def note_plan(self, note: PlanNote) -> None:
        """Nothing to do: the run cannot be inspected from outside."""

    def note_search(self, note: SearchNote) -> None:
        """Nothing to do, as for the plan."""

    def note_end(self, n_configurations: int, n_more: int = 0) -> None:
        """Nothing to do, as for the plan."""

    def note_barrier(self, race: Sequence[Place], barrier: Barrier) -> None:
        """Nothing to do, as for the plan."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None


@dataclass(frozen=True)
class MemoryStore:
    """A run that lives as long as its process."""

    def stored_entropy(self) -> int | None:
        return None

    def open(self, identity: RunIdentity, configurations: Sequence[tuple[str, str]], *, resume: bool) -> MemoryRun:
        return MemoryRun(identity.entropy)

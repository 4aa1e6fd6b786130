"""A part of a run: some of its configurations, under positions of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from heldout.execution.cells import CellKey, CellResult, CellTable, Saving, each_cell
from heldout.execution.events import BarrierPassed, BlockFinished, CellFinished, Event, Listener, WorkersLost
from heldout.execution.executors.base import ExecutorAround
from heldout.execution.fit import Work
from heldout.execution.store.base import MemoryRun, Run

EQUAL = "equal configurations"
"""What copies of cells share with their source."""


class RunPart(MemoryRun):
    """The part of a run that holds a batch of configurations.

    ``positions``: of each in the run. What is recorded goes into the run under these.
    """

    def __init__(self, run: Run, positions: Sequence[int]) -> None:
        super().__init__(run.entropy)
        self.positions = list(positions)
        self._run = run
        self.copies: dict[CellKey, CellResult] = {}
        """Results that need no fit."""

    def recall(self) -> None:
        """Take over the cells of the batch that an earlier process left in the run."""
        local = {position: number for number, position in enumerate(self.positions)}
        for cell in each_cell(self._run.results(configurations=local)):
            if cell.key.configuration in local:
                super().record(replace(cell, key=_at(cell.key, local[cell.key.configuration])))

    def join(self, position: int, cells: Iterable[CellResult]) -> None:
        """Add a configuration of the run with its cells, behind the batch."""
        self.positions.append(position)
        for cell in cells:
            super().record(replace(cell, key=_at(cell.key, len(self.positions) - 1)))

    def copy(self, source: int, position: int) -> None:
        """Let a configuration of the batch have the cells of another one of the run, as far as it comes to them."""
        for cell in each_cell(self._run.results(configurations=[source])):
            if cell.key.configuration == source:
                key = _at(cell.key, self.positions.index(position))
                shared = {EQUAL: Saving(cell.fit_seconds + cell.score_seconds)}
                self.copies[key] = replace(cell, key=key, shared=shared)

    def cells(self, configuration: int) -> list[CellResult]:
        """The cells of a configuration, by its number in the batch."""
        return [cell for cell in each_cell(self.results()) if cell.key.configuration == configuration]

    def listener(self, listeners: Sequence[Listener]) -> Listener:
        """Passes events of the batch on, with positions in the run; barriers are those of the batch alone."""

        def pass_on(event: Event) -> None:
            match event:
                case BarrierPassed():
                    return
                case CellFinished(result):
                    event = CellFinished(self._in_run(result))
                case BlockFinished(block):
                    event = BlockFinished(block.at(self.positions))
                case WorkersLost(running):
                    event = replace(event, running=tuple(self._key(key) for key in running))
            for listener in listeners:
                listener(event)

        return pass_on

    def record(self, result: CellResult | CellTable) -> None:
        super().record(result)
        self._run.record(self._in_run(result) if isinstance(result, CellResult) else result.at(self.positions))

    def commit(self) -> None:
        self._run.commit()

    def _key(self, key: CellKey) -> CellKey:
        return _at(key, self.positions[key.configuration])

    def _in_run(self, result: CellResult) -> CellResult:
        return replace(result, key=self._key(result.key))


@dataclass(eq=False)
class CopyingExecutor(ExecutorAround):
    """An executor that fits only the cells of which it has no copies."""

    copies: Mapping[CellKey, CellResult]

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``."""
        yield from (self.copies[cell] for cell in cells if cell in self.copies)
        if rest := [cell for cell in cells if cell not in self.copies]:
            yield from self.inner.run(work, rest)


def _at(key: CellKey, configuration: int) -> CellKey:
    return key._replace(configuration=configuration)

"""Where cells run: in this process, in processes or threads of this machine, or on a cluster.

``joblib.parallel_config`` decides which: there is no engine of our own, and no parameter for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from heldout.execution.cells import CellKey, CellResult
from heldout.execution.fit import Work


class WorkersLostError(RuntimeError):
    """Workers died; the results that they had finished were returned before.

    - ``running``: the cells that they were doing, or may have been doing; empty if unknown.
    - ``reason``: how they died, as half a sentence ("its worker was killed by signal 9").
    - ``times``: how many workers each of these cells has cost; a cluster tries again itself.
    """

    def __init__(self, running: Sequence[CellKey], reason: str, times: int = 1) -> None:
        super().__init__(reason)
        self.running = tuple(running)
        self.reason = reason
        self.times = times


class Executor(Protocol):
    """Fits cells somewhere.

    An executor is a context manager for the time of a run: it may start workers, and send them the work once.
    """

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """The results of the cells as they come, in any order.

        A single cell runs in a worker of its own where there are workers.

        Raises WorkersLostError when workers died. Cells without a result by then were not done.
        """

    def __enter__(self) -> Executor: ...

    def __exit__(self, *error: object) -> None: ...

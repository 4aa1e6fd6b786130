"""The loop: hand cells to workers, keep what comes back, tell who listens."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from sklearn.utils.parallel import Parallel, delayed

from heldout.cells import CellKey, CellResult
from heldout.configurations import Configurations
from heldout.fitting import CellContext, fit_cell, single_threaded
from heldout.folds import Folds
from heldout.run.events import CellFinished, Event, Listener
from heldout.run.plan import cells_left
from heldout.store.base import Run

COMMIT_AFTER_SECONDS = 0.05


def tell(listeners: Sequence[Listener], event: Event) -> None:
    """Call every listener."""
    for listener in listeners:
        listener(event)


def run_cells(
    context: CellContext,
    configurations: Configurations,
    folds: Folds,
    run: Run,
    *,
    n_jobs: int | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    listeners: Sequence[Listener] = (),
) -> None:
    """Do every cell that the run does not hold yet, and record it there.

    Results are acknowledged together once they are worth 50 ms of work, and all of them at the end, on an error
    and on an interruption too.
    """
    left = cells_left(len(configurations), folds, run.acknowledged())
    worth, committed = 0.0, time.perf_counter()
    try:
        # Cells limit themselves; where they are threads of one process, one that ends must not free the others.
        with single_threaded():
            for result in _worked(context, configurations, folds, left, n_jobs, pre_dispatch):
                run.record(result)
                worth += result.fit_seconds + result.score_seconds
                if max(worth, time.perf_counter() - committed) >= COMMIT_AFTER_SECONDS:
                    run.commit()
                    worth, committed = 0.0, time.perf_counter()
                tell(listeners, CellFinished(result))
    finally:
        run.commit()


def _worked(
    context: CellContext,
    configurations: Configurations,
    folds: Folds,
    cells: Iterable[CellKey],
    n_jobs: int | None,
    pre_dispatch: int | str,
) -> Iterator[CellResult]:
    """Results as they come, in any order."""
    split_of = {(split.repeat, split.fold): split for split in folds.splits}
    parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, return_as=_return_as())
    results: Iterator[CellResult] = iter(
        parallel(
            delayed(fit_cell)(context, configurations[cell.configuration], split_of[cell.repeat, cell.fold])
            for cell in cells
        )
    )
    return results


def _return_as() -> str:
    """Results one by one, where the active joblib backend can (Ray's cannot)."""
    backend = Parallel()._backend
    return "generator_unordered" if getattr(backend, "supports_return_generator", False) else "list"

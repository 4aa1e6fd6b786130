"""What ``verbose`` prints: the plan, and from 2 on every fit."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.run.events import CellFinished, Event, SearchStarted


@dataclass(frozen=True)
class Printed:
    """A listener that prints lines.

    Attributes
    ----------
    verbose : int
    """

    verbose: int

    def __call__(self, event: Event) -> None:
        if isinstance(event, SearchStarted):
            resumed = f", {event.n_resumed} of them done before" if event.n_resumed else ""
            print(
                f"Fitting {event.n_splits} folds for each of {event.n_configurations} candidates, totalling "
                f"{event.n_cells} fits{resumed}"
            )
        elif isinstance(event, CellFinished) and self.verbose > 1:
            configuration, repeat, fold = event.result.key
            scores = ", ".join(f"{name}={score:.3f}" for name, score in event.result.test_scores.items())
            print(
                f"candidate {configuration}, repeat {repeat}, fold {fold}: {scores or event.result.message} "
                f"({event.result.fit_seconds:.1f} s)"
            )

"""Stop a search when the interval of its estimate is tight enough (Tsamardinos et al. 2018, section 4).

After every complete fold of the first repeat, and after every later repeat, the search so far has the estimate that
it would have if it ended there. With the bootstraps of the whole search, and from the cells alone, it is the same
for any number of workers and after any interruption.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from heldout.dropping.base import Barrier, judged_after
from heldout.errors import HeldoutWarning, InputError
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import chosen_in, estimates_of
from heldout.execution.run import Stop
from heldout.execution.search import Search

FEWEST_ROWS = 50
"""With fewer predicted rows no interval ends a search: a few rows that all models predict well look tight."""


def stop_of(search: Search, n_jobs: int | None = None) -> Stop | None:
    """The rule of a search; None where it runs to its end."""
    most = search.stop_when_width
    if most is None:
        return None
    judged = judged_after([split.repeat for split in search.race.splits])

    def stop(barrier: Barrier, found: RaceResults) -> Barrier:
        if barrier.n_rows < FEWEST_ROWS or not judged[barrier.after - 1]:
            return barrier
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeldoutWarning)  # those of the end are enough
            try:
                chosen = chosen_in(search, found)
            except InputError:  # no configuration has a score on these rows
                return barrier
            interval = estimates_of(search, found, chosen, n_jobs=n_jobs)[found.refit_metric].interval
        if interval is None:
            return barrier
        width = interval.high - interval.low
        return replace(barrier, leader=chosen.winner, width=width, stopped=bool(width <= most))

    return stop

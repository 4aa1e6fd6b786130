"""The winner in halves of the rows: fitted after it was selected, in the same run, and scored by every scorer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from heldout.dropping.base import Barrier, judged_after
from heldout.errors import HeldoutWarning, InputError
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import ChosenWinner, chosen_in, estimates_of
from heldout.execution.events import FitsAdded
from heldout.execution.fit import Scoring
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun, Stop
from heldout.execution.search import Search
from heldout.execution.training_size import SmallerTraining, competitors, smaller_training_in
from heldout.folds.splits import Folds
from heldout.predictions import FoldScores


def scores_in_halves(
    run: OpenRun, folds: Folds, scoring: Scoring, names: Sequence[str], winner: int
) -> Mapping[str, FoldScores]:
    """The winner's scores on the splits of halves (splits, 1), one a scorer; each half is a repeat.

    - ``run``: open, of the folds.
    - ``names``: of the scorers.

    None where the folds have no halves; NaN where the winner failed or has no score.
    """
    if not folds.halves:
        return {}
    race = Race(folds.halves, configurations=(winner,))
    run.run_races([race])
    cells = run.cell_results(race)
    in_half = len(folds.halves) // (2 * folds.n_halvings)
    found = {}
    for name in names:
        metric = scoring.metrics.get(name)
        greater = metric is None or metric.greater_is_better
        scores = np.array([[cell.test_scores.get(name, np.nan)] for cell in cells], dtype=np.float64)
        found[name] = FoldScores(
            values=scores if greater else -scores,
            greater_is_better=greater,
            repeat=np.arange(len(cells), dtype=np.intp) // in_half,
            test_rows=np.array([len(split.test) for split in folds.halves], dtype=np.intp),
        )
    return found


def smaller_training(
    run: OpenRun, search: Search, found: RaceResults, chosen: ChosenWinner
) -> SmallerTraining | None:
    """Fit what competes without two folds at a time, in the run of the search; None where that is not asked."""
    if not search.training_size_correction:
        return None
    positions, pairs = competitors(search, found, chosen), search.folds.without_two
    places, n_fits = {split.place for split in pairs}, len(positions) * len(pairs)
    n_done = sum(cell.place in places and cell.configuration in positions for cell in run.run.acknowledged())
    run.run.note_end(len(search.configurations), n_fits)
    run.tell(FitsAdded(len(positions), len(pairs), n_fits, n_done))
    race = Race(pairs, configurations=positions)
    run.run_races([race])
    return smaller_training_in(search, found, chosen, run.cell_results(race))


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

"""What competes in a search, fitted without two folds at a time: in the same run, after the winner was selected."""

from __future__ import annotations

from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import ChosenWinner
from heldout.execution.events import FitsAdded
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun
from heldout.execution.search import Search
from heldout.execution.training_size import SmallerTraining, competitors, smaller_training_in


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
